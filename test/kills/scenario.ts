import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb'
import { readEnvFile } from '../../infra/local/data-directory.ts'
import { signCallerToken } from '../../infra/local/secrets.ts'
import type { Choose } from '../simulation/step.ts'
import { startDynamoDbLocal } from '../support/dynamodb/dynamodb.ts'
import { plans, type Tokens } from './asks.ts'
import { createProduct } from './product.ts'
import { startReceivers } from './receivers.ts'
import { startService } from './service.ts'
import { createTrap, type Trap } from './steps.ts'
import { startWire, type WireFault } from './wire.ts'

export interface Running {
  readonly url: string
  readonly tokens: Tokens
}

const serviceToken = 'canary-service-token-of-the-kills'
const table = 'kills'
const faults: readonly WireFault[] = ['not-sent', 'answer-lost', 'conflict', 'throttled']
const faultsInHundred = 3

export type LedgerKind = 'file' | 'table'

/** The parts of the ledger that outlive the product. */
interface LedgerPlace {
  readonly env: Readonly<Record<string, string>>
  /** The way in which the product starts on it. */
  readonly start?: string
  items(): Promise<string>
  close(): Promise<unknown>
}

const inFile = (data: string): LedgerPlace => ({
  env: {},
  items: () => readFile(join(data, 'ledger.db'), 'latin1'),
  close: async () => {},
})

async function inTable(parts: { trap: Trap; fault: () => WireFault | null }): Promise<LedgerPlace> {
  const database = await startDynamoDbLocal()
  const wire = await startWire({ endpoint: database.endpoint, ...parts })
  return {
    env: { DYNAMODB_ENDPOINT: wire.endpoint, TABLE_NAME: table },
    start: 'test/kills/start.ts',
    items: () => itemsAt(database.endpoint),
    close: () => {
      wire.close()
      return database.stop()
    },
  }
}

/** Everything that outlives the product: the ledger, the service, the receivers and a directory. */
export async function createScenario(chance: Choose, kind: LedgerKind) {
  const directory = await mkdtemp(join(tmpdir(), 'unit-guard-kills-'))
  const data = join(directory, 'data')
  const plansFile = join(directory, 'plans.json')
  await writeFile(plansFile, JSON.stringify({ plans }))
  let isGood = false
  const fault = () => (!isGood && chance(100) < faultsInHundred ? (faults[chance(faults.length)] ?? null) : null)
  const trap = createTrap(() => product.kill())
  const service = await startService({ chance, trap })
  const receivers = await startReceivers(directory)
  const ledger = kind === 'file' ? inFile(data) : await inTable({ trap, fault })
  const product = await createProduct({
    ...(ledger.start !== undefined && { start: ledger.start }),
    env: () => ({
      ...ledger.env,
      ...receivers.env,
      DATA_DIR: data,
      TRACKING_BASE_URL: service.baseUrl,
      TRACKING_TOKEN: serviceToken,
      PLANS: plansFile,
      ACCOUNT_UNITS_PER_MONTH: '10000000',
      // A hanging service costs a second. In the end the service never hangs, and a busy machine gets more time.
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
    /** Kills the product during its start. */
    killStarting: async (afterMs: number) => {
      product.start().catch(() => {})
      await sleep(afterMs)
      product.kill()
      await product.died()
    },
    killAfter: async (ms: number) => {
      await sleep(ms)
      product.kill()
      await product.died()
    },
    sweep: product.sweep,
    command: product.command,
    received: receivers.received,
    makeGood: () => {
      isGood = true
      service.setMood('kind')
    },
    leaks: async (answers: string) => leaksIn({ data, answers, items: await ledger.items(), sent: service.tokens() }),
    close: async () => {
      product.kill()
      await receivers.close()
      await service.close()
      await ledger.close()
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

/** Searches items, log lines and answers for secrets, and checks that only the service gets its token. */
async function leaksIn(places: {
  data: string
  answers: string
  items: string
  sent: ReadonlySet<string | undefined>
}): Promise<string[]> {
  const { data, answers, items, sent } = places
  const log = await readFile(join(data, 'guard.log'), 'utf8')
  const secrets = [serviceToken, await callerKeyIn(data)]
  const leaks = Object.entries({ item: items, line: log, answer: answers }).flatMap(([place, text]) =>
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
