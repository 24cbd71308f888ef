import { createHmac } from 'node:crypto'
import type { TestClock } from '../clock.ts'
import { type Answer, type ScriptedService, startScriptedService } from '../scripted-service.ts'

export const signingSecret = 'canary-slack-signing-secret'

export const slackSecretOf = (webhookUrl: string | undefined): string =>
  JSON.stringify({ signingSecret, ...(webhookUrl !== undefined && { webhookUrl }) })

/** A message as it arrived: where, and what a person reads. */
export interface Posted {
  readonly to: 'channel' | 'asker'
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages as Slack does, without knowing our types.
  readonly body: any
}

/** Stands for Slack's webhooks: takes messages over real sockets, the first ones with answers of the test's own. */
export async function startSlackChannel(options: { answers?: readonly [Answer, ...Answer[]] }) {
  const server: ScriptedService = await startScriptedService({ fallback: () => ({ status: 200, body: 'ok' }) })
  if (options.answers) server.script('', ...options.answers)
  const base = server.baseUrl.replace(/\/v3$/, '')
  return {
    webhookUrl: `${base}/v3/services/T0/B0/canary-webhook`,
    responseUrl: `${base}/v3/commands/T0/1/canary-response`,
    close: server.close,
    answers: (...answers: readonly [Answer, ...Answer[]]) => server.script('', ...answers),
    /** Everything that was sent, refused or not. */
    posted: (): Posted[] =>
      server.requests.map(({ url, body }) => {
        const parsed = JSON.parse(body)
        return { to: url.includes('/services/') ? 'channel' : 'asker', text: parsed.text, body: parsed }
      }),
  }
}

type Channel = Awaited<ReturnType<typeof startSlackChannel>>

/** The headers with which Slack signs a body at a time: seconds, or whatever a test makes of them. */
export function signedFor(body: string, timestamp: number | string) {
  const signature = `v0=${createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex')}`
  return { 'x-slack-request-timestamp': String(timestamp), 'x-slack-signature': signature }
}

/** Has an administrator list people of Slack: by their id, what they may do. */
export async function listPeople(
  product: { call(method: string, path: string, how: { body: object }): Promise<{ status: number }> },
  people: Record<string, { scopes?: string[]; budgets?: string | string[]; person?: string; disabled?: boolean }>,
): Promise<void> {
  for (const [user, body] of Object.entries(people)) {
    const { status } = await product.call('PUT', `/callers/slack:${user}`, { body })
    if (status >= 300) throw new Error(`${user} was not listed: ${status}`)
  }
}

/** What a person reads of a message, marks and all: its blocks, in order. */
export const textsOf = ({ body }: Posted): string[] =>
  (body.blocks ?? []).flatMap(
    (block: { type: string; text?: { text: string }; fields?: { text: string }[]; elements?: { text: string }[] }) =>
      block.type === 'actions'
        ? []
        : block.type === 'context'
          ? (block.elements ?? []).map(({ text }) => text)
          : [...(block.text ? [block.text.text] : []), ...(block.fields ?? []).map(({ text }) => text)],
  )

/** What a person does in Slack, as Slack sends it: signed forms. */
export function slackOf(
  app: { request(path: string, init: RequestInit): Response | Promise<Response> },
  channel: Channel | null,
  clock: TestClock,
) {
  let triggers = 0
  let read = 0

  const sendBody = (path: string, body: string, headers: Record<string, string> = {}) =>
    app.request(path, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...signedFor(body, Math.floor(clock.now() / 1000)),
        ...headers,
      },
      body,
    })

  const send = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    sendBody(path, new URLSearchParams(form).toString(), headers)

  const responseUrl = channel?.responseUrl ?? 'https://hooks.slack.com/commands/T0/1/none'

  return {
    send,
    sendBody,
    /** A slash command; `trigger` is the same when Slack delivers it twice. */
    command: (text: string, { user = 'U1ADA', trigger = `trigger-${++triggers}` } = {}) =>
      send('/slack/commands', {
        command: '/units',
        text,
        user_id: user,
        trigger_id: trigger,
        response_url: responseUrl,
        team_id: 'T0',
        channel_id: 'C0',
      }),
    /** A pressed button; `trigger` is the same when Slack delivers it twice. */
    press: (
      action: string,
      value: string,
      { user = 'U1ADA', message = '1700000000.000100', block = 'b', trigger = `press-${++triggers}` } = {},
    ) =>
      send('/slack/interactions', {
        payload: JSON.stringify({
          type: 'block_actions',
          user: { id: user, username: 'someone' },
          trigger_id: trigger,
          response_url: responseUrl,
          container: { type: 'message', message_ts: message },
          actions: [{ type: 'button', action_id: action, value, block_id: block }],
        }),
      }),
    posted: () => channel?.posted() ?? [],
    /** What arrived since this was asked last. */
    news: () => {
      const all = channel?.posted() ?? []
      const fresh = all.slice(read)
      read = all.length
      return fresh
    },
    /** How Slack answers from now on; the last answer stays. */
    answers: (...answers: readonly [Answer, ...Answer[]]) => channel?.answers(...answers),
    block: (): string => latestBlock(channel?.posted() ?? []),
    buttons: () => latestButtons(channel?.posted() ?? []),
  }
}

/** The block that the buttons of the latest message stand in, as a press of one names it. */
const latestBlock = (posted: readonly Posted[]): string =>
  posted.flatMap(({ body }) => body.blocks ?? []).findLast(({ type }: { type: string }) => type === 'actions')
    ?.block_id ?? 'b'

/** The buttons of the latest message that has any. */
function latestButtons(posted: readonly Posted[]): { action: string; value: string }[] {
  const buttonsOf = ({ body }: Posted) =>
    (body.blocks ?? []).flatMap((block: { type: string; elements?: object[] }) =>
      block.type === 'actions' ? (block.elements ?? []) : [],
    )
  const last = posted.map(buttonsOf).findLast((found) => found.length > 0) ?? []
  return last.map((each: { action_id: string; value: string }) => ({ action: each.action_id, value: each.value }))
}
