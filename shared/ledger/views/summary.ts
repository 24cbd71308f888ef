import { digest } from '../../platform/ids.ts'
import { type Calendar, dayAt, monthAt } from '../book/windows.ts'
import { type Condition, getAll, type Item, type Key, type Store, type Value, type Write } from '../store/store.ts'
import {
  expiryOf,
  instant,
  keptForDays,
  list,
  map,
  number,
  type Of,
  optional,
  readItem,
  record,
  sortKeyOf,
  text,
  whole,
} from '../stored.ts'
import type { Update } from '../updates/update.ts'
import { walk } from './pages.ts'

/** A day on which a billing month ends is split into two summary days. */
export interface SummaryDay {
  /** `month:2026-11-12` */
  readonly month: string
  /** `day:2026-11-20` */
  readonly name: string
  readonly start: number
  readonly end: number
}

/** A missing figure is 0, so a new figure needs no rebuild. `refused` excludes `upToDate`. */
const counts = ['settled', 'released', 'refused', 'upToDate', 'rejected', 'cancelled', 'expired', 'duplicates'] as const
/** Units that were `charged`, and units that refused duplicates `saved`. */
const unitFigures = ['charged', 'saved'] as const
export const summaryFigures = [...counts, ...unitFigures]
const figure = optional(whole)
const figures = Object.fromEntries(summaryFigures.map((name) => [name, figure])) as Readonly<
  Record<(typeof summaryFigures)[number], typeof figure>
>

const summaryRow = record({
  ...figures,
  budget: text,
  project: text,
  caller: text,
  kind: text,
  /** From the claim of the caller's token. */
  person: optional(text),
  via: text,
  plan: optional(text),
  /** The owner, if another budget paid. */
  owner: optional(text),
  /** The budgets above the payer, without the root. A deleted payer's row belongs to the first of these that exists. */
  above: optional(list(text)),
  /** Absent: the month of the summary. */
  month: optional(text),
  /** The day of the holds, because the price of a unit may change each day. Absent: the day of the summary. */
  heldOn: optional(text),
  /** Observed budgets whose limits would have refused each update of the row. */
  wouldHaveRefused: optional(list(text)),
  price: optional(whole),
  tags: optional(map(text)),
})
export type SummaryRow = Of<typeof summaryRow>

const lastRun = record({ at: instant, units: whole })
export type LastRun = Of<typeof lastRun>

const lastRefusal = record({
  ...{ at: instant, project: text, slug: text, units: optional(number) },
  /** Absent: the reader may not see the budget. `had`: the units that were left, or the limit per update. */
  decidedBy: optional(record({ budget: text, window: optional(text), had: optional(number) })),
})
export type LastRefusal = Of<typeof lastRefusal>

const spender = record({ caller: text, person: optional(text), plan: optional(text), units: whole })
export type Spender = Of<typeof spender>

const storedSummary = record({
  /** Changes with every write. */
  mark: text,
  start: instant,
  at: optional(instant),
  /** Each update that was created up to this time is in `rows` if it has ended, else in `open`. */
  until: instant,
  open: optional(list(text)),
  rows: optional(list(summaryRow)),
  shards: optional(whole),
  /** The counters at the day's end. Empty if no sweep ran then. */
  used: optional(map(record({ used: number, limit: optional(number) }))),
  /** Units that updates of plans were charged or hold in the day's month. Absent: not counted. */
  planned: optional(map(whole)),
  /** Each key is a payer, or the counter of a listed caller. */
  lastRuns: optional(map(lastRun)),
  lastRefused: optional(map(lastRefusal)),
  /** The plans and callers that spent most. */
  spenders: optional(list(spender)),
  /** Projects that ran although no budget listed them. Not in `rows`, because this list is read without the rows. */
  unlisted: optional(list(text)),
  /** `duplicates`, `saved` and `planned` include updates after `until`. */
  duplicates: optional(whole),
  saved: optional(whole),
  /** The time of the last hold. For an update without a hold, the time of its end counts. */
  lastAt: optional(instant),
})
type StoredSummary = Of<typeof storedSummary>

type Defaulted = 'at' | 'open' | 'rows' | 'used' | 'lastRuns' | 'lastRefused' | 'duplicates' | 'saved' | 'lastAt'
export type Summary = Omit<StoredSummary, Defaulted | 'mark' | 'start' | 'shards'> &
  Required<Pick<StoredSummary, Defaulted>> & {
    readonly day: SummaryDay
    /** `null`: not stored. */
    readonly mark: string | null
  }

export const emptySummary = (day: SummaryDay): Summary => ({
  ...{ day, mark: null, at: 0, until: day.start - 1, open: [], rows: [], used: {} },
  ...{ lastRuns: {}, lastRefused: {} },
  ...{ duplicates: 0, saved: 0, lastAt: 0 },
})

export const isComplete = ({ until, day }: Summary): boolean => until >= day.end - 1

export interface Summaries {
  /** `withRows: false` reads only the first item of each day. */
  read(days: readonly SummaryDay[], how?: { withRows: boolean }): Promise<readonly Summary[]>
  /** `moved`: another write came first. */
  write(summary: Summary): Promise<'written' | 'moved' | 'too-large'>
  /** Makes the sweep count a day again, unless the summary has changed. */
  spoil(summary: Summary): Promise<void>
  /** The starts of the days that must be counted again, the oldest first. */
  unfinished(): Promise<readonly number[]>
  /** The start of the first day that is not written. `null`: none is written. */
  place(): Promise<number | null>
  movePlace(place: number, now: number): Promise<void>
}

/** The first item stays small, because many days are read at once. */
const maxHeadBytes = 10_000
const maxShardBytes = 100_000
/** A transaction of DynamoDB has at most 4 MB. */
const maxShards = 35
const maxUnfinished = 50

const placeKey = { pk: 'sweep#summary', sk: 'place' } as const

export function createSummaries({ store }: { store: Store }): Summaries {
  async function read(days: readonly SummaryDay[], { withRows } = { withRows: true }): Promise<Summary[]> {
    const readAll = async (keys: readonly Key[]) => (await getAll(store, keys)).map((item) => item && fromItem(item))
    const heads = await readAll(days.map((day) => keyOf(day)))
    const keys = days.map((day, index) =>
      Array.from({ length: withRows ? (heads[index]?.shards ?? 0) : 0 }, (_, shard) => keyOf(day, shard + 1)),
    )
    const shards = await readAll(keys.flat())
    return days.map((day, index) => {
      const stored = heads[index]
      if (!stored) return emptySummary(day)
      const { start: _start, shards: _shards, ...head } = stored
      const own = shards.splice(0, keys[index]?.length)
      // Another sweep wrote between the two reads, so the caller must count the records.
      if (own.some((shard) => shard?.mark !== head.mark)) return { ...emptySummary(day), mark: head.mark }
      const rows = [...(head.rows ?? []), ...own.flatMap((shard) => shard?.rows ?? [])]
      return { ...emptySummary(day), ...head, rows }
    })
  }

  async function write(summary: Summary): Promise<'written' | 'moved' | 'too-large'> {
    const shards = inShards(summary.rows)
    if (shards.length > maxShards) return 'too-large'
    // Derived from the previous mark, so an old count never overwrites a newer one.
    const mark = digest(JSON.stringify(summary))
    const { applied } = await store.transact(writesOf(summary, mark, shards), digest('summary', mark))
    return applied ? 'written' : 'moved'
  }

  async function spoil({ day, mark }: Summary): Promise<void> {
    if (mark === null) return
    const write = spoilWrite(day, digest('spoilt', mark), [isMarked(mark)])
    await store.transact([write], digest('summary', day.name, mark, 'spoilt'))
  }

  async function unfinished(): Promise<readonly number[]> {
    const oldest = { index: 'open', first: 'summary', oldestFirst: true, limit: maxUnfinished } as const
    return (await walk(store, { ...oldest, read: (item) => fromItem(item).start })).rows
  }

  async function place(): Promise<number | null> {
    const [item] = await store.get([placeKey])
    return item ? readItem(item, record({ place: instant })).place : null
  }

  /** If the place is too early, the sweep only reads finished days again. */
  async function movePlace(place: number, now: number): Promise<void> {
    const write: Write = { kind: 'put', item: { ...placeKey, place }, when: [] }
    await store.transact([write], digest('summary-place', String(place), String(now)))
  }

  return { read, write, spoil, unfinished, place, movePlace }
}

function writesOf({ day, mark: seen, ...content }: Summary, mark: string, [rows, ...others]: Shards): Write[] {
  const isFinished = content.until >= day.end - 1 && content.open.length === 0
  const shared = { mark, until: content.until, start: day.start, ...expiryOf(day.start, keptForDays) }
  const head = { ...keyOf(day), ...content, ...shared, rows, shards: others.length, ...(isFinished ? {} : openAs(day)) }
  return [
    { kind: 'put', item: head, when: [seen === null ? { kind: 'absent-item' } : isMarked(seen)] },
    ...others.map((shard, index): Write => {
      return { kind: 'put', item: { ...keyOf(day, index + 1), ...shared, rows: shard }, when: [] }
    }),
  ]
}

const isMarked = (mark: string): Condition => ({ kind: 'equal', path: ['mark'], value: mark })

/** Has no condition, so it cannot block the correction in the same transaction. */
export const spoilSummary = (calendar: Calendar, { id, version, createdAt }: Update): Write =>
  spoilWrite(summaryDayAt(calendar, createdAt), `${id}#${version}`, [])

/** Clears the day's counts, and keeps `used`. */
function spoilWrite(day: SummaryDay, mark: string, when: readonly Condition[]): Write {
  const nothing = {
    ...{ until: day.start - 1, rows: [], open: [], shards: 0 },
    ...{ lastRuns: {}, lastRefused: {}, spenders: [], unlisted: [] },
  }
  const item = { mark, start: day.start, ...nothing, ...openAs(day), ...expiryOf(day.start, keptForDays) }
  const set = Object.entries(item).map(([name, value]) => [[name], value] as const)
  return { kind: 'update', key: keyOf(day), set, add: [], when }
}

export function summaryDayAt(calendar: Calendar, at: number): SummaryDay {
  const { name: month, ...span } = monthAt(calendar, at)
  const { name, start, end } = dayAt(calendar, at)
  return { month, name, start: Math.max(span.start, start), end: Math.min(span.end, end) }
}

export function summaryDays(calendar: Calendar, { since, until }: { since: number; until: number }): SummaryDay[] {
  const days: SummaryDay[] = []
  for (let at = since; at <= until; at = days.at(-1)?.end ?? until + 1) days.push(summaryDayAt(calendar, at))
  return days
}

const keyOf = ({ month, name }: SummaryDay, shard = 0): Key => ({
  pk: `summary#${month}`,
  sk: shard === 0 ? name : `${name}#${shard}`,
})

const openAs = ({ start, name }: SummaryDay) => ({ openAs: 'summary', openSince: sortKeyOf(start, name) })

type Shards = [Value[], ...Value[][]]

function inShards(rows: readonly SummaryRow[]): Shards {
  const shards: Shards = [[]]
  let room = maxHeadBytes
  for (const row of rows) {
    const bytes = Buffer.byteLength(JSON.stringify(row))
    if (bytes > room) {
      shards.push([])
      room = maxShardBytes
    }
    shards.at(-1)?.push({ ...row })
    room -= bytes
  }
  return shards
}

const fromItem = (item: Item): StoredSummary => readItem(item, storedSummary)
