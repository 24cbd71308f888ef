import { type Definitions, folded, listedName } from '../../ledger/book/definitions.ts'
import { announcement } from '../../ledger/updates/tasks.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { all } from '../../ledger/views/pages.ts'
import { dayMs } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import { inParallel } from '../../platform/parallel.ts'
import { datedKinds, type Kind, productKinds } from '../../tracking/kinds.ts'
import { targetOf } from '../../tracking/tracking.ts'
import { type PlannedParts, runsAtOnce, settleMarginMs } from '../options.ts'
import type { Plan } from '../plans/plans-file.ts'
import { type KnownDates, knownDates } from './known-dates.ts'

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

/** Looks once a night for runs that the guard did not start, such as runs on the vendor's own screen. */
export function createRunsOutside(parts: PlannedParts) {
  const { ledger, tracking, plans, clock, log, options, kinds = productKinds } = parts
  const dated = datedKinds(kinds)

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
    const foreign = await foreignIn(looks, definitions)
    if (foreign.length > 0) await announce(foreign)
    await inParallel(looks, runsAtOnce, ({ known, seen }) => ledger.item(knownDates).write(known, seen))
    return foreign
  }

  async function lookAt(project: string, seen: KnownDates | null): Promise<Look | null> {
    const [kind] = dated
    if (!kind) return null
    const reading = await tracking.dates(targetOf(kind, project))
    if (reading.kind !== 'dates') return null
    return { known: { project, dates: reading.dates, at: clock.now() }, seen, fresh: freshIn(reading.dates, seen) }
  }

  async function foreignIn(looks: readonly Look[], definitions: Definitions): Promise<readonly OutsideRun[]> {
    const news = looks.filter(({ fresh }) => fresh.length > 0)
    if (news.length === 0) return []
    const since = Math.min(...news.map(({ seen, known }) => seen?.at ?? known.at)) - 3 * dayMs
    const ofKind = (kind: Kind) => all((cursor) => ledger.updates({ kind, since }, pageSize, cursor), maxRead)
    // An update may name the project by its id or by another spelling.
    const nameOf = (project: string) => folded(listedName(definitions, project))
    const updates = (await Promise.all(dated.map(ofKind)))
      .flat()
      .map((update) => ({ update, name: nameOf(update.project) }))
    return news.flatMap(({ known: { project }, fresh }) => {
      const own = nameOf(project)
      const ours = updates.filter(({ name }) => name === own)
      const dates = fresh.filter((date) => !ours.some(({ update }) => mayHaveMade(update, date)))
      return dates.length > 0 ? [{ project, dates: dates.slice(-maxDates) }] : []
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
