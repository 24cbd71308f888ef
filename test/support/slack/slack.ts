import { createListener } from '../../../infra/local/listener.ts'
import {
  commandForm,
  eventBody,
  pressForm,
  signatureOf,
  submissionForm,
  team,
} from '../../../infra/local/slack/requests.ts'
import type { Change } from '../../../shared/ledger/stream.ts'
import type { TestClock } from '../clock.ts'
import { type Answer, type ScriptedService, startScriptedService } from '../scripted-service.ts'
import { createStrictRecorder } from './strict-recorder.ts'

export const signingSecret = 'canary-slack-signing-secret'

export const botToken = 'xoxb-canary-slack-bot-token'
export const channel = 'C0UNITS'
const usualTs = '1700000000.000100'

export const slackSecretOf = (webhookUrl: string | undefined, botToken?: string): string =>
  JSON.stringify({ signingSecret, ...(webhookUrl !== undefined && { webhookUrl }), ...(botToken && { botToken }) })

/** Slack's Web API over real sockets, as in the local system. */
export async function startRecorder(clock: TestClock) {
  const listener = await createListener({ port: 0 })
  const recorder = createStrictRecorder({ token: botToken, clock, channels: [channel, 'C0SEO'] })
  listener.open(recorder.app)
  return { ...recorder, apiUrl: `${listener.url}/api`, close: () => listener.close(Promise.resolve()) }
}

export type RunningRecorder = Awaited<ReturnType<typeof startRecorder>>

/** A message as it arrived, with its place and its visible text. */
export interface Posted {
  readonly to: 'channel' | 'asker'
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages as Slack does, without knowing our types.
  readonly body: any
}

/** Stands in for Slack's webhooks. It accepts messages over real sockets, and gives the test's own answers first. */
export async function startSlackChannel(options: { answers?: readonly [Answer, ...Answer[]] }) {
  const server: ScriptedService = await startScriptedService({ fallback: () => ({ status: 200, body: 'ok' }) })
  if (options.answers) server.script('', ...options.answers)
  const base = server.baseUrl.replace(/\/v3$/, '')
  return {
    webhookUrl: `${base}/v3/services/T0/B0/canary-webhook`,
    responseUrl: `${base}/v3/commands/T0/1/canary-response`,
    close: server.close,
    answers: (...answers: readonly [Answer, ...Answer[]]) => server.script('', ...answers),
    /** Every message that was sent, also rejected ones. */
    posted: (): Posted[] =>
      server.requests.map(({ url, body }) => {
        const parsed = JSON.parse(body)
        return { to: url.includes('/services/') ? 'channel' : 'asker', text: parsed.text, body: parsed }
      }),
  }
}

type Channel = Awaited<ReturnType<typeof startSlackChannel>>

export const signedFor = (body: string, timestamp: number | string) => signatureOf(signingSecret, body, timestamp)

/** An administrator lists Slack users by their id, with their rights. */
export async function listPeople(
  product: { call(method: string, path: string, how: { body: object }): Promise<{ status: number }> },
  people: Record<string, { scopes?: string[]; budgets?: string | string[]; person?: string; disabled?: boolean }>,
): Promise<void> {
  for (const [user, body] of Object.entries(people)) {
    const { status } = await product.call('PUT', `/callers/slack:${user}`, { body })
    if (status >= 300) throw new Error(`${user} was not listed: ${status}`)
  }
}

/** The visible text of a message's blocks with its marks, in order. */
export const textsOf = ({ body }: Posted): string[] =>
  (body.blocks ?? []).flatMap(
    (block: { type: string; text?: { text: string }; fields?: { text: string }[]; elements?: { text: string }[] }) =>
      block.type === 'actions'
        ? []
        : block.type === 'context'
          ? (block.elements ?? []).map(({ text }) => text)
          : [...(block.text ? [block.text.text] : []), ...(block.fields ?? []).map(({ text }) => text)],
  )

/** The actions of people in Slack as signed forms. */
export function slackOf(
  app: { request(path: string, init: RequestInit): Response | Promise<Response> },
  webhook: Channel | null,
  clock: Pick<TestClock, 'now'>,
  recorder: RunningRecorder | null,
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

  const responseUrl = webhook?.responseUrl ?? 'https://hooks.slack.com/commands/T0/1/none'

  return {
    send,
    sendBody,
    /** A slash command; `trigger` is the same when Slack delivers it twice. */
    command: (text: string, { user = 'U1ADA', from = team, trigger = `trigger-${++triggers}` } = {}) =>
      send('/slack/commands', commandForm({ user, from, trigger, responseUrl }, text)),
    /** A pressed button; `trigger` is the same when Slack delivers it twice. */
    press: (
      action: string,
      value: string,
      { user = 'U1ADA', from = team, ts = usualTs, block = 'b', trigger = `press-${++triggers}`, isHome = false } = {},
    ) => {
      const button = { action, value, block, message: isHome ? null : { channel, ts } }
      return send('/slack/interactions', pressForm({ user, from, trigger, responseUrl }, button))
    },
    /** An event of the Events API; `id` is the same when Slack delivers it twice. */
    event: (event: object, id = `Ev${++triggers}`, from = team) =>
      sendBody('/slack/events', eventBody(id, event, from)),
    /** Submits the form that Slack opened last. */
    submit: (values: Record<string, string>, { user = 'U1ADA', from = team } = {}) => {
      const modal = recorder?.modals.at(-1)
      if (!modal) throw new Error('no form is open')
      return send('/slack/interactions', submissionForm(user, modal, values, from))
    },
    /** The requests to the Web API with a bot token. */
    recorder,
    posted: () => webhook?.posted() ?? [],
    /** The messages since the last call. */
    news: () => {
      const all = webhook?.posted() ?? []
      const fresh = all.slice(read)
      read = all.length
      return fresh
    },
    /** Sets the answers of Slack from now on; the last one stays. */
    answers: (...answers: readonly [Answer, ...Answer[]]) => webhook?.answers(...answers),
    block: (): string => latestBlock(webhook?.posted() ?? []),
    buttons: () => latestButtons(webhook?.posted() ?? []),
  }
}

/** The id of the block with the latest message's buttons, as a press names it. */
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

/** The change of the table that a new announcement is. */
export const announced = (id: string): Change => ({
  pk: `announcement#${id}`,
  sequenceNumber: id,
  isNew: true,
  wasAnnounced: false,
  subjects: [],
})
