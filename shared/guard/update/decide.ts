import { type Budget, type CounterOwner, chainOf } from '../../ledger/book/definitions.ts'
import type { Grant, Problem, Run, Update } from '../../ledger/updates/update.ts'
import type { View, ViewResult } from '../../ledger/views/views.ts'
import { maxUnits, toUnits, type Units } from '../../platform/words.ts'
import type { GuardOptions } from '../options.ts'
import { whyNotAmongApprovers } from '../people/decisions.ts'
import { mayStillApprove } from '../people/permissions.ts'
import { problem } from '../problems.ts'
import { approvalReason } from '../rules/approvals.ts'
import { refusalOf } from '../rules/late.ts'
import { count, type Figures, units as inUnits, shownIn, zoneOf } from '../sentences.ts'
import { runsOf } from './duplicate-work.ts'
import { allowedNow, askerIn, earlyChecks, isNeverGranted } from './early-checks.ts'
import {
  countersOf,
  enforced,
  lackedBy,
  mayBeGranted,
  moreThanAnyHas,
  neededOf,
  needsInWords,
  observed,
  overBudget,
  shortBehind,
  shortfall,
  strictFor,
} from './limits.ts'
import { ownersBelow, ruledBy } from './projects.ts'
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
  | { readonly kind: 'ask'; readonly reason: string; readonly short: readonly Grant[] }
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
  ...{ known, early, quote },
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
  return { standing, lost: given?.by, reason: whyApprove(known, early, units) }
}

function whyApprove(known: DecisionInput, { rules, runs: [ran] }: EarlyPass, units: Units): string | null {
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

function whyFresh({ known: { view, request }, quote: { units, dates } }: Priced): Problem | null {
  const today = view.day.name.slice('day:'.length)
  if (request.force || !dates?.includes(today)) return null
  const detail = `${request.project} already has ${request.kind} data of today (${today}), so an update would spend ${inUnits(units)} on nothing new; force it with a reason if you need it anyway.`
  return problem('already-fresh', detail, { units, date: today })
}

function whyShort(priced: Priced): Problem | null {
  const { known, quote } = priced
  const short = shortagesOf(priced)
  if (short.every(({ verdict }) => verdict !== 'refuses')) return null
  return overBudget(short, quote.units, zoneOf(known.view), (worst) => needsInWords(worst, known.request))
}

/** Limits with too little left. `passes`: an approval granted the missing units. `asks`: an approver may grant them. */
export function shortagesOf({ known, early, quote: { units }, approval: { standing } }: Priced) {
  const { view, request } = known
  const needs = enforced(view, countersOf(view, early.chain, request)).map((each) => neededOf(each, units, request))
  return needs.flatMap((need) => {
    const { budget, window, available } = need.figures
    if (available >= need.needed) return []
    const grant = { budget, window, units: toUnits(need.needed - available) }
    const verdict = !isGrantable(grant, known, standing) ? 'refuses' : standing ? 'passes' : 'asks'
    return [{ ...need, grant, verdict } as const]
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
  const grants = shortagesOf(priced).map(({ grant }) => grant)
  if (reason === null && (grants.length === 0 || standing)) {
    const needs = (figures: Figures) => neededOf(figures, units, request)
    const wouldHaveRefused = lackedBy(observed(view, counters).map(needs))
    return { kind: 'hold', counters, owners: ownersBelow(rules, request.budget), runs, grants, wouldHaveRefused }
  }
  // Waiting updates may be approved first and take from the same counters.
  const behind = mayBeGranted(request) ? shortBehind(view, waiting, counters, { units, request }) : []
  const reasons = [
    ...(lost === undefined
      ? []
      : [`${shownIn(view.definitions, asked.update ?? request, lost)} approved it, and may not approve it any more`]),
    ...(reason === null ? [] : [reason]),
    ...(behind.length > 0 ? [shortfall(behind, units, request)] : []),
  ]
  return { kind: 'ask', reason: reasons.join('; '), short: behind.map(({ grant }) => grant) }
}

/** An approval counts as long as its approver may approve for the project's present owner. */
function standingApproval({ definitions }: View, { update }: ViewResult): Update['approval'] {
  const { approval } = update ?? {}
  if (!update || !approval || !mayStillApprove(definitions, approval.by)) return undefined
  return whyNotAmongApprovers(definitions, update, { ...approval, caller: approval.by }, approval.grants) === null
    ? approval
    : undefined
}

/** An approval covers a shortage up to the units in its `grants`, but never a shortage of the root or of a caller. */
function isGrantable(
  { budget, window, units }: Grant,
  { request }: DecisionInput,
  approval: Update['approval'],
): boolean {
  if (isNeverGranted(budget)) return false
  if (!approval) return mayBeGranted(request)
  return (
    approval.grants?.some((grant) => grant.budget === budget && grant.window === window && grant.units >= units) ===
    true
  )
}
