import { dayMs, toRfc3339 } from '../../platform/clock.ts'
import type { Index, Item, Value } from './store.ts'

/**
 * The one table: its keys and indexes, as the store reads them and as the infrastructure creates them. An item is in
 * an index while it has the index's two attributes. Indexes hold keys only, so an item that changes without moving
 * costs them nothing.
 */
export const tableKey = { partition: 'pk', sort: 'sk' } as const

export const indexes = {
  'by-time': { partition: 'listedIn', sort: 'listedAt' },
  open: { partition: 'openAs', sort: 'openSince' },
} as const satisfies Record<Index, { partition: string; sort: string }>

/** The attribute by which DynamoDB deletes old items, in seconds since the epoch. Housekeeping, never a timer. */
export const expiryAttribute = 'expiresAt'

/** How long updates are kept, and all that is listed beside them: 24 months are promised. */
export const keptForDays = 780

export const expiryOf = (at: number, days: number): { readonly [expiryAttribute]: number } => ({
  [expiryAttribute]: Math.floor((at + days * dayMs) / 1000),
})

/** A sort key of an index: by time, and of one millisecond by the id. */
export const sortKeyOf = (at: number, id: string): string => `${toRfc3339(at)}#${id}`

/** What was stored, without what the table adds to it. */
export function contentOf(item: Item): { readonly [name: string]: Value | undefined } {
  const {
    pk: _pk,
    sk: _sk,
    listedIn: _in,
    listedAt: _at,
    openAs: _as,
    openSince: _since,
    expiresAt: _until,
    ...content
  } = item
  return content
}
