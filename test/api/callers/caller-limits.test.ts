import { describe, expect, test } from 'vitest'
import { openBrowser } from '../../support/browser/browser.ts'
import { type Product, startProduct } from '../../support/product.ts'
import { gate } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = (units: number | 'unlimited', day?: number) => [
  { window: 'month', units },
  ...(day === undefined ? [] : [{ window: 'day', units: day }]),
]

/** Eve requests updates for `acme` and `globex`, which have plenty of units. */
async function withEve(listed: object, options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ store: createMemoryStore(), ...options })
  for (const name of ['acme', 'globex'])
    await product.call('PUT', `/budgets/${name}`, { body: { limits: month(5_000) } })
  const list = (body: object, sub = 'eve') => product.call('PUT', `/callers/${sub}`, { body })
  await list(listed)
  const exp = Math.floor(product.clock.now() / 1000) + 30 * 24 * 3600
  const eve = product.signed({ sub: 'eve', scope: 'read run propose', budgets: '*', exp })
  const ask = (project: string, more: object = {}) =>
    product.update({ kind: 'ranking', project, budget: 'acme', ...more }, { token: eve })
  return { product, list, eve, ask }
}

const windowsOf = async (product: Product, sub = 'eve') =>
  (await product.call('GET', `/callers/${sub}`)).body.windows.map(
    ({ window, limit, available, held, inDoubt, spent }: Record<string, unknown>) => ({
      window,
      limit,
      available,
      held,
      inDoubt,
      spent,
    }),
  )

describe('limits of a caller', () => {
  test('limits of a caller count over all budgets and are shown with figures', async () => {
    const { product, list, ask } = await withEve({ limits: month(100) })
    expect((await ask('a')).status).toBe(201)
    expect((await ask('b', { budget: 'globex' })).status).toBe(201)
    const refused = await ask('c', { budget: 'globex' })
    expect(refused.body).toMatchObject({
      status: 402,
      type: '/problems/over-budget',
      short: 20,
      budgets: [{ budget: 'caller:eve', window: 'month', limit: 100, spent: 80, available: 20, short: 20 }],
    })
    expect((await product.update({ kind: 'ranking', project: 'c', budget: 'globex' })).status).toBe(201)
    const { body } = await list({ limits: month(100) })
    expect(body).toEqual({
      sub: 'eve',
      disabled: false,
      limits: month(100),
      windows: [
        {
          window: 'month',
          start: '2026-11-01T00:00:00.000Z',
          end: '2026-12-01T00:00:00.000Z',
          resetsAt: '2026-12-01T00:00:00.000Z',
          limit: 100,
          granted: 0,
          available: 20,
          held: 0,
          inDoubt: 0,
          spent: 80,
        },
      ],
    })
    expect((await product.call('GET', '/budgets')).body.budgets).toHaveLength(3)
    const { body: audit } = await product.call('GET', '/audit')
    expect(audit.ok).toBe(true)
    expect(audit.books.map(({ budget }: { budget: string }) => budget)).toContain('caller:eve')
  })

  test('limits of a caller apply during a flood of requests on the real store', async () => {
    const product = await startProduct()
    await product.call('PUT', '/budgets/acme', { body: { limits: month(5_000) } })
    await product.call('PUT', '/callers/eve', { body: { limits: month(400, 200) } })
    const eve = product.signed({ sub: 'eve', scope: 'run', budgets: '*' })
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        product.update(
          { kind: 'ranking', project: `p-${index}`, budget: index % 2 ? 'acme' : 'account' },
          { token: eve },
        ),
      ),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
    expect(product.seen('run')).toHaveLength(5)
    expect(await windowsOf(product)).toEqual([
      { window: 'month', limit: 400, available: 200, held: 0, inDoubt: 0, spent: 200 },
      { window: 'day', limit: 200, available: 0, held: 0, inDoubt: 0, spent: 200 },
    ])
    expect(await product.audit()).toBe(true)
  })

  test("an update settles on the counters of its hold if the caller's limit changes or ends meanwhile", async () => {
    const { opened, open } = gate()
    const { product, list, ask } = await withEve(
      { limits: month(100, 50) },
      { service: ({ url }) => (url.endsWith('/a/run') ? { once: opened, body: '{}' } : undefined) },
    )
    const running = ask('a')
    while (product.seen('run').length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    expect(await windowsOf(product)).toMatchObject([{ held: 40 }, { held: 40, available: 10 }])
    await list({ limits: month(60) })
    expect((await ask('b')).status).toBe(402)
    await list({})
    expect((await ask('b')).status).toBe(201)
    open()
    expect((await running).status).toBe(201)
    expect(await product.figures('acme')).toMatchObject({ spent: 80, held: 0 })
    // Units spent without a counter are not counted; the earlier counter continues.
    await list({ limits: month(60) })
    expect(await windowsOf(product)).toEqual([
      { window: 'month', limit: 60, available: 20, held: 0, inDoubt: 0, spent: 40 },
    ])
    await product.call('DELETE', '/callers/eve')
    expect((await ask('c')).status).toBe(201)
    expect(await product.audit()).toBe(true)
  })

  test('limits apply to a plan and to a Slack user', async () => {
    const plan = { name: 'night', kind: 'ranking', projects: ['a', 'b', 'c'], schedule: 'cron(0 5 * * ? *)' }
    const { product, list } = await withEve({}, { plans: [{ ...plan, budget: 'acme' }], slack: true, stream: true })
    await list({ limits: month(80) }, 'schedule:night')
    await (await product.guard.jobs()).fire('night', Date.parse('2026-11-20T10:00:00Z'), product.endsAt())
    expect(await windowsOf(product, 'schedule:night')).toMatchObject([{ available: 0, spent: 80 }])
    await list({ scopes: ['run'], budgets: '*', limits: month(30) }, 'slack:U1EVE')
    await product.slack.command('run ranking d budget=acme', { user: 'U1EVE' })
    await product.deliver()
    const [button] = product.slack.buttons()
    if (button) await product.slack.press(button.action, button.value, { user: 'U1EVE' })
    await product.deliver()
    expect(product.seen('run')).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })
})

describe('ratePerMinute', () => {
  test('a caller above ratePerMinute gets 429 with Retry-After until the minute ends', async () => {
    const { product, eve } = await withEve({ ratePerMinute: 3 })
    const read = (token = eve, process?: { api: Product['api'] }) =>
      product.call('GET', '/updates', { token, ...(process && { process }) })
    for (let index = 0; index < 3; index++) expect((await read()).status).toBe(200)
    product.clock.advance(15_500)
    const refused = await read()
    expect(refused.headers.get('retry-after')).toBe('45')
    expect(refused.body).toMatchObject({
      status: 429,
      type: '/problems/too-many-requests',
      detail: 'eve may make 3 requests a minute; the next one in 45 seconds.',
      ratePerMinute: 3,
    })
    const gateway = await product.call('GET', '/v3/on-demand/a/run', { token: eve })
    expect(gateway.status).toBe(429)
    expect((await product.call('GET', '/updates')).status).toBe(200)
    product.clock.advance(44_000)
    expect((await read()).body.detail).toBe('eve may make 3 requests a minute; the next one in 1 second.')
    product.clock.advance(500)
    expect((await read()).status).toBe(200)
    expect(product.seen('run')).toEqual([])
  })

  test('ratePerMinute counts pages as it counts requests', async () => {
    const { product, eve } = await withEve({ ratePerMinute: 3 })
    const browser = openBrowser(product)
    await browser.logIn(eve)
    for (let index = 0; index < 3; index++) expect((await browser.get('/dashboard/updates')).status).toBe(200)
    const { status, text } = await browser.get('/dashboard/updates')
    expect([status, text]).toEqual([429, expect.stringContaining('eve may make 3 requests a minute; the next one in')])
  })

  test('ratePerMinute counts in each process, and a 429 records nothing', async () => {
    const { product, eve, ask } = await withEve({ ratePerMinute: 1 })
    expect((await ask('a')).status).toBe(201)
    const key = { token: eve, headers: { 'idempotency-key': 'k' } }
    const body = { kind: 'ranking', project: 'b', budget: 'acme' }
    expect((await product.update(body, key)).status).toBe(429)
    const other = product.startProcess()
    expect((await product.update(body, { ...key, process: other })).status).toBe(201)
    expect((await product.call('GET', '/updates')).body.updates).toHaveLength(2)
  })
})
