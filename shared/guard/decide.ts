import {
  type Budget,
  budgetNamed,
  callerNamed,
  callerOfCounter,
  chainOf,
  type Limited,
  limitsOfCaller,
  rootBudget,
} from '../ledger/definitions.ts'
import type { Grant, Problem, Request, Run, Update } from '../ledger/update.ts'
import type { AskedView, View } from '../ledger/views.ts'
import { mostUnits, toUnits, type Units } from '../platform/words.ts'
import { whyNotApprover } from './barring.ts'
import { allowedNow, barredFromAsking, barredFromCharging, mayStillApprove } from './callers.ts'
import { ownersBelow, ruledBy, whyNotPaid } from './charging.ts'
import { duplicateOf, runsOf } from './duplicate-work.ts'
import { type Figures, figuresOfChain } from './figures.ts'
import { approvedMayGrowBy, type GuardOptions } from './options.ts'
import { overBudget, type Short } from './over-budget.ts'
import { leavesToNoBudget, type Needed, neededOf, stoppedPlan, whatNeeds } from './plan-rules.ts'
import { invalidRequest, problem } from './problems.ts'
import { mayBeLost } from './restored.ts'
import { count, units as inUnits, left, list, when, zoneOf } from './sentences.ts'
import { spellingFaults } from './spelling.ts'

/** What can be said before the service is asked. */
export type Early =
  | {
      readonly say: 'go-on'
      /** The budget that pays and its ancestors: their limits count. */
      readonly chain: readonly Budget[]
      /** The project's owner and its ancestors: their rules hold, also where an ancestor pays. */
      readonly rules: readonly Budget[]
      readonly runs: readonly Run[]
    }
  | { readonly say: 'refuse'; readonly problem: Problem }

/** What is to be done once the units are known. */
export type Decision =
  | {
      readonly say: 'hold'
      readonly counters: readonly Limited[]
      /** Where an ancestor of the owner pays: the owner, and the budgets between the two. */
      readonly owners: readonly string[]
      readonly runs: readonly Run[]
      /** What the approval grants to budgets that are short. */
      readonly grants: readonly Grant[]
    }
  | { readonly say: 'ask'; readonly reason: string; readonly short: readonly Grant[] }
  | { readonly say: 'refuse'; readonly problem: Problem }

/** One request as one reading of the table shows it. */
export interface Known {
  readonly view: View
  readonly asked: AskedView
  readonly request: Request
  /** The plan that asks, as its file is now. */
  readonly plan?: { readonly enabled: boolean; readonly mayChargeAncestors: boolean }
  /** What the same request has put to a person before this one. */
  readonly waiting?: readonly Update[]
  /** The key may be of a request before a restore, whose record is lost. */
  readonly isOldKey?: boolean
}

type GoOn = Extract<Early, { say: 'go-on' }>

export interface Quote {
  readonly units: Units
  /** Sorted calendar dates for which the project has data; `null` where they could not be read. */
  readonly dates: readonly string[] | null
}

/** The whole decision, as a pure function of what was read, what it costs, and the time of the reading. */
export function decide(known: Known, quote: Quote, options: GuardOptions): Decision {
  const early = decideEarly(known, options)
  return early.say === 'refuse' ? early : decideLate(known, early, quote)
}

/** Duplicate work, then policy, then empty budgets: none of it needs the service. */
export function decideEarly(known: Known, options: GuardOptions): Early {
  const { view, asked, request } = known
  const stopped = duplicateOf(known, options) ?? mayBeLost(known, options) ?? barredBy(known)
  if (stopped) return { say: 'refuse', problem: stopped }
  const faults = spellingFaults(view.definitions, [spelledIn(request)], options.separator)
  if (faults.length > 0) return { say: 'refuse', problem: invalidRequest(faults) }
  if (!budgetNamed(view.definitions, request.budget)) {
    return refuse('not-found', `The budget ${request.budget} was deleted before the update could begin.`)
  }
  const beyond = barredByList(view, request) ?? whyNotPaid(view.definitions, request, mayChargeAncestors(known))
  if (beyond) return { say: 'refuse', problem: beyond }
  const nowhere = leavesToNoBudget(view.definitions, request)
  if (nowhere) return { say: 'refuse', problem: nowhere }
  const chain = chainOf(view.definitions, request.budget)
  const rules = ruledBy(view.definitions, request)
  for (const budget of rules) {
    const { frozen, kinds } = budget
    if (frozen) {
      const since = when(frozen.at, zoneOf(view))
      return refuse(
        'budget-frozen',
        `${budget.name} was frozen by ${frozen.by} on ${since}: ${frozen.reason}. Ask an administrator to unfreeze it.`,
        { budget: budget.name },
      )
    }
    if (kinds && !kinds.includes(request.kind)) {
      const allowed = kinds.length === 0 ? 'no updates at all' : `${kinds.join(' and ')} updates only`
      return refuse('kind-not-allowed', `${budget.name} allows ${allowed}, and this is a ${request.kind} update.`, {
        budget: budget.name,
      })
    }
  }
  const empty = limited(view, countersOf(view, chain, request)).filter(({ available }) => available <= 0)
  const isRefused = empty.some(
    ({ budget }) => budget === rootBudget || callerOfCounter(budget) !== null || !mayBeGranted(request),
  )
  if (isRefused) return { say: 'refuse', problem: overBudget(empty.map(withNothingLeft), null, zoneOf(view)) }
  return { say: 'go-on', chain, rules, runs: runsOf(asked) }
}

const spelledIn = ({ project, target }: Request) => ({ project, segment: target?.segment })

/** A plan brings its right along; every other caller has it by the token and the list of callers. */
const mayChargeAncestors = ({ view, request, plan }: Known): boolean =>
  request.plan === undefined
    ? (allowedNow(view.definitions, request)?.mayChargeAncestors ?? false)
    : (plan?.mayChargeAncestors ?? false)

/** Who may ask, charge and force what was answered when they asked; the list of callers may have been narrowed since. */
function barredByList({ definitions }: View, request: Request): Problem | null {
  const allowed = allowedNow(definitions, request)
  if (!allowed) return null
  const { caller, force, budget } = request
  return barredFromAsking(caller, allowed) ?? barredFromCharging(request, allowed, { force, budgets: [budget] })
}

/** What has been stopped since it was asked for, or before. */
function barredBy({ view, request, plan }: Known): Problem | null {
  const { caller } = request
  if (callerNamed(view.definitions, caller)?.disabled) {
    return problem('forbidden', `${caller} is disabled; ask an administrator.`)
  }
  return request.plan === undefined ? null : stoppedPlan(view, request.plan, plan)
}

/** Who asks to be asked is not refused for what is short; only the root is never granted anything this way. */
const mayBeGranted = ({ whenShort }: Request): boolean => whenShort === 'ask'

/** The limits of one update, then freshness, then the budgets, then whether a person has to agree. */
function decideLate(known: Known, early: GoOn, quote: Quote): Decision {
  const { view, asked, request, waiting = [] } = known
  const { units } = quote
  const { chain, rules, runs } = early
  if (request.maxUnits !== undefined && units > request.maxUnits) {
    return refuse(
      'over-max-units',
      `This update needs ${inUnits(units)}, and the request allows at most ${count(request.maxUnits)} (maxUnits).`,
      { units, maxUnits: request.maxUnits },
    )
  }
  const { caller } = request
  const strictest = [...rules, { name: caller, perUpdate: callerNamed(view.definitions, caller)?.perUpdate }]
  for (const { name, perUpdate } of strictest) {
    if (perUpdate === undefined || units <= perUpdate) continue
    return refuse(
      'over-update-limit',
      `This update needs ${inUnits(units)}, and ${name} allows at most ${count(perUpdate)} for one update.`,
      { units, budget: name, perUpdate },
    )
  }
  const today = view.day.name.slice('day:'.length)
  if (request.kind === 'ranking' && !request.force && quote.dates?.includes(today)) {
    return refuse(
      'already-fresh',
      `${request.project} already has ranking data of today (${today}), so an update would spend ${inUnits(units)} on nothing new; force it with a reason if it must be.`,
      { units, date: today },
    )
  }
  // Before anything is added to it: what is no number of units of any account leaves the safe integers.
  if (units > mostUnits) return { say: 'refuse', problem: moreThanAnyHas('This update', units) }
  const approval = standingApproval(view, asked)
  const counters = countersOf(view, chain, request)
  const short = limited(view, counters)
    .map((figures) => neededOf(figures, units, request))
    .filter(({ figures, needed }) => figures.available < needed)
  const grants = short.map(({ figures: { budget, window, available }, needed }) => ({
    ...{ budget, window },
    units: toUnits(needed - available),
  }))
  if (!grants.every((grant) => isGrantable(grant, known, approval))) {
    return {
      say: 'refuse',
      problem: overBudget(short, units, zoneOf(view), (leave) => whatNeeds(leave, request)),
    }
  }
  const mayRun = allowedNow(view.definitions, request)?.scopes.has('run') ?? true
  const needsApproval = approvalNeeded({ rules, runs, approval, isProposed: request.proposed || !mayRun }, units)
  const isShort = short.length > 0 && !approval
  if (needsApproval === null && !isShort)
    return { say: 'hold', counters, owners: ownersBelow(rules, request.budget), runs, grants }
  // Those before it may be approved first; it is then short of what they take, too.
  const behind =
    mayBeGranted(request) && waiting.length > 0 ? shortBehind(view, waiting, counters, { units, request }) : null
  const lacks = isShort || (behind !== null && behind.length > 0)
  const lost = approval ? undefined : asked.update?.approval?.by
  const reasons = [
    ...(lost === undefined ? [] : [`${lost} approved it, and may not approve it any more`]),
    ...(needsApproval === null ? [] : [needsApproval]),
    ...(lacks ? [shortfall(behind ?? short, units, request)] : []),
  ]
  return { say: 'ask', reason: reasons.join('; '), short: behind?.map(({ grant }) => grant) ?? grants }
}

/** A counter, how much of what it has left is for updates that wait, and what would have to be granted beside them. */
type Behind = Needed & { readonly ahead: number; readonly grant: Grant }

const shortBehind = (
  view: View,
  waiting: readonly Update[],
  counters: readonly Limited[],
  { units, request }: { units: number; request: Request },
): readonly Behind[] =>
  limited(view, counters).flatMap((figures) => {
    const { budget, window, available } = figures
    const { needed, leave } = neededOf(figures, units, request)
    const ahead = waiting.reduce((sum, update) => sum + takenBy(update, view, figures), 0)
    const lacking = needed - available + ahead
    if (lacking <= 0 || budget === rootBudget || callerOfCounter(budget) !== null) return []
    return [{ figures, needed, leave, ahead, grant: { budget, window, units: toUnits(lacking) } }]
  })

/** What an update that waits takes of a counter once it is approved, beside what is granted for it. */
function takenBy({ budget, estimated, short = [] }: Update, view: View, counter: Figures): number {
  if (!budgetNamed(view.definitions, budget)) return 0
  if (!chainOf(view.definitions, budget).some(({ name }) => name === counter.budget)) return 0
  const grant = short.find((each) => each.budget === counter.budget && each.window === counter.window)
  return Math.max(0, (estimated ?? 0) - (grant?.units ?? 0))
}

export const moreThanAnyHas = (what: string, units: Units): Problem =>
  problem(
    'over-update-limit',
    `${what} needs ${inUnits(units)}, more than any account has; the estimate is wrong, or read from the wrong place.`,
    { units },
  )

/** An approval counts while its approver may still approve, and is named by the budget that owns the project now. */
function standingApproval({ definitions }: View, { update }: AskedView): Update['approval'] {
  const { approval } = update ?? {}
  if (!update || !approval || !mayStillApprove(definitions, approval.by)) return undefined
  return whyNotApprover(definitions, update, approval) === null ? approval : undefined
}

/** A person agrees to what is short, up to what they were shown, and never for the root. */
function isGrantable({ budget, window, units }: Grant, { request }: Known, approval: Update['approval']): boolean {
  // What a caller may spend is nobody's to grant with one update.
  if (budget === rootBudget || callerOfCounter(budget) !== null) return false
  if (!approval) return mayBeGranted(request)
  return (
    approval.grants?.some((grant) => grant.budget === budget && grant.window === window && grant.units >= units) ===
    true
  )
}

const leftBehind = ({ ahead = 0, figures }: Needed & { ahead?: number }): string =>
  ahead > 0 ? `${left(figures)} (${count(ahead)} for what awaits approval before it)` : left(figures)

function shortfall(short: readonly (Needed & { ahead?: number })[], units: number, request: Request): string {
  const leave = Math.max(...short.map((each) => each.leave))
  const need = leave === 0 ? '' : `, ${whatNeeds(leave, request)} ${count(units + leave)}`
  return `it needs ${inUnits(units)}${need}, and ${list(short.map(leftBehind))}: to approve it grants what is short, once`
}

function approvalNeeded(
  {
    rules,
    runs: [ran],
    approval,
    isProposed,
  }: Pick<GoOn, 'rules' | 'runs'> & { approval: Update['approval']; isProposed: boolean },
  units: Units,
): string | null {
  if (approval) {
    if (units <= approval.units * (1 + approvedMayGrowBy)) return null
    return `${count(approval.units)} units were approved, and it now needs ${count(units)}`
  }
  const strict = rules.find(({ approvalAbove }) => approvalAbove !== undefined && units > approvalAbove)
  if (strict)
    return `it needs ${inUnits(units)}, and ${strict.name} wants approval above ${count(strict.approvalAbove ?? 0)}`
  const wary = rules.find(({ approvalIfGrown }) => hasGrown(units, ran?.units, approvalIfGrown))
  if (wary) {
    return `it needs ${inUnits(units)}, the last one cost ${count(ran?.units ?? 0)}, and ${wary.name} wants approval above ${wary.approvalIfGrown} % more`
  }
  return isProposed ? 'callers with only the scope propose need approval' : null
}

const hasGrown = (units: number, before: number | undefined, percent: number | undefined): boolean =>
  before !== undefined && percent !== undefined && units * 100 > before * (100 + percent)

/** Every counter that an update moves: of its budget, of the ancestors, and of whoever asks, if they have limits. */
export const countersOf = (
  view: View,
  chain: readonly Budget[],
  { caller }: Pick<Request, 'caller'>,
): readonly Limited[] => [...chain, ...limitsOfCaller(view.definitions, caller)]

export const limited = (view: View, counters: readonly Limited[]): readonly Figures[] =>
  figuresOfChain(view, counters).filter(({ limit }) => limit !== 'unlimited')

const withNothingLeft = (figures: Figures): Short => ({ figures, needed: null })

const refuse = (...of: Parameters<typeof problem>) => ({ say: 'refuse', problem: problem(...of) }) as const
