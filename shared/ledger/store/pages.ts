import { BadCursor, DamagedItem } from '../errors.ts'
import type { Index, Item, Position, Store } from './store.ts'

export interface Page<Row> {
  readonly rows: readonly Row[]
  /** A page with fewer rows than the limit may have a next page, too. */
  readonly next?: string
}

export async function* pagesOf<Row>(page: (cursor?: string) => Promise<Page<Row>>): AsyncGenerator<Page<Row>, void> {
  let cursor: string | undefined
  do {
    const found = await page(cursor)
    yield found
    cursor = found.next
  } while (cursor !== undefined)
}

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

/** Limits the reads for one page. Each read gets a batch of items. */
const maxReads = 12
const maxRowsPerRead = 100
const openAtOnce = 50
/** Longer than any of our keys. */
const maxKeyLength = 200

interface Place {
  readonly partition: string
  readonly after?: Position
}

interface Query<Row> {
  readonly index: Index
  readonly oldestFirst?: boolean
  readonly first: string
  readonly following?: (partition: string) => string | null
  /** The last partition. Absent: there is only one partition. */
  readonly last?: string
  readonly bounds?: { readonly from: string; readonly to: string }
  readonly limit: number
  readonly cursor?: string | undefined
  readonly read: (item: Item, place: string) => Row
  readonly keep?: (row: Row) => boolean
  /** Gets the rows that cannot be read, which the page leaves out. Absent: the first one is thrown. */
  readonly onDamage?: ((damage: DamagedItem) => void) | undefined
}

/** Reads the items consistently, because the index lags. */
export async function walk<Row>(store: Store, query: Query<Row>): Promise<Page<Row>> {
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
      const row = orDamage(() => query.read(item, position.sort))
      if (row instanceof DamagedItem) leaveOut(row, query)
      if (row instanceof DamagedItem || query.keep?.(row) === false) continue
      rows.push(row)
      if (rows.length === query.limit && index < items.length - 1) {
        place = { partition, after: position }
        break
      }
    }
  }
  return { rows, ...(place && { next: toCursor(place) }) }
}

/**
 * Yields the rows after a place, then the rows up to that place. Each part begins with the oldest.
 * @param after may be the place of a row that no longer exists.
 */
export async function* openFrom<Row>(
  store: Store,
  first: string,
  after: string | null,
  read: (item: Item) => Row,
): AsyncGenerator<{ readonly row: Row | DamagedItem; readonly place: string }, void> {
  const placed = (item: Item, place: string) => ({ row: orDamage(() => read(item)), place })
  const parts =
    after === null ? [{}] : [{ bounds: { from: `${after}~`, to: '~' } }, { bounds: { from: '0', to: after } }]
  for (const part of parts) {
    const page = (cursor?: string) =>
      walk(store, { index: 'open', oldestFirst: true, first, ...part, limit: openAtOnce, cursor, read: placed })
    for await (const { rows } of pagesOf(page)) yield* rows
  }
}

function orDamage<Row>(read: () => Row): Row | DamagedItem {
  try {
    return read()
  } catch (error) {
    if (error instanceof DamagedItem) return error
    throw error
  }
}

function leaveOut(damage: DamagedItem, { onDamage }: Pick<Query<unknown>, 'onDamage'>): void {
  if (!onDamage) throw damage
  onDamage(damage)
}

function lastOf(positions: readonly Position[], before: Position | undefined): Position {
  const last = positions.at(-1) ?? before
  if (!last) throw new Error('a page has no rows, but is not the last one')
  return last
}

const toCursor = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url')

function fromCursor(
  cursor: string,
  { first, last = first, bounds }: Pick<Query<unknown>, 'first' | 'last' | 'bounds'>,
): Place {
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
