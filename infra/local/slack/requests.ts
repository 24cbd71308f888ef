import { createHmac } from 'node:crypto'
import type { OpenModal } from './recorder.ts'

/** @param timestamp in seconds. */
export function signatureOf(secret: string, body: string, timestamp: number | string) {
  const signature = `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`
  return { 'x-slack-request-timestamp': String(timestamp), 'x-slack-signature': signature }
}

/** The workspace of all users here. */
export const team = 'T0LOCAL'

interface Sender {
  readonly user: string
  readonly from?: string
  readonly trigger: string
  readonly responseUrl: string
}

/** @see https://docs.slack.dev/interactivity/implementing-slash-commands */
export const commandForm = (
  { user, trigger, responseUrl, from = team }: Sender,
  text: string,
): Record<string, string> => ({
  command: '/units',
  text,
  user_id: user,
  trigger_id: trigger,
  response_url: responseUrl,
  team_id: from,
  channel_id: 'C0',
})

export interface PressedButton {
  readonly action: string
  readonly value: string
  readonly block: string
  /** `null`: in App Home. */
  readonly message: { readonly channel: string; readonly ts: string } | null
}

/** @see https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
export function pressForm(
  { user, trigger, responseUrl, from = team }: Sender,
  { action, value, block, message }: PressedButton,
): Record<string, string> {
  const container = message
    ? { type: 'message', message_ts: message.ts, channel_id: message.channel }
    : { type: 'view', view_id: 'V0' }
  const payload = {
    type: 'block_actions',
    user: { id: user, username: 'someone', team_id: from },
    team: { id: from },
    trigger_id: trigger,
    container,
    ...(message && { response_url: responseUrl }),
    actions: [{ type: 'button', action_id: action, value, block_id: block }],
  }
  return { payload: JSON.stringify(payload) }
}

/** @see https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload */
export function submissionForm(
  user: string,
  { id, view }: Pick<OpenModal, 'id' | 'view'>,
  values: Readonly<Record<string, string>>,
  from = team,
): Record<string, string> {
  const state = {
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { [name]: { value } }])),
  }
  const submitted = { id, private_metadata: view.private_metadata, state }
  return { payload: JSON.stringify({ type: 'view_submission', user: { id: user, team_id: from }, view: submitted }) }
}

/** @see https://docs.slack.dev/reference/events/app_home_opened */
export const eventBody = (id: string, event: object, from = team): string =>
  JSON.stringify({ type: 'event_callback', team_id: from, event_id: id, event })
