import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { createApi } from '../../functions/api/app.ts'
import { createDashboard } from '../../functions/dashboard/app.ts'
import { createTellReader } from '../../functions/outbox/readers.ts'
import { createTriggers } from '../../functions/scheduled/triggers.ts'
import { createSlackApp } from '../../functions/slack/app.ts'
import { createRouter } from '../../infra/local/listener.ts'
import { createBackground } from '../../shared/background/background.ts'
import { guardSettings } from '../../shared/guard/options.ts'
import type { Store } from '../../shared/ledger/store/store.ts'
import { type Clock, systemClock } from '../../shared/platform/clock.ts'
import { createLog } from '../../shared/platform/log.ts'
import { parseSettings } from '../../shared/platform/settings.ts'
import { createServices, type Services } from '../../shared/services/services.ts'
import { startTestSecrets } from '../support/secrets.ts'
import { slackSecretOf } from '../support/slack/slack.ts'

const key = 'a-key-for-this-benchmark-alone-0123456789'

export type Guarded = Awaited<ReturnType<typeof startGuard>>

/** HTTP, guard and ledger without a server, on a store and a service of the bench. */
export async function startGuard(options: {
  store: Store
  serviceUrl: string
  clock?: Clock
  unitsPerMonth?: number
  plans?: readonly object[]
}) {
  const { store, clock = systemClock } = options
  const folder = await mkdtemp(join(tmpdir(), 'bench-'))
  const plansFile = join(folder, 'plans.json')
  await writeFile(plansFile, JSON.stringify(options.plans ?? []))
  const secrets = await startTestSecrets({
    'unit-guard/service-token': 'benchmark-token',
    'unit-guard/caller-key': key,
    'unit-guard/slack': slackSecretOf(undefined),
  })
  const settings = parseSettings(guardSettings, {
    TABLE_NAME: 'given',
    TRACKING_BASE_URL: options.serviceUrl,
    SECRETS_ENDPOINT: secrets.endpoint,
    ACCOUNT_UNITS_PER_MONTH: String(options.unitsPerMonth ?? 1_000_000_000),
    PLANS: plansFile,
  })
  const log = createLog({ write: () => {}, now: clock.now })
  const services = createServices(settings, { store, clock, log })
  // The build includes the API's documents, so they need no request.
  const api = createApi(services, async (name) => name)
  const dashboard = createDashboard(services, async (name) => name)
  const slack = createSlackApp({ ...services, ledger: services.guard.ledger, secret: services.slackSecret })
  const jobs = createBackground(services)
  const tokens = { ada: await tokenOf('ada', clock), bob: await tokenOf('bob', clock) }

  return {
    api,
    dashboard,
    slack,
    triggers: createTriggers(jobs),
    tell: createTellReader(jobs),
    services,
    clock,
    tokens,
    call: callThrough(createRouter({ api, dashboard, slack }), tokens),
    update: updateThrough(services),
    stop: async () => {
      await secrets.close()
      await rm(folder, { recursive: true })
    },
  }
}

const tokenOf = (sub: string, clock: Clock) =>
  new SignJWT({ sub, aud: 'unit-guard', scope: 'read run propose write approve admin', budgets: '*' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime(Math.floor(clock.now() / 1000) + 3600)
    .sign(new TextEncoder().encode(key))

type Tokens = Readonly<Record<'ada' | 'bob', string>>

/** @throws Error if it is refused, since only successes are measured. */
const callThrough =
  (router: ReturnType<typeof createRouter>, tokens: Tokens) =>
  async (
    method: string,
    path: string,
    how: { body?: unknown; as?: keyof Tokens; headers?: Record<string, string> } = {},
  ): Promise<string> => {
    const { body, as = 'ada', headers = {} } = how
    const request = new Request(new URL(path, 'http://localhost'), {
      method,
      headers: {
        authorization: `Bearer ${tokens[as]}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const response = await router.fetch(request, {})
    const text = await response.text()
    if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text
  }

/** Calls the guard as the API does, without HTTP. */
const updateThrough =
  ({ guard, clock }: Services) =>
  async (project: string, { budget, key }: { budget?: string; key?: string } = {}) => {
    const asker = {
      caller: bob.sub,
      token: bob,
      via: 'http',
      route: 'POST /updates',
      ...(key !== undefined && { key }),
    } as const
    const asked = {
      kind: 'ranking',
      projects: [project],
      whenShort: 'refuse',
      ...(budget !== undefined && { budget }),
    } as const
    return guard.submit(asker, asked, { respondAsync: false, endsAt: clock.now() + 120_000 })
  }

/** A caller as the API knows it after reading the token. */
const bob = { sub: 'bob', scopes: new Set(['run'] as const), budgets: '*', until: Number.MAX_SAFE_INTEGER } as const
