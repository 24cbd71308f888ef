import type { View, ViewResult } from '../../ledger/book/view.ts'
import { asNumber } from '../../ledger/definitions/counters.ts'
import { type Budget, type CounterOwner, chainOf } from '../../ledger/definitions/definitions.ts'
import type { Grant, Problem, Run, Update } from '../../ledger/updates/update.ts'
import { maxUnits, toUnits, type Units } from '../../platform/words.ts'
import type { GuardOptions } from '../options.ts'
import { notApproverReason, whyNotAmongApprovers } from '../people/approvers.ts'
import { mayStillApprove } from '../people/permissions.ts'
import { problem } from '../problems.ts'
import { approvalReason, isNeverGranted, mayBeGranted } from '../rules/approvals.ts'
import { countersOf, enforced, observed } from '../rules/counters.ts'
import { refusalOf, strictFor } from '../rules/late.ts'
import { ownersBelow, ruledBy } from '../rules/projects.ts'
import { count, type Figures, units as inUnits, shownIn, thisWindow, zoneOf } from '../sentences.ts'
import { runsOf, whoForces } from './duplicate-work.ts'
import { allowedNow, askerIn, earlyChecks } from './early-checks.ts'
import { lackingBehind, shortBehind, shortfall } from './grants.ts'
import { lackedBy, moreThanAnyHas, type Need, neededOf, needsInWords, overBudget } from './over-budget.ts'
import type { DecisionInput, Quote } from './quote.ts'

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
  | {
      readonly kind: 'ask'
      readonly reason: string
      readonly short: readonly Grant[]
      /** The most units that a counter lacks, with what must be left. */
      readonly lacks: number
    }
  | { readonly kind: 'refuse'; readonly problem: Problem }

type EarlyPass = Extract<EarlyDecision, { kind: 'pass' }>

/** Pure: decides from one reading, the price and the time. */
export function decide(known: DecisionInput, quote: Quote, options: GuardOptions): Decision {
  const early = decideEarly(known, options)
  return early.kind === 'refuse' ? early : decideLate(pricedOf(known, early, quote), options)
}

/** Checks that need an estimate, in this order. They follow the early checks. */
export const lateChecks = {
  price: whyNoPrice,
  'max-units': aboveMaxUnits,
  'one-update': aboveOneUpdate,
  fresh: whyFresh,
  // Checked before any sum, because a sum could leave the safe integers.
  size: ({ quote: { units } }) => (units > maxUnits ? moreThanAnyHas('This update', units) : null),
  counter: whyShort,
} satisfies Readonly<Record<string, (priced: Priced, options: GuardOptions) => Problem | null>>

/** Checks duplicate work, policy and empty budgets, which need no estimate. */
export function decideEarly(known: DecisionInput, options: GuardOptions): EarlyDecision {
  for (const why of Object.values(earlyChecks)) {
    const problem = why(known, options)
    if (problem) return { kind: 'refuse', problem }
  }
  return passOf(known)
}

/** @throws if the budget does not exist */
export function passOf({ view: { definitions }, asked, request }: DecisionInput): EarlyPass {
  const chain = chainOf(definitions, request.budget)
  return { kind: 'pass', chain, rules: ruledBy(definitions, request), runs: runsOf(asked) }
}

export interface Priced {
  readonly known: DecisionInput
  readonly early: EarlyPass
  readonly quote: Quote
  readonly approval: Approval
}

export const pricedOf = (known: DecisionInput, early: EarlyPass, quote: Quote): Priced => ({
  known,
  early,
  quote,
  approval: approvalOf(known, early, quote.units),
})

interface Approval {
  /** The approval that stands for this price. */
  readonly standing: Update['approval']
  /** The approver of an approval that stands no more. */
  readonly lost: string | undefined
  /** Why the update needs an approval. `null`: it needs no approval, or is approved. */
  readonly reason: string | null
}

function approvalOf(known: DecisionInput, early: EarlyPass, units: Units): Approval {
  const { view, asked } = known
  const given = asked.update?.approval
  if (given && units > given.units) {
    const reason = `approved up to ${count(given.units)}, it now needs ${count(units)}`
    return { standing: undefined, lost: undefined, reason }
  }
  const standing = standingApproval(view, asked)
  if (standing) return { standing, lost: undefined, reason: null }
  return { standing, lost: given?.by, reason: approvalReasonOf(known, early, units) }
}

function approvalReasonOf(known: DecisionInput, { rules, runs: [ran] }: EarlyPass, units: Units): string | null {
  const { view, request } = known
  const mayRun = allowedNow(known)?.scopes.has('run') ?? true
  return approvalReason({ definitions: view.definitions, request, rules, units, before: ran?.units, mayRun })
}

function whyNoPrice({ quote: { units } }: Priced, { isZeroFree }: GuardOptions): Problem | null {
  if (units > 0 || isZeroFree) return null
  const detail = 'The service says 0 units: there is nothing to update, or it does not know the price.'
  return problem('no-price', detail, { units })
}

function aboveMaxUnits({ known: { request }, quote: { units } }: Priced): Problem | null {
  const { maxUnits: most } = request
  if (most === undefined || units <= most) return null
  const detail = `This update needs ${inUnits(units)}, and the request allows at most ${count(most)} for each update (maxUnits).`
  return problem('over-max-units', detail, { units, maxUnits: most })
}

function aboveOneUpdate({ known, early: { rules }, quote: { units } }: Priced): Problem | null {
  const { view, request } = known
  const strict = strictFor(view.definitions, rules, { name: request.caller, shown: askerIn(known) }, units)
  if (!strict) return null
  const { by, rule } = strict
  return problem(rule.slug, refusalOf(strict, units), { units, budget: by.name, ...rule.members(by) })
}

function whyFresh({ known, quote: { units, dates } }: Priced): Problem | null {
  const { view, request } = known
  const today = view.day.name.slice('day:'.length)
  if (request.force || !dates?.includes(today)) return null
  const detail = `${request.project} already has ${request.kind} data of today (${today}), so an update would spend ${inUnits(units)} on nothing new; ${whoForces(known)} if it is needed anyway.`
  return problem('already-fresh', detail, { units, date: today })
}

function whyShort(priced: Priced): Problem | null {
  const { known, quote } = priced
  const short = shortagesOf(priced)
  if (short.every(({ verdict }) => verdict !== 'refuses')) return null
  return overBudget(short, quote.units, zoneOf(known.view), (worst) => needsInWords(worst, known.request))
}

interface Short extends Need {
  readonly grant: Grant
  /** `passes`: an approval covers the missing units. `asks`: an approver may grant them. */
  readonly verdict: 'refuses' | 'asks' | 'passes'
  /** Why the approval does not cover them. */
  readonly why: string | null
}

/** Limits with too little left. */
export function shortagesOf({ known, early, quote: { units }, approval: { standing } }: Priced): readonly Short[] {
  const { view, request } = known
  const needs = enforced(view, countersOf(view, early.chain, request)).map((each) => neededOf(each, units, request))
  const short = needs.filter(({ figures, needed }) => figures.available < needed)
  return short.map((need): Short => {
    const { budget, window, available } = need.figures
    // An approval may use what the update must leave, so only its own units are granted.
    const grant = { budget, window, units: toUnits(Math.max(0, units - available)) }
    if (isNeverGranted(budget) || !mayBeGranted(request)) return { ...need, grant, verdict: 'refuses', why: null }
    if (!standing) return { ...need, grant, verdict: 'asks', why: null }
    const why = uncoveredReason(view, standing, need.figures, grant)
    return { ...need, grant, verdict: why === null ? 'passes' : 'asks', why }
  })
}

function decideLate(priced: Priced, options: GuardOptions): Decision {
  const { known, early, quote, approval } = priced
  for (const why of Object.values(lateChecks)) {
    const problem = why(priced, options)
    if (problem) return { kind: 'refuse', problem }
  }
  const { view, asked, request, waiting = [] } = known
  const { units } = quote
  const { chain, rules, runs } = early
  const { standing, lost, reason } = approval
  const counters = countersOf(view, chain, request)
  const short = shortagesOf(priced)
  if (reason === null && short.every(({ verdict }) => verdict === 'passes')) {
    const needs = (figures: Figures) => neededOf(figures, units, request)
    const wouldHaveRefused = lackedBy(observed(view, counters).map(needs))
    const grants = short.map(({ grant }) => grant)
    return { kind: 'hold', counters, owners: ownersBelow(rules, request.budget), runs, grants, wouldHaveRefused }
  }
  const lacking = lackingBehind(view, waiting, counters, { units, request })
  const shown = (by: string) => shownIn(view.definitions, asked.update ?? request, by)
  const reasons = [
    ...(lost === undefined ? [] : [`${shown(lost)} approved it, and may not approve it any more`]),
    ...(reason === null ? [] : [reason]),
    ...short.flatMap(({ why }) => (why !== null && standing ? [`${shown(standing.by)} approved it, and ${why}`] : [])),
    ...(mayBeGranted(request) ? shortfall(lacking, units, request) : []),
  ]
  const lacks = Math.max(0, ...short.map(({ needed, figures }) => needed - figures.available))
  return { kind: 'ask', reason: reasons.join('; '), short: mayBeGranted(request) ? shortBehind(lacking) : [], lacks }
}

/** An approval counts as long as its approver may approve for the project's present owner. */
function standingApproval({ definitions }: View, { update }: ViewResult): Update['approval'] {
  const { approval } = update ?? {}
  if (!update || !approval || !mayStillApprove(definitions, approval.by)) return undefined
  return whyNotAmongApprovers(definitions, update, { ...approval, caller: approval.by }, approval.grants) === null
    ? approval
    : undefined
}

/** Why an approval does not cover the units that a counter lacks, after the name of its approver. `null`: it covers them. */
function uncoveredReason(
  { definitions, month, day }: View,
  { by, person, covers, grants = [] }: NonNullable<Update['approval']>,
  { budget, window, limit, granted, once = 0 }: Figures,
  grant: Grant,
): string | null {
  if (!covers) {
    const most = grants.find((each) => each.budget === budget && each.window === window)?.units ?? 0
    return most >= grant.units ? null : `granted ${budget} ${inUnits(most)} ${thisWindow(window)}`
  }
  const approver = { caller: by, ...(person !== undefined && { person }) }
  if (notApproverReason(definitions, budget, approver) !== null) return `may not grant units of ${budget}`
  const seen = covers.limits.find((each) => each.budget === budget && each.window === window)
  if (!seen) return `${budget} had no limit for the ${window} then`
  const isSame = window === 'month' ? covers.month === month.name : covers.day === day.name
  // A new day or month has its own grants.
  const before = seen.limit + (isSame ? seen.granted : 0)
  const now = asNumber(limit) + (isSame ? granted - once : 0)
  return now >= before ? null : `${budget} had ${inUnits(before)} a ${window} then, and has ${count(now)} now`
}
