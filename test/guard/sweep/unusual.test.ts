import { describe, expect, test } from 'vitest'
import { minUnusual, priceBeforeJump, usualIfExceeded } from '../../../shared/guard/sweep/unusual.ts'
import { createRepeats } from '../../../shared/guard/update/repeats.ts'
import { createMemoryStore } from '../../../shared/ledger/store/memory-store.ts'
import { days, hours, minutes } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'

type Options = NonNullable<Parameters<typeof startProduct>[0]>

async function start(options: Options = {}) {
  const product = await startProduct({ store: createMemoryStore(), slack: true, ...options })
  await product.call('PUT', '/budgets/acme', { body: { limits: [{ window: 'month', units: 40_000 }] } })
  const tokenOf = (sub: string) =>
    product.signed({
      ...{ sub, scope: 'read run', budgets: '*', exp: Math.floor(product.clock.now() / 1000) + 90 * 24 * 3600 },
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

  test('50 replays of a key within ten minutes are told once', async () => {
    const { product, ask, told } = await start()
    for (let time = 0; time < 50; time++) expect((await ask('a', 'k')).status).toBe(201)
    // The first was the update itself.
    expect(await told()).toEqual([])
    for (let time = 0; time < 10; time++) await ask('a', 'k')
    expect(await told()).toEqual([looped])
    product.clock.advance(hours(1))
    for (let time = 0; time < 50; time++) await ask('a', 'k')
    expect(await told()).toHaveLength(2)
  })

  test('refused duplicates count, slow repeats and those of other callers do not', async () => {
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

  test('two callers that repeat themselves by turns are both told', async () => {
    const { ask, told } = await start()
    for (let time = 0; time <= 50; time++) for (const sub of ['eve', 'bob']) await ask(sub, sub, sub)
    expect((await told()).map((text) => text.split(' ')[0])).toEqual(['eve', 'bob'])
  })

  test('duplicates of what runs or is in doubt count, and other refusals do not', async () => {
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

  test('a thousand other callers do not hide it', async () => {
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

  test('a replay is answered although the notice cannot be written', async () => {
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
  test.each([
    [400, [100], 100],
    [250, [100], null],
    [299, [100], null],
    [300, [100], 100],
    [40, [10], null],
    [160, [10], 10],
    [900, [100, 400], null],
    [900, [], null],
  ])('%i units after %j: %s', (units, before, expected) => {
    expect(
      priceBeforeJump(
        units,
        before.map((each) => ({ units: each })),
      ),
    ).toBe(expected)
  })

  test('is told once, with the hold', async () => {
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

describe('an unusual day', () => {
  test('is told once for each budget, when the same weekday usually costs far less', async () => {
    const { product, ask, told } = await start({ units: { dear: 900 } })
    for (let week = 0; week < 5; week++) {
      await ask(`p-${week}`)
      product.clock.advance(days(1))
      await product.triggers.sweep(product.endsAt())
      product.clock.advance(days(6))
    }
    await ask('usual')
    await product.triggers.sweep(product.endsAt())
    expect(await told()).toEqual([])
    await ask('dear')
    await product.triggers.sweep(product.endsAt())
    await product.startProcess().triggers.sweep(product.endsAt())
    expect((await told()).toSorted()).toEqual([
      'account has used 940 units today. On a Friday it usually uses 40.',
      'acme has used 940 units today. On a Friday it usually uses 40.',
    ])
  })

  test('is not told without four weeks of history', async () => {
    const { product, ask, told } = await start({ units: { dear: 900 } })
    for (let week = 0; week < 3; week++) {
      await ask(`p-${week}`)
      product.clock.advance(days(1))
      await product.triggers.sweep(product.endsAt())
      product.clock.advance(days(6))
    }
    await ask('dear')
    await product.triggers.sweep(product.endsAt())
    expect(await told()).toEqual([])
  })
})

/** Chance with a seed (mulberry32). */
function chanceOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** What one budget charges on each of 84 days: plans on some weekdays, and people's updates, fewer at weekends. */
function daysOf(seed: number): readonly number[] {
  const chance = chanceOf(seed)
  const normal = () => Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance())
  const nightly = Math.round(chance() * 400)
  const weekly = { on: Math.floor(chance() * 7), units: Math.round(chance() * 800) }
  const asked = chance() * 8
  const price = 20 + chance() * 120
  return Array.from({ length: 84 }, (_, day) => {
    const weekday = day % 7
    const expected = asked * (weekday < 5 ? 1 : 0.2)
    const people = Array.from({ length: 40 }, () => (chance() < expected / 40 ? price * Math.exp(0.5 * normal()) : 0))
    const planned = nightly * (1 + 0.05 * normal()) + (weekday === weekly.on ? weekly.units : 0)
    return Math.round(Math.max(0, planned) + people.reduce((sum, units) => sum + units, 0))
  })
}

/** Days of four weeks, each compared with the eight weeks before. */
function alarmsOf(days: readonly number[], planted: (units: number) => number = (units) => units): number {
  return days.slice(56).filter((units, index) => {
    const before = Array.from({ length: 8 }, (_, week) => days[56 + index - 7 * (week + 1)] ?? 0)
    const used = planted(units)
    return used >= minUnusual && usualIfExceeded(used, before) !== null
  }).length
}

test('tells of 44 in 14,000 usual days, and of most days that cost four times as much', () => {
  const budgets = Array.from({ length: 500 }, (_, index) => daysOf(index + 1))
  const all = (planted?: (units: number) => number) => budgets.reduce((sum, days) => sum + alarmsOf(days, planted), 0)
  const found = {
    usual: all(),
    fourfold: all((units) => units * 4),
    plus1000: all((units) => units + 1_000),
    plus2000: all((units) => units + 2_000),
  }
  expect(found).toEqual({ usual: 44, fourfold: 10_850, plus1000: 9_197, plus2000: 12_829 })
})
