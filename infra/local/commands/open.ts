import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createTriggers } from '../../../functions/scheduled/triggers.ts'
import { createEvents } from '../../../shared/events/events.ts'
import { guardSettings } from '../../../shared/guard/options.ts'
import { createServices } from '../../../shared/guard/services.ts'
import { accountOf, sandboxService, serviceNameOf } from '../../../shared/ledger/identity.ts'
import { createLedger, type Ledger } from '../../../shared/ledger/ledger.ts'
import { createDynamoClient, createDynamoStore } from '../../../shared/ledger/store/dynamo-store.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { type Clock, systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { usualPrefix } from '../../../shared/platform/prefix.ts'
import { accountSettings, environment, parseSettings } from '../../../shared/platform/settings.ts'
import { createSlack } from '../../../shared/slack/slack.ts'
import { withoutFound } from '../data-directory.ts'
import { isDynamoDb } from '../database/dynamodb.ts'
import { fileMarker, type MarkerStore, parameterMarker } from '../database/marker-store.ts'
import { openLedger } from '../database/open.ts'
import { CannotContinue } from '../failures.ts'
import { createQuietLog } from '../guard-log.ts'
import { type Environment, readSettings } from '../settings.ts'
import { type Shutdown, withShutdown } from '../shutdown.ts'
import { commandEnvironment, isInMemory } from './command.ts'

/** @throws CannotContinue for a ledger in the memory of `npm start`. */
export function openGuard(env: Environment, clock: Clock) {
  const settings = parseSettings(guardSettings, env)
  if (isInMemory(env)) {
    throw new CannotContinue('The ledger is in the memory of npm start, where no other process can reach it.')
  }
  const services = createServices(settings, { clock, log: createQuietLog() })
  return {
    settings,
    services,
    triggers: createTriggers({ ...services, slack: createSlack(services), events: createEvents(services) }),
  }
}

/** Not compared with the settings, because operators' commands repair the differences. */
export interface OperatorLedger {
  readonly table: string
  readonly tableId: string
  readonly where: string
  readonly isOnAws: boolean
  readonly store: Store
  readonly ledger: Ledger
  readonly marker: MarkerStore
  readonly ledgerIn: (table: string) => Ledger
}

/** With an empty `SECRETS_ENDPOINT`, or without a ledger on this machine, it opens the one on AWS. */
export async function withOperatorLedger(work: (opened: OperatorLedger) => Promise<boolean>): Promise<boolean> {
  return withShutdown(async (shutdown) => {
    const env = commandEnvironment()
    const { endpoint, accessKey, table, where, marker } = await findTable(env, shutdown)
    const client = createDynamoClient(endpoint, accessKey)
    shutdown.onStop(async () => client.destroy())
    const storeOf = (name: string) => createDynamoStore({ client, table: name, clock: systemClock, ids: systemIds })
    const account = accountOf(parseSettings(accountSettings, env))
    const ledgerIn = (name: string) =>
      createLedger({ store: storeOf(name), clock: systemClock, account, begins: false })
    const store = storeOf(table)
    const tableId = (await store.tableId?.()) ?? table
    return await work({
      ...{ table, tableId, where, store, ledger: ledgerIn(table), marker, ledgerIn },
      isOnAws: endpoint === undefined,
    })
  })
}

async function findTable(env: Environment, shutdown: Shutdown) {
  if (isOnAws()) {
    const table = environment().TABLE_NAME
    if (!table) throw new CannotContinue(noTable(environment()))
    const where = `the table ${table} on AWS`
    return {
      endpoint: undefined,
      accessKey: undefined,
      table,
      where,
      marker: parameterMarker(environment().GUARD_PREFIX || usualPrefix),
    }
  }
  if (isInMemory(env)) throw new CannotContinue('The ledger is in the memory of npm start, and ends with it.')
  const local = readSettings(withoutFound(environment()))
  const { table, keptIn, directory } = local
  const marker = fileMarker(keptIn ?? directory)
  const running = env.DYNAMODB_ENDPOINT
  if (running !== undefined && (await isDynamoDb(running))) {
    const where = `the table ${table} at ${running}`
    return { endpoint: running, accessKey: env.DYNAMODB_ACCESS_KEY, table, where, marker }
  }
  const opened = await openLedger({ ...local, endpoint: local.dynamoDb, accessKey: local.dynamoDbKey, shutdown })
  if (opened.kind === 'memory') throw new CannotContinue('There is no ledger that is kept: install Java 17 or newer.')
  const { endpoint, accessKey, where } = opened
  return { endpoint, accessKey, table, where: `the table ${table}, ${where}`, marker }
}

function noTable(given: Environment): string {
  const onAws = 'the ledger on AWS needs TABLE_NAME, an output of the stack.'
  if (given.SECRETS_ENDPOINT === '') return onAws.replace('the', 'The')
  return `There is no ledger in ${readSettings(withoutFound(given)).directory}: start Unit Guard first (npm start), or set DATA_DIR; ${onAws}`
}

function isOnAws(): boolean {
  const given = environment()
  if (given.SECRETS_ENDPOINT === '') return true
  const { keptIn, dynamoDb } = readSettings(withoutFound(given))
  return dynamoDb === undefined && (keptIn === null || !existsSync(join(keptIn, 'dynamodb')))
}

export function serviceHere(): string {
  const { TRACKING_BASE_URL: service, LEDGER_SERVICE: name } = withoutFound(environment())
  if (service) return serviceNameOf(service)
  if (!isOnAws() || name === sandboxService) return sandboxService
  throw new CannotContinue(
    'TRACKING_BASE_URL names the service that the ledger belongs to (or LEDGER_SERVICE=sandbox).',
  )
}
