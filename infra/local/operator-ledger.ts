import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createDynamoClient } from '../../shared/ledger/dynamo-client.ts'
import { createDynamoStore } from '../../shared/ledger/dynamo-store.ts'
import { accountOf, sandboxService, serviceNameOf } from '../../shared/ledger/identity.ts'
import { createLedger } from '../../shared/ledger/ledger.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { accountSettings, environment, parseSettings } from '../../shared/platform/settings.ts'
import { commandEnvironment, isInMemory } from './command.ts'
import { isDynamoDb } from './dynamodb-probe.ts'
import { withoutFound } from './env-file.ts'
import { CannotGoOn } from './failures.ts'
import { openLedger } from './local-ledger.ts'
import { type Environment, readSettings } from './settings.ts'
import type { Shutdown } from './shutdown.ts'

export interface OperatorLedger {
  readonly table: string
  readonly where: string
  readonly store: ReturnType<typeof createDynamoStore>
  /** Compares nothing: the commands of an operator are there to repair what a comparison refuses. */
  readonly ledger: ReturnType<typeof createLedger>
}

/**
 * The ledger of this machine, whether `npm start` runs or not; or on AWS, where `SECRETS_ENDPOINT` is set to nothing, as for
 * every other command, or where this machine has no ledger.
 */
export async function openOperatorLedger(shutdown: Shutdown): Promise<OperatorLedger> {
  const env = commandEnvironment()
  const { endpoint, accessKey, table, where } = await findTable(env, shutdown)
  const client = createDynamoClient(endpoint, accessKey)
  shutdown.onStop(async () => client.destroy())
  const store = createDynamoStore({ client, table, clock: systemClock, ids: systemIds })
  const account = accountOf(parseSettings(accountSettings, env))
  return { table, where, store, ledger: createLedger({ store, clock: systemClock, account }) }
}

async function findTable(env: Environment, shutdown: Shutdown) {
  if (isOnAws()) {
    const table = environment().TABLE_NAME
    if (!table) throw new CannotGoOn('TABLE_NAME names the ledger table; it is an output of the stack.')
    return { endpoint: undefined, accessKey: undefined, table, where: `the table ${table} on AWS` }
  }
  if (isInMemory(env)) throw new CannotGoOn('The ledger is in the memory of npm start, and ends with it.')
  const local = readSettings(withoutFound(environment()))
  const running = env.DYNAMODB_ENDPOINT
  if (running !== undefined && (await isDynamoDb(running)))
    return {
      endpoint: running,
      accessKey: env.DYNAMODB_ACCESS_KEY,
      table: local.table,
      where: `the table ${local.table} at ${running}`,
    }
  const opened = await openLedger({ ...local, endpoint: local.dynamoDb, accessKey: local.dynamoDbKey, shutdown })
  if (opened.kind === 'memory') throw new CannotGoOn('There is no ledger that is kept: install Java 17 or newer.')
  return {
    endpoint: opened.endpoint,
    accessKey: opened.accessKey,
    table: local.table,
    where: `the table ${local.table}, ${opened.where}`,
  }
}

function isOnAws(): boolean {
  const given = environment()
  if (given.SECRETS_ENDPOINT === '') return true
  const { keptIn, dynamoDb } = readSettings(withoutFound(given))
  return dynamoDb === undefined && (keptIn === null || !existsSync(join(keptIn, 'dynamodb')))
}

/** The service that is set here, as ledgers know it. @param onAws where nothing stands in for it by itself. */
export function serviceHere(): string {
  const { TRACKING_BASE_URL: service, LEDGER_SERVICE: name } = withoutFound(environment())
  if (service) return serviceNameOf(service)
  if (!isOnAws() || name === sandboxService) return sandboxService
  throw new CannotGoOn('TRACKING_BASE_URL names the service that the ledger belongs to (or LEDGER_SERVICE=sandbox).')
}
