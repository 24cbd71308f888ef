import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb'
import { readEnvFile } from '../../infra/local/data-directory.ts'
import { signCallerToken } from '../../infra/local/secrets.ts'
import type { Choose } from '../simulation/step.ts'
import { startDynamoDbLocal } from '../support/dynamodb/dynamodb.ts'
import { plans, type Tokens } from './asks.ts'
import { createProduct } from './product.ts'
import { startService } from './service.ts'
import { createTrap } from './steps.ts'
import { startWire, type WireFault } from './wire.ts'

export interface Running {
  readonly url: string
  readonly tokens: Tokens
}

const serviceToken = 'canary-service-token-of-the-kills'
const table = 'kills'
const faults: readonly WireFault[] = ['not-sent', 'answer-lost', 'conflict', 'throttled']
const faultsInHundred = 3

/** Everything that outlives the product: the database, the wire to it, the service, a directory. */
export async function createScenario(chance: Choose) {
  const directory = await mkdtemp(join(tmpdir(), 'unit-guard-kills-'))
  const data = join(directory, 'data')
  const plansFile = join(directory, 'plans.json')
  await writeFile(plansFile, JSON.stringify({ plans }))
  const database = await startDynamoDbLocal()
  let isGood = false
  const fault = () => (!isGood && chance(100) < faultsInHundred ? (faults[chance(faults.length)] ?? null) : null)
  const trap = createTrap(() => product.kill())
  const service = await startService({ chance, trap })
  const wire = await startWire({ endpoint: database.endpoint, trap, fault })
  const product = await createProduct({
    env: () => ({
      DATA_DIR: data,
      DYNAMODB_ENDPOINT: wire.endpoint,
      TABLE_NAME: table,
      TRACKING_BASE_URL: service.baseUrl,
      TRACKING_TOKEN: serviceToken,
      PLANS: plansFile,
      ACCOUNT_UNITS_PER_MONTH: '10000000',
      // A service that hangs costs a second; in the end none hangs, and a busy machine may take its time.
      SERVICE_TIMEOUT_MS: isGood ? '30000' : '1000',
      SERVICE_FLIGHT_MS: '1000',
      COOLDOWN_RANKING: '7d',
    }),
  })

  return {
    trap,
    service,
    up: async (): Promise<Running> => ({ url: await product.start(), tokens: await tokensIn(data) }),
    kill: async () => {
      product.kill()
      await product.died()
    },
    sweep: product.sweep,
    makeGood: () => {
      isGood = true
      service.setMood('kind')
    },
    leaks: (answers: string) => leaksIn({ data, answers, endpoint: database.endpoint, sent: service.tokens() }),
    close: async () => {
      product.kill()
      wire.close()
      await service.close()
      await database.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function tokensIn(data: string): Promise<Tokens> {
  const { UNIT_GUARD_TOKEN: admin = '' } = readEnvFile(data)
  const approver = await signCallerToken({
    key: await callerKeyIn(data),
    sub: 'another-approver',
    scopes: ['read', 'approve'],
    budgets: '*',
    now: Date.now(),
    lastsMs: 3600_000,
  })
  return { admin, approver }
}

const callerKeyIn = async (data: string): Promise<string> =>
  JSON.parse(await readFile(join(data, 'secrets.json'), 'utf8')).callerKey.current

/** No secret may show in an item, a log line or an answer, and no other token goes to the service. */
async function leaksIn(places: {
  data: string
  answers: string
  endpoint: string
  sent: ReadonlySet<string | undefined>
}): Promise<string[]> {
  const { data, answers, endpoint, sent } = places
  const log = await readFile(join(data, 'guard.log'), 'utf8')
  const secrets = [serviceToken, await callerKeyIn(data)]
  const leaks = Object.entries({ item: await itemsAt(endpoint), line: log, answer: answers }).flatMap(([place, text]) =>
    secrets.filter((secret) => text.includes(secret)).map(() => `a secret is in a stored or given ${place}`),
  )
  const isOnlyOurs = [...sent].every((token) => token === `Bearer ${serviceToken}`)
  return isOnlyOurs ? leaks : [...leaks, 'the service was called with another token']
}

async function itemsAt(endpoint: string): Promise<string> {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new DynamoDBClient({ endpoint, region: 'local', credentials })
  const pages: string[] = []
  for await (const { Items } of paginateScan({ client }, { TableName: table })) pages.push(JSON.stringify(Items))
  client.destroy()
  return pages.join('\n')
}
