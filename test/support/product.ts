import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { SignJWT } from 'jose'
import { expect, onTestFinished } from 'vitest'
import { createApi } from '../../functions/api/app.ts'
import { createDashboard } from '../../functions/dashboard/app.ts'
import { createStartReader, createTellReader } from '../../functions/outbox/readers.ts'
import { readChanges } from '../../functions/outbox/stream-event.ts'
import { createTriggers } from '../../functions/scheduled/triggers.ts'
import { createSlackApp } from '../../functions/slack/app.ts'
import { withStream } from '../../infra/local/database/memory-stream.ts'
import { localReference } from '../../infra/local/router.ts'
import { showAudit } from '../../shared/api/to-json.ts'
import { guardSettingsOf } from '../../shared/guard/options.ts'
import { createServices } from '../../shared/guard/services.ts'
import type { Store } from '../../shared/ledger/store/store.ts'
import { createLog } from '../../shared/platform/log.ts'
import { parseSettings } from '../../shared/platform/settings.ts'
import { createSlack } from '../../shared/slack/slack.ts'
import { type Kinds, productKinds } from '../../shared/tracking/kinds.ts'
import { watchForSecrets } from './canaries.ts'
import { createTestClock, type TestClock } from './clock.ts'
import { mustBeDocumented } from './documented.ts'
import { faultOf } from './log-lines.ts'
import { type Answer, type Recorded, startScriptedService } from './scripted-service.ts'
import { startTestSecrets } from './secrets.ts'
import { slackOf, slackSecretOf, startSlackChannel } from './slack/slack.ts'
import { createStore, patienceMs } from './store/stores.ts'

export const serviceToken = 'canary-service-token-7f3a9c'
export const callerKey = 'canary-caller-key-0123456789abcdefghijklmnop'

/** `pastDeadline` lets it pass where a service hangs. */
export const serviceTimeoutMs = 20_000

export interface Called {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers as callers do, without knowing our types.
  readonly body: any
  readonly text: string
}

export type Product = Awaited<ReturnType<typeof startProduct>>

/**
 * The whole product in one process over real sockets and the most real store. Only the clock is the test's.
 *
 * @param options.units what an update of each project costs; others cost 40.
 */
export async function startProduct(
  options: {
    env?: Record<string, string>
    store?: Store
    /**
     * Without a stream nothing is delivered, and only the product's own requests reach the store: usual on the real
     * store.
     */
    stream?: boolean
    clock?: TestClock
    units?: Record<string, number>
    service?: (request: Recorded) => Answer | undefined
    secrets?: Record<string, string | undefined>
    /** Its own answers, if any, come first. */
    slack?: true | Parameters<typeof startSlackChannel>[0]
    plans?: readonly object[]
    kinds?: Kinds
  } = {},
) {
  const clock = options.clock ?? createTestClock()
  const { kinds = productKinds } = options
  const watch = watchForSecrets()
  const units = options.units ?? {}
  const service = await startScriptedService({
    fallback: (request) => options.service?.(request) ?? answerOf(request, units),
  })
  onTestFinished(() => service.close())
  // The service's token goes to the service only, in its header.
  const toTheService = () =>
    service.requests.map(({ url, headers: { authorization: _own, ...others }, body }) => ({ url, others, body }))
  onTestFinished(() => watch.look('what the service gets', JSON.stringify(toTheService())))
  const slack = options.slack ? await startSlackChannel(options.slack === true ? {} : options.slack) : null
  if (slack) {
    onTestFinished(() => slack.close())
    onTestFinished(() => watch.look('a message', JSON.stringify(slack.posted().map(({ body }) => body))))
  }
  const secrets = await startTestSecrets(
    options.secrets ?? {
      'unit-guard/service-token': serviceToken,
      'unit-guard/caller-key': callerKey,
      'unit-guard/slack': slackSecretOf(slack?.webhookUrl),
    },
  )
  onTestFinished(() => secrets.close())
  const logged: string[] = []
  const wrongLines: string[] = []
  onTestFinished(() => expect(wrongLines, 'lines that docs/log.md does not know').toEqual([]))
  const keep = (line: string) => {
    watch.look('the log', line)
    logged.push(line)
    const fault = faultOf(line)
    if (fault !== null) wrongLines.push(fault)
  }
  // Every change, in the shape that Lambda gets from the stream.
  const streamed: unknown[] = []
  const inner = watch.items(options.store ?? (await createStore()))
  const hasStream = options.stream ?? Boolean(options.store ?? options.slack ?? options.plans)
  const reads = new Set<Promise<unknown>>()
  const read: Store['get'] = (keys) => {
    const reading = inner.get(keys)
    const done = () => void reads.delete(reading)
    reads.add(reading)
    reading.then(done, done)
    return reading
  }
  const store = hasStream ? withStream({ ...inner, get: read }, (event) => void streamed.push(event)) : inner
  /** The stream hands a write over on the next turn. */
  const settled = async () => {
    await nextTurn()
    await Promise.race([Promise.allSettled(reads), sleep(5)])
    await nextTurn()
  }
  const settings = parseSettings(guardSettingsOf(kinds), {
    TABLE_NAME: 'given',
    LEDGER_SERVICE: 'sandbox',
    TRACKING_BASE_URL: service.baseUrl,
    SECRETS_ENDPOINT: secrets.endpoint,
    ACCOUNT_UNITS_PER_MONTH: '50000',
    SERVICE_TIMEOUT_MS: String(serviceTimeoutMs),
    ...(options.plans && { PLANS: await writePlans(options.plans) }),
    ...options.env,
  })
  /** Another process of the same deployment: its own caches, the same table. */
  const startProcess = () => {
    const log = createLog({ write: keep, now: clock.now })
    const services = createServices(settings, { store, clock, log, kinds, secretsWithinMs: patienceMs })
    const parts = { ...services, slack: createSlack(services) }
    const slackApp = watch.answers(
      createSlackApp({ ...services, ledger: services.guard.ledger, secret: services.slackSecret }),
    )
    return {
      services,
      api: watch.answers(createApi(services, localReference)),
      dashboard: watch.answers(createDashboard(services, localReference)),
      slackApp,
      slack: parts.slack,
      start: createStartReader(parts),
      tell: createTellReader(parts),
      triggers: createTriggers(parts),
    }
  }
  const main = startProcess()
  const { services, api, dashboard } = main
  const endsAt = () => clock.now() + 15 * 60_000

  /** Hands the stream's changes to both readers until no more come. */
  async function deliver(): Promise<void> {
    await settled()
    for (let event = streamed.shift(); event !== undefined; event = streamed.shift()) {
      await main.start(event, endsAt())
      await main.tell(event, endsAt())
      await settled()
    }
  }

  async function call(method: string, path: string, how: CallOptions = {}): Promise<Called> {
    const { body, token = admin, headers = {}, process: { api: app } = { api } } = how
    const response = await app.request(path, {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${await token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    mustBeDocumented({ method, path, status: response.status, headers: response.headers, text }, kinds)
    watch.look(`the answer of ${path}`, text)
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text, text }
  }

  const inDays = (days: number) => Math.floor(clock.now() / 1000 + days * 24 * 3600)
  const signed = (claims: Record<string, unknown> = {}, key = callerKey) =>
    new SignJWT({ aud: 'unit-guard', exp: inDays(1 / 24), ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(key))

  const admin = signed({
    sub: 'ada',
    scope: 'read run propose write approve admin',
    budgets: '*',
    exp: inDays(300),
  })

  return {
    clock,
    service,
    secrets,
    store,
    services,
    guard: services.guard,
    api,
    dashboard,
    triggers: main.triggers,
    deliver,
    endsAt,
    slack: slackOf(main.slackApp, slack, clock),
    begun: async () => {
      await settled()
      return streamed.flatMap((event) => requestedIn(event))
    },
    logged,
    startProcess,
    call,
    signed,
    inDays,
    seen: (operation: 'run' | 'estimate' | 'dates') =>
      service.requests.filter(({ url }) => new URL(url, 'http://x').pathname.endsWith(`/${operation}`)),
    update: (body: object, how: CallOptions = {}) => call('POST', '/updates', { ...how, body }),
    figures: async (budget = 'account', window = 'month') => {
      const { body } = await call('GET', `/budgets/${budget}`)
      const { limit, granted, available, held, inDoubt, spent } = body.windows.find(
        (each: { window: string }) => each.window === window,
      )
      return { limit, granted, available, held, inDoubt, spent }
    },
    /** From the ledger, since the route answers with an audit that has just ended. */
    audit: async () => showAudit(await services.guard.ledger.audit()).ok,
  }
}

const requestedIn = (event: unknown): string[] =>
  readChanges(event).flatMap(({ pk, state }) => (state === 'requested' ? [pk.replace('update#', '')] : []))

async function writePlans(plans: readonly object[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'plans-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = join(directory, 'plans.json')
  await writeFile(file, JSON.stringify(plans))
  return file
}

interface CallOptions {
  body?: unknown
  token?: string | Promise<string> | null
  headers?: Record<string, string>
  process?: { api: ReturnType<typeof createApi> }
}

function answerOf(request: Recorded, units: Record<string, number>): Answer {
  const [, , , segment = '', operation] = new URL(request.url, 'http://x').pathname.split('/')
  const project = decodeURIComponent(segment)
  switch (operation) {
    case 'estimate':
    case 'run':
      return json({ response_code: 0, data: { keyword_units: units[project] ?? 40 } })
    case 'dates':
      return json({ response_code: 0, dates: ['2026-10-16', '2026-11-13'] })
    default:
      return { status: 404 }
  }
}

export const json = (body: unknown, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
