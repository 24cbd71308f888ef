import type { Clock } from '../platform/clock.ts'
import type { Kind } from '../platform/words.ts'
import { type Entry, entriesListedIn, fromEntryItem } from './entry.ts'
import type { Index, Item, Position, Store } from './store.ts'
import { fromUpdateItem, isTerminal, listedIn, type OpenAs, type State, type Update, type Via } from './update.ts'

export interface UpdateFilter {
  readonly state?: State
  readonly kind?: Kind
  readonly project?: string
  readonly budget?: string
  readonly caller?: string
  readonly via?: Via
  readonly plan?: string
  /** Instants, both inclusive. */
  readonly since?: number
  readonly until?: number
}

export interface EntryFilter {
  /** The book's window, `month:2026-11-12`. */
  readonly month: string
  readonly budget?: string
  readonly since?: number
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  /** Opaque; there may be more where it is present, even after a short page. */
  readonly next?: string
}

/** A cursor that no list of ours has given out. */
export class BadCursor extends Error {
  override readonly name = 'BadCursor'
}

/** One page of rows costs at most this many index reads, and as many batches of items. */
const mostReads = 12
const largestRead = 100
/** Updates are kept for 26 months; nothing older is looked for. */
const oldestMs = 27 * 31 * 24 * 3600_000

interface Place {
  readonly partition: string
  readonly after?: Position
}

export function createLists({ store, clock }: { store: Store; clock: Clock }) {
  async function updates(filter: UpdateFilter, limit: number, cursor?: string): Promise<Page<Update>> {
    const keep = (update: Update) => matches(update, filter)
    const { state } = filter
    if (state && !isTerminal(state))
      return walk({ index: 'open', first: state, limit, cursor, read: fromUpdateItem, keep })
    const newest = Math.min(filter.until ?? clock.now(), clock.now() + dayMs)
    const oldest = Math.max(filter.since ?? 0, clock.now() - oldestMs)
    const bounds = { from: stamp(oldest), to: `${stamp(newest)}~` }
    return walk({
      index: 'by-time',
      first: listedIn(monthOf(newest)),
      following: (partition) => monthBefore(partition, monthOf(oldest)),
      bounds,
      limit,
      cursor,
      read: fromUpdateItem,
      keep,
    })
  }

  const open = (as: OpenAs, limit: number, cursor?: string): Promise<Page<Update>> =>
    walk({ index: 'open', first: as, limit, cursor, read: fromUpdateItem, keep: () => true })

  const entries = (filter: EntryFilter, limit: number, cursor?: string): Promise<Page<Entry>> =>
    walk({
      index: 'by-time',
      first: entriesListedIn(filter.month),
      bounds: { from: stamp(filter.since ?? 0), to: '~' },
      limit,
      cursor,
      read: fromEntryItem,
      keep: (entry) => filter.budget === undefined || concerns(entry, filter.budget),
    })

  /**
   * Follows an index from partition to partition, newest first, and reads the items behind it consistently: an index
   * may lag behind, an item never does.
   */
  async function walk<Row>(query: {
    index: Index
    first: string
    following?: (partition: string) => string | null
    bounds?: { from: string; to: string }
    limit: number
    cursor: string | undefined
    read: (item: Item) => Row
    keep: (row: Row) => boolean
  }): Promise<Page<Row>> {
    const rows: Row[] = []
    let place: Place | null = query.cursor === undefined ? { partition: query.first } : fromCursor(query.cursor)
    for (let reads = 0; place !== null && rows.length < query.limit && reads < mostReads; reads++) {
      const { partition, after }: Place = place
      const wanted = Math.min(largestRead, reads === 0 ? query.limit : largestRead)
      const page = await store.list({
        index: query.index,
        partition,
        newestFirst: true,
        ...query.bounds,
        limit: wanted,
        ...(after && { after }),
      })
      const items = page.positions.length > 0 ? await store.get(page.positions) : []
      const following = query.following?.(partition) ?? null
      place = following === null ? null : { partition: following }
      if (page.more) place = { partition, after: lastOf(page.positions, after) }
      for (const [index, item] of items.entries()) {
        const position = page.positions[index]
        if (!item || !position) continue
        const row = query.read(item)
        if (!query.keep(row)) continue
        rows.push(row)
        if (rows.length === query.limit && index < items.length - 1) {
          place = { partition, after: position }
          break
        }
      }
    }
    return { rows, ...(place && { next: toCursor(place) }) }
  }

  return { updates, open, entries }
}

export type Lists = ReturnType<typeof createLists>

const concerns = (entry: Entry, budget: string) =>
  entry.budget === budget || entry.moves.some((move) => move.budget === budget)

const dayMs = 24 * 3600_000
const stamp = (instant: number) => new Date(instant).toISOString()
const monthOf = (instant: number) => stamp(instant).slice(0, 7)

function lastOf(positions: readonly Position[], before: Position | undefined): Position {
  const last = positions.at(-1) ?? before
  if (!last) throw new Error('a page without rows that has more')
  return last
}

function monthBefore(partition: string, oldest: string): string | null {
  const month = partition.slice(-7)
  if (month <= oldest) return null
  const [year = 0, number = 1] = month.split('-').map(Number)
  return listedIn(new Date(Date.UTC(year, number - 2)).toISOString().slice(0, 7))
}

function matches(update: Update, filter: UpdateFilter): boolean {
  const { since = 0, until = Number.POSITIVE_INFINITY, ...same } = filter
  if (update.createdAt < since || update.createdAt > until) return false
  return Object.entries(same).every(([name, value]) => value === undefined || update[name as keyof Update] === value)
}

const toCursor = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url')

function fromCursor(cursor: string): Place {
  try {
    const { partition, after } = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const sound = [partition, after?.pk ?? '', after?.sk ?? '', after?.sort ?? ''].every(
      (text) => typeof text === 'string',
    )
    if (sound && /^(updates#\d{4}-\d{2}|entries#month:[\d-]{10}|[a-z-]{1,20})$/.test(partition)) {
      return { partition, ...(after && { after: { pk: after.pk, sk: after.sk, sort: after.sort } }) }
    }
  } catch {
    // Falls through: whatever it is, it is not ours.
  }
  throw new BadCursor('not a cursor of this list')
}
