import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createListener } from '../../infra/local/listener.ts'
import type { FaceEnv } from '../../shared/api/accept-requests.ts'
import { answerCsv } from '../../shared/api/csv.ts'
import { createExpensiveReads } from '../../shared/api/rate-limits.ts'
import { hourMs, systemClock } from '../../shared/platform/clock.ts'
import { streamAnswers } from '../../shared/platform/http.ts'
import { createLog } from '../../shared/platform/log.ts'
import { awslambda, contextFor, urlEvent } from '../support/infra/lambda.ts'

const soon = 50
/** The kernel buffers a few megabytes for a reader that does not read. */
const chunk = new Uint8Array(256 * 1024).fill(120)

/** An answer without an end. `ended` resolves when nothing more is produced. */
function endless(next: () => Promise<Uint8Array> = async () => chunk) {
  const { promise: ended, resolve } = withResolvers()
  async function* chunks() {
    try {
      yield chunk
      while (true) yield await next()
    } finally {
      resolve()
    }
  }
  return { ended, body: ReadableStream.from(chunks()) as ReadableStream<Uint8Array> }
}

function withResolvers() {
  let resolve = () => {}
  const promise = new Promise<void>((take) => {
    resolve = take
  })
  return { promise, resolve }
}

describe('one machine', () => {
  async function open(app: Hono, pauseMs: number) {
    const listener = await createListener({ port: 0, pauseMs })
    onTestFinished(() => listener.close(Promise.resolve()))
    listener.open(app)
    const socket = connect(listener.port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return socket
  }

  test('a reader that stops reading is cut off, and its answer does not look whole', async () => {
    const { ended, body } = endless()
    const socket = await open(
      new Hono().get('/', (c) => c.body(body)),
      soon,
    )
    await once(socket, 'readable')
    await ended
    let tail = ''
    socket.on('data', (data) => {
      tail = data.toString('latin1').slice(-5)
    })
    await once(socket, 'close')
    expect(tail).not.toBe('0\r\n\r\n')
  })

  test('a reader that stops before the end of a whole answer is cut off', async () => {
    const server = withResolvers()
    const app = new Hono<{ Bindings: { outgoing: Socket } }>().get('/', (c) => {
      c.env.outgoing.once('close', server.resolve)
      return c.body(new Uint8Array(64 * 1024 * 1024))
    })
    const socket = await open(app as unknown as Hono, soon)
    await once(socket, 'readable')
    await server.promise
  })

  test('a reader that closes ends the production at once', async () => {
    const { ended, body } = endless()
    const socket = await open(
      new Hono().get('/', (c) => c.body(body)),
      hourMs,
    )
    await once(socket, 'readable')
    socket.resetAndDestroy()
    await ended
  })

  test('a reader that reads slowly, and one that waits for a slow answer, get everything', async () => {
    const parts = Array.from({ length: 40 }, () => chunk)
    async function* slow() {
      await sleep(20 * soon)
      yield* parts
    }
    const socket = await open(
      new Hono().get('/', (c) => c.body(ReadableStream.from(slow()))),
      soon * 10,
    )
    let length = 0
    for await (const data of socket) {
      length += data.length
      if (data.toString('latin1').endsWith('0\r\n\r\n')) break
      await sleep(1)
    }
    expect(length).toBeGreaterThan(parts.length * chunk.length)
  })

  test('no page of a CSV is read for a reader that closed', async () => {
    let pages = 0
    const app = new Hono<FaceEnv>().get('/', (c) => {
      c.set('expensiveReads', createExpensiveReads({ clock: systemClock }))
      return answerCsv<FaceEnv, string>(c, 'all', { text: (row) => row }, async () => {
        pages++
        return { rows: Array.from({ length: 100 }, () => 'x'.repeat(10_000)), next: 'more' }
      })
    })
    const socket = await open(app as unknown as Hono, hourMs)
    await once(socket, 'readable')
    socket.resetAndDestroy()
    await vi.waitFor(async () => {
      const before = pages
      await sleep(soon)
      expect(pages).toBe(before)
    })
  })
})

describe('on Lambda', () => {
  /** A socket in place of the runtime's stream, and its reader. */
  async function pair(): Promise<{ out: Socket; reader: Socket }> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const reader = connect((server.address() as { port: number }).port, '127.0.0.1')
    const [out] = await once(server, 'connection')
    onTestFinished(() => {
      for (const each of [reader, out]) each.destroy()
      server.close()
    })
    for (const each of [reader, out]) each.on('error', () => {})
    return { out, reader: reader.pause() }
  }

  function start(body: ReadableStream, pauseMs: number) {
    vi.stubGlobal('awslambda', awslambda)
    onTestFinished(() => void vi.unstubAllGlobals())
    const causes: string[] = []
    const log = createLog({ write: (line) => causes.push(JSON.parse(line).cause.message), now: () => 0 })
    const app = new Hono().get('/', (c) => c.body(body))
    // biome-ignore lint/suspicious/noExplicitAny: Lambda calls it without types.
    const handler: any = streamAnswers('api', app, log, { pauseMs })
    return { causes, call: (out: Socket) => handler(urlEvent('GET', '/'), out, contextFor(120_000)) }
  }

  test('a reader that stops reading ends the call, and the stream is neither ended nor destroyed', async () => {
    const { ended, body } = endless()
    const { causes, call } = start(body, soon)
    const { out } = await pair()
    await expect(call(out)).rejects.toThrow('the answer broke in its middle')
    await ended
    expect(causes).toEqual(['the reader stopped reading'])
    expect([out.writableEnded, out.destroyed]).toEqual([false, false])
  })

  test('a reader that closes ends the call while its next chunk is awaited, and while it waits to be sent', async () => {
    for (const body of [endless(() => new Promise(() => {})).body, endless().body]) {
      const { causes, call } = start(body, hourMs)
      const { out, reader } = await pair()
      const outcome = expect(call(out)).rejects.toThrow('the answer broke in its middle')
      await once(reader, 'readable')
      reader.resetAndDestroy()
      await outcome
      expect(causes).toEqual(['the reader left'])
    }
  })

  test('a reader that reads slowly gets everything', async () => {
    const parts = Array.from({ length: 40 }, () => chunk)
    const { causes, call } = start(ReadableStream.from(parts), hourMs)
    const { out, reader } = await pair()
    let length = 0
    reader.on('data', (data) => {
      length += data.length
      reader.pause()
      setImmediate(() => reader.resume())
    })
    reader.resume()
    await call(out)
    await once(reader, 'close')
    expect([length, causes]).toEqual([parts.length * chunk.length, []])
  })
})
