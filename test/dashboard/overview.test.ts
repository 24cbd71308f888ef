import { expect, test } from 'vitest'
import { openBrowser } from '../support/browser/browser.ts'
import { createTestClock, minutes } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// The chart of the month, from the records of the sweep or without them.

async function start() {
  const clock = createTestClock('2026-11-10T00:00:00Z')
  const product = await startProduct({
    store: createMemoryStore(),
    stream: false,
    clock,
    env: { ACCOUNT_UNITS_PER_MONTH: '400' },
  })
  const browser = openBrowser(product)
  /** Logs in each time, because days pass and sessions end. */
  const look = async (path = '/') => {
    await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
    return browser.get(path)
  }
  const update = (project: string) => product.update({ kind: 'ranking', project })
  return { product, look, clock, update, sweep: () => product.triggers.handle({ task: 'sweep' }, product.endsAt()) }
}

/** The line of the units left, in thousandths of the drawing. */
const lineIn = (html: string) => /<path class="so-far" d="([^"]+)"/.exec(html)?.[1]

test('the line of the chart passes each recorded night and ends at the present figure', async () => {
  const { look, clock, update, sweep } = await start()
  await update('one')
  clock.set('2026-11-16T00:00:00Z')
  expect(lineIn((await look()).html)).toBe('M300 0L500 100')
  await sweep()
  await update('two')
  clock.set('2026-11-19T00:00:00Z')
  const { html, text } = await look()
  expect(lineIn(html)).toBe('M300 0L500 100L600 200')
  expect(text).toContain('Day by day Until Used Limit and grants Left 16 Nov 2026 00:00 40 400 360')
})

test('the overview shows no figures for a month before the ledger began, and says why', async () => {
  const { look } = await start()
  const { text } = await look('/?window=month:2026-10-01')
  expect(text).toContain('October: before this ledger began 1 – 31 Oct 2026')
  expect(text).toContain('This ledger began on 10 Nov 2026 00:00, so it knows no figures of this month.')
  expect(text).not.toContain('400')
})

test('the figures of a month have a row for each budget that was deleted in it', async () => {
  const { product, look, clock, update } = await start()
  const budget = (name: string, parent: string) =>
    product.call('PUT', `/budgets/${name}`, {
      body: { parent, limits: [{ window: 'month', units: 100 }], projects: [{ name }] },
    })
  for (const [name, parent] of [
    ['agency', 'account'],
    ['c21', 'agency'],
    ['c22', 'agency'],
    ['idle', 'agency'],
  ] as const)
    await budget(name, parent)
  for (const name of ['c21', 'c22']) await update(name)
  for (const name of ['c22', 'idle']) {
    const { status } = await product.call('DELETE', `/budgets/${name}?release=true`)
    expect(status).toBeLessThan(300)
  }
  const rows = /agency 100 0 80 0 0 20 .*c21 100 0 40 0 0 60 .*c22 \(deleted\) none 0 40 0 0 –/
  for (const path of ['/', '/dashboard/budgets'])
    expect((await look(path)).text).toContain('Deleted this month: c22 (40 spent).')
  expect((await look('/dashboard/statements')).text).toContain('c22 1 40')
  clock.set('2026-12-02T00:00:00Z')
  const past = '/?window=month:2026-11-01'
  const { text } = await look(past)
  expect(text).toMatch(rows)
  expect(text).not.toContain('idle')
  await budget('c22', 'agency')
  expect((await look(past)).text).not.toContain('(deleted)')
})

test('the badge, tile, title and lists count decisions and risks alike', async () => {
  const { product, look, update } = await start()
  const budget = (name: string, body: object) => product.call('PUT', `/budgets/${name}`, { body })
  await budget('seo', { limits: [{ window: 'month', units: 200 }], approvalAbove: 0 })
  for (const name of ['full', 'fuller']) {
    await budget(name, { limits: [{ window: 'month', units: 40 }], projects: [{ name }] })
    await update(name)
  }
  await budget('stopped', { limits: [{ window: 'month', units: 40 }] })
  await product.call('POST', '/budgets/stopped/freeze', { body: { reason: 'left' } })
  for (const project of ['one', 'two', 'three']) await product.update({ kind: 'ranking', project, budget: 'seo' })

  const overview = await look()
  const inbox = await look('/dashboard/inbox')
  expect(overview.text).toContain('To decide 3 120 units')
  expect(overview.text).toContain('Inbox 3 to decide')
  expect(inbox.text).toContain('To decide: 3 ')
  expect(inbox.html.match(/type="checkbox"/g)).toBeNull()
  expect(inbox.html.match(/<p class="what">/g)).toHaveLength(3)

  expect(overview.text).toContain('November: on track, two budgets are not')
  for (const { text, html } of [overview, inbox]) {
    expect(text).toContain('At risk 2 of 5 budgets')
    const [risky = '', others = ''] = (/<h2 id="risk".*?<\/section>/s.exec(html)?.[0] ?? '').split('<h3>')
    expect(risky.match(/<li>/g)).toHaveLength(2)
    expect(others.match(/<li>/g)).toHaveLength(1)
  }
})

test('the page of a budget draws that budget’s line', async () => {
  const { product, look, clock, sweep } = await start()
  await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 100 }] } })
  await product.update({ kind: 'ranking', project: 'one', budget: 'seo' })
  clock.set('2026-11-16T00:00:00Z')
  await sweep()
  clock.set('2026-11-19T00:00:00Z')
  const { html, text } = await look('/dashboard/budgets/seo')
  expect(lineIn(html)).toBe('M300 0L500 333L600 333')
  expect(text).toContain('Day by day Until Used Limit and grants Left 16 Nov 2026 00:00 40 100 60')
  expect(text).toContain('Spent 40 Held 0 In doubt 0 Plans to come 0')
})

test('the page of a budget without a limit or with a limit of 0 has no chart', async () => {
  const { product, look } = await start()
  for (const [name, units] of Object.entries({ none: 0, free: 'unlimited' }))
    await product.call('PUT', `/budgets/${name}`, { body: { limits: [{ window: 'month', units }] } })
  for (const name of ['none', 'free'])
    expect((await look(`/dashboard/budgets/${name}`)).html).not.toContain('class="plot"')
})

test('the overview says which figures are missing before the first night and the first count', async () => {
  const { look, update } = await start()
  await update('one')
  const { text } = await look()
  expect(text).toContain('No day has ended yet, so the line is straight.')
  expect(text).toContain('What the guard saved this month The next sweep counts the refused duplicates.')
})

test('the overview shows the units that the guard saved', async () => {
  const { look, clock, update, sweep } = await start()
  for (const project of ['one', 'one', 'one']) await update(project)
  clock.advance(minutes(5))
  await sweep()
  expect((await look()).text).toContain('Refused duplicates 2 Units not spent twice 80')
})

test('names of budgets link to their pages', async () => {
  const { product, look } = await start()
  await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 500 }] } })
  const { html } = await look()
  expect(html).toContain('<a href="/dashboard/budgets/account">account</a>')
  expect(html).toContain('<a href="/dashboard/budgets/seo">seo</a>')
})
