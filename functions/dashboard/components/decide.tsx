import type { DecisionMade } from '../../../shared/guard/inbox/inbox.ts'
import { inFlightUntil } from '../../../shared/guard/options.ts'
import { noApproverNow } from '../../../shared/guard/people/approvers.ts'
import { allDecisions, type Decision, decisions } from '../../../shared/guard/people/decisions.ts'
import { units as inUnits, list } from '../../../shared/guard/sentences.ts'
import { endsWithoutRun, stateTexts } from '../../../shared/guard/states.ts'
import { soughtDates } from '../../../shared/guard/sweep/sweep.ts'
import { doubtLastsMs } from '../../../shared/ledger/book/outcome.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import type { Services } from '../../../shared/services/services.ts'
import type { Kinds } from '../../../shared/tracking/kinds.ts'
import { IgnoreEnter } from '../kit/fields.tsx'
import { dayNamed, linked, say } from '../kit/parts.tsx'
import type { Visit } from '../kit/session.tsx'
import { inView } from './people.tsx'

interface Choices {
  readonly possible: readonly Decision[]
  readonly whyNot: readonly string[]
}

/** Lists the decisions that the guard would accept from this user. */
export function choicesFor(
  update: Update,
  view: View,
  { permissions }: Pick<Visit, 'permissions'>,
  options: Services['options'],
): Choices {
  const relevant = allDecisions.filter((decision) => {
    const { scopes, states } = decisions[decision]
    return states.includes(update.state) && scopes.some((scope) => permissions.scopes.has(scope))
  })
  const judged = relevant.map((decision) => {
    const problem = decisions[decision].whyNot(update, view, permissions, options)
    return { decision, problem }
  })
  const whyNot = judged.flatMap(({ decision, problem }) =>
    problem && (decision === 'approve' || decision === 'reject') ? [problem.detail] : [],
  )
  const no = update.state === 'awaiting-approval' ? noApproverNow(view.definitions, update) : null
  if (no !== null && !whyNot.some((sentence) => sentence.includes(no))) whyNot.push(no)
  return {
    possible: judged.filter(({ problem }) => !problem).map(({ decision }) => decision),
    whyNot: [...new Set(whyNot)],
  }
}

/** Sends the units that the page shows, because an approval covers only these units. */
export const ShownUnitsField = ({ update: { id, state, estimated } }: { update: Update }) =>
  state === 'awaiting-approval' && estimated !== undefined ? (
    <input type="hidden" name="shown" value={`${id} ${estimated}`} />
  ) : null

export const actionLabels: Readonly<Record<Decision, string>> = {
  approve: 'Approve',
  reject: 'Reject',
  cancel: 'Cancel update',
  ran: 'It ran',
  'did-not-run': 'It did not run',
}

const consequences: Readonly<Record<Decision, string>> = {
  approve: 'the update starts in a moment, unless it needs more than was approved',
  reject: 'the update never runs, and nothing is spent',
  cancel: 'the update never runs, and nothing is spent',
  ran: 'the update is settled at the units that you enter, or else at the units held',
  'did-not-run': 'the update is released, and the held units are returned',
}

export const Consequences = ({ actions }: { actions: readonly Decision[] }) => (
  <p class="note">{actions.map((action) => `${actionLabels[action]}: ${consequences[action]}.`).join(' ')}</p>
)

interface ButtonsProps {
  readonly actions: readonly Decision[]
  readonly labels?: Partial<Record<Decision, string>>
}

export const ActionButtons = ({ actions, labels = actionLabels }: ButtonsProps) => (
  <p class="buttons">
    <IgnoreEnter />
    {actions.map((action, position) => (
      <button
        type="submit"
        name="do"
        value={action}
        class={position === 0 && ['approve', 'ran'].includes(action) ? 'primary' : ''}
      >
        {labels[action]}
      </button>
    ))}
  </p>
)

/** The end of an approved update that did not run. Empty: it ran, or may still run. */
export function AfterApproval({ what, update }: Pick<DecisionMade, 'what' | 'update'>) {
  const { state, problem, history } = update
  if (what !== 'approve' || !endsWithoutRun(state)) return null
  const why = problem?.detail ?? history.at(-1)?.note
  return (
    <>
      , then {stateTexts[state].words}
      {why === undefined ? '' : [': ', linked(why)]}
    </>
  )
}

type EvidenceProps = { update: Update; view: View } & Pick<Services, 'options' | 'kinds'>

export function Evidence({ update, view, options, kinds }: EvidenceProps) {
  const { time } = inView(view)
  const noEffectFrom = inFlightUntil(update, options)
  const settledAt = (update.doubt?.at ?? view.now) + doubtLastsMs
  return (
    <ul class="evidence">
      <li>{evidenceSentence(update, view, kinds)}</li>
      <li>
        {view.now < noEffectFrom
          ? say`The request may still take effect. You can already say that the update ran. From ${time(noEffectFrom)} on you can also say that it did not run.`
          : 'The request can no longer take effect, so you can choose either answer.'}
      </li>
      <li>
        {say`If no one answers, the update is settled on ${time(settledAt)} at the ${inUnits(update.hold?.units ?? 0)} held.`}
      </li>
    </ul>
  )
}

function evidenceSentence(update: Update, view: View, kinds: Kinds): string {
  if (!kinds[update.kind].leavesDates)
    return `A ${update.kind} update leaves no data to look for, so only a person can tell.`
  const dates = soughtDates(view, update)
  if (dates === null)
    return 'The dates that the service had before the update could not be read, so only a person can tell whether it ran.'
  if (dates.length === 0)
    return 'The service already had data for each day around the update, so only a person can tell whether it ran.'
  return `The service had no data of ${list(dates.map(dayNamed))} before the update. The sweep looks for such data, and has found none yet.`
}
