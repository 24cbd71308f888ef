import type { Clock } from '../platform/clock.ts'
import { digest } from '../platform/ids.ts'
import type { Lists } from './lists.ts'
import type { Item, Store } from './store.ts'

/**
 * Hands each open row of a list over, the oldest first: from behind the last one that had its turn in the sweep before,
 * and once around. `mayTake` says whether there is time left, and is the row's turn if there is.
 *
 * @param handle may end the round by `enough`.
 */
export type Round<Row> = (
  hasTime: () => boolean,
  handle: (row: Row, mayTake: () => boolean) => Promise<unknown>,
) => Promise<void>

export interface Rotation {
  round<Row>(
    list: { readonly name: string; readonly read: (item: Item) => Row },
    ...how: Parameters<Round<Row>>
  ): Promise<void>
}

export const enough = Symbol('enough')

/** The place is an item, because the next sweep may be another process. */
export function createRotation({ store, lists, clock }: { store: Store; lists: Lists; clock: Clock }): Rotation {
  return {
    async round({ name, read }, hasTime, handle) {
      const key = { pk: `sweep#${name}`, sk: 'place' }
      const [kept] = await store.get([key])
      const after = typeof kept?.place === 'string' ? kept.place : null
      let last = after
      let wasCut = false
      for await (const { row, place } of lists.openFrom(name, after, read)) {
        const mayTake = () => {
          if (!hasTime()) wasCut = true
          else last = place
          return !wasCut
        }
        if ((await handle(row, mayTake)) === enough) break
      }
      const place = wasCut ? last : null
      if (place === after) return
      const token = digest('place', name, after ?? '', place ?? '', String(clock.now()))
      // A lost place costs one round that begins where this one did; the rest of the sweep must not wait for it.
      await store.transact([{ do: 'put', item: { ...key, place }, when: [] }], token).catch(() => undefined)
    },
  }
}
