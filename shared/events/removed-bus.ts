import { dayMs } from '../platform/clock.ts'
import type { EventParts } from './receiver.ts'

/** Ledgers of an earlier version may owe events to this target, which `EVENT_BUS` was. */
export const removedBus = 'bus'
const reason = 'the event bus was removed'
const readAtOnce = 100

/** Ends what is owed to the event bus, because no sweep sends it. */
export async function endBusDeliveries(
  { deliveries, receivers, clock, log }: EventParts,
  endsAt: number,
): Promise<void> {
  if (receivers.some(({ target }) => target.name === removedBus)) return
  const onDamage = (cause: unknown) => log.error('events-not-swept', { target: removedBus, cause })
  while (clock.now() < endsAt) {
    // No attempt is more than a day ahead.
    const owed = await deliveries.due(removedBus, clock.now() + dayMs, readAtOnce, onDamage)
    if (owed.length === 0) return
    for (const delivery of owed) {
      const { id, type, tries } = delivery
      if (!(await deliveries.change({ ...delivery, doneAt: clock.now(), givenUp: reason }, delivery))) return
      log.error('event-dead', { target: removedBus, eventId: id.slice(`${removedBus}#`.length), type, tries, reason })
    }
  }
}
