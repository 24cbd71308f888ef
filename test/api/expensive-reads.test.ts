import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../../infra/openapi/document.ts'
import type { Store } from '../../shared/ledger/store/store.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

/** A store that counts its lists, and the most lists that ran at the same time. */
function countingStore(): { store: Store; counted: { lists: number; most: number } } {
  const inner = createMemoryStore()
  const counted = { lists: 0, most: 0 }
  let now = 0
  const store: Store = {
    ...inner,
    list: async (query) => {
      counted.lists++
      counted.most = Math.max(counted.most, ++now)
      await new Promise((resolve) => setImmediate(resolve))
      return inner.list(query).finally(() => now--)
    },
  }
  return { store, counted }
}

async function start() {
  const { store, counted } = countingStore()
  const product = await startProduct({ store, stream: false })
  const reader = (sub: string) => product.signed({ sub, scope: 'read' })
  const read = (path: string, { by = 'rita', accept = 'text/csv' } = {}) =>
    product.call('GET', path, { token: reader(by), headers: { accept } })
  await product.update({ kind: 'ranking', projects: ['a', 'b', 'c'] })
  counted.lists = 0
  counted.most = 0
  return { ...product, counted, read }
}

describe('an audit', () => {
  test('callers share one audit until it is ten seconds old', async () => {
    const { read, counted, clock } = await start()
    await read('/audit')
    const ofOne = counted.lists
    expect(ofOne).toBeGreaterThan(0)
    clock.advance(10_000)
    counted.lists = 0
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((by) => read('/audit', { by })))
    clock.advance(9_999)
    answers.push(await read('/audit', { by: 'f' }))
    expect(answers.map(({ status, body }) => [status, body.ok])).toEqual(Array.from({ length: 6 }, () => [200, true]))
    expect(counted.lists).toBe(ofOne)
    clock.advance(1)
    await read('/audit', { by: 'g' })
    expect(counted.lists).toBe(2 * ofOne)
  })

  test('a failed audit is repeated for the next caller', async () => {
    const { store, counted } = countingStore()
    let isDown = false
    const product = await startProduct({
      store: { ...store, list: (query) => (isDown ? Promise.reject(new Error('down')) : store.list(query)) },
      stream: false,
    })
    await product.update({ kind: 'ranking', project: 'a' })
    isDown = true
    expect((await product.call('GET', '/audit')).status).toBe(500)
    isDown = false
    expect((await product.call('GET', '/audit')).body.ok).toBe(true)
    expect(counted.lists).toBeGreaterThan(0)
  })
})

test('audits and exports of many callers run one after another', async () => {
  const { read, counted } = await start()
  await read('/updates')
  expect(counted.most).toBe(1)
  const paths = ['/updates', '/budgets/account/entries', '/updates?kind=ranking', '/updates?state=settled']
  const answers = await Promise.all(paths.flatMap((path) => ['a', 'b', 'c'].map((by) => read(path, { by }))))
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  expect(counted.most).toBe(1)
})

/** Every operation with a CSV answer in the OpenAPI document, and the audit. */
const expensive = [
  '/audit',
  // biome-ignore lint/suspicious/noExplicitAny: the document is read as a stranger reads it.
  ...Object.entries<any>(openApiDocument().paths)
    .filter(([path, { get }]) => get?.responses['200']?.content?.['text/csv'] && !path.startsWith('/v3'))
    .map(([path]) => path.replace('{name}', 'account')),
]

test('the OpenAPI document names each export', () => {
  expect(expensive).toEqual(['/audit', '/updates', '/budgets', '/budgets/account/entries', '/statements'])
})

describe('the limit of ten audits and exports a minute', () => {
  test.each(expensive)('a caller may make ten audits and exports a minute: %s', async (path) => {
    const { read, clock } = await start()
    clock.advance(20_000)
    for (let each = 0; each < 10; each++) expect((await read(path)).status).toBe(200)
    const refused = await read(path)
    expect([refused.status, refused.headers.get('retry-after'), refused.body.detail]).toEqual([
      429,
      '60',
      'rita may make 10 audits and exports a minute; the next one in 60 seconds.',
    ])
    expect((await read(path, { by: 'bob' })).status).toBe(200)
    if (path !== '/audit') expect((await read(path, { accept: 'application/json' })).status).toBe(200)
    clock.advance(60_000)
    expect((await read(path)).status).toBe(200)
  })

  test("audits and exports on pages are counted by the dashboard's function", async () => {
    const product = await start()
    const { dashboard, read, signed } = product
    const browser = openBrowser(product)
    await browser.logIn(signed({ sub: 'rita', scope: 'read' }))
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const look = (path: string) => dashboard.request(path, { headers: { cookie } })
    const pages = ['/dashboard/updates.csv', '/dashboard/activity.csv', '/dashboard/statements.csv']
    for (let each = 0; each < 3; each++) for (const path of pages) expect((await look(path)).status).toBe(200)
    expect((await look('/dashboard/updates.csv')).status).toBe(200)
    for (const path of pages) {
      const refused = await look(path)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
      expect(await refused.text()).toContain('rita may make 10 audits and exports a minute')
    }
    expect((await read('/audit')).status).toBe(200)
    const { formToken } = await browser.get('/dashboard/activity')
    const pressed = await browser.post('/dashboard/activity/audit', { form: formToken })
    expect(pressed.text).toContain('rita may make 10 audits and exports a minute')
    expect((await look('/dashboard/updates')).status).toBe(200)
  })
})
