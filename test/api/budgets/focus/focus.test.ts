import { parse } from 'csv-parse/sync'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../../../../shared/ledger/store/memory-store.ts'
import { openBrowser } from '../../../support/browser/browser.ts'
import { createTestClock, days } from '../../../support/clock.ts'
import { startProduct } from '../../../support/product.ts'
import { judge } from './rules.ts'

const price = { PRICE_PER_UNIT: '0.0125', CURRENCY: 'EUR' }
const month = (units: number) => [{ window: 'month', units }]

/** November from its last days on: updates with and without tags, outside spending, and corrections of both kinds. */
async function november(env: Record<string, string> = price) {
  const clock = createTestClock('2026-11-28T10:00:00Z')
  const product = await startProduct({ env, clock, store: createMemoryStore(), units: { shop: 40, '77': 25 } })
  await product.call('PUT', '/budgets/acme', { body: { limits: month(300), projects: [{ name: 'shop', id: '77' }] } })
  const ask = (project: string, tags?: object, kind = 'ranking') =>
    product.update({ kind, project, ...(tags && { tags }) })
  await ask('shop', { ticket: 'SEO-1', client: 'Bücher & Co' })
  await ask('77', undefined, 'keyword-difficulty')
  clock.advance(days(1))
  await ask('=cmd()')
  await ask('none', { client: 'x' })
  const enter = async (budget: string, body: object) =>
    (await product.call('POST', `/budgets/${budget}/entries`, { body: { reason: 'r', ...body } })).body
  const spent = await enter('acme', { type: 'external-spend', units: 30 })
  await enter('account', { type: 'external-spend', units: 8 })
  const right = await enter('account', { type: 'correction', units: 12, corrects: spent.id })
  clock.advance(days(5))
  await enter('account', { type: 'correction', units: 10, corrects: right.id })
  const read = (path: string, headers = {}) => product.call('GET', path, { headers })
  const window = 'window=month:2026-11-01'
  return { product, read, window, csv: async () => (await read(`/statements?format=focus&${window}`)).text }
}

const rowsOf = (csv: string) => parse(csv, { columns: true }) as Record<string, string>[]

/** What Unit Guard's data have, in the words of the rules. */
const supported = new Set([
  ...['ACCOUNT_NAMING_SUPPORTED', 'USAGE_MEASUREMENT_SUPPORTED', 'UNIT_PRICING_SUPPORTED', 'TAGGING_SUPPORTED'],
  ...['NEGOTIATED_PRICING_SUPPORTED', 'SUB_ACCOUNT_SUPPORTED', 'MULTIPLE_SUB_ACCOUNT_TYPES_SUPPORTED'],
  ...['MULTIPLE_BILLING_ACCOUNT_TYPES_SUPPORTED', 'MULTIPLE_PRICING_CATEGORIES_SUPPORTED'],
  ...['BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED', 'RESOURCE_TYPE_ASSIGNMENT_SUPPORTED'],
  'PUBLIC_PRICE_LIST_SUPPORTED',
])

test('the rows of a month in FOCUS 1.2 add up to its statement, each with what it is about', async () => {
  const { product, csv, read, window } = await november()
  const text = await csv()
  const rows = rowsOf(text)
  expect(
    rows
      .map((row) => [
        ...[row.ChargePeriodStart, row.ConsumedQuantity, row.BilledCost, row.ChargeClass, row.SkuId],
        ...[row.SubAccountId, row.ResourceId, row.ResourceName, row.Tags, row.x_Updates],
      ])
      .toSorted(),
  ).toEqual([
    ['2026-11-28T00:00:00Z', '25.0', '0.3125', '', 'keyword-difficulty', 'acme', '77', 'shop', '', '1'],
    [
      ...['2026-11-28T00:00:00Z', '40.0', '0.5', '', 'ranking', 'acme', '77', 'shop'],
      ...['{"client":"Bücher & Co","ticket":"SEO-1"}', '1'],
    ],
    // 30 units by hand, corrected to 12 in November, and to 10 after it.
    ['2026-11-29T00:00:00Z', '-18.0', '-0.225', '', 'outside', 'acme', '', '', '', ''],
    ['2026-11-29T00:00:00Z', '-2.0', '-0.025', 'Correction', 'outside', 'acme', '', '', '', ''],
    ['2026-11-29T00:00:00Z', '30.0', '0.375', '', 'outside', 'acme', '', '', '', ''],
    ['2026-11-29T00:00:00Z', '40.0', '0.5', '', 'ranking', 'account', "'=cmd()", '', '', '1'],
    ['2026-11-29T00:00:00Z', '40.0', '0.5', '', 'ranking', 'account', 'none', '', '{"client":"x"}', '1'],
    ['2026-11-29T00:00:00Z', '8.0', '0.1', '', 'outside', 'account', '', '', '', ''],
  ])
  const { body } = await read(`/statements?${window}`)
  const sum = (column: string) => rows.reduce((total, row) => total + Number(row[column]), 0)
  expect([sum('ConsumedQuantity'), body.book]).toEqual([163, { spent: 163, addsUp: true }])
  expect([sum('BilledCost'), body.total.cost]).toEqual([expect.closeTo(2.0375, 9), 2.04])
  // As a program reads it: with rows of the sweep, too.
  await (await product.guard.background()).keepSummaries()
  expect((await csv()).split('\r\n').toSorted()).toEqual(text.split('\r\n').toSorted())
})

test('the file passes the rules of a public validator for FOCUS 1.2', async () => {
  const { csv } = await november()
  const { passed, failed, otherData, unknown } = judge(rowsOf(await csv()), supported)
  expect(failed).toEqual([])
  expect(unknown).toEqual([])
  expect(passed).toHaveLength(191)
  // A tracking service has no zones, regions, commitments or second currency.
  const others = /^(AvailabilityZone|CapacityReservation|CommitmentDiscount|CostAndUsage|PricingCurrency|Region)/
  expect(otherData.filter((rule) => !others.test(rule))).toEqual([])
})

test('the rules find a wrong cell and a missing column', async () => {
  const { csv } = await november()
  const [first = {}, ...others] = rowsOf(await csv())
  const failures = (row: Record<string, string>) => judge([row, ...others], supported).failed.map(({ rule }) => rule)
  for (const [column, value, rule] of [
    ['BilledCost', '', 'BilledCost-C-003-M'],
    ['BilledCost', '1,5', 'BilledCost-C-001-M'],
    ['ListCost', '7.0', 'ListCost-C-009-C'],
    ['BillingCurrency', 'euro', 'BillingCurrency-C-003-M'],
    ['ChargeCategory', 'usage', 'ChargeCategory-C-003-M'],
    ['ChargeClass', 'Refund', 'ChargeClass-C-005-C'],
    ['ChargePeriodEnd', '2026-11-29', 'ChargePeriodEnd-C-001-M'],
    ['ConsumedUnit', '', 'ConsumedUnit-C-006-C'],
    ['ProviderName', 'Another', 'BilledCost-C-005-C'],
    ['ServiceSubcategory', 'Other (Web)', 'ServiceSubcategory-C-004-M'],
    ['SkuId', '', 'SkuId-C-005-C'],
    ['SubAccountName', '', 'SubAccountName-C-005-C'],
    ['Tags', '{"a":{}}', 'Tags-C-001-M'],
  ] as const)
    expect(failures({ ...first, [column]: value })).toContain(rule)
  const { BilledCost: _cost, ...without } = first
  expect(failures(without)).toContain('CostAndUsage-D-006-M')
})

test('without a price the answer is 409 and names both settings; another price is refused', async () => {
  const { read } = await november({})
  const { status, body } = await read('/statements?format=focus')
  expect([status, body.type]).toEqual([409, '/problems/wrong-state'])
  expect(body.detail).toContain('Set PRICE_PER_UNIT and CURRENCY')
  expect((await read('/statements?format=focus&price=0.02')).body.errors).toMatchObject([{ path: 'price' }])
  expect((await read('/statements?format=xml')).body.errors).toMatchObject([{ path: 'format' }])
  expect((await read('/statements?format=focus', { accept: 'application/json' })).status).toBe(409)
})

test('the page of statements leads to the same file where a price is set', async () => {
  const { product, csv } = await november()
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
  const address = '/dashboard/statements.csv?window=month%3A2026-11-01&format=focus'
  const page = await browser.get('/dashboard/statements?window=month%3A2026-11-01')
  expect(page.html).toContain(`href="${address.replaceAll('&', '&amp;')}"`)
  expect((await browser.get(address)).html).toBe(await csv())
})
