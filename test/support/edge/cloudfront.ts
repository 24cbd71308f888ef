import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { appAt } from '../../../shared/api/paths.ts'
import { originHeader } from '../../../shared/platform/edge.ts'

export interface Edge {
  /** The addresses of the functions. */
  readonly hosts: Readonly<Record<ReturnType<typeof appAt>, string>>
  /** The value of the header that CloudFront adds. */
  readonly secret: string
  /** Resolves when CloudFront stops waiting for an answer. By default it waits until the test ends. */
  readonly givesUp?: (attempt: number) => Promise<unknown> | undefined
  /** How often CloudFront sends a GET without an answer. */
  readonly attempts?: number
}

/**
 * Does what CloudFront does to an uncached request, to its answer, and if there is no answer.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/RequestAndResponseBehaviorCustomOrigin.html
 */
export async function startCloudFront(edge: Edge) {
  const agent = new http.Agent({ keepAlive: true })
  const server = http.createServer(async (request, response) => {
    const body = await bodyOf(request)
    const isRead = ['GET', 'HEAD'].includes(request.method ?? '')
    if (isRead && body.length > 0) return fail(response, 403)
    const attempts = isRead ? (edge.attempts ?? 1) : 1
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const answer = await send(edge, agent, request, body, edge.givesUp?.(attempt))
      if (answer) return pass(answer, response)
    }
    fail(response, 504)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      agent.destroy()
      server.closeAllConnections()
      server.close()
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** `null`: no answer in time. */
function send(
  { hosts, secret }: Edge,
  agent: http.Agent,
  { method = '', url = '', rawHeaders }: IncomingMessage,
  body: Buffer,
  patience: Promise<unknown> | undefined,
): Promise<IncomingMessage | null> {
  const host = hosts[appAt(tidy(url))]
  const headers = { ...headersOf(rawHeaders), Host: host, 'X-Origin-Verify': secret }
  return new Promise((resolve) => {
    const [hostname, port] = host.split(':')
    const sent = http.request({ hostname, port, method, path: url, headers, agent })
    patience?.then(() => sent.destroy())
    sent.on('error', () => resolve(null))
    sent.on('response', resolve)
    sent.end(body)
  })
}

/** Only for the choice of the function; the URL itself is sent unchanged. */
const tidy = (url: string): string => new URL(url, 'http://edge').pathname.replace(/\/{2,}/g, '/')

const hopByHop = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-real-ip',
  'x-forwarded-proto',
  'host',
  'content-length',
])

/** CloudFront changes the letter case, joins headers of one name, and adds its own. */
function headersOf(raw: readonly string[]): Record<string, string> {
  const found: Record<string, string[]> = {}
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]?.toLowerCase() ?? ''
    const isEdges = name.startsWith('x-edge-') || name.startsWith('x-amz-cf-') || name === originHeader
    if (!hopByHop.has(name) && !isEdges) found[name] = [...(found[name] ?? []), raw[at + 1] ?? '']
  }
  const joined = Object.entries(found).map(([name, values]) => [
    name.replace(/\b\w/g, (letter) => letter.toUpperCase()),
    values.join(name === 'cookie' ? '; ' : ', '),
  ])
  const { 'Accept-Encoding': encodings = '', 'X-Forwarded-For': before, ...headers } = Object.fromEntries(joined)
  return {
    ...headers,
    ...(/gzip|br/.test(encodings) && { 'Accept-Encoding': 'br,gzip' }),
    Via: '2.0 4d1c2b3a4e5f.cloudfront.net (CloudFront)',
    'X-Amz-Cf-Id': 'nPh8nSbDtD5aZyG3m2l1w5LFf4oQfA0gU3P8Y1',
    'X-Forwarded-For': before === undefined ? '198.51.100.7' : `${before}, 198.51.100.7`,
    'CloudFront-Viewer-Address': '198.51.100.7:46532',
  }
}

function pass(answer: IncomingMessage, response: ServerResponse): void {
  const headers: string[] = []
  for (let at = 0; at < answer.rawHeaders.length; at += 2) {
    const [name = '', value = ''] = answer.rawHeaders.slice(at, at + 2)
    if (!['connection', 'keep-alive', 'transfer-encoding'].includes(name.toLowerCase())) headers.push(name, value)
  }
  headers.push('X-Cache', 'Miss from cloudfront', 'Via', '1.1 4d1c2b3a4e5f.cloudfront.net (CloudFront)')
  response.writeHead(answer.statusCode ?? 502, headers)
  answer.on('error', () => response.destroy())
  answer.pipe(response)
}

function fail(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html', 'x-cache': 'Error from cloudfront' })
  response.end('<H1>ERROR</H1>The request could not be satisfied.')
}
