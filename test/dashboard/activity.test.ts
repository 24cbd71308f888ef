import { describe, expect, test } from 'vitest'
import { openBrowser, withSigns } from '../support/browser/browser.ts'
import { press } from '../support/browser/page-forms.ts'
import { hours, minutes } from '../support/clock.ts'
import { type Product, startProduct } from '../support/product.ts'
import { counterWith } from '../support/records.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// The units of a month, its entries, and whether the books add up.

async function start() {
  const store = createMemoryStore()
  const product = await startProduct({
    store,
    stream: false,
    units: { dear: 90_000 },
    service: ({ url }) => (/lost\/run/.test(url) ? { status: 500 } : undefined),
  })
  const browser = openBrowser(product)
  const logIn = () => browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
  await logIn()
  return { product, store, browser, logIn }
}

/** Two budgets, three updates (one refused, one in doubt), a grant and outside spending. */
async function spend(product: Product) {
  await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 1_000 }] } })
  await product.call('PUT', '/budgets/blog', {
    body: { parent: 'seo', limits: [{ window: 'month', units: 200 }], reason: 'for the blog' },
  })
  for (const [project, budget] of [
    ['one', 'seo'],
    ['lost', 'blog'],
    ['dear', 'blog'],
  ])
    await product.update({ kind: 'ranking', project, budget })
  await product.call('POST', '/budgets/seo/entries', { body: { type: 'grant', units: 500, reason: 'campaign' } })
  product.clock.advance(minutes(1))
  const external = { type: 'external-spend', units: 75, reason: 'on the vendor’s screen' }
  await product.call('POST', '/budgets/blog/entries', { body: external })
}

/** Each row of the table with these cells, as a user reads them. */
const rowsIn = (html: string): string[] =>
  [...withSigns(html).matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    row
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  )

describe('statements', () => {
  test('the statement opens by budget and links to the same rows as CSV', async () => {
    const { product, browser } = await start()
    await spend(product)
    const { html, text } = await browser.get('/dashboard/statements')
    expect(html).toContain('<a href="/dashboard/statements?by=budget" aria-current="true">By budget</a>')
    expect(text).not.toContain('Summary')
    expect(rowsIn(html)).toEqual(rowsIn((await browser.get('/dashboard/statements?by=budget')).html))
    const [, link = ''] = /href="(\/dashboard\/statements\.csv[^"]*)"/.exec(html) ?? []
    expect((await browser.get(link)).html.split('\r\n').map((line) => line.split(',')[2])).toEqual([
      'budget',
      'blog',
      'seo',
      undefined,
    ])
  })

  test('statements by budget and by project have amounts and say that they add up to the book', async () => {
    const { product, browser } = await start()
    const note = 'The total of “Granted” counts only the budgets at the top'
    expect((await browser.get('/dashboard/statements?by=budget')).text).not.toContain(note)
    await spend(product)
    const byBudget = await browser.get('/dashboard/statements?by=budget&price=0.5')
    expect(byBudget.text).toContain(note)
    expect(rowsIn(byBudget.html)).toEqual([
      'Budget Updates Charged External Share Amount Granted Held In doubt Refused Paid elsewhere',
      'blog 0 0 75 65 % 37.50 0 0 40 1 0',
      'seo 1 40 0 35 % 20.00 500 0 0 0 0',
      'Total 1 40 75 100 % 57.50 0 0 40 1 –',
    ])
    const open = 'Open: figures still change until the month ends on 1 Dec 2026 00:00, and until these updates end:'
    const doubt = 'lost ? in doubt 40 units 1 minute ago by ada'
    expect(byBudget.text).toContain(`${open} ${doubt} The rows add up to the 115 units spent in the book.`)
    const byProject = await browser.get('/dashboard/statements?by=project')
    expect(rowsIn(byProject.html).slice(1)).toEqual([
      'outside the guard 0 0 75 65 % 0 0 0 0',
      'one 1 40 0 35 % 0 0 0 0',
      'dear 0 0 0 0 % 0 0 0 1',
      'lost 0 0 0 0 % 0 0 40 0',
      'Total 1 40 75 100 % 0 0 40 1',
    ])
    expect(byProject.html).toContain('href="/dashboard/projects/one"')
  })

  test('a past month has the figures of its own book, with the limits of then', async () => {
    const { product, browser, logIn } = await start()
    await spend(product)
    const now = await browser.get('/?sort=name')
    expect(now.text).toContain('seo on track 1,500 1,345 115')
    product.clock.set('2026-12-02T10:00:00Z')
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 7 }] } })
    await logIn()
    const { html } = await browser.get('/?window=month:2026-11-01')
    expect(html).toContain('<strong aria-current="true">1 – 30\u00a0Nov\u00a02026</strong>')
    expect(rowsIn(html)).toEqual([
      'Budget Used Limit Granted Spent Held In doubt Left',
      'account 50,000 0 115 0 40 49,845',
      'blog 200 0 75 0 40 85',
      'seo 1,000 500 115 0 40 1,345',
    ])
    const lines = await browser.get('/dashboard/statements?window=month:2026-11-01&by=caller')
    expect(lines.html).toContain('<a href="/dashboard/statements?by=caller" rel="next">')
  })

  test('a statement downloads as CSV', async () => {
    const { product, browser } = await start()
    await spend(product)
    const csv = await browser.get('/dashboard/statements.csv?window=month%3A2026-11-01&by=budget&price=0.5')
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="statement-month-2026-11-01.csv"')
    expect(csv.html.split('\r\n')).toEqual([
      'window,status,budget,updates,charged,external,granted,held,inDoubt,refused,amount,paidElsewhere,wouldHaveRefused,wouldHaveRefusedUnits',
      'month:2026-11-01,open,blog,0,0,75,0,0,40,1,37.5,0,0,0',
      'month:2026-11-01,open,seo,1,40,0,500,0,0,0,20,0,0,0',
      '',
    ])
  })

  test('an empty statement says so, and an invalid query is refused', async () => {
    const { browser } = await start()
    expect((await browser.get('/dashboard/statements?by=budget')).text).toContain(
      'No updates and no bookings this month.',
    )
    for (const [query, said] of [
      ['?window=month:2027-01-01', 'window: there is no window month:2027-01-01 yet; there is month:2026-11-01.'],
      ['?window=2026', 'window: must be a month such as month:2026-11-12.'],
      ['?by=colour', 'by: must be one of budget, project, caller, or a tag such as tag:client.'],
    ] as const) {
      const page = await browser.get(`/dashboard/statements${query}`)
      expect([query, page.status]).toEqual([query, 400])
      expect(page.text).toContain(said)
    }
  })
})

describe('Activity', () => {
  test('Activity lists the lines of a month and of a budget', async () => {
    const { product, browser, logIn } = await start()
    await spend(product)
    const lines = async (query = '') => rowsIn((await browser.get(`/dashboard/activity${query}`)).html).slice(1)

    expect(await lines('?budget=blog')).toEqual([
      'just now external spend blog and seo, account −75 ada on the vendor’s screen',
      '1 minute ago budget created blog ada for the blog budget blog: new: 200 a month, below seo',
    ])
    expect(await lines()).toHaveLength(4)
    const csv = await browser.get('/dashboard/activity.csv?budget=blog')
    expect(csv.html.split('\r\n')[0]).toBe('id,at,type,budget,units,window,by,reason,to,corrects,changed')
    expect(csv.html.split('\r\n')).toHaveLength(4)
    expect(csv.html.match(/2026-11-20T10:0\d/g)).toEqual(['2026-11-20T10:01', '2026-11-20T10:00'])
    product.clock.advance(hours(23))
    await logIn()
    expect((await lines('?budget=blog'))[0]).toMatch(/^23 hours ago external spend/)
    product.clock.advance(hours(1))
    await logIn()
    expect((await lines('?budget=blog'))[0]).toMatch(/^20 Nov 2026 10:01 external spend/)
  })

  test('Activity says that nothing is booked, or that the month does not exist', async () => {
    const { browser } = await start()
    expect((await browser.get('/dashboard/activity')).text).toContain('No entries.')
    const none = await browser.get('/dashboard/activity?window=month:2026-11-05')
    expect([none.status, none.text.includes('there is no window month:2026-11-05')]).toEqual([400, true])
  })

  test('Activity with more than a page of lines links to the next and the previous page', async () => {
    const { product, browser } = await start()
    for (let number = 0; number < 51; number++)
      await product.call('POST', '/budgets/account/entries', { body: { type: 'grant', units: 1, reason: 'more' } })
    const first = await browser.get('/dashboard/activity')
    const [, older = ''] = /<a href="([^"]+)" rel="next">/.exec(first.html) ?? []
    const second = await browser.get(older.replaceAll('&amp;', '&'))
    expect([rowsIn(first.html).length, rowsIn(second.html).length]).toEqual([51, 2])
    expect(second.html).toContain('<a href="/dashboard/activity" rel="prev">Newer</a>')
  })
})

describe('the audit', () => {
  const page = '/dashboard/activity/audit'

  test('a button makes an audit, which is stored and shown with its time; opening the page makes no audit', async () => {
    const { product, browser, logIn } = await start()
    const none = await browser.get('/dashboard/activity')
    expect(none.text).toContain('No audit yet.')
    expect((await press(browser, none, 'Audit now')).text).toContain('✓ Nothing is counted yet.')
    await spend(product)
    const made = await press(browser, await browser.get('/dashboard/activity'), 'Audit now')
    expect(made.text).toContain('Audit finished.')
    expect(made.text).toContain('✓ All 6 counters match. Audited on 20 Nov 2026 10:01 by rita.')
    product.clock.advance(minutes(30))
    await logIn()
    await product.update({ kind: 'ranking', project: 'two', budget: 'seo' })
    expect((await browser.get('/dashboard/activity')).text).toContain('Audited on 20 Nov 2026 10:01 by rita.')
    expect((await press(browser, await browser.get('/dashboard/activity'), 'Audit now')).text).toContain(
      '10:31 by rita.',
    )
  })

  test('the page shows the night’s audit, with both figures of a changed counter at the top', async () => {
    const { product, store, browser } = await start()
    await spend(product)
    const [book] = await store.get([{ pk: 'book', sk: 'month:2026-11-01' }])
    const counters = JSON.parse(JSON.stringify(book))
    counters.month.seo.s += 7
    await store.transact([{ kind: 'put', item: counters, when: [] }], 'tampered')
    await product.triggers.handle({ task: 'digest' }, product.endsAt())
    const said = '✕ 1 of 6 counters do not match their lines.'
    const { text, html } = await browser.get('/dashboard/activity')
    expect(text).toContain(said)
    expect(text).toContain('Audited on 20 Nov 2026 10:01 by digest.')
    const wrong = rowsIn(html).filter((row) => row.includes('≠'))
    expect(wrong).toEqual(['seo month from 1 Nov 2026 500 122 ≠ 115 0 40 1,345'])
  })

  test.each<[readonly (boolean | null)[], string]>([
    [[true, true], '✓ All 2 counters match. Audited'],
    [[true, null], '? 1 counter changed during the audit. Audit again later. Audited'],
    [[null, false], '✕ 1 of 2 counters do not match their lines.'],
  ])('the page of an audit that found %j says what it proves', async (found, sentence) => {
    const { product, browser } = await start()
    const counter = counterWith(1_000, { available: 1_000 })
    const rows = found.map((ok, each) => ({
      window: 'month:2026-11-01',
      budget: `b${each}`,
      ok,
      recorded: counter,
      recomputed: counter,
    }))
    await product.guard.ledger.keepAudit({ at: product.clock.now(), by: 'rita' }, rows as never)
    const { text } = await browser.get('/dashboard/activity')
    expect(text).toContain(sentence)
    expect(text.includes('✓ All')).toBe(!found.some((ok) => ok !== true))
  })

  test('an audit requires the scope read and a form of this session', async () => {
    const { product, browser } = await start()
    const { formToken } = await browser.get('/dashboard/activity')
    const forged = await browser.post(page, { form: 'made up' })
    expect([forged.status, forged.text.includes('belongs to another session')]).toEqual([403, true])
    const elsewhere = await browser.post(page, { form: formToken }, { headers: { 'sec-fetch-site': 'cross-site' } })
    expect(elsewhere.status).toBe(403)
    expect((await browser.post(page, { form: formToken, month: 'all' })).status).toBe(400)
    await browser.logIn(product.signed({ sub: 'zoe', scope: 'run' }))
    const { formToken: own } = await browser.get('/')
    expect((await browser.post(page, { form: own })).status).toBe(403)
    expect(await product.guard.ledger.lastAudit()).toBeNull()
  })
})
