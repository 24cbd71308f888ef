import type { Guard } from '../../guard/guard.ts'
import type { Announcement } from '../../ledger/updates/tasks.ts'
import type { Update } from '../../ledger/updates/update.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type SweepOptions, sweepTasks } from '../sweep.ts'
import type { Composer } from './compose.ts'
import type { Poster, Sent } from './post.ts'

/** One day at the pace of the sweep. */
const maxTries = 200
/** How long the answer to a press may take before its outcome is sent. */
const answerWithinMs = 5_000
const lookAgainAfterMs = 250

/** Sends each announcement at least once, until Slack takes it or refuses it for good. */
export function createTeller(parts: { guard: Guard; composer: Composer; poster: Poster; clock: Clock; log: Log }) {
  const { guard, composer, poster, clock, log } = parts
  const { announcements, slackEvents } = guard.ledger

  async function tell(id: string): Promise<void> {
    const found = await announcements.get(id)
    if (!found || found.doneAt !== undefined || clock.now() < (found.notBefore ?? 0)) return
    const sent = await send(found)
    const now = clock.now()
    if (sent.kind === 'sent') {
      // Another process may have sent and marked it, too.
      await announcements.change({ ...found, doneAt: now }, found)
      return
    }
    const isOver = sent.kind === 'refused' || found.tries + 1 >= maxTries
    if (isOver) log.error('announcement-lost', { announcement: id, tries: found.tries + 1, reason: sent.reason })
    await announcements.change(
      {
        ...found,
        tries: found.tries + 1,
        ...(isOver ? { doneAt: now, givenUp: sent.reason } : { notBefore: now + afterMsOf(sent) }),
      },
      found,
    )
  }

  async function send({ id, about }: Announcement): Promise<Sent> {
    if (about.kind !== 'outcome') {
      const message = await composer.compose(about)
      return message ? poster.toChannel(message, id) : { kind: 'sent' }
    }
    const event = await answered(about.replyTo)
    if (!event) return { kind: 'sent' }
    if (event.doneAt === undefined) return { kind: 'try-again', afterMs: answerWithinMs, reason: 'not yet answered' }
    const outcome = await composer.outcome(event)
    if (!outcome) return { kind: 'sent' }
    const sent = await poster.toAsker(event, outcome.message)
    if (sent.kind !== 'sent') return sent
    await slackEvents.change({ ...event, answers: event.answers + 1 }, event)
    await Promise.all(outcome.updates.map((update) => markTold(update, event.id, id)))
    return sent
  }

  /** One message covers all updates of one request. */
  async function markTold(update: Update, replyTo: string, toldBy: string): Promise<void> {
    const id = outcomeId(update, replyTo)
    const found = id === toldBy ? null : await announcements.get(id)
    if (found && found.doneAt === undefined) await announcements.change({ ...found, doneAt: clock.now() }, found)
  }

  /** Both replace the same message, so the answer must come first. */
  async function answered(id: string) {
    for (let waitedMs = 0; ; waitedMs += lookAgainAfterMs) {
      const event = await slackEvents.get(id)
      if (!event || event.doneAt !== undefined || waitedMs >= answerWithinMs) return event
      await clock.sleep(lookAgainAfterMs)
    }
  }

  /** The oldest first: readers take the last message for the current state. */
  const sweep = (how: SweepOptions): Promise<void> =>
    sweepTasks(announcements, { ...how, clock }, ({ id }) =>
      tell(id).catch((cause) => log.error('not-told', { announcement: id, cause })),
    )

  return { tell, sweep }
}

const afterMsOf = (sent: Sent): number => (sent.kind === 'try-again' ? sent.afterMs : 0)

/** The ledger's id of the announcement of this state. */
const outcomeId = ({ id, version }: Update, replyTo: string): string => `${id}#outcome#${version}#${replyTo}`
