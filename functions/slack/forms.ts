import * as z from 'zod/mini'
import { pressedActions, type SlackEvent } from '../../shared/ledger/updates/tasks.ts'
import { digest } from '../../shared/platform/ids.ts'
import { priceIn } from '../../shared/slack/blocks.ts'

const text = (max: number) => z.string().check(z.minLength(1), z.maxLength(max))
const user = z.string().check(z.regex(/^[UW][A-Z0-9]{2,20}$/))
const responseUrl = z.url().check(z.maxLength(500))

/** @see https://docs.slack.dev/interactivity/implementing-slash-commands */
const commandSchema = z.object({
  user_id: user,
  text: z._default(z.string().check(z.maxLength(40_000)), ''),
  trigger_id: text(200),
  response_url: responseUrl,
})

/** @see https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
const pressSchema = z.object({
  type: z.literal('block_actions'),
  trigger_id: text(200),
  user: z.object({ id: user }),
  response_url: responseUrl,
  actions: z
    .array(
      z.object({
        action_id: z.enum(pressedActions),
        value: z.string().check(z.regex(/^[\w#:.-]{1,100}$/)),
        block_id: z.optional(z.string()),
      }),
    )
    .check(z.length(1)),
})

/** Returns `null` if the body is not a slash command. The `trigger_id` is the idempotency key. */
export function readCommand(body: string, at: number): (SlackEvent & { kind: 'command' }) | null {
  const parsed = commandSchema.safeParse(Object.fromEntries(new URLSearchParams(body)))
  if (!parsed.success) return null
  const { user_id, text, trigger_id, response_url } = parsed.data
  const id = `cmd_${digest('command', trigger_id)}`
  return { ...newEvent(id, at), kind: 'command', user: user_id, text, responseUrl: response_url }
}

/**
 * Makes one event for each press, however often Slack delivers the press.
 *
 * @returns `null` if unreadable, `not-ours` for another interaction.
 */
export function readPress(body: string, at: number): (SlackEvent & { kind: 'press' }) | 'not-ours' | null {
  const payload = toJson(new URLSearchParams(body).get('payload'))
  if (typeof payload !== 'object' || payload === null) return null
  const parsed = pressSchema.safeParse(payload)
  if (!parsed.success) return 'type' in payload && typeof payload.type === 'string' ? 'not-ours' : null
  const { user, trigger_id, response_url, actions } = parsed.data
  const [action] = actions
  if (!action) return null
  const shownUnits = priceIn(action.block_id)
  const id = `prs_${digest('press', trigger_id)}`
  return {
    ...newEvent(id, at),
    kind: 'press',
    user: user.id,
    action: action.action_id,
    value: action.value,
    ...(shownUnits !== undefined && { shown: shownUnits }),
    responseUrl: response_url,
  }
}

/** Slack sometimes checks the certificate with an unsigned request that expects 200. */
export const isCertificateCheck = (form: string): boolean => new URLSearchParams(form).get('ssl_check') === '1'

const newEvent = (id: string, createdAt: number) => ({ id, version: 1, createdAt, answers: 0 })

function toJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return null
  }
}
