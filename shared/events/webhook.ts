import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import http, { type IncomingHttpHeaders } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Clock } from '../platform/clock.ts'
import { isLoopback, retryAfterMs } from '../platform/http.ts'
import type { Secret } from '../platform/secrets.ts'
import { isPublicAddress, isRefusedHost } from './addresses.ts'
import type { CloudEvent } from './event.ts'
import { failed, type Sender, type SendResult, tooLate } from './sender.ts'
import { readSigningKeys, signatureHeaders } from './signature.ts'
import type { Target } from './targets-file.ts'

/** Finds all addresses of a name. */
type Resolve = (hostname: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void

/** Only tests set these members. */
export interface Network {
  readonly resolve?: Resolve
  /** A further certificate authority. */
  readonly ca?: string
  /** The limit for one attempt, and for all events of a batch. */
  readonly withinMs?: number
}

export interface WebhookParts {
  readonly secret: Secret
  /** Allows http and addresses of this machine, too. */
  readonly allowLoopback: boolean
  readonly clock: Pick<Clock, 'now'>
  readonly network?: Network
}

const systemResolve: Resolve = (hostname, done) => dnsLookup(hostname, { all: true }, done)

/**
 * POSTs each event once, over a new connection to the address that was checked. It follows no redirect, and reads only
 * the status of the answer.
 */
export function createWebhookSender(target: Target, parts: WebhookParts): Sender {
  const url = new URL(target.url)
  const isLocal = parts.allowLoopback && isLoopback(url.hostname)
  const isAllowed = isLocal || (url.protocol === 'https:' && !isLoopback(url.hostname) && !isRefusedHost(url.hostname))
  return {
    send: async (event, deadline) => {
      if (!isAllowed) return failed('the address is not a public one')
      let headers: Readonly<Record<string, string>>
      const body = JSON.stringify(event)
      try {
        const keys = await readSigningKeys(parts.secret, target.secret)
        headers = headersOf(event, body, signatureHeaders({ id: event.id, body, now: parts.clock.now() }, keys))
      } catch {
        return failed('the secret could not be read')
      }
      return post(url, { headers, body, deadline, isLocal, ...parts })
    },
  }
}

const headersOf = (event: CloudEvent, body: string, signature: Readonly<Record<string, string>>) => ({
  'content-type': 'application/cloudevents+json; charset=utf-8',
  'content-length': String(Buffer.byteLength(body)),
  'user-agent': 'unit-guard',
  connection: 'close',
  ...(event.traceparent !== undefined && { traceparent: event.traceparent }),
  ...signature,
})

interface Post extends Pick<WebhookParts, 'clock' | 'network'> {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly deadline: AbortSignal
  readonly isLocal: boolean
}

/** Does not use fetch, which would resolve the name again, and could reach another address. */
function post(url: URL, { headers, body, deadline, isLocal, clock, network = {} }: Post): Promise<SendResult> {
  if (deadline.aborted) return Promise.resolve(failed(tooLate))
  const lookup = checkedLookup(network.resolve ?? systemResolve, isLocal)
  const tls = { rejectUnauthorized: true, ...(network.ca !== undefined && { ca: network.ca }) }
  return new Promise((resolve) => {
    const client = url.protocol === 'https:' ? https : http
    const request = client.request(url, { method: 'POST', agent: false, lookup, headers, ...tls })
    const finish = (result: SendResult): void => {
      deadline.removeEventListener('abort', onDeadline)
      request.destroy()
      resolve(result)
    }
    const onDeadline = () => finish(failed(tooLate))
    deadline.addEventListener('abort', onDeadline)
    request.on('error', (error) => finish(failed(reasonOf(error))))
    request.on('close', () => finish(failed('the connection closed without an answer')))
    request.on('upgrade', (_response, socket) => {
      socket.destroy()
      finish(failed('the target switched protocols'))
    })
    request.on('response', (response) => {
      // A late error without a listener would end the process.
      response.on('error', () => {})
      finish(resultOf(response.statusCode ?? 0, response.headers, clock.now()))
    })
    request.end(body)
  })
}

function resultOf(status: number, headers: IncomingHttpHeaders, now: number): SendResult {
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  if (status === 410) return { kind: 'gone', reason: 'status 410' }
  const afterMs = retryAfterMs(headers['retry-after'], now)
  const reason = status >= 300 && status < 400 ? `status ${status}: redirects are not followed` : `status ${status}`
  return { kind: 'failed', reason, status, ...(afterMs !== null && { afterMs }) }
}

class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress'
}

/** The connection uses an address that was checked here, even if the name changes a moment later. */
const checkedLookup =
  (resolve: Resolve, isLocal: boolean): LookupFunction =>
  (hostname, options, done) =>
    resolve(hostname, (error, addresses) => {
      if (error) return done(error, [])
      const [first] = addresses
      const areAllowed = addresses.every(({ address }) => isLocal || isPublicAddress(address))
      if (!first || !areAllowed) return done(new RefusedAddress('the name leads to a private address'), [])
      return options.all ? done(null, addresses) : done(null, first.address, first.family)
    })

/** Does not use Node's messages, because they show addresses. */
function reasonOf(error: Error): string {
  if (error instanceof RefusedAddress) return error.message
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'the certificate is for another name'
  return `connection failed (${/^[A-Z0-9_]{1,60}$/.test(code) ? code : 'no code'})`
}
