import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb'
import { readEnvFile } from '../../infra/local/data-directory.ts'
import { startDynamoDbLocal } from '../../infra/local/database/dynamodb.ts'
import { signCallerToken } from '../../infra/local/secrets.ts'
import type { Choose } from '../simulation/step.ts'
import { plans, type Tokens } from './asking.ts'
import { createProduct } from './product.ts'
import { startService } from './service.ts'
import { createTrap } from './steps.ts'
import { startWire, type WireFault } from './wire.ts'

/** A product that is up, and who may ask it. */
export interface Running {
  readonly url: string
  readonly tokens: Tokens
}

const serviceToken = 'canary-service-token-of-the-kills'
const table = 'kills'
const faults: readonly WireFault[] = ['not-sent', 'answer-lost', 'conflict', 'throttled']
const faultsInHundred = 3

/** Everything around the product that outlives it: the database, the wire to it, the service, a directory. */
export async function createStage(chance: Choose) {
  const directory = await mkdtemp(join(tmpdir(), 'unit-guard-kills-'))
  const data = join(directory, 'data')
  const plansFile = join(directory, 'plans.json')
  await writeFile(plansFile, JSON.stringify({ plans }))
  const database = await startDynamoDbLocal(null)
  let isGood = false
  const fault = () => (!isGood && chance(100) < faultsInHundred ? (faults[chance(faults.length)] ?? null) : null)
  const trap = createTrap(() => product.kill())
  const service = await startService({ chance, trap })
  const wire = await startWire({ endpoint: database.endpoint, trap, fault })
  const product = await createProduct({
    directory,
    env: () => ({
      DATA_DIR: data,
      DYNAMODB_ENDPOINT: wire.endpoint,
      TABLE_NAME: table,
      TRACKING_BASE_URL: service.baseUrl,
      TRACKING_TOKEN: serviceToken,
      PLANS: plansFile,
      ACCOUNT_UNITS_PER_MONTH: '10000000',
      // A service that hangs costs a second; in the end it does not, and a busy machine may take its time.
      SERVICE_TIMEOUT_MS: isGood ? '30000' : '1000',
      SERVICE_FLIGHT_MS: '1000',
      COOLDOWN_RANKING: '7d',
    }),
  })

  const callerKey = async (): Promise<string> =>
    JSON.parse(await readFile(join(data, 'secrets.json'), 'utf8')).callerKey.current

  async function items(): Promise<string> {
    const client = new DynamoDBClient({
      endpoint: database.endpoint,
      region: 'local',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    })
    const pages: string[] = []
    for await (const { Items } of paginateScan({ client }, { TableName: table })) pages.push(JSON.stringify(Items))
    client.destroy()
    return pages.join('\n')
  }

  return {
    trap,
    service,
    up: async (): Promise<Running> => {
      const url = await product.start()
      const { UNIT_GUARD_TOKEN: admin = '' } = readEnvFile(data)
      const approver = await signCallerToken({
        key: await callerKey(),
        sub: 'another-approver',
        scopes: ['read', 'approve'],
        budgets: '*',
        now: Date.now(),
        lastsMs: 3600_000,
      })
      return { url, tokens: { admin, approver } }
    },
    /** Whatever has sprung the trap before: now it is dead. */
    kill: async () => {
      product.kill()
      await product.died()
    },
    sweep: product.sweep,
    /** From now on nothing goes wrong. */
    makeGood: () => {
      isGood = true
      service.setMood('kind')
    },
    /** No secret may be in an item, a line of the log, or an answer; nor may another one go to the service. */
    leaks: async (answers: string): Promise<string[]> => {
      const places = { item: await items(), line: await readFile(join(data, 'guard.log'), 'utf8'), answer: answers }
      const secrets = [serviceToken, await callerKey()]
      const leaks = Object.entries(places).flatMap(([place, text]) =>
        secrets.filter((secret) => text.includes(secret)).map(() => `a secret is in a stored or given ${place}`),
      )
      const isOnlyOurs = [...service.tokens()].every((token) => token === `Bearer ${serviceToken}`)
      return isOnlyOurs ? leaks : [...leaks, 'the service was called with another token']
    },
    close: async () => {
      product.kill()
      wire.close()
      await service.close()
      await database.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
