import { announcement } from '../ledger/announcement.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { all } from '../ledger/lists.ts'
import type { Sighting } from '../ledger/sighting.ts'
import type { Update } from '../ledger/update.ts'
import { type Clock, dayMs } from '../platform/clock.ts'
import { digest } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { inParallel } from '../platform/parallel.ts'
import type { Tracking } from '../tracking/tracking.ts'
import { type GuardOptions, runsAtOnce, settleMarginMs } from './options.ts'
import type { Plan } from './plan.ts'
import { targetOfRequest } from './quoting.ts'

/** A data set of the service that no update of ours can have made. */
export interface ForeignData {
  readonly project: string
  readonly dates: readonly string[]
}

const pageSize = 200
/** The limit of what is read of the updates since the last look, which is a day's work of them or a few. */
const mostRead = 10_000
/** A date of an update is within a day of its fence, and the service may take a day to show it. */
const aroundMs = 2 * dayMs
const mostTold = 50
/** Of one project, the latest. */
const mostDates = 20

interface Look {
  readonly sighting: Sighting
  readonly seen: Sighting | null
  readonly fresh: readonly string[]
}

/**
 * Looks, once a night, at which dates the projects that the guard knows have data for. Dates are free to ask for. What is
 * new and not ours was started elsewhere: by hand in the vendor's screen, by a schedule there, or past the guard.
 */
export function createForeignData(parts: {
  ledger: Ledger
  tracking: Tracking
  plans: readonly Plan[]
  clock: Clock
  log: Log
  options: GuardOptions
}) {
  const { ledger, tracking, plans, clock, log, options } = parts

  /** What was seen is written down last: whatever fails before is found again by the next look. */
  async function lookForForeignData(endsAt: number): Promise<readonly ForeignData[]> {
    const projects = await knownProjects()
    const before = await ledger.sightings.read(projects)
    const found = await inParallel([...projects.entries()], runsAtOnce, async ([position, project]) => {
      if (clock.now() + options.serviceTimeoutMs + settleMarginMs >= endsAt) return null
      return lookAt(project, before[position] ?? null).catch((cause) => {
        log.info('no-dates', { project, cause })
        return null
      })
    })
    const looks = found.filter((each) => each !== null)
    const foreign = await foreignIn(looks)
    if (foreign.length > 0) await tell(foreign)
    await inParallel(looks, runsAtOnce, ({ sighting, seen }) => ledger.sightings.write(sighting, seen))
    return foreign
  }

  async function lookAt(project: string, seen: Sighting | null): Promise<Look | null> {
    const reading = await tracking.dates(targetOfRequest({ kind: 'ranking', project }))
    if (reading.kind !== 'dates') return null
    return { sighting: { project, dates: reading.dates, at: clock.now() }, seen, fresh: freshIn(reading.dates, seen) }
  }

  async function foreignIn(looks: readonly Look[]): Promise<readonly ForeignData[]> {
    const news = looks.filter(({ fresh }) => fresh.length > 0)
    if (news.length === 0) return []
    const since = Math.min(...news.map(({ seen, sighting }) => seen?.at ?? sighting.at)) - 3 * dayMs
    const updates = await all((cursor) => ledger.updates({ kind: 'ranking', since }, pageSize, cursor), mostRead)
    return news.flatMap(({ sighting: { project }, fresh }) => {
      const ours = updates.filter((update) => update.project === project)
      const dates = fresh.filter((date) => !ours.some((update) => mayHaveMade(update, date)))
      return dates.length > 0 ? [{ project, dates: dates.slice(-mostDates) }] : []
    })
  }

  async function knownProjects(): Promise<readonly string[]> {
    const { definitions } = await ledger.view()
    const owned = Object.values(definitions.budgets).flatMap((budget) => budget.projects.map(({ name }) => name))
    const planned = plans.flatMap(({ kind, projects }) => (kind === 'ranking' ? projects : []))
    return [...new Set([...owned, ...planned])]
  }

  /** The same found twice in a night is told once. */
  async function tell(foreign: readonly ForeignData[]): Promise<void> {
    log.error('foreign-data', { projects: foreign.length, first: foreign.slice(0, 10) })
    const about = {
      kind: 'foreign-data',
      found: foreign.slice(0, mostTold),
      more: Math.max(0, foreign.length - mostTold),
    } as const
    const { day } = await ledger.view()
    const id = `foreign-data#${day.name}#${digest(JSON.stringify(foreign))}`
    await ledger.announcements.add(announcement(id, clock.now(), about))
  }

  return { lookForForeignData }
}

/** The first look only remembers: what was there before is nobody's secret. Nor is what is older than all that is remembered. */
function freshIn(dates: readonly string[], seen: Sighting | null): readonly string[] {
  const from = seen?.dates[0] ?? ''
  return seen ? dates.filter((date) => date > from && !seen.dates.includes(date)) : []
}

function mayHaveMade({ hold, state, closedBy }: Update, date: string): boolean {
  if (!hold || (state === 'released' && closedBy === 'sender')) return false
  return Math.abs(Date.parse(`${date}T12:00Z`) - hold.at) <= aroundMs
}
