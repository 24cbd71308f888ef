import type { AnsweredDoubts, Proposal } from '../../../shared/guard/inbox/answered-doubts.ts'
import type { Resolution } from '../../../shared/guard/people/decisions.ts'
import { units as inUnits, list } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { Buttons, fieldsOf } from '../kit/action.tsx'
import { IgnoreEnter, TextField } from '../kit/fields.tsx'
import { FormToken } from '../kit/layout.tsx'
import { ProjectLink, updateAddress } from '../kit/parts.tsx'
import type { Visit } from '../kit/session.tsx'
import { inView } from './people.tsx'

export const answersPath = '/dashboard/decide-by-answers'

interface Props {
  readonly answered: AnsweredDoubts
  readonly view: View
  readonly visit: Pick<Visit, 'frame' | 'permissions'>
}

/** Offers to book what the stored answers say with the settings of now. */
export function AnsweredDoubtsForm({ answered: { proposals }, view, visit: { frame, permissions } }: Props) {
  if (proposals.length === 0 || !permissions.scopes.has('approve')) return null
  const field = fieldsOf(frame, 'answers')('because')
  const bookable = proposals.filter(({ retryAt }) => retryAt === undefined)
  return (
    <details class="card" open={Object.hasOwn(field.faults ?? {}, field.name)}>
      <summary>{summaryOf(proposals)} Review</summary>
      <form method="post" action={answersPath}>
        <FormToken frame={frame} />
        <IgnoreEnter />
        <ul class="lines">
          {proposals.map((proposal) => (
            <ProposalLine proposal={proposal} view={view} />
          ))}
        </ul>
        {bookable.length === 0 ? null : (
          <>
            {bookable.map(({ update, outcome, units }) => (
              <input type="hidden" name="proposed" value={`${update.id} ${outcome} ${units}`} />
            ))}
            <div class="fields">
              <TextField {...field} label="How you know that the settings are right" maxLength={500} isRequired />
            </div>
            <Buttons of={[{ text: `Book ${bookable.length}`, tone: 'primary' }]} />
          </>
        )}
      </form>
    </details>
  )
}

function ProposalLine({ proposal, view }: { proposal: Proposal; view: View }) {
  const { update, outcome, units, because, retryAt } = proposal
  return (
    <li>
      <ProjectLink of={update} definitions={view.definitions} /> <a href={updateAddress(update.id)}>{update.kind}</a>{' '}
      {inWords[outcome]} ({inUnits(units)}){' '}
      <span class="note">
        {because}
        {retryAt === undefined ? null : <> It can be booked from {inView(view).time(retryAt)} on.</>}
      </span>
    </li>
  )
}

const inWords: Readonly<Record<Resolution, string>> = { ran: 'ran', 'did-not-run': 'did not run' }

/** `3 doubts can be decided by RUN_STARTED: 2 ran (12 units), 1 did not run (6 units).` */
function summaryOf(proposals: readonly Proposal[]): string {
  const settings = (['RUN_STARTED', 'RUN_REFUSED', 'ANSWERS_WELL'] as const).filter((name) =>
    proposals.some(({ setting }) => setting === name),
  )
  const outcomes = (['ran', 'did-not-run'] as const).flatMap((outcome) => {
    const rows = proposals.filter((proposal) => proposal.outcome === outcome)
    const sum = rows.reduce((total, { units }) => total + units, 0)
    return rows.length === 0 ? [] : [`${rows.length} ${inWords[outcome]} (${inUnits(sum)})`]
  })
  const doubts = proposals.length === 1 ? '1 doubt' : `${proposals.length} doubts`
  return `${doubts} can be decided by ${list(settings)}: ${outcomes.join(', ')}.`
}
