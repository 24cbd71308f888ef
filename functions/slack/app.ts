import { type Context, Hono } from 'hono'
import { permissionsOf } from '../../shared/guard/people/permissions.ts'
import { AnswerLost } from '../../shared/ledger/errors.ts'
import type { SlackLedger } from '../../shared/ledger/slack-ledger.ts'
import type { Clock } from '../../shared/platform/clock.ts'
import { arrivalOf, type EdgeCheck, edgeRetryAfter } from '../../shared/platform/edge.ts'
import { type Platform, rawPathOf, readWhole } from '../../shared/platform/http.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { inLogContext, type Log } from '../../shared/platform/log.ts'
import type { Secret } from '../../shared/platform/secrets.ts'
import { acceptedMessage } from '../../shared/slack/messages/estimate.ts'
import { helpMessage, problemMessage, usageMessage } from '../../shared/slack/messages/help.ts'
import { modalFor } from '../../shared/slack/messages/modals.ts'
import { parseCommand } from '../../shared/slack/receive/command.ts'
import { isSigned } from '../../shared/slack/receive/signature.ts'
import { readSlackSecret } from '../../shared/slack/secret.ts'
import { type SlackEvent, slackEvents } from '../../shared/slack/slack-events.ts'
import type { SlackClient } from '../../shared/slack/tell/client.ts'
import type { Kinds } from '../../shared/tracking/kinds.ts'
import { type Interaction, isCertificateCheck, readCommand, readEvent, readInteraction } from './forms.ts'

const maxBytes = 256 * 1024

const openWithinMs = 1_500

const notTakenText = 'Unit Guard cannot take this right now, so nothing was done. Please try again in a minute.'

/** If the request was recorded, the stream or the next sweep handles it. */
const perhapsTakenText =
  'Unit Guard may not have recorded this. If no answer comes within ten minutes, nothing was done. Please try again then.'

interface SlackEnv {
  Variables: { caller: string }
  Bindings: Platform
}

export interface SlackAppParts {
  ledger: SlackLedger
  secret: Secret
  /** `null`: there is no edge. */
  edge: EdgeCheck | null
  clock: Clock
  log: Log
  kinds?: Kinds
  /** Used to open forms. */
  client?: SlackClient
}

type SlackContext = Context<SlackEnv>

/**
 * Records requests and acknowledges them. Slack waits only three seconds, so the outbox does the rest.
 *
 * @see https://docs.slack.dev/interactivity/handling-user-interaction
 */
export function createSlackApp(parts: SlackAppParts): Hono<SlackEnv> {
  const { clock, log, edge } = parts
  const app = new Hono<SlackEnv>({ getPath: rawPathOf })

  app.use((c, next) => {
    const requestId = systemIds.random()
    return inLogContext({ function: 'slack', requestId }, async () => {
      const from = clock.now()
      const { cameFrom, sourceIp } = await arrivalOf(c, edge)
      if (cameFrom === 'edge') await next()
      else if (cameFrom === 'elsewhere') c.res = c.text('wrong address', 403)
      else c.res = c.text('unavailable', 503, { 'retry-after': String(edgeRetryAfter) })
      const { method, routePath: route } = c.req
      const ms = clock.now() - from
      log.info('request', { caller: c.get('caller'), sourceIp, method, route, status: c.res.status, ms })
    })
  })

  const routes = { commands: takeCommand, interactions: takeInteraction, events: takeEvent } as const
  for (const [name, take] of Object.entries(routes)) {
    app.post(`/slack/${name}`, async (c) => {
      const { rawBody, body } = await readBody(c)
      if (name === 'commands' && isCertificateCheck(body)) return c.body(null, 200)
      if (!(await isFromSlack(c, rawBody, parts))) return c.text('unauthorized', 401)
      return take(parts, c, body)
    })
  }
  app.get('/slack/commands', (c) =>
    isCertificateCheck(c.req.url.split('?')[1] ?? '') ? c.body(null, 200) : methodNotAllowed(c),
  )
  for (const name of Object.keys(routes)) app.all(`/slack/${name}`, methodNotAllowed)
  app.notFound((c) => c.text('not found', 404))
  app.onError((error, c) => {
    if (error instanceof BadBody) return c.text(error.message, error.status)
    log.error('slack-failed', { cause: error })
    const text = error instanceof AnswerLost ? perhapsTakenText : notTakenText
    // After a button press, Slack shows no text, so only the status can report the failure.
    return c.req.path === '/slack/commands' ? c.json(problemMessage(text)) : c.text(text, 503)
  })

  return app
}

async function takeCommand(parts: SlackAppParts, c: SlackContext, body: string): Promise<Response> {
  const { ledger, clock, kinds } = parts
  const event = readCommand(body, clock.now())
  if (!event) return c.text('not a slash command', 400)
  const command = parseCommand(event.text, kinds)
  if (command.do === 'help') return c.json(helpMessage(kinds))
  // A word that may name a budget, project or person is looked up later: only the guard knows what the user may read.
  if (command.do === 'mistake' && command.name === undefined) return c.json(usageMessage(command))
  c.set('caller', `slack:${event.user}`)
  const refusal = await whyNoAccess(ledger, event)
  if (refusal !== null) return c.json(command.do === 'mistake' ? usageMessage(command) : problemMessage(refusal))
  await record(parts, event)
  return command.do === 'estimate' || command.do === 'run' ? c.json(acceptedMessage(command)) : c.body(null, 200)
}

async function takeInteraction(parts: SlackAppParts, c: SlackContext, body: string): Promise<Response> {
  const interaction = readInteraction(body, parts.clock.now())
  if (interaction === 'not-ours') return c.body(null, 200)
  if (!interaction) return c.text('not an interaction', 400)
  if (interaction.kind === 'faults') return c.json({ response_action: 'errors', errors: interaction.faults })
  c.set('caller', `slack:${interaction.press.user}`)
  if (interaction.kind === 'opens' && (await isOpened(parts, interaction))) return c.body(null, 200)
  // An acknowledgement cannot refuse a button press, so the later answer refuses it.
  await record(parts, interaction.press)
  return c.body(null, 200)
}

async function takeEvent(parts: SlackAppParts, c: SlackContext, body: string): Promise<Response> {
  const event = readEvent(body, parts.clock.now())
  if (event === 'not-ours') return c.body(null, 200)
  if (!event) return c.text('not an event', 400)
  if (event.kind === 'challenge') return c.json({ challenge: event.challenge })
  c.set('caller', `slack:${event.user}`)
  await record(parts, event)
  return c.body(null, 200)
}

/** Opening the form is the only call before the acknowledgement, because Slack opens a form only within three seconds. */
async function isOpened(
  { secret, client }: SlackAppParts,
  { opener, triggerId }: Extract<Interaction, { kind: 'opens' }>,
): Promise<boolean> {
  const { botToken } = await readSlackSecret(secret)
  if (botToken === null || !client) return false
  const body = { trigger_id: triggerId, view: modalFor(opener) }
  return (await client.call('views.open', botToken, body, { withinMs: openWithinMs })).kind === 'sent'
}

/** A click that Slack sends twice is one event. */
async function record({ ledger, log }: SlackAppParts, event: SlackEvent): Promise<void> {
  const isNew = await ledger.queue(slackEvents).add(event)
  log.info('slack', { slackEvent: event.id, kind: event.kind, user: event.user, isNew })
}

async function isFromSlack(
  c: Context,
  rawBody: Uint8Array,
  { secret, clock }: { secret: Secret; clock: Clock },
): Promise<boolean> {
  const { signingSecret } = await readSlackSecret(secret)
  const timestamp = c.req.header('x-slack-request-timestamp')
  const signature = c.req.header('x-slack-signature')
  return isSigned({ secret: signingSecret, timestamp, signature, rawBody, now: clock.now() })
}

/** `null`: the user has at least one scope. The scopes that the command needs are checked later. */
async function whyNoAccess(ledger: SlackLedger, { user }: SlackEvent): Promise<string | null> {
  const caller = `slack:${user}`
  const { scopes, isDisabled, isListed } = permissionsOf((await ledger.view()).definitions, { caller })
  if (scopes.size > 0) return null
  if (isDisabled) return `${caller} is disabled here, so nothing was done. Ask an administrator of Unit Guard.`
  return isListed
    ? `You are listed as ${caller}, but without any scope, so nothing was done. Ask an administrator of Unit Guard to add one.`
    : `You are not listed in Unit Guard, so nothing was done. Ask an administrator to list you as the caller ${caller}.`
}

const methodNotAllowed = (c: Context): Response => c.text('method not allowed', 405, { allow: 'POST' })

class BadBody extends Error {
  override readonly name = 'BadBody'
  constructor(
    message: string,
    readonly status: 400 | 413,
  ) {
    super(message)
  }
}

async function readBody(c: Context<SlackEnv>): Promise<{ rawBody: Uint8Array; body: string }> {
  const rawBody = await readWhole(c, maxBytes)
  if (rawBody === 'too-large') throw new BadBody('too large', 413)
  if (rawBody === 'cut') throw new BadBody('the body is incomplete', 400)
  return { rawBody, body: new TextDecoder().decode(rawBody) }
}
