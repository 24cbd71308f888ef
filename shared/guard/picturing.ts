import { counterOf, usedOf } from '../ledger/book.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { all } from '../ledger/lists.ts'
import type { Picture, Saved } from '../ledger/picture.ts'
import type { Update } from '../ledger/update.ts'
import type { View } from '../ledger/views.ts'
import { dayMs, minuteMs } from '../platform/clock.ts'

const pageSize = 100
/** Indexes lag a little: what is younger is counted by a later sweep. */
const lagMs = minuteMs
/** No sweep reads the updates of more time than this. */
const longestMs = dayMs
/** So few updates are cheaper to read again than to note that nothing was among them. */
const readAgain = 100

/** Keeps what the overview draws: once for each day that has ended, and when duplicates were refused. */
export function createPicturing({ ledger }: { ledger: Ledger }) {
  async function keepPicture(): Promise<void> {
    const view = await ledger.view()
    const seen = await ledger.pictures.read(view.month.name)
    const course = courseOf(view, seen)
    const saved = await savedSince(view, seen?.saved ?? nothing(view))
    if (course || saved)
      await ledger.pictures.write({ ...beginning(view), ...seen, ...course, ...(saved && { saved }) }, seen)
  }

  /** `null`: there is nothing worth noting. */
  async function savedSince({ now }: View, { updates, units, until }: Saved): Promise<Saved | null> {
    const to = Math.min(now - lagMs, until + longestMs)
    if (to <= until) return null
    const asked = await all((cursor) => ledger.updates({ since: until + 1, until: to }, pageSize, cursor))
    const earlier = asked.flatMap((update) => duplicated(update) ?? [])
    if (earlier.length === 0 && asked.length < readAgain && to === now - lagMs) return null
    const cost = new Map(
      (await ledger.updatesNamed([...new Set(earlier)])).map((update) => [update?.id, costOf(update)]),
    )
    return {
      updates: updates + earlier.length,
      units: units + earlier.reduce((sum, id) => sum + (cost.get(id) ?? 0), 0),
      until: to,
    }
  }

  return { keepPicture }
}

/** The picture with the day that ended last, `null`: it has that already, or the month has just begun. */
function courseOf(view: View, seen: Picture | null): Pick<Picture, 'ends' | 'used'> | null {
  const { book, day, month, definitions } = view
  const { ends, used } = seen ?? beginning(view)
  const isFirstDay = day.start <= month.start
  // A clock that is behind the book's day knows nothing about the end of the day before.
  if (isFirstDay || book.day !== day.name || day.start <= (ends.at(-1) ?? 0)) return null
  const before = (budget: string) =>
    Object.hasOwn(used, budget) ? (used[budget] ?? []) : new Array<null>(ends.length).fill(null)
  const names = new Set([...Object.keys(used), ...Object.keys(definitions.budgets)])
  return {
    ends: [...ends, day.start],
    used: Object.fromEntries([...names].map((name) => [name, [...before(name), usedBeforeToday(view, name)]])),
  }
}

/** Counted backwards from now, so that it does not matter how long after midnight somebody looks. */
function usedBeforeToday({ book }: View, budget: string): number | null {
  const month = counterOf(book, 'month', budget)
  const today = counterOf(book, 'day', budget)
  return month ? usedOf(month) - (today ? usedOf(today) : 0) : null
}

const beginning = (view: View): Picture => ({ month: view.month.name, ends: [], used: {}, saved: nothing(view) })

const nothing = ({ month, definitions }: View): Saved => ({
  updates: 0,
  units: 0,
  until: Math.max(month.start, definitions.createdAt) - 1,
})

/** The update of the same work that a duplicate was refused for; `null`: it is none. */
function duplicated({ problem }: Update): string | null {
  const isDuplicate = problem?.slug === 'already-updated' || problem?.slug === 'duplicate-work'
  const earlier = problem?.members.update
  return isDuplicate && typeof earlier === 'string' ? earlier : null
}

const costOf = (update: Update | null): number => update?.charged ?? update?.hold?.units ?? 0
