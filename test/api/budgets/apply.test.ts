import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, test } from 'vitest'
import { bookKey } from '../../../shared/ledger/book/book-item.ts'
import type { Key, Store } from '../../../shared/ledger/store/store.ts'
import { definitionsKey } from '../../../shared/ledger/store/stored.ts'
import { updateKey } from '../../../shared/ledger/updates/update-keys.ts'
import { workKey } from '../../../shared/ledger/updates/work.ts'
import { type Product, startProduct } from '../../support/product.ts'
import { itemSize } from '../../support/store/item-size.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { createStore } from '../../support/store/stores.ts'

const startSmall = () => startProduct({ store: createMemoryStore() })
const month = (units: number, day?: number) => [
  { window: 'month', units },
  ...(day === undefined ? [] : [{ window: 'day', units: day }]),
]

interface Applied {
  readonly budgets: readonly object[]
  readonly reason?: string
}

const apply = (product: Product, body: Applied, how: { dry?: boolean; etag?: string } = {}) =>
  product.call('PUT', `/budgets${how.dry ? '?dry-run=true' : ''}`, {
    body,
    headers: how.etag === undefined ? {} : { 'if-match': how.etag },
  })

const etagOf = async (product: Product) => (await product.call('GET', '/budgets')).headers.get('etag') ?? ''

const difference = (budget: string, isNew: boolean, ...members: (readonly [string, from: unknown, to: unknown])[]) => ({
  budget,
  isNew,
  members: members.map(([member, from, to]) => ({ member, from, to })),
})

/** Sixty clients with five projects each. */
const sixty = (units: (index: number) => number, day = 200) =>
  Array.from({ length: 60 }, (_, index) => ({
    name: `client-${String(index).padStart(2, '0')}`,
    limits: month(units(index), day),
    projects: Array.from({ length: 5 }, (_, of) => ({ name: `site-${index}-${of}.example`, id: `${index * 5 + of}` })),
  }))

describe('PUT /budgets', () => {
  test('a new budget whose name is one slip from another budget is remarked, and another number is no slip', async () => {
    const product = await startSmall()
    for (const name of ['client-27', 'globex'])
      await product.call('PUT', `/budgets/${name}`, { body: { limits: month(100) } })
    const budgets = ['client-2', 'client-28', 'globx', 'gobelx', 'initech'].map((name) => ({ name, limits: month(10) }))
    const note =
      'Check the names of new budgets that resemble other budgets: client-2 (like client-27) and globx (like globex).'
    for (const query of ['?dry-run=true', ''])
      expect((await product.call('PUT', `/budgets${query}`, { body: { budgets } })).body.notes).toEqual([note])
    const again = budgets.map((budget) => ({ ...budget, limits: month(20) }))
    expect((await apply(product, { budgets: again })).body.notes).toEqual([])
  })

  test('PUT /budgets creates and changes many budgets as one revision and answers the difference', async () => {
    const product = await startSmall()
    await product.call('PUT', '/budgets/acme', { body: { limits: month(100), perUpdate: 50, approvers: ['bob'] } })
    await product.call('PUT', '/budgets/same', { body: { limits: month(7, 3), projects: [{ name: 'x' }] } })
    const before = Number((await etagOf(product)).replaceAll('"', ''))
    const { status, headers, body } = await apply(product, {
      budgets: [
        { name: 'blog', parent: 'agency', limits: month(10) },
        { name: 'agency', limits: month(500), projects: [{ name: 'a', id: '1' }] },
        { name: 'acme', limits: month(120), parent: 'agency' },
        { name: 'same', limits: [...month(7, 3)].reverse(), projects: [{ name: 'x' }] },
        { name: 'account', limits: month(60_000) },
      ],
      reason: 'contracts of December',
    })
    expect(status).toBe(200)
    expect(headers.get('etag')).toBe(`"${before + 1}"`)
    expect(body).toEqual({
      revision: before + 1,
      dryRun: false,
      notes: [],
      differences: [
        difference('blog', true, ['parent', null, 'agency'], ['limits', null, month(10)]),
        difference('agency', true, ['limits', null, month(500)], ['projects', null, [{ name: 'a', id: '1' }]]),
        difference('acme', false, ['parent', 'account', 'agency'], ['limits', month(100), month(120)]),
        difference('account', false, ['limits', month(50_000), month(60_000)]),
      ],
    })
    expect((await product.call('GET', '/budgets/acme')).body).toMatchObject({
      parent: 'agency',
      limits: month(120),
      perUpdate: 50,
      approvers: ['bob'],
    })
    expect(await product.figures('acme')).toMatchObject({ limit: 120, available: 120 })
    const { body: listed } = await product.call('GET', '/budgets/blog/entries')
    expect(listed.entries).toMatchObject([{ type: 'limit', by: 'ada', reason: 'contracts of December' }])
    expect(await product.audit()).toBe(true)
  })

  test('PUT /budgets with the same rows changes nothing, keeps the revision and deletes nothing', async () => {
    const product = await startSmall()
    const budgets = [{ name: 'acme', limits: month(10), thresholds: [50], kinds: ['ranking'] }]
    expect((await apply(product, { budgets })).body.differences).toHaveLength(1)
    await product.call('POST', '/budgets/acme/freeze', { body: { reason: 'stop' } })
    const etag = await etagOf(product)
    const again = await apply(product, { budgets })
    expect([again.status, again.body.differences, again.headers.get('etag')]).toEqual([200, [], etag])
    await apply(product, { budgets: [{ name: 'globex', limits: month(1) }] })
    expect((await product.call('GET', '/budgets/acme')).body).toMatchObject({ frozen: { reason: 'stop' } })
    const { body } = await product.call('GET', '/budgets/globex/entries')
    expect(body.entries).toMatchObject([{ reason: '1 budget from a file' }])
    await apply(product, { budgets: ['a', 'b'].map((name) => ({ name, limits: month(1) })) })
    const { body: two } = await product.call('GET', '/budgets/a/entries')
    expect(two.entries).toMatchObject([{ reason: '2 budgets from a file' }])
  })

  test('PUT /budgets?dry-run shows the difference and changes nothing', async () => {
    const product = await startSmall()
    const etag = await etagOf(product)
    const shown = await apply(product, { budgets: [{ name: 'acme', limits: month(10) }] }, { dry: true, etag })
    expect([shown.status, shown.headers.get('etag')]).toEqual([200, etag])
    expect(shown.body).toMatchObject({ dryRun: true, differences: [{ budget: 'acme', isNew: true }] })
    expect(await etagOf(product)).toBe(etag)
    expect((await product.call('GET', '/budgets/acme')).status).toBe(404)
    const faulty = await apply(product, { budgets: [{ name: 'b', parent: 'c', limits: month(1) }] }, { dry: true })
    expect([faulty.status, faulty.body.detail]).toEqual([400, 'there is no budget c; create it first.'])
    const bare = await apply(product, { budgets: [{ name: 'b' }] }, { dry: true })
    expect([bare.status, bare.body.detail]).toEqual([400, 'the budget b is new, so it needs limits.'])
  })

  test('PUT /budgets answers 412 if the definitions changed since If-Match, dry run or not', async () => {
    const product = await startSmall()
    const etag = await etagOf(product)
    const budgets = [{ name: 'acme', limits: month(10) }]
    expect((await apply(product, { budgets }, { etag })).status).toBe(200)
    for (const dry of [true, false]) {
      const stale = await apply(product, { budgets }, { etag, dry })
      expect([stale.status, stale.body.type]).toEqual([412, '/problems/precondition-failed'])
    }
    const two = await etagOf(product)
    const both = await Promise.all(
      [1, 2].map((units) => apply(product, { budgets: [{ name: 'acme', limits: month(units) }] }, { etag: two })),
    )
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 412])
    // `*` matches any revision, as long as there is one.
    for (const dry of [true, false]) expect((await apply(product, { budgets }, { etag: '*', dry })).status).toBe(200)
  })

  test('PUT /budgets ignores the order of rows and members but not their figures', async () => {
    const { guard, call } = await startSmall()
    const budget = { limits: month(9, 3), projects: [{ name: 'x', id: '1' }], thresholds: [50, 90], approvers: ['bob'] }
    await call('PUT', '/budgets/acme', { body: budget })
    const { revision } = (await guard.ledger.view()).definitions
    const turned = {
      limits: [{ units: 3, window: 'day' } as const, { units: 9, window: 'month' } as const],
      projects: [{ id: '1', name: 'x' }],
      thresholds: [90, 50],
      approvers: ['bob'],
    }
    const other = { thresholds: [50, 80], approvers: ['eve'], projects: [{ name: 'x', id: '2' }] }
    for (const dryRun of [true, false]) {
      const apply = (change: object) => guard.applyBudgets([{ name: 'acme', ...change }], { caller: 'ada' }, { dryRun })
      expect(await apply(turned)).toEqual({ kind: 'applied', revision, differences: [], notes: [] })
      expect(await apply(other)).toEqual({
        kind: 'applied',
        revision: dryRun ? revision : revision + 1,
        notes: [],
        differences: [
          difference(
            'acme',
            false,
            ['thresholds', [50, 90], [50, 80]],
            ['approvers', ['bob'], ['eve']],
            ['projects', [{ name: 'x', id: '1' }], [{ name: 'x', id: '2' }]],
          ),
        ],
      })
    }
  })
})

describe('sixty budgets and 300 projects', () => {
  test('PUT /budgets applied twice shows no difference, also with the maximum number of budgets', async () => {
    const product = await startProduct()
    await product.update({ kind: 'ranking', project: 'first' })
    const made = await apply(product, { budgets: sixty(() => 1_000) })
    expect(made.body.differences).toHaveLength(60)
    expect((await apply(product, { budgets: sixty(() => 1_000) })).body.differences).toEqual([])
    for (const index of [0, 31, 59]) {
      expect((await product.update({ kind: 'ranking', project: `site-${index}-3.example` })).status).toBe(201)
    }
    const changed = sixty((index) => 1_000 + index, 150)
    const { body } = await apply(product, { budgets: changed })
    expect(body.differences).toHaveLength(60)
    expect((await apply(product, { budgets: changed })).body.differences).toEqual([])
    expect(await product.figures('client-31')).toEqual({
      limit: 1_031,
      granted: 0,
      available: 991,
      held: 0,
      inDoubt: 0,
      spent: 40,
    })
    expect(await product.figures('client-31', 'day')).toMatchObject({ limit: 150, available: 110 })
    expect(await product.audit()).toBe(true)
    await staysSmall(product)

    const many = Array.from({ length: 400 }, (_, index) => ({ name: `more-${index}`, limits: month(1) }))
    expect((await apply(product, { budgets: many })).status).toBe(200)
    const raised = many.map((each) => ({ ...each, limits: month(2) }))
    expect((await apply(product, { budgets: raised })).body.differences).toHaveLength(400)
    expect(await product.figures('more-399')).toMatchObject({ limit: 2, available: 2 })
    expect(await product.figures('client-31')).toMatchObject({ available: 991, spent: 40 })
    expect(await product.audit()).toBe(true)
  })

  test.each([
    ['months and days: set as a whole', (round: number) => sixty(() => 1_000 + round, 300 + round)],
    ['months: added to', (round: number) => sixty(() => 1_000 + round, 300)],
  ])('PUT /budgets keeps books exact while updates run (%s)', async (_how, budgets) => {
    const product = await startProduct({ store: await createStore(), stream: false })
    await apply(product, { budgets: budgets(0) })
    let isOver = false
    const updates = async (worker: number) => {
      const states: number[] = []
      for (let index = 0; !isOver; index++) {
        const project = `p-${worker}-${index}`
        const budget = `client-${String((worker * 13 + index) % 60).padStart(2, '0')}`
        states.push((await product.update({ kind: 'ranking', project, budget })).status)
      }
      return states
    }
    const workers = [0, 1, 2].map(updates)
    const applied: number[] = []
    for (let round = 1; round <= 4; round++) applied.push((await apply(product, { budgets: budgets(round) })).status)
    isOver = true
    const ran = (await Promise.all(workers)).flat()
    expect(applied).toEqual([200, 200, 200, 200])
    expect(new Set(ran)).toEqual(new Set([201]))
    expect(await product.figures()).toMatchObject({ spent: ran.length * 40, held: 0 })
    expect((await product.figures('client-00')).limit).toBe(1_004)
    expect(await product.audit()).toBe(true)
  })
})

/** The sizes are in test/bench/results.md, section "Growth". */
async function staysSmall({ store, call }: Product): Promise<void> {
  const { id, kind, project } = (await call('GET', '/updates?project=site-31-3.example')).body.updates[0]
  const sizes = {
    definitions: await sizeIn(store, definitionsKey),
    book: await sizeIn(store, bookKey('month:2026-11-01')),
    'settled record': await sizeIn(store, updateKey(id)),
    work: await sizeIn(store, workKey(kind, project)),
  }
  const writeUnits = (bytes: number) => 2 * Math.ceil(bytes / 1024)
  const closed = writeUnits(sizes.book) + writeUnits(sizes['settled record'])
  const units = closed + writeUnits(sizes.work) + closed
  expect(sizes.book).toBeLessThan(8_192)
  expect(units).toBeLessThanOrEqual(36)
}

async function sizeIn(store: Store, key: Key): Promise<number> {
  const [item] = await store.get([key])
  return itemSize(marshall(item, { removeUndefinedValues: true }))
}
