import { describe, expect, test } from 'vitest'
import { json, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = (units: number) => [{ window: 'month', units }]
const projects = Array.from({ length: 12 }, (_, position) => `shop-${position}`)

async function withObserved(how: { limit: number; above: number } & Parameters<typeof startProduct>[0]) {
  const { limit, above, ...options } = how
  const product = await startProduct(options)
  await product.call('PUT', '/budgets/acme', { body: { limits: month(above) } })
  await product.call('PUT', '/budgets/seo', { body: { parent: 'acme', limits: month(limit), enforce: false } })
  const run = (project: string, more: object = {}) =>
    product.update({ kind: 'ranking', project, budget: 'seo', ...more })
  return { ...product, run }
}

const inMemory = { store: createMemoryStore, stream: false } as const
const memory = () => ({ ...inMemory, store: createMemoryStore() })

const lackedBy = (body: { updates: { wouldHaveRefused?: object }[] }) =>
  body.updates.map(({ wouldHaveRefused = null }) => wouldHaveRefused)

describe('an observed budget', () => {
  test('an observed budget counts a flood over its limit, and the one above enforces its limit exactly', async () => {
    const { run, ...product } = await withObserved({ limit: 100, above: 400 })
    const answers = await Promise.all(projects.map((project) => run(project)))
    const statuses = answers.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([...Array(10).fill(201), 402, 402])
    const lacks = answers
      .flatMap(({ body }) => body.updates)
      .flatMap(({ wouldHaveRefused = [] }) => wouldHaveRefused as { budget: string; window: string; short: number }[])
    expect(new Set(lacks.map(({ budget, window }) => `${budget} ${window}`))).toEqual(new Set(['seo month']))
    expect(lacks.map(({ short }) => short).toSorted((a, b) => a - b)).toEqual([20, 40, 40, 40, 40, 40, 40, 40])
    expect(await product.figures('seo')).toMatchObject({ limit: 100, available: -300, spent: 400 })
    expect(await product.figures('acme')).toMatchObject({ available: 0, spent: 400 })
    const refused = answers.filter(({ status }) => status === 402).map(({ body }) => body)
    expect(refused.map(({ type, budgets }) => [type, budgets.map(({ budget }: { budget: string }) => budget)])).toEqual(
      [
        ['/problems/over-budget', ['acme']],
        ['/problems/over-budget', ['acme']],
      ],
    )
    expect(product.seen('run')).toHaveLength(10)
    expect(await product.audit()).toBe(true)
  })

  test('an observed budget records that it would have kept units for plans', async () => {
    const { run, call } = await withObserved({ limit: 100, above: 400, ...memory() })
    await call('PUT', '/budgets/seo', { body: { parent: 'acme', limits: month(100), enforce: false, keep: 70 } })
    const { body } = await run('shop')
    const [{ state, wouldHaveRefused }] = body.updates
    expect([state, wouldHaveRefused]).toEqual(['settled', [{ budget: 'seo', window: 'month', short: 10 }]])
  })

  test('an observed budget records in the update and its history the refusal that enforcing would have made', async () => {
    const { run } = await withObserved({ limit: 30, above: 400, ...memory() })
    const { body } = await run('shop')
    const [{ state, units, wouldHaveRefused, history }] = body.updates
    expect([state, units.charged, wouldHaveRefused]).toEqual([
      'settled',
      40,
      [{ budget: 'seo', window: 'month', short: 10 }],
    ])
    expect(history[0].note).toBe(
      '40 units held on seo, acme and account; enforcing would have refused it: seo was 10 units short this month',
    )
  })

  test('a refused estimate names the limit that refuses it, and no observed one', async () => {
    const product = await withObserved({ limit: 50, above: 60, ...memory() })
    const query = 'kind=ranking&project=a&project=b&budget=seo'
    const { allowed, problem, wouldHaveRefused = [] } = (await product.call('GET', `/estimates?${query}`)).body
    expect([allowed, problem.budgets.map(({ budget }: { budget: string }) => budget), wouldHaveRefused]).toEqual([
      false,
      ['acme'],
      [],
    ])
  })

  test('estimate, fit, refuse and ask all pass an observed limit and mention it', async () => {
    const { run, ...product } = await withObserved({ limit: 50, above: 400, ...memory() })
    const query = 'kind=ranking&project=a&project=b&budget=seo'
    const estimate = (await product.call('GET', `/estimates?${query}`)).body
    expect([estimate.allowed, estimate.wouldHaveRefused]).toEqual([
      true,
      [{ budget: 'seo', window: 'month', short: 30 }],
    ])
    const asked = (whenShort: string, of: string[]) =>
      product.update({ kind: 'ranking', projects: of, budget: 'seo', whenShort })
    expect(lackedBy((await asked('refuse', ['a', 'b'])).body)).toEqual([
      null,
      [{ budget: 'seo', window: 'month', short: 30 }],
    ])
    const full = [{ budget: 'seo', window: 'month', short: 40 }]
    expect(lackedBy((await asked('fit', ['c', 'd'])).body)).toEqual([full, full])
    const waiting = await asked('ask', ['e', 'f'])
    expect([waiting.status, lackedBy(waiting.body)]).toEqual([201, [full, full]])
    expect(await product.figures('seo')).toMatchObject({ available: -190, spent: 240, granted: 0 })
  })

  test('an observed budget still refuses by its other rules', async () => {
    const { run, ...product } = await withObserved({ limit: 100, above: 400, ...memory() })
    const rules = { parent: 'acme', limits: month(10), enforce: false }
    await product.call('PUT', '/budgets/seo', { body: { ...rules, perUpdate: 30 } })
    expect((await run('a')).body.type).toBe('/problems/over-update-limit')
    await product.call('PUT', '/budgets/seo', { body: { ...rules, kinds: ['keyword-difficulty'] } })
    expect((await run('b')).body.type).toBe('/problems/kind-not-allowed')
    await product.call('PUT', '/budgets/seo', { body: { ...rules, approvalAbove: 30 } })
    const { body } = await run('c')
    const [{ id, state, history }] = body.updates
    expect([state, history[0].note]).toEqual([
      'awaiting-approval',
      'it needs 40 units, and seo wants approval above 30',
    ])
    const approver = product.signed({ sub: 'mia', scope: 'read approve', budgets: '*' })
    const approved = (await product.call('POST', `/updates/${id}/approve`, { token: approver })).body
    expect([approved.state, approved.wouldHaveRefused]).toEqual([
      'settled',
      [{ budget: 'seo', window: 'month', short: 30 }],
    ])
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a wild job' } })
    expect((await run('d')).body.type).toBe('/problems/budget-frozen')
  })

  test('an observed budget refuses at once when its limits are enforced, however far they are exceeded', async () => {
    const { run, ...product } = await withObserved({ limit: 50, above: 400, ...memory() })
    for (const project of ['a', 'b', 'c']) expect((await run(project)).status).toBe(201)
    const limits = { parent: 'acme', limits: month(50), thresholds: [80] }
    await product.call('PUT', '/budgets/seo', { body: { ...limits, enforce: true } })
    const { status, body } = await run('d')
    expect([status, body.detail, body.updates[0].wouldHaveRefused]).toEqual([
      402,
      'seo is 70 over its 50 units this month; resets 1 Dec 2026 00:00 UTC; ask for more before trying again.',
      undefined,
    ])
    const seo = (await product.call('GET', '/budgets/seo')).body
    expect([seo.enforce, seo.status]).toEqual([undefined, 'exhausted'])
    expect(await product.audit()).toBe(true)
    await product.call('POST', '/budgets/seo/entries', { body: { type: 'grant', units: 110, reason: 'the rest' } })
    expect((await run('d', { force: true, reason: 'again' })).status).toBe(201)
    expect(await product.figures('seo')).toMatchObject({ available: 0, granted: 110, spent: 160 })
    expect(await product.audit()).toBe(true)
  })

  test('a file of budgets switches a budget between observed and enforced, and without the member changes nothing', async () => {
    const product = await startProduct(memory())
    const apply = async (row: object) => {
      const { body } = await product.call('PUT', '/budgets', { body: { budgets: [{ name: 'seo', ...row }] } })
      return body.differences
    }
    await apply({ limits: month(5), enforce: false })
    expect((await product.call('GET', '/budgets/seo')).body.enforce).toBe(false)
    expect(await apply({ perUpdate: 4, enforce: false })).toMatchObject([{ members: [{ member: 'perUpdate' }] }])
    expect((await product.call('GET', '/budgets/seo')).body.enforce).toBe(false)
    expect(await apply({ enforce: true })).toEqual([
      { budget: 'seo', isNew: false, members: [{ member: 'enforce', from: false, to: null }] },
    ])
    const { body } = await product.call('GET', '/budgets/seo/entries')
    expect(body.entries[0].changed[0].members).toEqual([{ member: 'enforce', from: false, to: null }])
  })

  test('a queued update follows the budget’s present mode, observed or enforced', async () => {
    const { run, ...product } = await withObserved({ limit: 50, above: 400, store: createMemoryStore(), stream: true })
    const later = { headers: { ...json, prefer: 'respond-async' } }
    const body = { kind: 'ranking', project: 'a', budget: 'seo' }
    const queued = (await product.update(body, later)).body.updates[0]
    expect([queued.state, queued.wouldHaveRefused]).toEqual(['requested', undefined])
    await product.call('PUT', '/budgets/seo', { body: { parent: 'acme', limits: month(25), enforce: false } })
    await product.deliver()
    const begun = (await product.call('GET', `/updates/${queued.id}`)).body
    expect([begun.state, begun.wouldHaveRefused]).toEqual(['settled', [{ budget: 'seo', window: 'month', short: 15 }]])
  })
})
