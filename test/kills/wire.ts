import { once } from 'node:events'
import { Agent, createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import * as z from 'zod/mini'
import type { Trap, What } from './steps.ts'

export type WireFault = 'not-sent' | 'answer-lost' | 'conflict' | 'throttled'

/**
 * The connection between the product and DynamoDB. It reports each write to the trap, and injects faults that DynamoDB Local never raises.
 */
export async function startWire(options: { endpoint: string; trap: Trap; fault: () => WireFault | null }) {
  const { trap, fault } = options
  const { hostname, port } = new URL(options.endpoint)
  const agent = new Agent({ keepAlive: true })

  const forward = async (incoming: IncomingMessage, body: Buffer) => {
    const { method, url: path, headers } = incoming
    const sent = request({ hostname, port, agent, method, path, headers }).end(body)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    return { status: answer.statusCode ?? 500, headers: answer.headers, body: await buffer(answer) }
  }

  const server = createServer(async (incoming, response) => {
    response.on('error', () => {})
    const body = await buffer(incoming).catch(() => null)
    if (body === null) return // the process died within its request
    const what = writeIn(incoming.headers, body)
    if (what && trap.passes(what, 'before')) return response.destroy()
    const bad = what && fault()
    if (bad === 'not-sent') return response.destroy()
    if (bad === 'conflict' || bad === 'throttled') return response.writeHead(400, json).end(refusals[bad])
    // The database may close a kept connection just before its next use.
    const answer = await forward(incoming, body).catch(() => null)
    if (answer === null) return response.destroy()
    if ((what && trap.passes(what, 'applied')) || bad === 'answer-lost') return response.destroy()
    response.writeHead(answer.status, answer.headers)
    response.end(answer.body, () => what && trap.passes(what, 'answered'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
      agent.destroy()
    },
  }
}

const json = { 'content-type': 'application/x-amz-json-1.0' }
const type = (name: string) => `com.amazonaws.dynamodb.v20120810#${name}`
const refusals = {
  conflict: JSON.stringify({
    __type: type('TransactionCanceledException'),
    message: 'Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict]',
    CancellationReasons: [{ Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' }],
  }),
  throttled: JSON.stringify({ __type: type('ThrottlingException'), message: 'slow down' }),
} as const

const text = z.optional(z.object({ S: z.string() }))
const transaction = z.object({
  TransactItems: z.array(
    z.object({ Put: z.optional(z.object({ Item: z.object({ pk: z.object({ S: z.string() }), state: text }) })) }),
  ),
})

const madeOf: Readonly<Record<string, What>> = {
  running: 'hold',
  settled: 'settle',
  released: 'settle',
  'in-doubt': 'doubt',
}

function writeIn(headers: IncomingHttpHeaders, body: Buffer): What | null {
  if (headers['x-amz-target'] !== 'DynamoDB_20120810.TransactWriteItems') return null
  const { TransactItems: writes } = transaction.parse(JSON.parse(body.toString()))
  for (const { Put } of writes) {
    if (Put?.Item.pk.S.startsWith('update#')) return madeOf[Put.Item.state?.S ?? ''] ?? 'record'
    if (Put?.Item.pk.S.startsWith('occurrence#')) return 'occurrence'
  }
  return 'other write'
}
