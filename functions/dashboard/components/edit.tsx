import type { Guard } from '../../../shared/guard/guard.ts'
import type { Author } from '../../../shared/guard/people/budgets.ts'
import { differencesInWords } from '../../../shared/guard/people/differences.ts'
import { when, zoneOf } from '../../../shared/guard/sentences.ts'
import { personOf } from '../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { digest } from '../../../shared/platform/ids.ts'
import { reasonOf } from '../forms.ts'
import { ReasonField } from './fields.tsx'
import { Section } from './parts.tsx'

type Texts = Readonly<Record<string, string>>

export interface Edit<T extends Texts> {
  readonly view: View
  readonly current: T
  /** As they were typed. */
  readonly texts: T
  readonly reason: string | undefined
  /** Others changed the same since the page was shown. */
  readonly isStale: boolean
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
  textsIn: (form: URLSearchParams, otherwise: T) => T,
): Edit<T> {
  const isStale = form.get('seen') !== seenOf(current)
  return { view, current, texts: textsIn(form, current), reason: reasonOf(form), isStale }
}

const seenOf = (texts: Texts): string => digest('seen', JSON.stringify(texts))

export const isUnchanged = ({ texts, current }: Edit<Texts>) =>
  Object.keys(current).every((name) => texts[name] === current[name])

/** The user has to see the changes of others first. */
export function putOrPreview<Put, Preview>(
  step: 'preview' | 'confirm',
  { view, reason }: Edit<Texts>,
  caller: string,
  guard: { put(by: Author): Promise<Put>; preview(by: Author): Promise<Preview> },
): Promise<Put | Preview> {
  const by = { caller, onlyAt: [view.definitions.revision], ...(reason !== undefined && { reason }) }
  return step === 'confirm' ? guard.put(by) : guard.preview(by)
}

export const shownFields = ({ current }: Edit<Texts>) => ({ seen: seenOf(current) })

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

/** Who changed it last, and what. */
export async function stalenessOf(
  { ledger }: Pick<Guard, 'ledger'>,
  { view, isStale }: Edit<Texts>,
  { kind, name, budget }: { readonly kind: 'budget' | 'caller'; readonly name: string; readonly budget: string },
): Promise<readonly string[]> {
  if (!isStale) return []
  const { rows } = await ledger.entries({ month: view.month.name, budget }, latest)
  const made = rows.flatMap((entry) => {
    const { changed = [] } = entry
    const at = changed.findIndex((difference) => difference.kind === kind && difference.name === name)
    return at === -1 ? [] : [{ entry, words: differencesInWords(changed)[at] }]
  })[0]
  const who = made
    ? `${personOf(view.definitions, made.entry.by)} changed it on ${when(made.entry.at, zoneOf(view))} (${made.words})`
    : 'someone changed it'
  return [`Nothing was saved: ${who} since you opened the page. What you typed is kept; look at it again.`]
}

const latest = 50

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
    <p class="buttons">
      <button type="submit" name="step" value="preview" class="primary">
        Preview
      </button>
      <a href={back}>Cancel</a>
    </p>
    <p class="note">Nothing is saved before you confirm the preview.</p>
  </Section>
)
