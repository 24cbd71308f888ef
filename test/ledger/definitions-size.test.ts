import { describe, expect, inject, test } from 'vitest'
import type { Caller } from '../../shared/ledger/definitions/definitions.ts'
import type { Item, Store, Value } from '../../shared/ledger/store/store.ts'
import { definitionsKey } from '../../shared/ledger/store/stored.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { minutes } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { createStore } from '../support/store/stores.ts'

/** A product with definitions that are larger than a change may make them. */
async function withCallers(
  callers: Record<string, Caller>,
  { plans = [], store }: { plans?: readonly object[]; store: Store },
) {
  const product = await startProduct({ store, plans })
  await product.guard.ledger.view()
  const [definitions] = await store.get([definitionsKey])
  const item = { ...(definitions as Item), callers: callers as unknown as Value }
  await store.transact([{ kind: 'put', item, when: [] }], 'too large')
  return product
}

const callers = (count: number, caller: Caller): Record<string, Caller> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`caller-${index}`.padEnd(30, '.'), caller]))

describe('definitions of more than 350 KB', () => {
  const large = callers(3_700, { person: 'p'.repeat(50) })
  const name = 'caller-0'.padEnd(30, '.')

  test('oversized definitions accept every stop, every end of a stop, and every change that makes them smaller', async () => {
    const { call } = await withCallers(large, { store: createMemoryStore() })
    const reason = 'r'.repeat(500)
    const sent: [string, string, object?][] = [
      ['POST', '/budgets/account/freeze', { reason }],
      ['POST', '/budgets/account/unfreeze', { reason }],
      ['PUT', `/callers/${name}`, { person: 'p'.repeat(50), disabled: true }],
      ['PUT', `/callers/${name}`, { person: 'p'.repeat(50) }],
      ['PUT', '/callers/eve', { disabled: true }],
      ['PUT', '/budgets/account', { limits: [{ window: 'month', units: 9_000 }] }],
    ]
    for (const [method, path, body] of sent)
      expect([path, (await call(method, path, { body })).status]).toEqual([path, path === '/callers/eve' ? 201 : 200])
    expect((await call('DELETE', `/callers/${name}`)).status).toBe(204)
  })

  test('oversized definitions refuse a change that makes them larger', async () => {
    const { call } = await withCallers(large, { store: createMemoryStore() })
    const { status, body } = await call('PUT', '/callers/eve', { body: { perUpdate: 5 } })
    expect([status, body.errors]).toEqual([
      400,
      [
        {
          path: 'projects',
          message: 'all budgets and callers together take at most 350 KB: name fewer projects, or delete callers',
        },
      ],
    ])
  })
})

describe.skipIf(inject('dynamodb') === null)('an item that DynamoDB refuses', () => {
  const makesRoom =
    'The book of the month or the definitions would be larger than the 400 KB that DynamoDB takes, so nothing was written and nothing was spent. An administrator makes room by deleting budgets and callers that are not used, or limits of callers; then the same request may be sent again.'

  test('an item too large for DynamoDB is a problem that says how to make room, and a plan waits for the room', async () => {
    const limits = [{ window: 'month', units: toUnits(5) }] as const
    const plan = { name: 'night', kind: 'ranking', projects: ['a', 'b'], schedule: 'cron(0 10 20 11 ? 2026)' }
    const product = await withCallers(callers(4_500, { limits }), { plans: [plan], store: await createStore() })
    const { status, body } = await product.update({ kind: 'ranking', project: 'first' })
    expect([status, body.type, body.detail]).toEqual([409, '/problems/wrong-state', makesRoom])
    expect(product.seen('run')).toEqual([])
    const passed = await product.call('GET', '/v3/on-demand/first/run')
    expect([passed.status, passed.body.detail]).toEqual([409, makesRoom])
    const grant = { type: 'grant', units: 1, window: 'month', wholeChain: false, reason: 'r' }
    const granted = await product.call('POST', '/budgets/account/entries', { body: grant })
    expect([granted.status, granted.body.detail]).toEqual([409, makesRoom])

    const asked = { body: { time: '2026-11-20T10:00:00Z' } }
    const waiting = await product.call('POST', '/plans/night/run', asked)
    expect([waiting.status, waiting.body.state]).toEqual([202, 'running'])
    await product.guard.ledger.change('ada', ({ definitions }) => ({
      definitions: { ...definitions, callers: {} },
      note: { type: 'caller', budget: 'account', reason: 'r' },
    }))
    product.clock.advance(minutes(6))
    await product.triggers.sweep(product.endsAt())
    const done = await product.call('POST', '/plans/night/run', asked)
    expect([done.status, done.body.state, await product.figures()]).toMatchObject([200, 'done', { spent: 80, held: 0 }])
  })

  test('a stop that does not fit into the item says how to make room', async () => {
    const many = callers(4_900, { person: 'p'.repeat(40) })
    const { call } = await withCallers(
      { ...many, filler: { person: 'p'.repeat(11_900) } },
      { store: await createStore() },
    )
    const { status, body } = await call('POST', '/budgets/account/freeze', { body: { reason: 'r'.repeat(500) } })
    expect([status, body.detail]).toEqual([409, makesRoom])
  })
})
