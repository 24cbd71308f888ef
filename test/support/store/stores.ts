import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { createTable } from '../../../infra/local/database/table.ts'
import { createDynamoClient, createDynamoStore } from '../../../shared/ledger/store/dynamo-store.ts'
import { createMemoryStore } from '../../../shared/ledger/store/memory-store.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'

/** Every store that this machine can run, each new and empty: what is true of one must be true of all. */
export const stores: readonly (readonly [name: string, create: () => Promise<Store>])[] = [
  ['memory', async () => createMemoryStore()],
  ...(inject('dynamodb') === null ? [] : [['DynamoDB Local', createLocalStore] as const]),
]

/** The most real store that this machine can run. */
export const createStore = (): Promise<Store> =>
  inject('dynamodb') === null ? Promise.resolve(createMemoryStore()) : createLocalStore()

async function createLocalStore(): Promise<Store> {
  const { client, table } = await createLocalTable()
  return createDynamoStore({ client, table, clock: systemClock, ids: systemIds })
}

/** A busy machine must not look like a lost answer, or a secret that cannot be read. */
export const patienceMs = 60_000

/** Without a stream, unless a test reads it: DynamoDB Local takes half as long again for each write to keep one. */
export async function createLocalTable({ stream = false } = {}) {
  const client = createDynamoClient(inject('dynamodb') ?? '', undefined, patienceMs)
  const table = `test-${randomUUID()}`
  await createTable(client, table, { stream })
  return { client, table }
}
