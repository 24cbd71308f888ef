import { SignJWT } from 'jose'
import { expect, onTestFinished } from 'vitest'
import { createApi } from '../../functions/api/app.ts'
import { createDashboard } from '../../functions/dashboard/app.ts'
import { createMcp } from '../../functions/mcp/app.ts'
import { createStartReader, createTellReader } from '../../functions/outbox/readers.ts'
import { createTriggers } from '../../functions/scheduled/triggers.ts'
import { createSlackApp } from '../../functions/slack/app.ts'
import { localReference } from '../../infra/openapi/local-reference.ts'
import { showAudit } from '../../shared/api/to-json.ts'
import { createBackground } from '../../shared/background/background.ts'
import type { Network } from '../../shared/events/webhook.ts'
import { type GuardSettings, guardSettingsOf } from '../../shared/guard/options.ts'
import type { MachineFacts } from '../../shared/guard/troubles/table.ts'
import type { Store } from '../../shared/ledger/store/store.ts'
import { createLog } from '../../shared/platform/log.ts'
import { parseSettings } from '../../shared/platform/settings.ts'
import { createServices } from '../../shared/services/services.ts'
import { createSlackClientOf } from '../../shared/slack/tell/client.ts'
import { type Kinds, productKinds } from '../../shared/tracking/kinds.ts'
import { watchForSecrets } from './canaries.ts'
import { createTestClock, type TestClock } from './clock.ts'
import { mustBeDocumented } from './documented.ts'
import { faultOf } from './log-lines.ts'
import { mcpPartsOf, quoteKey } from './quote-key.ts'
import { signingKey } from './receiver.ts'
import { type Answer, type Recorded, startScriptedService, usualAnswer } from './scripted-service.ts'
import { startTestSecrets } from './secrets.ts'
import { botToken, channel, slackOf, slackSecretOf, startRecorder, startSlackChannel } from './slack/slack.ts'
import { recordStream } from './store/recorded-store.ts'
import { createProductStore, patienceMs } from './store/stores.ts'
import { filesOf } from './written-file.ts'

export { json } from './scripted-service.ts'

export const serviceToken = 'canary-service-token-7f3a9c'
export const callerKey = 'canary-caller-key-0123456789abcdefghijklmnop'
export const loginSecret = 'canary-login-client-4b1d07'

/** `pastDeadline` lets this deadline pass if a service hangs. */
export const serviceTimeoutMs = 20_000

export interface Called {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers as callers do, without knowing our types.
  readonly body: any
  readonly text: string
}

export type Product = Awaited<ReturnType<typeof startProduct>>

interface ProductOptions {
  env?: Record<string, string>
  store?: Store
  /** Without the stream nothing is delivered, and only the product's own requests reach the store: usual on the real store. */
  stream?: boolean
  clock?: TestClock
  /** The cost of an update for each project; others cost 40. */
  units?: Record<string, number>
  service?: (request: Recorded) => Answer | undefined
  secrets?: Record<string, string | undefined>
  /** The channel's own answers come first. */
  slack?: true | Parameters<typeof startSlackChannel>[0]
  /** A bot token and the Web API for it. */
  bot?: true
  plans?: readonly object[]
  /** Entries of the file of trusted issuers. */
  issuers?: readonly object[]
  issuersWithinMs?: number
  /** Entries of the file of event targets. */
  targets?: readonly { readonly secret: string }[]
  /** The network for requests to the targets. */
  network?: Network
  kinds?: Kinds
  machine?: () => Promise<MachineFacts>
}

/** The whole product in one process, over real sockets. Only the clock is simulated. */
export async function startProduct(options: ProductOptions = {}) {
  const clock = options.clock ?? createTestClock()
  const { kinds = productKinds } = options
  const watch = watchForSecrets()
  const service = await startService({ ...options, clock }, watch)
  const slack = options.slack ? await startSlack(options.slack === true ? {} : options.slack, watch) : null
  const recorder = options.bot ? await startRecorder(clock) : null
  if (recorder) onTestFinished(() => recorder.close())
  const secrets = await startSecrets(options, slack?.webhookUrl, recorder ? botToken : undefined)
  const { logged, write } = keepLog(watch)
  const stream = await startStream(options, watch)
  const { store } = stream
  const settings = settingsOf(kinds, {
    TRACKING_BASE_URL: service.baseUrl,
    SECRETS_ENDPOINT: secrets.endpoint,
    ...(await filesOf(options)),
    ...(recorder && { SLACK_API_URL: recorder.apiUrl, SLACK_CHANNEL: channel }),
    ...options.env,
  })
  /** Another process of the same deployment, with its own caches on the same table. */
  const startProcess = (own: Partial<GuardSettings> = {}) =>
    startProcessOf({
      options,
      settings: { ...settings, ...own },
      own: { store, clock, kinds },
      watch,
      write,
    })
  const main = startProcess()
  const { services, api, dashboard, mcp } = main
  const endsAt = () => clock.now() + 15 * 60_000
  const { inDays, signed } = signerOf(clock)
  const admin = signed({
    sub: 'ada',
    scope: 'read run propose write approve admin',
    budgets: '*',
    exp: inDays(300),
  })
  const call = callOf({ api, admin, kinds, watch })

  return {
    clock,
    service,
    secrets,
    store,
    services,
    guard: services.guard,
    api,
    dashboard,
    mcp,
    triggers: main.triggers,
    events: main.events,
    deliver: () => stream.deliverTo(main, endsAt),
    endsAt,
    slack: slackOf(main.slackApp, slack, clock, recorder),
    begun: stream.begun,
    logged,
    startProcess,
    call,
    signed,
    inDays,
    seen: (operation: 'run' | 'estimate' | 'dates') =>
      service.requests.filter(({ url }) => new URL(url, 'http://x').pathname.endsWith(`/${operation}`)),
    update: (body: object, how: CallOptions = {}) => call('POST', '/updates', { ...how, body }),
    figures: (budget?: string, window?: string) => figuresOf(call, budget, window),
    /** Audits in the ledger, since the route may answer with an audit that has just ended. */
    audit: async () => showAudit(await services.guard.ledger.audit()).ok,
  }
}

type Watch = ReturnType<typeof watchForSecrets>

async function startStream({ store, stream, slack, plans, targets }: ProductOptions, watch: Watch) {
  const hasStream = stream ?? Boolean(store ?? slack ?? plans)
  const sendsEvents = Boolean(targets)
  return recordStream(watch.items(store ?? (await createProductStore())), hasStream, { sendsEvents })
}

async function startService(options: ProductOptions & { clock: TestClock }, watch: Watch) {
  const units = options.units ?? {}
  const service = await startScriptedService({
    clock: options.clock,
    fallback: (request) => options.service?.(request) ?? usualAnswer(request, units),
  })
  onTestFinished(() => service.close())
  // Checks that the service's token goes only to the service, in its header.
  const toTheService = () =>
    service.requests.map(({ url, headers: { authorization: _own, ...others }, body }) => ({ url, others, body }))
  onTestFinished(() => watch.look('what the service gets', JSON.stringify(toTheService())))
  return service
}

async function startSlack(options: Parameters<typeof startSlackChannel>[0], watch: Watch) {
  const slack = await startSlackChannel(options)
  onTestFinished(() => slack.close())
  onTestFinished(() => watch.look('a message', JSON.stringify(slack.posted().map(({ body }) => body))))
  return slack
}

async function startSecrets(
  { secrets: own, targets = [] }: ProductOptions,
  webhookUrl: string | undefined,
  botToken: string | undefined,
) {
  const secrets = await startTestSecrets(
    own ?? {
      'unit-guard/service-token': serviceToken,
      'unit-guard/caller-key': callerKey,
      'unit-guard/quote-key': quoteKey,
      'unit-guard/slack': slackSecretOf(webhookUrl, botToken),
      ...Object.fromEntries(targets.map(({ secret }) => [secret, signingKey])),
    },
  )
  onTestFinished(() => secrets.close())
  return secrets
}

/** Fails the test at its end if a log line is not documented. */
function keepLog(watch: Watch) {
  const logged: string[] = []
  const wrongLines: string[] = []
  onTestFinished(() => expect(wrongLines, 'lines that docs/runbook.md does not know').toEqual([]))
  const write = (line: string) => {
    watch.look('the log', line)
    logged.push(line)
    const fault = faultOf(line)
    if (fault !== null) wrongLines.push(fault)
  }
  return { logged, write }
}

const settingsOf = (kinds: Kinds, env: Record<string, string>) =>
  parseSettings(guardSettingsOf(kinds), {
    TABLE_NAME: 'given',
    LEDGER_SERVICE: 'sandbox',
    ACCOUNT_UNITS_PER_MONTH: '50000',
    SERVICE_TIMEOUT_MS: String(serviceTimeoutMs),
    ...env,
  })

interface Deployment {
  readonly options: Pick<ProductOptions, 'issuersWithinMs' | 'network' | 'machine'>
  readonly settings: GuardSettings
  readonly own: { readonly store: Store; readonly clock: TestClock; readonly kinds: Kinds }
  readonly watch: Watch
  readonly write: (line: string) => void
}

function startProcessOf({ options, settings, own, watch, write }: Deployment) {
  const { issuersWithinMs = patienceMs, network, machine } = options
  const log = createLog({ write, now: own.clock.now })
  const waits = { secretsWithinMs: patienceMs, issuersWithinMs }
  const services = createServices(settings, { ...own, ...waits, log, machine })
  const parts = createBackground(services, network)
  const slackApp = watch.answers(
    createSlackApp({
      ...services,
      ledger: services.guard.ledger,
      secret: services.slackSecret,
      client: createSlackClientOf(services),
    }),
  )
  return {
    services,
    api: watch.answers(createApi(services, localReference)),
    dashboard: watch.answers(createDashboard(services, localReference)),
    mcp: watch.answers(createMcp(services, mcpPartsOf(settings, { clock: own.clock, log }))),
    slackApp,
    slack: parts.slack,
    start: createStartReader(parts),
    tell: createTellReader(parts),
    events: parts.channels[1],
    triggers: createTriggers(parts),
  }
}

function signerOf(clock: TestClock) {
  const inDays = (days: number) => Math.floor(clock.now() / 1000 + days * 24 * 3600)
  const signed = (claims: Record<string, unknown> = {}, key = callerKey) =>
    new SignJWT({ aud: 'unit-guard', exp: inDays(1 / 24), ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(key))
  return { inDays, signed }
}

interface CallOptions {
  body?: unknown
  token?: string | Promise<string> | null
  headers?: Record<string, string>
  process?: { api: ReturnType<typeof createApi> }
}

type Call = (method: string, path: string, how?: CallOptions) => Promise<Called>

const callOf =
  (to: { api: ReturnType<typeof createApi>; admin: Promise<string>; kinds: Kinds; watch: Watch }): Call =>
  async (method, path, how = {}) => {
    const { body, token = to.admin, headers = {}, process: { api } = to } = how
    const response = await api.request(path, {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${await token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    mustBeDocumented({ method, path, status: response.status, headers: response.headers, text }, to.kinds)
    to.watch.look(`the answer of ${path}`, text)
    const isJson = text !== '' && /json/.test(response.headers.get('content-type') ?? '')
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text, text }
  }

async function figuresOf(call: Call, budget = 'account', window = 'month') {
  const { body } = await call('GET', `/budgets/${budget}`)
  const { limit, granted, available, held, inDoubt, spent } = body.windows.find(
    (each: { window: string }) => each.window === window,
  )
  return { limit, granted, available, held, inDoubt, spent }
}
