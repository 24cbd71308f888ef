import type { View, ViewResult } from '../../ledger/book/view.ts'
import { pauseOf } from '../../ledger/definitions/definitions.ts'
import { isKnownToHaveRun } from '../../ledger/updates/update.ts'
import { minuteMs } from '../../platform/clock.ts'
import type { PlannedParts } from '../options.ts'
import type { Plan } from '../plans-file.ts'
import { attemptId } from './attempts.ts'
import { notReachedBy } from './order.ts'
import { type PlannedTimes, type Played, play } from './play.ts'
import { type Occurrence, occurrences, occurrencesOf } from './stored-occurrence.ts'
import { type KnownPrice, type Price, type PriceOf, priceKey } from './stored-price.ts'

export interface PlayerParts extends PlannedParts {
  readonly prices: () => Promise<readonly Price[]>
}

export interface PlayedPlans {
  readonly view: View
  readonly plans: readonly PlannedTimes[]
  readonly played: Played
  readonly lasts: readonly (Occurrence | null)[]
  readonly priceOf: PriceOf
  /** The same, as if paused plans were resumed now. `null`: no plan is paused. */
  readonly resumed: Played | null
}

/** As many waiting updates are read as for a request. */
const maxWaiting = 200
const keptForMs = minuteMs
/** A page that changes a budget asks for the forecast before and after. */
const maxKept = 4

interface Kept {
  readonly until: number
  readonly reading: Promise<Reading>
}

type Reading = Omit<PlayedPlans, 'view'>

/**
 * Reads what the plans are played on, and plays them. Both are kept for a minute, as long as definitions, book and last
 * runs stay the same. So another process's new price or waiting update may be missed for a minute.
 */
export function createPlayer(parts: PlayerParts) {
  let kept = new Map<string, Kept>()

  async function playPlans(given: View | Promise<View>): Promise<PlayedPlans> {
    const [view, lasts] = await Promise.all([given, Promise.all(parts.plans.map((plan) => lastOf(parts, plan)))])
    const { now, definitions, stored, day } = view
    const key = JSON.stringify([definitions, stored, day.name, lasts])
    const known = kept.get(key)
    if (known && now < known.until && known.until - now <= keptForMs) return { ...(await known.reading), view }
    const reading = readAndPlay(parts, view, lasts)
    kept = new Map([...kept, [key, { until: now + keptForMs, reading }] as const].slice(-maxKept))
    try {
      const made = await reading
      const { time = now + keptForMs } = made.played.runs[0] ?? {}
      kept.set(key, { until: Math.min(time, now + keptForMs), reading })
      return { ...made, view }
    } catch (error) {
      kept.delete(key)
      throw error
    }
  }

  return { playPlans, forget: () => kept.clear() }
}

async function readAndPlay(parts: PlayerParts, view: View, lasts: readonly (Occurrence | null)[]): Promise<Reading> {
  const { ledger, plans, prices, options } = parts
  const works = worksOf(plans)
  const [known, seen, waiting] = await Promise.all([
    prices(),
    works.length === 0 ? null : ledger.view([...works.map((work) => ({ work })), { nextMonth: true }]),
    works.length === 0 ? { rows: [] } : ledger.oldestOpen('awaiting-approval', maxWaiting),
  ])
  const [priceOf, firsts] = await Promise.all([
    pricesOf(parts, known, lasts),
    Promise.all(plans.map((plan, at) => notReachedBy(ledger, plan, lasts[at] ?? null))),
  ])
  const results = new Map(works.map(({ kind, project }, at) => [priceKey(kind, project), seen?.results[at]]))
  const input = {
    seenOf: (kind: Plan['kind'], project: string) => results.get(priceKey(kind, project)) ?? unseen,
    waiting: waiting.rows.filter(({ state }) => state === 'awaiting-approval'),
    nextStored: seen?.nextStored ?? null,
    priceOf,
    options,
  }
  const statuses = plans.map((plan, at): PlannedTimes => {
    const paused = pauseOf(view.definitions, plan.name) !== undefined
    return { plan, paused, last: lasts[at]?.time ?? null, first: firsts[at] ?? [] }
  })
  const active = statuses.filter(({ paused }) => !paused)
  const isPaused = statuses.some(({ plan, paused }) => plan.enabled && paused)
  const { pausedPlans: _none, ...definitions } = view.definitions
  return {
    plans: statuses,
    lasts,
    priceOf,
    played: play({ ...input, view }, active),
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

export const lastOf = async ({ ledger }: Pick<PlannedParts, 'ledger'>, plan: Plan): Promise<Occurrence | null> =>
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
