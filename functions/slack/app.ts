import { type Context, Hono } from 'hono'
import { permissionsOf } from '../../shared/guard/people/permissions.ts'
import { AnswerLost } from '../../shared/ledger/errors.ts'
import type { Ledger } from '../../shared/ledger/ledger.ts'
import type { SlackEvent } from '../../shared/ledger/updates/tasks.ts'
import type { Clock } from '../../shared/platform/clock.ts'
import { type Platform, rawPathOf, readWhole } from '../../shared/platform/http.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { inLogContext, type Log } from '../../shared/platform/log.ts'
import type { Secret } from '../../shared/platform/secrets.ts'
import { acceptedMessage } from '../../shared/slack/messages/estimate.ts'
import { helpMessage, problemMessage, usageMessage } from '../../shared/slack/messages/help.ts'
import { parseCommand } from '../../shared/slack/receive/command.ts'
import { isSigned } from '../../shared/slack/receive/signature.ts'
import { readSlackSecret } from '../../shared/slack/secret.ts'
import type { Kinds } from '../../shared/tracking/kinds.ts'
import { isCertificateCheck, readCommand, readPress } from './forms.ts'

/** Slack sends far less. */
const maxBytes = 256 * 1024

const notTakenText = 'Unit Guard cannot take this right now, so nothing was done. Please try again in a minute.'

/** Shown if the write was lost: if the event was recorded, the stream or the next sweep handles it. */
const perhapsTakenText =
  'It is not certain that Unit Guard has taken this. Without an answer within ten minutes nothing was done; then please try again.'

interface SlackEnv {
  Variables: { caller: string }
  Bindings: Platform
}

/**
 * Verifies, parses and records requests. Slack waits three seconds, so the outbox handles the recorded event and
 * answers to the `response_url`.
 *
 * @see https://docs.slack.dev/interactivity/handling-user-interaction
 */
export function createSlackApp(parts: {
  ledger: Ledger
  secret: Secret
  clock: Clock
  log: Log
  kinds?: Kinds
}): Hono<SlackEnv> {
  const { ledger, clock, log, kinds } = parts
  const app = new Hono<SlackEnv>({ getPath: rawPathOf })

  app.use((c, next) => {
    const requestId = systemIds.random()
    return inLogContext({ requestId }, async () => {
      const from = clock.now()
      await next()
      const { method, routePath: route } = c.req
      log.info('request', { caller: c.get('caller'), method, route, status: c.res.status, ms: clock.now() - from })
    })
  })

  app.post('/slack/commands', async (c) => {
    const { rawBody, body } = await readBody(c)
    if (isCertificateCheck(body)) return c.body(null, 200)
    if (!(await isFromSlack(c, rawBody, parts))) return c.text('unauthorized', 401)
    const event = readCommand(body, clock.now())
    if (!event) return c.text('not a slash command', 400)
    const command = parseCommand(event.text, kinds)
    if (command.do === 'help') return c.json(helpMessage(kinds))
    if (command.do === 'mistake') return c.json(usageMessage(command))
    c.set('caller', `slack:${event.user}`)
    const refusal = await whyNoAccess(ledger, event)
    if (refusal !== null) return c.json(problemMessage(refusal))
    await record(event)
    return command.do === 'estimate' || command.do === 'run' ? c.json(acceptedMessage(command)) : c.body(null, 200)
  })

  app.post('/slack/interactions', async (c) => {
    const { rawBody, body } = await readBody(c)
    if (!(await isFromSlack(c, rawBody, parts))) return c.text('unauthorized', 401)
    const press = readPress(body, clock.now())
    if (press === 'not-ours') return c.body(null, 200)
    if (!press) return c.text('not an interaction', 400)
    c.set('caller', `slack:${press.user}`)
    // An acknowledgement cannot refuse a press; unlisted users are refused in the answer.
    await record(press)
    return c.body(null, 200)
  })

  /** A click that Slack sends twice is one event. */
  async function record(event: SlackEvent): Promise<void> {
    const isNew = await ledger.slackEvents.add(event)
    log.info('slack', { slackEvent: event.id, kind: event.kind, user: event.user, isNew })
  }

  app.get('/slack/commands', (c) =>
    isCertificateCheck(c.req.url.split('?')[1] ?? '') ? c.body(null, 200) : methodNotAllowed(c),
  )
  for (const path of ['/slack/commands', '/slack/interactions']) app.all(path, methodNotAllowed)
  app.notFound((c) => c.text('not found', 404))
  app.onError((error, c) => {
    if (error instanceof BadBody) return c.text(error.message, error.status)
    log.error('slack-failed', { cause: error })
    const text = error instanceof AnswerLost ? perhapsTakenText : notTakenText
    // After a press Slack shows no text, only that it failed, and needs a status.
    return c.req.path === '/slack/commands' ? c.json(problemMessage(text)) : c.text(text, 503)
  })

  return app
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

/** Returns `null` if the user has any scope; the scopes of the command are checked later. */
async function whyNoAccess(ledger: Ledger, { user }: SlackEvent): Promise<string | null> {
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

/** @throws BadBody */
async function readBody(c: Context<SlackEnv>): Promise<{ rawBody: Uint8Array; body: string }> {
  const rawBody = await readWhole(c, maxBytes)
  if (rawBody === 'too-large') throw new BadBody('too large', 413)
  if (rawBody === 'cut') throw new BadBody('the body did not come whole', 400)
  return { rawBody, body: new TextDecoder().decode(rawBody) }
}
