import type { Item, Value } from './store.ts'
import { type State, states, type Update } from './update.ts'

/** How a record is stored, and where it is listed. */

export const updateKey = (id: string) => ({ pk: `update#${id}`, sk: 'update' })

/** Updates are listed by the calendar month (UTC) of their creation: a partition that does not grow for ever. */
export const listedIn = (month: string) => `updates#${month}`

const keptForSeconds = 780 * 24 * 3600

export function toUpdateItem(update: Update): Item {
  const created = new Date(update.createdAt).toISOString()
  const openAs = openAsOf(update)
  return {
    ...updateKey(update.id),
    ...(update as unknown as Record<string, Value>),
    listedIn: listedIn(created.slice(0, 7)),
    listedAt: `${created}#${update.id}`,
    ...(openAs && {
      openAs,
      openSince: `${new Date(update.history.at(-1)?.at ?? update.createdAt).toISOString()}#${update.id}`,
    }),
    expiresAt: Math.floor(update.createdAt / 1000) + keptForSeconds,
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
  const {
    pk,
    sk: _sk,
    listedIn: _in,
    listedAt: _at,
    openAs: _as,
    openSince: _since,
    expiresAt: _until,
    ...update
  } = item
  const { id, version, state, history } = update
  const sound = pk === `update#${id}` && Number.isSafeInteger(version) && Array.isArray(history)
  if (!sound || !states.includes(state as State)) throw new Error(`the record ${pk} is damaged`)
  return update as unknown as Update
}
