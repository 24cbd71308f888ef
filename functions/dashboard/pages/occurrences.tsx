import { isRefusal, isUnsent } from '../../../shared/guard/plans/attempts.ts'
import type { PlanStatus } from '../../../shared/guard/plans/calendar.ts'
import type { OccurrenceReport } from '../../../shared/guard/plans/occurrences.ts'
import { count, units } from '../../../shared/guard/sentences.ts'
import type { Occurrence } from '../../../shared/ledger/updates/tasks.ts'
import { type Update, wasUpToDate } from '../../../shared/ledger/updates/update.ts'
import { toRfc3339 } from '../../../shared/platform/clock.ts'
import { FormToken } from '../components/layout.tsx'
import { planAddress, Section, StateName, TableHead, Time, Units, updateAddress } from '../components/parts.tsx'
import type { Visit } from '../session.tsx'

export function OccurrenceOutcome({
  report: { occurrence, unitsCharged, rows },
  zone,
}: {
  report: OccurrenceReport
  zone: string
}) {
  const title = (
    <>
      What became of <Time at={occurrence.time} zone={zone} />
    </>
  )
  return (
    <Section id="became" title={title}>
      <p>
        {occurrence.state}
        {occurrence.reason === undefined ? null : `: ${occurrence.reason}`}; {units(unitsCharged)} charged.
        {occurrence.doneAt === undefined ? (
          <>
            {' '}
            It goes on at <Time at={occurrence.nextAt} zone={zone} />.
          </>
        ) : null}
      </p>
      <div class="scroll">
        <table>
          <TableHead columns={['Project', 'State', { number: 'Charged' }]} />
          <tbody>
            {rows.map(({ project, update }) => (
              <tr>
                <th scope="row">{update ? <a href={updateAddress(update.id)}>{project}</a> : project}</th>
                <td>{update ? <UpdateOutcome update={update} /> : 'not sent'}</td>
                <td class="number">
                  <Units units={update?.charged} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  )
}

function UpdateOutcome({ update }: { update: Update }) {
  if (wasUpToDate(update)) return 'up to date'
  return (
    <>
      <StateName state={update.state} />
      {update.problem ? <span class="note">{update.problem.detail}</span> : null}
    </>
  )
}

export function RunAgainForms({
  visit: { permissions, frame },
  status: { plan, paused },
  report: { occurrence, rows },
  zone,
}: {
  visit: Visit
  status: PlanStatus
  report: OccurrenceReport
  zone: string
}) {
  if (occurrence.doneAt === undefined || !plan.enabled) return null
  const mayRun = !paused && permissions.scopes.has('run')
  return (
    <>
      {repeats.map(({ only, title, outcome, consequence, isIncluded }) => {
        const projects = rows.flatMap(({ project, update }) => (isIncluded(update) ? [project] : []))
        if (projects.length === 0) return null
        return (
          <Section id={only} title={title} class="decide">
            <p>
              Of <Time at={occurrence.time} zone={zone} />,{' '}
              {projects.length === 1 ? 'one project' : `${count(projects.length)} projects`} {outcome}:{' '}
              {projects.join(', ')}.
            </p>
            {paused ? <p class="note">Resume the plan first.</p> : null}
            {mayRun ? (
              <form method="post" action={`${planAddress(plan.name)}/${only}`}>
                <FormToken frame={frame} />
                <input type="hidden" name="time" value={toRfc3339(occurrence.time)} />
                <p class="tick">
                  <input type="checkbox" id={`confirm-${only}`} name="confirm" value="yes" required />
                  <label for={`confirm-${only}`}>
                    Run {projects.length === 1 ? 'it' : 'them'} now: {consequence}
                  </label>
                </p>
                <p class="buttons">
                  <button type="submit" class="primary">
                    {title}
                  </button>
                </p>
              </form>
            ) : null}
          </Section>
        )
      })}
    </>
  )
}

const repeats = [
  {
    ...{ only: 'unsent', title: 'Run what was not sent', isIncluded: isUnsent },
    outcome: 'never began, expired or provably did not run',
    consequence: 'units are spent, as far as budgets allow',
  },
  {
    ...{ only: 'refused', title: 'Run what was refused', isIncluded: isRefusal },
    outcome: 'were refused',
    consequence: 'each is decided again, by the budgets and limits as they are now',
  },
] as const

export const Occurrences = ({
  occurrences,
  plan,
  zone,
}: {
  occurrences: readonly Occurrence[]
  plan: string
  zone: string
}) => (
  <Section id="occurrences" title="Its latest times">
    {occurrences.length === 0 ? (
      <p class="empty">
        It has not been due yet. <code>npm run plan -- {plan}</code> fires it as its rule would.
      </p>
    ) : (
      <ul class="lines">
        {occurrences.map(({ time, state, reason }) => (
          <li>
            <a href={`${planAddress(plan)}?time=${encodeURIComponent(toRfc3339(time))}`}>
              <Time at={time} zone={zone} />
            </a>{' '}
            {state}
            {reason === undefined ? null : <span class="note">: {reason}</span>}
          </li>
        ))}
      </ul>
    )}
    <p>
      <a href={`/dashboard/updates?plan=${encodeURIComponent(plan)}`}>All updates of this plan</a>
    </p>
  </Section>
)
