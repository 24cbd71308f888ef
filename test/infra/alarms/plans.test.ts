import { describe, expect, test } from 'vitest'
import { hours, minutes } from '../../support/clock.ts'
import { matches } from '../../support/infra/filter-pattern.ts'
import { synthesize } from '../../support/infra/stack.ts'
import { linesOf } from '../../support/log-lines.ts'
import { night, startNight, time } from '../../support/night.ts'
import { json, type Product } from '../../support/product.ts'
import { createStore } from '../../support/store/stores.ts'

const patternOf = (metric: string): string =>
  synthesize()
    .ofType('AWS::Logs::MetricFilter')
    .find(({ Properties }) => Properties.MetricTransformations[0].MetricName === metric)?.Properties.FilterPattern
const notDone = patternOf('PlansNotDone')

/** Lines about occurrences that have ended, and whether each raises PlanNotDone. */
const ended = (product: Product) =>
  linesOf(product.logged, 'occurrence')
    .filter(({ state }) => state !== 'running')
    .map((line) => {
      const { state, refused, duplicates, unsent } = line
      return { state, refused, duplicates, unsent, alarm: matches(notDone, line) }
    })

const fireAt = (product: Product, at: number) =>
  product.triggers.handle({ plan: 'night', time: new Date(at).toISOString().replace('.000', '') }, product.endsAt())

const nothing = { refused: 0, duplicates: 0, unsent: 0 }
const freeze = (product: Product) => product.call('POST', '/budgets/account/freeze', { body: { reason: 'audit' } })

describe('PlanNotDone stays silent', () => {
  test('where the projects were updated by the same plan an hour before', async () => {
    const { product, fire, ran } = await startNight({}, { store: await createStore() })
    await fire()
    product.clock.advance(hours(1))
    await fireAt(product, time + hours(1))
    expect(ran()).toHaveLength(night.projects.length)
    expect(ended(product)).toEqual([
      { state: 'done', ...nothing, alarm: false },
      { state: 'done', ...nothing, alarm: false },
    ])
  })

  test('where the service has today’s data already', async () => {
    const { product, fire, ran } = await startNight(
      {},
      {
        store: await createStore(),
        on: ({ operation }) => (operation === 'dates' ? json(['2026-11-20']) : undefined),
      },
    )
    await fire()
    expect(ran()).toEqual([])
    expect(ended(product)).toEqual([{ state: 'done', ...nothing, alarm: false }])
  })

  test('where an update of a caller for one of the projects is in doubt', async () => {
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
    expect(ended(product)).toEqual([{ state: 'done', ...nothing, duplicates: 1, alarm: false }])
  })
})

describe('PlanNotDone is raised', () => {
  test('where a budget refuses the projects', async () => {
    const { product, fire } = await startNight({}, { store: await createStore() })
    await freeze(product)
    await fire()
    expect(ended(product)).toEqual([{ state: 'done', ...nothing, refused: 3, alarm: true }])
  })

  test('where the service answers no estimate for an hour', async () => {
    const { product, fire, at } = await startNight(
      {},
      { on: ({ project, operation }) => (project === 'c' && operation === 'estimate' ? { status: 503 } : undefined) },
    )
    await fire()
    for (const minute of [5, 15, 30, 55, 61]) await at(minute)
    expect(ended(product)).toEqual([{ state: 'done', ...nothing, unsent: 1, alarm: true }])
  })

  test('where it comes too late, or is stopped after three updates in doubt', async () => {
    const late = await startNight()
    late.product.clock.set(new Date(time + hours(1) + minutes(5)).toISOString())
    await late.fire()
    expect(ended(late.product)).toMatchObject([{ state: 'missed', alarm: true }])
    const stopped = await startNight({}, { on: ({ operation }) => (operation === 'run' ? { status: 500 } : undefined) })
    await stopped.fire()
    expect(ended(stopped.product)).toMatchObject([{ state: 'stopped', alarm: true }])
  })
})

describe('OtherErrors', () => {
  const others = patternOf('OtherErrorLines')

  test('counts an error that has no alarm of its own, and one that no version has today', () => {
    expect(matches(others, { level: 'error', event: 'not-swept' })).toBe(true)
    expect(matches(others, { level: 'error', event: 'of-a-later-version' })).toBe(true)
  })

  test('does not count errors with an alarm, errors with a reason, and information', () => {
    expect(matches(others, { level: 'error', event: 'overrun' })).toBe(false)
    expect(matches(others, { level: 'error', event: 'in-doubt' })).toBe(false)
    expect(matches(others, { level: 'info', event: 'run' })).toBe(false)
  })
})
