import type { Guard } from '../../guard/guard.ts'
import { type Clock, hourMs } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Message } from '../blocks.ts'
import { problemMessage } from '../messages/help.ts'
import { type SlackEvent, slackEvents } from '../slack-events.ts'
import { type SweepOptions, sweepTasks } from '../sweep.ts'
import type { EventAnswer } from '../tell/answer.ts'
import type { SendResult } from '../tell/client.ts'
import type { Poster } from '../tell/post.ts'
import { whyOtherTeam } from './team.ts'

const answerWithinMs = hourMs

/** Every step may be repeated, because the event's id is the idempotency key of its requests. */
export function createAnswers(parts: {
  guard: Guard
  runCommand: (event: SlackEvent & { kind: 'command' }) => Promise<EventAnswer>
  handlePress: (event: SlackEvent & { kind: 'press' }) => Promise<EventAnswer>
  publishHome: (user: string, notice: string | null) => Promise<SendResult>
  poster: Poster
  clock: Clock
  log: Log
}) {
  const { guard, poster, clock, log } = parts
  const events = guard.ledger.queue(slackEvents)

  async function answer(id: string): Promise<void> {
    const event = await events.get(id)
    if (!event || event.doneAt !== undefined) return
    if (clock.now() - event.createdAt > answerWithinMs) return finish(event, 'it was not answered within an hour')
    const refusal = await whyOtherTeam(guard, event)
    if (refusal !== null) return refuse(event, refusal)
    const { message, remember, isPrivate = false } = await answerTo(event)
    // A button needs the stored values, so they are stored before it is shown.
    const storedEvent = remember ? await storeAnswer(event, remember) : event
    if (!storedEvent) return log.info('answered-elsewhere', { slackEvent: id })
    const result = await sendAnswer(storedEvent, message, isPrivate)
    if (result.kind === 'sent') await finish({ ...storedEvent, answers: storedEvent.answers + 1 }, null)
    else if (result.kind === 'refused') await finish(storedEvent, result.reason)
    else log.info('answer-waits', { slackEvent: id, reason: result.reason })
  }

  /** Is not shown in App Home, because that of this id is the listed user's. */
  async function refuse(event: SlackEvent, refusal: string): Promise<void> {
    if (event.responseUrl !== '') await poster.toAsker(event, problemMessage(refusal), { isPrivate: true })
    await finish(event, null)
  }

  async function answerTo(event: SlackEvent): Promise<EventAnswer> {
    if (event.kind === 'home') return { message: null }
    return event.kind === 'command' ? parts.runCommand(event) : parts.handlePress(event)
  }

  async function sendAnswer(event: SlackEvent, message: Message | null, isPrivate: boolean): Promise<SendResult> {
    const isHome = event.kind === 'home' || (event.kind === 'press' && event.isHome === true)
    if (isHome) return parts.publishHome(event.user, message?.text ?? null)
    return message === null ? { kind: 'sent' } : poster.toAsker(event, message, { isPrivate })
  }

  /** `null`: another process answers it. */
  async function storeAnswer(
    event: SlackEvent,
    remember: NonNullable<EventAnswer['remember']>,
  ): Promise<SlackEvent | null> {
    const next = { ...event, ...remember } as SlackEvent
    return (await events.change(next, event)) ? { ...next, version: event.version + 1 } : null
  }

  async function finish(event: SlackEvent, lostReason: string | null): Promise<void> {
    if (lostReason !== null) log.error('answer-lost', { slackEvent: event.id, reason: lostReason })
    await events.change({ ...event, doneAt: clock.now() }, event)
  }

  const sweep = (options: SweepOptions): Promise<void> =>
    sweepTasks(
      events,
      { ...options, clock },
      ({ id }) => answer(id).catch((cause) => log.error('not-answered', { slackEvent: id, cause })),
      (id, cause) => log.error('not-answered', { slackEvent: id, cause }),
    )

  return { answer, sweep }
}
