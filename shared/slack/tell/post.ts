import type { SlackEvent, SlackMessage } from '../../ledger/updates/slack-events.ts'
import { type Clock, hourMs, minuteMs } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Secret } from '../../platform/secrets.ts'
import type { Message } from '../blocks.ts'
import { readSlackSecret } from '../secret.ts'
import type { ApiMethod, ApiResult, SendResult, SlackClient } from './client.ts'

/** Limits of a `response_url`: https://docs.slack.dev/interactivity/handling-user-interaction */
const maxAnswers = 5
const answersLastMs = 30 * minuteMs
const expiredUrl: SendResult = { kind: 'refused', status: null, reason: 'the response_url has expired' }

/** Slack refuses the token itself, so an operator has to repair it; the message is not at fault. */
const tokenErrors = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired']
const repairedAfterMs = hourMs / 12

/** What the channel has taken; only a bot token learns where. */
export type ChannelResult = SendResult & { readonly posted?: SlackMessage }

/** Sends messages to a user or to a channel, with the bot token if there is one. */
export function createPoster(parts: {
  client: SlackClient
  secret: Secret
  clock: Clock
  log: Log
  /** The channel of announcements whose budget names none; `null`: the webhook's. */
  channel?: string | null
}) {
  const { client, secret, clock, log, channel: usualChannel = null } = parts

  const hasAnswersLeft = ({ answers, createdAt }: SlackEvent): boolean =>
    answers < maxAnswers && clock.now() - createdAt < answersLastMs

  /** Sends to the `response_url` while it is valid, then to the channel unless the message is private. */
  async function toAsker(event: SlackEvent, message: Message, { isPrivate = false } = {}): Promise<SendResult> {
    const result = hasAnswersLeft(event) ? await client.send(event.responseUrl, message) : expiredUrl
    return result.kind === 'refused' && !isPrivate ? toChannel(message, event.id) : result
  }

  /** @param channel a budget's own channel. A message that it refuses goes where the others go. */
  async function toChannel(message: Message, about: string, channel: string | null = null): Promise<ChannelResult> {
    const { webhookUrl } = await readSlackSecret(secret)
    const { replace_original: _replaced, response_type: _type, ...plain } = message
    let result: ChannelResult | null = null
    for (const to of new Set([channel, usualChannel])) {
      if (to === null) continue
      result = await post(to, plain)
      if (result && result.kind !== 'refused') return result
    }
    if (webhookUrl !== null) return client.send(webhookUrl, plain)
    if (result?.kind === 'refused')
      return tokenErrors.includes(result.reason)
        ? { kind: 'try-again', afterMs: repairedAfterMs, reason: result.reason }
        : result
    log.info('announced', { about, text: message.text })
    return { kind: 'sent' }
  }

  /** Returns `null` without a bot token. */
  async function post(channel: string, message: object): Promise<ChannelResult | null> {
    // A link to the dashboard needs no preview.
    const result = await call('chat.postMessage', { channel, ...message, unfurl_links: false, unfurl_media: false })
    if (result?.kind !== 'sent') return result
    const { answer } = result
    const isPosted = typeof answer.channel === 'string' && typeof answer.ts === 'string'
    return { kind: 'sent', ...(isPosted && { posted: { channel: String(answer.channel), ts: String(answer.ts) } }) }
  }

  /** Edits what `toChannel` has posted. Without the token it stays as it is. */
  async function edit({ channel, ts }: SlackMessage, message: Message): Promise<SendResult> {
    const { replace_original: _replaced, response_type: _type, ...plain } = message
    return (await call('chat.update', { channel, ts, ...plain })) ?? { kind: 'sent' }
  }

  /** Calls with the current token; a token that Slack refuses is read again once, because it may have been rotated. */
  async function call(method: ApiMethod, body: object, options?: { withinMs?: number }): Promise<ApiResult | null> {
    const { botToken } = await readSlackSecret(secret)
    if (botToken === null) return null
    const result = await client.call(method, botToken, body, options)
    if (result.kind !== 'refused' || !tokenErrors.includes(result.reason)) return result
    await secret.reread()
    const { botToken: reread } = await readSlackSecret(secret)
    return reread === null || reread === botToken ? result : client.call(method, reread, body, options)
  }

  /** Without a bot token there are no modals, no mentions and no edits. */
  const hasBot = async (): Promise<boolean> => (await readSlackSecret(secret)).botToken !== null

  return { toAsker, toChannel, edit, call, hasBot }
}

export type Poster = ReturnType<typeof createPoster>
