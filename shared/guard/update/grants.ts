import type { View } from '../../ledger/book/view.ts'
import { type CounterOwner, isWithin } from '../../ledger/definitions/definitions.ts'
import type { Grant, Update, UpdateRequest } from '../../ledger/updates/update.ts'
import { toUnits } from '../../platform/words.ts'
import { isNeverGranted } from '../rules/approvals.ts'
import { enforced } from '../rules/counters.ts'
import { count, type Figures, units as inUnits, left, list } from '../sentences.ts'
import { type Need, neededOf, needsInWords } from './over-budget.ts'

/** `lacks`: the units that are missing now. `ahead`: units that waiting updates take first. */
type Behind = Need & { readonly lacks: number; readonly ahead: number }

/** What an approval of the update may have to grant. */
export interface Lacking {
  readonly rows: readonly Behind[]
  /** The budgets that an approval may put above their limits. */
  readonly budgets: readonly string[]
}

/** Waiting updates may be approved first and take from the same counters. */
export function lackingBehind(
  view: View,
  waiting: readonly Update[],
  counters: readonly CounterOwner[],
  { units, request }: { units: number; request: UpdateRequest },
): Lacking {
  const all = enforced(view, counters).filter(({ budget }) => !isNeverGranted(budget))
  const rows = all.map((figures) => ({
    ...neededOf(figures, units, request),
    lacks: Math.max(0, units - figures.available),
    ahead: waiting.reduce((sum, update) => sum + takenBy(update, view, figures), 0),
  }))
  return {
    rows: rows.filter(({ figures, needed, ahead }) => needed + ahead > figures.available),
    budgets: [...new Set(all.map(({ budget }) => budget))],
  }
}

/** The units that the counters lack if what waits is approved first. Without what must be left, because an approval may use that. */
export const shortBehind = ({ rows }: Lacking): readonly Grant[] =>
  rows.flatMap(({ figures: { budget, window, available }, needed, leave, ahead }) => {
    const lacking = needed - leave - available + ahead
    return lacking > 0 ? [{ budget, window, units: toUnits(lacking) }] : []
  })

function takenBy({ budget, estimated, short }: Update, view: View, counter: Figures): number {
  if (!isWithin(view.definitions, budget, counter.budget)) return 0
  const grant = short?.find((each) => each.budget === counter.budget && each.window === counter.window)
  return Math.max(0, (estimated ?? 0) - (grant?.units ?? 0))
}

const leftBehind = ({ ahead, figures }: Behind): string =>
  ahead > 0 ? `${left(figures)} (${count(ahead)} for what awaits approval before it)` : left(figures)

/** Says what is missing, if anything, and how far an approval may go. */
export function shortfall({ rows, budgets }: Lacking, units: number, request: UpdateRequest): readonly string[] {
  if (budgets.length === 0) return []
  const [most] = rows.toSorted((a, b) => b.leave - a.leave)
  const isTold = request.plan === undefined || !most || most.leave === 0
  const need = isTold ? '' : `, ${needsInWords(most, request)}`
  const limits = budgets.length === 1 ? 'its limit' : 'their limits'
  const uses = rows.some(({ leave }) => leave > 0) ? 'use the units that must be left, and ' : ''
  const may = `approving it may ${uses}put ${list(budgets)} up to ${inUnits(units)} above ${limits} of the month in which it starts`
  return [
    ...(rows.length > 0 ? [`it needs ${inUnits(units)}${need}, and ${list(rows.map(leftBehind))}`] : []),
    `${may}; now it lacks ${lacksInWords(rows)}`,
  ]
}

/** `0, and 25 if what waits before it runs first` */
function lacksInWords(rows: readonly Behind[]): string {
  const now = Math.max(0, ...rows.map(({ lacks }) => lacks))
  const then = Math.max(
    0,
    ...rows.map(({ needed, leave, ahead, figures }) => needed - leave + ahead - figures.available),
  )
  return then > now ? `${count(now)}, and ${count(then)} if what waits before it runs first` : count(now)
}
