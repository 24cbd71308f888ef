import { occurrenceInWords, scheduleInWords } from '../../../shared/guard/plans/plan-words.ts'
import type { PlanStatus } from '../../../shared/guard/plans/statuses.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { rootBudget, topsOf } from '../../../shared/ledger/definitions/definitions.ts'
import { weekdays } from '../../../shared/platform/clock.ts'
import type { DayAhead, Upcoming } from '../../../shared/reports/plans/calendar.ts'
import { type DuePlan, weekdayOf } from '../../../shared/reports/plans/days-ahead.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { CostText, NextTime, PauseBanner, WillItPass } from '../components/plan-status.tsx'
import { List } from '../kit/list.tsx'
import { budgetAddress, planAddress, Sign, shortDay, Time, ZoneNote } from '../kit/parts.tsx'
import type { PageRoutes } from '../kit/session.tsx'

const weeks = 5

export function addPlans({ page }: PageRoutes): void {
  page('/dashboard/plans', {
    GET: async ({ mustHave, show, permissions, guard }) => {
      mustHave('read')
      const reports = await reportsOf(guard)
      const viewRead = guard.ledger.view()
      const [view, { plans, zone }, ahead] = await Promise.all([
        viewRead,
        guard.planStatuses(viewRead),
        reports.upcoming(weeks, viewRead),
      ])
      const { days } = ahead
      if (plans.length === 0) return show('Plans', <EmptyPlans />)
      const isAdmin = permissions.scopes.has('admin')
      return show(
        'Plans',
        <>
          {plans.map((status) => (
            <PauseBanner status={status} view={view} days={days} isAdmin={isAdmin} />
          ))}
          <PlanTable plans={plans} ahead={ahead} view={view} />
          <Calendar days={days} zone={zone} />
          <p class="note">
            “Will it pass?” looks at all runs until the month ends and assumes that only plans spend. Prices are read
            from the service every night. If that fails, the last known price is used.
            {leftText(topsOf(view.definitions))}
            {ahead.sumsFrom === null ? null : (
              <>
                {' '}
                From <Time at={ahead.sumsFrom} zone={zone} /> on, prices are only summed, because the plans have too
                many updates.
              </>
            )}
            {plans.some(({ plan, last }) => plan.schedule.kind === 'rate' && !last)
              ? ' A rate that has never been due counts from the creation of its rule, so its times here are a guess.'
              : null}
          </p>
          <ZoneNote zone={zone} />
        </>,
      )
    },
  })
}

function leftText([top, ...others]: readonly string[]): string {
  if (top === undefined || others.length > 0) return ''
  return ` “Left” is what ${top === rootBudget ? 'the account' : top} has if nothing else spends.`
}

const EmptyPlans = () => (
  <div class="empty">
    <p>There is no plan yet. Plans are written in a file that is reviewed with the code, such as this one:</p>
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

interface PlanTableProps {
  readonly plans: readonly PlanStatus[]
  readonly ahead: Upcoming
  readonly view: View
}

const PlanTable = ({ plans, ahead: { costs, verdicts }, view }: PlanTableProps) => (
  <List
    label="Plans, in the order in which they get units"
    rows={plans}
    columns={[
      {
        name: 'Plan',
        isHead: true,
        cell: ({ plan: { name } }) => <a href={planAddress(name)}>{name}</a>,
        note: ({ plan: { kind, projects } }) =>
          `${kind}, ${projects.length === 1 ? '1 project' : `${count(projects.length)} projects`}`,
      },
      { name: 'Runs', cell: ({ plan }) => scheduleInWords(plan.schedule, zoneOf(view), view.now) },
      { name: 'Next run', cell: (status) => <NextTime status={status} view={view} /> },
      {
        name: 'Costs',
        cell: ({ plan: { name, projects } }) => (
          <CostText {...(costs.get(name) ?? { units: 0, unpriced: projects.length })} />
        ),
      },
      {
        name: 'Will it pass?',
        cell: (status) => <WillItPass status={status} verdict={verdicts.get(status.plan.name)} view={view} />,
      },
      {
        name: 'Last run',
        cell: ({ last }) => (last ? <Time at={last.time} zone={zoneOf(view)} /> : 'not yet'),
        note: ({ last }) => last && occurrenceInWords(last),
      },
    ]}
  />
)

const fromMonday = [...weekdays.slice(1), ...weekdays.slice(0, 1)]
/** More times are shown as the first time and a count. */
const maxTimes = 3

/** The stylesheet turns the table into a list on phones. */
function Calendar({ days, zone }: { days: readonly DayAhead[]; zone: string }) {
  const [first] = days
  if (!first) return null
  const daysBefore = weekdayOf(first.day)
  const weeks = Array.from({ length: Math.ceil((daysBefore + days.length) / 7) }, (_, week) =>
    fromMonday.map((_name, position) => days[week * 7 + position - daysBefore]),
  )
  return (
    <div class="wide">
      <table class="calendar">
        <caption>What plans will do, at the prices last read</caption>
        <thead>
          <tr>
            {fromMonday.map((weekday) => (
              <th scope="col">{weekday}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr>
              {week.map((dayAhead, position) =>
                dayAhead ? (
                  <CalendarDay
                    dayAhead={dayAhead}
                    zone={zone}
                    isToday={dayAhead === first}
                    weekday={fromMonday[position] ?? ''}
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

interface DayProps {
  readonly dayAhead: DayAhead
  readonly zone: string
  readonly isToday: boolean
  readonly weekday: string
}

function CalendarDay({ dayAhead, zone, isToday, weekday }: DayProps) {
  const { day, due, paused, runsOut, resetsAt, left, isLeftAtMost } = dayAhead
  const sum = due.reduce((total, { units }) => total + units, 0)
  const isQuiet = due.length + paused.length + runsOut.length === 0 && resetsAt === null
  return (
    <td class={isQuiet ? 'quiet' : ''}>
      <p class="date">
        <time datetime={day.name.slice('day:'.length)}>
          <span class="weekday">{weekday} </span>
          {shortDay(Date.parse(day.name.slice('day:'.length)), 'UTC')}
        </time>
        {isToday ? <span class="note"> today</span> : null}
      </p>
      {resetsAt === null ? null : (
        <p class="reset">
          <span aria-hidden="true">↻</span> New month at <Time at={resetsAt} zone={zone} isOfDay />
        </p>
      )}
      {due.length + paused.length === 0 ? null : (
        <ul>
          {due.map((each) => (
            <DuePlanItem duePlan={each} zone={zone} />
          ))}
          {paused.map((each) => (
            <li class="paused">
              <s>
                <a href={planAddress(each.plan)}>{each.plan}</a>
              </s>{' '}
              <span class="note">
                paused; if resumed: <CostText {...each} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {due.length > 1 && sum > 0 ? (
        <p class="sum">
          {due.some(({ unpriced }) => unpriced > 0) ? 'at least ' : null}
          {units(sum)} in all
        </p>
      ) : null}
      {isQuiet || left === null ? null : (
        <p class={left < 0 ? 'balance out' : 'balance'}>
          {isLeftAtMost ? 'at most ' : null}
          {count(left)} left
        </p>
      )}
      {runsOut.map(({ budget, at, hadNothingLeft }) => (
        <p class="out">
          <Sign name="warning" /> <a href={budgetAddress(budget)}>{budget}</a>{' '}
          {hadNothingLeft ? 'already has nothing left: its plans need units at' : 'runs out at'}{' '}
          <Time at={at} zone={zone} isOfDay />
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
      {(times.length > maxTimes ? times.slice(0, 1) : times).map((at, position) => [
        position > 0 ? ', ' : null,
        <Time at={at} zone={zone} isOfDay />,
      ])}
    </span>{' '}
    <CostText units={units} unpriced={unpriced} />
  </li>
)
