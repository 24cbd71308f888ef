import { toRfc3339 } from '../../platform/clock.ts'
import type { Item, Position, Value } from '../store/store.ts'
import { expiryOf, keptForDays, readItem, sortKeyOf } from '../store/stored.ts'
import { isUndelivered } from './delivery.ts'
import { storedUpdate, type Update, type UpdateRequest } from './update.ts'

export const updateKey = (id: string) => ({ pk: `update#${id}`, sk: 'update' })

export const isUpdateKey = (pk: string): boolean => pk.startsWith('update#')

/** Each calendar month (UTC) has a partition, so that none grows without limit. */
export const listedIn = (month: string) => `updates#${month}`

/**
 * The index names the budgets of an update, so that lists for readers of some budgets skip other updates unread. `upd_`
 * is left out to keep a usual settled record below one kilobyte, because each transaction pays by the kilobyte.
 */
const placeOf = (at: number, { id, budget, owner }: UpdateRequest): string =>
  `${sortKeyOf(at, id.replace(/^upd_/, ''))}#${owner == null || owner === budget ? budget : `${budget},${owner}`}`

export const budgetsIn = (place: string): readonly string[] => place.split('#')[2]?.split(',') ?? []

/** For cursors: a place just after the row, without the budgets, because the reader may not know who paid. */
export function withoutBudgets({ sort, ...key }: Position, newestFirst: boolean): Position {
  const [at, id, budgets] = sort.split('#')
  return { ...key, sort: budgets === undefined ? sort : `${at}#${id}#${newestFirst ? '' : '~'}` }
}

export function toUpdateItem(update: Update): Item {
  const openAs = openAsOf(update)
  return {
    ...updateKey(update.id),
    ...(update as unknown as Record<string, Value>),
    listedIn: listedIn(toRfc3339(update.createdAt).slice(0, 7)),
    listedAt: placeOf(update.createdAt, update),
    ...(openAs && { openAs, openSince: placeOf(update.history.at(-1)?.at ?? update.createdAt, update) }),
    ...expiryOf(update.createdAt, keptForDays),
  }
}

/** Unfinished updates, updates that a person released without proof, and paid updates whose data did not come. */
export type OpenAs = 'awaiting-approval' | 'requested' | 'running' | 'in-doubt' | 'watched' | 'undelivered'

function openAsOf(update: Update): OpenAs | null {
  switch (update.state) {
    case 'awaiting-approval':
    case 'requested':
    case 'running':
    case 'in-doubt':
      return update.state
    case 'released':
      return update.closedBy === 'person' && !update.corrected && !update.unwatched ? 'watched' : null
    case 'settled':
      return isUndelivered(update) ? 'undelivered' : null
    default:
      return null
  }
}

export const fromUpdateItem = (item: Item): Update => readItem(item, storedUpdate, ({ id }) => updateKey(id))
