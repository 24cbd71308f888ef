import { marshall } from '@aws-sdk/util-dynamodb'
import { type Item, keyOf, type Store, type Write } from '../../shared/ledger/store.ts'
import type { StreamEvent, StreamRecord } from './stream-event.ts'

type Change = Exclude<Write, { do: 'check' }>

/**
 * A store that tells of its changes as a table with a stream does: one event for each transaction that was applied, with
 * the items as they are afterwards, in the order of the writes. It tells later, and whatever goes wrong in telling
 * changes nothing for whoever writes: what is not told is found by the sweep.
 *
 * A transaction that is sent again under its token may be told again. Streams promise no less than once either.
 */
export function withStream(store: Store, tell: (event: StreamEvent) => void): Store {
  let told = 0

  async function emit(changes: readonly Change[]): Promise<void> {
    const items = await store.get(changes.map(keyOf))
    const Records = changes.flatMap((change, index) => {
      const item = items[index]
      told++
      return item ? [recordOf(change, item, told)] : []
    })
    if (Records.length > 0) tell({ Records })
  }

  return {
    ...store,
    transact: async (writes, ...rest) => {
      const outcome = await store.transact(writes, ...rest)
      const changes = writes.filter((write) => write.do !== 'check')
      if (outcome.applied && changes.length > 0) setImmediate(() => void emit(changes).catch(() => {}))
      return outcome
    },
  }
}

function recordOf(change: Change, item: Item, sequence: number): StreamRecord {
  const isNew = change.when.some(({ is }) => is === 'absent-item')
  const { pk, sk } = item
  return {
    eventSource: 'aws:dynamodb',
    eventName: isNew ? 'INSERT' : 'MODIFY',
    dynamodb: {
      Keys: marshall({ pk, sk }),
      NewImage: marshall(item, { removeUndefinedValues: true, convertClassInstanceToMap: true }),
      // As long as AWS's own, and as theirs in order when compared as text.
      SequenceNumber: String(sequence).padStart(21, '0'),
    },
  }
}
