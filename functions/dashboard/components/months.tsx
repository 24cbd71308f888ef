import { onTheWall, zoneOf } from '../../../shared/guard/sentences.ts'
import { monthBefore, monthNamed, type Window } from '../../../shared/ledger/book/windows.ts'
import type { View } from '../../../shared/ledger/views/views.ts'

/** Updates and entries are kept for 26 months. */
const maxMonths = 26

/** The open month, and those before it since the ledger began; the latest first. */
function monthsOf({ definitions, month }: View): readonly Window[] {
  const months = [month]
  for (let oldest = month; oldest.start > definitions.createdAt && months.length < maxMonths; ) {
    oldest = monthBefore(definitions.calendar, oldest)
    months.push(oldest)
  }
  return months
}

/** One of the months that the ledger knows. */
export function MonthChoice({ view, chosen }: { view: View; chosen: string }) {
  const months = monthsOf(view)
  const other = months.some(({ name }) => name === chosen) ? null : monthNamed(view.definitions.calendar, chosen)
  return (
    <p>
      <label for="window">Month from</label>
      <select id="window" name="window">
        {[...months, ...(other ? [other] : [])].map((month) => (
          <option value={month.name} selected={month.name === chosen}>
            {dateOf(month.start, zoneOf(view))}
            {month.name === view.month.name ? ' (open)' : null}
          </option>
        ))}
      </select>
    </p>
  )
}

const dateOf = (instant: number, zone: string): string => onTheWall(instant, zone).replace(/ 00:00$/, '')
