import type { Guard } from '../../guard/guard.ts'
import type { Announcement } from '../../ledger/updates/tasks.ts'
import type { Update } from '../../ledger/updates/update.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type SweepOptions, sweepTasks } from '../sweep.ts'
import type { Composer } from './compose.ts'
import type { Poster, SendResult } from './post.ts'

/** The sweep needs about a day for so many attempts. */
const maxTries = 200
/** An outcome waits this long for the answer to its press. */
const waitForAnswerMs = 5_000
const pollEveryMs = 250

/** Sends each announcement at least once, until Slack takes it or refuses it for good. */
export function createTeller(parts: { guard: Guard; composer: Composer; poster: Poster; clock: Clock; log: Log }) {
  const { guard, composer, poster, clock, log } = parts
  const { announcements, slackEvents } = guard.ledger

  async function tell(id: string): Promise<void> {
    const announcement = await announcements.get(id)
    if (!announcement || announcement.doneAt !== undefined || clock.now() < (announcement.notBefore ?? 0)) return
    const result = await send(announcement)
    const now = clock.now()
    if (result.kind === 'sent') {
      await announcements.change({ ...announcement, doneAt: now }, announcement)
      return
    }
    const isOver = result.kind === 'refused' || announcement.tries + 1 >= maxTries
    if (isOver)
      log.error('announcement-lost', { announcement: id, tries: announcement.tries + 1, reason: result.reason })
    await announcements.change(
      {
        ...announcement,
        tries: announcement.tries + 1,
        ...(isOver ? { doneAt: now, givenUp: result.reason } : { notBefore: now + afterMsOf(result) }),
      },
      announcement,
    )
  }

  async function send({ id, about }: Announcement): Promise<SendResult> {
    if (about.kind !== 'outcome') {
      const message = await composer.compose(about)
      return message ? poster.toChannel(message, id) : { kind: 'sent' }
    }
    const event = await waitForAnswer(about.replyTo)
    if (!event) return { kind: 'sent' }
    if (event.doneAt === undefined) return { kind: 'try-again', afterMs: waitForAnswerMs, reason: 'not yet answered' }
    const outcome = await composer.outcome(event)
    if (!outcome) return { kind: 'sent' }
    const result = await poster.toAsker(event, outcome.message)
    if (result.kind !== 'sent') return result
    await slackEvents.change({ ...event, answers: event.answers + 1 }, event)
    await Promise.all(outcome.updates.map((update) => markTold(update, event.id, id)))
    return result
  }

  /** One message announces all updates of a request. */
  async function markTold(update: Update, replyTo: string, toldBy: string): Promise<void> {
    const id = outcomeId(update, replyTo)
    const announcement = id === toldBy ? null : await announcements.get(id)
    if (announcement && announcement.doneAt === undefined)
      await announcements.change({ ...announcement, doneAt: clock.now() }, announcement)
  }

  /** The answer and the outcome replace the same message, so the answer must come first. */
  async function waitForAnswer(id: string) {
    for (let waitedMs = 0; ; waitedMs += pollEveryMs) {
      const event = await slackEvents.get(id)
      if (!event || event.doneAt !== undefined || waitedMs >= waitForAnswerMs) return event
      await clock.sleep(pollEveryMs)
    }
  }

  /** Sends the oldest first, because readers take the last message for the current state. */
  const sweep = (options: SweepOptions): Promise<void> =>
    sweepTasks(announcements, { ...options, clock }, ({ id }) =>
      tell(id).catch((cause) => log.error('not-told', { announcement: id, cause })),
    )

  return { tell, sweep }
}

const afterMsOf = (result: SendResult): number => (result.kind === 'try-again' ? result.afterMs : 0)

const outcomeId = ({ id, version }: Update, replyTo: string): string => `${id}#outcome#${version}#${replyTo}`
