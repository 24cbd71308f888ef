import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { onTestFinished } from 'vitest'

export const signingKey = `whsec_${Buffer.from('canary-events-key-of-tests').toString('base64')}`

export interface Received {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: a receiver knows no types of ours.
  readonly event: any
}

type Handle = (response: ServerResponse, received: Received) => void

/** Another system that receives events over real sockets. It checks every signature with the official library. */
export async function startReceiver(handle: Handle = (response) => response.end(), tls?: ServerOptions) {
  const received: Received[] = []
  let answer = handle
  const listener: Parameters<typeof createServer>[1] = async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { method = '', headers } = request
    const one = { method, headers, body, event: body === '' ? null : JSON.parse(body) }
    received.push(one)
    answer(response, one)
  }
  const server = tls ? createTlsServer(tls, listener) : createServer(listener)
  server.on('connection', (socket) => socket.on('error', () => {}))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    received,
    ids: () => received.map(({ event }) => event.id),
    types: () => received.map(({ event }) => event.type),
    answers: (next: Handle) => {
      answer = next
    },
  }
}

/** @throws if a receiver would reject it. The time is not compared, because the clock of tests stands still. */
export function mustBeSigned({ headers, body }: Received, key = signingKey): void {
  const text = (name: string) => String(headers[name])
  const id = text('webhook-id')
  const at = new Date(Number(text('webhook-timestamp')) * 1000)
  const signatures = text('webhook-signature').split(' ')
  if (!signatures.includes(new Webhook(key).sign(id, at, body))) throw new Error(`not signed: ${id}`)
}

export const targetAt = (url: string, own: object = {}) => ({
  name: 'warehouse',
  url,
  secret: 'unit-guard/events/warehouse',
  types: ['update.*'],
  ...own,
})
