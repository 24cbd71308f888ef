import type { DamagedItem } from '../ledger/errors.ts'
import { inParallel } from '../platform/parallel.ts'
import type { Delivery } from './deliveries.ts'
import { attempt, type EventParts, type Notes, nextAttemptAt, type Receiver, tellDead } from './receiver.ts'
import { filterTypeOf, passes } from './types.ts'

const sendsAtOnce = 5
const readAtOnce = 25
/** After this many failures, a target gets no more events until the next sweep. */
const maxFailures = 3
/** Short, because the rest of the sweep waits for the events. */
const sweepLastsMs = 60_000

/** Serves all targets at once, so that a dead one delays no other. */
export async function sweep(parts: EventParts, endsAt: number): Promise<void> {
  const until = Math.min(endsAt, parts.clock.now() + sweepLastsMs)
  await Promise.all(
    parts.receivers.map((receiver) =>
      sweepOne(parts, receiver, until).catch((cause) =>
        parts.log.error('events-not-swept', { target: receiver.target.name, cause }),
      ),
    ),
  )
}

async function sweepOne(parts: EventParts, receiver: Receiver, until: number): Promise<void> {
  const { deliveries, clock, log } = parts
  const notes: Notes = {}
  let failures = 0
  // A damaged delivery is read again with each batch.
  const damaged = new Set<string>()
  const onDamage = (cause: DamagedItem) => {
    if (damaged.has(cause.key.pk)) return
    damaged.add(cause.key.pk)
    log.error('events-not-swept', { target: receiver.target.name, cause })
  }
  const mayContinue = () => clock.now() < until && failures < maxFailures
  try {
    while (mayContinue()) {
      const due = await deliveries.due(receiver.target.name, clock.now(), readAtOnce, onDamage)
      if (due.length === 0) break
      await inParallel(due, sendsAtOnce, async (delivery) => {
        if (mayContinue() && (await repeat(parts, receiver, { delivery, notes })) === 'failed') failures++
      })
    }
  } finally {
    await receiver.note(notes)
  }
}

/** If the process dies between sending and recording, the next sweep sends the event once more. */
async function repeat(
  parts: EventParts,
  receiver: Receiver,
  { delivery, notes }: { delivery: Delivery; notes: Notes },
): Promise<'failed' | 'ended'> {
  const { eventOf, deliveries, ids, clock } = parts
  const end = (how: Partial<Delivery> = {}) => deliveries.change({ ...delivery, ...how, doneAt: clock.now() }, delivery)
  const event = await eventOf(delivery.event)
  if (!event || !passes(receiver.target.types, filterTypeOf(event.type))) {
    await end()
    return 'ended'
  }
  const deadline = AbortSignal.timeout(parts.withinMs)
  const result = await attempt(parts, receiver, { event, deadline, notes })
  if (result.kind === 'delivered') {
    await end()
    return 'ended'
  }
  const tries = delivery.tries + 1
  const when = { now: clock.now(), fraction: ids.fraction(), afterMs: 'afterMs' in result ? result.afterMs : undefined }
  const nextAt = result.kind === 'gone' ? null : nextAttemptAt({ ...delivery, tries }, when)
  if (nextAt !== null) await deliveries.change({ ...delivery, tries, nextAt }, delivery)
  else if (await end({ tries, givenUp: result.reason }))
    await tellDead(parts, receiver, { event, tries, reason: result.reason })
  return 'failed'
}
