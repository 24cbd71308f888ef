import { describe, expect, test } from 'vitest'
import { hours, minutes } from '../../support/clock.ts'
import { type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// The next stop of a budget or a caller as programs read it. The sentences are in next-stop.test.ts of the guard.

const limits = (units: number, window = 'month') => ({ limits: [{ window, units }] })

/** The budget globex below clients lists initech, which runs for 40 units, and big, which is refused. */
async function start() {
  const product = await startProduct({ store: createMemoryStore(), stream: false, units: { big: 640 } })
  const globex = { parent: 'clients', ...limits(300, 'day'), projects: [{ name: 'initech' }, { name: 'big' }] }
  await product.call('PUT', '/budgets/clients', { body: limits(2_000) })
  await product.call('PUT', '/budgets/globex', { body: globex })
  await product.call('PUT', '/callers/bob', { body: { ...limits(500), person: 'robert' } })
  const token = product.signed({ sub: 'bob', scope: 'run', budgets: '*', exp: product.inDays(30) })
  const ask = (project: string) => product.update({ kind: 'ranking', project }, { token })
  expect((await ask('initech')).status).toBe(201)
  product.clock.advance(minutes(2))
  expect((await ask('big')).body.type).toBe('/problems/over-budget')
  product.clock.advance(minutes(2))
  return { product, ask }
}

const nextOf = async ({ call }: Product, path: string) => (await call('GET', path)).body.next

async function sentencesIn(product: Product): Promise<readonly string[]> {
  const { budgets } = (await product.call('GET', '/budgets')).body
  return budgets.map(({ name, next }: { name: string; next: { sentence: string } }) => `${name}: ${next.sentence}`)
}

const refused = "Last refused on 20 Nov 2026 10:02 UTC: big needed 640, globex's day had 260."

describe('the next stop of a budget', () => {
  test('GET /budgets shows the next stop with the last refusal, whether or not a sweep has counted it', async () => {
    const { product } = await start()
    const before = await sentencesIn(product)
    expect(before).toEqual([
      `account: Next stop: account's month, 49,960 units away (1,249 updates at the last price). ${refused}`,
      `clients: Next stop: clients' month, 1,960 units away (49 updates at the last price). ${refused}`,
      `globex: Next stop: globex's day, 260 units away (6 updates at the last price). ${refused}`,
    ])
    await product.triggers.sweep(product.endsAt())
    expect(await sentencesIn(product)).toEqual(before)
    product.clock.advance(hours(1))
    await product.triggers.sweep(product.endsAt())
    expect(await sentencesIn(product)).toEqual(before)
    expect(await nextOf(product, '/budgets/globex')).toEqual({
      kind: 'limit',
      budget: 'globex',
      window: 'day',
      units: 260,
      updates: 6,
      price: 40,
      lastRefusedAt: '2026-11-20T10:02:00.000Z',
      sentence: before[2]?.slice('globex: '.length),
    })
  })

  test('the next stop names the latest refusal, also if units were not its reason', async () => {
    const { product, ask } = await start()
    await product.triggers.sweep(product.endsAt())
    const body = { parent: 'clients', projects: [{ name: 'initech' }, { name: 'big' }] }
    for (const [more, why] of [
      [{ ...limits(9_000), perUpdate: 500 }, 'big needed 640, globex allows at most 500 for one update'],
      [{ ...limits(9_000), kinds: [] }, 'big, since globex does not allow that kind of update'],
    ] as const) {
      product.clock.advance(minutes(1))
      await product.call('PUT', '/budgets/globex', { body: { ...body, ...more } })
      await ask('big')
      for (const budget of ['globex', 'account']) {
        expect((await nextOf(product, `/budgets/${budget}`)).sentence).toMatch(
          new RegExp(`Last refused on .*: ${why}\\.$`),
        )
      }
    }
    product.clock.advance(minutes(1))
    await product.call('PUT', '/budgets/globex', { body: { ...body, ...limits(9_000) } })
    await product.call('POST', '/budgets/clients/freeze', { body: { reason: 'a test' } })
    await ask('big')
    await product.triggers.sweep(product.endsAt())
    expect((await nextOf(product, '/budgets/globex')).sentence).toBe(
      'Stopped now: clients was frozen by ada on 20 Nov 2026 10:07 UTC: a test. Last refused on 20 Nov 2026 10:07 UTC: big, since clients was frozen.',
    )
  })

  test('the next stop shows a reader of one budget no other budget, whether or not a sweep has counted the refusal', async () => {
    const { product, ask } = await start()
    await product.call('PUT', '/callers/mia', { body: { readsBudgets: ['globex'] } })
    const token = product.signed({ sub: 'mia', scope: 'read', exp: product.inDays(30) })
    const seen = async () => {
      const { body } = await product.call('GET', '/budgets', { token })
      return body.budgets.map(({ next }: { next: { sentence: string } }) => next.sentence)
    }
    const globex = { parent: 'clients', ...limits(9_000), projects: [{ name: 'initech' }, { name: 'big' }] }
    await product.call('PUT', '/budgets/globex', { body: globex })
    await product.call('PUT', '/budgets/clients', { body: { ...limits(2_000), perUpdate: 639 } })
    await ask('big')
    const why = (had: string) => [
      `Next stop: globex's month, 8,960 units away (224 updates at the last price). Budgets above may stop it earlier. Last refused on 20 Nov 2026 ${had}.`,
    ]
    expect(await seen()).toEqual(why('10:04 UTC: big needed 640, a budget above allows less for one update'))
    product.clock.advance(minutes(2))
    await product.call('PUT', '/budgets/clients', { body: limits(679) })
    await ask('big')
    const short = why('10:06 UTC: big needed 640, a budget above had too little')
    expect(await seen()).toEqual(short)
    await product.triggers.sweep(product.endsAt())
    expect(await seen()).toEqual(short)
    product.clock.advance(hours(1))
    await product.triggers.sweep(product.endsAt())
    expect(await seen()).toEqual(short)
  })

  test('the CSV of all budgets has the next stop of each', async () => {
    const { product } = await start()
    const { headers, text } = await product.call('GET', '/budgets', { headers: { accept: 'text/csv' } })
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const [names, , , globex] = text.split('\r\n')
    expect(names).toBe('name,parent,status,left,nextKind,nextBudget,nextUnits,nextUpdates,next')
    expect(globex).toBe(
      `globex,clients,on-track,,limit,globex,260,6,"Next stop: globex's day, 260 units away (6 updates at the last price). ${refused}"`,
    )
  })

  test('an ended month and the answer to a change have no next stop', async () => {
    const { product } = await start()
    product.clock.set('2026-12-01T10:00:00Z')
    expect(await nextOf(product, '/budgets/globex?window=month:2026-11-01')).toBeUndefined()
    expect((await product.call('PUT', '/budgets/clients', { body: limits(2_000) })).body.next).toBeUndefined()
    expect(await nextOf(product, '/budgets/globex')).toMatchObject({ units: 300 })
  })
})

test('GET /callers shows a caller’s next stop with their last price and refusal', async () => {
  const { product } = await start()
  await product.triggers.sweep(product.endsAt())
  await product.call('PUT', '/callers/*', { body: { perUpdate: 60 } })
  const { callers } = (await product.call('GET', '/callers')).body
  expect(callers.map(({ next }: { next: { sentence: string } }) => next.sentence)).toEqual([
    'No limit stops this; the entry * allows at most 60 units for one update.',
    `Next stop: robert's month, 460 units away (11 updates at the last price). ${refused}`,
  ])
  expect(await nextOf(product, '/callers/bob')).toEqual(callers[1].next)
})
