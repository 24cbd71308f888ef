import { once } from 'node:events'
import type http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { expect, onTestFinished, test } from 'vitest'
import { type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

/** The two ways to send an answer: as a `Response`, as on AWS, and directly to a socket. */
const platforms: readonly [name: string, ask: (product: Product) => Promise<Headers>][] = [
  ['as on AWS', async ({ call }) => (await call('GET', '/v3/projects')).headers],
  [
    'as on one machine',
    async ({ api, signed }) => {
      const server = createAdaptorServer({ fetch: api.fetch }) as http.Server
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      onTestFinished(() => void server.close())
      const { port } = server.address() as AddressInfo
      const authorization = `Bearer ${await signed({ sub: 'tool', scope: 'read' })}`
      const answer = await fetch(`http://127.0.0.1:${port}/v3/projects`, { headers: { authorization } })
      await answer.text()
      return answer.headers
    },
  ],
]

const ours = ['Unit-Guard-Update', 'Unit-Guard-Units-Charged', 'unit-guard-anything', 'Idempotency-Replayed']
const ofAnOrigin = [
  'Strict-Transport-Security',
  'Content-Security-Policy',
  'Content-Security-Policy-Report-Only',
  'Set-Cookie2',
  'Access-Control-Allow-Origin',
  'Access-Control-Allow-Credentials',
  'Alt-Svc',
  'Clear-Site-Data',
  'Report-To',
  'NEL',
  'Public-Key-Pins',
  'Service-Worker-Allowed',
  'X-Frame-Options',
  'Referrer-Policy',
  'Permissions-Policy',
]

test.each(platforms)(
  'a gateway read drops headers that only the guard may send or that affect its origin, %s',
  async (_platform, ask) => {
    const foreign = Object.fromEntries([...ours, ...ofAnOrigin].map((name) => [name, 'theirs']))
    const product = await startProduct({
      store: createMemoryStore(),
      service: () => ({
        status: 200,
        headers: { ...foreign, 'content-type': 'text/csv', ETag: '"v1"', 'X-Own': 'kept' },
        body: 'text',
      }),
    })
    const headers = await ask(product)
    expect([...ours, ...ofAnOrigin].filter((name) => headers.get(name) !== null)).toEqual([])
    expect([headers.get('etag'), headers.get('x-own')]).toEqual(['"v1"', 'kept'])
  },
)
