import type { Troubles } from '../guard/troubles/troubles.ts'
import { type Clock, dayMs, minuteMs } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import { inTraceOf, type Log } from '../platform/log.ts'
import type { Deliveries, Delivery } from './deliveries.ts'
import { aboutEvent, type CloudEvent, type EventOf } from './event.ts'
import type { Sender, SendResult } from './sender.ts'
import type { TargetState, TargetStates } from './target-states.ts'
import type { Target } from './targets-file.ts'

/** A target with its sender, in this process. */
export interface Receiver {
  readonly target: Target
  readonly sender: Sender
  /** True for a minute after a slow or missing answer. The stream leaves the events to the sweep, so that no other target waits. */
  isResting(): boolean
  rest(): void
  /** Notes the last results for people. A lost note does no harm. */
  note(notes: TargetState): Promise<void>
}

export interface EventParts {
  readonly deliveries: Deliveries
  readonly targetStates: TargetStates
  readonly troubles: Pick<Troubles, 'begin' | 'end'>
  readonly receivers: readonly Receiver[]
  readonly eventOf: EventOf
  readonly ids: Pick<Ids, 'fraction'>
  /** The limit for one attempt, and for all events of a batch, because Slack's messages wait that long, too. */
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
  { targetStates, troubles, clock, log }: Pick<EventParts, 'targetStates' | 'troubles' | 'clock' | 'log'>,
): Receiver {
  const { name } = target
  let restsUntil = Number.NEGATIVE_INFINITY
  let notedAt = Number.NEGATIVE_INFINITY
  return {
    target,
    sender,
    isResting: () => clock.now() < restsUntil,
    rest: () => {
      restsUntil = clock.now() + restsForMs
    },
    note: async (notes) => {
      const isNews = notes.failed !== undefined
      const isDue = notes.delivered !== undefined && clock.now() - notedAt >= notedEveryMs
      if (!isNews && !isDue) return
      if (notes.delivered !== undefined) notedAt = clock.now()
      await targetStates.note(name, notes).catch((cause) => log.error('target-not-noted', { target: name, cause }))
      if (notes.delivered !== undefined) await troubles.end('events-given-up', name)
    },
  }
}

/** The last result of each kind, so that all attempts write one note. */
export type Notes = { -readonly [Name in keyof TargetState]: TargetState[Name] }

/** Makes one attempt, logs it, and adds its result to `notes`. */
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

/** For an event that is sent again only if a person replays it. */
export function tellDead(
  { troubles, log }: Pick<EventParts, 'troubles' | 'log'>,
  { target }: Pick<Receiver, 'target'>,
  { event, tries, reason }: { event: CloudEvent; tries: number; reason: string },
): Promise<void> {
  const about = { target: target.name, eventId: event.id, type: event.type }
  inTraceOf(aboutEvent(event), () => log.error('event-dead', { ...about, tries, reason }))
  return troubles.begin('events-given-up', target.name)
}

const firstRetryMs = minuteMs
const maxRetryMs = 15 * minuteMs
/** Events that have failed for this long are dead. */
const repeatedForMs = dayMs

/** Varies the delay by a quarter, so that a target does not get all events at once. `null`: the event is dead. */
export function nextAttemptAt(
  { tries, createdAt }: Pick<Delivery, 'tries' | 'createdAt'>,
  { now, fraction, afterMs = 0 }: { now: number; fraction: number; afterMs?: number | undefined },
): number | null {
  const delay = Math.min(firstRetryMs * 2 ** Math.max(0, tries - 1), maxRetryMs)
  const nextAt = now + Math.max(Math.round(delay * (0.75 + fraction / 2)), afterMs)
  return nextAt > createdAt + repeatedForMs ? null : nextAt
}
