import { describe, expect, test } from 'vitest'
import { lastPrices } from '../../../shared/guard/plans/stored-price.ts'
import { parsePlans } from '../../../shared/guard/plans-file.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { createTestClock, hours, minutes } from '../../support/clock.ts'
import { startGuard } from '../../support/guard.ts'
import { type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

type Options = NonNullable<Parameters<typeof startProduct>[0]>

const night = { name: 'night', kind: 'ranking', projects: ['a', 'b'], schedule: 'cron(0 5 * * ? *)' }
const all = { projects: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }
const deep = { ...night, ...all, name: 'deep', kind: 'keyword-difficulty' }

async function startDigest(options: Options = {}) {
  const product: Product = await startProduct({ store: createMemoryStore(), slack: true, ...options })
  const digest = (process = product as Pick<Product, 'triggers'>) =>
    process.triggers.handle({ task: 'digest' }, product.endsAt())
  const digests = async () => {
    await product.deliver()
    return product.slack.posted().filter(({ text }) => /^\d{4}-\d\d-\d\d: /.test(text))
  }
  return { product, digest, digests, last: async () => (await digests()).at(-1) }
}

const quiet = (day: string) =>
  `${day}: nothing happened in 24 hours. No update spent units, none was refused, and none is in doubt.`

/** The text of a message's blocks without the marks of dates. */
const readIn = (message: { body: object } | undefined): string =>
  JSON.stringify(message?.body ?? {}).replace(/<!date\^[^|]*\|([^>]*)>/g, '$1')

describe('the digest', () => {
  test('the digest is announced once a day for any number of requests', async () => {
    const { product, digest, digests } = await startDigest()
    await Promise.all([digest(), digest(), digest(product.startProcess())])
    product.clock.advance(hours(3))
    await digest()
    expect((await digests()).map(({ text }) => text)).toEqual([quiet('2026-11-20')])
    product.clock.advance(hours(21))
    await digest()
    expect((await digests()).map(({ text }) => text)).toEqual([quiet('2026-11-20'), quiet('2026-11-21')])
  })

  test('the digest counts by the account’s own day', async () => {
    const env = { ACCOUNT_TIME_ZONE: 'Asia/Tokyo' }
    const { digest, last } = await startDigest({ env, clock: createTestClock('2026-11-20T15:00:00Z') })
    await digest()
    expect((await last())?.text).toBe(quiet('2026-11-21'))
  })

  test('the digest shows spending, refusals and doubts of 24 hours, and each budget with its month', async () => {
    const { product, digest, last } = await startDigest({
      units: { early: 7, dear: 600 },
      service: ({ url }) => (url.includes('/broken/run') ? { status: 503 } : undefined),
    })
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 500 }] } })
    const update = (project: string, more = {}) => product.update({ kind: 'ranking', project, ...more })
    await update('early')
    product.clock.advance(hours(25))
    await update('mine', { budget: 'seo' })
    await update('other')
    for (const budget of ['seo', 'seo', 'account']) await update('mine', { budget })
    await update('dear', { budget: 'seo' })
    await update('broken', { budget: 'seo' })
    product.clock.advance(minutes(1))
    await digest()
    const message = await last()
    expect(message?.text).toBe(
      '2026-11-21: 80 units spent in 24 hours by account and all below it. 4 updates refused, 1 in doubt.',
    )
    const read = readIn(message)
    expect(read).toContain('*account*: 80 in 24 hours')
    expect(read).toContain('49,873 of 50,000 left')
    expect(read).toContain('*seo*: 40 in 24 hours')
    expect(read).toContain('16 % of the month used, 420 of 500 left')
    expect(read).toContain('Still in doubt: did these run?')
    expect(read).toContain('`broken`')
    expect(await product.audit()).toBe(true)
  })

  test('the digest counts an approved update when it was spent, without older decisions', async () => {
    const { product } = await startDigest({ units: { dear: 640 } })
    const account = { limits: [{ window: 'month', units: 50_000 }], approvalAbove: 100 }
    await product.call('PUT', '/budgets/account', { body: account })
    const { body } = await product.update({ kind: 'ranking', project: 'dear' })
    const exp = Math.floor(product.clock.now() / 1000) + 3 * 86_400
    const token = product.signed({ sub: 'bob', scope: 'approve', exp })
    const digests: [number | undefined, boolean][] = []
    const look = async () => {
      const { budgets, nothingHappened } = await (await reportsOf(product.guard)).digest(product.clock.now())
      digests.push([budgets[0]?.spentToday, nothingHappened])
    }
    product.clock.advance(hours(20))
    await look()
    product.clock.advance(hours(3))
    expect((await product.call('POST', `/updates/${body.updates[0].id}/approve`, { token })).status).toBe(200)
    await product.deliver()
    product.clock.advance(hours(21))
    await look()
    product.clock.advance(hours(24))
    await look()
    expect(digests).toEqual([
      [0, false],
      [640, false],
      [0, true],
    ])
  })

  test('the digest forecasts with the prices of this night', async () => {
    const { product, digest, last } = await startDigest({ plans: [night], units: { a: 100, b: 50 } })
    await product.call('PUT', '/budgets/account', { body: { limits: [{ window: 'month', units: 1_000 }] } })
    await product.update({ kind: 'ranking', project: 'x' })
    await digest()
    // Ten mornings of 150 units are left. The seventh finds 60 of 960 units, which pay for b alone.
    const read = readIn(await last())
    expect(read).toContain(
      'plans need 1,500 units until the reset, 960 are left, so 540 are short from 27 Nov 2026 05:00',
    )
    expect(read).toContain('Used at the reset: 990 with plans only; too little history for a pace.')
  })

  test('the digest names prices that moved by more than a tenth in one night', async () => {
    const units = { a: 100, b: 100 }
    const { product, digest, digests, last } = await startDigest({ plans: [night], units })
    await digest()
    await digests()
    Object.assign(units, { a: 150, b: 110 })
    product.clock.advance(hours(24))
    await digest()
    const read = readIn(await last())
    expect(read).toContain('Prices that changed')
    expect(read).toContain('• `a` ranking: 100 → 150 units (+50 %)')
    expect(read).not.toContain('`b`')
    // No price has moved in the next night.
    product.clock.advance(hours(24))
    await digest()
    expect((await digests()).map(({ text }) => text)).toEqual([
      quiet('2026-11-20'),
      '2026-11-21: No units spent in 24 hours.',
      quiet('2026-11-22'),
    ])
  })

  test('the digest names each price of each kind that moved by more than a tenth of the earlier price', async () => {
    const { guard, clock } = await startGuard({
      parts: { plans: async () => parsePlans(JSON.stringify([{ ...night, ...all }, deep])) },
    })
    const prices = guard.ledger.item(lastPrices)
    const moves = { a: [100, 111], b: [100, 110], c: [100, 89], d: [100, 90], e: [0, 1], f: [1, 0], g: [10, 10] }
    const write = (at: number, which: 0 | 1) =>
      Promise.all(
        Object.entries(moves).flatMap(([project, units]) => [
          prices.write({ kind: 'ranking', project, units: toUnits(units[which] ?? 0), at }),
          prices.write({ kind: 'keyword-difficulty', project, units: toUnits(units[1 - which] ?? 0), at }),
        ]),
      )
    const from = clock.now()
    await write(from, 0)
    await write(from + hours(20), 1)
    clock.advance(hours(21))
    const movesAt = async (at: number) =>
      (await (await reportsOf(guard)).digest(at)).priceMoves.map(
        ({ kind, project, before, now }) => `${kind} ${project} ${before} ${now}`,
      )
    const expected = [
      ...['a 100 111', 'c 100 89', 'e 0 1', 'f 1 0'].map((move) => `ranking ${move}`),
      ...['c 89 100', 'd 90 100', 'e 1 0', 'f 0 1'].map((move) => `keyword-difficulty ${move}`),
    ]
    expect((await movesAt(clock.now())).toSorted()).toEqual(expected.toSorted())
    expect(await movesAt(from + hours(20) - 1)).toEqual([])
    clock.advance(hours(23))
    expect(await movesAt(clock.now())).toHaveLength(8)
    expect(await movesAt(clock.now() + 1)).toEqual([])
  })

  test('the digest names the same price moves if it is delivered twice, and asks the service once', async () => {
    const units = { a: 100, b: 100 }
    const { product, digest, last } = await startDigest({ plans: [night], units })
    await digest()
    Object.assign(units, { a: 150 })
    product.clock.advance(hours(24))
    await digest()
    product.clock.advance(minutes(2))
    await digest()
    expect(readIn(await last())).toContain('• `a` ranking: 100 → 150 units (+50 %)')
    expect(product.seen('estimate')).toHaveLength(4)
  })

  test('the digest covers its own day if it is sent late', async () => {
    const units = { a: 100, b: 100 }
    const { product, digest, digests } = await startDigest({ plans: [night], units })
    await digest()
    Object.assign(units, { a: 150 })
    product.clock.advance(hours(24))
    await digest()
    expect((await digests()).map(({ text }) => text)).toEqual([
      quiet('2026-11-20'),
      '2026-11-21: No units spent in 24 hours.',
    ])
  })

  test('the digest reads the prices of two plans with the same projects once, and spends nothing', async () => {
    const { product, digest } = await startDigest({
      plans: [night, { ...night, name: 'noon' }, { ...night, name: 'off', projects: ['c'], enabled: false }],
    })
    await digest()
    expect(product.seen('estimate').map(({ url }) => url)).toEqual([
      '/v3/on-demand/a/estimate',
      '/v3/on-demand/b/estimate',
    ])
    expect(product.seen('run')).toEqual([])
    expect(await product.figures()).toMatchObject({ available: 50_000, spent: 0 })
  })

  test('the digest says how many prices it read, and reads none twice in a night', async () => {
    const plan = { ...night, query: { device: 'mobile' } }
    const { product } = await startDigest({
      plans: [plan],
      service: ({ url }) => (url.includes('/b/') ? { status: 404 } : undefined),
    })
    const read = async (forMs = minutes(15)) => (await product.guard.jobs()).readPrices(product.clock.now() + forMs)
    // The longest time of an estimate, plus twelve seconds for the rest.
    expect(await read(32_000)).toEqual({ read: 0, failed: 2 })
    expect(product.seen('estimate')).toEqual([])
    expect(await read(32_001)).toEqual({ read: 1, failed: 1 })
    expect(product.seen('estimate').map(({ url }) => url)).toEqual([
      '/v3/on-demand/a/estimate?device=mobile',
      '/v3/on-demand/b/estimate?device=mobile',
    ])
    product.clock.advance(hours(12) - 1)
    expect(await read()).toEqual({ read: 0, failed: 1 })
    product.clock.advance(1)
    expect(await read()).toEqual({ read: 1, failed: 1 })
    const told = product.logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'prices')
    expect(told.map(({ read, failed }) => [read, failed])).toEqual([
      [0, 2],
      [1, 1],
      [0, 1],
      [1, 1],
    ])
  })

  test('the digest forecasts each budget separately', async () => {
    const { product } = await startDigest({ plans: [{ ...night, projects: ['a'], budget: 'seo' }], units: { a: 100 } })
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 250 }] } })
    await product.call('PUT', '/budgets/ads', { body: { limits: [{ window: 'month', units: 7 }] } })
    await (await product.guard.jobs()).readPrices(product.endsAt())
    expect((await (await reportsOf(product.guard)).digest(product.clock.now())).budgets).toMatchObject([
      {
        budget: 'seo',
        spentToday: 0,
        projected: 200,
        status: 'at-risk',
        reason: expect.stringContaining('23 Nov 2026 05:00'),
      },
      { budget: 'account', spentToday: 0, projected: 200, status: 'on-track', reason: null },
      { budget: 'ads', spentToday: 0, projected: 0, status: 'on-track', reason: null },
    ])
  })

  test('the digest counts an older doubt among the day’s events', async () => {
    const { product, digest, last } = await startDigest({
      service: ({ url }) => (url.includes('/run') ? { status: 503 } : undefined),
    })
    await product.update({ kind: 'ranking', project: 'lost' })
    product.clock.advance(hours(48))
    await digest()
    expect((await last())?.text).toBe('2026-11-22: No units spent in 24 hours. 1 in doubt.')
  })

  test('the digest counts more than one page of updates', async () => {
    const { product } = await startDigest()
    await product.call('PUT', '/budgets/none', { body: { limits: [{ window: 'month', units: 0 }] } })
    for (let round = 0; round < 11; round++) {
      const projects = Array.from({ length: 20 }, (_, index) => `p-${round}-${index}`)
      await product.update({ kind: 'ranking', projects, budget: 'none' })
    }
    expect(await (await reportsOf(product.guard)).digest(product.clock.now())).toMatchObject({
      refused: 220,
      nothingHappened: false,
    })
  })

  test('the digest does not repeat a price move that could not be read again', async () => {
    const units = { a: 100, b: 100 }
    let isDown = false
    const { product } = await startDigest({
      plans: [night],
      units,
      service: () => (isDown ? { status: 503 } : undefined),
    })
    const moves = async () => {
      await (await product.guard.jobs()).readPrices(product.endsAt())
      return (await (await reportsOf(product.guard)).digest(product.clock.now())).priceMoves
    }
    expect(await moves()).toEqual([])
    product.clock.advance(hours(24))
    units.a = 150
    expect(await moves()).toEqual([{ project: 'a', kind: 'ranking', before: 100, now: 150 }])
    product.clock.advance(hours(24) + 1)
    isDown = true
    expect(await moves()).toEqual([])
  })
})
