import { describe, expect, test } from 'vitest'
import { createRepeats } from '../../../shared/guard/update/repeating-callers.ts'
import { days, hours, minutes } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

type Options = NonNullable<Parameters<typeof startProduct>[0]>

async function start(options: Options = {}) {
  const product = await startProduct({ store: createMemoryStore(), slack: true, ...options })
  await product.call('PUT', '/budgets/acme', { body: { limits: [{ window: 'month', units: 40_000 }] } })
  const tokenOf = (sub: string) =>
    product.signed({
      sub,
      scope: 'read run',
      budgets: '*',
      exp: Math.floor(product.clock.now() / 1000) + 90 * 24 * 3600,
    })
  const ask = (project: string, key?: string, sub = 'eve') =>
    product.update(
      { kind: 'ranking', project, budget: 'acme' },
      { token: tokenOf(sub), ...(key !== undefined && { headers: { 'idempotency-key': key } }) },
    )
  const told = async () => {
    await product.deliver()
    return product.slack.posted().map(({ text }) => text)
  }
  return { product, ask, told }
}

describe('a caller that repeats itself', () => {
  const looped =
    'eve repeated itself 50 times within ten minutes, the last time for a on acme. Nothing was spent on repeats.'

  test('a caller with 50 replays of a key within ten minutes is announced once', async () => {
    const { product, ask, told } = await start()
    for (let time = 0; time < 50; time++) expect((await ask('a', 'k')).status).toBe(201)
    // The first request was the update itself.
    expect(await told()).toEqual([])
    for (let time = 0; time < 10; time++) await ask('a', 'k')
    expect(await told()).toEqual([looped])
    product.clock.advance(hours(1))
    for (let time = 0; time < 50; time++) await ask('a', 'k')
    expect(await told()).toHaveLength(2)
  })

  test('refused duplicates count as repeats, but not slow repeats or repeats of other callers', async () => {
    const { product, ask, told } = await start()
    await ask('a')
    for (let time = 0; time < 40; time++) await ask('a')
    for (let time = 0; time < 20; time++) await ask('a', undefined, 'bob')
    expect(await told()).toEqual([])
    product.clock.advance(minutes(11))
    for (let time = 0; time < 49; time++) await ask('a')
    expect(await told()).toEqual([])
    await ask('a')
    expect(await told()).toEqual([looped])
  })

  test('two callers that repeat alternately are both announced', async () => {
    const { ask, told } = await start()
    for (let time = 0; time <= 50; time++) for (const sub of ['eve', 'bob']) await ask(sub, sub, sub)
    expect((await told()).map((text) => text.split(' ')[0])).toEqual(['eve', 'bob'])
  })

  test('duplicates of running or doubtful work count as repeats, but other refusals do not', async () => {
    const { product, ask, told } = await start({
      service: ({ url }) => (url.includes('/run') ? { status: 500 } : undefined),
    })
    await product.call('PUT', '/budgets/acme', { body: { limits: [{ window: 'month', units: 40 }] } })
    await ask('a')
    for (let time = 0; time < 60; time++) await ask('dear')
    expect((await told()).filter((text) => text.includes('repeated itself'))).toEqual([])
    for (let time = 0; time < 50; time++) await ask('a')
    expect((await told()).filter((text) => text.includes('repeated itself'))).toEqual([looped])
  })

  test('a thousand other callers do not hide a caller that repeats itself', async () => {
    const { product } = await start()
    const { guard, clock, services } = product
    const { note } = createRepeats({ ledger: guard.ledger, clock, log: services.log })
    const of = { id: 'upd_1', budget: 'acme', project: 'a' }
    const others = Array.from({ length: 999 }, (_, each) => `caller-${each}`)
    for (let time = 1; time < 50; time++) await note('eve', of)
    for (const caller of others) await note(caller, of)
    await note('eve', of)
    expect((await guard.ledger.announcements.open(10)).rows.map(({ about }) => about)).toMatchObject([
      { kind: 'repeats', caller: 'eve' },
    ])
  })

  test('a replay is answered even if the notice cannot be written', async () => {
    const store = createMemoryStore()
    let isDown = false
    const fails = { ...store, transact: (...of: Parameters<typeof store.transact>) => transact(...of) }
    const transact: typeof store.transact = (...of) => {
      if (isDown) throw new Error('the table does not answer')
      return store.transact(...of)
    }
    const { product, ask } = await start({ store: fails })
    await ask('a', 'k')
    isDown = true
    for (let time = 0; time < 51; time++) expect((await ask('a', 'k')).status).toBe(201)
    expect(product.logged.filter((line) => line.includes('repeats-not-told'))).toHaveLength(1)
  })
})

describe('a price that jumped', () => {
  test('a price that jumped is announced once, with the hold', async () => {
    const units = { a: 100 }
    const { product, ask, told } = await start({ units })
    await ask('a')
    product.clock.advance(days(1))
    units.a = 420
    const { body } = await ask('a')
    expect(body.updates[0].state).toBe('settled')
    expect(await told()).toEqual(['An update of a needs 420 units. The one before cost 100.'])
    product.clock.advance(days(1))
    await ask('a')
    await product.triggers.sweep(product.endsAt())
    expect(await told()).toHaveLength(1)
    expect(await product.audit()).toBe(true)
  })
})
