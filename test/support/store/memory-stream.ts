import { marshall } from '@aws-sdk/util-dynamodb'
import type { StreamEvent, StreamRecord } from '../../../infra/local/database/changes.ts'
import { type Item, keyOf, type Store, type Write } from '../../../shared/ledger/store/store.ts'

type Change = Exclude<Write, { kind: 'check' }>

/** Emits changes later, like a stream, with one event for each transaction. A failing reader does not affect the writer. */
export function withStream(store: Store, tell: (event: StreamEvent) => void): Store {
  let told = 0

  async function emit(changes: readonly Change[]): Promise<void> {
    const items = await store.get(changes.map(keyOf))
    const Records = changes.flatMap((change, index) => {
      // An item may have changed since it was put, and each version has its own record.
      const item = change.kind === 'put' ? change.item : items[index]
      told++
      return item ? [recordOf(change, item, told)] : []
    })
    if (Records.length > 0) tell({ Records })
  }

  return {
    ...store,
    transact: async (writes, ...rest) => {
      const outcome = await store.transact(writes, ...rest)
      const changes = writes.filter((write) => write.kind !== 'check')
      if (outcome.applied && changes.length > 0) setImmediate(() => void emit(changes).catch(() => {}))
      return outcome
    },
  }
}

function recordOf(change: Change, item: Item, sequence: number): StreamRecord {
  const isNew = change.when.some(({ kind }) => kind === 'absent-item')
  const { pk, sk } = item
  return {
    eventSource: 'aws:dynamodb',
    eventName: isNew ? 'INSERT' : 'MODIFY',
    dynamodb: {
      Keys: marshall({ pk, sk }),
      NewImage: marshall(item, { removeUndefinedValues: true, convertClassInstanceToMap: true }),
      // Padded, because they are compared as text.
      SequenceNumber: String(sequence).padStart(21, '0'),
    },
  }
}
