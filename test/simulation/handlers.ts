import { createHmac } from 'node:crypto'
import { SignJWT } from 'jose'
import { createApi } from '../../functions/api/app.ts'
import { createMcp } from '../../functions/mcp/app.ts'
import { createStartReader, createTellReader } from '../../functions/outbox/readers.ts'
import { createTriggers } from '../../functions/scheduled/triggers.ts'
import { createSlackApp } from '../../functions/slack/app.ts'
import type { Background } from '../../shared/background/background.ts'
import { createEvents } from '../../shared/events/events.ts'
import { unknownFacts } from '../../shared/guard/troubles/table.ts'
import { digest } from '../../shared/platform/ids.ts'
import type { Secret } from '../../shared/platform/secrets.ts'
import { reportsOf } from '../../shared/reports/reports.ts'
import type { Channel } from '../../shared/services/channel.ts'
import type { Services } from '../../shared/services/services.ts'
import { createSlack, type Slack } from '../../shared/slack/slack.ts'
import { productKinds } from '../../shared/tracking/kinds.ts'
import { agentMessage, agentResult } from '../support/agent-message.ts'
import type { Told } from './audit/agents.ts'
import { type Machine, options } from './machine.ts'
import { slackThrough } from './ports.ts'

const callerKey = 'canary-caller-key-0123456789abcdefghijklmnop'
const quoteKey = 'canary-quote-key-0123456789abcdefghijklmnopq'
const signingSecret = 'canary-slack-signing-secret'
const webhookUrl = 'https://hooks.slack.com/services/T0/B0/canary-webhook'
const responseUrl = 'https://hooks.slack.com/commands/T0/1/canary-response'

export const secrets = [callerKey, quoteKey, signingSecret, 'canary-webhook', 'eyJhbGciOiJIUzI1NiJ9']

const secretOf = (current: string): Secret => {
  const read = async () => ({ current, previous: null })
  return { read, reread: read }
}

export interface Answered {
  readonly status: number
  readonly text: string
}

const tracking = {
  open: () => Promise.reject(new Error('nothing is passed through here')),
  projects: async () => [],
}

const troubles = {
  read: async () => [],
  look: async () => ({ machine: unknownFacts, found: [] }),
  whyNotReady: async () => null,
  begin: async () => {},
  end: async () => {},
  check: async () => {},
}

const servicesOf = ({ guard, clock, log }: Machine): Services => ({
  guard,
  clock,
  log,
  options,
  kinds: productKinds,
  dashboardUrl: null,
  isLocal: false,
  tracking,
  troubles,
  issuers: async () => [],
  identity: async () => null,
  acceptsMinted: true,
  metricNamespace: 'UnitGuard',
  login: null,
  edge: null,
  callerKey: secretOf(callerKey),
  slackApi: { channel: null },
  eventSettings: {},
  secretNamed: () => secretOf(''),
  slackSecret: secretOf(JSON.stringify({ signingSecret, webhookUrl })),
})

/** The handlers of one process as AWS calls them, each created at its first use. */
export function createHandlers(machine: Machine, told: (message: string) => void, eventsOf = createEvents) {
  const { guard, clock, ask } = machine
  const services = servicesOf(machine)
  const slack = createSlack(services, slackThrough(ask, told))
  const events = eventsOf(services)
  const background = backgroundOf(services, slack, events)

  let api: ReturnType<typeof createApi> | undefined
  async function call(caller: string, method: string, path: string, body?: object, headers = {}): Promise<Answered> {
    api ??= createApi(services)
    const answer = await api.request(path, {
      method,
      headers: {
        authorization: `Bearer ${await tokenOf(caller)}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  }

  async function fromSlack(path: string, form: Record<string, string>): Promise<Answered> {
    const body = new URLSearchParams(form).toString()
    const timestamp = String(Math.floor(clock.now() / 1000))
    const signature = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex')
    const answer = await createSlackApp({ ...services, ledger: guard.ledger, secret: services.slackSecret }).request(
      path,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-slack-request-timestamp': timestamp,
          'x-slack-signature': `v0=${signature}`,
        },
        body,
      },
    )
    return { status: answer.status, text: await answer.text() }
  }

  return {
    ...machine,
    call,
    events,
    agent: agentThrough(services, machine.process),
    types: (user: string, text: string, trigger: string) =>
      fromSlack('/slack/commands', { user_id: user, text, trigger_id: trigger, response_url: responseUrl }),
    presses: (user: string, action: string, value: string, trigger: string) =>
      fromSlack('/slack/interactions', {
        payload: JSON.stringify({
          type: 'block_actions',
          user: { id: user },
          trigger_id: trigger,
          response_url: responseUrl,
          actions: [{ action_id: action, value }],
        }),
      }),
    reads: createStartReader(background),
    tells: createTellReader(background),
    triggers: createTriggers(background),
  }
}

const backgroundOf = (services: Services, slack: Slack, events: Channel): Background =>
  Object.assign({ slack, channels: [slack, events] as const, reports: () => reportsOf(services.guard) }, services)

/** Calls a tool over the endpoint of agents. */
function agentThrough(services: Services, process: string) {
  let quotes = 0
  const ids = { fraction: () => 0.5, random: () => digest(process, String(++quotes)) }
  let mcp: ReturnType<typeof createMcp> | undefined

  return async (caller: string, tool: string, input: object): Promise<Told> => {
    mcp ??= createMcp(services, { quoteKey: secretOf(quoteKey), ids })
    const message = agentMessage(await tokenOf(caller), 'tools/call', { name: tool, arguments: input })
    const answer = await mcp.request('/mcp', { method: 'POST', ...message })
    const { isError = false, content, structuredContent } = agentResult(await answer.text())
    return { isError, sentence: content[0].text, data: structuredContent }
  }
}

export type Handlers = ReturnType<typeof createHandlers>

const scopesOf: Readonly<Record<string, string>> = {
  ada: 'read run',
  bob: 'read propose',
  carl: 'read run approve',
  dora: 'read approve',
  root: 'read run approve admin',
}

const tokens = new Map<string, Promise<string>>()

function tokenOf(caller: string): Promise<string> {
  const known = tokens.get(caller)
  if (known) return known
  const made = new SignJWT({
    aud: 'unit-guard',
    sub: caller,
    scope: scopesOf[caller] ?? '',
    budgets: '*',
    exp: farAway,
  })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(callerKey))
  tokens.set(caller, made)
  return made
}

const farAway = Date.parse('2027-06-01T00:00:00Z') / 1000

export const isAnswer = (answer: unknown): answer is Answered =>
  typeof answer === 'object' && answer !== null && 'status' in answer && 'text' in answer
