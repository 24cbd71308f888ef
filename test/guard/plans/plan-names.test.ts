import { expect, test } from 'vitest'
import { openBrowser } from '../../support/browser/browser.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// People see one name of a plan, "plan night", never the name of its caller.

const plan = (name: string, projects: readonly string[], more = {}) => ({
  name,
  kind: 'ranking',
  projects,
  schedule: 'cron(0 23 * * ? *)',
  ...more,
})
const month = (units: number) => [{ window: 'month', units }]

test('every page and message names a plan in the same way, and pages link to the plan', async () => {
  const product = await startProduct({
    store: createMemoryStore(),
    slack: true,
    units: { dear: 300, dearer: 500, costly: 210 },
    plans: [plan('night', ['one', 'dear', 'dearer', 'lost', 'costly']), plan('above', ['one'], { budget: 'account' })],
    service: ({ url }) => (/lost.*\/run/.test(url) ? { status: 500 } : undefined),
  })
  const { call, triggers, endsAt, signed } = product
  const projects = ['one', 'dear', 'dearer', 'lost', 'costly'].map((name) => ({ name }))
  await call('PUT', '/budgets/seo', { body: { limits: month(5_000), projects, approvalAbove: 200 } })
  await call('PUT', '/callers/schedule:night', { body: { perUpdate: 400, limits: month(310) } })
  for (const name of ['night', 'above']) await triggers.handle({ plan: name, time: '2026-11-20T10:00:00Z' }, endsAt())
  await product.deliver()
  const states = (await call('GET', '/updates')).body.updates.map(({ state }: { state: string }) => state)
  expect(new Set(states)).toEqual(new Set(['settled', 'refused', 'in-doubt', 'awaiting-approval']))

  const browser = openBrowser(product)
  await browser.logIn(signed({ sub: 'ada', scope: 'read run admin' }))
  const ids: string[] = (await call('GET', '/updates')).body.updates.map(({ id }: { id: string }) => id)
  const pages = [
    '/',
    '/dashboard/updates',
    '/dashboard/inbox',
    '/dashboard/plans',
    '/dashboard/plans/night',
    '/dashboard/statements?by=caller',
    '/dashboard/activity',
    '/dashboard/callers',
    '/dashboard/budgets/seo',
    ...ids.map((id) => `/dashboard/updates/${id}`),
  ]
  for (const path of pages) {
    const { text, html, status } = await browser.get(path)
    expect([path, status, text.match(/.{0,40}schedule:.{0,20}/g)]).toEqual([path, 200, null])
    if (!path.endsWith('/activity')) expect([path, html.includes('href="/dashboard/plans/')]).toEqual([path, true])
  }
  const messages = product.slack.posted().map((message) => JSON.stringify(message))
  expect(messages.filter((message) => message.includes('schedule:'))).toEqual([])
  for (const words of ['plan night', 'schedule:night'])
    expect((await browser.get(`/dashboard/find?q=${encodeURIComponent(words)}`)).location).toBe(
      '/dashboard/plans/night',
    )
  const filtered = await browser.get('/dashboard/updates?state=refused&caller=plan+night')
  const byPlan = await browser.get('/dashboard/updates?state=refused&plan=night')
  const rowsIn = ({ html }: typeof byPlan) => html.match(/<th scope="row">.*?<\/tr>/gs)
  expect(rowsIn(filtered)).toHaveLength(2)
  expect(rowsIn(filtered)).toEqual(rowsIn(byPlan))
})
