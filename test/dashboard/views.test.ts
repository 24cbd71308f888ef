import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { keepTogether } from '../../functions/dashboard/kit/answer.tsx'
import { Ago, linked, RecentTime } from '../../functions/dashboard/kit/parts.tsx'
import { expectInert, openBrowser } from '../support/browser/browser.ts'
import { hours, minutes } from '../support/clock.ts'
import { json, type Product, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// The content of pages for each user, and what pages never contain.

const month = (units: number) => [{ window: 'month', units }]

async function start(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ store: createMemoryStore(), ...options })
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
  return { product, browser }
}

const hostile = `"><script>alert('x')</script><img src=x onerror=alert(1)>`
const ask = async (product: Product, body: object) =>
  (await product.update({ kind: 'ranking', ...body })).body.updates[0].id as string

/** One page of each kind, over updates and budgets with hostile names and reasons. */
async function everyPage(product: Product): Promise<readonly string[]> {
  await product.call('PUT', '/budgets/seo', { body: { limits: month(500), approvalAbove: 100 } })
  await product.call('POST', '/budgets/seo/freeze', { body: { reason: hostile } })
  await product.call('POST', '/budgets/seo/unfreeze', { body: { reason: hostile } })
  const settled = await ask(product, { project: hostile, reason: hostile, query: { [hostile.slice(0, 60)]: hostile } })
  const awaiting = await ask(product, { project: `dear ${hostile}`, budget: 'seo', reason: hostile })
  const doubted = await ask(product, { project: `lost ${hostile}`, budget: 'seo', reason: hostile })
  await product.call('POST', '/budgets/seo/freeze', { body: { reason: hostile } })
  await product.triggers.handle({ plan: 'night', time: '2026-11-20T10:00:00Z' }, product.endsAt())
  await product.call('POST', '/plans/night/pause', { body: { reason: hostile } })
  return [
    '/login',
    `/login?code=${encodeURIComponent(hostile)}`,
    `/login?to=${encodeURIComponent(`/dashboard/${hostile}`)}`,
    '/',
    '/dashboard/updates',
    `/dashboard/updates?project=${encodeURIComponent(hostile)}&budget=none&caller=${encodeURIComponent(hostile)}`,
    `/dashboard/updates?state=${encodeURIComponent(hostile)}`,
    ...[settled, awaiting, doubted].map((id) => `/dashboard/updates/${id}`),
    `/dashboard/updates/${encodeURIComponent(hostile)}`,
    '/dashboard/inbox',
    `/dashboard/${encodeURIComponent(hostile)}`,
    '/dashboard/decide',
    '/dashboard/plans',
    '/dashboard/plans/night',
    `/dashboard/plans/${encodeURIComponent(hostile)}`,
    '/dashboard/statements',
    ...['budget', 'project', 'caller'].map((by) => `/dashboard/statements?by=${by}&price=0.01`),
    `/dashboard/statements?window=${encodeURIComponent(hostile)}`,
    '/dashboard/activity',
    '/dashboard/activity?budget=seo',
    `/dashboard/activity?budget=${encodeURIComponent(hostile)}`,
    '/dashboard/events',
  ]
}

const withTrouble: Parameters<typeof startProduct>[0] = {
  units: { [`dear ${hostile}`]: 101 },
  plans: [{ name: 'night', kind: 'ranking', projects: [hostile], schedule: 'cron(0 10 * * ? *)' }],
  service: ({ url }) => {
    if (/lost.*\/run/.test(url)) return { status: 500, body: hostile }
    return /dear/.test(url) || !/\/run/.test(url)
      ? undefined
      : json({ response_code: 0, data: { keyword_units: 40 }, said: hostile })
  },
}

describe('every page', () => {
  test('every page has the security headers, no script, no own style, and foreign text as text', async () => {
    const { product, browser } = await start(withTrouble)
    await browser.logIn(product.signed({ sub: 'bob', scope: 'read approve admin' }))
    for (const path of await everyPage(product)) {
      if (path.startsWith('/login')) browser.cookies.delete('unit-guard')
      else if (!browser.cookies.has('unit-guard'))
        await browser.logIn(product.signed({ sub: 'bob', scope: 'read approve admin' }))
      const page = await browser.get(path)
      expect([
        path,
        ...['content-security-policy', 'x-content-type-options', 'referrer-policy', 'cache-control'].map((name) =>
          page.headers.get(name),
        ),
      ]).toEqual([
        path,
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        'nosniff',
        'no-referrer',
        'no-store',
      ])
      expect(page.html).toMatch(/^<!doctype html><html lang="en">/)
      expectInert(page)
      for (const [, address] of page.html.matchAll(/ (?:href|action)="([^"]*)"/g))
        expect(address).toMatch(/^[/#](?!\/)/)
    }
  })

  test('every page shows foreign text as it was written', async () => {
    const { product, browser } = await start(withTrouble)
    const paths = await everyPage(product)
    const settled = await browser.get(paths.find((path) => path.includes('/updates/upd_')) ?? '')
    expect(settled.text).toContain(`Update of ${hostile}`)
    expect(settled.text).toContain(`“${hostile}”`)
    expect(settled.text).toContain(`"said":"${hostile.replaceAll('"', '\\"')}"`)
    expect((await browser.get('/')).text).toContain(`seo was frozen by ada on 20 Nov 2026 10:00 UTC: ${hostile}`)
  })

  test('a page never breaks a line inside a date or between figure and unit, except in input and copies', () => {
    const shown = (html: string) => keepTogether(html).replaceAll('\u00a0', '_')
    expect(shown('<time title="6 Nov">6 Nov 2026 14:00</time><p>on 12 Dec, 1,200 units or 12 % of 3 united</p>')).toBe(
      '<time title="6 Nov">6_Nov_2026_14:00</time><p>on 12_Dec, 1,200_units or 12_% of 3 united</p>',
    )
    const alone =
      '<pre>2 units <b>3 units</b></pre><select><option>6 Nov</option></select><textarea>6 Nov</textarea><input value="1 unit">'
    expect(shown(alone)).toBe(alone)
  })

  test('every page uses our own stylesheet and icon, which browsers may cache', async () => {
    const { browser } = await start()
    const { html } = await browser.get('/')
    const paths = [...html.matchAll(/<link rel="\w+" href="([^"]+)"/g)].map(([, path = '']) => path)
    expect(paths.map((path) => path.replace(/[0-9a-z]{10}/, '…'))).toEqual(['/dashboard/….css', '/dashboard/….svg'])
    for (const path of paths) {
      const { status, headers } = await browser.get(path)
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
    }
  })

  test('every page needs the scope read', async () => {
    const { product, browser } = await start()
    await browser.logIn(product.signed({ sub: 'zoe', scope: 'run' }))
    for (const path of [
      '/',
      '/dashboard/updates',
      '/dashboard/updates.csv',
      '/dashboard/updates/upd_x',
      '/dashboard/inbox',
      '/dashboard/plans',
      '/dashboard/plans/night',
      '/dashboard/statements',
      '/dashboard/statements.csv',
      '/dashboard/activity',
      '/dashboard/activity.csv',
      '/dashboard/events',
    ]) {
      const page = await browser.get(path)
      expect([path, page.status]).toEqual([path, 403])
      expect(page.text).toContain('zoe needs the scope read for this, and has: run.')
    }
  })

  test('every page links administrators to the callers, also after an error', async () => {
    const { product, browser } = await start()
    const leads = async () => (await browser.get('/dashboard/nothing')).html.includes('href="/dashboard/callers"')
    expect(await leads()).toBe(false)
    await browser.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
    expect(await leads()).toBe(true)
  })

  test('a page refuses other methods and unknown addresses', async () => {
    const { browser } = await start()
    const wrong = await browser.get('/dashboard/decide')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await browser.get('/dashboard/nothing')).text).toContain('There is no such page.')
    expect((await browser.get('/dashboard')).location).toBe('/')
    expect((await browser.get('/dashboard/updates/upd_none')).text).toContain('There is no update upd_none.')
  })
})

describe('an unknown address of the dashboard', () => {
  test.each([
    ['/nonsense', 'There is nothing at this address.'],
    ['/budgets/account', 'There is nothing at this address.'],
    ['/problems/nonsense', 'There is no such problem type.'],
  ])('%s answers with a page that links back', async (path, detail) => {
    const { product, browser } = await start()
    const page = await browser.get(path)
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=UTF-8'])
    expect(page.html).toContain('<title>There is nothing here – Unit Guard</title>')
    expect(page.html).toContain('<a href="/">To the overview</a>')
    expect(page.text).toContain(`There is nothing here ${detail}`)
    expect(page.text).toContain(`Request ${page.headers.get('x-request-id')}`)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(product.service.requests).toEqual([])
    expect(page.html.includes('<nav aria-label="Dashboard">')).toBe(!path.startsWith('/problems/'))
    browser.cookies.clear()
    expect((await browser.get(path)).html).not.toContain('<nav')
  })
})

describe('the header', () => {
  test('the header counts the updates that need a decision', async () => {
    const { product, browser } = await start({
      units: { dear: 101 },
      service: ({ url }) => (/lost.*\/run/.test(url) ? { status: 500 } : undefined),
    })
    expect((await browser.get('/')).text).not.toContain('to decide')
    await product.call('PUT', '/budgets/seo', { body: { limits: month(500), approvalAbove: 100 } })
    for (const project of ['dear', 'lost one', 'lost two']) await ask(product, { project, budget: 'seo' })
    expect((await browser.get('/dashboard/updates')).text).toContain('Inbox 3 to decide')
  })

  test('the header finds a budget, a plan, an update and the updates of a project', async () => {
    const plan = { name: 'night', kind: 'ranking', projects: ['one'], schedule: 'cron(0 10 * * ? *)' }
    const { product, browser } = await start({ plans: [plan] })
    const projects = [{ name: 'acme.example' }]
    for (const name of ['acme-retail', 'seo'])
      await product.call('PUT', `/budgets/${name}`, {
        body: { limits: month(500), ...(name !== 'seo' && { projects }) },
      })
    const find = (words: string) => browser.get(`/dashboard/find?q=${encodeURIComponent(words)}`)
    for (const [words, path] of Object.entries({
      'Acme Retail': '/dashboard/budgets/acme-retail',
      night: '/dashboard/plans/night',
      upd_123abc: '/dashboard/updates/upd_123abc',
      'ACME.': '/dashboard/projects/acme.example',
      'other.example': '/dashboard/updates?search=other.example',
      '': '/dashboard/updates',
    }))
      expect([words, (await find(words)).location]).toEqual([words, path])
    const several = await find('ACME')
    expect(several.html).toContain('project <a href="/dashboard/projects/acme.example">acme.example</a>')
    expect(several.html).toContain('<a href="/dashboard/updates?search=ACME">')
  })
})

describe('the overview', () => {
  test('the overview of a new ledger says what to do first', async () => {
    const { browser } = await start()
    const { text, html } = await browser.get('/')
    expect(text).toContain('November: on track')
    expect(text).toContain('What to do first')
    expect(html).toContain('href="/dashboard/ask"')
  })

  test('the overview names a budget at risk, a budget without a limit, and waiting decisions', async () => {
    const { product, browser } = await start({
      service: ({ url }) => (/lost\/run/.test(url) ? { status: 500 } : undefined),
    })
    await product.call('PUT', '/budgets/blog', { body: { limits: month(200) } })
    await product.call('PUT', '/budgets/free', { body: { limits: [{ window: 'month', units: 'unlimited' }] } })
    await product.call('PUT', '/budgets/full', { body: { limits: month(40) } })
    await ask(product, { project: 'one', budget: 'blog' })
    await ask(product, { project: 'two', budget: 'full' })
    await ask(product, { project: 'lost', budget: 'blog' })
    const { text, html } = await browser.get('/')
    expect(html).toContain('<h1>November: on track, one budget is not</h1>')
    expect(text).toContain('49,880 with plans only; fewer than three days of history')
    expect(text).toContain('To decide 1 40 units 1 in doubt')
    expect(text).toContain(
      'At risk 1 of 4 budgets full nothing left Nothing of 40 units is left this month. The last update cost 40.',
    )
    expect(text).toContain('free on track – no limit 0 0 –')
    const [bar = ''] = /<svg class="bar".*?<\/svg>/.exec(html.slice(html.indexOf('>blog</a></th>'))) ?? []
    expect(bar).toContain('<rect class="fill" width="40%"')
  })

  test('the page of an update that was refused before its estimate says that the price is unknown', async () => {
    const { product, browser } = await start()
    await product.call('PUT', '/budgets/full', { body: { limits: month(0) } })
    await browser.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
    const id = await ask(product, { project: 'new', budget: 'full' })
    expect((await browser.get(`/dashboard/updates/${id}`)).text).toContain(
      'Its price is not known yet: the month limit of full stopped it before the service was asked for an estimate. Grant units to full…',
    )
  })

  test('the overview says that the price of a budget without runs is unknown', async () => {
    const { product, browser } = await start()
    await product.call('PUT', '/budgets/none', { body: { limits: month(0) } })
    expect((await browser.get('/')).text).toContain(
      'none nothing left Nothing of 0 units is left this month. The price of its next update is not known yet.',
    )
  })

  test('the overview links to the filled form that helps, if the user may use it', async () => {
    const plan = { name: 'nightly', kind: 'ranking', projects: ['one'], budget: 'seo', schedule: 'cron(0 5 * * ? *)' }
    const { product, browser } = await start({ plans: [plan] })
    await product.call('PUT', '/budgets/seo', { body: { limits: month(400) } })
    await (await product.guard.jobs()).readPrices(product.endsAt())
    await ask(product, { project: 'two', budget: 'seo' })
    const reader = await browser.get('/')
    expect(reader.text).toContain(
      'seo out 30 Nov Runs out with the plan nightly: plans need 400 units until the reset, 360 are left, so 40 are short from 30 Nov 2026 05:00 UTC. Who spent',
    )
    await browser.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
    const { html } = await browser.get('/')
    expect(html).toContain(
      'href="/dashboard/budgets/seo/book?type=grant&amp;units=40&amp;window=month#grant">Grant 40…</a>',
    )
    const [bar = ''] = /<svg class="bar".*?<\/svg>/.exec(html.slice(html.indexOf('>seo</a></th>'))) ?? []
    // Nine of ten mornings fit, so that the bar ends at the limit.
    expect(bar).toContain('<rect class="fill" width="10%"')
    expect(bar).toContain('<rect x="10%" width="90%" height="100%" fill="url(#committed)"')
  })

  test('the overview with sixty budgets takes at most 60 KB with its stylesheet, compressed', async () => {
    const { product, browser } = await start()
    for (let each = 0; each < 60; each++)
      await product.call('PUT', `/budgets/team-${each}`, { body: { limits: month(1_000 + each) } })
    for (const path of ['/', '/dashboard/budgets']) {
      const { html } = await browser.get(path)
      const stylesheet = /<link rel="stylesheet" href="([^"]+)"/.exec(html)?.[1] ?? ''
      const bytes = [html, (await browser.get(stylesheet)).html].map((text) => gzipSync(text).length)
      expect(Math.max(0, ...bytes)).toBeGreaterThan(1_000)
      expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(60_000)
    }
  })

  test('the overview shows an ended month with its limits of that time', async () => {
    const { product, browser } = await start()
    await product.call('PUT', '/budgets/seo', { body: { limits: month(400) } })
    await ask(product, { project: 'one', budget: 'seo' })
    product.clock.set('2026-12-05T10:00:00Z')
    await product.call('PUT', '/budgets/seo', { body: { limits: month(900) } })
    await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
    const now = await browser.get('/')
    expect(now.html).toContain('href="/?window=month%3A2026-11-01" rel="prev"')
    const { text } = await browser.get('/?window=month:2026-11-01')
    expect(text).toContain('November: 40 units spent, 49,960 left')
    expect(text).toContain('Who spent ada 40 100 %')
    expect(text).toContain('seo 400 0 40 0 0 360')
    expect((await browser.get('/?window=month:2027-01-01')).status).toBe(400)
  })
})

describe('the updates', () => {
  async function withUpdates() {
    const { product, browser } = await start({ units: { dear: 90_000 }, env: { ACCOUNT_TIME_ZONE: 'Europe/Berlin' } })
    const ids: Record<string, string> = {}
    for (const project of ['one', 'two', 'dear', 'four', 'acme shop']) {
      ids[project] = (await product.update({ kind: 'ranking', project })).body.updates[0].id
      product.clock.advance(hours(6))
    }
    await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
    const projectsAt = async (query: string) => {
      const { html } = await browser.get(`/dashboard/updates${query}`)
      return [...html.matchAll(/<th scope="row"><a href="[^"]+">([^<]+)</g)].map(([, project]) => project)
    }
    return { product, browser, ids, projectsAt }
  }

  test.each<[string, string[]]>([
    ['', ['acme shop', 'four', 'dear', 'two', 'one']],
    ['?state=refused&kind=&budget=&via=&project=&caller=&since=&until=', ['dear']],
    ['?project=acme+shop', ['acme shop']],
    ['?search=SHO', ['acme shop']],
    ['?search=o', ['acme shop', 'four', 'two', 'one']],
    ['?search=%25&plan=none', []],
    ['?budget=account&caller=ada&via=http&kind=ranking&state=settled', ['acme shop', 'four', 'two', 'one']],
    ['?caller=bob', []],
    // 10:00, 16:00, 22:00 UTC, then 04:00 and 10:00 of the next day; Berlin is an hour ahead.
    ['?since=2026-11-21', ['acme shop', 'four']],
    ['?until=2026-11-20', ['dear', 'two', 'one']],
    ['?since=2026-11-21&until=2026-11-20', []],
  ])('the page of updates%s lists those that match', async (query, projects) => {
    const { projectsAt } = await withUpdates()
    expect(await projectsAt(query)).toEqual(projects)
  })

  test.each([
    ['updates?since=2026-02-30&plan=none', 'since', 'Must be a date such as 2026-11-20.'],
    ['updates?budget=A', 'budget', 'Must have 1 to 63 of a-z, 0-9 and -, not beginning with -.'],
    [`updates?search=${'x'.repeat(201)}`, 'search', 'Must have at most 200 characters.'],
    ['updates?via=mail', 'via', 'Must be '],
    ['activity?since=2026-11-31', 'since', 'Must be a date such as 2026-11-20.'],
    ['activity?budget=A', 'budget', 'Must have 1 to 63 of a-z, 0-9 and -, not beginning with -.'],
  ])('a wrong filter is marked, and the page lists nothing: %s', async (path, name, fault) => {
    const { browser } = await withUpdates()
    const { status, html, text } = await browser.get(`/dashboard/${path}`)
    const [field = ''] = new RegExp(`<(?:input|select) [^>]*name="${name}"[^>]*>`).exec(html) ?? []
    expect([status, field]).toEqual([200, expect.stringContaining('aria-invalid="true" autofocus=""')])
    expect(text).toContain(`✕ ${fault}`)
    expect(text).toContain('Nothing is listed. Please correct the marked filter.')
    expect((await browser.get(`/dashboard/${path.replace('?', '.csv?')}`)).status).toBe(400)
  })

  test('a wrong price is marked, and the statement is shown without the price', async () => {
    const { browser } = await withUpdates()
    const { text, html } = await browser.get('/dashboard/statements?by=budget&price=much')
    expect(html).toMatch(/<input id="filter-price"[^>]*value="much"[^>]*aria-invalid="true" autofocus=""/)
    expect(text).toContain('✕ Must be a price for one unit, such as 0.012.')
    expect(text).toContain('By budget')
  })

  test('the chosen filters stay chosen and apply to the CSV', async () => {
    const { browser, ids } = await withUpdates()
    const { html } = await browser.get('/dashboard/updates?state=refused&since=2026-11-20')
    expect(html).toContain('<a href="/dashboard/updates?state=refused&amp;since=2026-11-20" aria-current="true">')
    expect(html).toContain('<input type="hidden" name="state" value="refused"/>')
    expect(html).toContain('<a href="/dashboard/updates?state=refused">Clear filters</a>')
    expect(html).toContain('type="date" value="2026-11-20"')
    expect(html).toContain('href="/dashboard/updates.csv?state=refused&amp;since=2026-11-20"')
    const csv = await browser.get('/dashboard/updates.csv?state=refused&since=2026-11-20')
    expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(csv.html.split('\r\n').map((line) => line.split(',')[0])).toEqual(['id', ids.dear, ''])
    // The CSV and the update's own page have the exact time, for readers who reconcile.
    expect(html).toMatch(
      /<td data-name="Asked for"><time [^>]*title="20 Nov 2026 23:00 Europe\/Berlin, 20 Nov 2026 22:00 UTC"[^>]*>18 hours ago<\/time>/,
    )
    expect(csv.html).toMatch(/,2026-11-20T\d\d:\d\d:\d\d\.\d{3}Z,/)
    expect((await browser.get(`/dashboard/updates/${ids.dear}`)).text).toMatch(/20 Nov 2026 \d\d:\d\d/)
  })

  describe('updates of a loop', () => {
    async function withLoop() {
      const { product, browser, projectsAt } = await withUpdates()
      const again = (project: string, sub: string) =>
        product.update({ kind: 'ranking', project }, { token: product.signed({ sub, scope: 'run', budgets: '*' }) })
      await again('acme shop', 'bob')
      for (let times = 0; times < 60; times++) {
        product.clock.advance(minutes(1))
        await again('acme shop', 'dora')
      }
      await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
      return { product, browser, projectsAt }
    }

    test('updates of a loop are one row, with their number and times', async () => {
      const { browser, projectsAt } = await withLoop()
      expect(await projectsAt('')).toEqual(['acme shop', 'acme shop', 'acme shop', 'four', 'dear', 'two', 'one'])
      const { text, html } = await browser.get('/dashboard/updates?since=2026-11-21')
      expect(text).toContain('21 Nov 2026 17:01 – 21 Nov 2026 18:00')
      expect(text).toContain('60 times: show all')
      expect(text).toContain('refused 61')
      const [, link = ''] = /<a href="([^"]+)">show all</.exec(html) ?? []
      const query = link.replaceAll('&amp;', '&').replace('/dashboard/updates', '')
      const each = [...(await projectsAt(query)), ...(await projectsAt(await nextOf(browser, query)))]
      expect(each).toEqual(Array.from({ length: 60 }, () => 'acme shop'))
    })

    test('each update of a loop is a line of the CSV', async () => {
      const { browser } = await withLoop()
      const { html } = await browser.get('/dashboard/updates.csv?state=refused&caller=dora')
      expect(html.trim().split('\r\n')).toHaveLength(61)
    })
  })

  async function nextOf(browser: Awaited<ReturnType<typeof start>>['browser'], query: string): Promise<string> {
    const { html } = await browser.get(`/dashboard/updates${query}`)
    const [, next = ''] = /<a href="([^"]+)" rel="next">/.exec(html) ?? []
    return next.replaceAll('&amp;', '&').replace('/dashboard/updates', '')
  }

  test('the page of updates keeps its filters when the user turns pages', async () => {
    const { product, browser, projectsAt } = await withUpdates()
    for (let from = 0; from < 160; from += 20) {
      const projects = Array.from({ length: 20 }, (_, each) => `p${from + each}`)
      await product.update({ kind: 'ranking', projects })
      product.clock.advance(minutes(1))
    }
    const links = async (query = '') => {
      const { html } = await browser.get(`/dashboard/updates${query}`)
      const found = html.matchAll(/<a href="([^"]+)"(?: rel="(\w+)")?>(?:Newest|Newer|Older)</g)
      return Object.fromEntries(
        [...found].map(([, to = '', as]) => [
          as ?? 'newest',
          to.replace('/dashboard/updates', '').replaceAll('&amp;', '&'),
        ]),
      )
    }
    const [one, next] = ['?caller=ada', expect.stringMatching(/^\?caller=ada&cursor=/)]
    const first = await links(one)
    expect([first, (await projectsAt(one)).length]).toEqual([{ next }, 50])
    const second = await links(first.next)
    expect(second).toEqual({ newest: one, prev: one, next })
    const third = await links(second.next)
    expect(third).toEqual({ newest: one, prev: first.next, next })
    expect(await links(third.next)).toEqual({ newest: one, prev: second.next })
    expect((await projectsAt(third.next ?? '')).slice(-5)).toEqual(['acme shop', 'four', 'dear', 'two', 'one'])
  })

  test('a page of updates says that there are none, or that the query is invalid', async () => {
    const { browser } = await start()
    expect((await browser.get('/dashboard/updates')).text).toContain('No updates since 1 Nov 2026 00:00.')
    expect((await browser.get('/dashboard/updates?project=x')).text).toContain('No matches.')
    for (const [query, said] of [
      ['?state=done', 'state: must be one of awaiting-approval, requested,'],
      ['?colour=red', 'colour: is not a known member.'],
      ['?cursor=x', 'cursor: not a cursor of this list.'],
    ] as const) {
      const page = await browser.get(`/dashboard/updates${query}`)
      expect([query, page.status]).toEqual([query, 400])
      expect(page.text).toContain(said)
    }
  })
})

describe('an update', () => {
  test('an update’s page shows its maximum cost, and the service’s own words, shortened', async () => {
    const data = { response_code: 0, data: { keyword_units: 40 }, more: 'x'.repeat(5_000) }
    const { product, browser } = await start({ service: ({ url }) => (/\/run/.test(url) ? json(data) : undefined) })
    const id = await ask(product, { project: 'acme', maxUnits: 100 })
    const { text, html } = await browser.get(`/dashboard/updates/${id}`)
    expect(text).toContain('Last run before none known')
    expect(text).toContain('Ended 20 Nov 2026 10:00 At most 100')
    expect(text).toContain('Status 200, application/json; the first 4,000 characters')
    expect(/<pre><code>(.*)<\/code>/.exec(html)?.[1]?.replaceAll('&quot;', '"')).toHaveLength(4_000)
    expect(text).not.toContain('Decide')
  })

  test('an update’s page shows a refusal in the words of the API, with its time', async () => {
    const { product, browser } = await start({ units: { dear: 60_000 } })
    const id = await ask(product, { project: 'dear' })
    expect((await browser.get(`/dashboard/updates/${id}`)).text).toContain(
      'Not enough units available. The answer of 20 Nov 2026 10:00: “account has 50,000 of 50,000 units left this month and this needs 60,000; resets 1 Dec 2026 00:00 UTC; ask for 10,000 more.”',
    )
  })
})

test.each([
  [0, 'just now'],
  [-minutes(1) + 1, 'just now'],
  [minutes(1) - 1, 'now'],
  [-minutes(1), '1 minute ago'],
  [-hours(2) + 1, '1 hour ago'],
  [-hours(2), '2 hours ago'],
  [hours(15), 'in 15 hours'],
  [-hours(24), '1 day ago'],
  [-hours(14 * 24), '14 days ago'],
])('a time %i ms from now is shown as %s, with the exact time as its title', async (distance, text) => {
  const { guard } = await startProduct({ store: createMemoryStore() })
  const view = await guard.ledger.view()
  const at = view.now + distance
  const html = String(Ago({ at, view }))
  const utc = new Date(at).toISOString()
  expect(html).toContain(`>${text}</time>`)
  expect(html).toContain(`datetime="${utc.slice(0, 19)}`)
  expect(html).toMatch(/title="\d+ Nov 2026 \d\d:\d\d UTC"/)
})

test.each([
  [-hours(2), '2 hours ago'],
  [-hours(24) + 1, '23 hours ago'],
  [-hours(24), '19 Nov 2026 10:00'],
  [-hours(48), '18 Nov 2026 10:00'],
])('in a table, a time %i ms from now is relative for one day only', async (distance, text) => {
  const { guard } = await startProduct({ store: createMemoryStore() })
  const view = await guard.ledger.view()
  const html = String(RecentTime({ at: view.now + distance, view }))
  expect(html.replace(/<[^>]*>/g, '').replaceAll('\u00a0', ' ')).toBe(text)
  expect(html).toMatch(/datetime="2026-11-\d\dT/)
  expect(html).toMatch(/title="[^"]*\d\d:\d\d UTC"/)
})

test('a time of more than two weeks ago is shown as it is', async () => {
  const { guard } = await startProduct({ store: createMemoryStore() })
  const view = await guard.ledger.view()
  expect(String(await Ago({ at: view.now - hours(15 * 24), view }))).not.toContain('ago')
})

test('the ids in a sentence are links, and nothing else is', () => {
  const [entry, update] = [`ent_${'a'.repeat(26)}`, `upd_${'b'.repeat(26)}`]
  expect(linked(`${entry} was corrected by ${update}; <b>upd_x</b>`)).toHaveLength(5)
  expect(String(linked(`see ${update}.`))).toContain(`href="/dashboard/updates/${update}"`)
  expect(linked('no id')).toEqual(['no id'])
})
