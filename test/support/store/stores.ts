import { randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import { createDynamoClient, createDynamoStore } from '../../../shared/ledger/store/dynamo-store.ts'
import { createSqliteFile, openSqlite } from '../../../shared/ledger/store/sqlite-file.ts'
import { createSqliteStore } from '../../../shared/ledger/store/sqlite-store.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { dynamodb } from '../dynamodb/endpoint.ts'
import { createTable } from '../dynamodb/table.ts'
import { createMemoryStore } from './memory-store.ts'

/** Tests run on every store that this machine has. */
export const stores: readonly (readonly [name: string, create: () => Promise<Store>])[] = [
  ['memory', async () => createMemoryStore()],
  ['SQLite in a file', async () => createFileStore(join(await mkdtemp(join(tmpdir(), 'ledger-')), 'ledger.db'))],
  ...(inject('dynamodb') === null ? [] : [['DynamoDB Local', createLocalStore] as const]),
]

export const createFileStore = (file: string, clock = systemClock): Store =>
  createSqliteStore(createSqliteFile({ db: openSqlite(file), clock, ids: systemIds }), { clock })

export const createStore = (): Promise<Store> =>
  inject('dynamodb') === null ? Promise.resolve(createMemoryStore()) : createLocalStore()

const filesOnDynamoDb = new Set<string>()

/**
 * The first product of each test file is on DynamoDB Local, and the others are in memory, because a table costs more than most tests.
 * `TEST_STORE=dynamodb` puts all products on DynamoDB Local.
 */
export function createProductStore(): Promise<Store> {
  const { testPath = '' } = expect.getState()
  const isFirst = !filesOnDynamoDb.has(testPath)
  filesOnDynamoDb.add(testPath)
  if (isFirst || process.env.TEST_STORE === 'dynamodb') return createStore()
  return Promise.resolve(createMemoryStore())
}

async function createLocalStore(): Promise<Store> {
  const { client, table } = await createLocalTable()
  return createDynamoStore({ client, table, clock: systemClock, ids: systemIds })
}

/** A slow answer on a busy machine must not count as a lost one. */
export const patienceMs = 60_000

/** Without a stream unless a test reads it, because a stream makes writes in DynamoDB Local half as slow again. */
export async function createLocalTable({ stream = false } = {}) {
  const client = createDynamoClient(await dynamodb(), undefined, patienceMs)
  const table = `test-${randomUUID()}`
  await createTable(client, table, { stream })
  return { client, table }
}
