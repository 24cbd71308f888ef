import type { PlanStatus } from '../../../shared/guard/plans/calendar.ts'
import { type DayAhead, type DuePlan, type Cost as PlanCost, weekdayOf } from '../../../shared/guard/plans/calendar.ts'
import { count, units } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import type { Occurrence } from '../../../shared/ledger/updates/tasks.ts'
import { budgetAddress, planAddress, TableHead, Time, ZoneNote } from '../components/parts.tsx'
import type { PageRoutes } from '../session.tsx'

/** This week and the next four. */
const weeks = 5

export function addPlans({ page }: PageRoutes, { guard }: Services): void {
  page('/dashboard/plans', {
    GET: async ({ mustHave, show }) => {
      mustHave('read')
      const { planStatuses, upcoming } = await guard.background()
      const [{ plans, zone }, { days, costs }] = await Promise.all([planStatuses(), upcoming(weeks)])
      if (plans.length === 0) return show('Plans', <EmptyPlans />)
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
          <PlanTable plans={plans} costs={costs} zone={zone} />
          <ZoneNote zone={zone} />
        </>,
      )
    },
  })
}

const EmptyPlans = () => (
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

function PlanTable(props: { plans: readonly PlanStatus[]; costs: ReadonlyMap<string, PlanCost>; zone: string }) {
  const { plans, costs, zone } = props
  return (
    <div class="wide">
      <table class="rows">
        <caption>All plans, the one first that gets units first</caption>
        <TableHead columns={['Plan', 'Next', 'Each time', 'Budget', 'Last']} />
        <tbody>
          {plans.map((status) => {
            const { plan, last } = status
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
                  <NextTime status={status} zone={zone} />
                  <span class="note">{plan.schedule.text}</span>
                </td>
                <td data-name="Each time">
                  <CostText units={units} unpriced={unpriced} />
                </td>
                <td data-name="Budget">
                  {plan.budget === undefined ? (
                    'of each project'
                  ) : (
                    <a href={budgetAddress(plan.budget)}>{plan.budget}</a>
                  )}
                </td>
                <td data-name="Last">{last ? <LastOccurrence occurrence={last} zone={zone} /> : 'not yet'}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

export function NextTime({ status: { plan, paused, next }, zone }: { status: PlanStatus; zone: string }) {
  if (!plan.enabled) return <span class="unknown">not enabled in the plans file</span>
  if (paused) return <strong class="stopped">paused by {paused.by}</strong>
  return next === null ? <span class="unknown">not known yet</span> : <Time at={next} zone={zone} />
}

const LastOccurrence = ({ occurrence: { time, state }, zone }: { occurrence: Occurrence; zone: string }) => (
  <>
    <Time at={time} zone={zone} />
    <span class="note">{state}</span>
  </>
)

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
/** A day with more times shows the first time and the count. */
const maxTimes = 3

/** Weeks begin on Monday. The stylesheet turns the table into a list on phones. */
function Calendar({ days, zone }: { days: readonly DayAhead[]; zone: string }) {
  const [first] = days
  if (!first) return null
  const daysBefore = weekdayOf(first.day)
  const weeks = Array.from({ length: Math.ceil((daysBefore + days.length) / 7) }, (_, week) =>
    weekdays.map((_name, position) => days[week * 7 + position - daysBefore]),
  )
  return (
    <div class="wide">
      <table class="calendar">
        <caption>What plans will do, and what it costs at the prices last seen</caption>
        <TableHead columns={weekdays} />
        <tbody>
          {weeks.map((week) => (
            <tr>
              {week.map((dayAhead, position) =>
                dayAhead ? (
                  <CalendarDay
                    dayAhead={dayAhead}
                    zone={zone}
                    isToday={dayAhead === first}
                    weekday={weekdays[position] ?? ''}
                  />
                ) : (
                  <td class="passed" />
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function CalendarDay({
  dayAhead,
  zone,
  isToday,
  weekday,
}: {
  dayAhead: DayAhead
  zone: string
  isToday: boolean
  weekday: string
}) {
  const { day, due, runsOut, resetsAt } = dayAhead
  const sum = due.reduce((total, { units }) => total + units, 0)
  const isQuiet = due.length + runsOut.length === 0 && resetsAt === null
  return (
    <td class={isQuiet ? 'quiet' : ''}>
      <p class="date">
        <time datetime={day.name.slice('day:'.length)}>
          <span class="weekday">{weekday} </span>
          {dateOf(day.name)}
        </time>
        {isToday ? <span class="note"> today</span> : null}
      </p>
      {resetsAt === null ? null : (
        <p class="reset">
          <span aria-hidden="true">↻</span> New month at <Time at={resetsAt} zone={zone} isOfDay />
        </p>
      )}
      {due.length === 0 ? null : (
        <ul>
          {due.map((each) => (
            <DuePlanItem duePlan={each} zone={zone} />
          ))}
        </ul>
      )}
      {due.length > 1 ? <p class="sum">{units(sum)} in all</p> : null}
      {runsOut.map(({ budget, at }) => (
        <p class="out">
          <span aria-hidden="true">⚠</span> <a href={budgetAddress(budget)}>{budget}</a> has too little from{' '}
          <Time at={at} zone={zone} isOfDay /> on
        </p>
      ))}
    </td>
  )
}

const DuePlanItem = ({ duePlan: { plan, times, units, unpriced }, zone }: { duePlan: DuePlan; zone: string }) => (
  <li>
    <a href={planAddress(plan)}>{plan}</a>{' '}
    <span class="note">
      {times.length > maxTimes ? `${count(times.length)} times from ` : null}
      {(times.length > maxTimes ? times.slice(0, 1) : times).map((at, position) => (
        <>
          {position > 0 ? ', ' : null}
          <Time at={at} zone={zone} isOfDay />
        </>
      ))}
    </span>{' '}
    <CostText units={units} unpriced={unpriced} />
  </li>
)

export const CostText = ({ units: pricedUnits, unpriced }: { units: number; unpriced: number }) => (
  <span class="cost">
    {pricedUnits > 0 || unpriced === 0 ? units(pricedUnits) : null}
    {pricedUnits > 0 && unpriced > 0 ? ', and ' : null}
    {unpriced > 0 ? (
      <span class="unknown">
        {count(unpriced)} {unpriced === 1 ? 'update' : 'updates'} without a known price
      </span>
    ) : null}
  </span>
)

/** `20 Nov` for the window `day:2026-11-20`. */
function dateOf(name: string): string {
  const [, month = 1, day = 1] = name.slice('day:'.length).split('-').map(Number)
  return `${day} ${months[month - 1]}`
}
