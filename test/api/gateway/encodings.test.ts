import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { startProduct } from '../../support/product.ts'
import type { Answer } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const start = (answer: Answer) => startProduct({ store: createMemoryStore(), service: () => answer })

const why = 'is content-encoded although identity was asked, so the guard cannot search it for its token'
const remedy = 'turn off forced compression at the service or its proxy'

describe('a content-encoded answer to a free operation of the gateway', () => {
  test.each([
    ['GET', '/v3/projects', 'Nothing was changed; the same request may be sent again.'],
    ['GET', '/v3/on-demand/acme/estimate', 'Nothing was changed; the same request may be sent again.'],
    ['POST', '/v3/projects/acme/export-ctr', 'It may have taken effect: look at the project before you send it again.'],
  ])('a gzip answer to %s %s is 502 with the reason and the remedy', async (method, path, outcome) => {
    const product = await start({ headers: { 'content-encoding': 'gzip' }, body: gzipSync('{"projects":[]}') })
    const { status, body } = await product.call(method, path)
    expect([status, body.type, body.serviceStatus]).toEqual([502, '/problems/service-unreachable', 200])
    expect(body.detail).toBe(`The service’s answer cannot be passed on: it ${why}: ${remedy}. ${outcome}`)
    expect(product.service.requests).toHaveLength(1)
    expect(product.service.requests[0]?.headers['accept-encoding']).toBe('identity')
  })

  test.each(['br', 'deflate', 'utf-8, gzip', 'gzip, identity', 'zstd', 'unknown'])(
    'an answer with the content encoding %s is refused',
    async (encoding) => {
      const product = await start({ headers: { 'content-encoding': encoding }, body: '{}' })
      const { status, body } = await product.call('GET', '/v3/projects')
      expect([status, body.detail.includes(why)]).toEqual([502, true])
    },
  )

  test.each(['utf-8', 'UTF-8', 'utf8', 'none', 'identity', ''])(
    'an answer with the content encoding %j is plain, and passes without that header',
    async (encoding) => {
      const headers = { 'content-encoding': encoding, 'content-type': 'text/csv', etag: '"1"' }
      const product = await start({ headers, body: 'projekt;größe' })
      const { status, text, headers: passed } = await product.call('GET', '/v3/projects')
      expect([status, text, passed.get('content-encoding'), passed.get('etag')]).toEqual([
        200,
        'projekt;größe',
        null,
        '"1"',
      ])
    },
  )

  test('a failure before any answer still says that the service could not be reached', async () => {
    const product = await start({ kind: 'reset' })
    const { status, body } = await product.call('GET', '/v3/projects')
    expect([status, body.detail]).toEqual([
      502,
      'The service could not be reached: connection reset. Nothing was changed; the same request may be sent again.',
    ])
  })
})
