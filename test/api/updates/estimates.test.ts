import { expect, test } from 'vitest'
import { json, startProduct } from '../../support/product.ts'

test('an estimate of several projects shows the problem of each, and null where the service gave no estimate', async () => {
  const product = await startProduct({
    units: { dear: 50 },
    service: ({ url }) => (url.includes('/typo/') ? json({}, 404) : undefined),
  })
  await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 100 }], perUpdate: 45 } })
  const query = 'kind=ranking&budget=seo&project=cheap&project=dear&project=typo'
  const { status, body } = await product.call('GET', `/estimates?${query}`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ units: 90, allowed: false, problem: { type: '/problems/over-update-limit' } })
  expect(body.projects).toEqual([
    { project: 'cheap', units: 40 },
    {
      ...{ project: 'dear', units: 50 },
      problem: expect.objectContaining({ type: '/problems/over-update-limit', units: 50 }),
    },
    {
      ...{ project: 'typo', units: null },
      problem: expect.objectContaining({ type: '/problems/service-refused', serviceStatus: 404 }),
    },
  ])
})

test('an estimate that prices no project answers with the problem', async () => {
  const product = await startProduct({ service: () => json({}, 404) })
  const { status, body } = await product.call('GET', '/estimates?kind=ranking&project=a&project=b')
  expect([status, body.type, body.detail.includes('update of a')]).toEqual([502, '/problems/service-refused', true])
})
