import type { Entry } from '../../ledger/book/entry.ts'
import type { OldDoubt } from '../../ledger/book/figure.ts'
import type { View } from '../../ledger/book/view.ts'
import { nameWhenRequested } from '../../ledger/definitions/definitions.ts'
import { monthBefore, type Window } from '../../ledger/definitions/windows.ts'
import { shownFrom } from '../../ledger/updates/shown.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { type GuardParts, withParts } from '../options.ts'

/** What one month needs before its statement is final and says what the vendor shows. */
interface MonthState {
  readonly month: Window
  /** Updates that run or are in doubt, the oldest first. */
  readonly open: readonly Update[]
  /** The last reconciliation of the month. */
  readonly figure: Entry | null
}

export interface MonthToClose extends MonthState {
  readonly view: View
  /** The doubts that a figure of now has. */
  readonly old: readonly OldDoubt[]
  /** From this time on, a figure has all of `open`. `null`: a figure of now has them. */
  readonly until: number | null
  readonly before: MonthState
}

type Parts = Pick<GuardParts, 'ledger' | 'options'>

const maxOpen = 100
/** One read finds the last figure of most months. */
const atOnce = 100

export const createCloseMonth = (parts: Parts) => withParts(parts, { monthToClose, doubtsToClose })

/** Whether the month ends with this day. */
export const isLastDay = ({ month, day }: Pick<View, 'month' | 'day'>): boolean => day.end >= month.end

async function monthToClose(parts: Parts): Promise<MonthToClose> {
  const { ledger, options } = parts
  const view = await ledger.view()
  const before = monthBefore(view.definitions.calendar, view.month)
  const figureOf = async ({ name: month, end }: Window) => {
    if (end <= view.definitions.createdAt) return null
    return (await ledger.entries({ month, types: ['reconcile'] }, atOnce)).rows[0] ?? null
  }
  const [running, doubts, figure, figureBefore] = await Promise.all([
    ledger.oldestOpen('running', maxOpen),
    ledger.oldestOpen('in-doubt', maxOpen),
    figureOf(view.month),
    figureOf(before),
  ])
  const all = [...doubts.rows, ...running.rows]
  const open = all.filter(({ month }) => month === view.month.name)
  const times = open.map((update) => shownFrom(update, options.serviceFlightMs)).filter((time) => time > view.now)
  return {
    view,
    month: view.month,
    open,
    figure,
    old: oldAmong(open, view, options.serviceFlightMs),
    until: times.length === 0 ? null : Math.max(...times),
    before: { month: before, open: all.filter(({ month }) => month !== view.month.name), figure: figureBefore },
  }
}

/** The doubts that a figure of now has. A request to book it says whether they ran. */
async function doubtsToClose({ ledger, options }: Parts, view: View): Promise<readonly OldDoubt[]> {
  const { rows } = await ledger.oldestOpen('in-doubt', maxOpen)
  return oldAmong(rows, view, options.serviceFlightMs)
}

const oldAmong = (updates: readonly Update[], { month, now }: View, flightMs: number): readonly OldDoubt[] =>
  updates
    .filter(
      (update) => update.state === 'in-doubt' && update.month === month.name && shownFrom(update, flightMs) <= now,
    )
    .map((update) => ({ id: update.id, project: nameWhenRequested(update), units: update.hold?.units ?? 0 }))
