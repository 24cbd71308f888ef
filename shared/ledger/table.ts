import type { Index } from './store.ts'

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
