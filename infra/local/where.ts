import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { secretsOf } from '../../shared/platform/prefix.ts'
import { environment } from '../../shared/platform/settings.ts'
import { readEnvFile, withoutFound } from './data-directory.ts'
import { directoryOf, type Environment, isInMemory, ledgerFile } from './settings.ts'

/** The place of the ledger that a command opens. */
type Where =
  /** The memory of `npm start`, which no other process reaches. */
  | { readonly kind: 'memory' }
  | { readonly kind: 'file'; readonly folder: string; readonly isThere: boolean }
  /** A table without an endpoint is on AWS. */
  | { readonly kind: 'table'; readonly table: string; readonly endpoint: string | undefined }

export function whereIs(env: Environment): Where {
  const { DYNAMODB_ENDPOINT: endpoint, SECRETS_ENDPOINT: secrets, TABLE_NAME: table = '' } = env
  const inTable = { kind: 'table', table, endpoint: endpoint || undefined } as const
  if (endpoint || secrets === '') return inTable
  if (isInMemory(env.DATA_DIR)) return { kind: 'memory' }
  const folder = directoryOf(env)
  const isThere = existsSync(join(folder, ledgerFile))
  return isThere || !table ? { kind: 'file', folder, isThere } : inTable
}

/**
 * The env file of a Unit Guard on this machine, overridden by the environment. Empty variables also override, so
 * `SECRETS_ENDPOINT= npm run …` uses AWS. The file's token is sent to no other guard. `GUARD_PREFIX` selects the secrets of
 * one of several guards.
 */
export function commandEnvironment(all: Environment = environment()): Environment {
  const given = withoutFound(all)
  const { UNIT_GUARD_TOKEN: token, LEDGER_SERVICE: service, ...written } = readEnvFile(directoryOf(given))
  const isSame = (name: string) => given[name] === undefined || given[name] === written[name]
  const env = {
    ...written,
    ...(given.GUARD_PREFIX && secretsOf(given.GUARD_PREFIX)),
    ...(token !== undefined && isSame('UNIT_GUARD_URL') && { UNIT_GUARD_TOKEN: token }),
    ...(service !== undefined && isSame('TRACKING_BASE_URL') && { LEDGER_SERVICE: service }),
    ...given,
    ...(isInMemory(written.DATA_DIR) && { DATA_DIR: written.DATA_DIR }),
  }
  const where = whereIs(env)
  const isHere = where.kind === 'memory' || (where.kind === 'file' && where.isThere)
  return isHere ? { ...env, TABLE_NAME: ledgerFile } : env
}
