import { describe, expect, onTestFinished, test } from 'vitest'
import { createListener, createRouter } from '../../infra/local/listener.ts'
import { chromiumPath, launchChromium } from '../support/browser/chromium.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// One update from its refusal to its end, followed by three people: two in the browser, one in Slack.

/** Updates of seo above 100 units need approval; `dear` costs 640. */
async function start() {
  const listener = await createListener({ port: 0 })
  const store = createMemoryStore()
  const env = { DASHBOARD_URL: listener.url }
  const product = await startProduct({ bot: true, slack: true, store, units: { dear: 640 }, env })
  listener.open(createRouter({ api: product.api, dashboard: product.dashboard, slack: product.api }))
  const browser = await launchChromium()
  onTestFinished(async () => {
    await browser.close()
    await listener.close(Promise.resolve())
  })
  const limits = [{ window: 'month', units: 500 }]
  await product.call('PUT', '/budgets/seo', { body: { limits, approvalAbove: 100 } })
  const visit = async (sub: string, scope: string) => {
    const context = await browser.newContext({ baseURL: listener.url, javaScriptEnabled: false })
    const exp = product.clock.now() / 1000 + 8 * 3600
    const token = await product.signed({ sub, scope, budgets: '*', exp })
    await context.request.post('/login', { form: { token }, maxRedirects: 0 })
    const page = await context.newPage()
    page.setDefaultTimeout(8_000)
    return page
  }
  return { product, visit }
}

describe.skipIf(chromiumPath === null)('in Chromium', { timeout: 110_000 }, () => {
  test('three people follow a refused update through a grant, a second request and an approval with a cap to its end', async () => {
    const { product, visit } = await start()
    const { recorder } = product.slack
    const refused = (await product.update({ kind: 'ranking', project: 'dear', budget: 'seo' })).body.updates[0].id

    const ada = await visit('ada', 'read run admin')
    await ada.goto(`/dashboard/updates/${refused}`)
    await ada.getByRole('link', { name: 'Grant 140 to seo…' }).click()
    const grant = ada.getByRole('region', { name: 'Grant units' })
    await grant.getByLabel('Reason').fill('one more report')
    await grant.getByRole('button', { name: 'Grant' }).click()
    await ada.goto(`/dashboard/updates/${refused}`)
    await ada.getByRole('link', { name: 'Ask again…' }).click()
    await ada.getByRole('button', { name: 'Ask for approval' }).click()
    await product.deliver()
    expect(recorder?.messages).toMatchObject([{ edits: 0 }])

    const bob = await visit('bob', 'read approve')
    await bob.goto('/dashboard/inbox')
    await bob.getByText('Approve up to…, or reject').click()
    await bob.getByLabel('Up to (units)').fill('700')
    await bob.getByRole('button', { name: /^Approve up to/ }).click()
    expect(await bob.getByRole('status').innerText()).toContain('is approved')
    await product.deliver()
    await ada.reload()
    expect(await ada.getByRole('main').innerText()).toMatch(/bob approved up to 700\sunits/)
    const [message] = recorder?.messages ?? []
    expect(message?.text).toContain('640 units charged to seo')
    expect(message?.blocks.some(({ type }) => type === 'actions')).toBe(false)
    expect(await product.figures('seo')).toMatchObject({ spent: 640, available: 0 })
  })
})
