import { describe, expect, test } from 'vitest'
import { hours, minutes } from '../../support/clock.ts'
import { alarmsRaisedBy } from '../../support/infra/raised.ts'
import { linesOf } from '../../support/log-lines.ts'
import { json, type Product, startProduct } from '../../support/product.ts'
import type { Answer } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const raisedBy = (product: Product) => alarmsRaisedBy(linesOf(product.logged))
const initech = { kind: 'ranking', project: 'initech' }

const startBeside = (answer: Answer) => startProduct({ store: createMemoryStore(), service: () => answer })

const sweepAfter = async (product: Product, ms: number) => {
  product.clock.advance(ms)
  await product.triggers.handle({ task: 'sweep' }, product.endsAt())
}

const answers: [string, Answer][] = [
  ['refuses all', json({ response_code: 5 }, 402)],
  ['does not know the project', json({}, 404)],
  ['has too much to do', json({}, 429)],
  ['fails', json({}, 500)],
  ['is down', json({}, 503)],
  ['closes connections', { kind: 'reset' }],
]

describe('bad answers of the service raise no alarm', () => {
  test.each(answers)('no alarm is raised when the service %s', async (_, answer) => {
    const product = await startBeside(answer)
    await product.update(initech)
    await product.call('GET', '/estimates?kind=ranking&project=initech')
    await product.call('GET', '/v3/projects/initech/dates')
    await product.call('GET', '/v3/on-demand/initech/run')
    await product.update(initech, { headers: { prefer: 'respond-async' } })
    await sweepAfter(product, minutes(10))
    await product.triggers.handle({ task: 'digest' }, product.endsAt())
    expect(raisedBy(product)).toEqual([])
  })

  test('if only the run fails, the first alarm is raised when the doubt is an hour old', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ url }) => (url.includes('/run') ? json({}, 500) : undefined),
    })
    await product.update(initech)
    await sweepAfter(product, minutes(10))
    expect(raisedBy(product)).toEqual([])
    await sweepAfter(product, hours(1))
    expect(raisedBy(product)).toEqual(['InDoubt'])
  })

  test('no alarm is raised until an update has waited for half an hour', async () => {
    const product = await startBeside(json({}, 503))
    await product.update(initech, { headers: { prefer: 'respond-async' } })
    await sweepAfter(product, minutes(29))
    expect(raisedBy(product)).toEqual([])
    await sweepAfter(product, minutes(1))
    expect(raisedBy(product)).toEqual(['QueueWaits'])
  })
})

test('an unreadable estimate raises OtherErrors, because no update can run', async () => {
  const product = await startBeside(json({ nothing: true }))
  await product.update(initech)
  expect(raisedBy(product)).toEqual(['OtherErrors'])
})

test('a full budget raises no alarm', async () => {
  const product = await startProduct({ store: createMemoryStore() })
  await product.call('PUT', '/budgets/small', { body: { limits: [{ window: 'month', units: 10 }] } })
  const { status } = await product.update({ ...initech, budget: 'small' })
  expect(status).toBe(402)
  await sweepAfter(product, minutes(10))
  await product.triggers.handle({ task: 'digest' }, product.endsAt())
  expect(raisedBy(product)).toEqual([])
})
