import { callerCounter, ownerOf, rulesOfCaller, unseenBudget } from '../../ledger/definitions/definitions.ts'
import type { Problem } from '../../ledger/updates/update.ts'
import { maxUnits, type Units } from '../../platform/words.ts'
import { daysOf, type GuardOptions } from '../options.ts'
import { mayBeGranted } from '../rules/approvals.ts'
import { countersOf } from '../rules/counters.ts'
import { passesEarlyRules } from '../rules/early.ts'
import {
  count,
  duration,
  type Figures,
  figuresOfChain,
  units as inUnits,
  left,
  list,
  refuses,
  shownCounter,
} from '../sentences.ts'
import { lateChecks, type Priced, passOf, pricedOf, shortagesOf } from './decide.ts'
import { allowedNow, askerIn, earlyChecks } from './early-checks.ts'
import { lackedBy, neededOf, needsInWords } from './over-budget.ts'
import type { DecisionInput, QuoteResult } from './quote.ts'

type CheckName = keyof typeof earlyChecks | 'estimate' | keyof typeof lateChecks | 'approval'

/** `would-refuse`: the limit is only observed. `unknown`: the estimate is missing. */
export const verdicts = ['passes', 'refuses', 'asks', 'would-refuse', 'unknown'] as const

/** The parts of a passing check's sentence. Budgets that the reader does not see are left out. */
interface Passing {
  /** Must tell nothing about any budget, because every reader sees it. */
  readonly note: string
  readonly budgets?: readonly { readonly budget: string; readonly units?: Units | undefined }[]
}

export interface Check extends Partial<Passing> {
  readonly check: CheckName
  readonly verdict: (typeof verdicts)[number]
  readonly problem?: Problem
  /** The reason for the approval. */
  readonly approval?: string
  /** The counter that is checked. */
  readonly figures?: Figures
  readonly needed?: number | null
  /** `this needs 40` */
  readonly needs?: string
  /** The missing units, if the counter has some left. */
  readonly lacks?: number
}

/**
 * Every check in the order of `decide`, also after the first that refuses.
 * @param isAssumed whether the caller's token is not known.
 * @throws if the budget does not exist
 */
export function explain(
  known: DecisionInput,
  quoted: QuoteResult,
  options: GuardOptions,
  isAssumed = false,
): readonly Check[] {
  const early = rowsOf(earlyChecks, (why) => why(known, options), passingEarly(known, options, isAssumed))
  if (quoted.kind === 'problem') {
    return [...early, { check: 'estimate', verdict: 'refuses', problem: quoted.problem }, ...counterRows(known, null)]
  }
  const priced = pricedOf(known, passOf(known), quoted)
  const estimate: Check = { check: 'estimate', verdict: 'passes', note: inUnits(quoted.units) }
  const { counter: _, ...others } = lateChecks
  const late = rowsOf(others, (why) => why(priced, options), passingLate(priced))
  if (quoted.units > maxUnits) return [...early, estimate, ...late, ...counterRows(known, null)]
  return [...early, estimate, ...late, ...counterRows(known, priced), approvalRow(priced)]
}

/** Checks that pass and have nothing to show have no row. */
const rowsOf = <Why>(
  checks: Readonly<Record<string, Why>>,
  ask: (why: Why) => Problem | null,
  passing: Partial<Record<string, Passing | null>>,
): Check[] =>
  Object.entries(checks).flatMap(([name, why]): Check[] => {
    const check = name as CheckName
    const problem = ask(why)
    if (problem) return [{ check, verdict: 'refuses', problem }]
    return passing[name] ? [{ check, verdict: 'passes', ...passing[name] }] : []
  })

function passingEarly(known: DecisionInput, { cooldown }: GuardOptions, isAssumed: boolean) {
  const { view, request } = known
  const [rest, owner, allowed] = [cooldown[request.kind], ownerOf(view.definitions, request.project), allowedNow(known)]
  const days = daysOf(rest)
  const time = days === null ? duration(Number(rest)) : `${days} days`
  const since = rest === 'day' ? 'today' : `within the cool-down of ${time}`
  const unknown = isAssumed ? '; its token is not known here, so only the list of callers counts' : ''
  const scope = allowed?.scopes.has('run') ? 'run' : 'propose'
  const granted = mayBeGranted(request) ? ', or an approver may grant it' : ''
  return {
    'same-work': { note: `no such update runs or is in doubt, and none ran ${since}` },
    caller: { note: `${askerIn(known)} is not disabled${unknown}` },
    name: { note: 'listed by', budgets: owner ? [{ budget: owner.name }] : [] },
    permission: allowed && { note: `the scope ${scope}, and a budget that the caller may charge` },
    payer: { note: 'paid by', budgets: [{ budget: request.budget }] },
    rules: {
      note: passesEarlyRules,
      budgets: passOf(known).rules.map(({ name }) => ({ budget: name })),
    },
    'used-up': { note: `every limit that can refuse it has something left${granted}` },
  }
}

function passingLate({ known: { view, request }, early: { rules }, quote: { dates } }: Priced) {
  const own = { name: callerCounter(request.caller), ...rulesOfCaller(view.definitions, request.caller) }
  const most = request.maxUnits
  const limits = [...rules, own].map(({ name, perUpdate }) => ({ budget: name, units: perUpdate }))
  return {
    'max-units': most === undefined ? null : { note: `the request allows at most ${count(most)} for each update` },
    'one-update': { note: 'limits', budgets: limits.filter(({ units }) => units !== undefined) },
    fresh: {
      note: dates ? `the service shows no ${request.kind} data of today` : 'the dates of its data are not known',
    },
  }
}

function approvalRow(priced: Priced): Check {
  const { reason } = priced.approval
  if (reason !== null) return { check: 'approval', verdict: 'asks', approval: reason }
  const limits = priced.early.rules.map(({ name, approvalAbove }) => ({ budget: name, units: approvalAbove }))
  const budgets = limits.filter(({ units }) => units !== undefined)
  return { check: 'approval', verdict: 'passes', note: 'needed above', budgets }
}

function counterRows(known: DecisionInput, priced: Priced | null): Check[] {
  const { view, request } = known
  const short = priced ? shortagesOf(priced) : []
  const all = figuresOfChain(view, countersOf(view, passOf(known).chain, request)).filter(isShown)
  return all.map((figures) => {
    const { budget, window, available, limit } = figures
    const need = priced && neededOf(figures, priced.quote.units, request)
    const needed = need?.needed ?? null
    const lack = short.find((each) => each.figures.budget === budget && each.figures.window === window)
    const isObserved = limit !== 'unlimited' && needed !== null && !refuses(figures)
    const wouldRefuse = isObserved && lackedBy([{ figures, needed }]).length > 0
    const otherwise = needed === null && limit !== 'unlimited' ? 'unknown' : wouldRefuse ? 'would-refuse' : 'passes'
    const lacks = lack && available > 0 ? { lacks: lack.needed - available } : {}
    const row = { check: 'counter', verdict: lack?.verdict ?? otherwise, figures, needed, ...lacks } as const
    return need ? { ...row, needs: needsInWords(need, request) } : row
  })
}

/** Whether a check or an estimate shows the counter. */
export const isShown = ({ window, limit }: Pick<Figures, 'window' | 'limit'>): boolean =>
  window === 'month' || limit !== 'unlimited'

/** A hidden budget has a row only if a refusal or an approval mentions it too. Equal rows are shown once. */
export function checksInWords(checks: readonly Check[]) {
  const rows = checks.flatMap((each) => {
    const { check, verdict, figures, needed = null } = each
    const figure = figureOf(each)
    if (figure === null) return []
    if (!figures) return [{ check, verdict, figure }]
    const { budget, window, limit, available } = figures
    return [
      { check, verdict, figure, budget, window, limit, available: limit === 'unlimited' ? null : available, needed },
    ]
  })
  return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()]
}

function figureOf({
  verdict,
  problem,
  approval,
  note,
  budgets,
  figures,
  needed = null,
  needs,
  lacks,
}: Check): string | null {
  if (figures) {
    return figures.limit === 'unlimited' || needed === null ? left(figures) : `${left(figures)}, ${needs}`
  }
  if (note !== undefined) {
    const named = budgets?.map(({ budget, units }) => [
      shownCounter({}, budget),
      ...(units === undefined ? [] : [count(units)]),
    ])
    return named ? `${note}: ${list(named.map((each) => each.join(' '))) || 'none'}` : note
  }
  if (problem) return problem.detail
  if (approval !== undefined) return approval
  if (verdict === 'asks') return `${unseenBudget} wants approval`
  if (verdict !== 'refuses') return null
  return lacks === undefined ? `${unseenBudget} has nothing left` : `${unseenBudget} is ${inUnits(lacks)} short`
}
