import { describe, expect, test } from 'vitest'
import { reportsOf } from '../../shared/reports/reports.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { createTestClock } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// Pages and answers that show units also show money if the price of a unit is set.

const one = '0,0125'
const changing = '0.01@2025-01-01,0.02@2026-11-20'
const later = '0.01@2027-01-01'

/** 40 units of acme on 19 November, 50 of the account and 40 of acme on the 20th. */
async function start(price?: string) {
  const clock = createTestClock('2026-11-19T10:00:00Z')
  const env = price === undefined ? {} : { PRICE_PER_UNIT: price, CURRENCY: 'EUR' }
  const product = await startProduct({ store: createMemoryStore(), clock, env, slack: true })
  await product.call('PUT', '/budgets/acme', { body: { limits: [{ window: 'month', units: 300 }] } })
  await product.update({ kind: 'ranking', project: 'a', budget: 'acme' })
  clock.set('2026-11-20T10:00:00Z')
  await product.update({ kind: 'ranking', project: 'b', budget: 'acme' })
  const body = { type: 'external-spend', units: 50, reason: 'r' }
  await product.call('POST', '/budgets/account/entries', { body })
  const browser = openBrowser(product)
  /** The text of each table row of a page, without the bar. */
  const look = async (path: string) => {
    await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
    const { html, text } = await browser.get(path)
    const rows = [...html.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
      row
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    const cells = [...html.matchAll(/<td data-name="Spent" class="number">(.*?)<\/td>/gs)]
    const spent = cells.map(([, cell = '']) => cell.replace(/<[^>]*>/g, '').trim())
    return { rows, text, spent }
  }
  return { product, clock, look }
}

describe('GET /statements', () => {
  test('a statement with two prices shows the cost of each row and the prices used', async () => {
    const { product } = await start(changing)
    const { body } = await product.call('GET', '/statements')
    expect(body.rows).toMatchObject([
      { budget: 'account', external: 50, cost: 1 },
      { budget: 'acme', charged: 80, cost: 1.2 },
    ])
    expect(body).toMatchObject({ total: { cost: 2.2 }, currency: 'EUR' })
    expect(body.prices).toEqual([
      { from: '2025-01-01', perUnit: 0.01, units: 40 },
      { from: '2026-11-20', perUnit: 0.02, units: 90 },
    ])
    const csv = await product.call('GET', '/statements?by=project', { headers: { accept: 'text/csv' } })
    expect(csv.text.split('\r\n').slice(1, -1)).toEqual([
      'month:2026-11-01,open,a,1,40,0,0,0,0,0,0.4,EUR,0.01,0,0',
      'month:2026-11-01,open,b,1,40,0,0,0,0,0,0.8,EUR,0.02,0,0',
      'month:2026-11-01,open,,0,0,50,0,0,0,0,1,EUR,0.02,0,0',
    ])
    const byBudget = await product.call('GET', '/statements', { headers: { accept: 'text/csv' } })
    expect(byBudget.text).toContain('acme,2,80,0,0,0,0,0,0,1.2,EUR,0.01 0.02,0,0')
  })

  test('units before the first price cost nothing, and no price was used', async () => {
    const { product } = await start(later)
    const { body } = await product.call('GET', '/statements')
    expect(body).toMatchObject({ total: { charged: 80, external: 50, cost: 0 }, prices: [], currency: 'EUR' })
  })

  test('a reader’s own price is one number', async () => {
    const { product } = await start(changing)
    const { status, body } = await product.call('GET', `/statements?price=${changing}`)
    expect(status).toBe(400)
    expect(body.errors).toEqual([{ path: 'price', message: 'must be a price for one unit, such as 0.012' }])
  })
})

describe('pages', () => {
  test.each([
    ['no price', undefined, ['130', '80'], undefined],
    ['one price', one, ['130 1.63 EUR', '80 1.00 EUR'], '1.63 EUR'],
    ['a price that changed in the month', changing, ['130 2.20 EUR', '80 1.20 EUR'], '2.20 EUR'],
    ['a price that begins later', later, ['130', '80'], undefined],
  ])('with %s, Overview and Budgets show the cost, also for an ended month', async (_name, price, spent, money) => {
    const { clock, look } = await start(price)
    for (const path of ['/?sort=name', '/dashboard/budgets?sort=name']) {
      expect([path, (await look(path)).spent]).toEqual([path, spent])
    }
    const { text } = await look('/')
    expect(/[0-9.]+ [A-Z]{3} spent/.exec(text)?.[0]).toBe(money && `${money} spent`)
    expect((await look('/dashboard/budgets/account')).text).toContain(`Spent 130 ${money ?? ''}`.trim())
    clock.set('2026-12-10T10:00:00Z')
    expect((await look('/?window=month:2026-11-01')).spent).toEqual(spent)
  })

  test('a statement has amounts at the set prices and names them, or at the reader’s own price', async () => {
    const { look } = await start(changing)
    const own = await look('/dashboard/statements?by=budget')
    expect(own.rows[0]).toContain('Share Amount, EUR Granted')
    expect(own.rows.slice(1).map((row) => row.match(/\d+ % \S+/)?.[0])).toEqual([
      '62 % 1.20',
      '38 % 1.00',
      '100 % 2.20',
    ])
    expect(own.text).toContain(
      'A unit costs 0.01 EUR from 2025-01-01 (40 units) and 0.02 EUR from 2026-11-20 (90 units).',
    )
    const asked = await look('/dashboard/statements?by=budget&price=1')
    expect(asked.rows.slice(1).map((row) => row.match(/\d+ % \S+/)?.[0])).toEqual([
      '62 % 80.00',
      '38 % 50.00',
      '100 % 130.00',
    ])
    expect(asked.text).not.toMatch(/EUR/)
  })

  test('a budget whose children were deleted in a month of two prices has no sum, but account has a sum', async () => {
    const { product, look } = await start(changing)
    const limits = [{ window: 'month', units: 50 }]
    await product.call('PUT', '/budgets/blog', { body: { limits, parent: 'acme' } })
    await product.update({ kind: 'ranking', project: 'c', budget: 'blog' })
    expect((await look('/?sort=name')).spent).toEqual(['170 3.00 EUR', '120 2.00 EUR', '40 0.80 EUR'])
    await product.call('DELETE', '/budgets/blog')
    expect((await look('/?sort=name')).spent).toEqual(['170 3.00 EUR', '120'])
  })
})

test('the digest shows the cost of the day at the price of each hold', async () => {
  const { product, clock } = await start(changing)
  // The 40 units of the 19th at 10:00 are within the last 24 hours.
  clock.set('2026-11-20T09:59:00Z')
  const { budgets } = await (await reportsOf(product.guard)).digest(Date.parse('2026-11-20T10:00:00Z') - 1)
  expect(budgets.map(({ budget, spentToday, costToday }) => [budget, spentToday, costToday])).toEqual([
    ['account', 40, '0.40 EUR'],
    ['acme', 40, '0.40 EUR'],
  ])
  clock.set('2026-11-20T11:00:00Z')
  await product.triggers.handle({ task: 'digest' }, product.endsAt())
  await product.deliver()
  const [message] = product.slack.posted().filter(({ text }) => /^\d{4}-\d\d-\d\d: /.test(text))
  expect(message?.text).toContain('40 units (0.80 EUR) spent in 24 hours by account')
  expect(JSON.stringify(message?.body)).toContain('*acme*: 40 (0.80 EUR) in 24 hours')
})
