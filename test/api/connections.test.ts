import { once } from 'node:events'
import type http from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { createAdaptorServer } from '@hono/node-server'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createMemoryStore } from '../../shared/ledger/memory-store.ts'
import { startProduct } from '../support/product.ts'

/** The API on a real socket, to which a test writes what it likes. */
async function serve() {
  const product = await startProduct({ store: createMemoryStore() })
  const server = createAdaptorServer({ fetch: product.api.fetch }) as http.Server
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const token = await product.signed({ sub: 'tool', scope: 'run read', budgets: '*' })
  return { product, token, open: () => connect(port, '127.0.0.1') }
}

describe('an upload that is cut', () => {
  test.each([['content-length: 1000'], ['transfer-encoding: chunked']])('%s: is no error of ours', async (framing) => {
    const { product, token, open } = await serve()
    const socket = open()
    socket.write(
      `POST /updates HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`,
    )
    socket.write(framing.startsWith('transfer') ? '5\r\n{"kin\r\n' : '{"kin', () => socket.resetAndDestroy())
    const lines = () => product.logged.map((line) => JSON.parse(line))
    await vi.waitFor(() => expect(lines().filter(({ event }) => event === 'request')).toHaveLength(1))
    expect(lines()).toMatchObject([{ event: 'request', level: 'info', status: 400 }])
    expect((await product.call('GET', '/updates')).body.updates).toEqual([])
  })
})

describe('two Host headers', () => {
  test.each(['/health', '/updates', '/v3/projects', '/login'])('%s: 400', async (path) => {
    const { product, open } = await serve()
    const socket = open()
    socket.end(`GET ${path} HTTP/1.1\r\nHost: units.example\r\nHost: evil.example\r\nConnection: close\r\n\r\n`)
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('A request has one Host header')
    expect(product.service.requests).toEqual([])
  })
})
