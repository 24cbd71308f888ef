import { BatchWriteItemCommand, paginateScan } from '@aws-sdk/client-dynamodb'
import { expect } from 'vitest'
import { acceptance, usualAccount } from '../../../shared/ledger/identity.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { createDynamoStore } from '../../../shared/ledger/store/dynamo-store.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { type Clock, systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { createLocalTable } from './stores.ts'

export const storeOf = (local: Awaited<ReturnType<typeof createLocalTable>>) =>
  createDynamoStore({ ...local, clock: systemClock, ids: systemIds })

/** Copies every item into a new table, as a restore to this moment would. */
export async function copyOf({ client, table }: Awaited<ReturnType<typeof createLocalTable>>) {
  const target = await createLocalTable()
  for await (const { Items = [] } of paginateScan(
    { client, pageSize: 25 },
    { TableName: table, ConsistentRead: true },
  )) {
    const RequestItems = { [target.table]: Items.map((Item) => ({ PutRequest: { Item } })) }
    if (Items.length > 0) await client.send(new BatchWriteItemCommand({ RequestItems }))
  }
  return target
}

/** Accepts as `npm run restore -- accept` does. */
export async function accept(store: Store, clock: Clock, epoch = 1): Promise<void> {
  const ledger = createLedger({ store, clock, account: usualAccount, begins: false })
  const to = Date.parse('2026-11-20T09:55:00Z')
  const make = acceptance({ table: (await store.tableId?.()) ?? '', epoch, to, toText: '09:55' })
  expect((await ledger.change('setup', make)).kind).toBe('changed')
}
