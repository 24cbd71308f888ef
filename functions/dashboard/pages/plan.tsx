import * as z from 'zod/mini'
import { mustBeCovered } from '../../../shared/api/permissions.ts'
import { Refusal } from '../../../shared/api/refusal.ts'
import { instant, reason } from '../../../shared/api/schemas.ts'
import type { Cost as CostOf, PlanStatus } from '../../../shared/guard/plans/calendar.ts'
import { problem } from '../../../shared/guard/problems.ts'
import { count, list, units, when } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { occurrencesOf } from '../../../shared/ledger/updates/tasks.ts'
import type { Leave } from '../../../shared/ledger/updates/update.ts'
import { ReasonLine } from '../components/fields.tsx'
import { FormToken } from '../components/layout.tsx'
import { budgetAddress, Fact, Facts, planAddress, Section, Time, ZoneNote } from '../components/parts.tsx'
import { readFields } from '../forms.ts'
import type { PageRoutes, Visit } from '../session.tsx'
import { Again, Became, Occurrences } from './occurrences.tsx'
import { Cost, Next } from './plans.tsx'

const maxOccurrences = 20

const shown = z.strictObject({ time: z.exactOptional(instant) })
const because = z.strictObject({ form: z.string(), reason })
const confirmed = z.strictObject({
  form: z.string(),
  time: instant,
  confirm: z.literal('yes', 'has to be ticked: nothing was run'),
})

/** One plan: its facts, its occurrences, and what a user may do about it. */
export function addPlan({ page }: PageRoutes, services: Services): void {
  page('/dashboard/plans/:name', { GET: (visit) => showPlan(visit, services) })
  for (const action of ['pause', 'resume'] as const)
    page(`/dashboard/plans/:name/${action}`, { POST: (visit) => told(visit, () => stop(visit, services, action)) })
  for (const only of ['unsent', 'refused'] as const)
    page(`/dashboard/plans/:name/${only}`, { POST: (visit) => told(visit, () => runAgain(visit, services, only)) })
}

async function showPlan(visit: Visit, { guard }: Services): Promise<Response> {
  visit.mustHave('read')
  const { planned, zone } = await known(visit, guard)
  const { name } = planned.plan
  const { time } = readFields(visit.query, shown)
  const { report: reportOf, upcoming } = await guard.background()
  const [{ costs }, occurrences] = await Promise.all([
    upcoming(1),
    guard.ledger.occurrences.latest(occurrencesOf(name), maxOccurrences),
  ])
  const chosen = time === undefined ? occurrences[0] : occurrences.find((each) => each.time === time)
  const report = chosen ? await reportOf(chosen) : null
  return visit.show(
    `Plan ${name}`,
    <>
      <Summary planned={planned} cost={costs.get(name)} zone={zone} />
      <Stopping visit={visit} planned={planned} />
      {report ? <Became report={report} zone={zone} /> : null}
      {report ? <Again visit={visit} planned={planned} report={report} zone={zone} /> : null}
      <Occurrences of={occurrences} plan={name} zone={zone} />
      <ZoneNote zone={zone} />
    </>,
  )
}

async function stop(visit: Visit, { guard }: Services, action: 'pause' | 'resume'): Promise<string> {
  visit.mustHave('admin')
  const { reason } = readFields(visit.form, because)
  const { name } = (await known(visit, guard)).planned.plan
  const change = action === 'pause' ? guard.pausePlan : guard.resumePlan
  const changed = await change(name, { caller: visit.session.sub, reason })
  if (changed.kind === 'problem') throw new Refusal(changed.problem)
  return action === 'pause' ? `The plan ${name} is paused.` : `The plan ${name} goes on.`
}

async function runAgain(visit: Visit, { guard, clock }: Services, only: 'unsent' | 'refused'): Promise<string> {
  visit.mustHave('run')
  const { time } = readFields(visit.form, confirmed)
  const { planned, zone } = await known(visit, guard)
  const { name } = planned.plan
  await mustBeCovered(guard, name, { sub: visit.session.sub, mayCharge: visit.allowed.mayCharge })
  // Only recorded here: the sweep runs it, so that no page waits for it.
  const fired = await (await guard.background()).runAgain(name, time, only, clock.now())
  if (fired.kind === 'problem') throw new Refusal(fired.problem)
  const what = only === 'refused' ? 'What was refused' : 'What was not sent'
  return fired.occurrence.doneAt === undefined
    ? `${what} of ${name}, ${when(time, zone)}, runs with the next sweep, within minutes.`
    : `Nothing of ${name}, ${when(time, zone)}, was left to run.`
}

/** @throws Refusal 404 */
async function known({ c }: Visit, guard: Services['guard']): Promise<{ planned: PlanStatus; zone: string }> {
  const { planStatuses } = await guard.background()
  const { plans, zone } = await planStatuses()
  const planned = plans.find(({ plan }) => plan.name === c.req.param('name'))
  if (planned) return { planned, zone }
  throw new Refusal(problem('not-found', 'There is no such plan.'))
}

/** Shows the outcome of a form on the plan's page. */
async function told({ c, tell }: Visit, act: () => Promise<string>): Promise<Response> {
  const back = planAddress(c.req.param('name') ?? '')
  try {
    return await tell({ done: [await act()], failed: [] }, back)
  } catch (error) {
    if (error instanceof Refusal) return tell({ done: [], failed: [error.problem.detail] }, back)
    throw error
  }
}

function Summary({ planned, cost, zone }: { planned: PlanStatus; cost: CostOf | undefined; zone: string }) {
  const { kind, projects, budget, schedule, whenShort, query, leave } = planned.plan
  return (
    <Section id="summary" title="Summary" isHidden>
      <Facts isLong>
        <Fact name="Next">
          <Next of={planned} zone={zone} />
        </Fact>
        <Fact name="Schedule, in UTC">
          <code>{schedule.text}</code>
        </Fact>
        <Fact name="Each time">
          <Cost units={cost?.units ?? 0} unpriced={cost?.unpriced ?? projects.length} />
        </Fact>
        <Fact name="Kind">{kind}</Fact>
        <Fact name="Budget">
          {budget === undefined ? 'that of each project, else account' : <a href={budgetAddress(budget)}>{budget}</a>}
        </Fact>
        <Fact name="When units are short">{shortWords[whenShort]}</Fact>
        {leave === undefined ? null : <Fact name="Leaves to others">{leaveWords(leave)} of each window</Fact>}
        {query ? (
          <Fact name="Query">
            <code>{new URLSearchParams(query).toString()}</code>
          </Fact>
        ) : null}
        <Fact name="Prices read">
          {cost?.pricedAt == null ? 'not yet: every night' : <Time at={cost.pricedAt} zone={zone} />}
        </Fact>
      </Facts>
      <details>
        <summary>{projects.length === 1 ? 'One project' : `${count(projects.length)} projects, in this order`}</summary>
        <ol>
          {projects.map((project) => (
            <li>{project}</li>
          ))}
        </ol>
      </details>
    </Section>
  )
}

const leaveWords = (leave: Leave): string =>
  typeof leave === 'number'
    ? units(leave)
    : list(Object.entries(leave).map(([budget, number]) => `${units(number)} of ${budget}`))

const shortWords: Readonly<Record<PlanStatus['plan']['whenShort'], string>> = {
  fit: 'what fits is updated',
  refuse: 'each project is judged alone',
  ask: 'a person is asked',
}

function Stopping({ visit, planned: { plan, paused } }: { visit: Visit; planned: PlanStatus }) {
  if (!visit.allowed.scopes.has('admin')) return paused ? <PausedNote of={paused} /> : null
  const action = paused ? 'resume' : 'pause'
  return (
    <Section id="stopping" title={paused ? 'Resume' : 'Pause'} class="decide">
      {paused ? (
        <PausedNote of={paused} />
      ) : (
        <p class="note">While it is paused, its occurrences are recorded and not run.</p>
      )}
      <form method="post" action={`${planAddress(plan.name)}/${action}`}>
        <FormToken frame={visit.frame} />
        <ReasonLine id="reason" label="Reason" required />
        <p class="buttons">
          <button type="submit" class={paused ? 'primary' : ''}>
            {paused ? 'Resume the plan' : 'Pause the plan'}
          </button>
        </p>
      </form>
    </Section>
  )
}

const PausedNote = ({ of: { by, reason } }: { of: NonNullable<PlanStatus['paused']> }) => (
  <p class="frozen">
    <span aria-hidden="true">‖</span> <strong>Paused</strong> by {by}: {reason}
  </p>
)
