import * as z from 'zod/mini'
import type { Author } from '../../../shared/guard/people/budgets.ts'
import { count } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { reasonOf } from '../forms.ts'
import { HiddenFields, ReasonField } from './fields.tsx'
import { FormToken, type Frame } from './layout.tsx'
import { Section, Sign } from './parts.tsx'

type Texts = Readonly<Record<string, string>>

export interface Edit<T extends Texts> {
  readonly view: View
  readonly current: T
  readonly texts: T
  readonly reason: string | undefined
  /** Of other users, since the page was shown. */
  readonly othersChanges: readonly Difference[] | null
}

export interface Difference {
  readonly label: string
  readonly from: string
  readonly to: string
}

export function readEdit<T extends Texts>(
  form: URLSearchParams,
  view: View,
  current: T,
  words: { textsIn(form: URLSearchParams, otherwise: T): T; differences(from: T, to: T): readonly Difference[] },
): Edit<T> {
  const isSameRevision = form.get('revision') === String(view.definitions.revision)
  const shownTexts = isSameRevision ? current : words.textsIn(shownIn(form), current)
  const changes = Object.entries(words.textsIn(form, shownTexts)).filter(([name, value]) => value !== shownTexts[name])
  return {
    ...{ view, current, reason: reasonOf(form) },
    texts: { ...current, ...Object.fromEntries(changes) },
    othersChanges: isSameRevision ? null : words.differences(shownTexts, current),
  }
}

const shownSchema = z.record(z.string(), z.string())

/** Unsigned, because a forged form deceives only its sender. */
function shownIn(form: URLSearchParams): URLSearchParams {
  const parsed = shownSchema.safeParse(parseJson(form.get('seen') ?? ''))
  return new URLSearchParams(parsed.success ? parsed.data : {})
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

export const isUnchanged = ({ texts, current }: Edit<Texts>) =>
  Object.keys(current).every((name) => texts[name] === current[name])

/** The user has to see the changes of others first. */
export function putOrPreview<Put, Preview>(
  step: 'preview' | 'confirm',
  { view, reason, othersChanges }: Edit<Texts>,
  caller: string,
  guard: { put(by: Author): Promise<Put>; preview(by: Author): Promise<Preview> },
): Promise<Put | Preview> {
  const by = { caller, onlyAt: [view.definitions.revision], ...(reason !== undefined && { reason }) }
  return step === 'confirm' && othersChanges === null ? guard.put(by) : guard.preview(by)
}

export const createComparison =
  <Name extends string>(labels: Readonly<Record<Name, string>>, textOf: (name: Name, value: string) => string) =>
  (from: Readonly<Record<Name, string>>, to: Readonly<Record<Name, string>>): readonly Difference[] =>
    (Object.keys(labels) as Name[])
      .filter((name) => from[name] !== to[name])
      .map((name) => ({ label: labels[name], from: textOf(name, from[name]), to: textOf(name, to[name]) }))

export const limitText = (value: number | 'unlimited' | undefined): string =>
  typeof value === 'number' ? count(value) : (value ?? '')

export const shownFields = ({ view, current }: Edit<Texts>) => ({
  revision: String(view.definitions.revision),
  seen: JSON.stringify(current),
})

const Differences = ({ differences }: { differences: readonly Difference[] }) => (
  <dl class="differences">
    {differences.map(({ label, from, to }) => (
      <div>
        <dt>{label}</dt>
        <dd>
          {from} <span aria-hidden="true">→</span>
          <span class="hidden">then</span> <strong>{to}</strong>
        </dd>
      </div>
    ))}
  </dl>
)

export const OthersChanges = ({ edit: { othersChanges }, name }: { edit: Edit<Texts>; name: string }) =>
  othersChanges === null ? null : (
    <div role="alert" class="warning">
      <p>
        <Sign name="warning" />{' '}
        <strong>Nothing was saved yet: someone made another change since you opened the page.</strong>{' '}
        {othersChanges.length === 0
          ? `It did not change ${name}. Check again, and confirm.`
          : `It changed ${name} as follows, and is kept except where you change the same. Check again, and confirm.`}
      </p>
      {othersChanges.length === 0 ? null : <Differences differences={othersChanges} />}
    </div>
  )

export const ChangesSection = ({
  differences,
  reason,
}: {
  differences: readonly Difference[]
  reason: string | undefined
}) => (
  <Section id="changes" title="What changes">
    <Differences differences={differences} />
    <p>Reason: {reason ?? <span class="unknown">none given</span>}</p>
  </Section>
)

export const PreviewSection = ({ reason, back }: { reason: string | undefined; back: string }) => (
  <Section id="save" title="Save">
    <ReasonField formId="edit" value={reason} isOptional />
    <PreviewButtons leaveLabel="Cancel" back={back} />
    <p class="note">Nothing is saved before you confirm the preview.</p>
  </Section>
)

export const PreviewButtons = ({ leaveLabel, back }: { leaveLabel: string; back: string }) => (
  <p class="buttons">
    <button type="submit" name="step" value="preview" class="primary">
      Preview
    </button>
    <a href={back}>{leaveLabel}</a>
  </p>
)

interface ConfirmProps {
  readonly action: string
  readonly frame: Frame
  readonly hidden: Texts
  readonly confirmLabel: string
  readonly leaveLabel: string
  readonly back: string
}

export const ConfirmForm = ({ action, frame, hidden, confirmLabel, leaveLabel, back }: ConfirmProps) => (
  <form method="post" action={action}>
    <FormToken frame={frame} />
    <HiddenFields values={hidden} />
    <p class="buttons">
      <button type="submit" name="step" value="confirm" class="primary">
        {confirmLabel}
      </button>
      <button type="submit" name="step" value="edit">
        Back to the form
      </button>
      <a href={back}>{leaveLabel}</a>
    </p>
  </form>
)
