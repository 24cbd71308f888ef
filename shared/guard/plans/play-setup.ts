import type { View, ViewResult } from '../../ledger/book/view.ts'
import { type Budget, budgetNamed, rootBudget } from '../../ledger/definitions/definitions.ts'
import { leftOf } from '../../ledger/updates/leave.ts'
import type { Problem, Update } from '../../ledger/updates/update.ts'
import { workKeysOf } from '../../ledger/updates/work.ts'
import { toUnits } from '../../platform/words.ts'
import type { Kind } from '../../tracking/kinds.ts'
import type { GuardOptions } from '../options.ts'
import type { Plan } from '../plans-file.ts'
import { approvalReason, mayBeGranted } from '../rules/approvals.ts'
import { countersOf } from '../rules/counters.ts'
import { ruledOutBy } from '../rules/early.ts'
import { strictFor } from '../rules/late.ts'
import { shownCaller } from '../sentences.ts'
import { lateChecks, passOf, pricedOf } from '../update/decide.ts'
import { blocksOf, lostUntil } from '../update/duplicate-work.ts'
import { earlyChecks } from '../update/early-checks.ts'
import type { DecisionInput } from '../update/quote.ts'
import { plannedRequest } from './attempts.ts'
import type { PlayedCounter, PlayedCounters, PlayedRefusal } from './played-counters.ts'
import type { PriceOf } from './stored-price.ts'

export interface PlayInput {
  readonly view: View
  /** What the ledger knows of the work. */
  readonly seenOf: (kind: Kind, project: string) => ViewResult
  /** Updates that await approval. */
  readonly waiting: readonly Update[]
  readonly priceOf: PriceOf
  readonly options: GuardOptions
}

/** A work, as runs of the played plans leave it. Instants in ms. */
export interface PlayedWork {
  readonly isRunning: boolean
  readonly inDoubtUntil: number
  restsUntil: number
  lostUntil: number
  /** The price of its latest run. */
  lastUnits: number | undefined
  /** Who waits for an approval to run it. */
  waiting: readonly { readonly payer: string; readonly plan: string | undefined }[]
}

/** The budgets whose rules hold, and the day for which they were asked. */
export interface PlayedRules {
  readonly budgets: readonly Budget[]
  readonly kind: Kind
  day: string
  whyNot: PlayedRefusal | null
}

/** A project of a plan, with all that stays the same at each of the plan's times. */
export interface PlayedProject {
  readonly plan: Plan
  readonly isPaused: boolean
  readonly project: string
  /** The project in this plan. */
  readonly key: string
  readonly payer: string
  readonly work: PlayedWork
  /** What refuses it at each time, before its price is asked. */
  readonly early: PlayedRefusal | null
  readonly rules: PlayedRules
  readonly counters: readonly PlayedCounter[]
  /** The units that it must leave of each counter. */
  readonly leaves: readonly number[]
  readonly mayAsk: boolean
  /** `null`: no price is known. */
  readonly price: number | null
  readonly pricedAt: number | null
  /** What refuses it at its price. */
  readonly late: PlayedRefusal | null
  /** Why its price needs an approval. @param before the price of the work's latest run. */
  readonly asks: (before: number | undefined) => string | null
}

export function setUp(
  input: PlayInput,
  { counters }: PlayedCounters,
  plans: readonly { readonly plan: Plan; readonly paused: boolean }[],
) {
  const workOf = createWorks(input)
  const rules = new Map<string, PlayedRules>()
  return plans.map(({ plan, paused: isPaused }) =>
    plan.projects.map((project): PlayedProject => {
      const work = workOf(plan.kind, project)
      const known = knownOf(input, plan, project)
      const { budget } = known.request
      const early = earlyWhy(known, input.options)
      const common = {
        plan,
        isPaused,
        project,
        key: `${plan.name} ${project}`,
        payer: budget,
        work,
        early,
        mayAsk: mayBeGranted(known.request),
      }
      if (!budgetNamed(input.view.definitions, budget)) {
        return { ...common, rules: noRules(plan.kind), counters: [], leaves: [], ...unpriced }
      }
      const pass = passOf(known)
      const owners = countersOf(input.view, pass.chain, known.request)
      const key = `${plan.kind} ${pass.rules[0]?.name}`
      const shared = rules.get(key) ?? { ...noRules(plan.kind), budgets: pass.rules }
      rules.set(key, shared)
      return {
        ...common,
        rules: shared,
        counters: owners.flatMap(({ name }) => counters.get(name) ?? []),
        leaves: owners.map((owner) => leftOf(known.request, owner)),
        ...pricedAs(known, pass, input),
      }
    }),
  )
}

const noRules = (kind: Kind): PlayedRules => ({ budgets: [], kind, day: '', whyNot: null })

const unpriced = { price: null, pricedAt: null, late: null, asks: () => null }

function createWorks({ view, seenOf, waiting, options }: PlayInput) {
  const works = new Map<string, PlayedWork>()
  const waits = waiting.map(({ kind, project, budget: payer, plan }) => {
    return { keys: workKeysOf(view.definitions, kind, project), wait: { payer, plan } }
  })
  return (kind: Kind, project: string): PlayedWork => {
    const seen = seenOf(kind, project)
    const keys = seen.works.map(({ key }) => key)
    const known = keys.map((key) => works.get(key)).find((work) => work !== undefined)
    if (known) return known
    const { ran, running, doubts, restsUntil } = blocksOf(view, seen, kind, options)
    const work: PlayedWork = {
      isRunning: running !== undefined,
      inDoubtUntil: Math.max(0, ...doubts.map(({ until }) => until)),
      restsUntil,
      lostUntil: lostUntil(view, seen, kind, options),
      lastUnits: ran?.units,
      waiting: waits.filter((each) => each.keys.some((key) => keys.includes(key))).map((each) => each.wait),
    }
    for (const key of keys) works.set(key, work)
    return work
  }
}

function knownOf({ view, seenOf }: PlayInput, plan: Plan, project: string): DecisionInput {
  const { definitions, now } = view
  return {
    view,
    asked: { ...seenOf(plan.kind, project), update: null },
    request: { ...plannedRequest(definitions, plan, { time: now, project, now }), ...unsent },
    plan,
  }
}

/** No check reads them. */
const unsent = { id: '', content: { digest: '', count: 1 } }

/** The checks that say the same at each time. The player makes the others. */
const { 'same-work': _same, restored: _restored, rules: _rules, 'used-up': _usedUp, ...steadyChecks } = earlyChecks
const steady = Object.entries(steadyChecks)

function earlyWhy(known: DecisionInput, options: GuardOptions): PlayedRefusal | null {
  for (const [name, why] of steady) {
    const found = why(known, options)
    if (found) return playedRefusal(found, briefs[name]?.(known))
  }
  return null
}

const briefs: Readonly<Record<string, (known: DecisionInput) => string | undefined>> = {
  caller: ({ view, request }) => `${shownCaller(view.definitions, request.caller)} is disabled`,
  name: ({ view: { definitions }, request: { budget } }) =>
    budgetNamed(definitions, budget) ? undefined : `there is no budget ${budget}`,
  unowned: () => `${rootBudget} refuses projects that no budget lists`,
}

function playedRefusal({ slug, members, detail }: Problem, brief = detail): PlayedRefusal {
  return { slug, by: typeof members.budget === 'string' ? members.budget : null, brief }
}

export function ruledOut(rules: PlayedRules, day: string): PlayedRefusal | null {
  if (rules.day === day) return rules.whyNot
  const { kind } = rules
  const found = ruledOutBy(rules.budgets, { kind, day })
  rules.day = day
  rules.whyNot = found && {
    slug: found.rule.slug,
    by: found.budget.name,
    brief: `${found.budget.name} ${found.rule.brief({ kind, day })}`,
  }
  return rules.whyNot
}

function pricedAs(known: DecisionInput, pass: ReturnType<typeof passOf>, { view, priceOf, options }: PlayInput) {
  const { request } = known
  const { definitions } = view
  const price = priceOf(request.kind, request.project)
  if (!price) return unpriced
  const units = toUnits(price.units)
  const asked = { definitions, request, rules: pass.rules, units, mayRun: true }
  return {
    price: units,
    pricedAt: price.at,
    late: lateWhy(known, pass, units, options),
    asks: kept((before) => approvalReason({ ...asked, before })),
  }
}

/** Keeps the reason for the price of the latest run, which seldom changes. */
function kept(reasonFor: (before: number | undefined) => string | null): PlayedProject['asks'] {
  let known: { before: number | undefined; reason: string | null } | null = null
  return (before) => {
    if (known?.before !== before || !known) known = { before, reason: reasonFor(before) }
    return known.reason
  }
}

/** The checks of the price that say the same at each time. */
const { counter: _counter, ...steadyLateChecks } = lateChecks
const steadyLate = Object.entries(steadyLateChecks)

function lateWhy(
  known: DecisionInput,
  pass: ReturnType<typeof passOf>,
  units: ReturnType<typeof toUnits>,
  options: GuardOptions,
): PlayedRefusal | null {
  const priced = pricedOf(known, pass, { units, dates: null })
  const caller = { name: known.request.caller, shown: shownCaller(known.view.definitions, known.request.caller) }
  for (const [name, why] of steadyLate) {
    const found = why(priced, options)
    const strict = name === 'one-update' && strictFor(known.view.definitions, pass.rules, caller, units)
    if (found) return playedRefusal(found, strict ? `${strict.by.shown} ${strict.rule.brief(strict.by)}` : undefined)
  }
  return null
}
