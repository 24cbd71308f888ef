import type { Ledger } from '../ledger/ledger.ts'
import type { Delivery, TargetState } from '../ledger/updates/deliveries.ts'
import { type Clock, dayMs, minuteMs } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import { inTraceOf, type Log } from '../platform/log.ts'
import { aboutEvent, type CloudEvent, type EventOf } from './event.ts'
import type { Sender, SendResult } from './sender.ts'
import type { Target } from './targets-file.ts'

/** A target with its sender, in this process. */
export interface Receiver {
  readonly target: Target
  readonly sender: Sender
  /** The stream leaves the events of a target that does not answer to the sweep, so that it delays no other. */
  isResting(): boolean
  rest(): void
  /** For people; a lost note costs nothing. */
  note(notes: TargetState): Promise<void>
}

export interface EventParts {
  readonly ledger: Pick<Ledger, 'deliveries' | 'eventTargets'>
  readonly receivers: readonly Receiver[]
  readonly eventOf: EventOf
  readonly ids: Pick<Ids, 'fraction'>
  /** For one attempt, and for all that the stream tells at once: Slack's messages wait as long. */
  readonly withinMs: number
  readonly clock: Clock
  readonly log: Log
}

const restsForMs = minuteMs
/** A healthy target must not cost a write for each event. */
const notedEveryMs = minuteMs

export function createReceiver(
  target: Target,
  sender: Sender,
  { ledger, clock, log }: Pick<EventParts, 'ledger' | 'clock' | 'log'>,
): Receiver {
  const { name } = target
  let restsUntil = Number.NEGATIVE_INFINITY
  let notedAt = Number.NEGATIVE_INFINITY
  return {
    ...{ target, sender },
    isResting: () => clock.now() < restsUntil,
    rest: () => {
      restsUntil = clock.now() + restsForMs
    },
    note: async (notes) => {
      const isNews = notes.failed !== undefined
      const isDue = notes.delivered !== undefined && clock.now() - notedAt >= notedEveryMs
      if (!isNews && !isDue) return
      if (notes.delivered !== undefined) notedAt = clock.now()
      await ledger.eventTargets
        .note(name, notes)
        .catch((cause) => log.error('target-not-noted', { target: name, cause }))
    },
  }
}

/** The last of each kind, to be written once. */
export type Notes = { -readonly [Name in keyof TargetState]: TargetState[Name] }

/** One attempt, its line in the log, and what people should know of it. */
export async function attempt(
  { clock, log }: Pick<EventParts, 'clock' | 'log'>,
  { target, sender }: Pick<Receiver, 'target' | 'sender'>,
  { event, deadline, notes = {} }: { event: CloudEvent; deadline: AbortSignal; notes?: Notes },
): Promise<SendResult> {
  const result = await sender.send(event, deadline)
  return inTraceOf(aboutEvent(event), () => {
    const about = { target: target.name, eventId: event.id, type: event.type }
    const note = { at: clock.now(), event: event.id }
    if (result.kind === 'delivered') {
      log.info('event-sent', about)
      notes.delivered = note
    } else {
      log.info('event-not-sent', { ...about, reason: result.reason })
      notes.failed = { ...note, reason: result.reason }
    }
    return result
  })
}

/** The event is not sent again, unless a person replays it. */
export function tellDead(
  { log }: Pick<EventParts, 'log'>,
  { target }: Pick<Receiver, 'target'>,
  { event, tries, reason }: { event: CloudEvent; tries: number; reason: string },
): void {
  const about = { target: target.name, eventId: event.id, type: event.type }
  inTraceOf(aboutEvent(event), () => log.error('event-dead', { ...about, tries, reason }))
}

const firstRetryMs = minuteMs
const maxRetryMs = 15 * minuteMs
/** Events that failed for so long are dead. */
const repeatedForMs = dayMs

/** A quarter earlier or later, so that targets are not met by all events at once. */
export function nextAttemptAt(
  { tries, createdAt }: Pick<Delivery, 'tries' | 'createdAt'>,
  { now, fraction, afterMs = 0 }: { now: number; fraction: number; afterMs?: number | undefined },
): number | null {
  const delay = Math.min(firstRetryMs * 2 ** Math.max(0, tries - 1), maxRetryMs)
  const nextAt = now + Math.max(Math.round(delay * (0.75 + fraction / 2)), afterMs)
  return nextAt > createdAt + repeatedForMs ? null : nextAt
}
