import type { Announcement, SlackEvent } from '../../ledger/updates/tasks.ts'
import { type Clock, minuteMs } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Secret } from '../../platform/secrets.ts'
import type { Message } from '../blocks.ts'
import { readSlackSecret } from '../secret.ts'
import type { Sent, SlackClient } from './client.ts'

/** What a `response_url` is good for: https://docs.slack.dev/interactivity/handling-user-interaction */
const maxAnswers = 5
const answersLastMs = 30 * minuteMs
const tooLate: Sent = { kind: 'refused', status: null, reason: 'the response_url is not good any more' }

/** Sends messages to where they belong: to the user who typed or pressed, or to the channel of the webhook. */
export function createPoster(parts: { client: SlackClient; secret: Secret; clock: Clock; log: Log }) {
  const { client, secret, clock, log } = parts

  const hasAnswersLeft = ({ answers, createdAt }: SlackEvent): boolean =>
    answers < maxAnswers && clock.now() - createdAt < answersLastMs

  /** To the `response_url` while it is good; the channel gets what could not be answered there, if all may see it. */
  async function toAsker(event: SlackEvent, message: Message, { isPrivate = false } = {}): Promise<Sent> {
    const sent = hasAnswersLeft(event) ? await client.send(event.responseUrl, message) : tooLate
    return sent.kind === 'refused' && !isPrivate ? toChannel(message, event.id) : sent
  }

  /** A channel has no message to replace, and no single user who alone might see it. */
  async function toChannel(message: Message, about: Announcement['id']): Promise<Sent> {
    const { webhookUrl } = await readSlackSecret(secret)
    const { replace_original: _replaced, response_type: _type, ...plain } = message
    if (webhookUrl !== null) return client.send(webhookUrl, plain)
    log.info('announced', { about, text: message.text })
    return { kind: 'sent' }
  }

  return { toAsker, toChannel }
}

export type Poster = ReturnType<typeof createPoster>
