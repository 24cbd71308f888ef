import { PassThrough } from 'node:stream'
import { Hono } from 'hono'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { streamAnswers } from '../../shared/platform/http.ts'
import { createLog } from '../../shared/platform/log.ts'
import { awslambda, callStreaming, contextFor, urlEvent } from '../support/infra/lambda.ts'

// test/runtime tests the same under Lambda's own runtime client.

function start(app: Hono) {
  vi.stubGlobal('awslambda', awslambda)
  const lines: object[] = []
  const log = createLog({ write: (line) => lines.push(JSON.parse(line)), now: () => 0 })
  // biome-ignore lint/suspicious/noExplicitAny: Lambda calls it without types.
  return { handler: streamAnswers('api', app, log) as any, lines }
}

afterEach(() => void vi.unstubAllGlobals())

/** A body of `parts` that breaks off after the last one. */
const broken = (...parts: string[]) =>
  new ReadableStream({
    pull(controller) {
      const part = parts.shift()
      if (part === undefined) controller.error(new Error('the service went away'))
      else controller.enqueue(new TextEncoder().encode(part))
    },
  })

describe('an answer that breaks off', () => {
  test.each([[[]], [['half']], [['one', 'two']]])(
    'an answer that breaks off after %j fails its call, and neither ends nor destroys the stream',
    async (parts) => {
      const { handler, lines } = start(new Hono().get('/', (c) => c.body(broken(...parts))))
      const stream = new PassThrough()
      const call = handler(urlEvent('GET', '/'), stream, contextFor(1000))
      await expect(call).rejects.toThrow('the answer broke in its middle')
      expect([stream.writableEnded, stream.destroyed]).toEqual([false, false])
      expect(String(stream.read() ?? '')).toBe(parts.join(''))
      expect(lines).toEqual([
        expect.objectContaining({
          event: 'answer-broken',
          function: 'api',
          requestId: expect.any(String),
          lambdaRequestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
          cause: expect.objectContaining({ message: 'the service went away' }),
        }),
      ])
    },
  )
})

describe('a request', () => {
  const echo = new Hono().all('*', async (c) =>
    c.json({ url: c.req.url, cookie: c.req.header('cookie'), body: await c.req.text() }),
  )

  test('a request keeps its path and query as received, its cookies and its body', async () => {
    const { handler } = start(echo)
    const event = urlEvent('POST', '/v3/a%2Fb?x=%7e', { cookies: ['a=1', 'b=2'], body: 'grüß' })
    expect(JSON.parse((await callStreaming(handler, event)).text)).toEqual({
      url: 'https://abc.lambda-url.eu-central-1.on.aws/v3/a%2Fb?x=%7e',
      cookie: 'a=1; b=2',
      body: 'grüß',
    })
  })

  test('a GET request never has a body', async () => {
    const { handler } = start(echo)
    expect(JSON.parse((await callStreaming(handler, urlEvent('GET', '/', { body: 'idle' }))).text).body).toBe('')
  })

  test('a request with an invalid method is answered with 400', async () => {
    const { handler } = start(echo)
    expect(await callStreaming(handler, urlEvent('TRACE', '/'))).toMatchObject({
      statusCode: 400,
      text: 'Bad Request\n',
    })
  })

  test('an answer without a body is sent with each of its cookies', async () => {
    const { handler } = start(
      new Hono().get(
        '/',
        () =>
          new Response(null, {
            status: 204,
            headers: [
              ['set-cookie', 'a=1'],
              ['set-cookie', 'b=2'],
            ],
          }),
      ),
    )
    expect(await callStreaming(handler, urlEvent('GET', '/'))).toMatchObject({
      statusCode: 204,
      cookies: ['a=1', 'b=2'],
      headers: {},
      text: '',
    })
  })
})
