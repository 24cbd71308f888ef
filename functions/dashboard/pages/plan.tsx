import * as z from 'zod/mini'
import { mustBeCovered } from '../../../shared/api/permissions.ts'
import { Refusal } from '../../../shared/api/refusal.ts'
import { instant, reason } from '../../../shared/api/schemas.ts'
import { scheduleInWords } from '../../../shared/guard/plans/plan-words.ts'
import type { PlanStatus } from '../../../shared/guard/plans/statuses.ts'
import {
  occurrences,
  occurrencesOf,
  type RunAgain,
  rerunId,
  reruns,
  runsAgain,
} from '../../../shared/guard/plans/stored-occurrence.ts'
import { problem } from '../../../shared/guard/problems.ts'
import { count, list, units, when, zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import type { Leave } from '../../../shared/ledger/updates/leave.ts'
import { tagEntries } from '../../../shared/ledger/updates/update.ts'
import type { PlanCost } from '../../../shared/reports/plans/calendar.ts'
import type { Verdict } from '../../../shared/reports/plans/verdict.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { CostText, NextTime, PauseBanner, WillItPass } from '../components/plan-status.tsx'
import { readFields } from '../forms.ts'
import { ActionForm, action } from '../kit/action.tsx'
import { Facts } from '../kit/facts.tsx'
import { FoldedSection, isRefilled } from '../kit/fold.tsx'
import { BudgetLink, ProjectLink, planAddress, Section, Time, ZoneNote } from '../kit/parts.tsx'
import type { PageRoutes, Visit } from '../kit/session.tsx'
import { OccurrenceOutcome, Occurrences, RunAgainForms, type RunProps, subjects, WaitingRerun } from './occurrences.tsx'

const maxOccurrences = 20
const weeks = 5

const querySchema = z.strictObject({ time: z.exactOptional(instant) })
const reasonSchema = z.strictObject({ reason })
const confirmationSchema = z.strictObject({
  time: instant,
  version: z.string(),
  confirm: z.literal('yes', 'must be ticked: nothing was run'),
})

const back = ({ c }: Visit): string => planAddress(c.req.param('name') ?? '')

export function addPlan({ page }: PageRoutes): void {
  page('/dashboard/plans/:name', { GET: showPlan })
  for (const change of ['pause', 'resume'] as const)
    page(`/dashboard/plans/:name/${change}`, {
      POST: action({
        schema: reasonSchema,
        keeps: ['reason'],
        back,
        act: (visit, { reason }) => pauseOrResume(visit, change, reason),
      }),
    })
  for (const only of runsAgain)
    page(`/dashboard/plans/:name/${only}`, {
      POST: action({
        schema: confirmationSchema,
        back,
        act: (visit, confirmation) => askToRunAgain(visit, only, confirmation),
      }),
    })
}

async function showPlan(visit: Visit): Promise<Response> {
  visit.mustHave('read')
  const { guard } = visit
  const { status, zone } = await readStatus(visit)
  const { name } = status.plan
  const { time } = readFields(visit.query, querySchema)
  const reports = await reportsOf(guard)
  const viewRead = guard.ledger.view()
  const [view, { costs, days, verdicts, priceOf }, runs] = await Promise.all([
    viewRead,
    reports.upcoming(weeks, viewRead),
    guard.ledger.queue(occurrences).latest(occurrencesOf(name), maxOccurrences),
  ])
  const occurrence = time === undefined ? runs[0] : runs.find((each) => each.time === time)
  const [report, rerun] = occurrence
    ? await Promise.all([guard.report(occurrence), guard.ledger.queue(reruns).get(rerunId(occurrence))])
    : [null, null]
  const waiting = rerun?.doneAt === undefined ? rerun : null
  return visit.show(
    `Plan ${name}`,
    <>
      <PauseBanner status={status} view={view} days={days} isAdmin={false} />
      <Summary status={status} cost={costs.get(name)} verdict={verdicts.get(name)} view={view} />
      <PauseForm visit={visit} status={status} />
      {report ? <OccurrenceOutcome report={report} view={view} /> : null}
      {waiting ? <WaitingRerun rerun={waiting} view={view} /> : null}
      {report && !waiting ? <RunAgainForms visit={visit} status={status} report={report} priceOf={priceOf} /> : null}
      <Occurrences occurrences={runs} plan={name} zone={zone} />
      <ZoneNote zone={zone} />
    </>,
  )
}

async function pauseOrResume(visit: Visit, action: 'pause' | 'resume', reason: string): Promise<string> {
  visit.mustHave('admin')
  const { guard } = visit
  const { name } = (await readStatus(visit)).status.plan
  const change = action === 'pause' ? guard.pausePlan : guard.resumePlan
  const result = await change(name, { caller: visit.session.sub, reason })
  if (result.kind === 'problem') throw new Refusal(result.problem)
  return action === 'pause' ? `The plan ${name} is paused.` : `The plan ${name} is resumed.`
}

async function askToRunAgain(
  visit: Visit,
  only: RunAgain,
  { time, version }: z.output<typeof confirmationSchema>,
): Promise<string> {
  visit.mustHave('run')
  const { guard, session } = visit
  const { status, zone } = await readStatus(visit)
  const { name } = status.plan
  await mustBeCovered(guard, name, visit.permissions)
  const asked = { only, seenVersion: Number(version), by: session.sub }
  const result = await guard.askToRunAgain(name, time, asked)
  if (result.kind === 'problem') throw new Refusal(result.problem)
  const run = `${name}, ${when(time, zone)},`
  if (result.kind === 'nothing-left') return `No project of ${run} was left to run.`
  return result.kind === 'asked'
    ? `${subjects[only]} of ${run} run with the next sweep, within five minutes.`
    : `${subjects[only]} of ${run} are running already.`
}

/** @throws Refusal 404 */
async function readStatus({ c, guard }: Visit): Promise<{ status: PlanStatus; zone: string }> {
  const { plans, zone } = await guard.planStatuses()
  const status = plans.find(({ plan }) => plan.name === c.req.param('name'))
  if (status) return { status, zone }
  throw new Refusal(problem('not-found', 'There is no such plan.'))
}

interface SummaryProps {
  readonly status: PlanStatus
  readonly cost: PlanCost | undefined
  readonly verdict: Verdict | undefined
  readonly view: View
}

function Summary({ status, cost, verdict, view }: SummaryProps) {
  const zone = zoneOf(view)
  const { kind, projects, budget, schedule, whenShort, query, leave, tags } = status.plan
  return (
    <Section id="summary" title="Summary" isHidden>
      <p class="headline">
        <span class="quiet">Will it pass?</span> <WillItPass status={status} verdict={verdict} view={view} />
      </p>
      <p class="headline">
        <strong class="lead">
          <CostText units={cost?.units ?? 0} unpriced={cost?.unpriced ?? projects.length} />
        </strong>
        <span>
          next run: <NextTime status={status} view={view} />
        </span>
      </p>
      <Facts
        isLong
        rows={[
          ['Runs', scheduleInWords(schedule, zone, view.now)],
          ['Kind', kind],
          ['Budget', budget === undefined ? 'the project’s own' : <BudgetLink name={budget} />],
          ['When units are short', whenShortTexts[whenShort]],
          leave !== undefined && ['Leaves to others', `${leaveText(leave)} of each window`],
          [
            'Tags',
            tagEntries(tags)
              .map(([key, value]) => `${key}: ${value}`)
              .join(', '),
          ],
          query && ['Query', <code>{new URLSearchParams(query).toString()}</code>],
          ['Prices read', cost?.pricedAt == null ? 'not yet: every night' : <Time at={cost.pricedAt} zone={zone} />],
          ['Schedule, in UTC', <code>{schedule.text}</code>],
        ]}
      />
      <details>
        <summary>{projects.length === 1 ? 'One project' : `${count(projects.length)} projects, in this order`}</summary>
        <ol>
          {projects.map((project) => (
            <li>
              <ProjectLink of={{ project }} definitions={view.definitions} />
            </li>
          ))}
        </ol>
      </details>
    </Section>
  )
}

const leaveText = (leave: Leave): string =>
  typeof leave === 'number'
    ? units(leave)
    : list(Object.entries(leave).map(([budget, number]) => `${units(number)} of ${budget}`))

const whenShortTexts: Readonly<Record<PlanStatus['plan']['whenShort'], string>> = {
  fit: 'updates what fits',
  refuse: 'decides each project alone',
  ask: 'asks for approval',
}

function PauseForm({ visit, status: { plan, paused } }: RunProps) {
  if (!visit.permissions.scopes.has('admin')) return null
  const change = paused ? 'resume' : 'pause'
  const title = paused ? 'Resume the plan' : 'Pause the plan'
  return (
    <FoldedSection id="stopping" title={title} isOpen={paused !== null || isRefilled(visit.frame, 'reason')}>
      {paused ? null : <p class="note">While it is paused, its runs are recorded and not started.</p>}
      <ActionForm
        frame={visit.frame}
        id="stopping"
        action={`${planAddress(plan.name)}/${change}`}
        reason="required"
        buttons={[{ text: title, tone: 'primary' }]}
      />
    </FoldedSection>
  )
}
