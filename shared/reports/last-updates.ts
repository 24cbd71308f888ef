import { ruleOf, ruleSlugs } from '../guard/rules/recorded.ts'
import { count, shownCaller } from '../guard/sentences.ts'
import {
  budgetNamed,
  callerCounter,
  callerNamed,
  callerOfCounter,
  chainOf,
  type Definitions,
  unseenBudget,
} from '../ledger/definitions/definitions.ts'
import type { Value } from '../ledger/store/store.ts'
import { isKnownToHaveRun, isTerminal, type Update } from '../ledger/updates/update.ts'
import { maxUnits } from '../platform/words.ts'
import { happenedAt } from './figures.ts'
import type { LastRefusal, LastRun, Summary } from './stored-summary.ts'

/** The last run and refusal of each budget that paid, and of the counter of each listed caller. */
export type Lasts = Pick<Summary, 'lastRuns' | 'lastRefused'>

const ofPolicy: readonly string[] = ['over-budget', ...ruleSlugs]

/** Adds these updates to the known last runs and refusals. */
export function lastsOf(definitions: Definitions, updates: readonly Update[], seen?: Lasts): Lasts {
  const { lastRuns = {}, lastRefused = {} } = seen ?? {}
  const runs: [string, LastRun][] = Object.entries(lastRuns)
  const refusals: [string, LastRefusal][] = Object.entries(lastRefused)
  for (const update of updates) {
    const { budget, caller, state, charged: units = 0 } = update
    const hasRun = isTerminal(state) && isKnownToHaveRun(update)
    const run = hasRun ? ({ at: happenedAt(update), units, onePrice: true } as const) : null
    const refusal = refusalOf(update)
    for (const party of [budget, ...(callerNamed(definitions, caller) ? [callerCounter(caller)] : [])]) {
      if (run) runs.push([party, run])
      if (refusal) refusals.push([party, refusal])
    }
  }
  return { lastRuns: Object.fromEntries(latestRuns(runs)), lastRefused: Object.fromEntries(latest(refusals)) }
}

/** The latest run and refusal of each budget, including the budgets below it, and of each caller's counter. */
export function latestOf(definitions: Definitions, all: readonly Lasts[]) {
  const above = (party: string) =>
    budgetNamed(definitions, party) ? chainOf(definitions, party).map(({ name }) => name) : [party]
  const upward = <Of extends Dated>(own: readonly Readonly<Record<string, Of>>[]) =>
    own
      .flatMap((each) => Object.entries(each))
      .flatMap(([party, found]) => above(party).map((name) => [name, found] as const))
  return {
    runs: latestRuns(upward(all.map(({ lastRuns }) => lastRuns))),
    refusals: latest(upward(all.map(({ lastRefused }) => lastRefused))),
  }
}

type Dated = Readonly<{ at: number; project?: string; units?: number }>

function latest<Of extends Dated>(found: readonly (readonly [party: string, Of])[]): Map<string, Of> {
  const latest = new Map<string, Of>()
  for (const [party, each] of found) {
    const known = latest.get(party)
    if (!known || each.at > known.at || (each.at === known.at && tieOf(each) > tieOf(known))) latest.set(party, each)
  }
  return latest
}

/** With `onePrice` if all of a party's runs had the same price. */
function latestRuns(found: readonly (readonly [party: string, LastRun])[]): Map<string, LastRun> {
  const runs = latest(found)
  for (const [party, { units, onePrice }] of found) {
    const run = runs.get(party)
    if (run?.onePrice && !(onePrice && units === run.units)) runs.set(party, { at: run.at, units: run.units })
  }
  return runs
}

/** Orders records of the same instant. Otherwise the order of reading would decide which one is the latest. */
const tieOf = ({ project, units = 0 }: Dated): string | number => project ?? units

function refusalOf(update: Update): LastRefusal | null {
  const { state, problem, project } = update
  if (state !== 'refused' || !problem || !ofPolicy.includes(problem.slug)) return null
  const { units, budget, perUpdate, budgets } = problem.members
  const rows = (Array.isArray(budgets) ? budgets : []) as readonly Readonly<Record<string, Value>>[]
  const [worst] = rows.toSorted((a, b) => Number(b.short) - Number(a.short))
  const by = worst ? worst.budget : budget
  // Units that a plan leaves to others are not available to this update.
  const left = typeof units === 'number' ? Math.max(0, units - Number(worst?.short)) : 0
  const had = worst ? { window: String(worst.window), had: left } : typeof perUpdate === 'number' && { had: perUpdate }
  return {
    at: happenedAt(update),
    project,
    slug: problem.slug,
    ...(typeof units === 'number' && { units }),
    ...(typeof by === 'string' && { decidedBy: { budget: by, ...had } }),
  }
}

/** `initech needed 640, globex's day had 200`; without a price `initech, since globex was frozen` */
export function refusalReason(definitions: Definitions, { project, slug, units, decidedBy }: LastRefusal): string {
  const { budget = unseenBudget, window, had } = decidedBy ?? {}
  const caller = callerOfCounter(budget) ?? budget
  const name = budgetNamed(definitions, budget) ? budget : shownCaller(definitions, caller)
  const needed = units === undefined ? `${project}, since` : `${project} needed ${count(units)},`
  if (units !== undefined && units > maxUnits) return `${needed} more than any account has`
  const rule = ruleOf(slug)
  if (rule) return `${needed} ${name} ${rule.past(had)}`
  if (had === undefined) return `${needed} ${name} had too little`
  return `${needed} ${possessive(name)} ${window} had ${had === 0 ? 'nothing left' : count(had)}`
}

/** `clients' month` */
export const possessive = (name: string): string => (name.endsWith('s') ? `${name}'` : `${name}'s`)
