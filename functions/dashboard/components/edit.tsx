import * as z from 'zod/mini'

/** What a user has set otherwise than it is: shown before it is confirmed, and after others were faster. */

export interface Difference {
  readonly label: string
  /** Both as people read them. */
  readonly from: string
  readonly to: string
}

export const Differences = ({ of }: { of: readonly Difference[] }) => (
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

/** @param of what others have made of it since the page was shown. */
export const Meanwhile = ({ of, name }: { of: readonly Difference[]; name: string }) => (
  <div role="alert" class="warning">
    <p>
      <span aria-hidden="true">⚠</span>{' '}
      <strong>Nothing was changed yet: something else was, since you saw the page.</strong>{' '}
      {of.length === 0
        ? `It did not concern what is set of ${name}. Look once more, and confirm.`
        : `Of ${name}, it is kept, except where you want it otherwise. Look once more, and confirm.`}
    </p>
    {of.length === 0 ? null : <Differences of={of} />}
  </div>
)

/** What a user has changed of what they saw, on what others have made of it meanwhile. */
export const merged = <Texts extends Readonly<Record<string, string>>>(
  given: Texts,
  seen: Texts,
  now: Texts,
): Texts => {
  const changed = Object.entries(given).filter(([text, value]) => value !== seen[text])
  return { ...now, ...Object.fromEntries(changed) }
}

const fields = z.record(z.string(), z.string())

/** What the page had shown, as it says itself: a page that lies about it deceives only its sender. */
export function seenIn(form: URLSearchParams): URLSearchParams {
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
