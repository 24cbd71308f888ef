import { describe, expect, test } from 'vitest'
import { minutes } from '../../support/clock.ts'
import { due, night, startNight } from '../../support/night.ts'
import type { Product } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = (units: number) => [{ window: 'month', units }]
const owning = (units: number) => ({ limits: month(units), projects: [{ name: 'a' }] })

/** Changes between the request of a plan and the start of its update. */
const changes: [what: string, change: (product: Product) => Promise<unknown>, slug: string][] = [
  [
    'its budget was frozen',
    (product) => product.call('POST', '/budgets/seo/freeze', { body: { reason: 'audit' } }),
    'budget-frozen',
  ],
  [
    'the plan was paused',
    (product) => product.call('POST', '/plans/night/pause', { body: { reason: 'audit' } }),
    'plan-paused',
  ],
  [
    'its project moved to another budget',
    async (product) => {
      await product.call('PUT', '/budgets/seo?release=true', { body: { limits: month(20) } })
      await product.call('PUT', '/budgets/other', { body: owning(500) })
    },
    'wrong-state',
  ],
  [
    'its caller was disabled',
    (product) => product.call('PUT', '/callers/schedule:night', { body: { disabled: true } }),
    'forbidden',
  ],
]

describe.each(changes)('an update of a plan whose rights changed: %s', (_what, change, slug) => {
  test('an approved update of a plan is not started after its rights have changed', async () => {
    const { product, fire, ran } = await startNight({ projects: ['a'], whenShort: 'ask' }, { stream: false })
    await product.call('PUT', '/budgets/seo', { body: owning(20) })
    await fire()
    const { body } = await product.call('GET', '/updates?state=awaiting-approval')
    const [{ id }] = body.updates
    expect(await product.guard.decide('approve', id, { caller: 'ada' })).toMatchObject({
      kind: 'done',
      update: { state: 'requested' },
    })
    await change(product)
    await product.guard.start(id, product.endsAt())
    expect(ran()).toEqual([])
    expect(await product.guard.ledger.update(id)).toMatchObject({ state: 'refused', problem: { slug } })
    expect(await product.audit()).toBe(true)
  })

  test('a retried update of a plan is not started after its rights have changed', async () => {
    let isDown = true
    const { product, fire, at, ran, report } = await startNight(
      { projects: ['a'] },
      { on: ({ operation }) => (isDown && operation === 'estimate' ? { status: 503 } : undefined) },
    )
    await product.call('PUT', '/budgets/seo', { body: owning(500) })
    await fire()
    isDown = false
    await change(product)
    await at(5)
    expect(ran()).toEqual([])
    expect(await report()).toMatchObject({ rows: [{ update: { state: 'refused', problem: { slug } } }] })
    expect(await product.audit()).toBe(true)
  })
})

describe('an update of a plan that is removed or disabled in its file', () => {
  test.each([
    ['not enabled', { ...night, enabled: false }],
    ['gone', { ...night, name: 'day' }],
  ])('an update of a plan that is %s is not started, also where a person has approved it', async (_what, plan) => {
    const store = createMemoryStore()
    const first = await startNight({ projects: ['a'], whenShort: 'ask' }, { store, stream: false })
    await first.product.call('PUT', '/budgets/seo', { body: owning(20) })
    await first.fire()
    const { body } = await first.product.call('GET', '/updates?state=awaiting-approval')
    const [{ id }] = body.updates
    const { product, ran } = await startNight(plan, { store, clock: first.product.clock, stream: false })
    const { body: approved } = await product.call('POST', `/updates/${id}/approve`)
    product.clock.advance(minutes(3))
    await product.triggers.sweep(product.endsAt())
    expect([ran(), approved.state, approved.problem.detail]).toEqual([
      [],
      'refused',
      'The plan night is not enabled in the plans file, so it cannot run.',
    ])
    const again = await first.product.call('POST', '/plans/night/run', { body: { time: due, only: 'refused' } })
    expect(again.body).toMatchObject({ counts: { awaitingApproval: 1 } })
  })
})
