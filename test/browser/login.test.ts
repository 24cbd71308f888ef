import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createListener } from '../../infra/local/listener.ts'
import { chromiumPath, launchChromium } from '../support/browser/chromium.ts'
import { createTestClock, minutes } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { startProvider } from '../support/provider.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { tabTo } from './keyboard.ts'
import { everyLook } from './looks.ts'

// A login at an identity provider in a real browser: redirects between two sites, strict cookies, and no script.

const timeout = 60_000
const again =
  /This login was started in another browser, was finished before, or is older than ten minutes\. Log in again\./
const noIdToken = /okta sent no ID token that Unit Guard accepts\. Log in again/

describe.skipIf(chromiumPath === null)('in Chromium', { timeout }, () => {
  let chromium: Awaited<ReturnType<typeof launchChromium>>
  beforeAll(async () => {
    chromium = await launchChromium()
  }, timeout)
  afterAll(() => chromium?.close())

  async function start() {
    const clock = createTestClock()
    const provider = await startProvider({ clock })
    provider.state.user = { sub: 'ada', groups: ['leads'] }
    const listener = await createListener({ port: 0 })
    onTestFinished(() => listener.close(Promise.resolve()))
    // The provider is at 127.0.0.1, so localhost is another site.
    const home = `http://localhost:${listener.port}`
    const product = await startProduct({
      store: createMemoryStore(),
      clock,
      issuers: [provider.entry()],
      env: { LOGIN_ISSUER: 'okta', LOGIN_CLIENT_ID: provider.state.client.id, DASHBOARD_URL: home },
    })
    listener.open({ fetch: (request, env) => product.dashboard.fetch(request, env) })

    async function visit(options: object = { javaScriptEnabled: false }) {
      const context = await chromium.newContext({ baseURL: home, ...options })
      onTestFinished(() => context.close())
      return { context, page: await context.newPage() }
    }

    return { clock, provider, product, home, visit, ...(await visit()) }
  }

  type Run = Awaited<ReturnType<typeof start>>

  async function press(page: Page): Promise<string> {
    await page.goto('/login')
    const [request] = await Promise.all([
      page.waitForRequest(/\/login\/callback\?/),
      page.getByRole('link', { name: 'Log in with okta' }).click(),
    ])
    return request.url()
  }

  const logIn = async (page: Page): Promise<void> => {
    await press(page)
    await page.getByRole('navigation', { name: 'Dashboard' }).waitFor()
  }

  test('a user logs in with the keyboard, returns to the requested page, and logs out', async () => {
    const { page, context, home } = await start()
    await page.goto('/dashboard/activity')
    await tabTo(page, page.getByRole('link', { name: 'Log in with okta' }))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor()
    expect(page.url()).toBe(`${home}/dashboard/activity`)
    const cookies = await context.cookies()
    expect(cookies.map(({ name, sameSite, httpOnly, path }) => [name, sameSite, httpOnly, path])).toEqual([
      ['unit-guard', 'Strict', true, '/'],
    ])
    await page.getByText('okta:ada', { exact: true }).first().click()
    await page.getByRole('button', { name: 'Log out' }).click()
    expect(await page.getByRole('status').innerText()).toMatch(
      /^You are logged out of Unit Guard\. okta may still know you/,
    )
    await page.goto('/')
    expect([new URL(page.url()).pathname, await context.cookies()]).toEqual(['/login', []])
  })

  test.each<[string, (run: Run) => Promise<unknown>, RegExp]>([
    [
      'another state',
      ({ page, provider, home }) => {
        const location = `${home}/login/callback?code=x&iss=${provider.issuer}&state=${'A'.repeat(43)}`
        provider.state.answers['/authorize'] = { status: 302, headers: { location } }
        return press(page)
      },
      again,
    ],
    [
      'another nonce',
      ({ page, provider }) => {
        provider.state.user = { sub: 'ada', groups: ['leads'], nonce: 'of-another-login' }
        return press(page)
      },
      noIdToken,
    ],
    [
      'a code that comes again',
      async ({ page, context }) => {
        const address = await press(page)
        await page.getByRole('navigation', { name: 'Dashboard' }).waitFor()
        await context.clearCookies({ name: 'unit-guard' })
        return page.goto(address)
      },
      again,
    ],
    [
      'the code of another session',
      async ({ page, visit }) => {
        const other = await visit()
        const address = await press(other.page)
        await page.goto('/login')
        return page.goto(address)
      },
      again,
    ],
    [
      "the provider's error",
      ({ page, provider }) => {
        provider.state.user = null
        return press(page)
      },
      /okta did not log you in \(access_denied\)\. Log in again, or ask an administrator of okta\./,
    ],
    [
      'a clock that is ahead',
      ({ page, provider, clock }) => {
        provider.state.user = { sub: 'ada', groups: ['leads'], iat: Math.floor(clock.now() / 1000) + 61 }
        return press(page)
      },
      noIdToken,
    ],
  ])('a login at the provider opens no session: %s', async (_name, act, sentence) => {
    const run = await start()
    await act(run)
    expect(await run.page.getByRole('alert').innerText()).toMatch(sentence)
    expect((await run.context.cookies()).filter(({ name }) => name === 'unit-guard')).toEqual([])
    run.provider.state.answers = {}
    run.provider.state.user = { sub: 'ada', groups: ['leads'] }
    await logIn(run.page)
  })

  test('a caller who is disabled while logged in has no access from the next page on', async () => {
    const { page, context, product, clock } = await start()
    await logIn(page)
    await product.call('PUT', '/callers/okta:ada', { body: { disabled: true } })
    clock.advance(minutes(1))
    await page.getByRole('link', { name: 'Updates' }).click()
    expect(await page.getByRole('main').innerText()).toContain('okta:ada is disabled; ask an administrator.')
    expect(await context.cookies()).toEqual([])
  })

  test.each(['/login', '/login?out', '/login/callback'])('a page of the login looks right: %s', async (path) => {
    const { visit } = await start()
    const { page } = await visit({})
    await page.goto(path)
    expect(await everyLook(page)).toEqual([])
  })
})
