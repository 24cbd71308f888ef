import { createTriggers } from '../../../functions/scheduled/triggers.ts'
import { createBackground } from '../../../shared/background/background.ts'
import { guardSettings } from '../../../shared/guard/options.ts'
import type { MakeChange } from '../../../shared/ledger/book/changes.ts'
import type { Definitions } from '../../../shared/ledger/definitions/definitions.ts'
import { accountOf, sandboxService, serviceNameOf } from '../../../shared/ledger/identity.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { createDynamoClient, createDynamoStore } from '../../../shared/ledger/store/dynamo-store.ts'
import type { SqliteFile } from '../../../shared/ledger/store/sqlite-file.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { type Clock, systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { usualPrefix } from '../../../shared/platform/prefix.ts'
import { accountSettings, environment, parseSettings } from '../../../shared/platform/settings.ts'
import { createServices } from '../../../shared/services/services.ts'
import { withoutFound } from '../data-directory.ts'
import { machineFacts } from '../database/machine-facts.ts'
import { fileMarker, type MarkerStore, parameterMarker } from '../database/marker-store.ts'
import { openForCommand } from '../database/open.ts'
import { CannotContinue } from '../failures.ts'
import { createQuietLog } from '../log/guard-log.ts'
import { directoryOf, type Environment, ledgerFile } from '../settings.ts'
import { commandEnvironment, whereIs } from '../where.ts'

/**
 * @param how.mustCheck first reads the whole file: a damaged index could hide a work, which would run twice.
 * @throws CannotContinue for a ledger in the memory of `npm start`.
 */
export async function openGuard(
  clock: Clock = systemClock,
  env: Environment = commandEnvironment(),
  how: { mustCheck?: boolean } = {},
) {
  const settings = parseSettings(guardSettings, env)
  const { store, file } = await openStore(env, how)
  const machine = file && (() => machineFacts(file, directoryOf(env)))
  const services = createServices(settings, { clock, store, log: createQuietLog(), machine })
  return {
    settings,
    services,
    file,
    triggers: createTriggers(createBackground(services)),
  }
}

/** `file` is present for a ledger on this machine. @throws CannotContinue for a ledger in the memory of `npm start`. */
export async function openStore(
  env: Environment,
  how: { mustCheck?: boolean; takesOver?: boolean } = {},
): Promise<{ store: Store; where: string; file?: SqliteFile; marker?: MarkerStore | null }> {
  const found = whereIs(env)
  if (found.kind === 'memory')
    throw new CannotContinue('The ledger is in the memory of npm start, where no other process can reach it.')
  if (found.kind === 'file' && found.isThere) return openForCommand(found.folder, how)
  if (found.kind === 'file')
    throw new CannotContinue(
      `There is no ledger in ${found.folder}: start Unit Guard first (npm start, or npm run account -- begin and npm run serve), or set DATA_DIR; the ledger on AWS needs TABLE_NAME, an output of the stack.`,
    )
  if (!found.table) throw new CannotContinue('The ledger on AWS needs TABLE_NAME, an output of the stack.')
  return openTable(env, found.table)
}

export function openTable(env: Environment, name: string) {
  const endpoint = env.DYNAMODB_ENDPOINT || undefined
  const client = createDynamoClient(endpoint, env.DYNAMODB_ACCESS_KEY || undefined)
  return {
    name,
    client,
    store: createDynamoStore({ client, table: name, clock: systemClock, ids: systemIds }),
    where: `the table ${name} ${endpoint === undefined ? 'on AWS' : `at ${endpoint}`}`,
    /** A table outside of AWS has no parameter. */
    marker: endpoint === undefined ? parameterMarker(env.GUARD_PREFIX || usualPrefix) : null,
  }
}

/** A ledger that must have begun, with the account of the settings. */
export function ledgerFor(env: Environment) {
  const account = accountOf(parseSettings(accountSettings, env))
  return (store: Store) => createLedger({ store, clock: systemClock, account, begins: false })
}

export type OperatorLedger = Awaited<ReturnType<typeof openOperatorLedger>>

/** Does not compare the ledger with the settings, because operators' commands repair the differences. */
export async function openOperatorLedger() {
  const env = commandEnvironment()
  const { store, where, file, marker } = await openStore(env, { takesOver: true })
  const table = file ? ledgerFile : (env.TABLE_NAME ?? '')
  const ledgerOf = ledgerFor(env)
  return {
    table,
    where,
    store,
    ledger: ledgerOf(store),
    tableId: (await store.tableId?.()) ?? table,
    marker: marker ?? fileMarker(directoryOf(env)),
    /** Opens the ledger in a table of DynamoDB. */
    ledgerIn: async (name: string) => ledgerOf((await openStore({ ...env, TABLE_NAME: name })).store),
    place: store.place ?? 'table',
    /** The folder of a ledger's file. `null` for a table. */
    folder: file ? directoryOf(env) : null,
  }
}

/** @throws CannotContinue if the ledger refuses the change. */
export async function change({ ledger }: OperatorLedger, make: MakeChange): Promise<Definitions> {
  const outcome = await ledger.change('setup', make)
  if (outcome.kind === 'changed') return outcome.definitions
  const reason = outcome.kind === 'refused' ? outcome.refused : outcome.faults.map(({ message }) => message).join(' ')
  throw new CannotContinue(String(reason))
}

export function changesNothing(): true {
  console.log('Nothing was changed (--dry-run).')
  return true
}

export function isOnAws(env: Environment): boolean {
  const where = whereIs(env)
  return where.kind === 'table' && where.endpoint === undefined
}

export function serviceHere(): string {
  const { TRACKING_BASE_URL: service, LEDGER_SERVICE: name } = withoutFound(environment())
  if (service) return serviceNameOf(service)
  if (!isOnAws(commandEnvironment()) || name === sandboxService) return sandboxService
  throw new CannotContinue('Set TRACKING_BASE_URL to the service of the ledger (or LEDGER_SERVICE=sandbox).')
}
