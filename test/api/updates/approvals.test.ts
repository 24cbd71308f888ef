import { describe, expect, test } from 'vitest'
import { hours, minutes } from '../../support/clock.ts'
import { type Called, json, type Product, startProduct } from '../../support/product.ts'
import { gate } from '../../support/scripted-service.ts'
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

  test('an update of exactly approvalAbove units needs no approval, nor does a cheaper one', async () => {
    const { ask } = await strictProduct({ approvalAbove: 640 })
    expect((await ask()).status).toBe(201)
    expect((await ask({ project: 'cheap' })).status).toBe(201)
  })

  test('approvalAbove of an ancestor requires approval too', async () => {
    const { product, ask } = await strictProduct({ approvalAbove: 5_000 })
    await product.call('PUT', '/budgets/account', { body: { limits: month(50_000), approvalAbove: 639 } })
    const { body } = await ask()
    expect(statesOf(body.updates[0])).toEqual([
      ['awaiting-approval', 'guard', 'it needs 640 units, and account wants approval above 639'],
    ])
  })

  test('a caller with only the scope propose always needs approval', async () => {
    const { product, person } = await strictProduct()
    const token = person('agent', 'read propose')
    const { status, body } = await product.update({ kind: 'ranking', project: 'cheap', budget: 'seo' }, { token })
    expect(status).toBe(202)
    expect(statesOf(body.updates[0])).toEqual([
      ['awaiting-approval', 'guard', 'callers with only the scope propose need approval'],
    ])
    expect((await decide(product, body.updates[0].id, 'approve', { token })).body.detail).toBe(
      'agent needs the scope approve for this, and has: read propose.',
    )
    expect((await decide(product, body.updates[0].id, 'approve')).body).toMatchObject({
      state: 'settled',
      approvedBy: 'ada',
    })
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

  test('a caller cannot approve their own update', async () => {
    const { product, awaiting, bob } = await strictProduct()
    const id = await awaiting()
    const refused = await decide(product, id, 'approve', { token: bob })
    expect(refused.body).toMatchObject({
      status: 403,
      type: '/problems/forbidden',
      detail: 'You asked for the ranking update of dear, so someone else has to approve it.',
      update: id,
    })
    expect(product.seen('run')).toEqual([])
  })

  test('only the approvers of the nearest budget can approve', async () => {
    const { product, awaiting, person } = await strictProduct({ approvers: ['carl', 'bob'] })
    await product.call('PUT', '/budgets/account', { body: { limits: month(50_000), approvers: ['dora'] } })
    const id = await awaiting()
    for (const [_name, token] of [
      ['ada', undefined],
      ['dora', person('dora')],
    ] as const) {
      const refused = await decide(product, id, 'approve', token ? { token } : {})
      expect(refused.body).toMatchObject({ status: 403, detail: 'You are not among the approvers of seo.' })
    }
    expect((await decide(product, id, 'approve', { token: person('bob') })).status).toBe(403)
    expect((await decide(product, id, 'approve', { token: person('carl', 'approve') })).status).toBe(200)
  })

  const tooLow = (cap: string, needed: string) =>
    `The ranking update of dear cannot be approved up to ${cap}: it needs ${needed} units. Nothing was spent; approve at least ${needed}, or reject it.`

  test('approval of the shown units does not cover a higher price, even if sent twice', async () => {
    const { product, awaiting } = await strictProduct()
    const id = await awaiting()
    const body = { units: 640 }
    const low = await decide(product, id, 'approve', { body: { units: 639 } })
    expect(low.body).toMatchObject({ status: 409, state: 'awaiting-approval', detail: tooLow('639 units', '640') })
    product.clock.advance(minutes(1))
    product.service.script(({ url }) => /\/(estimate|run)$/.test(url), json({ keyword_units: 4_000 }))
    expect(await decide(product, id, 'approve', { body })).toMatchObject({
      status: 202,
      body: { state: 'awaiting-approval', units: { estimated: 4_000 } },
    })
    expect((await decide(product, id, 'approve', { body })).body).toMatchObject({
      ...{ status: 409, update: id, state: 'awaiting-approval' },
      ...{ units: 4_000, detail: tooLow('640 units', '4,000') },
    })
    expect(product.seen('run')).toEqual([])
    expect((await decide(product, id, 'approve', { body: { units: -1 } })).status).toBe(400)
    expect(await decide(product, id, 'approve', { body: { units: 4_000 } })).toMatchObject({
      status: 200,
      body: { state: 'settled', units: { charged: 4_000 } },
    })
  })

  test('an empty list of approvers lets everyone with the scope approve', async () => {
    const { product, awaiting } = await strictProduct({ approvers: [] })
    expect((await decide(product, await awaiting(), 'approve')).status).toBe(200)
  })

  test('approval requires the scope approve and an existing update', async () => {
    const { product, awaiting, person } = await strictProduct()
    const id = await awaiting()
    expect((await decide(product, id, 'approve', { token: person('carl', 'read run admin') })).status).toBe(403)
    expect((await decide(product, 'upd_none', 'approve')).body).toMatchObject({
      status: 404,
      detail: 'There is no update upd_none.',
    })
    expect((await decide(product, id, 'approve', { body: { why: 'x' } })).status).toBe(400)
    expect((await decide(product, id, 'approve', { body: { reason: '' } })).status).toBe(400)
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

  test('approval after a rejection or cancellation is answered with 409 and the reason', async () => {
    const { product, awaiting, bob } = await strictProduct()
    const [one, two] = [await awaiting(), await awaiting()]
    await decide(product, one, 'reject')
    await decide(product, two, 'cancel', { token: bob })
    expect((await decide(product, one, 'approve')).body).toMatchObject(past(one, 'approved', 'rejected', 'ada'))
    expect((await decide(product, two, 'approve')).body).toMatchObject(past(two, 'approved', 'cancelled', 'bob'))
    expect(product.seen('run')).toEqual([])
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

  test.each<[string, { units?: number }, number, number, object]>([
    ['the estimate, at the estimate', {}, 640, 200, { state: 'settled', approvedUpTo: 640, units: { charged: 640 } }],
    ['the estimate, at less', {}, 80, 200, { state: 'settled', approvedUpTo: 640, units: { estimated: 80, held: 80 } }],
    ['the estimate, at one unit more', {}, 641, 202, { units: { estimated: 641, held: 0, charged: null } }],
    ['a cap, at the cap', { units: 704 }, 704, 200, { state: 'settled', approvedUpTo: 704, units: { held: 704 } }],
    ['a cap, at one unit more', { units: 704 }, 705, 202, { units: { estimated: 705, held: 0, charged: null } }],
  ])('an approval up to %s', async (_what, body, units, status, expected) => {
    const { product, awaiting, person } = await strictProduct()
    const id = await awaiting()
    product.clock.advance(minutes(1))
    product.service.script(({ url }) => /\/(estimate|run)$/.test(url), json({ keyword_units: units }))
    const answer = await decide(product, id, 'approve', { body })
    expect([answer.status, answer.body]).toMatchObject([status, expected])
    if (status === 200) return
    expect(answer.body).toMatchObject({
      state: 'awaiting-approval',
      history: [{}, {}, { note: `approved up to ${body.units ?? 640}, it now needs ${units}` }],
    })
    expect(answer.body).not.toHaveProperty('approvedBy')
    expect(product.seen('run')).toEqual([])
    expect(await product.figures('seo')).toEqual(untouched)
    product.clock.advance(minutes(1))
    const again = await decide(product, id, 'approve', { token: person('carl') })
    expect([again.status, again.body]).toMatchObject([
      200,
      { state: 'settled', approvedBy: 'carl', approvedUpTo: units, units: { charged: units } },
    ])
  })

  test('an approved update is refused with the numbers if too few units are left when it starts', async () => {
    const { product, awaiting } = await strictProduct()
    const id = await awaiting()
    await product.call('PUT', '/budgets/seo', { body: { limits: month(600), approvalAbove: 100 } })
    const { status, body } = await decide(product, id, 'approve')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      state: 'refused',
      approvedBy: 'ada',
      problem: {
        type: '/problems/over-budget',
        status: 402,
        detail:
          'seo has 600 of 600 units left this month and this needs 640; resets 1 Dec 2026 00:00 UTC; ask for 40 more.',
      },
    })
    expect(product.seen('run')).toEqual([])
  })

  test('an approved update is refused if its budget was frozen meanwhile', async () => {
    const { product, awaiting } = await strictProduct()
    const id = await awaiting()
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'stop' } })
    expect((await decide(product, id, 'approve')).body).toMatchObject({
      state: 'refused',
      problem: { type: '/problems/budget-frozen' },
    })
  })

  test('an update of a deleted budget cannot be approved but can be rejected', async () => {
    const { product, awaiting } = await strictProduct()
    const id = await awaiting()
    expect((await product.call('DELETE', '/budgets/seo')).status).toBe(204)
    expect((await decide(product, id, 'approve')).body).toMatchObject({
      status: 409,
      type: '/problems/wrong-state',
      detail:
        'The ranking update of dear cannot be approved: its budget seo was deleted; create seo again, or reject the update.',
    })
    expect((await decide(product, id, 'reject')).body.state).toBe('rejected')
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

  test('two simultaneous approvals by one person run the update once', async () => {
    const { product, awaiting } = await strictProduct({}, { store: 'real' })
    const id = await awaiting()
    const other = product.startProcess()
    const answers = await Promise.all([
      decide(product, id, 'approve'),
      product.call('POST', `/updates/${id}/approve`, { process: other }),
    ])
    for (const { status } of answers) expect([200, 202, 409]).toContain(status)
    expect(answers.map(({ status }) => status)).toContain(200)
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures('seo')).toEqual(spent)
    expect(await product.audit()).toBe(true)
  })

  test('an approval while the service is unreachable is recorded and started later', async () => {
    const { product, awaiting } = await strictProduct()
    const id = await awaiting()
    product.clock.advance(minutes(1))
    product.service.script('/on-demand/dear/estimate', { status: 503 }, { status: 503 }, json({ keyword_units: 640 }))
    const { status, body } = await decide(product, id, 'approve')
    expect([status, body.state, body.approvedBy]).toEqual([202, 'requested', 'ada'])
    product.clock.advance(minutes(3))
    const swept = await product.guard.sweep(product.clock.now() + minutes(15))
    expect(swept.begun).toEqual([id])
    expect((await product.call('GET', `/updates/${id}`)).body).toMatchObject({ state: 'settled', approvedBy: 'ada' })
    expect(product.seen('run')).toHaveLength(1)
  })
})

describe('reject', () => {
  test('a rejection is final and keeps its reason', async () => {
    const { product, awaiting, ask } = await strictProduct()
    const id = await awaiting()
    const { status, body } = await decide(product, id, 'reject', { body: { reason: 'not this month' } })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id,
      state: 'rejected',
      finishedAt: '2026-11-20T10:00:00.000Z',
      units: { estimated: 640, held: 0, charged: 0 },
    })
    expect(statesOf(body).at(-1)).toEqual(['rejected', 'ada', 'not this month'])
    expect((await decide(product, id, 'reject')).status).toBe(409)
    expect(await product.figures('seo')).toEqual(untouched)
    expect((await ask()).body.updates[0].state).toBe('awaiting-approval')
  })

  test('a request repeated under its key answers 402 with the person who rejected it', async () => {
    const { product, ask } = await strictProduct()
    const first = await ask({}, { 'idempotency-key': 'once' })
    const id = first.body.updates[0].id
    await decide(product, id, 'reject', { body: { reason: 'not this month' } })
    const { status, body } = await ask({}, { 'idempotency-key': 'once' })
    expect(status).toBe(402)
    expect(body).toMatchObject({
      type: '/problems/rejected',
      detail: `The update ${id} was rejected by ada: not this month.`,
      updates: [{ id, state: 'rejected' }],
    })
  })

  test('a caller cannot reject their own update, nor without the scope approve', async () => {
    const { product, awaiting, bob, person } = await strictProduct()
    const id = await awaiting()
    expect((await decide(product, id, 'reject', { token: bob })).body).toMatchObject({
      status: 403,
      detail: 'You asked for the ranking update of dear; cancel it instead.',
      update: id,
    })
    expect((await decide(product, id, 'reject', { token: person('carl', 'read run') })).status).toBe(403)
    expect((await decide(product, 'upd_none', 'reject')).status).toBe(404)
  })

  test('one of a simultaneous rejection and approval wins', async () => {
    const { product, awaiting, person } = await strictProduct({}, { store: 'real' })
    const id = await awaiting()
    const answers = await Promise.all([
      decide(product, id, 'reject', { token: person('carl') }),
      decide(product, id, 'approve', { token: person('dora') }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const { body } = await product.call('GET', `/updates/${id}`)
    expect(product.seen('run')).toHaveLength(body.state === 'settled' ? 1 : 0)
    expect(['settled', 'rejected']).toContain(body.state)
  })
})

describe('cancel', () => {
  test.each<[string, string, string]>([
    ['its own caller', 'bob', 'read run'],
    ['an administrator', 'ada', 'admin'],
  ])('approval by %s is answered with 200', async (_who, sub, scope) => {
    const { product, awaiting, person } = await strictProduct()
    const id = await awaiting()
    const { status, body } = await decide(product, id, 'cancel', {
      token: person(sub, scope),
      body: { reason: 'not needed' },
    })
    expect([status, body.state]).toEqual([200, 'cancelled'])
    expect(statesOf(body).at(-1)).toEqual(['cancelled', sub, 'not needed'])
  })

  test('a caller cannot cancel the updates of other callers', async () => {
    const { product, awaiting, person } = await strictProduct()
    const id = await awaiting()
    const refused = await decide(product, id, 'cancel', { token: person('carl') })
    expect(refused.body).toMatchObject({
      status: 403,
      detail: 'bob asked for the ranking update of dear; only they or an administrator may cancel it.',
      update: id,
    })
    expect((await decide(product, id, 'cancel', { token: person('bob', 'read') })).status).toBe(403)
    expect((await decide(product, 'upd_none', 'cancel')).status).toBe(404)
  })

  test('a cancelled update that waited in the queue is never started', async () => {
    const { product, ask, bob } = await strictProduct()
    const { body } = await ask({ project: 'cheap' }, { prefer: 'respond-async' })
    const [{ id }] = body.updates
    expect((await decide(product, id, 'cancel', { token: bob })).body.state).toBe('cancelled')
    expect(await product.guard.start(id, product.clock.now() + minutes(15))).toMatchObject({ state: 'cancelled' })
    expect(product.service.requests).toEqual([])
  })

  test('an update that is running, in doubt or done cannot be cancelled', async () => {
    const { product, ask } = await strictProduct()
    const { opened, open } = gate()
    product.service.script('/on-demand/cheap/run', { status: 500, once: opened })
    const asked = ask({ project: 'cheap' })
    while (product.seen('run').length === 0) await new Promise(setImmediate)
    const [{ id }] = (await product.call('GET', '/updates?state=running')).body.updates
    expect((await decide(product, id, 'cancel')).body).toMatchObject({
      status: 409,
      detail: `The ranking update of cheap cannot be cancelled: it has been running since 20 Nov 2026 10:00 UTC (guard).`,
    })
    open()
    await asked
    expect((await decide(product, id, 'cancel')).body).toMatchObject({ status: 409, state: 'in-doubt' })
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

  test('a queued update started several times by two processes runs once', async () => {
    const { product, ask } = await strictProduct({}, { store: 'real' })
    const { body } = await ask({ project: 'cheap' }, { prefer: 'respond-async' })
    const [{ id }] = body.updates
    const other = product.startProcess().services.guard
    const endsAt = product.clock.now() + minutes(15)
    await Promise.all([
      product.guard.start(id, endsAt),
      other.start(id, endsAt),
      product.guard.start(id, endsAt),
      other.start(id, endsAt),
    ])
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.guard.start(id, endsAt)).toMatchObject({ state: 'settled' })
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures('seo')).toMatchObject({ available: 4_960, held: 0, spent: 40 })
    expect(await product.audit()).toBe(true)
  })

  test('a queued update that needs approval waits for it when it is started', async () => {
    const { product, ask } = await strictProduct()
    const { body } = await ask({}, { prefer: 'respond-async' })
    const [{ id }] = body.updates
    expect(await product.guard.start(id, product.clock.now() + minutes(15))).toMatchObject({
      state: 'awaiting-approval',
      estimated: 640,
    })
    expect((await decide(product, id, 'approve')).body).toMatchObject({ state: 'settled', approvedBy: 'ada' })
    expect(product.seen('run')).toHaveLength(1)
  })

  test('respond-async refuses at once what it can refuse without the service', async () => {
    const { product, ask } = await strictProduct()
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'stop' } })
    const { status, body } = await ask({ project: 'cheap' }, { prefer: 'respond-async' })
    expect([status, body.type]).toEqual([402, '/problems/budget-frozen'])
    expect(await product.begun()).toEqual([])
  })

  test('a queued update is not started after an hour', async () => {
    const { product, ask } = await strictProduct()
    const { body } = await ask({ project: 'cheap' }, { prefer: 'respond-async' })
    const [{ id }] = body.updates
    product.clock.advance(hours(1))
    expect(await product.guard.start(id, product.clock.now() + minutes(15))).toMatchObject({ state: 'requested' })
    await product.guard.sweep(product.clock.now() + minutes(15))
    expect((await product.call('GET', `/updates/${id}`)).body.state).toBe('expired')
    expect(product.service.requests).toEqual([])
  })

  test('the queue ignores an unknown update', async () => {
    const { product } = await strictProduct()
    expect(await product.guard.start('upd_none', product.clock.now() + minutes(15))).toBeNull()
  })
})
