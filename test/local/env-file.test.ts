import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readEnvFile, withoutFound, writeEnvFile } from '../../infra/local/data-directory.ts'
import { readSettings } from '../../infra/local/settings.ts'
import { commandEnvironment } from '../../infra/local/where.ts'
import { temporaryDirectory } from '../support/process/local.ts'

const { directory, remove } = await temporaryDirectory()
afterAll(remove)

/** The variables of a shell that has sourced these env files, one after another. */
function sourced(files: readonly string[], before: Record<string, string> = {}): Record<string, string | undefined> {
  const script = [...files.map((file) => `. '${file}'`), 'env -0'].join('; ')
  const text = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', env: { PATH: process.env.PATH, ...before } })
  return Object.fromEntries(
    text.split('\0').flatMap((row) => {
      const at = row.indexOf('=')
      return at < 0 ? [] : [[row.slice(0, at), row.slice(at + 1)]]
    }),
  )
}

const trial = join(directory, 'trial')
const memory = join(directory, 'memory')
const own = join(directory, 'own')

const trialFile = await writeEnvFile(
  trial,
  {
    DATA_DIR: trial,
    UNIT_GUARD_URL: 'http://127.0.0.1:1',
    UNIT_GUARD_TOKEN: 'of-the-trial',
    SANDBOX_URL: 's',
    COOLDOWN_RANKING: '6h',
  },
  { SECRETS_ENDPOINT: 'http://127.0.0.1:11', SECRETS_ACCESS_KEY: 'a1', TRACKING_BASE_URL: 'http://127.0.0.1:2/v3' },
)
const memoryFile = await writeEnvFile(
  memory,
  { DATA_DIR: memory, UNIT_GUARD_URL: 'http://127.0.0.1:3', UNIT_GUARD_TOKEN: 'of-the-memory' },
  {},
)
await writeEnvFile(
  own,
  {
    DATA_DIR: own,
    UNIT_GUARD_URL: 'http://127.0.0.1:5',
    UNIT_GUARD_TOKEN: 'of-my-own',
    TRACKING_BASE_URL: 'https://mine.example/v3',
  },
  { SECRETS_ENDPOINT: 'http://127.0.0.1:15' },
)

describe('an env file', () => {
  test('an env file sourced after another unsets the variables of the first', () => {
    const { PATH: _path, PWD: _pwd, ...both } = sourced([trialFile, memoryFile], { ESTIMATE_POINTER_RANKING: '/x' })
    const { PATH: _p, PWD: _w, ...alone } = sourced([memoryFile])
    expect(both).toEqual(alone)
    expect(Object.keys(both)).not.toContain('SECRETS_ENDPOINT')
  })

  test('an env file has each value once, and one short line of marks', () => {
    const text = readFileSync(trialFile, 'utf8')
    for (const value of ['of-the-trial', 'http://127.0.0.1:11', 'a1']) expect(text.split(`'${value}'`)).toHaveLength(2)
    expect(text).toContain("export FOUND_HERE='SECRETS_ENDPOINT SECRETS_ACCESS_KEY TRACKING_BASE_URL'")
    expect(text).toMatch(/^export SET_HERE='[\w-]{32}'$/m)
  })

  test('an env file keeps variables that are not its own', () => {
    expect(sourced([trialFile], { TRACKING_TOKEN: 'mine', AWS_REGION: 'eu-central-1' })).toMatchObject({
      TRACKING_TOKEN: 'mine',
      AWS_REGION: 'eu-central-1',
      UNIT_GUARD_TOKEN: 'of-the-trial',
    })
  })
})

describe('a shell that has sourced the env file of one directory', () => {
  test('a shell with an env file uses none of it for another DATA_DIR', () => {
    const env = commandEnvironment({ ...sourced([trialFile]), DATA_DIR: own })
    expect(env).toMatchObject({
      UNIT_GUARD_URL: 'http://127.0.0.1:5',
      UNIT_GUARD_TOKEN: 'of-my-own',
      SECRETS_ENDPOINT: 'http://127.0.0.1:15',
      DATA_DIR: own,
      TRACKING_BASE_URL: 'https://mine.example/v3',
    })
    expect(Object.keys(env)).not.toContain('SANDBOX_URL')
    expect(Object.keys(env)).not.toContain('COOLDOWN_RANKING')
  })

  test('a shell with an env file keeps its directory beside variables set by hand', () => {
    const env = { ...sourced([trialFile]), COOLDOWN_RANKING: '7d' }
    expect(commandEnvironment(env)).toMatchObject({
      DATA_DIR: trial,
      COOLDOWN_RANKING: '7d',
      SECRETS_ACCESS_KEY: 'a1',
    })
  })

  test('a shell with an env file starts again with what the next start finds, but keeps what was set by hand', () => {
    const again = withoutFound({ ...sourced([trialFile]), SECRETS_ACCESS_KEY: 'by-hand' })
    expect(again).toMatchObject({ DATA_DIR: trial, COOLDOWN_RANKING: '6h', SECRETS_ACCESS_KEY: 'by-hand' })
    expect(again).not.toHaveProperty('TRACKING_BASE_URL')
  })

  test('a shell with an env file gets a new ledger for another service', () => {
    const env = withoutFound({ ...sourced([trialFile]), TRACKING_BASE_URL: 'https://mine.example/v3' })
    expect(readSettings(env)).toMatchObject({ directory: '.local/mine.example', sandboxPort: null })
    expect(env).not.toHaveProperty('UNIT_GUARD_TOKEN')
    expect(readEnvFile(trial).UNIT_GUARD_TOKEN).toBe('of-the-trial')
  })
})
