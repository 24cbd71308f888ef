import { describe, expect, test } from 'vitest'
import { hours, minutes } from '../../support/clock.ts'
import { type Called, type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { reconcile } from '../../support/store/reconcile.ts'

const month = (units: number, day?: number) => [
  { window: 'month', units },
  ...(day === undefined ? [] : [{ window: 'day', units: day }]),
]

/** `acme` (100 a month, 60 a day) and `globex` (200) below `agency` (1,000), which is below the account (50,000). */
async function withBudgets(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ store: createMemoryStore(), ...options })
  const put = (name: string, body: object) => product.call('PUT', `/budgets/${name}`, { body })
  await put('agency', { limits: month(1_000) })
  await put('acme', { parent: 'agency', limits: month(100, 60) })
  await put('globex', { parent: 'agency', limits: month(200) })
  const enter = (budget: string, body: object, key?: string) =>
    product.call('POST', `/budgets/${budget}/entries`, {
      body: { reason: 'r', ...body },
      headers: key === undefined ? {} : { 'idempotency-key': key },
    })
  const reconciled = (body: object, key?: string) =>
    reconcile(product, { reason: 'r', ...body }, { headers: key === undefined ? {} : { 'idempotency-key': key } })
  const correct = (budget: string, corrects: string, units: number) =>
    enter(budget, { type: 'correction', units, corrects })
  const available = async (...budgets: string[]) =>
    Promise.all(budgets.map(async (name) => (await product.figures(name)).available))
  return { product, put, enter, reconcile: reconciled, correct, available }
}

const wrongState = (detail: string) => ({ status: 409, type: '/problems/wrong-state', detail })

describe('a transfer', () => {
  test('a transfer moves units between budgets and leaves their common ancestors unchanged', async () => {
    const { product, enter, available } = await withBudgets()
    const { status, body } = await enter('acme', { type: 'transfer', units: 30, to: 'globex', reason: 'swap' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^ent_[0-9a-z]{26}$/),
      type: 'transfer',
      budget: 'acme',
      units: 30,
      to: 'globex',
      window: 'month:2026-11-01',
      budgets: ['acme', 'globex'],
      reason: 'swap',
      by: 'ada',
      at: '2026-11-20T10:00:00.000Z',
      binds: { budget: 'globex', window: 'month', available: 230 },
    })
    expect(await product.figures('acme')).toMatchObject({ limit: 100, granted: -30, available: 70 })
    expect(await product.figures('globex')).toMatchObject({ limit: 200, granted: 30, available: 230 })
    expect(await available('agency', 'account')).toEqual([1_000, 50_000])
    for (const name of ['acme', 'globex']) {
      const { body } = await product.call('GET', `/budgets/${name}/entries`)
      expect(body.entries).toContainEqual(expect.objectContaining({ type: 'transfer', units: 30, to: 'globex' }))
    }
    expect(await product.audit()).toBe(true)
  })

  test('a transfer of more than is available is refused, whatever the limit was', async () => {
    const { product, enter, available } = await withBudgets()
    await product.update({ kind: 'ranking', project: 'p', budget: 'acme' })
    const refused = await enter('acme', { type: 'transfer', units: 61, to: 'globex' })
    expect(refused.body).toMatchObject({
      status: 402,
      type: '/problems/over-budget',
      detail:
        'acme has 60 units left this month, so 61 cannot be taken from it; what is held, in doubt or spent stays.',
      units: 61,
      short: 1,
      budgets: [
        {
          ...{ budget: 'acme', window: 'month', limit: 100, held: 0, inDoubt: 0, spent: 40, available: 60, short: 1 },
          resetsAt: '2026-12-01T00:00:00.000Z',
        },
      ],
      wouldPass: ['at most 60 units, now', 'a grant of 1 to acme before (POST /budgets/acme/entries, scope admin)'],
    })
    expect((await enter('acme', { type: 'transfer', units: 21, window: 'day', to: 'globex' })).body.detail).toBe(
      'acme has 20 units left today, so 21 cannot be taken from it; what is held, in doubt or spent stays.',
    )
    expect((await enter('acme', { type: 'transfer', units: 60, to: 'globex' })).status).toBe(201)
    expect(await available('acme', 'globex')).toEqual([0, 260])
    expect(await product.audit()).toBe(true)
  })

  test('a correction of an unknown entry is answered with 404', async () => {
    const { enter } = await withBudgets()
    const corrects = `ent_${'0'.repeat(26)}`
    expect((await enter('acme', { type: 'correction', units: 1, corrects })).body).toMatchObject({
      status: 404,
      detail: 'There is no such entry.',
    })
  })
})

describe('binds', () => {
  test('binds is absent without limits and unchanged in a replay', async () => {
    const { put, enter } = await withBudgets()
    const first = await enter('acme', { type: 'grant', units: 10 }, 'k')
    await enter('acme', { type: 'external-spend', units: 25 })
    expect((await enter('acme', { type: 'grant', units: 10 }, 'k')).body).toEqual(first.body)
    await put('account', { limits: [{ window: 'month', units: 'unlimited' }] })
    expect((await enter('account', { type: 'grant', units: 1 })).body).not.toHaveProperty('binds')
  })
})

describe('a correction', () => {
  test('a correction changes a grant on the same counters', async () => {
    const { product, enter, correct, available } = await withBudgets()
    const grant = await enter('acme', { type: 'grant', units: 500, wholeChain: true })
    expect(await available('acme', 'agency', 'account')).toEqual([600, 1_500, 50_500])
    const { status, body } = await correct('acme', grant.body.id, 50)
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^ent_[0-9a-z]{26}$/),
        type: 'correction',
        budget: 'acme',
        units: 50,
        corrects: grant.body.id,
        window: 'month:2026-11-01',
        budgets: ['acme', 'agency', 'account'],
        reason: 'r',
        by: 'ada',
        at: '2026-11-20T10:00:00.000Z',
        binds: { budget: 'acme', window: 'day', available: 60 },
      },
    ])
    expect(await available('acme', 'agency', 'account')).toEqual([150, 1_050, 50_050])
    expect(await product.figures('acme')).toMatchObject({ limit: 100, granted: 50 })
    expect(await product.audit()).toBe(true)
  })

  test('a refused correction of an ended month names that month and suggests no grant', async () => {
    const { product, enter, correct } = await withBudgets()
    const { body: grant } = await enter('acme', { type: 'grant', units: 50 })
    const { body: ofDay } = await enter('acme', { type: 'grant', units: 70, window: 'day' })
    await enter('acme', { type: 'external-spend', units: 120 })
    product.clock.set('2026-12-03T09:00:00Z')
    expect((await correct('acme', grant.id, 19)).body).toMatchObject({
      status: 402,
      detail:
        'acme has 30 units left in month:2026-11-01, so 31 cannot be taken from it; what is held, in doubt or spent stays.',
      budgets: [{ budget: 'acme', window: 'month', resetsAt: '2026-12-01T00:00:00.000Z' }],
      wouldPass: ['at most 30 units, now'],
    })
    expect((await correct('acme', ofDay.id, 59)).body.detail).toBe(
      'acme has 10 units left in day:2026-11-20, so 11 cannot be taken from it; what is held, in doubt or spent stays.',
    )
    expect((await correct('acme', grant.id, 20)).status).toBe(201)
    expect((await correct('acme', ofDay.id, 60)).status).toBe(201)
  })

  test.each(['2026-12-01T00:00:00Z', '2026-12-03T09:00:00Z'])(
    'a day that was short in a month that is over ends with that month, at %s',
    async (later) => {
      const { product, enter, correct } = await withBudgets()
      product.clock.set('2026-11-30T20:00:00Z')
      const { body: given } = await enter('acme', { type: 'grant', units: 50, window: 'day' })
      await product.update({ kind: 'ranking', project: 'p', budget: 'acme' })
      await product.update({ kind: 'ranking', project: 'q', budget: 'acme' })
      product.clock.set(later)
      const { status, body } = await correct('acme', given.id, 0)
      expect([status, body.short, body.budgets]).toMatchObject([
        402,
        20,
        [{ budget: 'acme', window: 'day', resetsAt: '2026-12-01T00:00:00.000Z' }],
      ])
      expect(body.detail).toContain('acme has 30 units left in day:2026-11-30')
    },
  )

  test.each<[string, (w: Awaited<ReturnType<typeof withBudgets>>) => Promise<Called>, object]>([
    [
      'a change of limits',
      async ({ product, correct }) => {
        const { body } = await product.call('GET', '/budgets/acme/entries')
        return correct('acme', body.entries[0].id, 1)
      },
      {
        status: 409,
        detail: expect.stringMatching(/^An entry of the type budget-created is not corrected; make another change\.$/),
      },
    ],
    [
      'a reconciliation',
      async ({ reconcile, correct }) => correct('account', (await reconcile({ unitsLeft: 49_000 })).body.id, 1),
      {
        status: 409,
        detail: expect.stringMatching(
          /^ent_[0-9a-z]{26} is a reconciliation, which is not corrected: reconcile again with the figure that the vendor shows now, and the difference to this one is booked\.$/,
        ),
      },
    ],
    [
      'an entry of another budget',
      async ({ enter, correct }) => correct('globex', (await enter('acme', { type: 'grant', units: 9 })).body.id, 1),
      { status: 409, detail: expect.stringMatching(/^ent_[0-9a-z]{26} did not move globex\.$/) },
    ],
    ['an entry that there is not', ({ correct }) => correct('acme', 'ent_0', 1), { status: 404 }],
  ])('%s cannot be corrected', async (_what, act, expected) => {
    const setup = await withBudgets()
    const before = await setup.available('acme', 'globex', 'agency')
    expect((await act(setup)).body).toMatchObject(expected)
    const after = await setup.available('acme', 'globex', 'agency')
    expect(after[1]).toBe(before[1])
    expect(await setup.product.audit()).toBe(true)
  })
})

describe('POST /budgets/account/reconcile', () => {
  test("a reconciliation books the difference to the vendor's figure in either direction", async () => {
    const { product, reconcile } = await withBudgets()
    await product.update({ kind: 'ranking', project: 'p', budget: 'acme' })
    product.clock.advance(minutes(5))
    const { status, body } = await reconcile({ unitsLeft: 49_900, reason: 'this morning' })
    expect([status, body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^ent_/),
        type: 'reconcile',
        budget: 'account',
        units: 60,
        window: 'month:2026-11-01',
        budgets: ['account'],
        reason: 'this morning',
        by: 'ada',
        at: '2026-11-20T10:05:00.000Z',
        binds: { budget: 'account', window: 'month', available: 49_900 },
      },
    ])
    expect(await product.figures()).toMatchObject({ spent: 100, available: 49_900 })
    expect((await reconcile({ unitsLeft: 49_950 })).body).toMatchObject({ units: -50 })
    expect((await reconcile({ unitsLeft: 49_950 })).body).toMatchObject({ units: 0, budgets: [] })
    expect(await product.figures()).toMatchObject({ spent: 50, available: 49_950 })
    expect(await product.figures('acme')).toMatchObject({ spent: 40 })
    expect(await product.audit()).toBe(true)
  })

  test("a reconciliation refuses a figure above the month's limit and an unlimited account", async () => {
    const { product, put, reconcile } = await withBudgets()
    expect((await reconcile({ unitsLeft: 50_001 })).body).toMatchObject(
      wrongState(
        'The vendor has 50,001 units left, and account allows only 50,000 this month; if the vendor gave the difference, grant it to account, else raise its limit first.',
      ),
    )
    await put('account', { limits: [{ window: 'month', units: 'unlimited' }] })
    expect((await reconcile({ unitsLeft: 5 })).body).toMatchObject(
      wrongState('account has no limit this month, so there is no figure to compare with.'),
    )
    expect(await product.audit()).toBe(true)
  })

  test('only the root budget is reconciled', async () => {
    const { product } = await withBudgets()
    const how = { body: { unitsLeft: 1, reason: 'r' } }
    expect((await product.call('POST', '/budgets/acme/reconcile', how)).status).toBe(404)
  })
})

describe('idempotency keys', () => {
  test('a replayed entry is identical whatever happened since; other content is answered with 422', async () => {
    const { product, enter, reconcile, available } = await withBudgets()
    const { call } = product
    const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
    const figure = (unitsLeft: number) => ({ unitsLeft, reason: 'r' })
    const { body: spent } = await enter('acme', { type: 'external-spend', units: 5 })
    const calls: [() => Promise<Called>, () => Promise<Called>][] = [
      [
        () => enter('acme', { type: 'transfer', units: 5, to: 'globex' }, 'k1'),
        () => enter('acme', { type: 'transfer', units: 5, to: 'agency' }, 'k1'),
      ],
      [
        () => enter('acme', { type: 'correction', units: 6, corrects: spent.id }, 'k2'),
        () => enter('acme', { type: 'correction', units: 7, corrects: spent.id }, 'k2'),
      ],
      [() => reconcile({ unitsLeft: 40_000 }, 'k3'), () => reconcile({ unitsLeft: 40_000, reason: 'other' }, 'k3')],
      [
        () => reconcile({ unitsLeft: 30_000 }, 'k4'),
        () =>
          call('POST', '/budgets/account/reconcile', { ...keyed('k4'), body: { ...figure(30_000), difference: 7 } }),
      ],
    ]
    for (const [act, other] of calls) {
      const first = await act()
      expect(first.headers.get('idempotency-replayed')).toBeNull()
      product.clock.advance(hours(1))
      await enter('globex', { type: 'external-spend', units: 1 })
      const before = await available('acme', 'globex', 'agency', 'account')
      const again = await act()
      expect([again.status, again.body]).toEqual([first.status, first.body])
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect((await other()).body).toMatchObject({
        ...{ status: 422, type: '/problems/key-reused' },
        detail: 'This idempotency key was used before, for another entry; use a new key for a new one.',
      })
      expect(await available('acme', 'globex', 'agency', 'account')).toEqual(before)
    }
    expect(await product.audit()).toBe(true)
  })
})

describe('Slack', () => {
  const slackProduct = async () => {
    const { product } = await withBudgets({ slack: true, stream: true })
    await product.call('PUT', '/callers/slack:U1ADA', { body: { scopes: ['admin'] } })
    await product.deliver()
    product.slack.news()
    const news = async () => {
      await product.deliver()
      return product.slack.news().map(({ text }) => text)
    }
    const said = async (text: string, trigger?: string) => {
      product.clock.advance(1_000)
      await product.slack.command(text, trigger === undefined ? {} : { trigger })
      return news()
    }
    const confirm = async () => {
      const [button] = product.slack.buttons()
      await product.slack.press('confirm', button?.value ?? '')
      return news()
    }
    return { product, said, confirm, news }
  }

  test('/units reconcile shows the difference, books it after Confirm, once, and says which way', async () => {
    const { product, said, confirm } = await slackProduct()
    expect(await said('reconcile 49,000 the figure of this morning')).toEqual([
      'The vendor’s figure: 49,000 units left, now. The vendor has 1,000 fewer left than the book: they are booked as spent outside. Nothing is booked before you press Confirm.',
    ])
    expect(await product.figures()).toMatchObject({ spent: 0, available: 50_000 })
    const done =
      'Done: the vendor had 49,000 units left on 20 Nov 2026 10:00 UTC; booked 1,000 units fewer. /units shows the figures.'
    expect(await confirm()).toEqual([done])
    expect(await confirm()).toEqual([done])
    expect(await product.figures()).toMatchObject({ spent: 1_000, available: 49_000 })
    expect(await said('reconcile 49,400')).toEqual([
      expect.stringMatching(/^Units would come back within an hour of another reconciliation \(ent_.*add a reason\.$/),
    ])
    await said('reconcile 49,400 they gave some back')
    expect((await confirm()).toSorted()).toEqual([
      '<@U1ADA> reconciled the account with the vendor’s figure: 400 units more can be spent.',
      expect.stringContaining('booked 400 units more. /units shows'),
    ])
    expect(await said('reconcile 60000 wrong')).toEqual([
      'The vendor has 60,000 units left, and account allows only 50,000 this month; if the vendor gave the difference, grant it to account, else raise its limit first.',
    ])
    const { body } = await product.call('GET', '/budgets/account/entries?limit=2')
    expect(body.entries.map(({ by, reason, units }: Record<string, unknown>) => [by, reason, units])).toEqual([
      ['slack:U1ADA', 'they gave some back', -400],
      ['slack:U1ADA', 'the figure of this morning', 1_000],
    ])
    expect(await product.audit()).toBe(true)
  })

  test('/units reconcile as of an hour gives back nothing that was spent since', async () => {
    const { product, said, confirm } = await slackProduct()
    product.clock.advance(hours(1))
    for (const project of ['x', 'y']) await product.update({ kind: 'ranking', project })
    product.clock.advance(hours(1))
    expect(await said('reconcile 49,990 as of 11:30 the screen')).toEqual([
      expect.stringContaining('only a figure of now gives units back: look again.'),
    ])
    expect(await said('reconcile 50,000 as of 10:30')).toEqual([
      'The vendor’s figure: 50,000 units left, as of 20 Nov 2026 10:30 UTC. The book and the vendor agree: no units are moved. Nothing is booked before you press Confirm.',
    ])
    await confirm()
    expect(await product.figures()).toMatchObject({ spent: 80, available: 49_920 })
  })

  test('a Confirm books no difference but the one that it showed', async () => {
    const { product, said, confirm } = await slackProduct()
    await said('reconcile 49,000')
    await product.call('POST', '/budgets/account/entries', { body: { type: 'external-spend', units: 5, reason: 'r' } })
    expect(await confirm()).toEqual([
      expect.stringMatching(/^The difference is not 1000 any more: .* Please type the command again\.$/),
    ])
    expect(await product.figures()).toMatchObject({ spent: 5 })
  })

  test('/units reconcile that was answered late is not offered because its figure is old', async () => {
    const { product, news } = await slackProduct()
    await product.slack.command('reconcile 49,500')
    product.clock.advance(minutes(5))
    product.slack.news()
    await product.triggers.sweep(product.endsAt())
    expect(await news()).toEqual([
      'This could not be answered within a minute, and units may have been spent since, so nothing was booked. Please type what the vendor’s screen shows now.',
    ])
  })
})

describe('everything at once, on the real store', () => {
  test('200 simultaneous updates, grants, transfers, corrections and reconciliations keep books exact', async () => {
    const product: Product = await startProduct()
    const put = (name: string, units: number) =>
      product.call('PUT', `/budgets/${name}`, { body: { limits: month(units) } })
    await put('acme', 3_000)
    await put('globex', 3_000)
    const enter = (budget: string, body: object, by = 'ada') =>
      product.call('POST', `/budgets/${budget}/entries`, {
        body: { reason: `by ${by}`, ...body },
        token: product.signed({ sub: by, scope: 'admin', budgets: '*' }),
      })
    const wrong = await Promise.all(
      Array.from({ length: 8 }, () => enter('acme', { type: 'external-spend', units: 30 })),
    )
    const many = <T>(count: number, act: (index: number) => Promise<T>) =>
      Array.from({ length: count }, (_, index) => act(index))
    const reconciled = (unitsLeft: number) => reconcile(product, { unitsLeft, reason: 'at once' })
    const [updates, grants, transfers, corrections, twice, meanwhile] = await Promise.all([
      Promise.all(
        many(200, (index) =>
          product.update({ kind: 'ranking', project: `p-${index}`, budget: index % 2 === 0 ? 'acme' : 'globex' }),
        ),
      ),
      Promise.all(many(20, () => enter('acme', { type: 'grant', units: 100 }, 'gina'))),
      Promise.all(many(20, () => enter('globex', { type: 'transfer', units: 7, to: 'acme' }, 'tom'))),
      Promise.all(
        many(8, (index) => enter('acme', { type: 'correction', units: 10, corrects: wrong[index]?.body.id })),
      ),
      Promise.all(many(8, () => enter('acme', { type: 'correction', units: 10, corrects: wrong[0]?.body.id }))),
      Promise.all(many(4, () => reconciled(45_000))),
    ])
    const ran = updates.filter(({ status }) => status === 201).length
    expect(updates.filter(({ status }) => status !== 201 && status !== 402).map(({ text }) => text)).toEqual([])
    for (const answers of [grants, transfers]) expect(answers.every(({ status }) => status === 201)).toBe(true)
    expect([...corrections, ...twice].filter(({ status }) => status === 201)).toHaveLength(8)
    expect(product.seen('run')).toHaveLength(ran)
    // While updates settle, a reconciliation may have to give up: then nothing of it is booked.
    expect(meanwhile.every(({ status }) => [200, 409, 503].includes(status))).toBe(true)
    const booked = meanwhile.reduce((sum, { body }) => sum + (body.units ?? 0), 0)
    const spent = ran * 40 + 8 * 10 + booked
    expect(await product.figures()).toMatchObject({ spent, held: 0, inDoubt: 0, available: 50_000 - spent })

    product.clock.advance(minutes(5))
    const several = await Promise.all(many(6, () => reconciled(40_000)))
    const differences = several.map(({ body }) => body.units as number)
    expect(differences.filter((units) => (units ?? 0) !== 0)).toEqual([10_000 - spent])
    expect(await product.figures()).toMatchObject({ spent: 10_000, available: 40_000 })
    const [acme, globex] = [await product.figures('acme'), await product.figures('globex')]
    expect([acme.granted, globex.granted]).toEqual([2_140, -140])
    expect(acme.spent + globex.spent).toBe(ran * 40 + 8 * 10)
    for (const { limit, granted, available, held, inDoubt, spent } of [acme, globex, await product.figures()]) {
      expect(available + held + inDoubt + spent).toBe(limit + granted)
      expect(available).toBeGreaterThanOrEqual(0)
    }
    expect(await product.audit()).toBe(true)

    const { body } = await product.call('GET', '/budgets/account/entries?limit=200')
    expect(body.entries.every(({ by, reason }: { by: string; reason: string }) => by !== '' && reason !== '')).toBe(
      true,
    )
    const statement = await product.call('GET', '/statements')
    expect(statement.body).toMatchObject({
      status: 'open',
      total: { updates: ran, charged: ran * 40, external: 10_000 - ran * 40, held: 0, inDoubt: 0, refused: 200 - ran },
      book: { spent: 10_000, addsUp: true },
    })
  })
})
