import { permissionsAtMost, whyNotSubmit } from '../guard/people/permissions.ts'
import { enforced } from '../guard/rules/counters.ts'
import { allRuledOut } from '../guard/rules/early.ts'
import {
  count,
  type Figures,
  units as inUnits,
  keptIn,
  left,
  list,
  refuses,
  shownCaller,
  tightest,
  when,
  zoneOf,
} from '../guard/sentences.ts'
import type { NextStop } from '../guard/shown-budget.ts'
import type { View } from '../ledger/book/view.ts'
import {
  type Budget,
  type CallerDefaults,
  callerCounter,
  chainOf,
  limitsOfCaller,
  rootBudget,
  unlistedCallers,
} from '../ledger/definitions/definitions.ts'
import { namesOf, productKinds } from '../tracking/kinds.ts'
import { possessive, refusalReason } from './last-updates.ts'
import type { LastRefusal, LastRun } from './stored-summary.ts'

type Stop = Omit<NextStop, 'price' | 'lastRefused'>

/** `onePrice`: all runs of the last 30 days had this price. */
type LastPrice = Pick<LastRun, 'units' | 'onePrice'> | undefined

interface Lately {
  readonly last: LastPrice
  readonly lastRefused: LastRefusal | null
}

/** Looks at an update that the budget pays for a project of its own. */
export function nextStopOf(view: View, budget: Budget, past: Lately): NextStop {
  const chain = chainOf(view.definitions, budget.name)
  const rules = chain.map(({ name, perUpdate }) => ({ name, shown: name, perUpdate }))
  const stop = ruledOut(view, chain) ?? firstOf(view, { rules, figures: enforced(view, chain) }, past)
  const above = chain.at(-1)?.name === rootBudget ? '' : ' Budgets above may stop it earlier.'
  return withPast(view, stop ?? nothing(unlimited(chain)), past, above)
}

/** Looks at the caller's entry alone. The charged budgets may stop an update earlier. */
export function nextStopOfCaller(view: View, sub: string, { perUpdate }: CallerDefaults, past: Lately): NextStop {
  const { definitions } = view
  const isListed = sub !== unlistedCallers
  const shown = isListed ? shownCaller(definitions, sub) : 'the entry *'
  const rules = [{ name: isListed ? callerCounter(sub) : sub, shown, perUpdate }]
  const figures = enforced(view, limitsOfCaller(definitions, sub))
  const stop = (isListed ? withoutRights(view, sub, shown) : null) ?? firstOf(view, { rules, figures }, past)
  const entry = isListed ? `${possessive(shown)} own entry` : shown
  return withPast(view, stop ?? nothing(`Nothing in ${entry} stops them, but the budgets that they charge may.`), past)
}

function withPast(view: View, stop: Stop, { last, lastRefused }: Lately, above = ''): NextStop {
  const refused = lastRefused
    ? ` Last refused on ${when(lastRefused.at, zoneOf(view))}: ${refusalReason(view.definitions, lastRefused)}.`
    : ''
  return { ...stop, price: last?.units ?? null, lastRefused, sentence: `${stop.sentence}${above}${refused}` }
}

const stopped = (kind: Stop['kind'], budget: string | null, why: string): Stop => ({
  kind,
  budget,
  window: null,
  units: 0,
  updates: 0,
  sentence: `Stopped now: ${why.replace(/\.$/, '')}.`,
})

const nothing = (sentence: string): Stop => ({
  kind: 'nothing',
  budget: null,
  window: null,
  units: null,
  updates: null,
  sentence,
})

/** Stops if the rules of the chain leave no kind of update. */
function ruledOut(view: View, chain: readonly Budget[]): Stop | null {
  // A deployment may have further kinds, which its budgets name.
  const kinds = new Set([...namesOf(productKinds), ...chain.flatMap(({ kinds = [] }) => kinds)])
  const found = allRuledOut(view, chain, [...kinds])
  return found && stopped(found.name, found.budget.name, `${found.budget.name} ${found.says}`)
}

function withoutRights({ definitions }: View, sub: string, shown: string): Stop | null {
  const allowed = permissionsAtMost(definitions, sub)
  const why = whyNotSubmit(shown, allowed)
  if (why) return stopped(allowed.isDisabled ? 'disabled' : 'scopes', null, why.detail)
  if (Object.keys(definitions.budgets).some(allowed.mayCharge)) return null
  return stopped('budgets', null, `${shown} may charge no budget; list one for them`)
}

interface Rule {
  readonly name: string
  readonly shown: string
  readonly perUpdate?: number | undefined
}

interface Limits {
  readonly rules: readonly Rule[]
  readonly figures: readonly Figures[]
}

/** Checks in the order of `decide`: an empty counter, the most for one update, then the units left in the counters. */
function firstOf(view: View, { rules, figures }: Limits, { last }: Lately): Stop | null {
  const empty = tightest(figures)
  const least = figures.filter(refuses).toSorted((a, b) => roomIn(a) - roomIn(b))[0]
  const most = Math.min(...rules.map(({ perUpdate = Number.POSITIVE_INFINITY }) => perUpdate))
  const strict = rules.find(({ perUpdate }) => perUpdate === most)
  if (empty && empty.available <= 0) return ofCounter(view, empty, 'Stopped now')
  const cost = last?.units ?? 0
  const atPrice = `Stopped at the last price of ${count(cost)}`
  if (strict && most === 0) return ofRule(strict, 0, 'Stopped now: ')
  const named = rules.find(({ perUpdate = cost }) => perUpdate < cost)
  if (strict && named) {
    const tighter = [
      ...(named === strict ? [] : [`${strict.shown} at most ${count(most)}`]),
      ...(least && roomIn(least) < most ? [left(least)] : []),
    ]
    return ofRule(named, Math.min(most, least ? Math.max(0, roomIn(least)) : most), `${atPrice}: `, tighter)
  }
  if (strict && !least) return { ...ofRule(strict, most, 'No limit stops this; '), updates: null }
  if (!least) return null
  const { budget, window } = least
  const room = roomIn(least)
  if (room <= 0) return ofCounter(view, least, 'Stopped now')
  if (room < cost) return ofCounter(view, least, atPrice)
  const updates = last?.onePrice && cost > 0 ? Math.floor(room / cost) : null
  const passing =
    updates === null ? '' : ` (${updates === 1 ? '1 update' : `${count(updates)} updates`} at the last price)`
  const where = `${possessive(least.shownAs ?? budget)} ${window}`
  const also = strict && most <= room ? ` One update may need at most ${inUnits(most)} (${strict.shown}).` : ''
  const keep = keptIn(least)
  const kept = keep > 0 ? `; ${budget} keeps ${count(keep)} for plans` : ''
  const sentence = `Next stop: ${where}, ${inUnits(room)} away${passing}${kept}.${also}`
  return { kind: 'limit', budget, window, units: room, updates, sentence }
}

/** The units that an update may take if it is not a plan's. */
const roomIn = (figures: Figures): number => figures.available - keptIn(figures)

function ofRule({ name, shown, perUpdate = 0 }: Rule, units: number, before: string, tighter: string[] = []): Stop {
  const all = [`${shown} allows at most ${inUnits(perUpdate)} for one update`, ...tighter]
  return {
    kind: 'per-update',
    budget: name,
    window: null,
    units,
    updates: 0,
    sentence: `${before}${all.join(', and ')}.`,
  }
}

function ofCounter(view: View, figures: Figures, stopped: string): Stop {
  const { budget, window, end } = figures
  const sentence = `${stopped}: ${left(figures)}; resets ${when(end, zoneOf(view))}.`
  return { kind: 'limit', budget, window, units: Math.max(0, roomIn(figures)), updates: 0, sentence }
}

function unlimited(chain: readonly Budget[]): string {
  const names = list(chain.map(({ name }) => name))
  return chain.every(({ limits }) => limits.every(({ units }) => units === 'unlimited'))
    ? `Nothing stops this: ${names} ${chain.length === 1 ? 'is' : 'are'} unlimited and unfrozen.`
    : `Nothing stops this: no limit of ${names} is enforced, and nothing is frozen.`
}
