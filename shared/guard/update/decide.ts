import {
  type Budget,
  budgetNamed,
  type CounterOwner,
  callerNamed,
  callerOfCounter,
  chainOf,
  type Definitions,
  pauseOf,
  rootBudget,
} from '../../ledger/book/definitions.ts'
import type { Grant, Problem, Run, Update, UpdateRequest } from '../../ledger/updates/update.ts'
import type { View, ViewResult } from '../../ledger/views/views.ts'
import { maxUnits, toUnits, type Units } from '../../platform/words.ts'
import type { GuardOptions } from '../options.ts'
import {
  mayStillApprove,
  permissionsNow,
  whyNotAmongApprovers,
  whyNotCharge,
  whyNotSubmit,
} from '../people/permissions.ts'
import { invalidRequest, problem } from '../problems.ts'
import { count, type Figures, units as inUnits, shownCaller, shownIn, when, zoneOf } from '../sentences.ts'
import { duplicateOf, mayBeLost, runsOf } from './duplicate-work.ts'
import {
  countersOf,
  enforced,
  lackedBy,
  mayBeGranted,
  moreThanAnyHas,
  neededOf,
  observed,
  overBudget,
  shortBehind,
  shortfall,
  strictFor,
  whatNeeds,
  withNothingLeft,
} from './limits.ts'
import { ownersBelow, ruledBy, spellingFaults, whyNear, whyNotPaid } from './projects.ts'
import type { DecisionInput, Quote } from './quote.ts'
import { unownedApproval, whyNotUnowned } from './unowned.ts'

export type EarlyDecision =
  | {
      readonly kind: 'pass'
      /** The payer and its ancestors, whose limits count. */
      readonly chain: readonly Budget[]
      /** The owner and its ancestors, whose rules hold even if an ancestor pays. */
      readonly rules: readonly Budget[]
      readonly runs: readonly Run[]
    }
  | { readonly kind: 'refuse'; readonly problem: Problem }

export type Decision =
  | {
      readonly kind: 'hold'
      readonly counters: readonly CounterOwner[]
      readonly owners: readonly string[]
      readonly runs: readonly Run[]
      readonly grants: readonly Grant[]
      readonly wouldHaveRefused: readonly Grant[]
    }
  | { readonly kind: 'ask'; readonly reason: string; readonly short: readonly Grant[] }
  | { readonly kind: 'refuse'; readonly problem: Problem }

type EarlyPass = Extract<EarlyDecision, { kind: 'pass' }>

/** Pure: decides from one reading, the price and the time. */
export function decide(known: DecisionInput, quote: Quote, options: GuardOptions): Decision {
  const early = decideEarly(known, options)
  return early.kind === 'refuse' ? early : decideLate(known, early, quote)
}

/** Checks duplicate work, policy and empty budgets, which need no estimate. */
export function decideEarly(known: DecisionInput, options: GuardOptions): EarlyDecision {
  const { view, asked, request } = known
  const { definitions } = view
  const refusal =
    duplicateOf(known, options) ??
    mayBeLost(known, options) ??
    whyStopped(known) ??
    whyUnclear(known, options) ??
    whyNotListed(known) ??
    whyNotPaid(definitions, request, mayChargeAncestors(known)) ??
    whyNotUnowned(definitions, request.project) ??
    leavesToNoBudget(definitions, request) ??
    whyRuledOut(known)
  if (refusal) return { kind: 'refuse', problem: refusal }
  const chain = chainOf(definitions, request.budget)
  const empty = enforced(view, countersOf(view, chain, request)).filter(({ available }) => available <= 0)
  const isRefused = empty.some(
    ({ budget }) => budget === rootBudget || callerOfCounter(budget) !== null || !mayBeGranted(request),
  )
  if (isRefused) return { kind: 'refuse', problem: overBudget(empty.map(withNothingLeft), null, zoneOf(view)) }
  return { kind: 'pass', chain, rules: ruledBy(definitions, request), runs: runsOf(asked) }
}

/** The name, or the budget that it is charged to. */
function whyUnclear({ view: { definitions }, asked, request }: DecisionInput, options: GuardOptions): Problem | null {
  const { project, target, plan, budget } = request
  // A name that was clear when it was asked for, or planned, may have become near a listed one since.
  const near = (asked.update || plan !== undefined) && whyNear(definitions, project)
  if (near) return problem('wrong-state', near)
  const faults = spellingFaults(definitions, [{ project, segment: target?.segment }], options.separator)
  if (faults.length > 0) return invalidRequest(faults)
  if (budgetNamed(definitions, budget)) return null
  return problem('not-found', `The budget ${budget} was deleted before the update could begin.`)
}

/** Frozen, or not of a kind that its budgets allow. */
function whyRuledOut({ view, request }: DecisionInput): Problem | null {
  for (const { name, frozen, kinds } of ruledBy(view.definitions, request)) {
    if (frozen) {
      const since = `${shownCaller(view.definitions, frozen.by)} on ${when(frozen.at, zoneOf(view))}`
      const detail = `${name} was frozen by ${since}: ${frozen.reason}. Ask an administrator to unfreeze it.`
      return problem('budget-frozen', detail, { budget: name })
    }
    if (kinds && !kinds.includes(request.kind)) {
      const allowed = kinds.length === 0 ? 'no updates at all' : `${kinds.join(' and ')} updates only`
      const detail = `${name} allows ${allowed}, and this is a ${request.kind} update.`
      return problem('kind-not-allowed', detail, { budget: name })
    }
  }
  return null
}

const mayChargeAncestors = (known: DecisionInput): boolean =>
  (known.request.plan === undefined ? allowedNow(known) : known.plan)?.mayChargeAncestors ?? false

const allowedNow = ({ view, request, token = request.token }: DecisionInput) =>
  permissionsNow(view.definitions, { ...request, ...(token && { token }) })

const askerIn = ({ view, request: { caller, token } }: DecisionInput): string =>
  shownCaller(view.definitions, caller, token?.person)

/** The list of callers may have changed since the request was accepted. */
function whyNotListed(known: DecisionInput): Problem | null {
  const { request, token } = known
  const { force, budget } = request
  const caller = askerIn(known)
  if (token === null) {
    const detail = `${caller} asked with a token of the issuer ${request.token?.issuer?.name}, which is not trusted any more.`
    return problem('forbidden', detail)
  }
  const allowed = allowedNow(known)
  if (!allowed) return null
  return whyNotSubmit(caller, allowed) ?? whyNotCharge({ ...request, caller }, allowed, { force, budgets: [budget] })
}

function whyStopped(known: DecisionInput): Problem | null {
  const { view, request, plan } = known
  if (callerNamed(view.definitions, request.caller)?.disabled) {
    return problem('forbidden', `${askerIn(known)} is disabled; ask an administrator.`)
  }
  return request.plan === undefined ? null : stoppedPlan(view, request.plan, plan)
}

function decideLate(known: DecisionInput, early: EarlyPass, quote: Quote): Decision {
  const { view, asked, request, waiting = [] } = known
  const { units } = quote
  const { chain, rules, runs } = early
  const { maxUnits: most } = request
  if (most !== undefined && units > most) {
    const detail = `This update needs ${inUnits(units)}, and the request allows at most ${count(most)} (maxUnits).`
    return refuse('over-max-units', detail, { units, maxUnits: most })
  }
  const strict = strictFor(view.definitions, rules, { name: request.caller, shown: askerIn(known) }, units)
  if (strict) {
    const { name: budget, shown, perUpdate = 0 } = strict
    const detail = `This update needs ${inUnits(units)}, and ${shown} allows at most ${count(perUpdate)} for one update.`
    return refuse('over-update-limit', detail, { units, budget, perUpdate })
  }
  const today = view.day.name.slice('day:'.length)
  if (!request.force && quote.dates?.includes(today)) {
    const detail = `${request.project} already has ${request.kind} data of today (${today}), so an update would spend ${inUnits(units)} on nothing new; force it with a reason if it must be.`
    return refuse('already-fresh', detail, { units, date: today })
  }
  // Checked before any sum, because a sum could leave the safe integers.
  if (units > maxUnits) return { kind: 'refuse', problem: moreThanAnyHas('This update', units) }
  const given = asked.update?.approval
  const isAboveCap = given !== undefined && units > given.units
  const approval = isAboveCap ? undefined : standingApproval(view, asked)
  const counters = countersOf(view, chain, request)
  const needs = (figures: Figures) => neededOf(figures, units, request)
  const short = enforced(view, counters)
    .map(needs)
    .filter(({ figures, needed }) => figures.available < needed)
  const grants = short.map(({ figures: { budget, window, available }, needed }) => ({
    ...{ budget, window },
    units: toUnits(needed - available),
  }))
  if (!grants.every((grant) => isGrantable(grant, known, approval))) {
    const problem = overBudget(short, units, zoneOf(view), (leave) => whatNeeds(leave, request))
    return { kind: 'refuse', problem }
  }
  const needsApproval = isAboveCap
    ? `approved up to ${count(given.units)}, it now needs ${count(units)}`
    : approvalNeeded(known, early, { approval, units })
  if (needsApproval === null && (short.length === 0 || approval)) {
    const wouldHaveRefused = lackedBy(observed(view, counters).map(needs))
    return { kind: 'hold', counters, owners: ownersBelow(rules, request.budget), runs, grants, wouldHaveRefused }
  }
  // Waiting updates may be approved first and take from the same counters.
  const behind = mayBeGranted(request) ? shortBehind(view, waiting, counters, { units, request }) : []
  const lost = given && !isAboveCap ? shownIn(view.definitions, asked.update ?? request, given.by) : undefined
  const reasons = [
    ...(lost === undefined ? [] : [`${lost} approved it, and may not approve it any more`]),
    ...(needsApproval === null ? [] : [needsApproval]),
    ...(behind.length > 0 ? [shortfall(behind, units, request)] : []),
  ]
  return { kind: 'ask', reason: reasons.join('; '), short: behind.map(({ grant }) => grant) }
}

/** An approval counts while its approver may approve for the project's present owner. */
function standingApproval({ definitions }: View, { update }: ViewResult): Update['approval'] {
  const { approval } = update ?? {}
  if (!update || !approval || !mayStillApprove(definitions, approval.by)) return undefined
  return whyNotAmongApprovers(definitions, update, approval) === null ? approval : undefined
}

/** An approval covers a shortage up to the units shown, but never the root's. */
function isGrantable(
  { budget, window, units }: Grant,
  { request }: DecisionInput,
  approval: Update['approval'],
): boolean {
  // Approving one update must not raise what a caller may spend.
  if (budget === rootBudget || callerOfCounter(budget) !== null) return false
  if (!approval) return mayBeGranted(request)
  return (
    approval.grants?.some((grant) => grant.budget === budget && grant.window === window && grant.units >= units) ===
    true
  )
}

function approvalNeeded(
  known: DecisionInput,
  { rules, runs: [ran] }: EarlyPass,
  { approval, units }: { approval: Update['approval']; units: Units },
): string | null {
  if (approval) return null
  const { view, request } = known
  const unowned = unownedApproval(view.definitions, request)
  // As `approvalAbove: 0`.
  if (unowned !== null && units > 0) return unowned
  const strict = rules.find(({ approvalAbove = Number.POSITIVE_INFINITY }) => units > approvalAbove)
  if (strict)
    return `it needs ${inUnits(units)}, and ${strict.name} wants approval above ${count(strict.approvalAbove ?? 0)}`
  const wary = rules.find(({ approvalIfGrown }) => hasGrown(units, ran?.units, approvalIfGrown))
  if (wary) {
    return `it needs ${inUnits(units)}, the last one cost ${count(ran?.units ?? 0)}, and ${wary.name} wants approval above ${wary.approvalIfGrown} % more`
  }
  const mayRun = allowedNow(known)?.scopes.has('run') ?? true
  return request.proposed || !mayRun ? 'callers with only the scope propose need approval' : null
}

const hasGrown = (units: number, before = Number.POSITIVE_INFINITY, percent = Number.POSITIVE_INFINITY): boolean =>
  units * 100 > before * (100 + percent)

const refuse = (...of: Parameters<typeof problem>) => ({ kind: 'refuse', problem: problem(...of) }) as const

function stoppedPlan(view: View, plan: string, inFile: { readonly enabled: boolean } | undefined): Problem | null {
  if (!inFile?.enabled) {
    const detail = `The plan ${plan} is not enabled in the plans file, so nothing of it runs.`
    return problem('wrong-state', detail, { plan })
  }
  const pause = pauseOf(view.definitions, plan)
  if (!pause) return null
  const detail = `The plan ${plan} was paused by ${shownCaller(view.definitions, pause.by)} on ${when(pause.at, zoneOf(view))}: ${pause.reason}. Resume it, then run what was not sent.`
  return problem('plan-paused', detail, { plan })
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
