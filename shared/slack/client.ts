import { type Clock, minuteMs } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { readOpening } from './opening.ts'
import { retryAfterMs } from './retry-after.ts'
import { type Target, targetOf } from './target.ts'
import { clean, cut } from './text.ts'

/** What became of a message. */
export type Sent =
  | { readonly kind: 'sent' }
  /** Slack may have it or not; saying it twice is better than not at all. */
  | { readonly kind: 'try-again'; readonly afterMs: number; readonly reason: string }
  /** The same message to the same address will never be taken. `status` is `null` where nothing was sent. */
  | { readonly kind: 'refused'; readonly status: number | null; readonly reason: string }

export interface SlackClient {
  /** @param url an incoming webhook or a `response_url`: a secret. @param message what becomes the JSON body. */
  send(url: string, message: object): Promise<Sent>
}

const defaultTimeoutMs = 5_000
const tryAgainAfterMs = minuteMs
const longestReason = 100
/** Whoever sends more messages than this from one process has the rest unhidden; none is ever written to the log. */
const mostHidden = 1_000

/**
 * Posts messages to Slack, each once; when to try again is up to the caller. Never throws.
 *
 * Here `fetch` will do, other than for the service: no money is on this path, a message said twice does no harm, and
 * redirects are not followed.
 *
 * @param allowLoopback also takes http addresses of this machine.
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
  const hidden = new Set<string>()

  /** A second line of defence: no line below has the address in it. */
  function hide({ url, secrets }: Target): void {
    if (hidden.has(url) || hidden.size >= mostHidden) return
    hidden.add(url)
    for (const secret of secrets) log.hide(secret)
  }

  async function send(url: string, message: object): Promise<Sent> {
    const target = targetOf(url, { allowLoopback })
    if (!target) return tell({ kind: 'refused', status: null, reason: 'the address is not one of Slack' })
    hide(target)
    return tell(await post(target, JSON.stringify(message), { clock, timeoutMs }))
  }

  function tell(sent: Sent): Sent {
    if (sent.kind === 'refused') log.error('slack-refused', { status: sent.status, reason: sent.reason })
    else if (sent.kind === 'try-again') log.info('slack-try-again', { afterMs: sent.afterMs, reason: sent.reason })
    else log.info('slack-sent')
    return sent
  }

  return { send }
}

async function post(
  target: Target,
  body: string,
  { clock, timeoutMs }: { clock: Clock; timeoutMs: number },
): Promise<Sent> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await fetch(target.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body,
      // With `error` a redirect looks like a broken connection, and would be tried again for ever.
      redirect: 'manual',
      signal,
    })
    const said = await readOpening(answer)
    const { status } = answer
    if (status >= 200 && status < 300) return { kind: 'sent' }
    const reason = reasonOf(said, target) || `status ${status}`
    if (status === 429)
      return { kind: 'try-again', afterMs: retryAfterMs(answer.headers, clock.now()) ?? tryAgainAfterMs, reason }
    if (status >= 500) return { kind: 'try-again', afterMs: tryAgainAfterMs, reason }
    return { kind: 'refused', status, reason }
  } catch (error) {
    const reason = signal.aborted ? `no answer within ${timeoutMs / 1000} s` : `connection failed (${codeOf(error)})`
    return { kind: 'try-again', afterMs: tryAgainAfterMs, reason }
  }
}

/** Slack's short word for it, such as `invalid_blocks`; an answer that repeats the address is cut where it does. */
function reasonOf(said: string, { secrets }: Target): string {
  const harmless = secrets.reduce((text, secret) => text.split(secret)[0] ?? '', said)
  const printable = harmless.replace(/[^\x20-\x7e]+/g, ' ').trim()
  return printable === '' ? '' : cut(clean(printable), longestReason)
}

/** The code alone: the message names the address. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : 'no code'
}
