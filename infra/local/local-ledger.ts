import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createDynamoClient } from '../../shared/ledger/dynamo-client.ts'
import { createMemoryStore } from '../../shared/ledger/memory-store.ts'
import type { Store } from '../../shared/ledger/store.ts'
import { NoJava, startDynamoDbLocal } from './dynamodb.ts'
import { waitForLock } from './dynamodb-lock.ts'
import { CannotGoOn, reasonOf } from './failures.ts'
import type { Shutdown } from './shutdown.ts'
import { createTable } from './table.ts'

export type LocalLedger =
  | { readonly kind: 'dynamodb'; readonly endpoint: string; readonly where: string }
  | { readonly kind: 'memory'; readonly store: Store; readonly where: string }

/**
 * The ledger of this machine, with its table: the DynamoDB that was given, else DynamoDB Local, else one in memory.
 *
 * @param keptIn `null` keeps nothing.
 */
export async function openLedger(options: {
  endpoint: string | undefined
  table: string
  keptIn: string | null
  shutdown: Shutdown
}): Promise<LocalLedger> {
  const { table } = options
  const found =
    options.endpoint === undefined
      ? await startDatabase(options)
      : ({ kind: 'dynamodb', endpoint: options.endpoint, where: `DynamoDB at ${options.endpoint}` } as const)
  if (found.kind === 'memory') return found
  const client = createDynamoClient(found.endpoint)
  try {
    await createTable(client, table)
  } catch (error) {
    throw new CannotGoOn(`the table ${table} could not be made at ${found.endpoint}: ${reasonOf(error)}`, {
      cause: error,
    })
  } finally {
    client.destroy()
  }
  return found
}

async function startDatabase(options: { keptIn: string | null; shutdown: Shutdown }): Promise<LocalLedger> {
  const { keptIn, shutdown } = options
  // DynamoDB Local runs in a directory of its own, so the path must not be relative.
  const directory = keptIn === null ? null : resolve(keptIn, 'dynamodb')
  if (directory !== null) {
    await mkdir(directory, { recursive: true })
    await waitForLock(directory, (message) => console.log(message))
  }
  try {
    const { endpoint, ended, stop } = await startDynamoDbLocal(directory)
    shutdown.onStop(stop)
    void ended.then(() => {
      if (!shutdown.isStopping()) console.error('unit-guard: DynamoDB Local has ended; stop and start again')
    })
    const kept = keptIn === null ? 'nothing is kept' : `kept in ${join(keptIn, 'dynamodb')}`
    return { kind: 'dynamodb', endpoint, where: `DynamoDB Local at ${endpoint}, ${kept}` }
  } catch (error) {
    if (!(error instanceof NoJava)) throw error
    console.error(
      '*** NO JAVA: install Java 17 or newer to keep the ledger. Going on with a ledger IN MEMORY: nothing is kept. ***\n',
    )
    return { kind: 'memory', store: createMemoryStore(), where: 'IN MEMORY, nothing is kept' }
  }
}
