import { expect, test } from 'vitest'
import { startProduct } from '../../support/product.ts'

test('a guarded update is estimated, held, run and settled', async () => {
  const product = await startProduct()
  const { status, body, headers } = await product.update({ kind: 'ranking', project: 'acme.example' })
  expect(body).toEqual({
    updates: [
      {
        id: expect.stringMatching(/^upd_[0-9a-z]{26}$/),
        kind: 'ranking',
        project: 'acme.example',
        budget: 'account',
        caller: 'ada',
        via: 'http',
        state: 'settled',
        version: 2,
        window: 'month:2026-11-01',
        units: { estimated: 40, held: 40, charged: 40 },
        createdAt: '2026-11-20T10:00:00.000Z',
        finishedAt: '2026-11-20T10:00:00.000Z',
        service: { status: 200, body: '{"response_code":0,"data":{"keyword_units":40}}' },
        history: [
          { state: 'running', at: '2026-11-20T10:00:00.000Z', by: 'guard', note: '40 units held on account' },
          {
            state: 'settled',
            at: '2026-11-20T10:00:00.000Z',
            by: 'service',
            note: 'ran; it cost 40 units',
          },
        ],
      },
    ],
  })
  expect(status).toBe(201)
  expect(headers.get('location')).toBe(`/updates/${body.updates[0].id}`)
  expect(product.service.requests.map(({ method, url }) => `${method} ${url}`).sort()).toEqual([
    'GET /v3/on-demand/acme.example/estimate',
    'GET /v3/on-demand/acme.example/run',
    'GET /v3/projects/acme.example/dates',
  ])
  expect(await product.figures()).toEqual({
    limit: 50000,
    granted: 0,
    available: 49960,
    held: 0,
    inDoubt: 0,
    spent: 40,
  })
  expect(await product.audit()).toBe(true)
})
