import type { View, ViewResult } from '../../ledger/book/view.ts'
import { dayAt, type Window } from '../../ledger/definitions/windows.ts'
import { isFinal, isKnownToHaveRun, type Problem, type Run, runOf, type Update } from '../../ledger/updates/update.ts'
import { runsIn } from '../../ledger/updates/work.ts'
import { dayMs, toRfc3339 } from '../../platform/clock.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { type Cooldown, daysOf, doubtBlocksMs, type GuardOptions, inFlightUntil } from '../options.ts'
import { permissionsNow } from '../people/permissions.ts'
import { problem } from '../problems.ts'
import { when, zoneOf } from '../sentences.ts'
import type { DecisionInput } from './quote.ts'

export function duplicateOf({ view, asked, request }: DecisionInput, options: GuardOptions): Problem | null {
  const same = `The ${request.kind} update of ${request.project}`
  const zone = zoneOf(view)
  const { running, doubts, ran, restsUntil } = blocksOf(view, asked, request.kind, options)
  const is = (slug: 'duplicate-work' | 'already-updated', update: string, what: string) =>
    problem(slug, `${same} ${what}`, { update })
  if (running)
    return is('duplicate-work', running.id, `is already running as ${running.id}; ask again when it has ended.`)
  for (const { id, until } of doubts) {
    const again = `A person can resolve it; without that, the project may be updated again from ${when(until, zone)}.`
    if (view.now < until) return is('duplicate-work', id, `is in doubt as ${id}: it may have run. ${again}`)
  }
  if (ran && !request.force && view.now < restsUntil) {
    const then = `until ${when(restsUntil, zone)} that is the answer, and nothing is spent.`
    return is('already-updated', ran.update, `was done at ${when(ran.at, zone)} as ${ran.update}; ${then}`)
  }
  return null
}

/** What keeps a work from running: an update that runs, doubts up to a time, and the rest after its latest run. */
export function blocksOf(view: View, asked: ViewResult, kind: Kind, options: GuardOptions) {
  const holders = holdersOf(asked)
  const [ran] = runsOf(asked)
  return {
    ran,
    running: holders.find(({ state }) => state === 'running'),
    doubts: holders
      .filter(({ state }) => state === 'in-doubt')
      .map((holder) => ({ id: holder.id, until: doubtBlocksUntil(view, holder, options) })),
    restsUntil: ran ? cooldownUntil(dayOf(view), ran.at, options.cooldown[kind]) : 0,
  }
}

function holdersOf({ works, records }: ViewResult): readonly Update[] {
  const ids = new Set(works.flatMap(({ work }) => (work ? [work.update] : [])))
  return [...ids].flatMap((id) => records.get(id) ?? [])
}

/** The known runs, latest first, up to the first final run. An update's record outweighs a note in a work item. */
export function runsOf(asked: ViewResult): readonly Run[] {
  const { works, records } = asked
  const runs = new Map(holdersOf(asked).map((holder) => [holder.id, runOf(holder)]))
  for (const noted of works.flatMap(({ work }) => (work ? runsIn(work) : []))) {
    const record = records.get(noted.update)
    runs.set(noted.update, record ? runOf(record) : noted)
  }
  const known = [...runs.values()]
    .filter(({ update }) => isKnown(records.get(update)))
    .toSorted((one, other) => other.at - one.at)
  const last = known.findIndex(({ update }) => isCertain(records.get(update)))
  return last < 0 ? known : known.slice(0, last + 1)
}

const isKnown = (record: Update | undefined): boolean => !record || isKnownToHaveRun(record)
const isCertain = (record: Update | undefined): boolean => !record || isFinal(record)

type DayOf = (instant: number) => Window

const dayOf =
  ({ definitions: { calendar } }: View): DayOf =>
  (instant) =>
    dayAt(calendar, instant)

/** A cool-down of days ends with the start of a day, so that a weekly plan finds it over, at whatever time it ran. */
export function cooldownUntil(dayOf: DayOf, at: number, cooldown: Cooldown): number {
  const days = daysOf(cooldown)
  if (days === null) return at + Number(cooldown)
  const { start, end } = dayOf(at)
  if (days === 0) return at
  // Days may have 23 or 25 hours, so the middle of the last day is looked at. A new time zone never ends the run's own day early.
  return Math.max(end, dayOf(start + (days + 0.5) * dayMs).start)
}

function doubtBlocksUntil(view: View, update: Update, options: GuardOptions): number {
  const at = update.hold?.at ?? update.createdAt
  return Math.max(dayAt(view.definitions.calendar, at).end, at + doubtBlocksMs, inFlightUntil(update, options))
}

/** A restore may have lost a record of this work. `force` allows the work, unless the old table may know the key. */
export function mayBeLost({ view, asked, request, isOldKey }: DecisionInput, options: GuardOptions): Problem | null {
  const { restored } = view.definitions.identity ?? {}
  const until = lostUntil(view, asked, request.kind, options)
  if (!restored || view.now >= until) return null
  const isNew = request.createdAt >= restored.at
  if (request.force && isNew && !isOldKey) return null
  const zone = zoneOf(view)
  const [from, at] = [restored.to, restored.at].map((each) => each !== undefined && when(each, zone))
  const lost = from === at ? `at ${at}` : from ? `between ${from} and ${at}` : `before ${at}`
  const prefix = keyPrefix(view)
  const how = request.force
    ? `use an Idempotency-Key that begins with ${prefix}, since an older key may have been answered before`
    : `look at the service, and ${whoForces({ view, request })} (an Idempotency-Key must then begin with ${prefix})`
  return problem(
    'ledger-restored',
    `The ledger was restored, so it does not know whether ${request.project} was updated ${lost}; until ${when(until, zone)}, ${how}.`,
    { until: toRfc3339(until) },
  )
}

/** Advises only callers who may force updates, which no agent may. */
export function whoForces({ view, request }: Pick<DecisionInput, 'view' | 'request'>): string {
  const mayForce = request.via !== 'mcp' && permissionsNow(view.definitions, request)?.mayForce
  return mayForce ? 'force it with a reason' : 'an administrator may force it with a reason'
}

/** Keys from before the restore never begin with its epoch. */
const keyPrefix = ({ definitions }: View): string => `restored-${definitions.identity?.epoch ?? 0}-`

export const isOldKey = (view: View, key: string | undefined): boolean =>
  view.definitions.identity?.restored !== undefined && key !== undefined && !key.startsWith(keyPrefix(view))

/** 0: no restore can have lost the work's latest record. */
export function lostUntil(view: View, asked: ViewResult, kind: Kind, options: GuardOptions): number {
  const { restored } = view.definitions.identity ?? {}
  const [ran] = runsOf(asked)
  if (!restored || (ran !== undefined && ran.at >= restored.at)) return 0
  const { at } = restored
  const rests = cooldownUntil(dayOf(view), at, options.cooldown[kind])
  return Math.max(dayOf(view)(at).end, at + Math.max(doubtBlocksMs, options.serviceFlightMs), rests)
}
