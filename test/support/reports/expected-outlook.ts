import { usualThresholds } from '../../../shared/guard/options.ts'
import type { Entry } from '../../../shared/ledger/book/entry.ts'
import type { BudgetOutlook } from '../../../shared/reports/outlook.ts'
import { days } from '../clock.ts'
import { chainOf, type expectedLasts, type Rows } from './expected.ts'
import type { RandomMonth } from './random-month.ts'

// Why a budget of a month by chance is not on track, from its counters, its forecast and all records.

type Window = 'month' | 'day'

interface Figure {
  readonly name: string
  /** Whether it can refuse an update. */
  readonly refuses: boolean
  /** `null`: unlimited. */
  readonly total: number | null
  readonly used: number
  readonly available: number
}

/** The counter of a budget. Without a counter, nothing was used. */
function figureOf({ view: { definitions, book } }: Rows, name: string, window: Window): Figure {
  const { limits = [], enforce } = definitions.budgets[name] ?? {}
  const { units = 'unlimited' } = limits.find((each) => each.window === window) ?? {}
  const { granted = 0, held = 0, inDoubt = 0, spent = 0 } = book.counters[window][name] ?? {}
  const used = held + inDoubt + spent
  const total = units === 'unlimited' ? null : units + granted
  return { name, refuses: total !== null && enforce !== false, total, used, available: (total ?? 0) - used }
}

/** The first one of those with the least left. */
const tightestOf = (figures: readonly Figure[]): Figure | undefined =>
  figures
    .filter(({ refuses }) => refuses)
    .find((each, _, all) => all.every((other) => other.available >= each.available))

export interface Past {
  readonly lasts: ReturnType<typeof expectedLasts>
  /** All entries of this month and of the month before. */
  readonly booked: readonly Entry[]
}

type Told = readonly [reason: string, remedy: object | null]

/** The reasons with their figures, the gravest first, and the remedy of each. */
export function expectedReasons(rows: Rows, month: RandomMonth, row: BudgetOutlook, past: Past): readonly Told[] {
  const { definitions } = rows.view
  const { budget } = row
  const chain = chainOf(definitions, budget)
  const stopped = chain.find((name) => definitions.budgets[name]?.frozen)
  const own = figureOf(rows, budget, 'month')
  const { thresholds = usualThresholds } = definitions.budgets[budget] ?? {}
  const isPassed =
    own.total !== null && own.total > 0 && thresholds.some((each) => own.used / (own.total ?? 0) >= each / 100)
  const isOverdue = budget === 'account' && isReconcileOverdue(rows, past.booked)
  return [
    ...(stopped ? [[`frozen ${stopped}`, { kind: 'unfreeze', budget: stopped }] as const] : []),
    ...(['month', 'day'] as const).flatMap((window) => exhausted(figureOf(rows, budget, window), window)),
    ...cannotPay(rows, row, past, 'month'),
    ...runsOut(row, own),
    ...bound(rows, row, own),
    ...cannotPay(rows, row, past, 'day'),
    ...(isPassed ? [[`threshold ${own.used} ${own.total}`, null] as const] : []),
    ...pausedPlans(rows, month, budget).map((plan) => [`plan-paused ${plan}`, { kind: 'resume', plan }] as const),
    ...(isOverdue ? [['reconcile-overdue', { kind: 'reconcile' }] as const] : []),
  ]
}

const grant = (budget: string, units: number, window: Window = 'month') => ({ kind: 'grant', budget, window, units })

function exhausted({ total, available, refuses }: Figure, window: Window): Told[] {
  if (total === null || available > 0) return []
  return [[`exhausted ${window} ${total} ${refuses ? '' : 0 - available}`, null]]
}

function cannotPay(rows: Rows, { budget, month: { wanted } }: BudgetOutlook, { lasts }: Past, window: Window): Told[] {
  const { price = null, refused = null, ranAt = 0 } = lasts.get(budget) ?? {}
  const least = tightestOf(chainOf(rows.view.definitions, budget).map((name) => figureOf(rows, name, window)))
  if (!least || least.available >= (price || 1)) return []
  const left = least.available
  const isSaid = least.name === budget && left <= 0
  if (isSaid && (!price || window === 'day')) return []
  if (!price && window === 'month' && wanted > 0) return []
  const refusedAt = refused && refused.at > ranAt ? refused.at : null
  const kind = window === 'day' ? 'cannot-pay-today' : 'cannot-pay'
  const remedy = price ? grant(least.name, price - left, window) : null
  return [[`${kind} ${least.name} ${price || null} ${left} ${refusedAt}`, remedy]]
}

/** The forecast itself has a test of its own. */
function runsOut({ budget, month }: BudgetOutlook, { total, used, available }: Figure): Told[] {
  if (total === null) return []
  const { exhaustedAt, exhaustedBy, exhaustedAtPace, wanted, short, committed, pace } = month
  if (exhaustedAt !== null)
    return [[`plans-run-out ${exhaustedAt} ${exhaustedBy} ${wanted} ${available} ${short}`, grant(budget, short)]]
  if (available <= 0 || exhaustedAtPace === null || month.projectedAtPace === null) return []
  const beside = month.projectedAtPace - used - committed
  const lacks = committed + beside - available
  const perDay = pace.last7Days ?? pace.month
  return [[`pace-runs-out ${exhaustedAtPace} ${perDay} ${lacks}`, grant(budget, lacks)]]
}

function bound(rows: Rows, { budget, month: { wanted } }: BudgetOutlook, own: Figure): Told[] {
  const [, ...above] = chainOf(rows.view.definitions, budget)
  const least = tightestOf(above.map((name) => figureOf(rows, name, 'month')))
  const ownLeft = own.total === null ? Number.POSITIVE_INFINITY : own.available
  if (!least || least.available >= wanted || least.available >= ownLeft) return []
  const left = least.available
  return [[`ancestor-binds ${least.name} ${left} ${wanted}`, grant(least.name, wanted - left)]]
}

/** Enabled plans of which the budget pays for a project. */
function pausedPlans({ view: { definitions } }: Rows, { plans }: RandomMonth, budget: string): readonly string[] {
  const all = Object.values(definitions.budgets)
  const ownerOf = (project: string) =>
    all.find(({ projects }) => projects.some(({ name, id }) => name === project || id === project))?.name ?? 'account'
  return plans.flatMap(({ name, enabled, projects }) =>
    enabled && definitions.pausedPlans?.[name] && projects.some((project) => ownerOf(project) === budget) ? name : [],
  )
}

function isReconcileOverdue({ view: { now, definitions } }: Rows, booked: readonly Entry[]): boolean {
  const since = now - days(14)
  return definitions.createdAt <= since && !booked.some(({ type, at }) => type === 'reconcile' && at >= since)
}

const gravest = [
  'exhausted',
  'cannot-pay',
  'plans-run-out',
  'pace-runs-out',
  'ancestor-binds',
  'cannot-pay-today',
  'threshold',
  'frozen',
  'plan-paused',
  'reconcile-overdue',
]

/** Where a budget belongs in the list: the gravest first, then what runs out first, then by name. */
export function placeOf({ budget, reasons: [first], month }: BudgetOutlook): readonly [number, number, string] {
  const soonest = month.exhaustedAt ?? month.exhaustedAtPace ?? Number.POSITIVE_INFINITY
  return [first ? gravest.indexOf(first.kind) : gravest.length, soonest, budget]
}
