import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { mustNotBeginAgain } from '../../infra/local/database/open.ts'
import { temporaryDirectory } from '../support/process/local.ts'

const { directory, remove } = await temporaryDirectory()
afterAll(remove)

const service = 'https://api.service.example/v3'
const own = '.local/api.service.example'

/** What an earlier version left behind in `.local`. */
async function leftBehind(name: string, env: string, ledgers: readonly string[]): Promise<string> {
  const root = join(directory, name)
  for (const each of ledgers) await mkdir(join(root, each, 'dynamodb'), { recursive: true })
  await writeFile(join(root, '.local', 'env'), env)
  return root
}

describe('a ledger that an earlier version keeps in .local', () => {
  it('is not replaced by a new ledger of the same service', async () => {
    const root = await leftBehind('same', `export TRACKING_BASE_URL='${service}/'\n`, ['.local'])
    expect(() => mustNotBeginAgain({ TRACKING_BASE_URL: service }, root)).toThrow(
      `.local holds a ledger of ${service} from an earlier version, and ${own} holds none. To continue with it, set DATA_DIR=.local; to begin a new ledger on purpose, set DATA_DIR=${own}.`,
    )
    expect(() => mustNotBeginAgain({ TRACKING_BASE_URL: service, DATA_DIR: '.local' }, root)).not.toThrow()
    expect(() => mustNotBeginAgain({ TRACKING_BASE_URL: 'https://other.example/v3' }, root)).not.toThrow()
    expect(() => mustNotBeginAgain({}, root)).not.toThrow()
  })

  it('allows a start once the service has a ledger of its own', async () => {
    const root = await leftBehind('both', `export TRACKING_BASE_URL='${service}'\n`, ['.local', own])
    expect(() => mustNotBeginAgain({ TRACKING_BASE_URL: service }, root)).not.toThrow()
  })

  it('allows a start where it is the ledger of a trial', async () => {
    const env = `export TRACKING_BASE_URL='http://127.0.0.1:8788/v3'\nexport SANDBOX_URL='http://127.0.0.1:8788/v3'\n`
    const root = await leftBehind('trial', env, ['.local'])
    expect(() => mustNotBeginAgain({ TRACKING_BASE_URL: service }, root)).not.toThrow()
  })
})
