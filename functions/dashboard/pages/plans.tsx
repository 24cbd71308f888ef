import type { Cost as CostOf, PlanStatus } from '../../../shared/guard/plans/calendar.ts'
import { count } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import type { Occurrence } from '../../../shared/ledger/updates/tasks.ts'
import { budgetAddress, InZone, planAddress, Time } from '../components/parts.tsx'
import type { PageRoutes } from '../session.tsx'
import { Calendar, Cost } from './calendar.tsx'

/** The open week and four more: a month, and a look at the next. */
const weeks = 5

/** What schedules will ask for, when, and what that costs. */
export function addPlans({ page }: PageRoutes, { guard }: Services): void {
  page('/dashboard/plans', {
    GET: async ({ mustHave, show }) => {
      mustHave('read')
      const { planStatuses, upcoming } = await guard.background()
      const [{ plans, zone }, { days, costs }] = await Promise.all([planStatuses(), upcoming(weeks)])
      if (plans.length === 0) return show('Plans', <None />)
      return show(
        'Plans',
        <>
          <Calendar days={days} zone={zone} />
          <p class="note">
            Prices are read from the service every night. That a plan leaves units to others, is refused, or meets a
            cool-down is not foreseen: this is the most that plans take at these prices.
            {plans.some(({ plan, last }) => plan.schedule.kind === 'rate' && !last)
              ? ' A rate that has never been due counts from when its rule was made: its times here are a guess.'
              : null}
          </p>
          <Table plans={plans} costs={costs} zone={zone} />
          <InZone zone={zone} />
        </>,
      )
    },
  })
}

const None = () => (
  <div class="empty">
    <p>There is no plan yet. Plans are a file that is reviewed with the code; this is one:</p>
    <pre>
      <code>{example}</code>
    </pre>
    <p>
      Name the file in <code>PLANS</code> and start again, or deploy again: each plan becomes a rule of EventBridge.
    </p>
  </div>
)

const example = `[{
  "name": "morning", "kind": "ranking", "projects": ["acme.example"],
  "schedule": "cron(0 5 ? * MON-FRI *)"
}]`

function Table({
  plans,
  costs,
  zone,
}: {
  plans: readonly PlanStatus[]
  costs: ReadonlyMap<string, CostOf>
  zone: string
}) {
  return (
    <div class="wide">
      <table class="rows">
        <caption>All plans, the one first that gets units first</caption>
        <thead>
          <tr>
            <th scope="col">Plan</th>
            <th scope="col">Next</th>
            <th scope="col">Each time</th>
            <th scope="col">Budget</th>
            <th scope="col">Last</th>
          </tr>
        </thead>
        <tbody>
          {plans.map((planned) => {
            const { plan, last } = planned
            const { units, unpriced } = costs.get(plan.name) ?? { units: 0, unpriced: plan.projects.length }
            return (
              <tr>
                <th scope="row">
                  <a href={planAddress(plan.name)}>{plan.name}</a>
                  <span class="note">
                    {plan.kind}, {plan.projects.length === 1 ? '1 project' : `${count(plan.projects.length)} projects`}
                  </span>
                </th>
                <td data-name="Next">
                  <Next of={planned} zone={zone} />
                  <span class="note">{plan.schedule.text}</span>
                </td>
                <td data-name="Each time">
                  <Cost units={units} unpriced={unpriced} />
                </td>
                <td data-name="Budget">
                  {plan.budget === undefined ? (
                    'of each project'
                  ) : (
                    <a href={budgetAddress(plan.budget)}>{plan.budget}</a>
                  )}
                </td>
                <td data-name="Last">{last ? <LastTime of={last} zone={zone} /> : 'not yet'}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

export function Next({ of: { plan, paused, next }, zone }: { of: PlanStatus; zone: string }) {
  if (!plan.enabled) return <span class="unknown">not enabled in the plans file</span>
  if (paused) return <strong class="stopped">paused by {paused.by}</strong>
  return next === null ? <span class="unknown">not known yet</span> : <Time at={next} zone={zone} />
}

const LastTime = ({ of: { time, state }, zone }: { of: Occurrence; zone: string }) => (
  <>
    <Time at={time} zone={zone} />
    <span class="note">{state}</span>
  </>
)
