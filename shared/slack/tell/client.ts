import { type Clock, minuteMs } from '../../platform/clock.ts'
import { isLoopback, retryAfterMs } from '../../platform/http.ts'
import type { Log } from '../../platform/log.ts'
import { clean, cut } from '../text.ts'

export type SendResult =
  | { readonly kind: 'sent' }
  /** Slack may still have received the message. */
  | { readonly kind: 'try-again'; readonly afterMs: number; readonly reason: string }
  /** `status` is `null` if nothing was sent. */
  | { readonly kind: 'refused'; readonly status: number | null; readonly reason: string }

export type ApiMethod = 'chat.postMessage' | 'chat.update' | 'views.open' | 'views.publish'

export type ApiResult =
  | { readonly kind: 'sent'; readonly answer: Readonly<Record<string, unknown>> }
  | Exclude<SendResult, { kind: 'sent' }>

export interface SlackClient {
  /** @param url is a secret. */
  send(url: string, message: object): Promise<SendResult>
  /** @param token is a secret. */
  call(method: ApiMethod, token: string, body: object, options?: { withinMs?: number }): Promise<ApiResult>
}

const slackApiUrl = 'https://slack.com/api'

const defaultTimeoutMs = 5_000
const tryAgainAfterMs = minuteMs
const maxReasonLength = 100
const maxHiddenSecrets = 4_000

/**
 * Posts once; the caller decides about another attempt. Never throws. `fetch` may repeat a request, which does no harm.
 * The official SDK would add 700 KB to each start.
 *
 * @param allowLoopback allows http addresses of this machine, too.
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 * @see https://docs.slack.dev/apis/web-api
 */
export function createSlackClient({
  clock,
  log,
  timeoutMs = defaultTimeoutMs,
  allowLoopback = false,
  apiUrl = slackApiUrl,
}: {
  readonly clock: Clock
  readonly log: Log
  readonly timeoutMs?: number
  readonly allowLoopback?: boolean
  readonly apiUrl?: string
}): SlackClient {
  const hiddenSecrets = new Set<string>()

  function hide(...secrets: readonly string[]): void {
    for (const secret of secrets) {
      if (hiddenSecrets.has(secret) || hiddenSecrets.size >= maxHiddenSecrets) continue
      hiddenSecrets.add(secret)
      log.hide(secret)
    }
  }

  async function send(url: string, message: object): Promise<SendResult> {
    const target = targetOf(url, { allowLoopback })
    if (!target) return logResult({ kind: 'refused', status: null, reason: 'the address is not one of Slack' })
    hide(...target.secrets)
    return logResult(toResult(await post(target.url, message, { timeoutMs }), target, clock.now()))
  }

  async function call(
    method: ApiMethod,
    token: string,
    body: object,
    { withinMs = timeoutMs } = {},
  ): Promise<ApiResult> {
    hide(token)
    const answer = await post(`${apiUrl}/${method}`, body, { timeoutMs: withinMs, token })
    const result = toApiResult(answer, { secrets: [token] }, clock.now())
    logResult(result, method)
    return result
  }

  function logResult<Result extends SendResult | ApiResult>(result: Result, method?: ApiMethod): Result {
    if (result.kind === 'refused' && !goneReasons.includes(result.reason))
      log.error('slack-refused', { status: result.status, reason: result.reason, method })
    else if (result.kind === 'refused') log.info('slack-gone', { reason: result.reason, method })
    else if (result.kind === 'try-again')
      log.info('slack-try-again', { afterMs: result.afterMs, reason: result.reason, method })
    else log.info('slack-sent', { method })
    return result
  }

  return { send, call }
}

/** Only a local system may change the address, because the token goes there. */
export const createSlackClientOf = ({
  clock,
  log,
  isLocal,
  slackApi: { url },
}: {
  readonly clock: Clock
  readonly log: Log
  readonly isLocal: boolean
  readonly slackApi: { readonly url?: string | undefined }
}): SlackClient =>
  createSlackClient({ clock, log, allowLoopback: isLocal, ...(isLocal && url !== undefined && { apiUrl: url }) })

/** The message can no longer be edited. */
const goneReasons: readonly string[] = ['message_not_found', 'cant_update_message', 'edit_window_closed']

type PostAnswer =
  | { readonly status: number; readonly headers: Headers; readonly text: string }
  | { readonly broken: string }

async function post(
  url: string,
  body: object,
  { timeoutMs, token }: { timeoutMs: number; token?: string },
): Promise<PostAnswer> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
      // With `redirect: 'error'`, a redirect would look like a broken connection.
      redirect: 'manual',
      signal,
    })
    const text = await readOpening(answer, token === undefined ? maxWordBytes : maxAnswerBytes)
    return { status: answer.status, headers: answer.headers, text }
  } catch (error) {
    return {
      broken: signal.aborted ? `no answer within ${timeoutMs / 1000} s` : `connection failed (${codeOf(error)})`,
    }
  }
}

function toResult(answer: PostAnswer, target: Pick<Target, 'secrets'>, now: number): SendResult {
  if ('broken' in answer) return { kind: 'try-again', afterMs: tryAgainAfterMs, reason: answer.broken }
  const { status, headers, text } = answer
  if (status >= 200 && status < 300) return { kind: 'sent' }
  const reason = reasonOf(text, target) || `status ${status}`
  if (status === 429)
    return { kind: 'try-again', afterMs: retryAfterMs(headers.get('retry-after'), now) ?? tryAgainAfterMs, reason }
  if (status >= 500) return { kind: 'try-again', afterMs: tryAgainAfterMs, reason }
  return { kind: 'refused', status, reason }
}

const transientErrors = ['ratelimited', 'rate_limited', 'internal_error', 'fatal_error', 'request_timeout']

/** Slack refuses with status 200 and `ok: false`. An unreadable answer counts as lost. */
function toApiResult(answer: PostAnswer, target: Pick<Target, 'secrets'>, now: number): ApiResult {
  const result = toResult(answer, target, now)
  if (result.kind !== 'sent' || 'broken' in answer) return result.kind === 'sent' ? { ...result, answer: {} } : result
  const body = toObject(answer.text)
  if (body === null) return { kind: 'try-again', afterMs: tryAgainAfterMs, reason: 'the answer could not be read' }
  if (body.ok === true) return { kind: 'sent', answer: body }
  const reason = reasonOf(typeof body.error === 'string' ? body.error : '', target) || 'ok is not true'
  if (!transientErrors.includes(reason)) return { kind: 'refused', status: answer.status, reason }
  return { kind: 'try-again', afterMs: retryAfterMs(answer.headers.get('retry-after'), now) ?? tryAgainAfterMs, reason }
}

function toObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

/** Slack's error code, such as `invalid_blocks`, cut before any secret. */
function reasonOf(text: string, { secrets }: Pick<Target, 'secrets'>): string {
  const withoutSecrets = secrets.reduce((text, secret) => text.split(secret)[0] ?? '', text)
  const printable = withoutSecrets.replace(/[^\x20-\x7e]+/g, ' ').trim()
  return printable === '' ? '' : cut(clean(printable), maxReasonLength)
}

/** The error's message would show the address. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : 'no code'
}

const maxWordBytes = 4_096
const maxAnswerBytes = 256 * 1024

/** If the answer breaks off, returns the part that arrived, because the status alone is enough. */
async function readOpening(answer: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of answer.body ?? []) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= maxBytes) break
    }
  } catch {
    // The request timed out or the connection broke.
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBytes))
}

export interface Target {
  readonly url: string
  /** The longest secret comes first. */
  readonly secrets: readonly string[]
}

const slackHost = 'hooks.slack.com'
const maxUrlLength = 1_000
const minSecretLength = 8

/** `null`: the address is not Slack's. A `response_url` comes from outside, so it must be checked. */
export function targetOf(text: string, { allowLoopback }: { allowLoopback: boolean }): Target | null {
  if (text.length > maxUrlLength || !URL.canParse(text)) return null
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return null
  const isSlack = url.protocol === 'https:' && url.host === slackHost
  const isOnThisMachine = url.protocol === 'http:' && isLoopback(url.hostname)
  if (!isSlack && !(allowLoopback && isOnThisMachine)) return null
  const secrets = [text, url.href, url.pathname + url.search, url.pathname]
  return { url: url.href, secrets: [...new Set(secrets)].filter(({ length }) => length >= minSecretLength) }
}
