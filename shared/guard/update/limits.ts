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
import { leftOf } from '../../ledger/updates/leave.ts'
import type { Grant, Problem, Update, UpdateRequest } from '../../ledger/updates/update.ts'
import type { View } from '../../ledger/views/views.ts'
import { toRfc3339 } from '../../platform/clock.ts'
import { toUnits, type Units } from '../../platform/words.ts'
import { problem } from '../problems.ts'
import { refusedBy } from '../rules/late.ts'
import {
  count,
  type Figures,
  figuresOfChain,
  holdsEnd,
  units as inUnits,
  keptIn,
  left,
  list,
  refuses,
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

/** An approval of one update must not raise the limits of the account or of a caller. */
export const isNeverGranted = (counter: string): boolean => counter === rootBudget || callerOfCounter(counter) !== null

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

export const moreThanAnyHas = (what: string, units: Units): Problem =>
  problem(
    'over-update-limit',
    `${what} needs ${inUnits(units)}, more than any account has; the estimate is wrong, or read from the wrong place.`,
    { units },
  )

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
      budget,
      window,
      units: toUnits(needed - Math.max(0, available)),
    }))

export const observed = (view: View, counters: readonly CounterOwner[]): readonly Figures[] =>
  limited(view, counters).filter((figures) => !refuses(figures))

export const withNothingLeft = (figures: Figures): Shortage => ({ figures, needed: null })
