import { budgetNamed, chainOf, type Definitions, pauseOf, type Stop } from '../ledger/definitions.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { type Occurrence, occurrencesOf } from '../ledger/occurrence.ts'
import type { Price } from '../ledger/price.ts'
import { budgetFor } from './charging.ts'
import { zoneOf } from './decide.ts'
import { figuresOfChain } from './figures.ts'
import { type Forecast, forecast } from './forecast.ts'
import type { Plan } from './plan.ts'
import { priceKey } from './pricing.ts'
import { timesOf } from './schedule.ts'

/** A plan as it stands: what the file says, and what has become of it. */
export interface Planned {
  readonly plan: Plan
  readonly paused: Stop | null
  /** When it is due next; `null`: never, or nobody here knows (a rate counts from when AWS made the rule). */
  readonly next: number | null
  readonly last: Occurrence | null
}

/** Somebody looks ahead: a leap day may be years away. */
const lookedAheadMs = 9 * 366 * 24 * 3600_000

export function createPlanning(parts: {
  ledger: Ledger
  plans: readonly Plan[]
  prices: () => Promise<readonly Price[]>
}) {
  const { ledger, plans, prices } = parts

  async function planned(): Promise<{ readonly plans: readonly Planned[]; readonly zone: string }> {
    const view = await ledger.view()
    const rows = plans.map(async (plan): Promise<Planned> => {
      const last = await lastOf(plan)
      const paused = pauseOf(view.definitions, plan.name) ?? null
      return { plan, paused, last, next: plan.enabled ? nextOf(plan, last, view.now) : null }
    })
    return { plans: await Promise.all(rows), zone: zoneOf(view) }
  }

  const lastOf = async (plan: Plan): Promise<Occurrence | null> =>
    (await ledger.occurrences.latest(occurrencesOf(plan.name), 1))[0] ?? null

  /** What plans will still take from every counter before it is counted anew. */
  async function foresee(): Promise<readonly Forecast[]> {
    const [view, known] = await Promise.all([ledger.view(), prices()])
    const { definitions } = view
    const priced = new Map(known.map((price) => [priceKey(price.kind, price.project), price]))
    const due = plans.map(async (plan) => ({
      plan,
      paused: pauseOf(definitions, plan.name) !== undefined,
      chainOf: (project: string) => chargedBy(definitions, plan, project),
      last: (await lastOf(plan))?.time ?? null,
    }))
    const counters = figuresOfChain(view, Object.values(definitions.budgets)).map((figures) => ({
      ...figures,
      available: figures.limit === 'unlimited' ? null : figures.available,
    }))
    const priceOf = (kind: Plan['kind'], project: string) => priced.get(priceKey(kind, project)) ?? null
    return forecast({ now: view.now, counters, plans: await Promise.all(due), priceOf })
  }

  /** Every budget that an occurrence of this plan charges. */
  async function budgetsOf(name: string): Promise<readonly string[]> {
    const { definitions } = await ledger.view()
    const plan = plans.find((each) => each.name === name)
    return [...new Set(plan?.projects.flatMap((project) => chargedBy(definitions, plan, project).slice(0, 1)))]
  }

  return { planned, foresee, budgetsOf }
}

/** The budget and all above it; none where a plan names a budget that there is not: its updates are refused. */
function chargedBy(definitions: Definitions, plan: Plan, project: string): readonly string[] {
  const budget = budgetFor(definitions, plan, project)
  return budgetNamed(definitions, budget) ? chainOf(definitions, budget).map(({ name }) => name) : []
}

function nextOf({ schedule }: Plan, last: Occurrence | null, now: number): number | null {
  if (schedule.kind === 'rate' && !last) return null
  const anchor = last ? { anchor: last.time } : {}
  return timesOf(schedule, { from: now, until: now + lookedAheadMs, most: 1, ...anchor })[0] ?? null
}
