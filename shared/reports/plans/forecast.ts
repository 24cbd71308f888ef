import type { Played } from '../../guard/plans/play.ts'
import type { Cell } from '../../guard/plans/played-counters.ts'
import type { Figures } from '../../guard/sentences.ts'
import { usedOf } from '../../ledger/definitions/counters.ts'
import type { WindowKind } from '../../ledger/definitions/definitions.ts'
import { dayMs } from '../../platform/clock.ts'
import { noPace, type Pace } from '../history.ts'

export type Forecast = {
  readonly budget: string
  readonly window: WindowKind
  readonly available: number | null
  /** The units that the played plans take. */
  readonly committed: number
  /** With the updates that this budget or one above it has too little for. */
  readonly wanted: number
  /** Whether `wanted` and `short` leave out updates without a known price. */
  readonly isWantedAtLeast: boolean
  /** What the budget lacks for all updates of its plans. */
  readonly short: number
  /** Spent, held, in doubt and committed. */
  readonly projected: number
  readonly exhaustedAt: number | null
  readonly exhaustedBy: string | null
  readonly pace: Pace
  /** `null`: too little history. */
  readonly projectedAtPace: number | null
  readonly exhaustedAtPace: number | null
  /** The price of the budget's last run. */
  readonly lastPrice: number | null
  readonly ifResumed: number
  /** The projects without a known price. Above 0: `committed`, `projected` and `projectedAtPace` are at least so much. */
  readonly unpriced: number
  readonly pricedAt: number | null
  /** From this time on, prices are only summed. `null`: all is played. */
  readonly sumsFrom: number | null
}

interface Trend {
  readonly now: number
  readonly pace?: Pace
  readonly lastPrice?: number | null
}

type ForecastFigures = Pick<Figures, 'budget' | 'window' | 'limit' | 'available' | 'held' | 'inDoubt' | 'spent'>

/** @param resumed the same plans, as if none were paused. */
export function forecastOf(
  { played, resumed }: { readonly played: Played; readonly resumed: Played | null },
  figures: ForecastFigures,
  { now, pace = noPace, lastPrice = null }: Trend,
): Forecast {
  const { budget, window } = figures
  const available = figures.limit === 'unlimited' ? null : figures.available
  const cell = cellOf(played, budget, window)
  const { committed = 0, wanted = 0, short = 0, exhaustedAt = null, exhaustedBy = null, pricedAt = null } = cell ?? {}
  const projected = usedOf(figures) + committed
  const perDay = pace.last7Days ?? pace.month
  const from = Math.max(now, cell?.start ?? now)
  const beside = perDay === null ? null : Math.floor((perDay * ((cell?.end ?? from + 1) - 1 - from)) / dayMs)
  return {
    budget,
    window,
    available,
    committed,
    wanted,
    isWantedAtLeast: cell?.isWantedAtLeast ?? false,
    short,
    projected,
    exhaustedAt,
    exhaustedBy,
    pace,
    lastPrice,
    projectedAtPace: beside === null ? null : projected + beside,
    exhaustedAtPace: cell && available !== null && perDay ? atPace(cell, { available, from, perDay }) : null,
    ifResumed: (resumed && cellOf(resumed, budget, window)?.ofPaused) ?? 0,
    unpriced: cell?.unpriced.size ?? 0,
    pricedAt,
    sumsFrom: played.sumsFrom,
  }
}

const cellOf = ({ months, today }: Played, budget: string, window: WindowKind): Cell | undefined =>
  (window === 'day' ? today : months[0])?.find((each) => each.budget === budget)

/** The first instant at which the plans and an even pace beside them take more than is left. */
function atPace(
  { times, taken, end }: Cell,
  { available, from, perDay }: { available: number; from: number; perDay: number },
): number | null {
  let start = from
  for (let at = 0; at <= times.length; at++) {
    const left = Math.max(available, 0) - (taken[at - 1] ?? 0)
    const instant = Math.max(start, from + Math.ceil(((left + 1) * dayMs) / perDay))
    const next = times[at] ?? end
    if (instant < next) return instant
    start = next
  }
  return null
}
