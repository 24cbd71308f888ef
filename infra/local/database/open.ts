import { join, resolve } from 'node:path'
import { createSandbox } from '../../../functions/sandbox/app.ts'
import { demonstrationProjects } from '../../../functions/sandbox/demonstration.ts'
import type { State } from '../../../functions/sandbox/state/state.ts'
import { createTableClient } from '../../../functions/sandbox/state/table-access.ts'
import { createTableState } from '../../../functions/sandbox/state/table-state.ts'
import { createDynamoClient } from '../../../shared/ledger/store/dynamo-store.ts'
import { createMemoryStore } from '../../../shared/ledger/store/memory-store.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { type Clock, systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { makePrivateDirectory } from '../data-directory.ts'
import { CannotContinue, reasonOf } from '../failures.ts'
import type { LocalSettings } from '../settings.ts'
import type { Shutdown } from '../shutdown.ts'
import { NoJava, readAccessKey, startDynamoDbLocal, waitForLock } from './dynamodb.ts'
import { withStream } from './memory-stream.ts'
import { type Follow, followTable } from './stream.ts'
import { createSandboxTable, createTable } from './table.ts'

export type LocalLedger = { readonly follow: Follow } & (
  | (Database & { readonly kind: 'dynamodb' })
  | { readonly kind: 'memory'; readonly store: Store; readonly where: string }
)

export interface Place {
  readonly endpoint: string
  readonly accessKey: string | undefined
}

interface Database extends Place {
  readonly where: string
}

interface Whereabouts {
  readonly endpoint: string | undefined
  readonly accessKey: string | undefined
  /** `null` keeps nothing. */
  readonly keptIn: string | null
  readonly shutdown: Shutdown
}

export async function openLedger(options: Whereabouts & { table: string }): Promise<LocalLedger> {
  const found = await openDatabase(options)
  if (found === null) {
    console.error(
      '*** NO JAVA: install Java 17 or newer to keep the ledger. Continuing with a ledger IN MEMORY: nothing is kept. ***\n',
    )
    return { kind: 'memory', ...openMemory(), where: 'IN MEMORY, nothing is kept' }
  }
  await ensureTable(found, options.table, createTable)
  const place = { ...found, table: options.table }
  return { kind: 'dynamodb', ...found, follow: (how) => followTable(place, how) }
}

function openMemory(): { store: Store; follow: Follow } {
  const followers: Parameters<Follow>[0][] = []
  const store = withStream(createMemoryStore(), ({ Records }) => {
    for (const { take } of followers) void take(Records)
  })
  return {
    store,
    follow: async (how) => {
      followers.push(how)
      return { stop: async () => void followers.splice(followers.indexOf(how), 1) }
    },
  }
}

/** @throws CannotContinue when `create` fails. */
async function ensureTable({ endpoint, accessKey }: Place, table: string, create: typeof createTable): Promise<void> {
  const client = createDynamoClient(endpoint, accessKey)
  try {
    await create(client, table)
  } catch (error) {
    throw new CannotContinue(`the table ${table} could not be made at ${endpoint}: ${reasonOf(error)}`, {
      cause: error,
    })
  } finally {
    client.destroy()
  }
}

export async function openDatabase({ endpoint, accessKey, ...options }: Whereabouts): Promise<Database | null> {
  return endpoint === undefined ? startDatabase(options) : { endpoint, accessKey, where: `DynamoDB at ${endpoint}` }
}

async function startDatabase({
  keptIn,
  shutdown,
}: Omit<Whereabouts, 'endpoint' | 'accessKey'>): Promise<Database | null> {
  // DynamoDB Local has another working directory, so the path has to be absolute.
  const directory = keptIn === null ? null : resolve(keptIn, 'dynamodb')
  if (directory !== null) {
    await makePrivateDirectory(directory)
    await waitForLock(directory, (message) => console.log(message))
  }
  const accessKey = await readAccessKey(directory)
  try {
    const { endpoint, ended, stop } = await startDynamoDbLocal(directory)
    shutdown.onStop(stop)
    void ended.then(() => {
      if (!shutdown.isStopping()) console.error('unit-guard: DynamoDB Local has ended; stop and start again')
    })
    const kept = keptIn === null ? 'nothing is kept' : `kept in ${join(keptIn, 'dynamodb')}`
    return { endpoint, accessKey, where: `DynamoDB Local at ${endpoint}, ${kept}` }
  } catch (error) {
    if (error instanceof NoJava) return null
    throw error
  }
}

/** @param database `null` keeps nothing. */
export async function openSandbox(local: LocalSettings, database: Place | null, token: string) {
  const state = database === null ? undefined : await openSandboxState(database, local.sandboxTable, systemClock)
  return createSandbox({
    clock: systemClock,
    token,
    unitsPerMonth: local.sandboxUnitsPerMonth,
    ...(state && { state }),
  })
}

/** @param clock for the dates of an empty table's projects. */
export async function openSandboxState(database: Place, table: string, clock: Clock): Promise<State> {
  await ensureTable(database, table, createSandboxTable)
  return createTableState({
    client: createTableClient(database.endpoint, database.accessKey),
    table,
    clock,
    ids: systemIds,
    demonstration: () => demonstrationProjects(clock.now()),
  })
}
