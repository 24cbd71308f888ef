import { expect, onTestFinished, test } from 'vitest'
import { createGuard } from '../../shared/guard/guard.ts'
import { guardSettings } from '../../shared/guard/options.ts'
import { parseSettings } from '../../shared/platform/settings.ts'
import { reportsOf } from '../../shared/reports/reports.ts'
import { createServices } from '../../shared/services/services.ts'
import { createTestClock } from '../support/clock.ts'
import { startGuard } from '../support/guard.ts'
import { json, startProduct } from '../support/product.ts'
import { startTestSecrets } from '../support/secrets.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const servicesWith = (env: Record<string, string> = {}, own: Parameters<typeof createServices>[1] = {}) =>
  createServices(
    parseSettings(guardSettings, {
      TABLE_NAME: 't',
      TRACKING_BASE_URL: 'http://127.0.0.1:9/v3',
      ACCOUNT_UNITS_PER_MONTH: '50000',
      ...env,
    }),
    { store: createMemoryStore(), clock: createTestClock(), ...own },
  )

test('the settings of a process become its options', () => {
  const { options, dashboardUrl, isLocal } = servicesWith({
    SERVICE_TIMEOUT_MS: '7000',
    SERVICE_FLIGHT_MS: '60000',
    DELIVERY_HOURS: '48',
    COOLDOWN_RANKING: '30m',
    COOLDOWN_DIFFICULTY: 'day',
    SECRETS_ENDPOINT: 'http://127.0.0.1:9',
    DASHBOARD_URL: 'https://guard.example/',
  })
  expect([options, dashboardUrl, isLocal]).toEqual([
    {
      serviceTimeoutMs: 7000,
      serviceFlightMs: 60_000,
      deliveryMs: 48 * 3_600_000,
      cooldown: { ranking: 30 * 60_000, 'keyword-difficulty': 'day' },
    },
    'https://guard.example',
    true,
  ])
})

test('a separator of projects and a stopping process become options only if they are set', () => {
  const isStopping = () => true
  const { options } = servicesWith({ PROJECT_SEPARATOR: '|' }, { isStopping })
  expect([options.separator, options.isStopping]).toEqual(['|', isStopping])
})

test('a ranking counts as done for a day, and a keyword difficulty for seven days, by default', () => {
  const cooldown = { ranking: 'day', 'keyword-difficulty': '7d' }
  const times = { serviceTimeoutMs: 20_000, serviceFlightMs: 300_000, deliveryMs: 96 * 3_600_000 }
  expect(servicesWith().options).toStrictEqual({ ...times, cooldown })
})

test('the default settings have no dashboard and no plan, and are not local', async () => {
  const { dashboardUrl, isLocal, guard } = servicesWith()
  expect([dashboardUrl, isLocal, await guard.planStatuses()]).toEqual([null, false, { plans: [], zone: 'UTC' }])
})

test('background jobs read the plans once, and again after a failed reading', async () => {
  const { parts } = await startGuard()
  let reads = 0
  const plans = async () => {
    reads++
    if (reads === 1) throw new Error('no file')
    return []
  }
  const guard = createGuard({ ...parts, plans })
  await expect(guard.planStatuses()).rejects.toThrow('no file')
  expect(await guard.planStatuses()).toEqual({ plans: [], zone: 'UTC' })
  expect(await (await reportsOf(guard)).statement(null, 'budget')).toMatchObject({ by: 'budget', spent: 0 })
  expect(reads).toBe(2)
})

test('each secret is read by its name, and the callers’ key with the previous key', async () => {
  const secrets = await startTestSecrets({
    'unit-guard/caller-key': 'canary-new',
    'unit-guard/caller-key previous': 'canary-old',
    'unit-guard/slack': 'canary-slack',
  })
  onTestFinished(() => secrets.close())
  const { callerKey, slackSecret } = servicesWith({ SECRETS_ENDPOINT: secrets.endpoint })
  expect(await callerKey.read()).toEqual({ current: 'canary-new', previous: 'canary-old' })
  expect(await slackSecret.read()).toMatchObject({ current: 'canary-slack' })
})

test('the default log writes one line for each event to the standard output', () => {
  const written: unknown[] = []
  const real = process.stdout.write
  onTestFinished(() => {
    process.stdout.write = real
  })
  process.stdout.write = (line: unknown) => written.push(line) > 0
  const { log } = servicesWith()
  log.info('hello', { to: 'you' })
  process.stdout.write = real
  expect(written).toEqual(['{"at":"2026-11-20T10:00:00.000Z","level":"info","event":"hello","to":"you"}\n'])
})

test.each(['ranking', 'keyword-difficulty'])('each kind of update uses its own pointers: %s', async (kind) => {
  const body = (units: number) => json({ ranking: { cost: units }, difficulty: { cost: units + 1 } })
  const product = await startProduct({
    store: createMemoryStore(),
    env: {
      ESTIMATE_POINTER_RANKING: '/ranking/cost',
      ESTIMATE_POINTER_DIFFICULTY: '/difficulty/cost',
      RUN_POINTER_RANKING: '/ranking/cost',
      RUN_POINTER_DIFFICULTY: '/difficulty/cost',
    },
    service: ({ url }) => (url.endsWith('/estimate') ? body(70) : url.endsWith('/run') ? body(60) : undefined),
  })
  const { body: answered } = await product.update({ kind, project: '7' })
  const units = kind === 'ranking' ? { estimated: 70, held: 70, charged: 60 } : { estimated: 71, held: 71, charged: 61 }
  expect(answered.updates).toMatchObject([{ state: 'settled', units }])
})

test('a refused token raises an alarm if it is still the current token, but not if it was rotated', async () => {
  const product = await startProduct({
    store: createMemoryStore(),
    service: ({ headers }) => (headers.authorization?.endsWith('-new') ? undefined : { status: 401 }),
  })
  const alarms = () => product.logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'token-refused')
  const refused = await product.update({ kind: 'keyword-difficulty', project: '7' })
  expect(refused).toMatchObject({ status: 502, body: { type: '/problems/service-refused', serviceStatus: 401 } })
  expect(alarms()).toMatchObject([{ level: 'error', secret: 'unit-guard/service-token' }])
  product.clock.advance(60_000)
  product.secrets.values['unit-guard/service-token'] = 'canary-service-token-new'
  expect((await product.update({ kind: 'keyword-difficulty', project: '7' })).status).toBe(201)
  expect(alarms()).toHaveLength(1)
})
