import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../../../shared/ledger/store/memory-store.ts'
import { days } from '../../support/clock.ts'
import { type Product, startProduct } from '../../support/product.ts'
import { createStore } from '../../support/store/stores.ts'

const month = (units: number | 'unlimited', day?: number) => [
  { window: 'month', units },
  ...(day === undefined ? [] : [{ window: 'day', units: day }]),
]

/** Callers without an entry ask for `acme`, which has plenty. */
async function start(rules: object | null, options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ store: createMemoryStore(), ...options })
  await product.call('PUT', '/budgets/acme', { body: { limits: month(50_000) } })
  const list = (body: object, sub: string) => product.call('PUT', `/callers/${sub}`, { body })
  if (rules) expect((await list(rules, '*')).status).toBe(201)
  const tokenOf = (sub: string) =>
    product.signed({
      ...{ sub, scope: 'read run propose', budgets: '*', exp: Math.floor(product.clock.now() / 1000) + 30 * 24 * 3600 },
    })
  let asked = 0
  const ask = (sub: string, more: object = {}) =>
    product.update({ kind: 'ranking', project: `p-${asked++}`, budget: 'acme', ...more }, { token: tokenOf(sub) })
  return { product, list, tokenOf, ask }
}

/** Figures of `caller:<sub>`, as the audit finds them. */
const counters = async (product: Product, sub: string) => {
  const rows = await product.guard.ledger.audit()
  expect(rows.filter(({ ok }) => ok !== true)).toEqual([])
  return rows
    .filter(({ budget }) => budget === `caller:${sub}`)
    .map(({ window, recorded: { limit, available, held, spent } }) => [window, limit, available, held, spent])
}

describe('rules for callers that are not listed', () => {
  test('each unlisted caller is counted on its own, and a refusal names it', async () => {
    const { product, ask } = await start({ limits: month(100) })
    for (const sub of ['eve', 'eve', 'bob']) expect((await ask(sub)).status).toBe(201)
    const refused = await ask('eve')
    expect(refused.body).toMatchObject({
      status: 402,
      detail:
        'eve has 20 of 100 units left this month and this needs 40; resets 1 Dec 2026 00:00 UTC; ask for 20 more.',
      budgets: [{ budget: 'caller:eve', window: 'month', limit: 100, spent: 80, available: 20, short: 20 }],
    })
    expect((await ask('bob')).status).toBe(201)
    expect(await counters(product, 'eve')).toEqual([
      ['month:2026-11-01', 100, 20, 0, 80],
      ['day:2026-11-20', 'unlimited', -80, 0, 80],
    ])
    const shown = { sub: '*', disabled: false, limits: month(100), counted: { month: 2, day: 2, max: 200 } }
    expect((await product.call('GET', '/callers/%2A')).body).toEqual(shown)
    expect((await product.call('GET', '/callers')).body).toEqual({ callers: [shown] })
  })

  test('a listed caller follows its own entry alone, and a plan its budgets', async () => {
    const night = {
      name: 'night',
      kind: 'ranking',
      projects: ['a', 'b'],
      schedule: 'cron(0 5 * * ? *)',
      budget: 'acme',
    }
    const { product, list, ask } = await start(
      { limits: month(40), perUpdate: 50 },
      { plans: [night], units: { big: 60 } },
    )
    await list({ scopes: ['run'] }, 'ada')
    for (const project of ['x', 'y', 'big']) expect((await ask('ada', { project })).status).toBe(201)
    await (await product.guard.background()).fire('night', Date.parse('2026-11-20T10:00:00Z'), product.endsAt())
    expect(product.seen('run')).toHaveLength(5)
    expect(await counters(product, 'ada')).toEqual([])
    expect(await counters(product, 'schedule:night')).toEqual([])
  })

  test('perUpdate and ratePerMinute of * rule unlisted callers, each by itself', async () => {
    const { product, list, tokenOf, ask } = await start({ perUpdate: 50, ratePerMinute: 2 }, { units: { big: 51 } })
    expect((await ask('eve', { project: 'big' })).body.detail).toBe(
      'This update needs 51 units, and eve allows at most 50 for one update.',
    )
    await list({}, 'ada')
    const read = async (sub: string) => (await product.call('GET', '/updates', { token: tokenOf(sub) })).status
    expect([await read('eve'), await read('eve'), await read('bob'), await read('bob')]).toEqual([200, 429, 200, 200])
    expect([await read('ada'), await read('ada'), await read('ada')]).toEqual([200, 200, 200])
  })

  test.each([
    ['an unlisted caller is the one of *', { '*': 100 }, undefined, 100],
    ['an unlisted agent is not raised by *', { '*': 100 }, 60, 60],
    ['an unlisted agent is lowered by *', { '*': 7 }, 60, 7],
    ['a listed agent is raised by its entry', { eve: 100, '*': 7 }, 60, 100],
    ['a listed agent without one is its usual one, whatever * says', { eve: undefined, '*': 7 }, 60, 60],
    ['an agent without rules is its usual one', {}, 60, 60],
  ])('the rate of %s', async (_whose, rates, usual, expected) => {
    const { product, list } = await start(null)
    for (const [name, ratePerMinute] of Object.entries(rates)) await list({ ratePerMinute }, name)
    expect(product.guard.rateOf('eve', usual)).toBe(expected)
  })

  test('changed rules move every counter of an unlisted caller; without them nothing is counted', async () => {
    const { product, list, ask } = await start({ limits: month(100) })
    await ask('eve')
    await ask('bob')
    await list({ limits: month(50, 45) }, '*')
    expect(await counters(product, 'eve')).toEqual([
      ['month:2026-11-01', 50, 10, 0, 40],
      ['day:2026-11-20', 45, 5, 0, 40],
    ])
    expect((await ask('bob')).status).toBe(402)
    expect((await product.call('DELETE', '/callers/*')).status).toBe(204)
    expect((await product.call('GET', '/callers/*')).body.detail).toBe(
      'No rules are set for callers that are not listed.',
    )
    expect((await ask('bob')).status).toBe(201)
    await list({ limits: month(100) }, '*')
    // What was done without a counter is not counted.
    expect((await counters(product, 'bob'))[0]).toEqual(['month:2026-11-01', 100, 60, 0, 40])
  })

  test('a caller keeps its counter when it is listed, and when it loses its entry', async () => {
    const { product, list, ask } = await start({ limits: month(100) })
    await ask('eve')
    await list({ limits: month(60) }, 'eve')
    expect((await counters(product, 'eve'))[0]).toEqual(['month:2026-11-01', 60, 20, 0, 40])
    await product.call('DELETE', '/callers/eve')
    expect((await counters(product, 'eve'))[0]).toEqual(['month:2026-11-01', 100, 60, 0, 40])
    expect((await ask('eve')).status).toBe(201)
    expect((await ask('eve')).status).toBe(402)
  })

  test('counters of unlisted callers end with their day and their month', async () => {
    const { product, ask } = await start({ limits: month(100, 40) })
    await ask('eve')
    await ask('bob')
    product.clock.advance(days(1))
    await ask('eve')
    const counted = async () => (await product.call('GET', '/callers/*')).body.counted
    expect(await counted()).toEqual({ month: 2, day: 1, max: 200 })
    expect((await counters(product, 'bob')).map(([window]) => window)).toEqual(['month:2026-11-01'])
    product.clock.set('2026-12-01T08:00:00Z')
    expect(await counted()).toEqual({ month: 0, day: 0, max: 200 })
    expect((await ask('bob')).status).toBe(201)
    expect(await counted()).toEqual({ month: 1, day: 1, max: 200 })
    expect(await product.audit()).toBe(true)
  })

  test('limits of unlisted callers hold under a flood of first requests on the real store', async () => {
    const { product, ask } = await start({ limits: month(80) }, { store: await createStore() })
    const asked = Array.from({ length: 18 }, (_, index) => `pod-${index % 3}`)
    const answers = await Promise.all(asked.map((sub) => ask(sub)))
    const allowed = asked.filter((_, index) => answers[index]?.status === 201)
    expect(allowed.toSorted()).toEqual(['pod-0', 'pod-0', 'pod-1', 'pod-1', 'pod-2', 'pod-2'])
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(12)
    expect((await counters(product, 'pod-1'))[0]).toEqual(['month:2026-11-01', 80, 0, 0, 80])
  })

  test('an update settles where it was held when the rules end meanwhile', async () => {
    const { product, ask } = await start(
      { limits: month(100) },
      { service: ({ url }) => (url.endsWith('/lost/run') ? { status: 500, body: 'x' } : undefined) },
    )
    const { body } = await ask('eve', { project: 'lost' })
    expect(body.updates[0].state).toBe('in-doubt')
    await product.call('DELETE', '/callers/*')
    await product.call('POST', `/updates/${body.updates[0].id}/resolve`, { body: { outcome: 'ran', reason: 'seen' } })
    expect((await counters(product, 'eve'))[0]).toEqual(['month:2026-11-01', 100, 60, 0, 40])
  })

  test('disabling and enabling an unlisted caller leaves it under the rules', async () => {
    const { product, ask } = await start({ limits: month(40) })
    for (const disabled of [true, false])
      await product.guard.disableCaller('eve', { caller: 'ada', reason: 'r', disabled })
    expect((await ask('eve')).status).toBe(201)
    expect((await ask('eve')).status).toBe(402)
  })

  test('a name that ends with * is refused, because it would rule no one', async () => {
    const { product, list } = await start({ limits: month(40) })
    for (const name of ['okta:*', '**', 'slack:*'])
      expect((await list({ disabled: true }, name)).body.errors).toEqual([
        {
          path: 'sub',
          message: 'must not end with *: names are compared in full, and * alone is for callers that are not listed',
        },
      ])
    for (const name of ['okta:*', '*']) {
      const disabled = await product.guard.disableCaller(name, { caller: 'ada', reason: 'r', disabled: true })
      expect(disabled).toMatchObject({ kind: 'problem', problem: { slug: 'invalid-request' } })
    }
    expect((await product.call('GET', '/callers')).body.callers).toMatchObject([{ sub: '*' }])
  })

  test('what holds for a caller that is not listed names the rules of *', async () => {
    const { product } = await start({ limits: month(40) })
    expect((await product.call('GET', '/callers/eve')).body.detail).toBe(
      "eve is not listed; a token's own scopes and budgets hold for them, and so do the rules of * for callers that are not listed.",
    )
  })

  test.each([
    ['scopes', { scopes: ['read'] }],
    ['budgets', { budgets: '*' }],
    ['readsBudgets', { readsBudgets: ['acme'] }],
    ['person', { person: 'ada' }],
    ['disabled', { disabled: true }],
    ['mayForce', { mayForce: true }],
    ['mayChargeAncestors', { mayChargeAncestors: true }],
  ])('PUT /callers/* answers %s with 400', async (path, body) => {
    const { list } = await start(null)
    const refused = await list({ limits: month(40), ...body }, '*')
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [{ path, message: 'cannot be set for *: only limits, perUpdate and ratePerMinute can.' }],
    ])
  })

  test('a change of the rules is an entry that says what changed', async () => {
    const { product, list } = await start({ limits: month(40) })
    await list({ limits: month(60), perUpdate: 7, reason: 'more pods' }, '*')
    const [entry] = (await product.call('GET', '/budgets/account/entries')).body.entries
    expect(entry).toMatchObject({
      ...{ type: 'caller', reason: 'more pods' },
      changed: [
        {
          ...{ kind: 'caller', name: '*', how: 'changed' },
          members: [{ member: 'limits' }, { member: 'perUpdate', from: null, to: 7 }],
        },
      ],
    })
  })

  test('a caller who reads some budgets sees its own counter and the rules, and no other counter', async () => {
    const { product, list, ask } = await start({ limits: month(100) })
    for (const sub of ['eve', 'bob']) await ask(sub)
    const token = { scopes: new Set(['read'] as const), budgets: '*', readsBudgets: ['acme'] } as const
    const seenBy = async (caller: string) => {
      const permissions = await product.guard.permissions({ caller, token }, { atOnce: true })
      const { definitions, book } = await (await product.guard.readAs(caller, permissions)).ledger.view()
      return [definitions.unlisted?.limits, Object.keys(book.counters.month)]
    }
    expect(await seenBy('eve')).toEqual([month(100), ['acme', 'caller:eve']])
    await list({}, 'eve')
    expect((await seenBy('eve'))[0]).toBeUndefined()
  })
})
