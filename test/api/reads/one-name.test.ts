import { describe, expect, test } from 'vitest'
import { openBrowser } from '../../support/browser/browser.ts'
import { days, hours } from '../../support/clock.ts'
import { json, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const limits = [{ window: 'month', units: 5_000 }]
const listing = (...projects: readonly object[]) => ({ limits, projects })

/** One project of three requests under three spellings, and another project. */
async function start() {
  const product = await startProduct({ store: createMemoryStore() })
  const { call, update } = product
  const list = async (budget: string, body: object) =>
    expect((await call('PUT', `/budgets/${budget}?release=true`, { body })).status).toBeLessThan(202)
  await list('acme', listing({ name: 'Shop', id: '7' }, { name: 'Store' }))
  const ids: string[] = []
  for (const [kind, project] of [
    ['ranking', 'Shop'],
    ['keyword-difficulty', '7'],
    ['ranking', 'Store'],
  ]) {
    const { status, body } = await update({ kind, project })
    expect(status).toBe(201)
    ids.push(body.updates[0].id)
  }
  const again = await update({ kind: 'ranking', project: 'SHOP', reason: 'again' })
  expect([again.status, again.body.updates[0].id]).toEqual([200, ids[0]])
  const found = async (query: string) =>
    (await call('GET', `/updates?${query}`)).body.updates.map(({ project }: { project: string }) => project).toSorted()
  const rowsOf = async (window?: string) => {
    const { body } = await call('GET', `/statements?by=project${window === undefined ? '' : `&window=${window}`}`)
    return body.rows.map(({ project, updates, refused }: Record<string, unknown>) => [project, updates, refused])
  }
  const browse = async (by: object = {}) => {
    const browser = openBrowser(product)
    await browser.logIn(
      product.signed({ sub: 'bob', scope: 'read', budgets: '*', exp: product.clock.now() / 1000 + 8 * 3600, ...by }),
    )
    return browser
  }
  return { ...product, list, found, rowsOf, browse, ids }
}

describe('a project has one name', () => {
  test.each(['Shop', '7', 'shop', 'SHOP'])(
    'the filter project=%s finds the updates of every spelling',
    async (name) => {
      const { found } = await start()
      expect(await found(`project=${name}`)).toEqual(['7', 'SHOP', 'Shop'])
      expect(await found('project=Store')).toEqual(['Store'])
      expect(await found('project=unknown')).toEqual([])
    },
  )

  test('a statement’s row and the lists of API, CSV, page and profile count the same updates', async () => {
    const { rowsOf, call, browse, clock, guard, endsAt } = await start()
    for (const round of ['from records', 'from summaries']) {
      expect([round, await rowsOf()]).toEqual([
        round,
        [
          ['Shop', 2, 1],
          ['Store', 1, 0],
        ],
      ])
      const { text } = await call('GET', '/updates?project=7', { headers: { ...json, accept: 'text/csv' } })
      const lines = text.trim().split('\r\n')
      expect(lines.map((line) => line.split(',').at(-1))).toEqual(['projectName', 'Shop', 'Shop', 'Shop'])
      const browser = await browse()
      const page = await browser.get('/dashboard/updates?project=Shop')
      expect(page.text).toContain('3 updates, 80 units charged')
      expect(page.text.match(/Shop 7 (?:ranking|keyword-difficulty)/g)).toHaveLength(3)
      expect((await browser.get('/dashboard/updates?search=7')).text).toContain('3 updates')
      const profile = await browser.get('/dashboard/projects/Shop')
      expect(profile.html.match(/href="\/dashboard\/updates\?project=/g)).toHaveLength(1)
      expect(profile.text).toContain('All updates of Shop')
      clock.advance(hours(26))
      await (await guard.jobs()).sweep(endsAt())
    }
  })

  test('a renamed project has its new name in lists, and keeps its old one in final statements', async () => {
    const { rowsOf, list, found, clock, browse, call } = await start()
    clock.advance(days(11))
    const final = '2026-11-01'
    const before = await rowsOf(`month:${final}`)
    expect(before.map(([name]: string[]) => name)).toEqual(['Shop', 'Store'])
    await list('acme', listing({ name: 'Boutique', id: '7' }, { name: 'Store' }))
    expect(await rowsOf(`month:${final}`)).toEqual(before)
    for (const name of ['Boutique', '7', 'Shop']) expect(await found(`project=${name}`)).toEqual(['7', 'SHOP', 'Shop'])
    const browser = await browse()
    const statement = await browser.get(`/dashboard/statements?window=month:${final}&by=project`)
    expect(statement.html).toContain('<a href="/dashboard/projects/Boutique">Shop</a>')
    expect((await browser.get('/dashboard/updates?window=all')).text).toContain('Boutique 7 ranking')
    // Without a listing, the last listed name is all that people know.
    const released = await call('PUT', '/budgets/acme?release=true', { body: listing({ name: 'Store' }) })
    expect(released.status).toBe(200)
    expect(await found('project=Shop')).toEqual(['7', 'SHOP', 'Shop'])
    expect((await browser.get('/dashboard/updates?window=all')).text).toContain('Shop 7 keyword-difficulty')
  })

  test('an open month shows the present name', async () => {
    const { rowsOf, list } = await start()
    await list('acme', listing({ name: 'Boutique', id: '7' }, { name: 'Store' }))
    expect((await rowsOf()).map(([name]: string[]) => name)).toEqual(['Boutique', 'Store'])
  })

  test('a reader of other budgets learns no listed name', async () => {
    const { list, call, signed, inDays, update } = await start()
    await list('acme', listing({ name: 'Shop', id: '7' }))
    await list('zenith', { limits })
    expect((await update({ kind: 'keyword-difficulty', project: 'Store', budget: 'zenith' })).status).toBe(201)
    await call('PUT', '/callers/zoe', { body: { readsBudgets: ['zenith'] } })
    const token = signed({ sub: 'zoe', scope: 'read', budgets: ['zenith'], exp: inDays(9) })
    for (const query of ['', '?project=Shop', '?project=7'])
      expect((await call('GET', `/updates${query}`, { token })).text).not.toContain('Shop')
  })
})
