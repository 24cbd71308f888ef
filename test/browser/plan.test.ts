import { describe, expect, onTestFinished, test } from 'vitest'
import { createListener, createRouter } from '../../infra/local/listener.ts'
import { chromiumPath, launchChromium } from '../support/browser/chromium.ts'
import { hours } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { everyLook } from './looks.ts'

// The page of a plan with forty projects after a run that came too late.

const projects = Array.from({ length: 40 }, (_, index) => `site-${index + 1}.example`)

async function start() {
  const listener = await createListener({ port: 0 })
  const night = { name: 'night', kind: 'ranking', projects, budget: 'seo', schedule: 'cron(0 5 * * ? *)' }
  const env = { DASHBOARD_URL: listener.url }
  const product = await startProduct({ store: createMemoryStore(), stream: false, plans: [night], env })
  listener.open(createRouter({ api: product.api, dashboard: product.dashboard, slack: product.api }))
  const browser = await launchChromium()
  onTestFinished(async () => {
    await browser.close()
    await listener.close(Promise.resolve())
  })
  await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 5_000 }] } })
  await (await product.guard.jobs()).readPrices(product.endsAt())
  const late = product.clock.now() - hours(2)
  await product.triggers.handle({ plan: 'night', time: new Date(late).toISOString() }, product.endsAt())
  const context = await browser.newContext({ baseURL: listener.url, viewport: { width: 1440, height: 900 } })
  const exp = product.clock.now() / 1000 + 8 * 3600
  const token = await product.signed({ sub: 'ada', scope: 'read run admin', budgets: '*', exp })
  await context.request.post('/login', { form: { token }, maxRedirects: 0 })
  const page = await context.newPage()
  await page.goto('/dashboard/plans/night')
  return page
}

describe.skipIf(chromiumPath === null)('in Chromium', { timeout: 110_000 }, () => {
  test('after a missed run, the names are folded, and what runs them again stands below with its units', async () => {
    const page = await start()
    const [run, again] = ['Run of', 'Run what was not sent'].map((name) => page.getByRole('region', { name }))
    expect(await run?.getByText('40 projects not sent').isVisible()).toBe(true)
    expect(await run?.getByText(projects[0] ?? '', { exact: true }).isVisible()).toBe(false)
    expect(await again?.innerText()).toMatch(/Cost at the last prices: 1,600\sunits\./)
    const [above, below] = [await run?.boundingBox(), await again?.boundingBox()]
    expect(below?.y).toBeGreaterThan((above?.y ?? 0) + (above?.height ?? 0))
    const label = await again?.getByText('Run them within five minutes').boundingBox()
    expect(label?.height).toBeLessThan(30)
    expect(await everyLook(page)).toEqual([])
  })
})
