import { describe, expect, test } from 'vitest'
import { hours, minutes } from '../../support/clock.ts'
import { alarmsRaisedBy } from '../../support/infra/raised.ts'
import { linesOf } from '../../support/log-lines.ts'
import { night, startNight, time } from '../../support/night.ts'
import { json, type Product } from '../../support/product.ts'
import { createStore } from '../../support/store/stores.ts'

const raisedBy = (product: Product) => alarmsRaisedBy(linesOf(product.logged))

/** The lines of ended occurrences. */
const ended = (product: Product) =>
  linesOf(product.logged, 'occurrence')
    .filter(({ state }) => state !== 'running')
    .map(({ state, refused, duplicates, unsent }) => ({ state, refused, duplicates, unsent }))

const fireAt = (product: Product, at: number) =>
  product.triggers.handle({ plan: 'night', time: new Date(at).toISOString().replace('.000', '') }, product.endsAt())

const nothing = { refused: 0, duplicates: 0, unsent: 0 }
const freeze = (product: Product) => product.call('POST', '/budgets/account/freeze', { body: { reason: 'audit' } })

describe('a plan raises no alarm at all', () => {
  test('no alarm is raised when the same plan updated the projects an hour before', async () => {
    const { product, fire, ran } = await startNight({}, { store: await createStore() })
    await fire()
    product.clock.advance(hours(1))
    await fireAt(product, time + hours(1))
    expect(ran()).toHaveLength(night.projects.length)
    expect(ended(product)).toEqual([
      { state: 'done', ...nothing },
      { state: 'done', ...nothing },
    ])
    expect(raisedBy(product)).toEqual([])
  })

  test('no alarm is raised when the service has today’s data already', async () => {
    const { product, fire, ran } = await startNight(
      {},
      {
        store: await createStore(),
        on: ({ operation }) => (operation === 'dates' ? json(['2026-11-20']) : undefined),
      },
    )
    await fire()
    expect(ran()).toEqual([])
    expect(ended(product)).toEqual([{ state: 'done', ...nothing }])
    expect(raisedBy(product)).toEqual([])
  })

  test('no alarm is raised when a caller’s update for one of the projects is in doubt', async () => {
    const { product, fire, ran } = await startNight(
      {},
      {
        store: await createStore(),
        on: ({ project, operation }) => (project === 'a' && operation === 'run' ? { status: 500 } : undefined),
      },
    )
    await product.update({ kind: 'ranking', project: 'a', budget: 'account' })
    await fire()
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(ended(product)).toEqual([{ state: 'done', ...nothing, duplicates: 1 }])
    expect(raisedBy(product)).toEqual([])
  })
})

describe('a plan that is not done', () => {
  test('PlanNotDone is raised when a budget refuses the projects', async () => {
    const { product, fire } = await startNight({}, { store: await createStore() })
    await freeze(product)
    await fire()
    expect(ended(product)).toEqual([{ state: 'done', ...nothing, refused: 3 }])
    expect(raisedBy(product)).toEqual(['PlanNotDone'])
  })

  test('PlanNotDone is raised when the service answers no estimate for an hour', async () => {
    const { product, fire, at } = await startNight(
      {},
      { on: ({ project, operation }) => (project === 'c' && operation === 'estimate' ? { status: 503 } : undefined) },
    )
    await fire()
    for (const minute of [5, 15, 30, 55, 61]) await at(minute)
    expect(ended(product)).toEqual([{ state: 'done', ...nothing, unsent: 1 }])
    expect(raisedBy(product)).toEqual(['QueueWaits', 'PlanNotDone'])
  })

  test('PlanNotDone is raised when the plan comes too late, or stops after three updates in doubt', async () => {
    const late = await startNight()
    late.product.clock.set(new Date(time + hours(1) + minutes(5)).toISOString())
    await late.fire()
    expect(ended(late.product)).toMatchObject([{ state: 'missed' }])
    expect(raisedBy(late.product)).toEqual(['PlanNotDone'])
    const stopped = await startNight({}, { on: ({ operation }) => (operation === 'run' ? { status: 500 } : undefined) })
    await stopped.fire()
    expect(ended(stopped.product)).toMatchObject([{ state: 'stopped' }])
    expect(raisedBy(stopped.product)).toEqual(['PlanNotDone'])
  })
})
