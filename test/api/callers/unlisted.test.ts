import { describe, expect, test } from 'vitest'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = (units: number | 'unlimited', day?: number) => [
  { window: 'month', units },
  ...(day === undefined ? [] : [{ window: 'day', units: day }]),
]

/** Callers without an entry request updates for `acme`, which has plenty of units. */
async function start(rules: object | null, options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ store: createMemoryStore(), ...options })
  await product.call('PUT', '/budgets/acme', { body: { limits: month(50_000) } })
  const list = (body: object, sub: string) => product.call('PUT', `/callers/${sub}`, { body })
  if (rules) expect((await list(rules, '*')).status).toBe(201)
  const tokenOf = (sub: string) =>
    product.signed({
      sub,
      scope: 'read run propose',
      budgets: '*',
      exp: Math.floor(product.clock.now() / 1000) + 30 * 24 * 3600,
    })
  let asked = 0
  const ask = (sub: string, more: object = {}) =>
    product.update({ kind: 'ranking', project: `p-${asked++}`, budget: 'acme', ...more }, { token: tokenOf(sub) })
  return { product, list, tokenOf, ask }
}

describe('rules for callers that are not listed', () => {
  test('perUpdate and ratePerMinute of * limit each unlisted caller separately', async () => {
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
    ['an unlisted caller has the rate of *', { '*': 100 }, undefined, 100],
    ['* does not raise the rate of an unlisted agent', { '*': 100 }, 60, 60],
    ['* lowers the rate of an unlisted agent', { '*': 7 }, 60, 7],
    ['its entry raises the rate of a listed agent', { eve: 100, '*': 7 }, 60, 100],
    ['a listed agent without a rate has its usual rate, whatever * says', { eve: undefined, '*': 7 }, 60, 60],
    ['an agent without rules has its usual rate', {}, 60, 60],
  ])('the rate of a caller follows from the rules: %s', async (_whose, rates, usual, expected) => {
    const { product, list } = await start(null)
    for (const [name, ratePerMinute] of Object.entries(rates)) await list({ ratePerMinute }, name)
    expect(product.guard.rateOf('eve', usual)).toBe(expected)
  })

  test('an unlisted caller keeps the rules after it was disabled and enabled', async () => {
    const { product, ask } = await start({ perUpdate: 39 })
    for (const disabled of [true, false])
      await product.guard.disableCaller('eve', { caller: 'ada', reason: 'r', disabled })
    expect((await ask('eve')).status).toBe(402)
  })

  test('a caller name that ends with * is refused, because it would match no one', async () => {
    const { product, list } = await start({ perUpdate: 40 })
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

  test('a refusal of an unlisted caller names the rules of *', async () => {
    const { product } = await start({ perUpdate: 40 })
    expect((await product.call('GET', '/callers/eve')).body.detail).toBe(
      "eve is not listed; a token's own scopes and budgets hold for them, and so do the rules of * for callers that are not listed.",
    )
  })

  test('a change of the rules writes an entry that says the change', async () => {
    const { product, list } = await start({ perUpdate: 40 })
    await list({ ratePerMinute: 60, perUpdate: 7, reason: 'more pods' }, '*')
    const [entry] = (await product.call('GET', '/budgets/account/entries')).body.entries
    expect(entry).toMatchObject({
      type: 'caller',
      reason: 'more pods',
      changed: [
        {
          kind: 'caller',
          name: '*',
          how: 'changed',
          members: [
            { member: 'perUpdate', from: 40, to: 7 },
            { member: 'ratePerMinute', from: null, to: 60 },
          ],
        },
      ],
    })
  })

  test('a caller who reads some budgets sees the rules until they are listed', async () => {
    const { product, list } = await start({ perUpdate: 40 })
    const token = { scopes: new Set(['read'] as const), budgets: '*', readsBudgets: ['acme'] } as const
    const seen = async () => {
      const permissions = await product.guard.permissions({ caller: 'eve', token }, { atOnce: true })
      return (await permissions.guard.ledger.view()).definitions.unlisted
    }
    expect(await seen()).toEqual({ perUpdate: 40 })
    await list({}, 'eve')
    expect(await seen()).toBeUndefined()
  })
})
