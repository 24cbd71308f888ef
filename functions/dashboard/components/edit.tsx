import * as z from 'zod/mini'
import type { Author } from '../../../shared/guard/people/budgets.ts'
import { count } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { reasonOf } from '../forms.ts'
import { Hidden, ReasonField } from './fields.tsx'
import { FormToken, type Frame } from './layout.tsx'
import { Section } from './parts.tsx'

/** The members of a budget or a caller, as users read and type them. */
type Texts = Readonly<Record<string, string>>

/** What a user wants of a budget or a caller: from the form to a preview, and from there to the change. */
export interface Edit<T extends Texts> {
  readonly view: View
  readonly now: T
  readonly texts: T
  readonly reason: string | undefined
  /** The changes of others since the page was shown; `null`: the definitions are the same. */
  readonly meanwhile: readonly Difference[] | null
}

export interface Difference {
  readonly label: string
  readonly from: string
  readonly to: string
}

/** Reads what the user changed, on top of the changes of others. */
export function readEdit<T extends Texts>(
  form: URLSearchParams,
  view: View,
  now: T,
  words: { textsIn(form: URLSearchParams, otherwise: T): T; differences(from: T, to: T): readonly Difference[] },
): Edit<T> {
  const isSame = form.get('revision') === String(view.definitions.revision)
  const seen = isSame ? now : words.textsIn(seenIn(form), now)
  const changed = Object.entries(words.textsIn(form, seen)).filter(([name, value]) => value !== seen[name])
  return {
    ...{ view, now, reason: reasonOf(form) },
    texts: { ...now, ...Object.fromEntries(changed) },
    meanwhile: isSame ? null : words.differences(seen, now),
  }
}

const fields = z.record(z.string(), z.string())

/** What the page showed, as its form says: a forged form deceives only its sender. */
function seenIn(form: URLSearchParams): URLSearchParams {
  const parsed = fields.safeParse(parse(form.get('seen') ?? ''))
  return new URLSearchParams(parsed.success ? parsed.data : {})
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

export const isUnchanged = ({ texts, now }: Edit<Texts>) => Object.keys(now).every((name) => texts[name] === now[name])

/** Changes the definitions once the user has seen the changes of others; otherwise previews. */
export function putOrPreview<Put, Preview>(
  step: 'preview' | 'confirm',
  { view, reason, meanwhile }: Edit<Texts>,
  caller: string,
  act: { put(by: Author): Promise<Put>; preview(by: Author): Promise<Preview> },
): Promise<Put | Preview> {
  const by = { caller, onlyAt: [view.definitions.revision], ...(reason !== undefined && { reason }) }
  return step === 'confirm' && meanwhile === null ? act.put(by) : act.preview(by)
}

/** Compares members. @param say the words of a value beside its label. */
export const comparisonOf =
  <Name extends string>(labels: Readonly<Record<Name, string>>, say: (name: Name, value: string) => string) =>
  (from: Readonly<Record<Name, string>>, to: Readonly<Record<Name, string>>): readonly Difference[] =>
    (Object.keys(labels) as Name[])
      .filter((name) => from[name] !== to[name])
      .map((name) => ({ label: labels[name], from: say(name, from[name]), to: say(name, to[name]) }))

export const shownLimit = (value: number | 'unlimited' | undefined): string =>
  typeof value === 'number' ? count(value) : (value ?? '')

/** The hidden fields of what the page shows, so that a change of others is not overwritten. */
export const seenFields = ({ view, now }: Edit<Texts>) => ({
  revision: String(view.definitions.revision),
  seen: JSON.stringify(now),
})

const Differences = ({ of }: { of: readonly Difference[] }) => (
  <dl class="differences">
    {of.map(({ label, from, to }) => (
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

/** The changes of others since the page was shown. */
export const Meanwhile = ({ of: { meanwhile }, name }: { of: Edit<Texts>; name: string }) =>
  meanwhile === null ? null : (
    <div role="alert" class="warning">
      <p>
        <span aria-hidden="true">⚠</span>{' '}
        <strong>Nothing was changed yet: something else was, since you saw the page.</strong>{' '}
        {meanwhile.length === 0
          ? `It did not concern what is set of ${name}. Look once more, and confirm.`
          : `Of ${name}, it is kept, except where you want it otherwise. Look once more, and confirm.`}
      </p>
      {meanwhile.length === 0 ? null : <Differences of={meanwhile} />}
    </div>
  )

export const Changes = ({ of, reason }: { of: readonly Difference[]; reason: string | undefined }) => (
  <Section id="changes" title="What changes">
    <Differences of={of} />
    <p>Reason: {reason ?? <span class="unknown">none given</span>}</p>
  </Section>
)

/** The end of an edit form. */
export const Then = ({ reason, back }: { reason: string | undefined; back: string }) => (
  <Section id="go-on" title="Then">
    <ReasonField of="edit" value={reason} isOptional />
    <PreviewButtons leave="Leave it as it is" back={back} />
    <p class="note">Nothing is changed before you confirm what the preview shows.</p>
  </Section>
)

export const PreviewButtons = ({ leave, back }: { leave: string; back: string }) => (
  <p class="buttons">
    <button type="submit" name="step" value="preview" class="primary">
      Preview
    </button>
    <a href={back}>{leave}</a>
  </p>
)

interface ConfirmProps {
  readonly action: string
  readonly frame: Frame
  readonly hidden: Texts
  /** The words of the button that confirms, and of the link that leaves. */
  readonly confirm: string
  readonly leave: string
  readonly back: string
}

/** The end of a preview. */
export const ConfirmForm = ({ action, frame, hidden, confirm, leave, back }: ConfirmProps) => (
  <form method="post" action={action}>
    <FormToken of={frame} />
    <Hidden of={hidden} />
    <p class="buttons">
      <button type="submit" name="step" value="confirm" class="primary">
        {confirm}
      </button>
      <button type="submit" name="step" value="edit">
        Back to the form
      </button>
      <a href={back}>{leave}</a>
    </p>
  </form>
)
