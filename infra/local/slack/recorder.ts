import { type Context, Hono } from 'hono'
import type * as z from 'zod/mini'
import type { Clock } from '../../../shared/platform/clock.ts'
import {
  blocks as blocksShape,
  bodies,
  type HomeView,
  homeView,
  type Method,
  type ModalView,
  maxBlocksBytes,
  modalView,
  type ShownBlock,
} from './shapes.ts'

export interface RecordedMessage {
  readonly channel: string
  readonly ts: string
  readonly text: string
  readonly blocks: readonly ShownBlock[]
  readonly edits: number
  readonly only?: string
}

export interface OpenModal {
  readonly id: string
  readonly view: ModalView
  readonly triggerId: string
}

export interface RecorderFault {
  readonly method: Method
  /** `ratelimited` is answered with 429. */
  readonly error?: string
  readonly retryAfterSeconds?: number
  /** Takes the call all the same. */
  readonly isAnswerLost?: true
  readonly delayMs?: number
}

const maxKept = 500

interface RecorderOptions {
  readonly token: string
  readonly clock: Clock
  /** `null`: every channel exists. */
  readonly channels?: readonly string[] | null
  readonly told?: (message: RecordedMessage) => void
}

const newState = ({ clock, channels = null, told = () => {} }: RecorderOptions) => {
  let counter = 0
  return {
    channels,
    told,
    messages: [] as RecordedMessage[],
    homes: new Map<string, HomeView>(),
    modals: [] as OpenModal[],
    nextId: () => ++counter,
    nextTs: () => `${Math.floor(clock.now() / 1000)}.${String(++counter).padStart(6, '0')}`,
  }
}

type RecorderState = ReturnType<typeof newState>

/**
 * The part of Slack's Web API that the guard uses.
 *
 * @see https://docs.slack.dev/apis/web-api
 */
export function createRecorder(options: RecorderOptions) {
  const state = newState(options)
  const calls: { readonly method: string; readonly body: unknown }[] = []
  const faults: RecorderFault[] = []

  const app = new Hono()
  app.post('/api/:method', async (c) => {
    const method = c.req.param('method')
    if (!isMethod(method)) return c.json({ ok: false, error: 'unknown_method' })
    const authorization = c.req.header('authorization')
    if (authorization === undefined) return c.json({ ok: false, error: 'not_authed' })
    if (authorization !== `Bearer ${options.token}`) return c.json({ ok: false, error: 'invalid_auth' })
    const body: unknown = await c.req.json().catch(() => null)
    calls.push({ method, body })
    const at = faults.findIndex((fault) => fault.method === method)
    const [fault] = at < 0 ? [] : faults.splice(at, 1)
    if (fault?.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delayMs))
    if (fault?.error !== undefined) return failure(c, fault)
    const answer = take(state, method, body)
    return fault?.isAnswerLost ? c.text('', 200) : c.json(answer)
  })

  return {
    app,
    calls,
    messages: state.messages,
    homes: state.homes,
    modals: state.modals,
    respond: (to: RespondTo, body: unknown) => respond(state, to, body),
    fail: (...next: readonly RecorderFault[]) => void faults.push(...next),
  }
}

function take(state: RecorderState, method: Method, body: unknown): object {
  const parsed = bodies[method].safeParse(body)
  if (!parsed.success) return wrong('invalid_arguments', parsed.error)
  switch (method) {
    case 'chat.postMessage':
    case 'chat.update':
      return say(state, method, parsed.data as z.output<(typeof bodies)['chat.update']>)
    case 'views.open': {
      const { trigger_id, view } = parsed.data as z.output<(typeof bodies)['views.open']>
      const modal = modalView.safeParse(view)
      if (!modal.success) return wrong('invalid_arguments', modal.error)
      const id = `V${state.nextId()}`
      state.modals.push({ id, view: modal.data, triggerId: trigger_id })
      return { ok: true, view: { id } }
    }
    case 'views.publish': {
      const { user_id, view } = parsed.data as z.output<(typeof bodies)['views.publish']>
      const home = homeView.safeParse(view)
      if (!home.success) return wrong('invalid_arguments', home.error)
      state.homes.set(user_id, home.data)
      return { ok: true, view: { id: `H${user_id}` } }
    }
  }
}

function say(
  state: RecorderState,
  method: 'chat.postMessage' | 'chat.update',
  { channel, ts, text, blocks }: { channel: string; ts?: string; text?: string | undefined; blocks?: unknown },
): object {
  const { channels, messages, told } = state
  if (channels !== null && !channels.includes(channel)) return { ok: false, error: 'channel_not_found' }
  if (!text && !Array.isArray(blocks)) return { ok: false, error: 'no_text' }
  const shown = blocksShape.safeParse(blocks ?? [])
  if (!shown.success) return wrong('invalid_blocks', shown.error)
  if (Buffer.byteLength(JSON.stringify(shown.data)) > maxBlocksBytes) return { ok: false, error: 'msg_blocks_too_long' }
  const before = messages.findIndex((each) => each.channel === channel && each.ts === ts)
  if (method === 'chat.update' && before < 0) return { ok: false, error: 'message_not_found' }
  const seen = messages[before]
  const edits = seen ? seen.edits + 1 : 0
  const message = { channel, ts: seen?.ts ?? state.nextTs(), text: text ?? '', blocks: shown.data, edits }
  if (seen) messages[before] = message
  else keep(state, message)
  told(message)
  return { ok: true, channel, ts: message.ts, message: { text: message.text } }
}

function keep({ messages }: RecorderState, message: RecordedMessage): void {
  messages.push(message)
  if (messages.length > maxKept) messages.shift()
}

export interface RespondTo {
  readonly channel: string
  readonly ts: string | null
  readonly user: string
}

/** What a `response_url` was sent. */
function respond(state: RecorderState, to: RespondTo, body: unknown): void {
  const { messages } = state
  const { text = '', blocks, replace_original } = (body ?? {}) as Record<string, unknown> & { text?: string }
  const shown = blocksShape.safeParse(blocks ?? [])
  if (!shown.success) throw new Error(`Slack would refuse this: ${shown.error.message}`)
  const at = messages.findIndex((each) => each.channel === to.channel && each.ts === to.ts)
  const seen = messages[at]
  if (replace_original === true && seen) messages[at] = { ...seen, text, blocks: shown.data, edits: seen.edits + 1 }
  else keep(state, { channel: to.channel, ts: state.nextTs(), text, blocks: shown.data, edits: 0, only: to.user })
}

function failure(c: Context, { error, retryAfterSeconds = 30 }: RecorderFault): Response {
  if (error !== 'ratelimited') return c.json({ ok: false, error })
  return c.json({ ok: false, error }, 429, { 'retry-after': String(retryAfterSeconds) })
}

const isMethod = (name: string): name is Method => Object.hasOwn(bodies, name)

const wrong = (
  error: string,
  { issues }: { readonly issues: readonly { path: PropertyKey[]; message: string }[] },
) => ({
  ok: false,
  error,
  response_metadata: { messages: issues.map(({ path, message }) => `${path.join('.')}: ${message}`) },
})
