import { describe, expect, test } from 'vitest'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { type Called, type Product, startProduct } from '../../support/product.ts'
import { gate } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { createStore } from '../../support/store/stores.ts'

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

const countBy = (answers: readonly Called[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** A busy machine is slow with hundreds of simultaneous calls, and these tests are not about time. */
const patient = { env: { SERVICE_TIMEOUT_MS: '60000' } }

/** Sixty simultaneous requests for different projects, on a budget with room for ten. */
async function flood(product: Product, name = 'flood') {
  return Promise.all(
    many(60, (index) =>
      product.update(
        { kind: 'ranking', project: `${name}-${index}`, budget: 'ten' },
        { headers: { 'idempotency-key': `${name}-${index}` } },
      ),
    ),
  )
}

async function roomForTen(store?: Store) {
  const product = await startProduct({ ...patient, store: store ?? (await createStore()), stream: false })
  await product.call('PUT', '/budgets/ten', { body: { limits: [{ window: 'month', units: 400 }] } })
  return product
}

describe('sixty parallel requests against a budget with room for ten', () => {
  test('a flood on a fresh ledger runs ten updates, refuses 50 with the figures, and its replays run nothing', async () => {
    const product = await roomForTen()
    const answers = await flood(product)
    expect(countBy(answers)).toEqual({ 201: 10, 402: 50 })
    const [refused] = answers.filter(({ status }) => status === 402)
    expect(refused?.body).toMatchObject({
      type: '/problems/over-budget',
      budgets: [{ budget: 'ten', window: 'month', limit: 400 }],
    })
    expect(product.seen('run')).toHaveLength(10)
    const spent = { limit: 400, granted: 0, available: 0, held: 0, inDoubt: 0, spent: 400 }
    expect(await product.figures('ten')).toEqual(spent)
    expect(await product.figures('account')).toMatchObject({ spent: 400, held: 0, inDoubt: 0, available: 49600 })
    expect(await product.audit()).toBe(true)

    const again = await flood(product)
    expect(again.map(({ status }) => status)).toEqual(answers.map(({ status }) => status))
    expect(again.every(({ headers }) => headers.get('idempotency-replayed') === 'true')).toBe(true)
    expect(product.seen('run')).toHaveLength(10)
    expect(await product.figures('ten')).toEqual(spent)
  })

  test('a flood of the first requests of a month runs as many updates as fit', async () => {
    const product = await roomForTen(createMemoryStore())
    expect(countBy(await flood(product, 'november'))).toEqual({ 201: 10, 402: 50 })
    product.clock.set('2026-12-01T00:00:00Z')
    expect(countBy(await flood(product, 'december'))).toEqual({ 201: 10, 402: 50 })
    expect(product.seen('run')).toHaveLength(20)
    expect(await product.figures('ten')).toMatchObject({ available: 0, held: 0, inDoubt: 0, spent: 400 })
    expect(await product.audit()).toBe(true)
  })

  test('a flood of the first requests of a day, in two processes, runs as many updates as fit', async () => {
    const product = await startProduct({ ...patient, store: createMemoryStore(), stream: false })
    const limits = [
      { window: 'month', units: 10_000 },
      { window: 'day', units: 400 },
    ]
    await product.call('PUT', '/budgets/ten', { body: { limits } })
    expect(countBy(await flood(product, 'friday'))).toEqual({ 201: 10, 402: 50 })
    product.clock.set('2026-11-21T00:00:00Z')
    const other = product.startProcess()
    const answers = await Promise.all(
      many(60, (index) =>
        product.update(
          { kind: 'ranking', project: `saturday-${index}`, budget: 'ten' },
          index % 2 === 0 ? {} : { process: other },
        ),
      ),
    )
    expect(countBy(answers)).toEqual({ 201: 10, 402: 50 })
    expect(product.seen('run')).toHaveLength(20)
    expect(await product.figures('ten', 'day')).toMatchObject({ available: 0, held: 0, inDoubt: 0, spent: 400 })
    expect(await product.figures('ten', 'month')).toMatchObject({ available: 9200, spent: 800 })
    expect(await product.audit()).toBe(true)
  })
})

describe('twenty parallel requests without a key for one project', () => {
  const ask = (product: Product, count: number) =>
    Promise.all(many(count, () => product.update({ kind: 'ranking', project: 'acme.example' })))

  test('a flood for one project makes one run, and the other requests get 409 or the run’s answer without a call', async () => {
    const product = await startProduct(patient)
    const answers = await ask(product, 20)
    const counts = countBy(answers)
    expect(counts[201]).toBe(1)
    expect((counts[409] ?? 0) + (counts[200] ?? 0)).toBe(19)
    expect(product.seen('run')).toHaveLength(1)
    const ran = answers.find(({ status }) => status === 201)?.body.updates[0].id
    for (const { status, body } of answers) {
      if (status === 409) expect(body).toMatchObject({ type: '/problems/duplicate-work', update: ran })
      if (status === 200) expect(body.updates).toMatchObject([{ id: ran, state: 'settled' }])
    }

    const calls = product.service.requests.length
    const later = await ask(product, 10)
    expect(countBy(later)).toEqual({ 200: 10 })
    expect(later[0]?.headers.get('unit-guard-replayed')).toBe(ran)
    expect(product.service.requests).toHaveLength(calls)
    expect(await product.figures()).toMatchObject({ spent: 40, held: 0 })
    expect(await product.audit()).toBe(true)
  })

  test('a flood for one project at the turn of a month makes one run', async () => {
    const { opened, open } = gate()
    const product = await startProduct({
      store: createMemoryStore(),
      stream: false,
      service: ({ url }) => (url.endsWith('/run') ? { once: opened, body: '{}' } : undefined),
    })
    product.clock.set('2026-11-30T23:59:59.990Z')
    const before = ask(product, 20)
    while (product.seen('run').length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    product.clock.set('2026-12-01T00:00:00.010Z')
    const meanwhile = await ask(product, 20)
    expect(countBy(meanwhile)).toEqual({ 409: 20 })
    open()
    const answers = [...meanwhile, ...(await before), ...(await ask(product, 5))]
    expect(product.seen('run')).toHaveLength(1)
    expect(countBy(answers)[201]).toBe(1)
    expect(answers.every(({ status }) => [200, 201, 409].includes(status))).toBe(true)
    const { body } = await product.call('GET', '/updates?state=settled')
    expect(body.updates).toMatchObject([{ window: 'month:2026-11-01', units: { charged: 40 } }])
    expect(await product.figures()).toMatchObject({ spent: 0, held: 0 })
    expect(await product.audit()).toBe(true)
  })
})

describe('a change in the middle of a flood', () => {
  const stop = async (how: (product: Product) => Promise<Called>) => {
    const product = await startProduct({ ...patient, store: await createStore(), stream: false })
    await product.call('PUT', '/budgets/ten', { body: { limits: [{ window: 'month', units: 100_000 }] } })
    const answers = many(60, (index) => product.update({ kind: 'ranking', project: `p-${index}`, budget: 'ten' }))
    while (product.seen('run').length < 20) await new Promise((resolve) => setTimeout(resolve, 2))
    const stopped = await how(product)
    const admitted = new Set(
      (await product.call('GET', '/updates?limit=200')).body.updates
        .filter((update: { units: { held: number } }) => update.units.held > 0)
        .map(({ id }: { id: string }) => id),
    )
    const after = (await Promise.all(answers)).flatMap(({ body }) => body.updates)
    return { product, stopped, admitted, after }
  }

  const lowered = { limits: [{ window: 'month', units: 40 }] }
  test.each<[string, (product: Product) => Promise<Called>, string]>([
    ['a lowered limit', ({ call }) => call('PUT', '/budgets/ten', { body: lowered }), 'over-budget'],
    [
      'a frozen budget',
      ({ call }) => call('POST', '/budgets/ten/freeze', { body: { reason: 'gone wild' } }),
      'budget-frozen',
    ],
  ])('after the answer %s admits no update against it', async (_what, how, slug) => {
    const { product, stopped, admitted, after } = await stop(how)
    expect(stopped.status).toBe(200)
    for (const update of after) if (update.units.held > 0) expect(admitted).toContain(update.id)
    const { id } = after.find(({ state }) => state === 'refused')
    expect((await product.call('GET', `/updates/${id}`)).body.problem).toMatchObject({ type: `/problems/${slug}` })
    expect(product.seen('run').length).toBe(admitted.size)
    expect(await product.figures('ten')).toMatchObject({ spent: admitted.size * 40 })
    expect(await product.audit()).toBe(true)
  })
})
