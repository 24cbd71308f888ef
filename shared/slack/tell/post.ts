import { type Clock, hourMs, minuteMs } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Secret } from '../../platform/secrets.ts'
import type { Message } from '../blocks.ts'
import { readSlackSecret } from '../secret.ts'
import type { SlackEvent, SlackMessage } from '../slack-events.ts'
import type { ApiMethod, ApiResult, SendResult, SlackClient } from './client.ts'

/** @see https://docs.slack.dev/interactivity/handling-user-interaction */
const maxAnswers = 5
const answersLastMs = 30 * minuteMs
const expiredUrl: SendResult = { kind: 'refused', status: null, reason: 'the response_url has expired' }

/** The message is not at fault: an operator has to repair the token. */
const tokenErrors = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired']
const repairedAfterMs = hourMs / 12

export const isOfToken = (result: SendResult): boolean => result.kind !== 'sent' && tokenErrors.includes(result.reason)

/** `posted` is set only if the bot token sent the message. */
export type ChannelResult = SendResult & { readonly posted?: SlackMessage }

export function createPoster(parts: {
  client: SlackClient
  secret: Secret
  clock: Clock
  log: Log
  /** The channel for budgets that name no channel. `null`: the webhook's channel. */
  channel?: string | null
}) {
  const { client, secret, clock, log, channel: usualChannel = null } = parts

  const hasAnswersLeft = ({ answers, createdAt }: SlackEvent): boolean =>
    answers < maxAnswers && clock.now() - createdAt < answersLastMs

  async function toAsker(event: SlackEvent, message: Message, { isPrivate = false } = {}): Promise<SendResult> {
    const result = hasAnswersLeft(event) ? await client.send(event.responseUrl, message) : expiredUrl
    return result.kind === 'refused' && !isPrivate ? toChannel(message, event.id) : result
  }

  /** If the budget's channel refuses the message, it goes to the usual channel, then to the webhook. */
  async function toChannel(message: Message, about: string, channel: string | null = null): Promise<ChannelResult> {
    const { webhookUrl } = await readSlackSecret(secret)
    const plain = plainOf(message)
    let result: ChannelResult | null = null
    for (const to of new Set([channel, usualChannel])) {
      if (to === null) continue
      result = await post(to, plain)
      if (result && result.kind !== 'refused') return result
    }
    if (webhookUrl !== null) return client.send(webhookUrl, plain)
    if (result?.kind === 'refused')
      return isOfToken(result) ? { kind: 'try-again', afterMs: repairedAfterMs, reason: result.reason } : result
    log.info('announced', { about, text: message.text })
    return { kind: 'sent' }
  }

  /** `null`: no bot token. */
  async function post(channel: string, message: object): Promise<ChannelResult | null> {
    const result = await call('chat.postMessage', { channel, ...message, unfurl_links: false, unfurl_media: false })
    if (result?.kind !== 'sent') return result
    const { answer } = result
    const isPosted = typeof answer.channel === 'string' && typeof answer.ts === 'string'
    return { kind: 'sent', ...(isPosted && { posted: { channel: String(answer.channel), ts: String(answer.ts) } }) }
  }

  async function edit({ channel, ts }: SlackMessage, message: Message): Promise<SendResult> {
    return (await call('chat.update', { channel, ts, ...plainOf(message) })) ?? { kind: 'sent' }
  }

  /** If Slack refuses the token, reads the token again one time, because it may have been rotated. */
  async function call(method: ApiMethod, body: object, options?: { withinMs?: number }): Promise<ApiResult | null> {
    const { botToken } = await readSlackSecret(secret)
    if (botToken === null) return null
    const result = await client.call(method, botToken, body, options)
    if (result.kind !== 'refused' || !tokenErrors.includes(result.reason)) return result
    await secret.reread()
    const { botToken: reread } = await readSlackSecret(secret)
    return reread === null || reread === botToken ? result : client.call(method, reread, body, options)
  }

  const hasBot = async (): Promise<boolean> => (await readSlackSecret(secret)).botToken !== null

  return { toAsker, toChannel, edit, call, hasBot }
}

/** Removes the members that are allowed only in an answer to a user. */
const plainOf = ({ replace_original: _replaced, response_type: _type, ...plain }: Message) => plain

export type Poster = ReturnType<typeof createPoster>
