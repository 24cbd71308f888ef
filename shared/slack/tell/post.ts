import type { Announcement, SlackEvent } from '../../ledger/updates/tasks.ts'
import { type Clock, hourMs, minuteMs } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Secret } from '../../platform/secrets.ts'
import type { Message } from '../blocks.ts'
import { readSlackSecret } from '../secret.ts'
import { clean, cut } from '../text.ts'

/** Limits of a `response_url`: https://docs.slack.dev/interactivity/handling-user-interaction */
const maxAnswers = 5
const answersLastMs = 30 * minuteMs
const expiredUrl: SendResult = { kind: 'refused', status: null, reason: 'the response_url is not good any more' }

/** Sends messages to a user or to the webhook's channel. */
export function createPoster(parts: { client: SlackClient; secret: Secret; clock: Clock; log: Log }) {
  const { client, secret, clock, log } = parts

  const hasAnswersLeft = ({ answers, createdAt }: SlackEvent): boolean =>
    answers < maxAnswers && clock.now() - createdAt < answersLastMs

  /** Sends to the `response_url` while it is valid, then to the channel unless the message is private. */
  async function toAsker(event: SlackEvent, message: Message, { isPrivate = false } = {}): Promise<SendResult> {
    const result = hasAnswersLeft(event) ? await client.send(event.responseUrl, message) : expiredUrl
    return result.kind === 'refused' && !isPrivate ? toChannel(message, event.id) : result
  }

  async function toChannel(message: Message, about: Announcement['id']): Promise<SendResult> {
    const { webhookUrl } = await readSlackSecret(secret)
    const { replace_original: _replaced, response_type: _type, ...plain } = message
    if (webhookUrl !== null) return client.send(webhookUrl, plain)
    log.info('announced', { about, text: message.text })
    return { kind: 'sent' }
  }

  return { toAsker, toChannel }
}

export type Poster = ReturnType<typeof createPoster>

export type SendResult =
  | { readonly kind: 'sent' }
  /** Slack may have the message; a second one does no harm. */
  | { readonly kind: 'try-again'; readonly afterMs: number; readonly reason: string }
  /** Slack will never take the message. `status` is `null` if nothing was sent. */
  | { readonly kind: 'refused'; readonly status: number | null; readonly reason: string }

export interface SlackClient {
  /** @param url a webhook or a `response_url`, which is a secret. @param message the JSON body. */
  send(url: string, message: object): Promise<SendResult>
}

const defaultTimeoutMs = 5_000
const tryAgainAfterMs = minuteMs
const maxReasonLength = 100
/** Bounds the memory. */
const maxHiddenUrls = 1_000

/**
 * Posts each message once; the caller decides about another attempt. Never throws. `fetch` may repeat a request, but a
 * repeated message does no harm.
 *
 * @param allowLoopback also allows http addresses of this machine.
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
export function createSlackClient({
  clock,
  log,
  timeoutMs = defaultTimeoutMs,
  allowLoopback = false,
}: {
  readonly clock: Clock
  readonly log: Log
  readonly timeoutMs?: number
  readonly allowLoopback?: boolean
}): SlackClient {
  const hiddenUrls = new Set<string>()

  function hide({ url, secrets }: Target): void {
    if (hiddenUrls.has(url) || hiddenUrls.size >= maxHiddenUrls) return
    hiddenUrls.add(url)
    for (const secret of secrets) log.hide(secret)
  }

  async function send(url: string, message: object): Promise<SendResult> {
    const target = targetOf(url, { allowLoopback })
    if (!target) return logResult({ kind: 'refused', status: null, reason: 'the address is not one of Slack' })
    hide(target)
    return logResult(await post(target, JSON.stringify(message), { clock, timeoutMs }))
  }

  function logResult(result: SendResult): SendResult {
    if (result.kind === 'refused') log.error('slack-refused', { status: result.status, reason: result.reason })
    else if (result.kind === 'try-again')
      log.info('slack-try-again', { afterMs: result.afterMs, reason: result.reason })
    else log.info('slack-sent')
    return result
  }

  return { send }
}

async function post(
  target: Target,
  body: string,
  { clock, timeoutMs }: { clock: Clock; timeoutMs: number },
): Promise<SendResult> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await fetch(target.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body,
      // With `error`, a redirect would look like a broken connection and be retried.
      redirect: 'manual',
      signal,
    })
    const text = await readOpening(answer)
    const { status } = answer
    if (status >= 200 && status < 300) return { kind: 'sent' }
    const reason = reasonOf(text, target) || `status ${status}`
    if (status === 429)
      return { kind: 'try-again', afterMs: retryAfterMs(answer.headers, clock.now()) ?? tryAgainAfterMs, reason }
    if (status >= 500) return { kind: 'try-again', afterMs: tryAgainAfterMs, reason }
    return { kind: 'refused', status, reason }
  } catch (error) {
    const reason = signal.aborted ? `no answer within ${timeoutMs / 1000} s` : `connection failed (${codeOf(error)})`
    return { kind: 'try-again', afterMs: tryAgainAfterMs, reason }
  }
}

/** Returns Slack's short word, such as `invalid_blocks`, cut before any part of the address. */
function reasonOf(text: string, { secrets }: Target): string {
  const withoutSecrets = secrets.reduce((text, secret) => text.split(secret)[0] ?? '', text)
  const printable = withoutSecrets.replace(/[^\x20-\x7e]+/g, ' ').trim()
  return printable === '' ? '' : cut(clean(printable), maxReasonLength)
}

/** The message of the error would show the address. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : 'no code'
}

/** Slack's answers are one word. */
const maxBytes = 4_096

/** Reads the first bytes. An answer may break off, because its status is enough. */
async function readOpening(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of answer.body ?? []) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= maxBytes) break
    }
  } catch {
    // The deadline, or the connection.
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBytes))
}

const minMs = 1_000
const maxMs = hourMs

/**
 * Reads how long Slack asks to wait, at least a second and at most an hour; `null` without a valid header.
 *
 * @see https://docs.slack.dev/apis/web-api/rate-limits, RFC 9110 section 10.2.3 (seconds, or a date)
 */
function retryAfterMs(headers: Headers, now: number): number | null {
  const header = headers.get('retry-after')?.trim() ?? ''
  const isSeconds = /^\d+$/.test(header)
  // Date.parse reads nearly any text as a date.
  if (!isSeconds && !/^\w{3}, .* GMT$/.test(header)) return null
  const ms = isSeconds ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, minMs), maxMs)
}

export interface Target {
  readonly url: string
  /** The secret parts of the address, the longest first. */
  readonly secrets: readonly string[]
}

const slackHost = 'hooks.slack.com'
const loopbackHosts = ['127.0.0.1', '[::1]', 'localhost']
/** Slack's addresses have about a hundred characters. */
const maxUrlLength = 1_000
const minSecretLength = 8

/** Returns `null` for addresses that are not Slack's, because a `response_url` comes from outside. */
export function targetOf(text: string, { allowLoopback }: { allowLoopback: boolean }): Target | null {
  if (text.length > maxUrlLength || !URL.canParse(text)) return null
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return null
  const isSlack = url.protocol === 'https:' && url.host === slackHost
  const isLoopback = url.protocol === 'http:' && loopbackHosts.includes(url.hostname)
  if (!isSlack && !(allowLoopback && isLoopback)) return null
  const secrets = [text, url.href, url.pathname + url.search, url.pathname]
  return { url: url.href, secrets: [...new Set(secrets)].filter(({ length }) => length >= minSecretLength) }
}
