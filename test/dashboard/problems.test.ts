import { describe, expect, test } from 'vitest'
import { problems } from '../../shared/guard/problem-types.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

describe('the page of a problem', () => {
  test('every problem type has a page', () => {
    const contract = [
      'invalid-request unauthorized forbidden over-budget over-update-limit kind-not-allowed over-max-units',
      'already-fresh budget-frozen plan-paused not-found method-not-allowed in-progress duplicate-work ledger-restored wrong-state',
      'precondition-failed too-large unsupported-media-type key-reused too-many-requests estimate-unreadable',
      'service-refused service-unreachable ledger-unavailable secret-unavailable',
    ].flatMap((line) => line.split(' '))
    expect(contract.filter((slug) => !Object.hasOwn(problems, slug))).toEqual([])
  })

  test.each(Object.entries(problems))('the page of the problem %s explains it', async (slug, { title }) => {
    const product = await startProduct({ store: createMemoryStore() })
    const { get } = openBrowser(product)
    const called = await get(`/problems/${slug}`)
    expect(called.status).toBe(200)
    expect(called.headers.get('content-type')).toMatch(/^text\/html; charset=utf-8$/i)
    expect(called.html).toContain(`<code>${slug}</code>`)
    expect(called.html).toContain(`<h1>${title.replaceAll("'", '&#39;')}</h1>`)
    const head = await product.dashboard.request(`/problems/${slug}`, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      200,
      called.headers.get('content-type'),
      '',
    ])
    expect(product.secrets.asked).toEqual([])
  })

  test.each(['/problems/none', '/problems/constructor', '/problems/over-budget/', '/problems/'])(
    '%s is not a problem page: 404',
    async (path) => {
      const { get } = openBrowser(await startProduct({ store: createMemoryStore() }))
      const called = await get(path)
      expect(called.status).toBe(404)
      expect(called.text).toContain('There is no such problem type.')
    },
  )
})

test('a page marks old text that reverses the writing direction, and a field keeps it', async () => {
  const name = 'acme\u202eexe'
  const product = await startProduct({ store: createMemoryStore() })
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'eve', scope: 'read run admin', budgets: '*' }))
  await product.update({ kind: 'ranking', project: name })
  const list = await browser.get('/dashboard/updates')
  expect(list.text).toContain('acme[U+202E]exe')
  expect(list.text).not.toContain('\u202e')
  expect((await browser.get(`/dashboard/ask?kind=ranking&project=${encodeURIComponent(name)}`)).html).toContain(
    `value="${name}"`,
  )
})
