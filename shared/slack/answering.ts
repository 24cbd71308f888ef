import type { Guard } from '../guard/guard.ts'
import type { SlackEvent } from '../ledger/slack-event.ts'
import { type Clock, hourMs } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { inPlace, type Message } from './blocks.ts'
import type { Commands } from './commanding.ts'
import { problemMessage } from './messages/help.ts'
import type { Posting } from './posting.ts'
import type { Presses } from './pressing.ts'
import { type SweepOptions, sweepTasks } from './sweeping.ts'

/** How long it is tried to answer; after that nobody waits any more. */
const answeredWithinMs = hourMs

/** What to answer, and what the item is to remember. */
export interface Answered {
  readonly message: Message
  /** It is for nobody but whoever asked: better lost than told in the channel. */
  readonly isPrivate?: true
  readonly remember?: Pick<SlackEvent & { kind: 'command' }, 'quotes' | 'payers'> | Pick<SlackEvent, 'updates'>
}

/**
 * Does what somebody typed or pressed, and answers. Every step may be repeated: what asks of the guard does so under
 * the item's own key, and decisions are made by condition.
 */
export function createAnswering(parts: {
  guard: Guard
  commands: Commands
  presses: Presses
  posting: Posting
  clock: Clock
  log: Log
}) {
  const { guard, commands, presses, posting, clock, log } = parts
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
    // First what a button will need, then the button.
    const seen = remember ? await remembered(event, remember) : event
    if (!seen) return log.info('answered-elsewhere', { slackEvent: id })
    const sent = await posting.toAsker(seen, message, { isPrivate })
    if (sent.kind === 'sent') await finish({ ...seen, answers: seen.answers + 1 }, null)
    else if (sent.kind === 'refused') await finish(seen, sent.reason)
    else log.info('answer-waits', { slackEvent: id, reason: sent.reason })
  }

  /** `null`: another process is at it, whose answer counts; a button of this one would stand for what that remembers. */
  async function remembered(
    event: SlackEvent,
    remember: NonNullable<Answered['remember']>,
  ): Promise<SlackEvent | null> {
    const next = { ...event, ...remember } as SlackEvent
    return (await slackEvents.change(next, event)) ? { ...next, version: event.version + 1 } : null
  }

  async function finish(event: SlackEvent, lost: string | null): Promise<void> {
    if (lost !== null) log.error('answer-lost', { slackEvent: event.id, reason: lost })
    await slackEvents.change({ ...event, doneAt: clock.now() }, event)
  }

  /** Answers what the stream has missed, in the order in which it was typed and pressed. */
  const sweep = (how: SweepOptions): Promise<void> =>
    sweepTasks(slackEvents, { ...how, clock }, ({ id }) =>
      answer(id).catch((cause) => log.error('not-answered', { slackEvent: id, cause })),
    )

  return { answer, sweep }
}

/** Plain words, for the person alone. */
export const sayTo = (sentence: string): Answered => ({ message: problemMessage(sentence) })

/** The same instead of the message whose button was pressed: there is nothing to press any more. */
export const sayInstead = (sentence: string): Answered => ({ message: { ...problemMessage(sentence), ...inPlace } })
