import { marshall } from '@aws-sdk/util-dynamodb'
import type { Item } from '../../../shared/ledger/store/store.ts'
import type { World } from '../world.ts'

/** @param earlier the number of earlier records of the stream. */
export function changesBetween(before: World, after: World, earlier: number) {
  const changed = [...after.items].filter(([name, item]) => item !== before.items.get(name))
  return changed.map(([name, { pk, sk, state, openAs, version, subjects, traceparent }], index) => ({
    eventSource: 'aws:dynamodb',
    eventName: before.items.has(name) ? 'MODIFY' : 'INSERT',
    dynamodb: {
      Keys: marshall({ pk, sk }),
      NewImage: marshall({ state, openAs, version, subjects, traceparent }, { removeUndefinedValues: true }),
      SequenceNumber: String(earlier + index).padStart(21, '0'),
    },
  }))
}

export type StreamRecord = ReturnType<typeof changesBetween>[number]

export const openTasks = ({ items }: World): Item[] =>
  [...items.values()].filter(
    ({ openAs }) => openAs === 'announcement' || openAs === 'slack-event' || openAs === 'occurrence',
  )
