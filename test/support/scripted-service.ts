import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Clock, systemClock } from '../../shared/platform/clock.ts'

/** The target as it came over the wire, neither decoded nor normalized. */
export interface Recorded {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The number of its connection, counted from 1. */
  readonly connection: number
}

export type Answer = {
  readonly delayMs?: number
  /** Resolves before the answer is sent. */
  readonly once?: Promise<unknown>
} & (
  | {
      readonly kind?: 'answer'
      readonly status?: number
      readonly headers?: Headers
      readonly body?: string | Buffer
      readonly written?: () => void
    }
  | { readonly kind: 'hang' }
  /** Closes by RST or by FIN before any answer. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'close' }
  | { readonly kind: 'reset-in-body'; readonly status?: number }
  | { readonly kind: 'hang-in-body'; readonly status?: number }
  | { readonly kind: 'byte-by-byte'; readonly body: string; readonly everyMs: number }
  /** Writes until the client leaves. */
  | { readonly kind: 'endless'; readonly headers?: Headers }
  /** Raw bytes instead of an HTTP answer. */
  | { readonly kind: 'raw'; readonly bytes: string | Buffer }
)
type Headers = Readonly<Record<string, string>>
/** A timer that ends with the service. */
type After = (ms: number, act: () => void) => void

/** The start of the raw path behind `/v3`, or a predicate. */
type Matcher = string | ((request: Recorded) => boolean)

export interface ScriptedService {
  /** The address ends in `/v3`. */
  readonly baseUrl: string
  readonly requests: readonly Recorded[]
  /** The answers are sent in turn, and the last one repeats. The latest matching script wins. */
  script(matcher: Matcher, ...answers: readonly [Answer, ...Answer[]]): void
  openConnections(): number
  /** Closes idle connections, as services do between two requests. */
  dropIdleConnections(): void
  /** Closes at once, with all open requests. */
  close(): Promise<void>
}

/** Lets a test decide, with `once`, when an answer comes. */
export function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** A real HTTP server with scripted answers. Other requests get `fallback`'s answer or 404. */
export async function startScriptedService(
  options: { fallback?: (request: Recorded) => Answer; clock?: Pick<Clock, 'now'> } = {},
): Promise<ScriptedService> {
  const { clock = systemClock } = options
  const requests: Recorded[] = []
  const scripts: { matches: (request: Recorded) => boolean; answers: Answer[] }[] = []
  const connections = new Map<Socket, number>()
  const timers = new Set<NodeJS.Timeout>()
  let connectionCount = 0

  const after: After = (ms, act) => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      act()
    }, ms)
    timers.add(timer)
  }

  function nextAnswer(request: Recorded): Answer {
    const script = scripts.find(({ matches }) => matches(request))
    if (!script) return options.fallback?.(request) ?? { status: 404 }
    const [answer, ...later] = script.answers
    if (later.length > 0) script.answers = later
    return answer ?? { status: 404 }
  }

  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    response.on('error', () => {})
    const recorded = await record(request, connections.get(request.socket) ?? 0)
    if (recorded === null) return
    requests.push(recorded)
    const answer = nextAnswer(recorded)
    await answer.once
    response.setHeader('date', new Date(clock.now()).toUTCString())
    if (answer.delayMs === undefined) perform(answer, response, after)
    else after(answer.delayMs, () => perform(answer, response, after))
  })
  server.on('connection', (socket) => {
    connections.set(socket, ++connectionCount)
    socket.on('error', () => {})
    socket.on('close', () => connections.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')

  return {
    baseUrl: `http://127.0.0.1:${address.port}/v3`,
    requests,
    script(matcher, ...answers) {
      const matches = typeof matcher === 'string' ? ({ url }: Recorded) => url.startsWith(`/v3${matcher}`) : matcher
      scripts.unshift({ matches, answers: [...answers] })
    },
    openConnections: () => connections.size,
    dropIdleConnections: () => server.closeIdleConnections(),
    close() {
      for (const timer of timers) clearTimeout(timer)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of connections.keys()) socket.destroy()
      return closed
    },
  }
}

/** `null` if the client left too early. */
async function record(request: IncomingMessage, connection: number): Promise<Recorded | null> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk)
  } catch {
    return null
  }
  const { method = '', url = '', headers } = request
  return { method, url, headers, body: Buffer.concat(chunks).toString(), connection }
}

function perform(answer: Answer, response: ServerResponse, after: After): void {
  const { socket } = response
  if (!socket) return // the client left during the delay
  switch (answer.kind) {
    case 'hang':
      break
    case 'reset':
      socket.resetAndDestroy()
      break
    case 'close':
      socket.destroy()
      break
    case 'reset-in-body':
      writeHalf(response, answer.status)
      after(10, () => socket.resetAndDestroy()) // at once it would overtake the bytes before it
      break
    case 'hang-in-body':
      writeHalf(response, answer.status)
      break
    case 'byte-by-byte':
      response.writeHead(200, { 'content-type': 'application/json' })
      writeSlowly(answer.body, answer.everyMs, response, after)
      break
    case 'endless':
      response.writeHead(200, { 'content-type': 'application/json', ...answer.headers })
      writeForever(response)
      break
    case 'raw':
      socket.end(answer.bytes)
      break
    default:
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
      response.end(answer.body, answer.written)
  }
}

function writeHalf(response: ServerResponse, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"keyword_units": 5')
}

function writeSlowly(body: string, everyMs: number, response: ServerResponse, after: After): void {
  if (response.destroyed) return
  if (body === '') {
    response.end()
    return
  }
  response.write(body.slice(0, 1))
  after(everyMs, () => writeSlowly(body.slice(1), everyMs, response, after))
}

function writeForever(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, ' ')
  const fill = () => {
    while (!response.destroyed && response.write(chunk)) {}
  }
  response.on('drain', fill)
  fill()
}

/** The usual answers, with the cost of each project; others cost 40. */
export function usualAnswer(request: Recorded, units: Record<string, number>): Answer {
  const { pathname } = new URL(request.url, 'http://x')
  if (pathname === '/v3/projects') return json({ projects: [] })
  const [, , , segment = '', operation] = pathname.split('/')
  const project = decodeURIComponent(segment)
  switch (operation) {
    case 'estimate':
    case 'run':
      return json({ response_code: 0, data: { keyword_units: units[project] ?? 40 } })
    case 'dates':
      return json({ response_code: 0, dates: ['2026-10-16', '2026-11-13'] })
    default:
      return { status: 404 }
  }
}

export const json = (body: unknown, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
