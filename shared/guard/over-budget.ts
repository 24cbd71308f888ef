import { callerOfCounter } from '../ledger/definitions.ts'
import type { Problem } from '../ledger/update.ts'
import { toRfc3339 } from '../platform/clock.ts'
import type { Figures } from './figures.ts'
import { problem } from './problems.ts'
import { count, left, list, when } from './sentences.ts'

/** A counter that has too little. */
export interface Short {
  readonly figures: Figures
  /** `null` where nothing is left and the service was not even asked. */
  readonly needed: number | null
  /** Of what is needed, this much is not spent: a plan leaves it to others. */
  readonly leave?: number
}

/**
 * The refusal of counters that have too little, with the numbers of each, when each resets, and what would pass.
 *
 * @param short every counter that refuses, at least one.
 * @param units what all of it needs, or `null`. @param what who needs it, in the words of the sentence, beside what is left to others.
 */
export function overBudget(short: readonly Short[], units: number | null, zone: string, what = thisNeeds): Problem {
  const worst = short.reduce((a, b) => (missing(b) > missing(a) ? b : a))
  const { figures, needed } = worst
  const others = short.filter((each) => each !== worst).map(({ figures }) => figures)
  const need = needed === null ? '' : ` and ${what(worst.leave ?? 0)} ${count(needed)}`
  const ask = needed === null ? 'ask for more before trying again' : `ask for ${count(missing(worst))} more`
  const also = others.map((other) => `${left(other)} (resets ${when(other.end, zone)})`)
  const detail = `${left(figures)}${need}; resets ${when(figures.end, zone)}; ${ask}.`
  return problem('over-budget', also.length > 0 ? `${detail} Also short: ${list(also)}.` : detail, {
    units,
    short: needed === null ? null : missing(worst),
    budgets: short.map((each) => row(each)),
    wouldPass: wouldPass(short, worst, zone),
  })
}

const thisNeeds = (_leave: number) => 'this needs'

const missing = ({ figures, needed }: Short): number => (needed ?? 0) - figures.available

const row = ({ figures, needed }: Short) => ({
  budget: figures.budget,
  window: figures.window,
  limit: figures.limit,
  held: figures.held,
  inDoubt: figures.inDoubt,
  spent: figures.spent,
  available: figures.available,
  short: needed === null ? null : needed - figures.available,
  resetsAt: toRfc3339(figures.end),
})

function wouldPass(short: readonly Short[], worst: Short, zone: string): string[] {
  const most = Math.min(...short.map(({ figures, leave = 0 }) => figures.available - leave))
  const last = short.reduce((a, b) => (b.figures.end > a.figures.end ? b : a))
  const least = worst.needed === null ? 'more than ' : ''
  const ofBudgets = short.filter(({ figures }) => callerOfCounter(figures.budget) === null)
  const grants = ofBudgets.map(
    (each) => `${least}${count(missing(each))} to ${each.figures.budget} for the ${each.figures.window}`,
  )
  const callers = short.flatMap(({ figures }) => callerOfCounter(figures.budget) ?? [])
  return [
    ...(most > 0 ? [`updates of at most ${count(most)} units together, now`] : []),
    ...(grants.length > 0 ? [`a grant of ${list(grants)} (POST /budgets/<name>/entries, scope admin)`] : []),
    ...(callers[0] === undefined ? [] : [`a higher limit for ${callers[0]} (PUT /callers/${callers[0]}, scope admin)`]),
    `the same request after ${when(last.figures.end, zone)}, if it fits then`,
  ]
}
