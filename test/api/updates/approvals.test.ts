import { describe, expect, test } from 'vitest'
import { hours, minutes } from '../../support/clock.ts'
import { type Called, json, type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = (units: number) => [{ window: 'month', units }]

/** Above 100 units an update needs approval. `dear` costs 640, other projects 40. Tests of simultaneous decisions use the real store. */
async function strictProduct(store: 'memory' | 'real' = 'memory') {
  const product = await startProduct({
    units: { dear: 640, dearest: 640 },
    ...(store === 'memory' && { store: createMemoryStore() }),
  })
  const body = { limits: month(5_000), approvalAbove: 100 }
  expect((await product.call('PUT', '/budgets/seo', { body })).status).toBe(201)
  const person = (sub: string, scope = 'read run approve') =>
    product.signed({ sub, scope, budgets: '*', exp: product.inDays(30) })
  /** Bob requests. Ada, the administrator of these tests, may approve. */
  const bob = person('bob')
  const ask = (more: object = {}, headers: Record<string, string> = {}) =>
    product.update({ kind: 'ranking', project: 'dear', budget: 'seo', ...more }, { token: bob, headers })
  const awaiting = async (more: object = {}): Promise<string> => {
    const { status, body } = await ask(more)
    expect(status).toBe(202)
    expect(body.updates[0].state).toBe('awaiting-approval')
    return body.updates[0].id
  }
  return { product, person, bob, ask, awaiting }
}

const decide = (
  product: Product,
  id: string,
  what: 'approve' | 'reject' | 'cancel',
  how: { token?: Promise<string>; body?: object } = {},
): Promise<Called> => product.call('POST', `/updates/${id}/${what}`, how)

const spent = { limit: 5_000, granted: 0, available: 4_360, held: 0, inDoubt: 0, spent: 640 }

describe('approve', () => {
  test('approval by another caller runs and settles the update and names the approver', async () => {
    const { product, awaiting } = await strictProduct('real')
    const id = await awaiting()
    product.clock.advance(minutes(5))
    const { status, body } = await decide(product, id, 'approve', { body: { reason: 'for the board meeting' } })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id,
      state: 'settled',
      caller: 'bob',
      approvedBy: 'ada',
      units: { estimated: 640, held: 640, charged: 640 },
    })
    const history = body.history.map(({ state, by }: Record<string, string>) => `${state} ${by}`)
    expect(history).toEqual(['awaiting-approval guard', 'requested ada', 'running guard', 'settled service'])
    expect(body.history[1].note).toBe('for the board meeting')
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures('seo')).toEqual(spent)
    expect(await product.audit()).toBe(true)
  })

  test('a request repeated under its key is answered with the outcome after approval', async () => {
    const { product, ask } = await strictProduct()
    const key = { 'idempotency-key': 'once' }
    const first = await ask({}, key)
    const waiting = await ask({}, key)
    expect([waiting.status, waiting.headers.get('idempotency-replayed')]).toEqual([202, 'true'])
    expect(waiting.body).toEqual(first.body)
    await decide(product, first.body.updates[0].id, 'approve')
    const after = await ask({}, key)
    expect([after.status, after.body.updates[0].state, after.body.updates[0].approvedBy]).toEqual([
      201,
      'settled',
      'ada',
    ])
    expect(product.seen('run')).toHaveLength(1)
  })

  test('a decision about an ended update is 409 with the time, the approver and the approved units', async () => {
    const { product, awaiting } = await strictProduct('real')
    const id = await awaiting()
    await decide(product, id, 'approve')
    for (const [what, wanted, more] of [
      ['approve', 'approved', '; ada approved it up to 640 units'],
      ['reject', 'rejected', '; ada approved it up to 640 units'],
      ['cancel', 'cancelled', ''],
    ] as const)
      expect((await decide(product, id, what)).body).toMatchObject({
        status: 409,
        type: '/problems/wrong-state',
        update: id,
        state: 'settled',
        detail: `The ranking update of dear cannot be ${wanted}: it has been settled since 20 Nov 2026 10:00 UTC (service)${more}.`,
      })
    expect(product.seen('run')).toHaveLength(1)
  })

  test('approval: slow: it is accepted until 24 hours after the request, and then 409, before and after a sweep', async () => {
    const { product, awaiting } = await strictProduct()
    const [one, two] = [await awaiting(), await awaiting({ project: 'dearest' })]
    product.clock.advance(hours(24) - 1)
    expect((await decide(product, one, 'approve')).status).toBe(200)
    product.clock.advance(1)
    const late = 'could be approved until 21 Nov 2026 10:00 UTC; ask for it again.'
    expect((await decide(product, two, 'approve')).body).toMatchObject({
      status: 409,
      detail: `The ranking update of dearest ${late}`,
    })
    await (await product.guard.jobs()).sweep(product.clock.now() + minutes(15))
    expect((await decide(product, two, 'approve')).body).toMatchObject({ status: 409, state: 'expired' })
    expect((await product.call('GET', `/updates/${two}`)).body).toMatchObject({ units: { held: 0, charged: 0 } })
    expect(product.seen('run')).toHaveLength(1)
  })

  test('approval: delivered twice: by two at once: one decision, one run', async () => {
    const { product, awaiting, person } = await strictProduct('real')
    const id = await awaiting()
    const answers = await Promise.all(
      ['carl', 'dora', 'emil'].map((name) => decide(product, id, 'approve', { token: person(name) })),
    )
    const { body } = await product.call('GET', `/updates/${id}`)
    expect(body).toMatchObject({ state: 'settled', units: { charged: 640 } })
    expect(answers.filter(({ status }) => status === 200).map((answer) => answer.body.approvedBy)).toEqual([
      body.approvedBy,
    ])
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2)
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures('seo')).toEqual(spent)
  })
})

const all = 'read run approve'
const both = (price: number) => (product: Product) => {
  product.clock.advance(minutes(1))
  product.service.script(({ url }) => /\/(estimate|run)$/.test(url), json({ keyword_units: price }))
}
/** Bob requests and Carl may approve. test/guard/people tests who may decide what. */
describe('the answer to a decision', () => {
  test.each<
    [
      title: string,
      what: Parameters<typeof decide>[2],
      who: readonly [sub: string, scope: string],
      expected: object,
      how?: { body?: object; id?: string; before?: (product: Product) => unknown },
    ]
  >([
    [
      'an approval by the caller is 403',
      'approve',
      ['bob', all],
      {
        status: 403,
        type: '/problems/forbidden',
        detail: 'You asked for the ranking update of dear, so someone else has to approve it.',
      },
    ],
    [
      'an approval of an unknown update is 404',
      'approve',
      ['carl', all],
      { status: 404, detail: 'There is no update upd_none.' },
      { id: 'upd_none' },
    ],
    [
      'an approval up to fewer units than it needs is 409',
      'approve',
      ['carl', all],
      {
        status: 409,
        type: '/problems/wrong-state',
        state: 'awaiting-approval',
        units: 640,
        detail:
          'The ranking update of dear cannot be approved up to 639 units: it needs 640 units. Nothing was spent; approve at least 640, or reject it.',
      },
      { body: { units: 639 } },
    ],
    [
      'an approval up to more units is 200',
      'approve',
      ['carl', all],
      { state: 'settled', approvedBy: 'carl', approvedUpTo: 704, units: { charged: 704 } },
      { body: { units: 704 }, before: both(704) },
    ],
    [
      'an approval of an update that costs more by now is 202',
      'approve',
      ['carl', all],
      {
        state: 'awaiting-approval',
        units: { estimated: 641, held: 0, charged: null },
        history: [{}, {}, { note: 'approved up to 640, it now needs 641' }],
      },
      { before: both(641) },
    ],
    [
      'an approval of an update that is refused when it starts is 200',
      'approve',
      ['carl', all],
      { state: 'refused', approvedBy: 'carl', problem: { type: '/problems/budget-frozen', status: 402 } },
      { before: (product) => product.call('POST', '/budgets/seo/freeze', { body: { reason: 'stop' } }) },
    ],
    [
      'a rejection is 200',
      'reject',
      ['carl', all],
      {
        state: 'rejected',
        finishedAt: '2026-11-20T10:00:00.000Z',
        units: { estimated: 640, held: 0, charged: 0 },
        history: [{}, { state: 'rejected', by: 'carl', note: 'not this month' }],
      },
      { body: { reason: 'not this month' } },
    ],
    [
      'a cancellation by an administrator is 200',
      'cancel',
      ['ada', 'admin'],
      { state: 'cancelled', history: [{}, { by: 'ada', note: 'not needed' }] },
      { body: { reason: 'not needed' } },
    ],
  ])('%s', async (title, what, [sub, scope], expected, { body, id: other, before } = {}) => {
    const { product, awaiting, person } = await strictProduct()
    const id = await awaiting()
    await before?.(product)
    const answer = await decide(product, other ?? id, what, { token: person(sub, scope), ...(body && { body }) })
    expect([answer.status, answer.body]).toMatchObject([Number(title.slice(-3)), expected])
    if (/is 403|is 409/.test(title)) expect(answer.body.update).toBe(id)
    if (answer.body.state !== 'settled') expect(product.seen('run')).toEqual([])
    if (answer.status === 202) expect(answer.body).not.toHaveProperty('approvedBy')
  })
})

describe('Prefer: respond-async', () => {
  test('respond-async answers 202 and the queue starts and settles the update', async () => {
    const { product, ask } = await strictProduct()
    const { status, body, headers } = await ask({ project: 'cheap' }, { prefer: 'respond-async' })
    const [{ id }] = body.updates
    expect(status).toBe(202)
    expect(headers.get('location')).toBe(`/updates/${id}`)
    expect(body.updates).toMatchObject([{ state: 'requested', units: { estimated: null, held: 0, charged: null } }])
    expect(await product.begun()).toEqual([id])
    expect(product.service.requests).toEqual([])
    const update = await product.guard.start(id, product.clock.now() + minutes(15))
    expect(update).toMatchObject({ state: 'settled', charged: 40 })
    expect((await product.call('GET', `/updates/${id}`)).body).toMatchObject({
      state: 'settled',
      units: { held: 40, charged: 40 },
    })
  })
})
