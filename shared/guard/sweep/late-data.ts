import { Contention } from '../../ledger/errors.ts'
import { awaitedMs } from '../../ledger/updates/delivery.ts'
import type { Delivery } from '../../ledger/updates/stored-delivery.ts'
import { isKnownToHaveRun, next, type Update } from '../../ledger/updates/update.ts'
import { dayMs } from '../../platform/clock.ts'
import { type GuardParts, maxDecisions, settleMarginMs, usualDeliveryMs } from '../options.ts'
import { datesOfDelivery } from '../update/records.ts'

/** The dates of a project, as the nightly look read them. */
export interface DatesLook {
  /** Sorted. */
  readonly dates: readonly string[]
  /** The dates that the look before did not find. */
  readonly fresh: readonly string[]
  /** The look before found dates. */
  readonly hadDates: boolean
}

export interface Verdict {
  readonly update: Update
  readonly delivery: Delivery
}

/** Runs of one project on one day of the account, the earliest first. They expect one date together. */
interface RunDay {
  readonly name: string
  readonly runs: readonly Update[]
  readonly at: number
  /** A person said that the data of the day came. */
  readonly isConfirmed: boolean
}

/** Records whether paid data came. @returns whether all was recorded in the time. */
export function createLateData({ ledger, clock, options }: Pick<GuardParts, 'ledger' | 'clock' | 'options'>) {
  return async function recordLateData(updates: readonly Update[], look: DatesLook, endsAt: number) {
    const { deliveryMs = usualDeliveryMs } = options
    for (const verdict of judgeLateData(updates, look, { now: clock.now(), deliveryMs })) {
      if (clock.now() + settleMarginMs >= endsAt) return false
      await write(verdict)
    }
    return true
  }

  /** Its record announces a late update, so each is announced once. */
  async function write({ update, delivery }: Verdict): Promise<void> {
    const line = { at: clock.now(), by: 'sweep', note: noteOf(delivery) }
    let seen: Update | null = update
    for (let round = 0; round < maxDecisions; round++) {
      if (!seen || !isKnownToHaveRun(seen) || !mayBecome(seen, delivery)) return
      if ((await ledger.record(next(seen, seen.state, { delivery }, line), seen)) === 'recorded') return
      seen = await ledger.update(update.id)
    }
    throw new Contention(`the record ${update.id} keeps changing`)
  }
}

function noteOf({ state, date }: Delivery): string {
  if (state === 'late') return 'paid, nothing delivered: the service has no new data'
  return date === undefined ? 'data of the same day came' : `delivered: the service has data of ${date}`
}

const mayBecome = ({ delivery }: Update, { state }: Delivery): boolean =>
  delivery === undefined || (delivery.state === 'late' && state === 'came')

/** Without the neighbours of an old day, an old date may be theirs. Then only a fresh date counts. */
const neighboursMs = 5 * dayMs

/**
 * What the dates of a project say of its runs. A day expects one new date, and a date serves one day, the earliest first.
 * Days whose data came once keep a date, so that a later run does not take it.
 */
export function judgeLateData(
  updates: readonly Update[],
  look: DatesLook,
  { now, deliveryMs }: { readonly now: number; readonly deliveryMs: number },
): readonly Verdict[] {
  const isOld = ({ at }: RunDay) => at < now - (awaitedMs - neighboursMs)
  const days = daysOf(updates).filter(hasDatesBefore)
  const open = days.filter((day) => !day.isConfirmed)
  const served = serve(
    [...open.filter(isServed), ...open.filter((day) => !isServed(day))].map((day) => ({
      name: day.name,
      dates: candidatesOf(day, isOld(day) && !isServed(day) ? look.fresh : look.dates),
    })),
  )
  return days.flatMap((day) => {
    const date = served.get(day.name)
    if (day.isConfirmed) return cameVerdicts(day, {})
    if (date !== undefined) return cameVerdicts(day, { date })
    const isLate = now >= day.at + deliveryMs && !isOld(day) && !isServed(day)
    return isLate && reaches(look, day) ? lateVerdicts(day) : []
  })
}

function daysOf(updates: readonly Update[]): readonly RunDay[] {
  const days = new Map<string, Update[]>()
  for (const update of updates.toSorted((one, other) => (one.hold?.at ?? 0) - (other.hold?.at ?? 0))) {
    if (!update.hold || !isKnownToHaveRun(update) || update.delivery?.state === 'given-back') continue
    const { day } = update.hold
    days.set(day, [...(days.get(day) ?? []), update])
  }
  return [...days].map(([name, runs]) => ({
    name,
    runs,
    at: runs.at(-1)?.hold?.at ?? 0,
    isConfirmed: runs.some(({ delivery }) => delivery?.state === 'came' && delivery.date === undefined),
  }))
}

/** Without the list before the first run, no date of the day can be new. */
const hasDatesBefore = ({ runs }: RunDay): boolean => runs[0]?.hold?.datesBefore !== undefined

/** A date served the day at an earlier look, or proved its run. */
const isServed = ({ runs }: RunDay): boolean =>
  runs.some(({ delivery, closedBy }) => delivery?.state === 'came' || closedBy === 'evidence')

function candidatesOf({ name, runs }: RunDay, dates: readonly string[]): readonly string[] {
  const before = runs[0]?.hold?.datesBefore ?? []
  return datesOfDelivery({ name }).filter((date) => dates.includes(date) && !before.includes(date))
}

interface Wish {
  readonly name: string
  /** The earliest first. */
  readonly dates: readonly string[]
}

/**
 * Gives each day one of its dates, if earlier days in the list can still have one of theirs.
 *
 * @see https://en.wikipedia.org/wiki/Maximum_cardinality_matching
 */
function serve(days: readonly Wish[]): ReadonlyMap<string, string> {
  const takenBy = new Map<string, Wish>()
  const give = (day: Wish, tried: Set<string>): boolean => {
    const free = day.dates.find((date) => !takenBy.has(date))
    const found = free ?? day.dates.find((date) => isFreed(date, tried))
    if (found !== undefined) takenBy.set(found, day)
    return found !== undefined
  }
  /** Whether the day that has this date can have another one. */
  const isFreed = (date: string, tried: Set<string>): boolean => {
    const holder = takenBy.get(date)
    if (!holder || tried.has(date)) return false
    tried.add(date)
    return give(holder, tried)
  }
  for (const day of days) give(day, new Set())
  return new Map([...takenBy].map(([date, { name }]) => [name, date]))
}

/** Data that are older than the list, or a list that lost all its dates, say nothing. */
const reaches = ({ dates: [oldest], hadDates }: DatesLook, { name }: RunDay): boolean =>
  oldest === undefined ? !hadDates : oldest <= name.slice('day:'.length)

const isJudged = ({ state, closedBy }: Update): boolean => state === 'settled' && closedBy !== 'evidence'

const cameVerdicts = ({ runs }: RunDay, found: { readonly date?: string }): readonly Verdict[] =>
  runs
    .filter((update) => isJudged(update) && update.delivery?.state !== 'came')
    .map((update) => ({ update, delivery: { state: 'came', ...found } }))

/** The first update of the day is announced, for all of them. */
function lateVerdicts({ runs }: RunDay): readonly Verdict[] {
  const isPaid = ({ charged }: Update) => (charged ?? 0) > 0
  const late = runs.filter((update) => isJudged(update) && isPaid(update))
  const announced = late.find(({ delivery }) => delivery?.state === 'late') ?? late[0]
  return late
    .filter(({ delivery }) => delivery === undefined)
    .map((update) =>
      update === announced
        ? { update, delivery: { state: 'late' } }
        : { update, delivery: { state: 'late', sharedWith: announced?.id ?? update.id } },
    )
}
