import { toRfc3339 } from '../platform/clock.ts'
import type { Item, Value } from './store.ts'
import { contentOf, expiryOf, keptForDays, sortKeyOf } from './table.ts'
import { type State, states, type Update } from './update.ts'

/** How a record is stored, and where it is listed. */

export const updateKey = (id: string) => ({ pk: `update#${id}`, sk: 'update' })

/** Updates are listed by the calendar month (UTC) of their creation: a partition that does not grow for ever. */
export const listedIn = (month: string) => `updates#${month}`

export function toUpdateItem(update: Update): Item {
  const openAs = openAsOf(update)
  return {
    ...updateKey(update.id),
    ...(update as unknown as Record<string, Value>),
    listedIn: listedIn(toRfc3339(update.createdAt).slice(0, 7)),
    listedAt: sortKeyOf(update.createdAt, update.id),
    ...(openAs && { openAs, openSince: sortKeyOf(update.history.at(-1)?.at ?? update.createdAt, update.id) }),
    ...expiryOf(update.createdAt, keptForDays),
  }
}

/** What the sweep still has to look at: everything unfinished, and what a person released without proof. */
export type OpenAs = 'awaiting-approval' | 'requested' | 'running' | 'in-doubt' | 'watched'

function openAsOf(update: Update): OpenAs | null {
  switch (update.state) {
    case 'awaiting-approval':
    case 'requested':
    case 'running':
    case 'in-doubt':
      return update.state
    case 'released':
      return update.closedBy === 'person' && !update.corrected && !update.unwatched ? 'watched' : null
    default:
      return null
  }
}

export function fromUpdateItem(item: Item): Update {
  const update = contentOf(item)
  const { id, version, state, history } = update
  const isSound = item.pk === `update#${id}` && Number.isSafeInteger(version) && Array.isArray(history)
  if (!isSound || !states.includes(state as State)) throw new Error(`the record ${item.pk} is damaged`)
  return update as unknown as Update
}
