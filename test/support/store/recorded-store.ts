import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { readChanges } from '../../../functions/outbox/stream-event.ts'
import { withStream } from '../../../infra/local/database/memory-stream.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'

type Reader = (event: unknown, endsAt: number) => Promise<unknown>

/** Keeps every change, in the shape that Lambda gets from the stream. Without a stream the store stays as it is. */
export function recordStream(inner: Store, hasStream: boolean) {
  const events: unknown[] = []
  const reads = new Set<Promise<unknown>>()
  const read: Store['get'] = (keys) => {
    const reading = inner.get(keys)
    const done = () => void reads.delete(reading)
    reads.add(reading)
    reading.then(done, done)
    return reading
  }
  /** The stream hands a write over on the next turn. */
  const settled = async () => {
    await nextTurn()
    await Promise.race([Promise.allSettled(reads), sleep(5)])
    await nextTurn()
  }
  return {
    store: hasStream ? withStream({ ...inner, get: read }, (event) => void events.push(event)) : inner,
    /** Hands the changes to both readers until no more come. */
    deliverTo: async ({ start, tell }: { start: Reader; tell: Reader }, endsAt: () => number): Promise<void> => {
      await settled()
      for (let event = events.shift(); event !== undefined; event = events.shift()) {
        await start(event, endsAt())
        await tell(event, endsAt())
        await settled()
      }
    },
    begun: async () => {
      await settled()
      return events.flatMap((event) => requestedIn(event))
    },
  }
}

const requestedIn = (event: unknown): string[] =>
  readChanges(event).flatMap(({ pk, state }) => (state === 'requested' ? [pk.replace('update#', '')] : []))
