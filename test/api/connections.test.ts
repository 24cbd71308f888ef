import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createListener, createRouter } from '../../infra/local/listener.ts'
import { type Platform, readWhole, streamAnswers } from '../../shared/platform/http.ts'
import { awslambda, callStreaming, urlEvent } from '../support/infra/lambda.ts'
import { type Product, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

/** The product on the port of `npm start`, and raw sockets to it. */
async function serve() {
  const product = await startProduct({ store: createMemoryStore(), slack: true })
  const listener = await openListener()
  const front = createRouter({ ...product, slack: product.startProcess().slackApp })
  let latest: Platform['incoming']
  listener.open({
    fetch: (request, env: Platform) => {
      latest = env.incoming
      return front.fetch(request, env)
    },
  })
  const token = await product.signed({ sub: 'tool', scope: 'run read write admin', budgets: '*' })
  const isBeingRead = () => latest?.readableDidRead === true
  return { product, token, isBeingRead, open: () => connect(listener.port, '127.0.0.1') }
}

async function openListener() {
  const listener = await createListener({ port: 0 })
  onTestFinished(() => listener.close(Promise.resolve()))
  return listener
}

type Sender = (how: { product: Product; token: string }) => string | Promise<string>

const json: Sender = ({ token }) => `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
const form: Sender = () => 'Content-Type: application/x-www-form-urlencoded\r\nSec-Fetch-Site: same-origin\r\n'
const formOfSession: Sender = async ({ product, token }) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  const answer = await product.dashboard.request('/login', { method: 'POST', headers, body: `token=${token}` })
  const cookies = answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
  return `${await form({ product, token })}Cookie: ${cookies.join('; ')}\r\n`
}

/** One route of each kind that reads a body. */
const readers: readonly (readonly [method: string, path: string, sender: Sender])[] = [
  ['POST', '/updates', json],
  ['PUT', '/budgets/acme', json],
  ['POST', '/v3/projects/acme/create', json],
  ['POST', '/v3/projects/acme/update', json],
  ['POST', '/login', form],
  ['POST', '/logout', formOfSession],
  ['POST', '/slack/commands', form],
  ['POST', '/slack/interactions', form],
]
const framings = ['content-length: 1000', 'transfer-encoding: chunked']

describe('an upload that breaks off', () => {
  const cases = readers.flatMap(([method, path, sender]) =>
    framings.map((framing) => [method, path, framing, sender] as const),
  )

  test.each(cases)('a broken upload is not logged as an error: %s %s, %s', async (method, path, framing, sender) => {
    const { product, token, isBeingRead, open } = await serve()
    const headers = await sender({ product, token })
    product.logged.length = 0
    const socket = open()
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}${framing}\r\n\r\n`)
    socket.write(framing.startsWith('transfer') ? '5\r\n{"kin\r\n' : '{"kin')
    // The dashboard loads its pages at the first request.
    await vi.waitFor(() => expect(isBeingRead()).toBe(true), 20_000)
    socket.resetAndDestroy()
    const lines = () => product.logged.map((line) => JSON.parse(line))
    await vi.waitFor(() => expect(lines().filter(({ event }) => event === 'request')).toHaveLength(1))
    expect(lines()).toMatchObject([{ event: 'request', level: 'info', status: 400 }])
    expect((await product.call('GET', '/updates')).body.updates).toEqual([])
    expect(product.service.requests).toEqual([])
  })

  test('an upload that breaks off before it is read does not count as a request without a body', async () => {
    const listener = await openListener()
    const read = new Promise((resolve, reject) => {
      listener.open({
        fetch: async (raw: Request, env: Platform) => {
          if (env.incoming) await once(env.incoming, 'close').catch(() => {})
          readWhole({ req: { raw }, env }, 1000).then(resolve, reject)
          return new Response()
        },
      })
    })
    const socket = connect(listener.port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n', () => socket.resetAndDestroy())
    expect(await read).toBe('cut')
  })
})

describe('a body of more than 256 KiB', () => {
  const tooLarge = 256 * 1024 + 1
  const sent = {
    'of which nothing is sent': `content-length: ${tooLarge}\r\n\r\n`,
    'without a length': `transfer-encoding: chunked\r\n\r\n${tooLarge.toString(16)}\r\n${'x'.repeat(tooLarge)}`,
  }
  const cases = readers.flatMap(([method, path, sender]) =>
    Object.entries(sent).map(([what, body]) => [method, path, what, sender, body] as const),
  )

  test.each(cases)(
    'a body over 256 KiB is answered with 413 and closes the connection: %s %s, %s',
    async (method, path, _what, sender, body) => {
      const { product, token, open } = await serve()
      const socket = open()
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${await sender({ product, token })}${body}`)
      // The answer ends only if the server closes the connection.
      const answer = await text(socket)
      expect(answer).toMatch(/^HTTP\/1\.1 413 /)
      expect(answer).toMatch(/^connection: close\r$/im)
    },
  )
})

/** Addresses that a lenient reader takes for public ones. */
const misspelt = [
  '/health/',
  '//health',
  '/./health',
  '/health/.',
  '/x/%2e%2e/health',
  '/health;x',
  '/health%2f',
  '/problems/../health',
  '/problems/./internal',
  '/problems/internal/',
  '/openapi.json;x',
  '/docs/',
  '/docs.css/.',
  '/DOCS',
  '/login/',
  '/login/../login',
  '/./',
  '//',
  '/dashboard/../login',
  '/slack/../health',
  '/v3/../health',
  '/./updates',
  '/updates/',
  '//updates',
  '/x/%2E./updates',
  '/budgets/x/../account',
]

describe('an address that needs normalizing', () => {
  test.each(misspelt)('an address that needs normalizing is not found on one machine: %s', async (path) => {
    const { token, open } = await serve()
    const ask = async (headers: string): Promise<string> => {
      const socket = open()
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`)
      return text(socket)
    }
    const isPage = path.startsWith('/dashboard/')
    expect(await ask(`Authorization: Bearer ${token}\r\n`)).toMatch(isPage ? /^HTTP\/1\.1 303 / : /^HTTP\/1\.1 404 /)
    expect(await ask('')).toMatch(isPage ? /^HTTP\/1\.1 303 / : /^HTTP\/1\.1 40[14] /)
  })

  // AWS sends addresses that begin with /slack/ to no other function.
  test.each(misspelt.filter((path) => !path.startsWith('/dashboard/')))(
    'an address that needs normalizing is not found on AWS: %s',
    async (path) => {
      vi.stubGlobal('awslambda', awslambda)
      onTestFinished(() => void vi.unstubAllGlobals())
      const product = await startProduct({ store: createMemoryStore() })
      // biome-ignore lint/suspicious/noExplicitAny: Lambda calls it without types.
      const handler = streamAnswers('api', product.api, product.services.log) as any
      const token = await product.signed({ sub: 'tool', scope: 'run read', budgets: '*' })
      const authorization = `Bearer ${token}`
      expect(await callStreaming(handler, urlEvent('GET', path, { headers: { authorization } }))).toMatchObject({
        statusCode: 404,
      })
      expect((await callStreaming(handler, urlEvent('GET', path))).statusCode).not.toBe(200)
    },
  )

  test('an address that needs normalizing is answered without a token like any unknown address', async () => {
    const { open } = await serve()
    const statusOf = async (path: string) => {
      const socket = open()
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
      return (await text(socket)).split(' ')[1]
    }
    expect([await statusOf('/./health'), await statusOf('/nothing')]).toEqual(['401', '401'])
    expect([await statusOf('/health?x=1'), await statusOf('/heal%74h')]).toEqual(['200', '200'])
  })
})

describe('two Host headers', () => {
  test.each(['/health', '/updates', '/v3/projects', '/login'])(
    'two Host headers are answered with 400: %s',
    async (path) => {
      const { product, open } = await serve()
      const socket = open()
      socket.end(`GET ${path} HTTP/1.1\r\nHost: units.example\r\nHost: evil.example\r\nConnection: close\r\n\r\n`)
      const answer = await text(socket)
      expect(answer).toMatch(/^HTTP\/1\.1 400 /)
      expect(answer).toContain('A request must have one Host header')
      expect(product.service.requests).toEqual([])
    },
  )
})
