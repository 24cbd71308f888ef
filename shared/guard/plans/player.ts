import { pauseOf } from '../../ledger/book/definitions.ts'
import { isKnownToHaveRun } from '../../ledger/updates/update.ts'
import type { View, ViewResult } from '../../ledger/views/views.ts'
import type { PlannedParts } from '../options.ts'
import { attemptId } from './attempts.ts'
import { type KnownPrice, type PriceOf, priceKey } from './forecast.ts'
import type { Plan } from './plans-file.ts'
import { type Played, play } from './play.ts'
import { type Occurrence, occurrences, occurrencesOf } from './stored-occurrence.ts'
import type { Price } from './stored-price.ts'

export interface PlayerParts extends PlannedParts {
  readonly prices: () => Promise<readonly Price[]>
}

interface PlannedStatus {
  readonly plan: Plan
  readonly paused: boolean
  /** The time of the plan's last run. */
  readonly last: number | null
}

export interface PlayedPlans extends Played {
  readonly view: View
  readonly plans: readonly PlannedStatus[]
  readonly lasts: readonly (Occurrence | null)[]
  readonly priceOf: PriceOf
  /** The same, as if paused plans were resumed now. `null`: no plan is paused. */
  readonly resumed: Played | null
}

/** As many waiting updates are read as for a request. */
const maxWaiting = 200

/** Reads what the plans are played on, and plays them. */
export async function playPlans(parts: PlayerParts, given: View | Promise<View>): Promise<PlayedPlans> {
  const { ledger, plans, prices, options } = parts
  const works = worksOf(plans)
  const [view, known, lasts, seen, waiting] = await Promise.all([
    given,
    prices(),
    Promise.all(plans.map((plan) => lastOf(parts, plan))),
    works.length === 0 ? null : ledger.view([...works.map((work) => ({ work })), { nextMonth: true }]),
    works.length === 0 ? { rows: [] } : ledger.oldestOpen('awaiting-approval', maxWaiting),
  ])
  const priceOf = await pricesOf(parts, known, lasts)
  const results = new Map(works.map(({ kind, project }, at) => [priceKey(kind, project), seen?.results[at]]))
  const input = {
    seenOf: (kind: Plan['kind'], project: string) => results.get(priceKey(kind, project)) ?? unseen,
    waiting: waiting.rows.filter(({ state }) => state === 'awaiting-approval'),
    nextStored: seen?.nextStored ?? null,
    ...{ priceOf, options },
  }
  const statuses = plans.map((plan, at): PlannedStatus => {
    const paused = pauseOf(view.definitions, plan.name) !== undefined
    return { plan, paused, last: lasts[at]?.time ?? null }
  })
  const active = statuses.filter(({ paused }) => !paused)
  const isPaused = statuses.some(({ plan, paused }) => plan.enabled && paused)
  const { pausedPlans: _none, ...definitions } = view.definitions
  return {
    ...{ view, plans: statuses, lasts, priceOf },
    ...play({ ...input, view }, active),
    resumed: isPaused ? play({ ...input, view: { ...view, definitions } }, statuses) : null,
  }
}

const unseen: ViewResult = { update: null, works: [], records: new Map() }

function worksOf(plans: readonly Plan[]) {
  const works = plans.flatMap(({ enabled, kind, projects }) =>
    enabled ? projects.map((project) => ({ kind, project })) : [],
  )
  return [...new Map(works.map((work) => [priceKey(work.kind, work.project), work])).values()]
}

export const lastOf = async ({ ledger }: PlayerParts, plan: Plan): Promise<Occurrence | null> =>
  (await ledger.queue(occurrences).latest(occurrencesOf(plan.name), 1))[0] ?? null

/** Prices of each plan's last run serve projects without a read price. A refused update gives its estimate. */
async function pricesOf(
  { ledger, plans }: PlayerParts,
  known: readonly Price[],
  lasts: readonly (Occurrence | null)[],
): Promise<PriceOf> {
  const priced = new Map<string, KnownPrice>()
  for (const { kind, project, units, at } of known) priced.set(priceKey(kind, project), { units, at })
  const wanted = plans.flatMap(({ name, kind, projects }, index) => {
    const last = lasts[index]
    return projects.flatMap((project) => {
      const key = priceKey(kind, project)
      return last && !priced.has(key) ? [{ key, id: attemptId(name, last.time, project, 0) }] : []
    })
  })
  const found = wanted.length === 0 ? [] : await ledger.updatesNamed(wanted.map(({ id }) => id))
  for (const [index, { key }] of wanted.entries()) {
    const update = found[index]
    const units = update && (isKnownToHaveRun(update) ? update.charged : update.estimated)
    if (update && units != null) priced.set(key, { units, at: update.hold?.at ?? update.createdAt })
  }
  return (kind, project) => priced.get(priceKey(kind, project)) ?? null
}
