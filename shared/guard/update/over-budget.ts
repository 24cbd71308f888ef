import { callerOfCounter } from '../../ledger/definitions/definitions.ts'
import { leftOf } from '../../ledger/updates/leave.ts'
import type { Grant, Problem, UpdateRequest } from '../../ledger/updates/update.ts'
import { toRfc3339 } from '../../platform/clock.ts'
import { toUnits, type Units } from '../../platform/words.ts'
import { problem } from '../problems.ts'
import { count, type Figures, holdsEnd, units as inUnits, keptIn, left, list, when } from '../sentences.ts'

/** What an update needs of a counter. */
export interface Need {
  readonly figures: Figures
  /** Includes `leave`. */
  readonly needed: number
  /** Units that the update must leave. */
  readonly leave: number
}

/** A counter that has too little. `null`: no estimate was read. */
export type Shortage = Need | { readonly figures: Figures; readonly needed: null }

/** @param says what the update needs, such as `this needs 40`. */
export function overBudget(
  short: readonly Shortage[],
  units: number | null,
  zone: string,
  says = (worst: Need) => needsInWords(worst, {}),
): Problem {
  const worst = short.reduce((a, b) => (missing(b) > missing(a) ? b : a))
  const { figures, needed } = worst
  const others = short.filter((each) => each !== worst).map(({ figures }) => figures)
  const comma = keptIn(figures) > 0 ? ',' : ''
  const need = needed === null ? '' : `${comma} and ${says(worst)}`
  const ask = needed === null ? 'ask for more before trying again' : `ask for ${count(missing(worst))} more`
  const also = others.map((other) => `${left(other)} (resets ${when(other.end, zone)})`)
  const detail = `${left(figures)}${need}; resets ${when(figures.end, zone)}; ${ask}.`
  const all = [detail, also.length > 0 ? `Also short: ${list(also)}.` : null, holdsEnd([figures, ...others])]
  return problem('over-budget', all.filter(Boolean).join(' '), {
    units,
    short: needed === null ? null : missing(worst),
    budgets: short.map((each) => row(each)),
    wouldPass: wouldPass(short, worst, zone),
  })
}

const missing = ({ figures, needed }: Shortage): number => (needed ?? 0) - figures.available

const row = ({ figures, needed }: Shortage) => {
  const { budget, window, limit, held, inDoubt, spent, available, end } = figures
  const short = needed === null ? null : needed - available
  return { budget, window, limit, held, inDoubt, spent, available, short, resetsAt: toRfc3339(end) }
}

function wouldPass(short: readonly Shortage[], worst: Shortage, zone: string): string[] {
  const most = Math.min(...short.map((each) => each.figures.available - (each.needed === null ? 0 : each.leave)))
  const lastReset = Math.max(...short.map(({ figures }) => figures.end))
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
    `the same request after ${when(lastReset, zone)}, if it fits then`,
  ]
}

export function neededOf(figures: Figures, units: number, request: UpdateRequest): Need {
  const leave = leftOf(request, { name: figures.budget, keep: figures.keep })
  return { figures, leave, needed: units + leave }
}

/** `this needs 40`. The units that a budget keeps for plans are in `left`, and not in this sum. */
export function needsInWords(
  { needed, leave }: Pick<Need, 'needed' | 'leave'>,
  { plan }: Pick<UpdateRequest, 'plan'>,
  subject = 'this',
): string {
  if (plan !== undefined && leave > 0) {
    return `${subject} and the ${inUnits(leave)} that the plan ${plan} leaves to others need ${count(needed)}`
  }
  return `${subject} ${subject === 'this' ? 'needs' : 'need'} ${count(needed - leave)}`
}

/** The units that observed limits lack. Figures below 0 are taken as 0, so that a window's shortages add up to its excess. */
export const lackedBy = (needs: readonly Omit<Need, 'leave'>[]): readonly Grant[] =>
  needs
    .filter(({ figures: { available }, needed }) => available <= 0 || available < needed)
    .map(({ figures: { budget, window, available }, needed }) => ({
      budget,
      window,
      units: toUnits(needed - Math.max(0, available)),
    }))

export const withNothingLeft = (figures: Figures): Shortage => ({ figures, needed: null })

export const moreThanAnyHas = (what: string, units: Units): Problem =>
  problem(
    'over-update-limit',
    `${what} needs ${inUnits(units)}, more than any account has; the estimate is wrong, or read from the wrong place.`,
    { units },
  )
