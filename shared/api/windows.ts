import { list } from '../guard/sentences.ts'
import type { View } from '../ledger/book/view.ts'
import { monthBefore, monthNamed, type Window } from '../ledger/definitions/windows.ts'
import { invalid, type Refusal } from './refusal.ts'

const maxNamed = 3

/** Says which months there are. A month that the calendar does not have will never come. */
export function noWindow({ definitions, month, now }: View, window: string): Refusal {
  const { calendar, createdAt } = definitions
  const isLater = (monthNamed(calendar, window)?.start ?? 0) > now
  const what = isLater
    ? `there is no window ${window} yet`
    : `there is no window ${window}: no month begins on that date`
  const months: Window[] = [month]
  for (let each = monthBefore(calendar, month); each.end > createdAt; each = monthBefore(calendar, each)) {
    if (months.length > maxNamed) break
    months.push(each)
  }
  const names = months.slice(0, maxNamed).map(({ name }) => name)
  const all = list(months.length > maxNamed ? [...names, 'earlier ones'] : names)
  return invalid([{ path: 'window', message: `${what}; there ${months.length === 1 ? 'is' : 'are'} ${all}` }])
}
