import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { StreamEvent } from '../../../infra/local/database/changes.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { readChanges } from '../../../shared/ledger/stream.ts'
import { isFor } from '../infra/stream-filter.ts'
import { withStream } from './memory-stream.ts'

type Reader = (event: unknown, endsAt: number) => Promise<unknown>

/**
 * Keeps every change in Lambda's form, and delivers only what passes the filters of the stream, so that a filter that is too narrow fails
 * tests. Without a stream the store is unchanged.
 */
export function recordStream(inner: Store, hasStream: boolean, { sendsEvents = false } = {}) {
  const events: StreamEvent[] = []
  const reads = new Set<Promise<unknown>>()
  const read: Store['get'] = (keys) => {
    const reading = inner.get(keys)
    const done = () => void reads.delete(reading)
    reads.add(reading)
    reading.then(done, done)
    return reading
  }
  /** The stream delivers a write on the next turn. */
  const settled = async () => {
    await nextTurn()
    await Promise.race([Promise.allSettled(reads), sleep(5)])
    await nextTurn()
  }
  return {
    store: hasStream ? withStream({ ...inner, get: read }, (event) => void events.push(event)) : inner,
    /** Delivers the changes to both readers until there are no more. */
    deliverTo: async ({ start, tell }: { start: Reader; tell: Reader }, endsAt: () => number): Promise<void> => {
      await settled()
      const told = sendsEvents ? 'tellEvents' : 'tell'
      for (let event = events.shift(); event !== undefined; event = events.shift()) {
        for (const [reader, filter] of [[start, 'start'] as const, [tell, told] as const]) {
          const Records = event.Records.filter((record) => isFor(filter, record))
          if (Records.length > 0) await reader({ Records }, endsAt())
        }
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
  readChanges(event)
    .filter(({ state }) => state === 'requested')
    .map(({ pk }) => pk.replace('update#', ''))
