import { expect, test } from 'vitest'
import { openBrowser } from '../support/browser/browser.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// CSV opens safely in a spreadsheet, and programs read it unchanged.

const reasons = [
  '=HYPERLINK("http://evil.example")',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  'two\r\nlines',
  'a "b", c',
  'café',
]
const cells = [
  `"'=HYPERLINK(""http://evil.example"")"`,
  ...["'+1", "'-1", "'@SUM(A1)", "'\t=1"],
  ...['"two\r\nlines"', '"a ""b"", c"', 'café'],
]

async function start() {
  const product = await startProduct({ store: createMemoryStore() })
  // Writes into the ledger directly, because older reasons may contain what requests now refuse.
  for (const [each, reason] of reasons.entries())
    await product.guard.ledger.enter({
      ...{ id: `ent_${each}`, type: 'grant', budget: 'account', units: each + 1, window: 'month', reason, by: 'ada' },
      ...{ content: '', wholeChain: false },
    })
  await product.update({ kind: 'ranking', project: 'café', reason: '=1' })
  return product
}

test('CSV escapes formulas and quotes separators and line breaks', async () => {
  const product = await start()
  const { text } = await product.call('GET', '/budgets/account/entries', { headers: { accept: 'text/csv' } })
  expect(text.startsWith('id,at,type,budget,units,window,by,reason,to,corrects,changed\r\n')).toBe(true)
  for (const [each, cell] of cells.entries())
    expect(text).toContain(`,grant,account,${each + 1},month:2026-11-01,ada,${cell},,,\r\n`)
})

test.each([
  ['text/csv', 'text/csv; charset=utf-8'],
  ['text/csv;q=0.9, application/json;q=0.1', 'text/csv; charset=utf-8'],
  ['text/csv;q=0.1, application/json;q=0.9', 'application/json'],
  ['text/csv;q=0', 'application/json'],
  ['*/*', 'application/json'],
])('Accept: %s is answered with %s', async (accept, type) => {
  const product = await start()
  const { headers } = await product.call('GET', '/updates', { headers: { accept } })
  expect(headers.get('content-type')).toBe(type)
})

test('a CSV download has a byte order mark, a CSV answer of the API does not', async () => {
  const product = await start()
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const download = await product.dashboard.request('/dashboard/updates.csv', { headers: { cookie } })
  const answer = await product.api.request('/updates', {
    headers: { accept: 'text/csv', authorization: `Bearer ${await product.signed({ sub: 'rita', scope: 'read' })}` },
  })
  const beginning = async (response: Response) =>
    Buffer.from(await response.arrayBuffer())
      .subarray(0, 5)
      .toString('hex')
  expect(await beginning(download)).toBe(`efbbbf${Buffer.from('id').toString('hex')}`)
  expect(await beginning(answer)).toBe(Buffer.from('id,cr').toString('hex'))
})
