import { payersOf } from '../guard/plans/payers.ts'
import { limited } from '../guard/rules/counters.ts'
import {
  count,
  figuresOf,
  leftOrOver,
  percent,
  refuses,
  shownCaller,
  thisWindow,
  tightest,
  units,
  when,
  zoneOf,
} from '../guard/sentences.ts'
import { thresholdsOf, totalOf } from '../guard/sweep/thresholds.ts'
import type { View } from '../ledger/book/view.ts'
import {
  type Budget,
  chainOf,
  pauseOf,
  rootBudget,
  type Stop,
  type WindowKind,
} from '../ledger/definitions/definitions.ts'
import type { ForecastReading } from './plans/calendar.ts'
import type { Forecast } from './plans/forecast.ts'
import type { LastRefusal } from './stored-summary.ts'

export type Remedy =
  | { readonly kind: 'grant'; readonly budget: string; readonly window: WindowKind; readonly units: number }
  | { readonly kind: 'unfreeze'; readonly budget: string }
  | { readonly kind: 'resume'; readonly plan: string }
  | { readonly kind: 'reconcile' }

export type ToldReason = Reason & { readonly sentence: string; readonly remedy: Remedy | null }

export const reconcileEveryDays = 14

interface Seen {
  readonly month: Forecast
  readonly isReconcileOverdue: boolean
  readonly lastRefused: LastRefusal | null
}

export type Reason = ReturnType<typeof reasonsOf>[number]

/** The gravest reason comes first. */
export function reasonsOf(reading: ForecastReading, budget: Budget, { month, isReconcileOverdue, lastRefused }: Seen) {
  const { view, plans } = reading
  const chain = chainOf(view.definitions, budget.name)
  const frozen = chain.find((each) => each.frozen)
  const paused = plans.filter(({ plan, paused }) => {
    return plan.enabled && paused && payersOf(view.definitions, plan).includes(budget.name)
  })
  const figures = figuresOf(view, budget, 'month')
  const { passed, used, of } = thresholdsOf(view, figures)
  return [
    ...(frozen?.frozen ? [{ kind: 'frozen', budget: frozen.name, stop: frozen.frozen } as const] : []),
    ...exhaustedWindows(view, budget),
    ...notPayable(reading, { chain, window: 'month' }, { month, lastRefused }),
    ...runsOut(month),
    ...whatAncestorsLack(view, chain.slice(1), month),
    ...notPayable(reading, { chain, window: 'day' }, { month, lastRefused }),
    ...(passed.length > 0 ? [{ kind: 'threshold', used, of, spent: figures.spent } as const] : []),
    ...paused.flatMap(({ plan }) => {
      const stop = pauseOf(view.definitions, plan.name)
      return stop ? [{ kind: 'plan-paused', plan: plan.name, stop } as const] : []
    }),
    ...(isReconcileOverdue && budget.name === rootBudget
      ? [{ kind: 'reconcile-overdue', days: reconcileEveryDays } as const]
      : []),
  ]
}

/** `over`: the number of units above an observed limit. */
const exhaustedWindows = (view: View, budget: Budget) =>
  limited(view, [budget])
    .filter(({ available }) => available <= 0)
    .map((figures) => {
      const over = refuses(figures) ? {} : { over: -figures.available }
      return { kind: 'exhausted', window: figures.window, of: totalOf(figures), ...over } as const
    })

/** `budget`: the tightest budget of the chain. Leaves out what `exhausted` or `ancestor-binds` says alone. */
function notPayable(
  { view, latest }: ForecastReading,
  { chain, window }: { readonly chain: readonly Budget[]; readonly window: WindowKind },
  { month, lastRefused }: Pick<Seen, 'month' | 'lastRefused'>,
) {
  const { budget } = month
  const price = month.lastPrice || null
  const least = tightest(chain.map((each) => figuresOf(view, each, window)))
  if (!least || least.available >= (price ?? 1)) return []
  const { available: left, end } = least
  if (least.budget === budget && left <= 0 && (price === null || window === 'day')) return []
  if (price === null && window === 'month' && month.wanted > 0) return []
  const isSince = lastRefused !== null && lastRefused.at > (latest.runs.get(budget)?.at ?? 0)
  const refusedAt = isSince ? lastRefused.at : null
  const found = { window, budget: least.budget, price, left, end, refusedAt }
  return [
    window === 'day' ? ({ kind: 'cannot-pay-today', ...found } as const) : ({ kind: 'cannot-pay', ...found } as const),
  ]
}

/** `left` is below 0 if more than the limit is used. */
function runsOut({
  available: left,
  wanted,
  short,
  projected,
  projectedAtPace,
  pace,
  isWantedAtLeast,
  ...month
}: Forecast) {
  if (left === null) return []
  const { exhaustedAt: at, exhaustedBy: plan, exhaustedAtPace } = month
  if (at !== null)
    return [{ kind: 'plans-run-out', at, plan, needed: wanted, left, short, isAtLeast: isWantedAtLeast } as const]
  if (left <= 0 || exhaustedAtPace === null || projectedAtPace === null) return []
  const lacks = projectedAtPace - projected + month.committed - left
  return [
    {
      kind: 'pace-runs-out',
      at: exhaustedAtPace,
      perDay: pace.last7Days ?? pace.month ?? 0,
      short: lacks,
      isAtLeast: month.unpriced > 0,
    } as const,
  ]
}

function whatAncestorsLack(
  view: View,
  above: readonly Budget[],
  { available, wanted: needed, isWantedAtLeast: isAtLeast }: Forecast,
) {
  const least = tightest(above.map((each) => figuresOf(view, each, 'month')))
  if (!least || least.available >= needed || least.available >= (available ?? Number.POSITIVE_INFINITY)) return []
  return [{ kind: 'ancestor-binds', budget: least.budget, left: least.available, needed, isAtLeast } as const]
}

/** The reason as a sentence, and the remedy. */
export function toldOf(reason: Reason, budget: string, view: View): readonly [sentence: string, remedy: Remedy | null] {
  const zone = zoneOf(view)
  const stopped = (what: string, { by, at, reason: why }: Stop, did: string) =>
    `${what} was ${did} by ${shownCaller(view.definitions, by)} on ${when(at, zone)}: ${why}`
  const grant = (to: string, units: number) => ({ kind: 'grant', budget: to, window: 'month', units }) as const
  switch (reason.kind) {
    case 'frozen':
      return [stopped(reason.budget, reason.stop, 'frozen'), { kind: 'unfreeze', budget: reason.budget }]
    case 'exhausted': {
      const { over } = reason
      const more = over === undefined || over === 0 ? '' : `: ${count(over)} more are used`
      const observed = over === undefined ? '' : ` It is only observed and refuses nothing${more}.`
      return [`Nothing of ${units(reason.of)} is left ${thisWindow(reason.window)}.${observed}`, null]
    }
    case 'cannot-pay':
    case 'cannot-pay-today': {
      const { price, left, refusedAt, window } = reason
      const since = refusedAt === null ? '' : `; last refused on ${when(refusedAt, zone)}`
      const [today, resets] = window === 'day' ? [' today', `; resets ${when(reason.end, zone)}`] : ['', '']
      const cost = price === null ? '' : `, and the last one cost ${count(price)}`
      const sentence = `Cannot pay its next update${today}: ${reason.budget} ${leftOrOver(left)}${cost}${resets}${since}.`
      return [sentence, price === null ? null : { ...grant(reason.budget, price - left), window }]
    }
    case 'plans-run-out': {
      const { plan, needed, left, short, at, isAtLeast } = reason
      const out = left <= 0 ? 'Used up already: ' : plan === null ? '' : `Runs out with the plan ${plan}: `
      const has = left < 0 ? `and it is over by ${count(-left)}` : `${count(left)} are left`
      const least = isAtLeast ? 'at least ' : ''
      const from = `${when(at, zone)}${isAtLeast && left > 0 ? ' at the latest' : ''}`
      const need = `${out}${out === '' ? 'Plans' : 'plans'} need ${least}${units(needed)} until the reset`
      return [`${need}, ${has}, so ${least}${count(short)} are short from ${from}.`, grant(budget, short)]
    }
    case 'pace-runs-out': {
      const pace = `at the recent pace of ${count(reason.perDay)} units a day beside its plans`
      return [
        `Runs out on ${when(reason.at, zone)}${reason.isAtLeast ? ' at the latest,' : ''} ${pace}.`,
        grant(budget, reason.short),
      ]
    }
    case 'ancestor-binds': {
      const { needed, left, isAtLeast } = reason
      const has = `${reason.budget} ${leftOrOver(left)}`
      return [
        `Its plans need ${isAtLeast ? 'at least ' : ''}${units(needed)} until the reset, and ${has}.`,
        grant(reason.budget, needed - left),
      ]
    }
    case 'threshold': {
      const { used, spent, of } = reason
      const figures =
        used === spent ? count(used) : `${count(spent)} spent and ${count(used - spent)} held or in doubt,`
      return [`${percent(used, of)} is used: ${figures} of ${units(of)}.`, null]
    }
    case 'plan-paused':
      return [stopped(`The plan ${reason.plan}`, reason.stop, 'paused'), { kind: 'resume', plan: reason.plan }]
    case 'reconcile-overdue':
      return [`Not reconciled with the vendor's figure for ${reason.days} days or more.`, { kind: 'reconcile' }]
  }
}

export const risks: readonly Reason['kind'][] = [
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
