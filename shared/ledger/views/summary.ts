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
  optional,
  readItem,
  record,
  sortKeyOf,
  text,
  whole,
} from '../stored.ts'
import type { Update } from '../updates/update.ts'
import type { Lists } from './lists.ts'

/** A day of the account inside one month; the day on which a month turns is two. These days tile time. */
export interface SummaryDay {
  /** `month:2026-11-12` */
  readonly month: string
  /** `day:2026-11-20` */
  readonly name: string
  readonly start: number
  readonly end: number
}

/** What a row adds up. A figure that is not stored is 0, so that a new one needs no rebuild. */
const figures = {
  // Updates, by how they ended; `refused` without those that were `upToDate`.
  ...{ settled: optional(whole), released: optional(whole), refused: optional(whole), upToDate: optional(whole) },
  ...{ rejected: optional(whole), cancelled: optional(whole), expired: optional(whole) },
  // Units of these updates; refused duplicates, and the units that the same work had cost.
  ...{ charged: optional(whole), duplicates: optional(whole), saved: optional(whole) },
}
type Figure = keyof typeof figures
export const summaryFigures = Object.keys(figures).filter((name): name is Figure => name in figures)

export interface SummaryRow extends Partial<Readonly<Record<Figure, number>>> {
  readonly budget: string
  readonly project: string
  readonly caller: string
  readonly kind: string
  readonly via: string
  readonly plan?: string
  /** The project's owner at the hold, where an ancestor of it paid. */
  readonly owner?: string
  /** The billing month, where it is another than that of the day. */
  readonly month?: string
  /** The units of the last one that was charged. */
  readonly price?: number
}

/** What the updates add up to that were asked for on one day. No decision rests on it, and the records know all of it. */
export interface Summary {
  readonly day: SummaryDay
  /** Another one after every write; `null`: nothing is stored. */
  readonly mark: string | null
  /** When it was written. */
  readonly at: number
  /** Each update created up to then is in `rows`, or in `open` while it has not ended. Before `day.start`: none is. */
  readonly until: number
  readonly open: readonly string[]
  readonly rows: readonly SummaryRow[]
  /** What each budget had used, and might use, when the day ended; empty where no sweep saw that. */
  readonly used: Readonly<Record<string, { readonly used: number; readonly limit?: number }>>
  /** As in the rows, with those that came after `until`. */
  readonly duplicates: number
  readonly saved: number
  /** When the last of its updates was held, or ended without a hold. */
  readonly lastAt: number
}

export const emptySummary = (day: SummaryDay): Summary => ({
  ...{ day, mark: null, at: 0, until: day.start - 1, open: [], rows: [], used: {} },
  ...{ duplicates: 0, saved: 0, lastAt: 0 },
})

export const isComplete = ({ until, day }: Summary): boolean => until >= day.end - 1

export interface Summaries {
  /** In the order of the days. Without the rows that other items hold, unless they are asked for. */
  read(days: readonly SummaryDay[], how?: { withRows: boolean }): Promise<readonly Summary[]>
  /** Of two who write at once the first one's counts: `moved`. `too-large`: nothing was written. */
  write(summary: Summary): Promise<'written' | 'moved' | 'too-large'>
  /** Has the sweep count a day again, unless it has changed meanwhile. */
  spoil(summary: Summary): Promise<void>
  /** The beginnings of days that the sweep has to look at again, the oldest first; of very many the first ones. */
  unfinished(): Promise<readonly number[]>
  /** Before this instant the sweep has written every day; `null`: it has not begun. */
  place(): Promise<number | null>
  movePlace(place: number, now: number): Promise<void>
}

/** The item of a day has so many bytes of rows, so that many days are read at once; further items have the others. */
const maxHeadBytes = 10_000
const maxShardBytes = 100_000
/** A transaction of DynamoDB takes 4 MB. */
const maxShards = 35
const maxUnfinished = 50

const placeKey = { pk: 'sweep#summary', sk: 'place' } as const

export function createSummaries({ store, lists }: { store: Store; lists: Lists }): Summaries {
  async function read(days: readonly SummaryDay[], { withRows } = { withRows: true }): Promise<Summary[]> {
    const heads = (
      await getAll(
        store,
        days.map((day) => keyOf(day)),
      )
    ).map((item) => item && fromItem(item))
    const shardsOf = (index: number) =>
      Array.from({ length: withRows ? (heads[index]?.shards ?? 0) : 0 }, (_, n) => n + 1)
    const keys = days.flatMap((day, index) => shardsOf(index).map((shard) => keyOf(day, shard)))
    const shards = (await getAll(store, keys)).map((item) => item && fromItem(item))
    return days.map((day, index) => {
      const stored = heads[index]
      if (!stored) return emptySummary(day)
      const { start: _start, shards: _shards, ...head } = stored
      const own = shardsOf(index).map(() => shards.shift())
      // Another sweep has written between the two reads: the records are right in any case.
      if (own.some((shard) => shard?.mark !== head.mark)) return { ...emptySummary(day), mark: head.mark }
      const rows = [...(head.rows ?? []), ...own.flatMap((shard) => shard?.rows ?? [])]
      return { ...emptySummary(day), ...head, rows }
    })
  }

  async function write(summary: Summary): Promise<'written' | 'moved' | 'too-large'> {
    const shards = inShards(summary.rows)
    if (shards.length > maxShards) return 'too-large'
    // Made of the one before, so that none comes back: a sweep that has counted before a change never writes after it.
    const mark = digest(JSON.stringify(summary))
    const { applied } = await store.transact(writesOf(summary, mark, shards), digest('summary', mark))
    return applied ? 'written' : 'moved'
  }

  async function spoil({ day, mark }: Summary): Promise<void> {
    if (mark === null) return
    const write = spoilt(day, digest('spoilt', mark), [isMarked(mark)])
    await store.transact([write], digest('summary', day.name, mark, 'spoilt'))
  }

  async function unfinished(): Promise<readonly number[]> {
    const read = (item: Item) => fromItem(item).start
    const { rows } = await lists.walk({
      index: 'open',
      first: 'summary',
      oldestFirst: true,
      limit: maxUnfinished,
      read,
    })
    return rows
  }

  async function place(): Promise<number | null> {
    const [item] = await store.get([placeKey])
    return item ? readItem(item, record<{ readonly place: number }>({ place: instant })).place : null
  }

  /** Of two sweeps at once the later write counts: one that is behind makes the next sweep look at a finished day. */
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

/**
 * The write that goes with the correction of an update that has ended: its day is counted again. It has no condition, so
 * that nothing here can keep a correction from being booked.
 */
export const spoilSummary = (calendar: Calendar, { id, version, createdAt }: Update): Write =>
  spoilt(summaryDayAt(calendar, createdAt), `${id}#${version}`, [])

/** What the book had used by the end of the day stays. */
function spoilt(day: SummaryDay, mark: string, when: readonly Condition[]): Write {
  const nothing = { until: day.start - 1, rows: [], open: [], shards: 0 }
  const item = { mark, start: day.start, ...nothing, ...openAs(day), ...expiryOf(day.start, keptForDays) }
  const set = Object.entries(item).map(([name, value]) => [[name], value] as const)
  return { kind: 'update', key: keyOf(day), set, add: [], when }
}

export function summaryDayAt(calendar: Calendar, at: number): SummaryDay {
  const { name: month, ...span } = monthAt(calendar, at)
  const { name, start, end } = dayAt(calendar, at)
  return { month, name, start: Math.max(span.start, start), end: Math.min(span.end, end) }
}

/** Every day that an instant of this span is in, both ends inclusive. */
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

interface StoredSummary extends Partial<Omit<Summary, 'day' | 'mark' | 'until'>> {
  readonly mark: string
  readonly start: number
  readonly until: number
  readonly shards?: number
}

const optionalText = optional(text)
const storedSummary = record<StoredSummary>({
  ...{ mark: text, start: instant, until: instant, at: optional(instant), lastAt: optional(instant) },
  ...{ open: optional(list(text)), duplicates: optional(whole), saved: optional(whole), shards: optional(whole) },
  used: optional(map(record<Summary['used'][string]>({ used: number, limit: optional(number) }))),
  rows: optional(
    list(
      record<SummaryRow>({
        ...{ budget: text, project: text, caller: text, kind: text, via: text },
        ...{ plan: optionalText, owner: optionalText, month: optionalText, price: optional(whole), ...figures },
      }),
    ),
  ),
})

const fromItem = (item: Item): StoredSummary => readItem(item, storedSummary)
