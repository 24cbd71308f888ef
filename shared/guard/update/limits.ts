import {
  type Budget,
  budgetNamed,
  type CounterOwner,
  callerOfCounter,
  type Definitions,
  isWithin,
  limitsOfCaller,
  rootBudget,
  rulesOfCaller,
} from '../../ledger/book/definitions.ts'
import { type Grant, leftOf, type Problem, type Update, type UpdateRequest } from '../../ledger/updates/update.ts'
import type { View } from '../../ledger/views/views.ts'
import { toRfc3339 } from '../../platform/clock.ts'
import { toUnits, type Units } from '../../platform/words.ts'
import { problem } from '../problems.ts'
import { refusedBy } from '../rules/late.ts'
import {
  count,
  type Figures,
  figuresOfChain,
  units as inUnits,
  left,
  list,
  refuses,
  thisWindow,
  when,
} from '../sentences.ts'

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
  const comma = figures.keep ? ',' : ''
  const need = needed === null ? '' : `${comma} and ${says(worst)}`
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

/** Refuses reserves for unknown budgets: a misspelt reserve would protect no one. */
export function leavesToNoBudget(
  definitions: Definitions,
  { leave, plan }: Pick<UpdateRequest, 'leave' | 'plan'>,
): Problem | null {
  const names = typeof leave === 'object' ? Object.keys(leave) : []
  const missing = names.find((name) => !budgetNamed(definitions, name))
  if (missing === undefined) return null
  const detail = `The plan ${plan} leaves units of the budget ${missing} to others, and there is no such budget: correct the plans file, or create the budget.`
  return problem('not-found', detail)
}

/** Whether approvers may grant missing units. The root and callers are excluded in `isNeverGranted`. */
export const mayBeGranted = ({ whenShort }: UpdateRequest): boolean => whenShort === 'ask'

/** `ahead`: units that waiting updates take first. `grant`: units that are then missing. */
type Behind = Need & { readonly ahead: number; readonly grant: Grant }

export const shortBehind = (
  view: View,
  waiting: readonly Update[],
  counters: readonly CounterOwner[],
  { units, request }: { units: number; request: UpdateRequest },
): readonly Behind[] =>
  enforced(view, counters).flatMap((figures) => {
    const { budget, window, available } = figures
    const { needed, leave } = neededOf(figures, units, request)
    const ahead = waiting.reduce((sum, update) => sum + takenBy(update, view, figures), 0)
    const lacking = needed - available + ahead
    if (lacking <= 0 || budget === rootBudget) return []
    return [{ figures, needed, leave, ahead, grant: { budget, window, units: toUnits(lacking) } }]
  })

function takenBy({ budget, estimated, short }: Update, view: View, counter: Figures): number {
  if (!isWithin(view.definitions, budget, counter.budget)) return 0
  const grant = short?.find((each) => each.budget === counter.budget && each.window === counter.window)
  return Math.max(0, (estimated ?? 0) - (grant?.units ?? 0))
}

export const moreThanAnyHas = (what: string, units: Units): Problem =>
  problem(
    'over-update-limit',
    `${what} needs ${inUnits(units)}, more than any account has; the estimate is wrong, or read from the wrong place.`,
    { units },
  )

const leftBehind = ({ ahead, figures }: Behind): string =>
  ahead > 0 ? `${left(figures)} (${count(ahead)} for what awaits approval before it)` : left(figures)

export function shortfall(short: readonly Behind[], units: number, request: UpdateRequest): string {
  const [most] = short.toSorted((a, b) => b.leave - a.leave)
  const isTold = request.plan === undefined || !most || most.leave === 0
  const need = isTold ? '' : `, ${needsInWords(most, request)}`
  return `it needs ${inUnits(units)}${need}, and ${list(short.map(leftBehind))}; approving it also grants ${list(short.map(granted))}`
}

const granted = ({ grant: { budget, window, units } }: Behind): string =>
  `${budget} ${count(units)} one-time ${units === 1 ? 'unit' : 'units'} ${thisWindow(window)}`

/** The first rule that refuses these units for one update: of the owner's budgets, then of the caller. */
export function strictFor(
  definitions: Definitions,
  rules: readonly Budget[],
  caller: { readonly name: string; readonly shown: string },
  units: number,
) {
  const own = { ...caller, perUpdate: rulesOfCaller(definitions, caller.name)?.perUpdate }
  const all = [...rules.map(({ name, perUpdate }) => ({ name, shown: name, perUpdate })), own]
  return refusedBy(all, units)
}

export const countersOf = (
  view: View,
  chain: readonly Budget[],
  { caller }: Pick<UpdateRequest, 'caller'>,
): readonly CounterOwner[] => [...chain, ...limitsOfCaller(view.definitions, caller)]

export const limited = (view: View, counters: readonly CounterOwner[]): readonly Figures[] =>
  figuresOfChain(view, counters).filter(({ limit }) => limit !== 'unlimited')

/** The counters that can refuse an update. */
export const enforced = (view: View, counters: readonly CounterOwner[]): readonly Figures[] =>
  figuresOfChain(view, counters).filter(refuses)

/** The units that observed limits lack. Figures below 0 are taken as 0, so that a window's shortages add up to its excess. */
export const lackedBy = (needs: readonly Omit<Need, 'leave'>[]): readonly Grant[] =>
  needs
    .filter(({ figures: { available }, needed }) => available <= 0 || available < needed)
    .map(({ figures: { budget, window, available }, needed }) => ({
      ...{ budget, window },
      units: toUnits(needed - Math.max(0, available)),
    }))

export const observed = (view: View, counters: readonly CounterOwner[]): readonly Figures[] =>
  limited(view, counters).filter((figures) => !refuses(figures))

export const withNothingLeft = (figures: Figures): Shortage => ({ figures, needed: null })
