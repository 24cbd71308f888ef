import type { Guard } from '../../guard/guard.ts'
import type { SlackEvent } from '../../ledger/updates/tasks.ts'
import { type Clock, hourMs } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type SweepOptions, sweepTasks } from '../sweep.ts'
import type { Poster } from '../tell/post.ts'
import type { EventAnswer } from './answer.ts'
import type { Commands } from './commands.ts'
import type { Presses } from './presses.ts'

/** Later, the user no longer waits. */
const answeredWithinMs = hourMs

/** Handles commands and presses. Every step may repeat: requests use the event's id as their key. */
export function createAnswers(parts: {
  guard: Guard
  commands: Commands
  presses: Presses
  poster: Poster
  clock: Clock
  log: Log
}) {
  const { guard, commands, presses, poster, clock, log } = parts
  const { slackEvents } = guard.ledger

  async function answer(id: string): Promise<void> {
    const event = await slackEvents.get(id)
    if (!event || event.doneAt !== undefined) return
    if (clock.now() - event.createdAt > answeredWithinMs) return finish(event, 'nobody could answer it within an hour')
    const {
      message,
      remember,
      isPrivate = false,
    } = await (event.kind === 'command' ? commands.obey(event) : presses.obey(event))
    // The facts of a button are stored before the button is shown.
    const seen = remember ? await remembered(event, remember) : event
    if (!seen) return log.info('answered-elsewhere', { slackEvent: id })
    const sent = await poster.toAsker(seen, message, { isPrivate })
    if (sent.kind === 'sent') await finish({ ...seen, answers: seen.answers + 1 }, null)
    else if (sent.kind === 'refused') await finish(seen, sent.reason)
    else log.info('answer-waits', { slackEvent: id, reason: sent.reason })
  }

  /** `null`: another process stored other facts, so its answer counts. */
  async function remembered(
    event: SlackEvent,
    remember: NonNullable<EventAnswer['remember']>,
  ): Promise<SlackEvent | null> {
    const next = { ...event, ...remember } as SlackEvent
    return (await slackEvents.change(next, event)) ? { ...next, version: event.version + 1 } : null
  }

  async function finish(event: SlackEvent, lost: string | null): Promise<void> {
    if (lost !== null) log.error('answer-lost', { slackEvent: event.id, reason: lost })
    await slackEvents.change({ ...event, doneAt: clock.now() }, event)
  }

  /** Answers what the stream missed. */
  const sweep = (how: SweepOptions): Promise<void> =>
    sweepTasks(slackEvents, { ...how, clock }, ({ id }) =>
      answer(id).catch((cause) => log.error('not-answered', { slackEvent: id, cause })),
    )

  return { answer, sweep }
}
