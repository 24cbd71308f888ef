import { type Clock, dayMs, toRfc3339 } from '../../platform/clock.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { type Entry, entriesListedIn, fromEntryItem } from '../book/entry.ts'
import { BadCursor } from '../errors.ts'
import type { Index, Item, Position, Store } from '../store/store.ts'
import { isTerminal, type State, type Update, type Via } from '../updates/update.ts'
import { fromUpdateItem, listedIn, type OpenAs } from '../updates/update-item.ts'
import { changesListedIn, fromProjectChangeItem, type ProjectChange } from './projects.ts'

export interface UpdateFilter {
  readonly state?: State
  readonly kind?: Kind
  readonly project?: string
  /** A part of the name, in any case. */
  readonly search?: string
  readonly budget?: string
  readonly caller?: string
  readonly via?: Via
  readonly plan?: string
  /** Both inclusive. */
  readonly since?: number
  readonly until?: number
}

/** Both inclusive. */
export interface Span {
  readonly since: number
  readonly until: number
}

export interface EntryFilter {
  /** `month:2026-11-12` */
  readonly month: string
  readonly budget?: string
  readonly since?: number
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  /** Opaque. A short page may have one, too. */
  readonly next?: string
}

/** A row with its place in the list. */
export interface PlacedRow<Row> {
  readonly row: Row
  readonly place: string
}

export async function* pagesOf<Row>(page: (cursor?: string) => Promise<Page<Row>>): AsyncGenerator<Page<Row>, void> {
  let cursor: string | undefined
  do {
    const found = await page(cursor)
    yield found
    cursor = found.next
  } while (cursor !== undefined)
}

/** Reads all pages, or until there are `enough` rows. */
export async function all<Row>(
  page: (cursor?: string) => Promise<Page<Row>>,
  enough = Number.POSITIVE_INFINITY,
): Promise<Row[]> {
  const rows: Row[] = []
  for await (const found of pagesOf(page)) {
    rows.push(...found.rows)
    if (rows.length >= enough) break
  }
  return rows
}

/** Index reads for one page, each with a batch of items. */
const maxReads = 12
const maxRowsPerRead = 100
const openAtOnce = 50
/** Updates are kept for 26 months. */
const oldestMs = 27 * 31 * dayMs
/** Longer than any of our keys. */
const maxKeyLength = 200

interface Place {
  readonly partition: string
  readonly after?: Position
}

/** @param options.createdAt when the ledger began. */
export function createLists(options: { store: Store; clock: Clock; createdAt: () => Promise<number> }) {
  const { store, clock, createdAt } = options

  async function updates(filter: UpdateFilter, limit: number, cursor?: string): Promise<Page<Update>> {
    const keep = (update: Update) => matches(update, filter)
    const { state } = filter
    if (state && !isTerminal(state))
      return walk({ index: 'open', first: state, limit, cursor, read: fromUpdateItem, keep })
    const newest = Math.min(filter.until ?? clock.now(), clock.now() + dayMs)
    const oldest = Math.max(filter.since ?? 0, clock.now() - oldestMs, (await createdAt()) - dayMs)
    if (oldest > newest) return { rows: [] }
    const bounds = { from: toRfc3339(oldest), to: `${toRfc3339(newest)}~` }
    return walk({
      index: 'by-time',
      ...months(newest, -1, oldest, listedIn),
      bounds,
      limit,
      cursor,
      read: fromUpdateItem,
      keep,
    })
  }

  /** The oldest first. */
  const updatesFrom = ({ since, until }: Span, limit: number, cursor?: string): Promise<Page<Update>> =>
    walk({
      index: 'by-time',
      oldestFirst: true,
      ...months(since, 1, until, listedIn),
      bounds: { from: toRfc3339(since), to: `${toRfc3339(until)}~` },
      limit,
      cursor,
      read: fromUpdateItem,
    })

  const open = (as: OpenAs, limit: number, cursor?: string): Promise<Page<Update>> =>
    walk({ index: 'open', first: as, limit, cursor, read: fromUpdateItem })

  /**
   * All that is open as `first`, the oldest first: from behind a place, and then up to it.
   * @param after may be the place of a row that no longer exists.
   */
  async function* openFrom<Row>(
    first: string,
    after: string | null,
    read: (item: Item) => Row,
  ): AsyncGenerator<PlacedRow<Row>, void> {
    const placed = (item: Item, place: string) => ({ row: read(item), place })
    const parts =
      after === null ? [{}] : [{ bounds: { from: `${after}~`, to: '~' } }, { bounds: { from: '0', to: after } }]
    for (const part of parts) {
      const page = (cursor?: string) =>
        walk({ index: 'open', oldestFirst: true, first, ...part, limit: openAtOnce, cursor, read: placed })
      for await (const { rows } of pagesOf(page)) yield* rows
    }
  }

  const entries = (filter: EntryFilter, limit: number, cursor?: string): Promise<Page<Entry>> =>
    walk({
      index: 'by-time',
      first: entriesListedIn(filter.month),
      bounds: { from: toRfc3339(filter.since ?? 0), to: '~' },
      limit,
      cursor,
      read: fromEntryItem,
      keep: (entry) => filter.budget === undefined || concerns(entry, filter.budget),
    })

  const projectChanges = async (limit: number, cursor?: string): Promise<Page<ProjectChange>> => {
    const newest = clock.now() + dayMs
    const oldest = Math.max(clock.now() - oldestMs, (await createdAt()) - dayMs)
    return walk({
      index: 'by-time',
      ...months(newest, -1, oldest, changesListedIn),
      limit,
      cursor,
      read: fromProjectChangeItem,
    })
  }

  /** Follows an index through its partitions and reads the items consistently, because the index lags. */
  async function walk<Row>(query: {
    index: Index
    oldestFirst?: boolean
    first: string
    following?: (partition: string) => string | null
    /** Absent: the first partition is the only one. */
    last?: string
    bounds?: { from: string; to: string }
    limit: number
    cursor?: string | undefined
    read: (item: Item, place: string) => Row
    keep?: (row: Row) => boolean
  }): Promise<Page<Row>> {
    const rows: Row[] = []
    let place: Place | null = query.cursor === undefined ? { partition: query.first } : fromCursor(query.cursor, query)
    for (let reads = 0; place !== null && rows.length < query.limit && reads < maxReads; reads++) {
      const { partition, after }: Place = place
      const wanted = Math.min(maxRowsPerRead, reads === 0 ? query.limit : maxRowsPerRead)
      const page = await store.list({
        index: query.index,
        partition,
        newestFirst: !query.oldestFirst,
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
        const row = query.read(item, position.sort)
        if (query.keep?.(row) === false) continue
        rows.push(row)
        if (rows.length === query.limit && index < items.length - 1) {
          place = { partition, after: position }
          break
        }
      }
    }
    return { rows, ...(place && { next: toCursor(place) }) }
  }

  return { updates, updatesFrom, open, openFrom, entries, projectChanges, walk }
}

export type Lists = ReturnType<typeof createLists>

const concerns = ({ budget, moves, changed = [] }: Entry, name: string) =>
  budget === name ||
  moves.some((move) => move.budget === name) ||
  changed.some((difference) => difference.kind === 'budget' && difference.name === name)

const monthOf = (instant: number) => toRfc3339(instant).slice(0, 7)

function lastOf(positions: readonly Position[], before: Position | undefined): Position {
  const last = positions.at(-1) ?? before
  if (!last) throw new Error('a page without rows that has more')
  return last
}

/** The partitions of all months between two instants. */
function months(from: number, step: -1 | 1, to: number, named: (month: string) => string) {
  const last = monthOf(to)
  return {
    first: named(monthOf(from)),
    last: named(last),
    following: (partition: string) => {
      const month = partition.slice(-7)
      if (step < 0 ? month <= last : month >= last) return null
      const [year = 0, number = 1] = month.split('-').map(Number)
      return named(monthOf(Date.UTC(year, number - 1 + step)))
    },
  }
}

function matches(update: Update, filter: UpdateFilter): boolean {
  const { since = 0, until = Number.POSITIVE_INFINITY, search = '', ...same } = filter
  if (update.createdAt < since || update.createdAt > until) return false
  if (!update.project.toLowerCase().includes(search.toLowerCase())) return false
  return Object.entries(same).every(([name, value]) => value === undefined || update[name as keyof Update] === value)
}

const toCursor = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url')

interface Extent {
  readonly first: string
  readonly last?: string
  readonly bounds?: { readonly from: string; readonly to: string }
}

/** A database does not understand a place of another list, or outside the bounds. */
function fromCursor(cursor: string, { first, last = first, bounds }: Extent): Place {
  const place = parse(cursor)
  const [lowest, highest] = first < last ? [first, last] : [last, first]
  if (
    !isPlace(place) ||
    place.partition < lowest ||
    place.partition > highest ||
    place.partition.length !== first.length
  )
    throw new BadCursor('not a cursor of this list')
  const { partition, after } = place
  if (!after) return { partition }
  const { pk, sk, sort } = after
  if (bounds && (sort < bounds.from || sort > bounds.to)) throw new BadCursor('not a cursor of this list')
  return { partition, after: { pk, sk, sort } }
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return null
  }
}

function isPlace(value: unknown): value is Place {
  const isKey = (text: unknown) => typeof text === 'string' && text.length > 0 && text.length <= maxKeyLength
  const { partition, after } = (value ?? {}) as Partial<Place>
  return isKey(partition) && (after === undefined || [after?.pk, after?.sk, after?.sort].every(isKey))
}
