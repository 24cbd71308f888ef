import { type Context, Hono } from 'hono'
import { createRecorder } from '../../../infra/local/slack/recorder.ts'
import type { TestClock } from '../clock.ts'
import { blocks, bodies, homeView, maxBlocksBytes, modalView } from './shapes.ts'

type Method = keyof typeof bodies

interface RecorderFault {
  readonly method: Method
  /** `ratelimited` is answered with 429. */
  readonly error?: string
  readonly retryAfterSeconds?: number
  /** Accepts the call nevertheless. */
  readonly isAnswerLost?: true
  readonly delayMs?: number
}

/** The recorder of the local system behind Slack's own checks, with faults in place of answers. */
export function createStrictRecorder(options: { token: string; clock: TestClock; channels: readonly string[] }) {
  const { token, channels } = options
  const recorder = createRecorder(options)
  const calls: { readonly method: string; readonly body: unknown }[] = []
  const faults: RecorderFault[] = []

  const app = new Hono()
  app.post('/api/:method', async (c) => {
    const method = c.req.param('method')
    if (!isMethod(method)) return c.json({ ok: false, error: 'unknown_method' })
    const text = await c.req.text()
    const authorization = c.req.header('authorization')
    const pass = async () => recorder.app.request(c.req.path, { method: 'POST', headers: c.req.header(), body: text })
    if (authorization !== `Bearer ${token}`) return pass()
    const body: unknown = JSON.parse(text)
    calls.push({ method, body })
    const at = faults.findIndex((fault) => fault.method === method)
    const [fault] = at < 0 ? [] : faults.splice(at, 1)
    if (fault?.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delayMs))
    if (fault?.error !== undefined) return failure(c, fault)
    const refused = whyRefused(method, body, channels)
    const answer = refused ? c.json(refused) : await pass()
    return fault?.isAnswerLost ? c.text('', 200) : answer
  })

  return { ...recorder, app, calls, fail: (...next: readonly RecorderFault[]) => void faults.push(...next) }
}

const isMethod = (name: string): name is Method => Object.hasOwn(bodies, name)

function whyRefused(method: Method, body: unknown, channels: readonly string[]): object | null {
  const parsed = bodies[method].safeParse(body)
  if (!parsed.success) return wrong('invalid_arguments', parsed.error)
  const { view, channel, text, blocks: shown } = parsed.data as Readonly<Record<string, unknown>>
  if (method === 'views.open' || method === 'views.publish') {
    const { error } = (method === 'views.open' ? modalView : homeView).safeParse(view)
    return error ? wrong('invalid_arguments', error) : null
  }
  if (!channels.includes(String(channel))) return { ok: false, error: 'channel_not_found' }
  if (!text && !Array.isArray(shown)) return { ok: false, error: 'no_text' }
  const { error } = blocks.safeParse(shown ?? [])
  if (error) return wrong('invalid_blocks', error)
  const isTooLong = Buffer.byteLength(JSON.stringify(shown ?? [])) > maxBlocksBytes
  return isTooLong ? { ok: false, error: 'msg_blocks_too_long' } : null
}

function failure(c: Context, { error, retryAfterSeconds = 30 }: RecorderFault): Response {
  if (error !== 'ratelimited') return c.json({ ok: false, error })
  return c.json({ ok: false, error }, 429, { 'retry-after': String(retryAfterSeconds) })
}

const wrong = (
  error: string,
  { issues }: { readonly issues: readonly { path: PropertyKey[]; message: string }[] },
) => ({
  ok: false,
  error,
  response_metadata: { messages: issues.map(({ path, message }) => `${path.join('.')}: ${message}`) },
})
