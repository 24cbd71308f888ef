import * as z from 'zod/mini'
import { digest } from '../../shared/platform/ids.ts'
import { slackTeam } from '../../shared/platform/words.ts'
import { modalActions, priceIn } from '../../shared/slack/blocks.ts'
import { type FormRead, forms, type Opener, readForm, submissionSchema } from '../../shared/slack/messages/modals.ts'
import { pressedActions, type SlackEvent } from '../../shared/slack/slack-events.ts'

const text = (max: number) => z.string().check(z.minLength(1), z.maxLength(max))
const user = z.string().check(z.regex(/^[UW][A-Z0-9]{2,20}$/))
const responseUrl = z.url().check(z.maxLength(500))

/** @see https://docs.slack.dev/interactivity/implementing-slash-commands */
const commandSchema = z.object({
  user_id: user,
  team_id: z.optional(z.string()),
  enterprise_id: z.optional(z.string()),
  text: z._default(z.string().check(z.maxLength(40_000)), ''),
  trigger_id: text(200),
  response_url: responseUrl,
})

/** @see https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
const pressSchema = z.object({
  type: z.literal('block_actions'),
  trigger_id: text(200),
  user: z.object({ id: user }),
  // A press in App Home has no `response_url`.
  response_url: z.optional(responseUrl),
  container: z.optional(
    z.object({
      type: z.optional(z.string()),
      message_ts: z.optional(z.string().check(z.regex(/^[\d.]{1,30}$/))),
      channel_id: z.optional(z.string().check(z.regex(/^[A-Z0-9]{2,30}$/))),
    }),
  ),
  actions: z
    .array(
      z.object({
        action_id: z.enum([...pressedActions, ...modalActions]),
        value: z.string().check(z.regex(/^[^\p{C}\p{Z}]{1,100}$/u)),
        block_id: z.optional(z.string()),
      }),
    )
    .check(z.length(1)),
})

/** @see https://docs.slack.dev/apis/events-api */
const eventSchema = z.union([
  z.object({ type: z.literal('url_verification'), challenge: text(1_000) }),
  z.object({
    type: z.literal('event_callback'),
    team_id: z.optional(z.unknown()),
    enterprise_id: z.optional(z.unknown()),
    event_id: text(200),
    event: z.object({ type: z.literal('app_home_opened'), user, tab: z.optional(z.string()) }),
  }),
])

/** In a shared channel, `team` may be another workspace than the user's. It is `null` for an app of a whole organization. */
const senderSchema = z.object({
  user: z.object({ team_id: z.optional(z.unknown()) }),
  team: z.nullish(z.object({ id: z.optional(z.unknown()), enterprise_id: z.optional(z.unknown()) })),
  enterprise: z.nullish(z.object({ id: z.optional(z.unknown()) })),
})

type Press = SlackEvent & { kind: 'press' }

/** `null`: not a slash command. */
export function readCommand(body: string, at: number): (SlackEvent & { kind: 'command' }) | null {
  const parsed = commandSchema.safeParse(Object.fromEntries(new URLSearchParams(body)))
  if (!parsed.success) return null
  const { user_id, text, trigger_id, response_url, team_id, enterprise_id } = parsed.data
  const id = `cmd_${digest('command', trigger_id)}`
  const teams = teamsAmong(team_id, enterprise_id)
  return { ...newEvent(id, at), kind: 'command', user: user_id, ...teams, text, responseUrl: response_url }
}

export type Interaction =
  | { readonly kind: 'press'; readonly press: Press }
  /** `press` is recorded if Slack does not open the form. */
  | { readonly kind: 'opens'; readonly opener: Opener; readonly triggerId: string; readonly press: Press }
  | { readonly kind: 'faults'; readonly faults: Extract<FormRead, { kind: 'faults' }>['faults'] }

/** `null`: unreadable. A press that Slack delivers twice has one id. */
export function readInteraction(body: string, at: number): Interaction | 'not-ours' | null {
  const payload = toJson(new URLSearchParams(body).get('payload'))
  if (typeof payload !== 'object' || payload === null) return null
  const submitted = submissionSchema.safeParse(payload)
  if (submitted.success) return readSubmission(submitted.data, teamsOf(payload), at)
  const parsed = pressSchema.safeParse(payload)
  if (!parsed.success) return 'type' in payload && typeof payload.type === 'string' ? 'not-ours' : null
  const { user, trigger_id, response_url, actions, container } = parsed.data
  const [action] = actions
  const isHome = container?.type === 'view'
  if (!action || (response_url === undefined && !isHome)) return 'not-ours'
  const shown = priceIn(action.block_id)
  const { message_ts: ts, channel_id: channel } = container ?? {}
  const common = {
    value: action.value,
    ...(shown !== undefined && { shown }),
    ...(isHome && { isHome }),
    ...(ts !== undefined && channel !== undefined && { message: { channel, ts } }),
    responseUrl: response_url ?? '',
  }
  const id = `prs_${digest('press', trigger_id)}`
  const event = { ...newEvent(id, at), kind: 'press', user: user.id, ...teamsOf(payload) } as const
  const opening = modalActions.find((each) => each === action.action_id)
  const pressed = pressedActions.find((each) => each === action.action_id)
  if (opening === undefined)
    return pressed === undefined ? null : { kind: 'press', press: { ...event, ...common, action: pressed } }
  const press = { ...event, ...common, action: 'unopened' } as const
  return { kind: 'opens', opener: { action: opening, ...common }, triggerId: trigger_id, press }
}

function readSubmission(
  payload: z.output<typeof submissionSchema>,
  teams: Teams,
  at: number,
): Interaction | 'not-ours' {
  const read = readForm(payload)
  if (read === null || !user.safeParse(payload.user.id).success) return 'not-ours'
  if (read.kind === 'faults') return read
  const { opener, units, reason } = read
  const { action, ...pressed } = opener
  // A submission with faults is not recorded, so the view's id is still unused.
  const event = newEvent(`frm_${digest('form', payload.view.id)}`, at)
  const given = { ...(units !== undefined && { units }), ...(reason !== undefined && { reason }) }
  return {
    kind: 'press',
    press: {
      ...event,
      kind: 'press',
      user: payload.user.id,
      ...teams,
      action: forms[action].press,
      ...pressed,
      ...given,
    },
  }
}

/** `null`: not an event. */
export function readEvent(
  body: string,
  at: number,
): (SlackEvent & { kind: 'home' }) | { readonly kind: 'challenge'; readonly challenge: string } | 'not-ours' | null {
  const payload = toJson(body)
  if (typeof payload !== 'object' || payload === null || !('type' in payload)) return null
  const parsed = eventSchema.safeParse(payload)
  if (!parsed.success) return 'not-ours'
  if (parsed.data.type === 'url_verification') return { kind: 'challenge', challenge: parsed.data.challenge }
  const { event, event_id, team_id, enterprise_id } = parsed.data
  if (event.tab !== undefined && event.tab !== 'home') return 'not-ours'
  const id = `evt_${digest('event', event_id)}`
  const teams = teamsAmong(team_id, enterprise_id)
  return { ...newEvent(id, at), kind: 'home', user: event.user, ...teams, responseUrl: '' }
}

type Teams = Pick<SlackEvent, 'teams'>

function teamsOf(payload: object): Teams {
  const { user, team, enterprise } = senderSchema.safeParse(payload).data ?? {}
  const own = user?.team_id
  const isOfTeam = own === undefined || own === team?.id
  return isOfTeam ? teamsAmong(team?.id, team?.enterprise_id, enterprise?.id) : teamsAmong(own)
}

/** What is no id of a workspace or an organization is left out, because it must not make a press unreadable. */
function teamsAmong(...ids: readonly unknown[]): Teams {
  const teams = ids.filter((id) => typeof id === 'string' && slackTeam.test(id)) as string[]
  return teams.length > 0 ? { teams } : {}
}

/** Slack sends this check without a signature and expects 200. */
export const isCertificateCheck = (form: string): boolean => new URLSearchParams(form).get('ssl_check') === '1'

const newEvent = (id: string, createdAt: number) => ({ id, version: 1, createdAt, answers: 0 })

function toJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return null
  }
}
