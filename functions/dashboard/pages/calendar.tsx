import { type DayAhead, type DuePlan, weekdayOf } from '../../../shared/guard/plans/calendar.ts'
import { count, units } from '../../../shared/guard/sentences.ts'
import { budgetAddress, planAddress, Time } from '../components/parts.tsx'

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
/** More times of one day than these are counted. */
const maxTimes = 3

/** Weeks from Monday to Sunday; on a phone the days below each other, and only those on which something happens. */
export function Calendar({ days, zone }: { days: readonly DayAhead[]; zone: string }) {
  const [first] = days
  if (!first) return null
  const passed = weekdayOf(first.day)
  const weeks = Array.from({ length: Math.ceil((passed + days.length) / 7) }, (_, week) =>
    weekdays.map((_name, position) => days[week * 7 + position - passed]),
  )
  return (
    <div class="wide">
      <table class="calendar">
        <caption>What plans will do, and what it costs at the prices last seen</caption>
        <thead>
          <tr>
            {weekdays.map((name) => (
              <th scope="col">{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr>
              {week.map((of, position) =>
                of ? (
                  <Day of={of} zone={zone} isToday={of === first} weekday={weekdays[position] ?? ''} />
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

function Day({ of, zone, isToday, weekday }: { of: DayAhead; zone: string; isToday: boolean; weekday: string }) {
  const { day, due, runsOut, resetsAt } = of
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
            <Planned of={each} zone={zone} />
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

const Planned = ({ of: { plan, times, units, unpriced }, zone }: { of: DuePlan; zone: string }) => (
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
    <Cost units={units} unpriced={unpriced} />
  </li>
)

export const Cost = ({ units: known, unpriced }: { units: number; unpriced: number }) => (
  <span class="cost">
    {known > 0 || unpriced === 0 ? units(known) : null}
    {known > 0 && unpriced > 0 ? ', and ' : null}
    {unpriced > 0 ? (
      <span class="unknown">
        {count(unpriced)} {unpriced === 1 ? 'update' : 'updates'} without a known price
      </span>
    ) : null}
  </span>
)

/** `20 Nov` of `day:2026-11-20` */
function dateOf(name: string): string {
  const [, month = 1, day = 1] = name.slice('day:'.length).split('-').map(Number)
  return `${day} ${months[month - 1]}`
}
