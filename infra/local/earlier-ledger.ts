import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { serviceNameOf } from '../../shared/ledger/identity.ts'
import { readEnvFile } from './env-file.ts'
import { CannotGoOn } from './failures.ts'
import { defaultDirectory, directoryOf, type Environment } from './settings.ts'

/**
 * Refuses to begin a second ledger for a service whose ledger an earlier version keeps in `.local`: its allowance would
 * begin again. The env file there names the service, unless it was the stand-in.
 *
 * @param root where relative directories begin.
 * @throws CannotGoOn with the directory to set.
 */
export function mustNotBeginAgain(env: Environment, root = '.'): void {
  const { DATA_DIR: given, TRACKING_BASE_URL: service } = env
  const directory = directoryOf(env)
  if (given || !service || hasLedger(join(root, directory)) || !hasLedger(join(root, defaultDirectory))) return
  const { SANDBOX_URL: sandbox, TRACKING_BASE_URL: before } = readEnvFile(join(root, defaultDirectory))
  if (sandbox !== undefined || before === undefined || !URL.canParse(before)) return
  if (serviceNameOf(before) !== serviceNameOf(service)) return
  throw new CannotGoOn(
    `${defaultDirectory} holds a ledger of ${serviceNameOf(service)} from an earlier version, and ${directory} holds none. To continue with it, set DATA_DIR=${defaultDirectory}; to begin a new ledger on purpose, set DATA_DIR=${directory}.`,
  )
}

const hasLedger = (directory: string): boolean => existsSync(join(directory, 'dynamodb'))
