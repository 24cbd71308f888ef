import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { signCallerToken } from '../../infra/local/caller-token.ts'
import { playMonth } from '../../infra/local/demo-month-play.ts'
import { createDoor } from '../../infra/local/door.ts'
import type { State, Update } from '../../shared/ledger/update.ts'
import { type Scope, scopes } from '../../shared/platform/words.ts'
import { launchChromium } from './chromium.ts'
import { openMonth } from './month.ts'

export type Dashboard = Awaited<ReturnType<typeof openDashboard>>

interface Who {
  readonly sub: string
  readonly may: readonly Scope[]
}

const everybody: Who = { sub: 'rita', may: scopes }
const tokenLastsMs = 8 * 3600_000

/**
 * The pages behind a real port, over the month of `npm run demo:month`, and one Chromium that looks at them; whoever asks
 * for it closes it. The clock of the pages stands still at the month's end.
 */
export async function openDashboard(end: string) {
  const door = await createDoor({ port: 0 })
  const { stage, shutdown } = await openMonth(end, { DASHBOARD_URL: door.url })
  const [browser] = await Promise.all([launchChromium(), playMonth(stage, () => {})])
  door.open(stage.api)
  shutdown.onStop(door.close)
  shutdown.onStop(() => browser.close())
  const { rows: updates } = await stage.guard.ledger.updates({}, 200)

  const addressOf = (what: string, update: Update | undefined): string => {
    if (!update) throw new Error(`the month has no update ${what}`)
    return `/dashboard/updates/${update.id}`
  }

  const tokenOf = ({ sub, may }: Who) =>
    signCallerToken({
      ...{ key: stage.callerKey, sub, scopes: may, budgets: '*' },
      ...{ now: stage.clock.now(), lastsMs: tokenLastsMs },
    })

  /** Somebody in front of a browser of their own. What went wrong in it is collected. */
  async function visitor(options: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await browser.newContext({ baseURL: door.url, viewport: { width: 1280, height: 800 }, ...options })
    const page = await context.newPage()
    const troubles: string[] = []
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) troubles.push(`console: ${message.text()}`)
    })
    page.on('pageerror', (error) => troubles.push(`script: ${error.message}`))
    page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText ?? 'without a reason'
      // Whoever goes on before the icon was there has not missed anything.
      if (why !== 'net::ERR_ABORTED') troubles.push(`failed: ${request.url()}: ${why}`)
    })
    page.on('request', (request) => {
      if (!request.url().startsWith(`${door.url}/`)) troubles.push(`elsewhere: ${request.url()}`)
    })
    return { context, page, troubles }
  }

  /** The same, logged in as somebody who may do everything, or as told. */
  async function insider(who: Who = everybody, options: BrowserContextOptions = {}): Promise<Visitor> {
    const seen = await visitor(options)
    await seen.context.request.post('/login', { form: { token: await tokenOf(who) }, maxRedirects: 0 })
    return seen
  }

  return {
    ...{ url: door.url, stage, browser, visitor, insider, tokenOf },
    close: () => shutdown.stop(),
    /** The latest update of a project in the month, by its state. */
    updateOf: (project: string, state: State): string =>
      addressOf(
        `of ${project} that is ${state}`,
        updates.find((update) => update.project === project && update.state === state),
      ),
    /** As it is by now. */
    stateOf: async (address: string): Promise<State | undefined> =>
      (await stage.guard.ledger.update(address.split('/').at(-1) ?? ''))?.state,
    /** The one that has cost more than was held. */
    overrun: (): string =>
      addressOf(
        'with an overrun',
        updates.find(({ overrun }) => overrun !== undefined),
      ),
  }
}

export interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  readonly troubles: string[]
}
