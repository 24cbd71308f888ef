import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { createApi } from '../../../functions/api/app.ts'
import { createDashboard } from '../../../functions/dashboard/app.ts'
import { runMonth } from '../../../infra/local/demo/month.ts'
import { createListener, createRouter } from '../../../infra/local/listener.ts'
import { signCallerToken } from '../../../infra/local/secrets.ts'
import { localReference } from '../../../infra/openapi/local-reference.ts'
import type { State } from '../../../shared/ledger/updates/update.ts'
import { type Scope, scopes } from '../../../shared/platform/words.ts'
import { openMonthWithTarget } from '../month.ts'
import { launchChromium } from './chromium.ts'
import { findPlaces } from './places.ts'

export type Dashboard = Awaited<ReturnType<typeof openDashboard>>

interface Who {
  readonly sub: string
  readonly may: readonly Scope[]
}

const everyScope: Who = { sub: 'rita', may: scopes }
const tokenLastsMs = 8 * 3600_000

/**
 * The pages on a real port over the month of `npm run demo:month`, with one Chromium. The clock stands at the month's end. The caller
 * closes it.
 */
export async function openDashboard(end: string, settings: Record<string, string> = {}) {
  const listener = await createListener({ port: 0 })
  const { scenario, shutdown } = await openMonthWithTarget(end, { ...settings, DASHBOARD_URL: listener.url })
  const [browser] = await Promise.all([launchChromium(), runMonth(scenario, () => {})])
  const api = createApi(scenario.services)
  // All apps share one origin, as on one machine, and a cookie must not open the API.
  listener.open(createRouter({ api, dashboard: createDashboard(scenario.services, localReference), slack: api }))
  shutdown.onStop(listener.close)
  shutdown.onStop(() => browser.close())
  const places = await findPlaces(scenario.guard)

  const tokenOf = ({ sub, may }: Who) =>
    signCallerToken({
      key: scenario.callerKey,
      sub,
      scopes: may,
      budgets: '*',
      now: scenario.clock.now(),
      lastsMs: tokenLastsMs,
    })

  async function visitor(options: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await browser.newContext({
      baseURL: listener.url,
      viewport: { width: 1280, height: 800 },
      ...options,
    })
    const page = await context.newPage()
    const troubles = collectTroubles(page, listener.url)
    return { context, page, troubles }
  }

  /** A logged-in page. */
  async function insider(who: Who = everyScope, options: BrowserContextOptions = {}): Promise<Visitor> {
    const seen = await visitor(options)
    await seen.context.request.post('/login', { form: { token: await tokenOf(who) }, maxRedirects: 0 })
    return seen
  }

  return {
    url: listener.url,
    scenario,
    browser,
    visitor,
    insider,
    tokenOf,
    close: () => shutdown.stop(),
    updateOf: places.updateOf,
    overrun: places.overrun,
    entryOf: places.entryOf,
    stateOf: async (address: string): Promise<State | undefined> =>
      (await scenario.guard.ledger.update(address.split('/').at(-1) ?? ''))?.state,
  }
}

/** Collects console messages, script errors, failed requests, and requests to other hosts. */
function collectTroubles(page: Page, url: string): string[] {
  const troubles: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) troubles.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => troubles.push(`script: ${error.message}`))
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? 'without a reason'
    // The user left before the icon was loaded.
    if (why !== 'net::ERR_ABORTED') troubles.push(`failed: ${request.url()}: ${why}`)
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) troubles.push(`elsewhere: ${request.url()}`)
  })
  return troubles
}

export interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  readonly troubles: string[]
}
