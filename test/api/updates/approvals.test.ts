import { describe, expect, test } from 'vitest'
import { hours, minutes } from '../../support/clock.ts'
import { type Called, json, type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = (units: number) => [{ window: 'month', units }]

/**
 * Above 100 units a person has to agree. `dear` costs 640, the rest 40.
 *
 * @param how.store the most real one where several decide at once; in memory it goes faster.
 */
async function strictProduct(budget: object = {}, how: { store?: 'real' } = {}) {
  const product = await startProduct({
    units: { dear: 640 },
    ...(how.store !== 'real' && { store: createMemoryStore() }),
  })
  const { status } = await product.call('PUT', '/budgets/seo', {
    body: { limits: month(5_000), approvalAbove: 100, ...budget },
  })
  expect(status).toBe(201)
  const person = (sub: string, scope = 'read run approve') =>
    product.signed({ sub, scope, budgets: '*', exp: product.inDays(30) })
  /** Bob asks; Ada, the administrator of these tests, may approve. */
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

const statesOf = (update: { history: { state: string; by: string; note?: string }[] }) =>
  update.history.map(({ state, by, note }) => [state, by, note])

const untouched = { limit: 5_000, granted: 0, available: 5_000, held: 0, inDoubt: 0, spent: 0 }
const spent = { limit: 5_000, granted: 0, available: 4_360, held: 0, inDoubt: 0, spent: 640 }

describe('above approvalAbove', () => {
  test('an update above approvalAbove awaits approval with its reason, without a hold or a run', async () => {
    const { product, ask } = await strictProduct()
    const { status, body } = await ask()
    expect(status).toBe(202)
    expect(body.updates).toMatchObject([
      { state: 'awaiting-approval', caller: 'bob', units: { estimated: 640, held: 0, charged: null } },
    ])
    expect(statesOf(body.updates[0])).toEqual([
      ['awaiting-approval', 'guard', 'it needs 640 units, and seo wants approval above 100'],
    ])
    expect(product.seen('run')).toEqual([])
    expect(await product.figures('seo')).toEqual(untouched)
    const { body: listed } = await product.call('GET', '/updates?state=awaiting-approval')
    expect(listed.updates).toEqual(body.updates)
  })
})

describe('approve', () => {
  test('approval by another caller runs and settles the update and names the approver', async () => {
    const { product, awaiting } = await strictProduct({}, { store: 'real' })
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
    expect(statesOf(body).map(([state, by]) => `${state} ${by}`)).toEqual([
      'awaiting-approval guard',
      'requested ada',
      'running guard',
      'settled service',
    ])
    expect(body.history[1].note).toBe('for the board meeting')
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures('seo')).toEqual(spent)
    expect(await product.audit()).toBe(true)
  })

  test('a request repeated under its key answers with the outcome after approval', async () => {
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

  const past = (id: string, wanted: string, state: string, by: string, how: { at?: string; more?: string } = {}) => ({
    status: 409,
    type: '/problems/wrong-state',
    detail: `The ranking update of dear cannot be ${wanted}: it has been ${state} since ${how.at ?? '20 Nov 2026 10:00 UTC'} (${by})${how.more ?? ''}.`,
    update: id,
    state,
  })

  test('a second approval is answered with 409, the reason, and what the first approved', async () => {
    const { product, awaiting } = await strictProduct({}, { store: 'real' })
    const id = await awaiting()
    await decide(product, id, 'approve')
    const more = '; ada approved it up to 640 units'
    expect((await decide(product, id, 'approve')).body).toMatchObject(
      past(id, 'approved', 'settled', 'service', { more }),
    )
    expect((await decide(product, id, 'reject')).body).toMatchObject(
      past(id, 'rejected', 'settled', 'service', { more }),
    )
    expect((await decide(product, id, 'cancel')).body).toMatchObject(past(id, 'cancelled', 'settled', 'service'))
    expect(product.seen('run')).toHaveLength(1)
  })

  test('approval: slow: until 24 hours after, not later: 409 with the sentence, also when the sweep has been', async () => {
    const { product, awaiting } = await strictProduct()
    const [one, two] = [await awaiting(), await awaiting()]
    product.clock.advance(hours(24) - 1)
    expect((await decide(product, one, 'approve')).status).toBe(200)
    product.clock.advance(1)
    expect((await decide(product, two, 'approve')).body).toMatchObject({
      status: 409,
      type: '/problems/wrong-state',
      detail: 'The ranking update of dear could be approved until 21 Nov 2026 10:00 UTC; ask for it again.',
    })
    await product.guard.sweep(product.clock.now() + minutes(15))
    expect((await decide(product, two, 'approve')).body).toMatchObject(
      past(two, 'approved', 'expired', 'sweep', { at: '21 Nov 2026 10:00 UTC' }),
    )
    expect((await product.call('GET', `/updates/${two}`)).body).toMatchObject({
      state: 'expired',
      units: { held: 0, charged: 0 },
    })
    expect(product.seen('run')).toHaveLength(1)
  })

  test('approval: delivered twice: by two at once: one decision, one run', async () => {
    const { product, awaiting, person } = await strictProduct({}, { store: 'real' })
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
const refused = (detail: string) => ({ status: 403, type: '/problems/forbidden', detail })
const unknown = { status: 404, detail: 'There is no update upd_none.' }

/** Bob asked for it; Carl may approve. Who may decide what, and why not, is proven in test/guard/people. */
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
      refused('You asked for the ranking update of dear, so someone else has to approve it.'),
    ],
    [
      'an approval by another than the approvers is 403',
      'approve',
      ['ada', all],
      refused('You are not among the approvers of seo.'),
    ],
    [
      'an approval without the scope is 403',
      'approve',
      ['carl', 'read run admin'],
      refused('carl needs the scope approve for this, and has: read run admin.'),
    ],
    ['an approval of an unknown update is 404', 'approve', ['carl', all], unknown, { id: 'upd_none' }],
    [
      'an approval up to fewer units than it needs is 409',
      'approve',
      ['carl', all],
      {
        ...{ status: 409, type: '/problems/wrong-state', state: 'awaiting-approval', units: 640 },
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
        ...{ state: 'awaiting-approval', units: { estimated: 641, held: 0, charged: null } },
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
        ...{
          state: 'rejected',
          finishedAt: '2026-11-20T10:00:00.000Z',
          units: { estimated: 640, held: 0, charged: 0 },
        },
        history: [{}, { state: 'rejected', by: 'carl', note: 'not this month' }],
      },
      { body: { reason: 'not this month' } },
    ],
    [
      'a rejection by the caller is 403',
      'reject',
      ['bob', all],
      refused('You asked for the ranking update of dear; cancel it instead.'),
    ],
    ['a rejection without the scope is 403', 'reject', ['carl', 'read run'], { status: 403 }],
    ['a rejection of an unknown update is 404', 'reject', ['carl', all], unknown, { id: 'upd_none' }],
    [
      'a cancellation by the caller is 200',
      'cancel',
      ['bob', 'read run'],
      { state: 'cancelled', history: [{}, { by: 'bob', note: 'not needed' }] },
      { body: { reason: 'not needed' } },
    ],
    [
      'a cancellation by an administrator is 200',
      'cancel',
      ['ada', 'admin'],
      { state: 'cancelled', history: [{}, { by: 'ada' }] },
    ],
    [
      'a cancellation by another caller is 403',
      'cancel',
      ['carl', all],
      refused('bob asked for the ranking update of dear; only they or an administrator may cancel it.'),
    ],
    ['a cancellation without a scope is 403', 'cancel', ['bob', 'read'], { status: 403 }],
    ['a cancellation of an unknown update is 404', 'cancel', ['bob', all], unknown, { id: 'upd_none' }],
  ])('%s', async (title, what, [sub, scope], expected, { body, id: other, before } = {}) => {
    const { product, awaiting, person } = await strictProduct({ approvers: ['carl', 'bob'] })
    const id = await awaiting()
    await before?.(product)
    const answer = await decide(product, other ?? id, what, { token: person(sub, scope), ...(body && { body }) })
    expect([answer.status, answer.body]).toMatchObject([Number(title.slice(-3)), expected])
    if (/by (the|another) caller is 403|is 409/.test(title)) expect(answer.body.update).toBe(id)
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
