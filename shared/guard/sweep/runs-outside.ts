import { type Definitions, folded, listedName } from '../../ledger/definitions/definitions.ts'
import { all } from '../../ledger/store/pages.ts'
import { awaitedMs } from '../../ledger/updates/delivery.ts'
import { announcement } from '../../ledger/updates/tasks.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { dayMs } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import { inParallel } from '../../platform/parallel.ts'
import { datedKinds, type Kind, productKinds } from '../../tracking/kinds.ts'
import { targetOf } from '../../tracking/tracking.ts'
import { type PlannedParts, runsAtOnce, settleMarginMs } from '../options.ts'
import type { Plan } from '../plans-file.ts'
import { type KnownDates, knownDates } from './known-dates.ts'
import { createLateData } from './late-data.ts'

export interface OutsideRun {
  readonly project: string
  readonly dates: readonly string[]
}

const pageSize = 200
const maxRead = 10_000
/** A run's date differs from its hold by at most a day, and may appear a day later. */
const aroundMs = 2 * dayMs
const maxTold = 50
const maxDates = 20

interface Look {
  readonly known: KnownDates
  readonly seen: KnownDates | null
  readonly fresh: readonly string[]
}

interface NamedUpdate {
  readonly update: Update
  /** An update may name the project by its id or by another spelling. */
  readonly name: string
}

/** Looks once a night for runs that the guard did not start, such as runs on the vendor's own screen, and for paid data that did not come. */
export function createRunsOutside(parts: PlannedParts) {
  const { ledger, tracking, plans, clock, log, options, kinds = productKinds } = parts
  const dated = datedKinds(kinds)
  const recordLateData = createLateData(parts)

  /** Writes known dates last, so that a retry after a failure finds the same runs. */
  async function findRunsOutside(endsAt: number): Promise<readonly OutsideRun[]> {
    const { definitions } = await ledger.view()
    const projects = knownProjects(definitions, plans, dated)
    const before = await ledger.item(knownDates).read(projects)
    const found = await inParallel([...projects.entries()], runsAtOnce, async ([position, project]) => {
      if (clock.now() + options.serviceTimeoutMs + settleMarginMs >= endsAt) return null
      return lookAt(project, before[position] ?? null).catch((cause) => {
        log.info('no-dates', { project, cause })
        return null
      })
    })
    const looks = found.filter((each) => each !== null)
    if (looks.length === 0) return []
    const updates = await updatesFor(parts, dated, looks, definitions)
    const foreign = foreignIn(looks, updates, definitions)
    if (foreign.length > 0) await announce(foreign)
    await inParallel(looks, runsAtOnce, async (look) => {
      if (await deliveriesIn(look, updates, definitions, endsAt))
        await ledger.item(knownDates).write(look.known, look.seen)
    })
    return foreign
  }

  async function lookAt(project: string, seen: KnownDates | null): Promise<Look | null> {
    const [kind] = dated
    if (!kind) return null
    const reading = await tracking.dates(targetOf(kind, project))
    if (reading.kind !== 'dates') return null
    return { known: { project, dates: reading.dates, at: clock.now() }, seen, fresh: freshIn(reading.dates, seen) }
  }

  /** `false`: not all was recorded, so the next look has to find the same fresh dates. */
  function deliveriesIn(
    { known: { project, dates }, seen, fresh }: Look,
    updates: readonly NamedUpdate[],
    definitions: Definitions,
    endsAt: number,
  ): Promise<boolean> {
    const own = nameIn(definitions, project)
    const runs = updates
      .filter(({ update, name }) => name === own && dated.includes(update.kind))
      .map(({ update }) => update)
    const look = { dates, fresh, hadDates: (seen?.dates.length ?? 0) > 0 }
    return recordLateData(runs, look, endsAt).catch((cause) => {
      log.error('deliveries-not-recorded', { project, cause })
      return false
    })
  }

  async function announce(foreign: readonly OutsideRun[]): Promise<void> {
    log.error('foreign-data', { projects: foreign.length, first: foreign.slice(0, 10) })
    const about = {
      kind: 'foreign-data',
      found: foreign.slice(0, maxTold),
      more: Math.max(0, foreign.length - maxTold),
    } as const
    const { day } = await ledger.view()
    const id = `foreign-data#${day.name}#${digest(JSON.stringify(foreign))}`
    await ledger.announcements.add(announcement(id, clock.now(), about))
  }

  return { findRunsOutside }
}

async function updatesFor(
  { ledger, clock }: PlannedParts,
  dated: readonly Kind[],
  looks: readonly Look[],
  definitions: Definitions,
): Promise<readonly NamedUpdate[]> {
  const seenAt = looks.flatMap(({ fresh, seen }) => (fresh.length > 0 && seen ? [seen.at] : []))
  const since = Math.min(clock.now() - awaitedMs, ...seenAt.map((at) => at - 3 * dayMs))
  const ofKind = (kind: Kind) => all((cursor) => ledger.updates({ kind, since }, pageSize, cursor), maxRead)
  const late = all((cursor) => ledger.open('undelivered', pageSize, cursor), maxRead)
  const found = (await Promise.all([late, ...dated.map(ofKind)])).flat()
  const updates = [...new Map(found.map((update) => [update.id, update])).values()]
  return updates.map((update) => ({ update, name: nameIn(definitions, update.project) }))
}

function foreignIn(
  looks: readonly Look[],
  updates: readonly NamedUpdate[],
  definitions: Definitions,
): readonly OutsideRun[] {
  return looks.flatMap(({ known: { project }, fresh }) => {
    const own = nameIn(definitions, project)
    const ours = updates.filter(({ name }) => name === own)
    const dates = fresh.filter((date) => !ours.some(({ update }) => mayHaveMade(update, date)))
    return dates.length > 0 ? [{ project, dates: dates.slice(-maxDates) }] : []
  })
}

const nameIn = (definitions: Definitions, project: string) => folded(listedName(definitions, project))

function knownProjects(definitions: Definitions, plans: readonly Plan[], dated: readonly Kind[]): readonly string[] {
  const owned = Object.values(definitions.budgets).flatMap((budget) => budget.projects.map(({ name }) => name))
  const planned = plans.flatMap(({ kind, projects }) =>
    dated.includes(kind) ? projects.map((each) => listedName(definitions, each)) : [],
  )
  return [...new Set([...owned, ...planned])]
}

/** The first look finds nothing, because older dates are not news. */
function freshIn(dates: readonly string[], seen: KnownDates | null): readonly string[] {
  const from = seen?.dates[0] ?? ''
  return seen ? dates.filter((date) => date > from && !seen.dates.includes(date)) : []
}

function mayHaveMade({ hold, state, closedBy }: Update, date: string): boolean {
  if (!hold || (state === 'released' && closedBy === 'sender')) return false
  return Math.abs(Date.parse(`${date}T12:00Z`) - hold.at) <= aroundMs
}
