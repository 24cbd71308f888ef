import { inTraceOf } from '../platform/log.ts'
import { inParallel } from '../platform/parallel.ts'
import { deliveryId, type EventReference } from './deliveries.ts'
import { aboutEvent, type CloudEvent } from './event.ts'
import { attempt, type EventParts, type Notes, nextAttemptAt, type Receiver, tellDead } from './receiver.ts'
import { failed, type SendResult } from './sender.ts'
import { filterTypeOf, passes } from './types.ts'

const sendsAtOnce = 5
const readsAtOnce = 5

interface BuiltEvent {
  readonly reference: EventReference
  readonly event: CloudEvent
}

/** @returns references whose events could not be built, or neither sent nor kept. */
export async function tell(
  parts: EventParts,
  references: readonly EventReference[],
): Promise<ReadonlySet<EventReference>> {
  const lost = new Set<EventReference>()
  const deadline = AbortSignal.timeout(parts.withinMs)
  const found = await inParallel(references, readsAtOnce, async (reference): Promise<BuiltEvent[]> => {
    try {
      const event = await parts.eventOf(reference)
      return event ? [{ reference, event }] : []
    } catch (cause) {
      const update = reference.kind === 'update' ? reference.update : undefined
      parts.log.error('event-not-built', { reference, update, cause })
      lost.add(reference)
      return []
    }
  })
  const built = found.flat()
  await Promise.all(
    parts.receivers.map((receiver) => {
      const wanted = built.filter(({ event }) => passes(receiver.target.types, filterTypeOf(event.type)))
      return tellOne(parts, receiver, wanted, { deadline, lost })
    }),
  )
  return lost
}

interface Turn {
  readonly deadline: AbortSignal
  readonly lost: Set<EventReference>
}

async function tellOne(
  parts: EventParts,
  receiver: Receiver,
  built: readonly BuiltEvent[],
  { deadline, lost }: Turn,
): Promise<void> {
  const notes: Notes = {}
  await inParallel(built, sendsAtOnce, async ({ reference, event }) => {
    // A slow target must rest, because every batch of the stream would wait for it.
    const slow = AbortSignal.timeout(parts.withinMs / 2)
    const isTried = !deadline.aborted && !receiver.isResting()
    const result = isTried ? await attempt(parts, receiver, { event, deadline, notes }) : untried
    if (isTried && (slow.aborted || (result.kind === 'failed' && result.status === undefined))) receiver.rest()
    if (result.kind === 'delivered') return
    if (result.kind === 'gone') await tellDead(parts, receiver, { event, tries: 1, reason: result.reason })
    await keep(parts, receiver, { reference, event, result, tries: isTried ? 1 : 0 }).catch((cause) => {
      inTraceOf(aboutEvent(event), () =>
        parts.log.error('event-not-kept', { target: receiver.target.name, eventId: event.id, cause }),
      )
      lost.add(reference)
    })
  })
  await receiver.note(notes)
}

const untried = failed('not tried')

/** Keeps a delivery for the sweep, or for people if the event is dead. A delivery that exists does not change. */
async function keep(
  { deliveries, ids, clock }: EventParts,
  { target }: Receiver,
  { reference, event, result, tries }: BuiltEvent & { readonly result: SendResult; readonly tries: number },
): Promise<void> {
  const createdAt = clock.now()
  const afterMs = 'afterMs' in result ? result.afterMs : undefined
  const nextAt = nextAttemptAt({ tries, createdAt }, { now: createdAt, fraction: ids.fraction(), afterMs }) ?? createdAt
  const id = deliveryId(target.name, event.id)
  const dead = result.kind === 'gone' && { doneAt: createdAt, givenUp: result.reason }
  const { name } = target
  const { type } = event
  await deliveries.add({
    id,
    version: 1,
    createdAt,
    target: name,
    event: reference,
    type,
    tries,
    nextAt,
    ...dead,
  })
}
