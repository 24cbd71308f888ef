import { figuresOf, left, list } from '../../../../shared/guard/sentences.ts'
import {
  type Definitions,
  limitOf,
  limitsOfCaller,
  personOf,
  windowKinds,
} from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { Differences, Meanwhile } from '../../components/differences.tsx'
import { Hidden } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { callersAddress } from '../../components/parts.tsx'
import { differences, isSlack } from './caller-texts.ts'
import { type CallerEdit, Seen, textsNow } from './edit-form.tsx'

/** What a change takes from a caller and gives to them, before it is confirmed. */
export function EditPreview({ wanted, frame, after }: { wanted: CallerEdit; frame: Frame; after: View }) {
  const { sub, texts, reason, meanwhile } = wanted
  return (
    <>
      {meanwhile === null ? null : <Meanwhile of={meanwhile} name={sub} />}
      <section aria-labelledby="changes">
        <h2 id="changes">What changes</h2>
        <Differences of={differences(textsNow(wanted), texts)} />
        <p>Reason: {reason ?? <span class="unknown">none given</span>}</p>
      </section>
      <section aria-labelledby="confirm">
        <h2 id="confirm">Confirm</h2>
        {consequences(wanted, after).map((sentence) => (
          <p>{sentence}</p>
        ))}
        <p class="note">It holds from the next request on. What runs already goes on and is accounted for.</p>
        <form method="post" action={`${callersAddress}/edit`}>
          <FormToken of={frame} />
          <Seen of={wanted} />
          <Hidden of={{ ...texts, ...(reason !== undefined && { reason }) }} />
          <p class="buttons">
            <button type="submit" name="step" value="confirm" class="primary">
              Change it
            </button>
            <button type="submit" name="step" value="edit">
              Back to the form
            </button>
            <a href={callersAddress}>Leave it as it is</a>
          </p>
        </form>
      </section>
    </>
  )
}

/** What it takes from them and gives to them, in sentences. */
function consequences(wanted: CallerEdit, after: View): readonly string[] {
  const { sub, texts } = wanted
  if (texts.disabled === 'yes') return [`${sub} can then do nothing at all, with whatever token.`]
  const was = textsNow(wanted)
  const before = was.disabled === 'yes' ? [] : namesIn(was.scopes)
  const then = namesIn(texts.scopes)
  const lost = before.filter((scope) => !then.includes(scope))
  const won = then.filter((scope) => !before.includes(scope))
  const others = samePerson(after.definitions, sub)
  return [
    ...(lost.length > 0 ? [`${sub} loses: ${list(lost)}.`] : []),
    ...(won.length > 0 ? [`${sub} gains: ${list(won)}${isSlack(sub) ? '' : ', as far as their token says so'}.`] : []),
    ...(then.length === 0 ? [`${sub} may then do nothing.`] : []),
    ...(others.length > 0
      ? [`${list([sub, ...others])} are then one person: none approves what another asked for.`]
      : []),
    ...limitsOfCaller(after.definitions, sub).flatMap((counted) =>
      windowKinds
        .filter((window) => limitOf(counted, window) !== 'unlimited')
        .map((window) => `Of their own limit, ${left(figuresOf(after, counted, window))}.`),
    ),
  ]
}

const namesIn = (text: string): readonly string[] => text.split(' ').filter(Boolean)

/** Who else is the same person, as far as they are listed. */
function samePerson(definitions: Definitions, sub: string): readonly string[] {
  const person = personOf(definitions, sub)
  const all = new Set([person, ...Object.keys(definitions.callers ?? {})])
  return [...all].filter((each) => each !== sub && personOf(definitions, each) === person)
}
