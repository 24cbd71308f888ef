import type { Problem } from './answers.ts'

export interface Connection {
  readonly url: string
  readonly token: () => Promise<string>
  /** Another call of `token` may return another token. */
  readonly renews: boolean
  readonly fetch: typeof fetch
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** `until` is a time of `performance.now()`, which corrections of the clock do not change. */
export interface Patience {
  readonly until: number
  readonly signal: AbortSignal | undefined
}

type Reply =
  | { readonly kind: 'answered'; readonly headers: Headers; readonly body: unknown }
  | { readonly kind: 'problem'; readonly problem: Problem; readonly body: unknown }
  | { readonly kind: 'unanswered'; readonly why: string }

const firstPauseMs = 250
const maxPauseMs = 5_000
/** 24 days, because a longer timer ends at once. */
const maxTimerMs = 2 ** 31 - 1

/**
 * Repeats a request while it fails temporarily, so the request must be safe to send twice. `mayHaveActed`: an earlier
 * attempt may have taken effect, or may still be at work.
 *
 * @throws Error if a retry would not help, but only if no earlier attempt may have taken effect.
 */
export async function send(
  connection: Connection,
  request: ApiRequest,
  patience: Patience,
): Promise<Reply & { readonly mayHaveActed: boolean }> {
  let mayHaveActed = false
  let mayRenew = connection.renews
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const { sent, retryAfterMs } = await sendOnce(connection, request, patience).catch((error) => {
      if (!mayHaveActed || patience.signal?.aborted) throw error
      return { sent: { kind: 'unanswered', why: reasonOf(error) } as const, retryAfterMs: Number.POSITIVE_INFINITY }
    })
    if (mayRenew && sent.kind === 'problem' && sent.problem.type === '/problems/unauthorized') {
      mayRenew = false
      continue
    }
    const wait = Math.max(pauseMs, retryAfterMs)
    if (!isTemporary(sent) || performance.now() + wait >= patience.until) return { ...sent, mayHaveActed }
    mayHaveActed ||= isOpenAfter(sent)
    await pause(wait, patience.signal)
  }
}

/** After these problems, some updates of the request may be recorded. A request with the same key finds out. */
export const leavesOutcomeOpen: ReadonlySet<string> = new Set([
  '/problems/in-progress',
  '/problems/internal',
  '/problems/ledger-unavailable',
  '/problems/undecided',
])

const isOpenAfter = (sent: Reply): boolean =>
  sent.kind === 'unanswered' || (sent.kind === 'problem' && leavesOutcomeOpen.has(sent.problem.type))

const temporary: ReadonlySet<string> = new Set([
  '/problems/in-progress',
  '/problems/too-many-requests',
  '/problems/ledger-unavailable',
  '/problems/undecided',
  '/problems/identity-unavailable',
  '/problems/secret-unavailable',
])

const isTemporary = (sent: Reply): boolean =>
  sent.kind === 'unanswered' || (sent.kind === 'problem' && temporary.has(sent.problem.type))

async function sendOnce(
  { url, token, fetch }: Connection,
  { method, path, headers, body }: ApiRequest,
  { until, signal }: Patience,
): Promise<{ sent: Reply; retryAfterMs: number }> {
  const authorization = await bearerOf(token)
  const leftMs = Math.max(0, Math.ceil(until - performance.now()))
  const timeout = AbortSignal.timeout(Math.min(leftMs, maxTimerMs))
  let response: Response
  let text: string
  try {
    response = await fetch(`${url}${path}`, {
      method,
      // The target of a redirect would get the token.
      redirect: 'error',
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
      headers: {
        accept: 'application/json',
        authorization,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    text = await response.text()
  } catch (error) {
    signal?.throwIfAborted()
    return { sent: { kind: 'unanswered', why: reasonOf(error) }, retryAfterMs: 0 }
  }
  return { sent: read(response, text), retryAfterMs: retryAfterOf(response.headers) }
}

/** Checks the token, because errors of `fetch` show the whole header. @throws TypeError */
async function bearerOf(token: Connection['token']): Promise<string> {
  const text = (await token()).trim()
  if (/^[\x21-\x7e]+$/.test(text)) return `Bearer ${text}`
  throw new TypeError('the token must have only visible ASCII characters, and no spaces')
}

/** @throws Error if a retry would not help. */
function read({ status, headers }: Response, text: string): Reply {
  const body = parse(text)
  if (status < 300 && body !== undefined) return { kind: 'answered', headers, body }
  if (isProblem(body)) return { kind: 'problem', problem: body, body }
  if (status >= 500 || status === 429) return { kind: 'unanswered', why: `status ${status}, and not from Unit Guard` }
  throw new Error(`status ${status}, and not from Unit Guard: is the address right?`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' && body !== null && 'type' in body && String(body.type).startsWith('/problems/')

/** RFC 9110, 10.2.3, in seconds; the guard sends no dates. */
function retryAfterOf(headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? 0)
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0
}

/** undici puts the reason into `cause`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
