import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { finished } from 'node:stream/promises'
import type { FunctionHead } from '../../support/edge/function-url.ts'

/** The function's answer to one event, as Lambda receives it. */
export interface FunctionAnswer {
  /** The part of a streamed answer before its body. */
  readonly head: FunctionHead | null
  /** The body as it arrives. */
  readonly body: AsyncIterable<Buffer>
  /** Known as soon as the body has ended: the runtime reports a broken answer in the trailers of its request. */
  errorType(): string | undefined
}

interface Invocation {
  readonly event: object
  readonly deadlineAt: number
  take(answer: FunctionAnswer): void
}

/** The end of a streamed answer's head. */
const headEnd = Buffer.alloc(8)

/**
 * The side of Lambda: it hands one event at a time to the process that asks for it.
 *
 * @param idle tells whether the process waits for an event, and has sent its last answer.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export async function startRuntimeApi(idle: (isIdle: boolean) => void) {
  let waiting: ServerResponse | null = null
  let current: (Invocation & { readonly id: string }) | null = null
  const turn = () => idle(waiting !== null && current === null)

  // Lambda never closes the connections of a frozen process.
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    if (request.url?.endsWith('/invocation/next')) {
      waiting = response
      return turn()
    }
    if (!current || !request.url?.includes(`/${current.id}/`)) return response.writeHead(400).end()
    current.take(await answerOf(request))
    await finished(request).catch(() => {})
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}')
    current = null
    turn()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Gives the event to an idle process. */
    handOut: (invocation: Invocation) => {
      if (!waiting || current) throw new Error('the process is not idle')
      current = { ...invocation, id: randomUUID() }
      waiting.writeHead(200, {
        'lambda-runtime-aws-request-id': current.id,
        'lambda-runtime-deadline-ms': String(invocation.deadlineAt),
        'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-central-1:123456789012:function:test',
      })
      waiting.end(JSON.stringify(invocation.event))
      waiting = null
      turn()
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function answerOf(request: IncomingMessage): Promise<FunctionAnswer> {
  const isError = request.url?.endsWith('/error') ?? false
  const isStreamed = /http-integration-response/.test(request.headers['content-type'] ?? '')
  const chunks = request[Symbol.asyncIterator]()
  const { head, rest } = isStreamed ? await readHead(chunks) : { head: null, rest: Buffer.alloc(0) }
  const trailer = () => request.trailers['lambda-runtime-function-error-type']
  return {
    head,
    body: follow(rest, chunks),
    errorType: () => (isError ? 'Unhandled' : trailer()?.toString()),
  }
}

/** @returns no head if the answer broke off before it. */
async function readHead(chunks: AsyncIterator<Buffer>): Promise<{ head: FunctionHead | null; rest: Buffer }> {
  let read = Buffer.alloc(0)
  for (;;) {
    const { done, value } = await chunks.next()
    if (done) return { head: null, rest: read }
    read = Buffer.concat([read, value])
    const end = read.indexOf(headEnd)
    if (end >= 0)
      return { head: JSON.parse(read.subarray(0, end).toString()), rest: read.subarray(end + headEnd.length) }
  }
}

async function* follow(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first
  for (;;) {
    const { done, value } = await chunks.next()
    if (done) return
    yield value
  }
}
