import { describe, expect, test } from 'vitest'
import { openBrowser } from '../../support/browser/browser.ts'
import { days } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// The page of a person and the page of a project.

const month = (units: number) => [{ window: 'month', units }]

async function start() {
  const plan = { name: 'night', kind: 'ranking', projects: ['shop'], schedule: 'cron(0 10 * * ? *)' }
  const product = await startProduct({ store: createMemoryStore(), plans: [plan] })
  const projects = [{ name: 'shop', id: '5001' }]
  await product.call('PUT', '/budgets/acme', { body: { limits: month(900), approvalAbove: 100, projects } })
  await product.call('PUT', '/callers/slack:U1BEA', { body: { scopes: ['read', 'run', 'approve'], person: 'bea' } })
  await product.call('PUT', '/callers/bea-laptop', {
    body: {
      person: 'bea',
      scopes: ['read', 'run', 'admin'],
      budgets: ['acme'],
      limits: [{ window: 'day', units: 300 }],
    },
  })
  const tokenOf = (sub: string, scope = 'read run approve admin') => product.signed({ sub, scope, budgets: '*' })
  const ask = (sub: string, project: string) =>
    product.update({ kind: 'ranking', project, budget: 'acme' }, { token: tokenOf(sub) })
  const log = async (sub: string, scope: string) => {
    const browser = openBrowser(product)
    await browser.logIn(tokenOf(sub, scope))
    return browser
  }
  return {
    product,
    ask,
    eve: await log('eve', 'read run admin approve'),
    rita: await log('rita', 'read'),
    log,
    tokenOf,
  }
}

describe('the page of a person', () => {
  test('the page of a person has their names, spending, requests, decisions and rights, and links to projects', async () => {
    const { product, ask, eve, tokenOf } = await start()
    await ask('bea-laptop', 'shop')
    const reason = { reason: 'more' }
    await product.call('POST', '/budgets/acme/entries', {
      body: { type: 'grant', units: 5, ...reason },
      token: tokenOf('bea-laptop'),
    })
    const { text, html, status } = await eve.get('/dashboard/people/bea')
    expect(status).toBe(200)
    expect(html).toContain('<h1>bea</h1>')
    expect(text).toContain('Spent 40 100 % of all Spent last month – Asked, awaits approval 0 Asked, in doubt 0')
    expect(text).toContain('Spent by project shop 40 100 % Spent by budget acme 40 100 %')
    expect(text).toContain(
      'Asked lately shop 5001 ✓ settled 40 units just now All updates of slack:U1BEA All updates of bea-laptop',
    )
    expect(text).toContain('Decided lately grant, acme: more')
    expect(text).toContain('Names (2) slack:U1BEA Scopes read, run, approve Budgets none')
    expect(text).toContain('bea-laptop Scopes read, run, admin Budgets acme')
    expect(text).toContain("Next stop: bea's day, 260 units away (6 updates at the last price).")
    expect(html).toContain('href="/dashboard/callers/edit?sub=bea-laptop"')
    expect(html).toContain('href="/dashboard/projects/shop"')
  })

  test('a person has one page under every name, listed or only known from an update', async () => {
    const { ask, eve } = await start()
    await ask('newcomer', 'shop')
    expect((await eve.get('/dashboard/people/slack:U1BEA')).location).toBe('/dashboard/people/bea')
    expect((await eve.get('/dashboard/people/newcomer')).text).toContain('Spent 40 100 % of all')
    for (const name of ['no-such', 'sweep', 'schedule:night'])
      expect([name, (await eve.get(`/dashboard/people/${name}`)).status]).toEqual([name, 404])
  })

  test('the page of a person is found by the name in a claim, also for a caller of long ago', async () => {
    const { product, eve, log } = await start()
    const asker = { caller: 'okta:00u7', via: 'http', route: 'POST /updates' } as const
    const token = { scopes: new Set(['run'] as const), budgets: '*', person: 'Zoë / Q' } as const
    const wanted = { kind: 'ranking', projects: ['shop'], whenShort: 'refuse' } as const
    await product.guard.submit({ ...asker, token }, wanted, { respondAsync: false, endsAt: product.endsAt() })
    const address = '/dashboard/people/Zo%C3%AB%20%2F%20Q'
    expect((await eve.get('/dashboard/people/okta:00u7')).location).toBe(address)
    const page = await eve.get(address)
    expect(page.text).toContain('Zoë / Q This month Spent 40 100 % of all')
    expect(page.text).toContain('Name okta:00u7')
    expect((await eve.get('/dashboard/updates')).html).toContain(`href="${address}"`)
    await product.update(
      { kind: 'ranking', project: 'old' },
      { token: product.signed({ sub: 'old', scope: 'run', budgets: '*' }) },
    )
    product.clock.advance(days(80))
    const later = await log('eve', 'read')
    expect((await later.get('/dashboard/people/old')).text).toContain('old ✓ settled 40 units 20 Nov 2026 10:00')
    // The work item of the project remembers the run.
    expect((await later.get('/dashboard/projects/old')).text).toContain('ranking 40 20 Nov 2026 10:00 0 0')
  })

  test('the page of a person shows rights only to administrators and to that person', async () => {
    const { ask, rita, log } = await start()
    await ask('bea-laptop', 'shop')
    const others = await rita.get('/dashboard/people/bea')
    expect(others.text).toContain('Names (2) slack:U1BEA bea-laptop Spent by project')
    const bea = await log('bea-laptop', 'read run')
    const own = await bea.get('/dashboard/people/bea')
    expect(own.text).toContain(
      "bea-laptop Scopes read, run Budgets acme Next stop: bea's day, 260 units away (6 updates at the last price). Spent by project",
    )
    expect(own.html).not.toContain('/dashboard/callers/edit')
  })

  test('the page of a person counts the updates that they may approve', async () => {
    const { product, eve, tokenOf } = await start()
    await product.call('PUT', '/budgets/acme', {
      body: { limits: month(900), approvalAbove: 10, projects: [{ name: 'shop', id: '5001' }] },
    })
    await product.update({ kind: 'ranking', project: 'one', budget: 'acme' }, { token: tokenOf('newcomer') })
    expect((await eve.get('/dashboard/people/bea')).text).toContain('Waits for their decision 1')
    const asked = await eve.get('/dashboard/people/newcomer')
    expect(asked.text).toContain('Asked, awaits approval 1')
    expect(asked.text).not.toContain('Waits for their decision')
  })
})

describe('the page of a project', () => {
  test('the page of a project has its payer, last run, spending, updates, callers and plans', async () => {
    const { ask, eve, rita } = await start()
    await ask('bea-laptop', 'shop')
    const { text, html } = await eve.get('/dashboard/projects/shop')
    expect(html).toContain('<h1>Project shop</h1>')
    expect(text).toContain(
      "Next stop: acme's month, 860 units away. Paid by acme › account Id 5001 Spent this month 40 Spent last month –",
    )
    expect(text).toMatch(/ranking 40 20 Nov 2026 10:00 40 –/)
    expect(text).toContain('Latest updates ranking ✓ settled 40 units just now by bea All updates of shop')
    expect(text).toContain('Spent by person and plan bea 40 100 %')
    expect(text).toContain('Updated by plan night')
    expect(html).toContain('href="/dashboard/ask?project=shop"')
    expect((await rita.get('/dashboard/projects/shop')).html).not.toContain('/dashboard/ask')
    expect((await eve.get('/dashboard/projects/5001')).location).toBe('/dashboard/projects/shop')
  })

  test('a project that no budget lists has a page that names its payer', async () => {
    const { product, ask, eve } = await start()
    await ask('bea-laptop', 'other one/two')
    const page = await eve.get('/dashboard/projects/other%20one%2Ftwo')
    expect(page.text).toContain(
      "No budget lists it: account pays for it. Next stop: account's month, 49,960 units away. Spent this month 40",
    )
    await product.call('PUT', '/budgets/account', { body: { limits: month(50_000), unowned: 'refuse' } })
    const refused = await eve.get('/dashboard/projects/other%20one%2Ftwo')
    expect(refused.text).toContain('No budget lists it: requests for it are refused until a budget lists it. Spent')
    const none = await eve.get('/dashboard/projects/none')
    expect([none.status, none.text]).toEqual([404, expect.stringContaining('There is no project none:')])
  })
})

describe('search', () => {
  test('the search finds a project or person by any of their names, and lists several matches', async () => {
    const { product, ask, eve } = await start()
    await ask('newcomer', 'fresh.example')
    const find = (words: string) => eve.get(`/dashboard/find?q=${encodeURIComponent(words)}`)
    for (const [words, path] of Object.entries({
      Shop: '/dashboard/projects/shop',
      5001: '/dashboard/projects/shop',
      'fresh.example': '/dashboard/projects/fresh.example',
      bea: '/dashboard/people/bea',
      'slack:u1bea': '/dashboard/people/bea',
      newcomer: '/dashboard/people/newcomer',
    }))
      expect([words, (await find(words)).location]).toEqual([words, path])
    await product.call('PUT', '/budgets/shop', { body: { limits: month(5) } })
    const both = await find('shop')
    expect(both.text).toContain('2 matches budget shop project shop')
    const several = await find('o')
    expect(several.text).toMatch(/matches budget account .*person newcomer/)
  })
})
