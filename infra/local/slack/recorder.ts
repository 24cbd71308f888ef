import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { Clock } from '../../../shared/platform/clock.ts'
import type { Block, HomeView } from '../../../shared/slack/blocks.ts'
import type { ModalView } from '../../../shared/slack/messages/modals.ts'

export interface RecordedMessage {
  readonly channel: string
  readonly ts: string
  readonly text: string
  readonly blocks: readonly Block[]
  readonly edits: number
  readonly only?: string
}

export interface OpenModal {
  readonly id: string
  readonly view: ModalView
}

const maxKept = 500

/** A message of this machine's guard. Tests check its blocks and views against the limits of Slack. */
const said = z.object({
  channel: z._default(z.string(), ''),
  ts: z.optional(z.string()),
  text: z._default(z.string(), ''),
  blocks: z._default(z.array(z.custom<Block>()), []),
  replace_original: z.optional(z.boolean()),
})
const opened = z.object({ view: z.custom<ModalView>() })
const published = z.object({ user_id: z.string(), view: z.custom<HomeView>() })

/**
 * The part of Slack's Web API that the guard uses.
 *
 * @see https://docs.slack.dev/apis/web-api
 */
export function createRecorder(parts: { token: string; clock: Clock; told?: (message: RecordedMessage) => void }) {
  const { token, clock, told = () => {} } = parts
  const messages: RecordedMessage[] = []
  const homes = new Map<string, HomeView>()
  const modals: OpenModal[] = []
  let counter = 0
  const nextTs = () => `${Math.floor(clock.now() / 1000)}.${String(++counter).padStart(6, '0')}`

  /** Replaces the message at `place`, or adds a message. */
  function keep(place: number, message: Omit<RecordedMessage, 'ts' | 'edits'>): RecordedMessage {
    const { ts = nextTs(), edits = -1 } = messages[place] ?? {}
    const kept = { ...message, ts, edits: edits + 1 }
    if (place >= 0) messages[place] = kept
    else if (messages.push(kept) > maxKept) messages.shift()
    return kept
  }

  const placeOf = (channel: string, ts: string | null | undefined) =>
    messages.findIndex((each) => each.channel === channel && each.ts === ts)

  function take(method: string, body: unknown): object {
    switch (method) {
      case 'chat.postMessage':
      case 'chat.update': {
        const { channel, ts, text, blocks } = said.parse(body)
        const place = placeOf(channel, ts)
        if (method === 'chat.update' && place < 0) return { ok: false, error: 'message_not_found' }
        const message = keep(place, { channel, text, blocks })
        told(message)
        return { ok: true, channel, ts: message.ts, message: { text } }
      }
      case 'views.open': {
        const id = `V${++counter}`
        modals.push({ id, view: opened.parse(body).view })
        return { ok: true, view: { id } }
      }
      case 'views.publish': {
        const { user_id, view } = published.parse(body)
        homes.set(user_id, view)
        return { ok: true, view: { id: `H${user_id}` } }
      }
      default:
        return { ok: false, error: 'unknown_method' }
    }
  }

  const app = new Hono()
  app.post('/api/:method', async (c) => {
    const isAllowed = c.req.header('authorization') === `Bearer ${token}`
    return c.json(isAllowed ? take(c.req.param('method'), await c.req.json()) : { ok: false, error: 'invalid_auth' })
  })

  /** Records a message that a `response_url` got. */
  function respond(to: { channel: string; ts: string | null; user: string }, body: unknown): void {
    const { channel, ts, user } = to
    const { text, blocks, replace_original } = said.parse(body)
    const place = replace_original === true ? placeOf(channel, ts) : -1
    const only = place < 0 ? user : messages[place]?.only
    keep(place, { channel, text, blocks, ...(only !== undefined && { only }) })
  }

  return { app, messages, homes, modals, respond }
}
