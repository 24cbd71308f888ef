import { figuresOf, left, list } from '../../../../shared/guard/sentences.ts'
import {
  callerNamed,
  type Definitions,
  limitOf,
  limitsOfCaller,
  personOf,
  windowKinds,
} from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { type Scope, scopes } from '../../../../shared/platform/words.ts'
import { type Difference, Differences, Meanwhile } from '../../components/edit.tsx'
import { ChoiceField, Hidden, LinesField, ReasonField, TextField, TicksField, Wrong } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { callerAddress, callersAddress } from '../../components/parts.tsx'
import { allBudgets, differences, isSlack, labels, type Text, type Texts, textsOf } from './caller-texts.ts'

/** The form of what a caller may do. */

/** What a user wants of a caller: from the form to a preview, and from there to the change. */
export interface CallerEdit {
  readonly view: View
  readonly sub: string
  readonly texts: Texts
  readonly reason: string | undefined
  /** What others have made of the caller since the page was shown; `null`: the definitions are the same. */
  readonly meanwhile: readonly Difference[] | null
}

const meanings: Readonly<Record<Scope, string>> = {
  read: 'see budgets, updates and figures',
  run: 'have updates run, which spends units',
  propose: 'ask for updates, each of which awaits approval',
  write: 'create and change projects at the service',
  approve: 'approve, reject and resolve what others asked for',
  admin: 'change budgets and callers, pause plans, book entries',
}

const yesOrNo = [
  ['no', 'no'],
  ['yes', 'yes'],
] as const

export function EditForm({ wanted, wrong, frame }: { wanted: CallerEdit; wrong: readonly string[]; frame: Frame }) {
  const { sub, texts, meanwhile } = wanted
  const field = (text: Text) => ({ of: 'edit', name: text, label: labels[text], value: texts[text] })
  const units = (text: Text) => ({ ...field(text), units: true })
  const isAll = texts.budgets === allBudgets
  return (
    <form method="post" action={`${callersAddress}/edit`} class="sheet">
      <Wrong of={wrong} />
      {meanwhile === null ? null : <Meanwhile of={meanwhile} name={sub} />}
      <FormToken of={frame} />
      <Seen of={wanted} />
      <section aria-labelledby="may">
        <h2 id="may">What they may do</h2>
        <p class="note">
          {isSlack(sub)
            ? 'Whoever is in Slack brings no token: what is ticked here is all that they may do.'
            : 'A token says what they may do; what is not ticked here they may not, whatever it says. All ticked: as it says.'}
        </p>
        <div class="fields">
          <TicksField
            {...field('scopes')}
            value={texts.scopes.split(' ')}
            options={scopes.map((scope) => [scope, scope, meanings[scope]])}
            whole
          />
          <ChoiceField
            of="edit"
            name="charging"
            label="May charge"
            value={isAll ? 'all' : 'some'}
            options={[
              ['all', isSlack(sub) ? 'all budgets' : 'all budgets that their token names'],
              ['some', 'only those named under Budgets'],
            ]}
          />
          <LinesField
            {...field('budgets')}
            value={isAll ? '' : texts.budgets}
            note="One on a line, each with those below it."
          />
          <ChoiceField
            {...field('mayForce')}
            options={[
              ['no', 'only with the scope admin'],
              ['yes', 'yes'],
            ]}
            note="Skip the cool-down of work that was just done, and pay again."
          />
          <ChoiceField
            {...field('mayChargeAncestors')}
            options={[
              ['no', 'only with the scope admin'],
              ['yes', 'yes'],
            ]}
            note="Charge a budget above the one that owns a project. The owner's rules hold, its limits do not."
          />
          <ChoiceField {...field('disabled')} options={yesOrNo} note="Nothing at all, from the next request on." />
        </div>
      </section>
      <section aria-labelledby="who">
        <h2 id="who">Who they are</h2>
        <div class="fields">
          <TextField
            {...field('person')}
            longest={200}
            note="The same for every name that one person asks under, such as the sub of their token: nobody approves what they asked for themselves. Empty: a person of their own."
          />
        </div>
      </section>
      <section aria-labelledby="limits">
        <h2 id="limits">Limits of their own</h2>
        <p class="note">They count whatever budget is charged, beside the budget’s own.</p>
        <div class="fields">
          <TextField {...units('month')} note="Units, or “unlimited”." />
          <TextField {...units('day')} note="Units, or “unlimited”." />
          <TextField {...units('perUpdate')} note="Units; more than this is refused. Empty: no such rule." />
          <TextField {...units('ratePerMinute')} note="Empty: as many as they like." />
        </div>
      </section>
      <section aria-labelledby="go-on">
        <h2 id="go-on">Then</h2>
        <ReasonField of="edit" value={wanted.reason} isOptional />
        <p class="buttons">
          <button type="submit" name="step" value="preview" class="primary">
            Preview
          </button>
          <a href={callersAddress}>Leave it as it is</a>
        </p>
        <p class="note">Nothing is changed before you confirm what the preview shows.</p>
      </section>
    </form>
  )
}

export const textsNow = ({ view, sub }: Pick<CallerEdit, 'view' | 'sub'>): Texts =>
  textsOf(sub, callerNamed(view.definitions, sub) ?? {})

/** What this page shows as it is: a change by another user meanwhile is not overwritten, but shown. */
const Seen = ({ of }: { of: CallerEdit }) => (
  <Hidden of={{ sub: of.sub, revision: String(of.view.definitions.revision), seen: JSON.stringify(textsNow(of)) }} />
)

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

/** How a caller comes onto the list of callers, and off it. */

/** What taking them off the list does is not the same for everybody, so it is said. */
export const Unlisting = ({ of, frame }: { of: CallerEdit; frame: Frame }) => {
  const { sub, view } = of
  return (
    <details class="card">
      <summary>Take {sub} off the list</summary>
      <p class="note">
        {isSlack(sub)
          ? 'They may do nothing in Slack then.'
          : 'Their token alone says what they may do then: nothing that is set here narrows it any more.'}
      </p>
      {callerNamed(view.definitions, sub)?.disabled ? (
        <p class="warning">
          <span aria-hidden="true">⚠</span> They are disabled now. Off the list they are not:{' '}
          {isSlack(sub) ? 'whoever lists them again lets them in.' : 'a token of theirs works again.'}
        </p>
      ) : null}
      <form method="post" action={`${callersAddress}/delete`}>
        <FormToken of={frame} />
        <Hidden of={{ sub, revision: String(view.definitions.revision) }} />
        <ReasonField of="delete" isOptional />
        <p class="buttons">
          <button type="submit">Take {sub} off the list</button>
        </p>
      </form>
    </details>
  )
}

/** Where to name a caller who is not listed. */
export const ListForm = () => (
  <section aria-labelledby="list">
    <h2 id="list">List somebody</h2>
    <form method="get" action={callerAddress()}>
      <div class="fields">
        <TextField
          of="list"
          name="sub"
          label="Name"
          longest={200}
          note="The sub of a token, or slack: and a member ID, as slack:U02ADA."
          required
        />
      </div>
      <p class="buttons">
        <button type="submit">Go on</button>
      </p>
    </form>
  </section>
)
