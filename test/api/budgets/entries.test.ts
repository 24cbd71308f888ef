import { describe, expect, test } from 'vitest'
import { minutes } from '../../support/clock.ts'
import { type Product, startProduct } from '../../support/product.ts'
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

/** The members that all entries of these tests share. */
const entry = {
  id: expect.stringMatching(/^ent_[0-9a-z]{26}$/),
  window: 'month:2026-11-01',
  by: 'ada',
  at: '2026-11-20T10:00:00.000Z',
}

describe('a transfer', () => {
  test('a transfer moves units between budgets and leaves their common ancestors unchanged', async () => {
    const { product, enter, available } = await withBudgets()
    const { status, body } = await enter('acme', { type: 'transfer', units: 30, to: 'globex', reason: 'swap' })
    expect(status).toBe(201)
    expect(body).toEqual({
      ...entry,
      type: 'transfer',
      budget: 'acme',
      units: 30,
      to: 'globex',
      reason: 'swap',
      budgets: ['acme', 'globex'],
      binds: { budget: 'globex', window: 'month', available: 230 },
    })
    expect(await available('acme', 'globex', 'agency', 'account')).toEqual([70, 230, 1_000, 50_000])
    for (const name of ['acme', 'globex']) {
      const { body } = await product.call('GET', `/budgets/${name}/entries`)
      expect(body.entries).toContainEqual(expect.objectContaining({ type: 'transfer', units: 30, to: 'globex' }))
    }
  })

  test('a transfer of more units than available is 402 with the figures and the largest possible transfer', async () => {
    const { product, enter } = await withBudgets()
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
          budget: 'acme',
          window: 'month',
          limit: 100,
          held: 0,
          inDoubt: 0,
          spent: 40,
          available: 60,
          short: 1,
          resetsAt: '2026-12-01T00:00:00.000Z',
        },
      ],
      wouldPass: ['at most 60 units, now', 'a grant of 1 to acme before (POST /budgets/acme/entries, scope admin)'],
    })
    expect((await enter('acme', { type: 'transfer', units: 21, window: 'day', to: 'globex' })).body.detail).toBe(
      'acme has 20 units left today, so 21 cannot be taken from it; what is held, in doubt or spent stays.',
    )
  })
})

describe('a correction', () => {
  test('a correction changes a grant on the same counters', async () => {
    const { enter, correct, available } = await withBudgets()
    const grant = await enter('acme', { type: 'grant', units: 500, wholeChain: true })
    const { status, body } = await correct('acme', grant.body.id, 50)
    expect([status, body]).toEqual([
      201,
      {
        ...entry,
        type: 'correction',
        budget: 'acme',
        units: 50,
        corrects: grant.body.id,
        reason: 'r',
        budgets: ['acme', 'agency', 'account'],
        binds: { budget: 'acme', window: 'day', available: 60 },
      },
    ])
    expect(await available('acme', 'agency', 'account')).toEqual([150, 1_050, 50_050])
    expect((await correct('acme', `ent_${'0'.repeat(26)}`, 1)).body).toMatchObject({
      status: 404,
      detail: 'There is no such entry.',
    })
  })

  test.each([
    [
      '2026-11-20T10:00:00Z',
      'is a reconciliation, which is not corrected: reconcile again with the figure that the vendor shows now, and the difference to this one is booked.',
    ],
    [
      '2026-12-10T10:00:00Z',
      'is a reconciliation of month:2026-11-01, which is over: nothing can be spent in it any more, and its statement keeps 100 units as spent outside, on account. Reconcile again for the open month.',
    ],
  ])('a reconciliation cannot be corrected; the refusal of %s says how to reconcile again', async (later, why) => {
    const { product, reconcile, correct } = await withBudgets()
    const { body: wrong } = await reconcile({ unitsLeft: 49_900 })
    product.clock.set(later)
    const { status, body } = await correct('account', wrong.id, 0)
    expect([status, body.type, body.detail]).toEqual([409, '/problems/wrong-state', `${wrong.id} ${why}`])
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
  })

  test.each(['2026-12-01T00:00:00Z', '2026-12-03T09:00:00Z'])(
    'a refused correction of a day names the end of its month if that month is over, at %s',
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
})

describe('POST /budgets/account/reconcile', () => {
  test("a reconciliation books the difference to the vendor's figure, whether higher or lower", async () => {
    const { product, reconcile } = await withBudgets()
    await product.update({ kind: 'ranking', project: 'p', budget: 'acme' })
    product.clock.advance(minutes(5))
    const { status, body } = await reconcile({ unitsLeft: 49_900, reason: 'this morning' })
    expect([status, body]).toEqual([
      200,
      {
        ...entry,
        type: 'reconcile',
        budget: 'account',
        units: 60,
        reason: 'this morning',
        at: '2026-11-20T10:05:00.000Z',
        budgets: ['account'],
        binds: { budget: 'account', window: 'month', available: 49_900 },
      },
    ])
    expect((await reconcile({ unitsLeft: 49_950 })).body).toMatchObject({ units: -50 })
    expect((await reconcile({ unitsLeft: 49_950 })).body).toMatchObject({ units: 0, budgets: [] })
    expect(await product.figures()).toMatchObject({ spent: 50, available: 49_950 })
    expect(await product.figures('acme')).toMatchObject({ spent: 40 })
  })

  test('a repeated key gets the first reconciliation’s answer, and 422 for another body', async () => {
    const { product, enter, reconcile } = await withBudgets()
    const figure = { unitsLeft: 40_000, reason: 'r' }
    const first = await reconcile(figure, 'k')
    await enter('globex', { type: 'external-spend', units: 1 })
    const again = await reconcile(figure, 'k')
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([200, first.body, 'true'])
    for (const other of [{ reason: 'other', difference: first.body.units }, { difference: 7 }]) {
      const how = { body: { ...figure, ...other }, headers: { 'idempotency-key': 'k' } }
      expect((await product.call('POST', '/budgets/account/reconcile', how)).body).toMatchObject({
        status: 422,
        type: '/problems/key-reused',
        detail: 'This idempotency key was used before, for another entry; use a new key for a new entry.',
      })
    }
  })

  test.each(['the screen, this morning', 'Tuesday’s screen', 'seen 10 minutes ago', '08:00', 'last night'])(
    'a reconciliation with the reason “%s” gives no units back without asOf',
    async (reason) => {
      const { product, reconcile } = await withBudgets()
      await reconcile({ unitsLeft: 49_000, reason })
      expect(await product.figures()).toMatchObject({ spent: 1_000 })
      product.clock.advance(minutes(61))
      const { status, body } = await reconcile({ unitsLeft: 49_100, reason })
      expect([status, body.type]).toEqual([409, expect.stringContaining('wrong-state')])
      expect(body.detail).toContain('The reason names a time, and only a figure of now gives units back.')
      expect((await reconcile({ unitsLeft: 49_100, reason: 'the vendor’s screen' })).body.units).toBe(-100)
    },
  )

  test('only the root budget can be reconciled', async () => {
    const { product } = await withBudgets()
    const how = { body: { unitsLeft: 1, reason: 'r' } }
    expect((await product.call('POST', '/budgets/acme/reconcile', how)).status).toBe(404)
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

  test('/units reconcile shows the difference and books it once after Confirm', async () => {
    const { product, said, confirm } = await slackProduct()
    expect(await said('reconcile 49,000 the figure of this morning')).toEqual([
      'The vendor’s figure: 49,000 units left, now. The vendor shows 49,000, the book 50,000: 1,000 were used outside. Nothing is booked before you press Confirm.',
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
    const { body } = await product.call('GET', '/budgets/account/entries')
    const booked = body.entries.filter(({ type }: { type: string }) => type === 'reconcile')
    expect(booked.map(({ by, reason, units }: Record<string, unknown>) => [by, reason, units])).toEqual([
      ['slack:U1ADA', 'they gave some back', -400],
      ['slack:U1ADA', 'the figure of this morning', 1_000],
    ])
    expect(await product.audit()).toBe(true)
  })

  test('Confirm books only the difference that it showed', async () => {
    const { product, said, confirm } = await slackProduct()
    await said('reconcile 49,000')
    await product.call('POST', '/budgets/account/entries', { body: { type: 'external-spend', units: 5, reason: 'r' } })
    expect(await confirm()).toEqual([
      expect.stringMatching(/^The difference is not 1000 any more: .* Please type the command again\.$/),
    ])
    expect(await product.figures()).toMatchObject({ spent: 5 })
  })

  test('Confirm gives no units back after a minute, because the figure is old', async () => {
    const { product, said, confirm } = await slackProduct()
    await said('reconcile 49,000')
    await confirm()
    await said('reconcile 49,400 the vendor’s screen')
    product.clock.advance(minutes(1) + 1)
    expect(await confirm()).toEqual([
      'As of 20 Nov 2026 10:00 UTC the vendor had 400 more left than the book, and only a figure of now gives units back: look again. Please type the command again.',
    ])
    await said('reconcile 48,900')
    product.clock.advance(minutes(5))
    expect(await confirm()).toEqual([expect.stringContaining('left on 20 Nov 2026 10:01 UTC; booked 100 units fewer.')])
    expect(await product.figures()).toMatchObject({ spent: 1_100 })
  })

  test('/units reconcile offers no booking if it is answered late, because its figure is old', async () => {
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

describe('simultaneous requests on the real store', () => {
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
    // A reconciliation may give up while updates settle, and then books nothing.
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
