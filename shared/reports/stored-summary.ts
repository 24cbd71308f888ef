import { storedListing } from '../ledger/definitions/definitions.ts'
import type { ItemKind, Items, ItemWrite } from '../ledger/store/item-kind.ts'
import type { Condition } from '../ledger/store/store.ts'
import { instant, list, map, number, type Of, optional, record, text, whole, yes } from '../ledger/store/stored.ts'
import { placeKeys } from '../ledger/updates/queue.ts'
import {
  type SummaryDay,
  type SummaryId,
  spoilt,
  summaryKeys,
  unfinishedSince,
} from '../ledger/updates/summary-days.ts'
import { digest } from '../platform/ids.ts'

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
  listed: optional(storedListing),
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

/** `onePrice`: all runs of the day had this price. */
const lastRun = record({ at: instant, units: whole, onePrice: optional(yes) })
export type LastRun = Of<typeof lastRun>

const lastRefusal = record({
  at: instant,
  project: text,
  slug: text,
  units: optional(number),
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
  day,
  mark: null,
  at: 0,
  until: day.start - 1,
  open: [],
  rows: [],
  used: {},
  lastRuns: {},
  lastRefused: {},
  duplicates: 0,
  saved: 0,
  lastAt: 0,
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
}

/** The first item stays small, because many days are read at once. */
const maxHeadBytes = 10_000
const maxShardBytes = 100_000
/** A transaction of DynamoDB has at most 4 MB. */
const maxShards = 35
const maxUnfinished = 50

export const daySummaries: ItemKind<Summaries, StoredSummary, SummaryId> = {
  ...summaryKeys,
  stored: storedSummary,
  functions: (items) => ({
    read: (days, { withRows } = { withRows: true }) => read(items, days, withRows),

    write: async (summary) => {
      const shards = inShards(summary.rows)
      if (shards.length > maxShards) return 'too-large'
      // Derived from the previous mark, so an old count never overwrites a newer one.
      const mark = digest(JSON.stringify(summary))
      return (await items.write(writesOf(summary, mark, shards), digest('summary', mark))) ? 'written' : 'moved'
    },

    spoil: async ({ day, mark }) => {
      if (mark === null) return
      const write = spoilt(day, digest('spoilt', mark), [isMarked(mark)])
      await items.write([write], digest('summary', day.name, mark, 'spoilt'))
    },

    unfinished: async () => (await items.open(maxUnfinished)).map(({ start }) => start),
  }),
}

type SummaryItems = Items<StoredSummary, SummaryId>

async function read(items: SummaryItems, days: readonly SummaryDay[], withRows: boolean): Promise<Summary[]> {
  const heads = await items.read(days)
  const ids = days.map(({ month, name }, index) =>
    Array.from({ length: withRows ? (heads[index]?.shards ?? 0) : 0 }, (_, shard) => ({
      month,
      name,
      shard: shard + 1,
    })),
  )
  const shards = await items.read(ids.flat())
  return days.map((day, index) => {
    const stored = heads[index]
    if (!stored) return emptySummary(day)
    const { start: _start, shards: _shards, ...head } = stored
    const own = shards.splice(0, ids[index]?.length)
    // Another sweep wrote between the two reads, so the caller must count the records.
    if (own.some((shard) => shard?.mark !== head.mark)) return { ...emptySummary(day), mark: head.mark }
    const rows = [...(head.rows ?? []), ...own.flatMap((shard) => shard?.rows ?? [])]
    return { ...emptySummary(day), ...head, rows }
  })
}

function writesOf({ day, mark: seen, ...content }: Summary, mark: string, [rows, ...others]: Shards) {
  const shared = { mark, until: content.until, start: day.start }
  const head: ItemWrite<StoredSummary, SummaryId> = {
    id: day,
    put: { ...content, ...shared, rows, shards: others.length },
    when: [seen === null ? { kind: 'absent-item' } : isMarked(seen)],
    keptFrom: day.start,
  }
  const isFinished = content.until >= day.end - 1 && content.open.length === 0
  return [
    isFinished ? head : { ...head, openSince: unfinishedSince(day) },
    ...others.map((each, index) => {
      const id = { month: day.month, name: day.name, shard: index + 1 }
      return { id, put: { ...shared, rows: each }, when: [], keptFrom: day.start }
    }),
  ]
}

const isMarked = (mark: string): Condition => ({ kind: 'equal', path: ['mark'], value: mark })

type Shards = [SummaryRow[], ...SummaryRow[][]]

function inShards(rows: readonly SummaryRow[]): Shards {
  const shards: Shards = [[]]
  let room = maxHeadBytes
  for (const row of rows) {
    const bytes = Buffer.byteLength(JSON.stringify(row))
    if (bytes > room) {
      shards.push([])
      room = maxShardBytes
    }
    shards.at(-1)?.push(row)
    room -= bytes
  }
  return shards
}

interface SummaryPlace {
  /** The start of the first day that is not written. `null`: none is written. */
  read(): Promise<number | null>
  /** If the place is too early, the sweep only reads finished days again. */
  move(place: number, now: number): Promise<void>
}

export const summaryPlace: ItemKind<SummaryPlace, { readonly place: number }, string> = {
  ...placeKeys,
  stored: record({ place: instant }),
  functions: (items) => ({
    read: async () => (await items.read([summaryKeys.name]))[0]?.place ?? null,
    move: async (place, now) => {
      const token = digest('summary-place', String(place), String(now))
      await items.write([{ id: summaryKeys.name, put: { place }, when: [] }], token)
    },
  }),
}
