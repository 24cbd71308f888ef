import { describe, expect, test } from 'vitest'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { days, hours } from '../../support/clock.ts'
import { json, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { mortal } from '../../support/store/mortal-store.ts'

type Options = NonNullable<Parameters<typeof startProduct>[0]>

/** Nights over the project `site` of the budget `acme`, whose dates are in `dates`, and over `shop`, which no budget lists. */
async function start(options: Options = {}) {
  const dates = ['2026-11-01', '2026-11-19']
  let isReadable = true
  const product = await startProduct({
    store: createMemoryStore(),
    slack: true,
    service: ({ url }) => {
      if (!url.endsWith('/dates')) return undefined
      return isReadable ? json({ dates: url.includes('/shop/') ? ['2026-11-01'] : dates }) : { status: 500 }
    },
    ...options,
  })
  const limits = [{ window: 'month', units: 5_000 }]
  await product.call('PUT', '/budgets/acme', { body: { limits, projects: [{ name: 'site', id: '7' }] } })
  const night = async (after = days(1)) => {
    product.clock.advance(after)
    await (await product.guard.jobs()).findRunsOutside(product.endsAt())
    await product.deliver()
    return product.slack
      .news()
      .filter(({ text }) => text.includes('no new data of it'))
      .map(({ text }) => text)
  }
  const ask = async (more: object = {}): Promise<string> =>
    (await product.update({ kind: 'ranking', project: 'site', ...more })).body.updates[0].id
  const delivery = async (id: string) => (await product.call('GET', `/updates/${id}`)).body.delivery
  const setReadable = (value: boolean) => {
    isReadable = value
  }
  return { product, dates, night, ask, delivery, setReadable }
}

const paid =
  'The ranking update of site of 2026-11-20 cost 40 units of acme, and the tracking service has no new data of it. Ask for the units back.'

const stored = async (product: Awaited<ReturnType<typeof start>>['product'], id: string): Promise<Update | null> =>
  product.guard.ledger.update(id)

describe('the delivery of a paid run', () => {
  test('a run without new data for 96 hours becomes late, and is announced once', async () => {
    const { product, night, ask, delivery } = await start()
    const id = await ask()
    expect(await delivery(id)).toBe('awaited')
    expect(await night(hours(95))).toEqual([])
    expect(await delivery(id)).toBe('awaited')
    expect(await night(hours(1))).toEqual([paid])
    expect(await delivery(id)).toBe('late')
    expect(await night()).toEqual([])
    expect((await stored(product, id))?.history.at(-1)).toMatchObject({
      state: 'settled',
      by: 'sweep',
      note: 'paid, nothing delivered: the service has no new data',
    })
    expect(await product.figures('acme')).toMatchObject({ spent: 40 })
  })

  test('DELIVERY_HOURS says after how many hours a run is late', async () => {
    const { night, ask, delivery } = await start({ env: { DELIVERY_HOURS: '12' } })
    const id = await ask()
    expect(await night(hours(12) - 1)).toEqual([])
    expect(await night(1)).toEqual([paid])
    expect(await delivery(id)).toBe('late')
  })

  test('a run whose date comes the next night came, and is never late', async () => {
    const { product, dates, night, ask, delivery } = await start()
    const id = await ask({ project: '7' })
    dates.push('2026-11-20')
    expect(await night()).toEqual([])
    expect(await delivery(id)).toBe('came')
    expect((await stored(product, id))?.history.at(-1)?.note).toBe('delivered: the service has data of 2026-11-20')
    expect(await night(days(6))).toEqual([])
    expect(await delivery(id)).toBe('came')
  })

  test('data that come later close a late run, also after weeks', async () => {
    const { dates, night, ask, delivery } = await start()
    const id = await ask()
    await night(days(5))
    expect(await delivery(id)).toBe('late')
    expect(await night(days(30))).toEqual([])
    expect(await delivery(id)).toBe('late')
    dates.push('2026-11-21')
    expect(await night()).toEqual([])
    expect(await delivery(id)).toBe('came')
  })

  test('a date that another day used weeks ago does not close a late run', async () => {
    const { product, dates, night, ask, delivery } = await start()
    const first = await ask()
    product.clock.advance(days(1))
    const second = await ask()
    await night(days(5))
    expect([await delivery(first), await delivery(second)]).toEqual(['late', 'late'])
    dates.push('2026-11-21')
    await night()
    expect([await delivery(first), await delivery(second)]).toEqual(['came', 'late'])
    for (let month = 0; month < 2; month++) await night(days(30))
    expect([await delivery(first), await delivery(second)]).toEqual(['came', 'late'])
  })

  test('dates that cannot be read say nothing, and a run then stays awaited', async () => {
    const { night, ask, delivery, setReadable } = await start()
    const id = await ask()
    setReadable(false)
    expect(await night(days(6))).toEqual([])
    expect(await delivery(id)).toBe('awaited')
    setReadable(true)
    expect(await night()).toEqual([paid])
  })

  test('dates that were not read before the hold leave a run without an expectation', async () => {
    const { night, ask, delivery, setReadable } = await start()
    setReadable(false)
    const id = await ask()
    setReadable(true)
    expect(await night(days(6))).toEqual([])
    expect(await delivery(id)).toBeUndefined()
  })

  test('a list whose oldest date is after the run says nothing', async () => {
    const { dates, night, ask, delivery } = await start()
    const id = await ask()
    dates.splice(0, dates.length, '2026-11-25')
    expect(await night(days(6))).toEqual([])
    expect(await delivery(id)).toBe('awaited')
  })

  test('a project that the nightly look does not cover, and a kind without dates, expect nothing', async () => {
    const { product, night, ask, delivery } = await start()
    const unlisted = await ask({ project: 'shop' })
    const difficulty = await ask({ kind: 'keyword-difficulty' })
    expect([await delivery(unlisted), await delivery(difficulty)]).toEqual([undefined, undefined])
    expect(await night(days(6))).toEqual([])
    expect(await stored(product, unlisted)).not.toHaveProperty('delivery')
  })

  test('a planned project that no budget lists is covered', async () => {
    const plan = { name: 'nightly', kind: 'ranking', projects: ['shop'], schedule: 'cron(0 10 * * ? *)' }
    const { product, night } = await start({ plans: [plan] })
    await product.triggers.fire('nightly', product.clock.now(), product.endsAt())
    const { rows } = await product.guard.ledger.updates({ plan: 'nightly' }, 5)
    expect(rows).toMatchObject([{ state: 'settled', project: 'shop' }])
    expect(await night(days(4))).toHaveLength(1)
  })

  test('an update of a cool-down starts no run, so only the run is late', async () => {
    const { product, night, ask } = await start()
    const id = await ask()
    expect(await ask()).toBe(id)
    expect(await night(days(4))).toEqual([paid])
    const { rows } = await product.guard.ledger.open('undelivered', 5)
    expect(rows.map((update) => update.id)).toEqual([id])
  })

  test('two runs of one day are late with one announcement', async () => {
    const { product, night, ask, delivery } = await start()
    const first = await ask()
    product.clock.advance(hours(1))
    const second = await ask({ force: true, reason: 'again' })
    expect(second).not.toBe(first)
    expect(await night(days(4))).toEqual([paid])
    expect([await delivery(first), await delivery(second)]).toEqual(['late', 'late'])
    expect((await stored(product, second))?.delivery).toEqual({ state: 'late', sharedWith: first })
  })

  test('a run that seven days in doubt settled is late at once', async () => {
    const { product, night, ask, delivery } = await start()
    product.service.script(({ url }) => url.includes('/site/run'), { status: 503 })
    const id = await ask()
    product.clock.advance(days(7) + hours(1))
    await (await product.guard.jobs()).sweep(product.endsAt())
    expect(await stored(product, id)).toMatchObject({ state: 'settled', closedBy: 'time' })
    expect(await night(1)).toEqual([paid])
    expect(await delivery(id)).toBe('late')
  })
})

describe('an announcement is made once', () => {
  test('although two looks run at the same time', async () => {
    const { product, night, ask } = await start()
    await ask()
    product.clock.advance(days(4))
    const looks = [product, product.startProcess()].map(async ({ services }) =>
      (await services.guard.jobs()).findRunsOutside(product.endsAt()),
    )
    await Promise.all(looks)
    expect(await night(1)).toEqual([paid])
    expect(await night()).toEqual([])
  })

  test('although a look dies before any of its writes', async () => {
    const { store, kill, heal } = mortal(createMemoryStore())
    const { product, dates, night, ask, delivery } = await start({ store })
    const first = await ask()
    product.clock.advance(hours(1))
    const second = await ask({ force: true, reason: 'again' })
    product.clock.advance(days(4))
    for (const beforeWrite of [0, 1, 2, 3]) {
      kill(beforeWrite)
      await (await product.guard.jobs()).findRunsOutside(product.endsAt()).catch(() => undefined)
      heal()
    }
    expect(await night(1)).toEqual([paid])
    expect([await delivery(first), await delivery(second)]).toEqual(['late', 'late'])
    dates.push('2026-11-20')
    for (const beforeWrite of [0, 1, 2, 3]) {
      kill(beforeWrite)
      await (await product.guard.jobs()).findRunsOutside(product.endsAt()).catch(() => undefined)
      heal()
    }
    expect(await night()).toEqual([])
    expect([await delivery(first), await delivery(second)]).toEqual(['came', 'came'])
  })

  test('although a look has no time for all projects, and the next look records the rest', async () => {
    const { product, night, ask, delivery } = await start()
    const id = await ask()
    product.clock.advance(days(4))
    await (await product.guard.jobs()).findRunsOutside(product.clock.now() + 12_000)
    expect(await delivery(id)).toBe('awaited')
    expect(await night(1)).toEqual([paid])
  })
})
