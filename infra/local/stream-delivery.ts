import type { BatchAnswer } from '../../functions/outbox/readers.ts'
import type { Log } from '../../shared/platform/log.ts'
import { createSlots } from '../../shared/platform/parallel.ts'
import type { StreamEvent, StreamRecord } from './stream-event.ts'
import { createUnderWay } from './under-way.ts'

const mostRepeats = 3
const repeatsAfterMs = 1_000

/**
 * Hands batches of a table's stream to a reader, as AWS does: what the reader says has failed comes again, and with it
 * everything behind it, a few times and each time later.
 *
 * @param parts.batchesAtOnce as the parallelization factor of AWS: one slow batch then holds up nothing else.
 * @param parts.repeatsAfterMs the first pause; each further one is twice as long.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 */
export function createDelivery(parts: {
  read: (event: StreamEvent) => Promise<BatchAnswer>
  name: string
  batchesAtOnce: number
  repeatsAfterMs?: number
  log: Log
}) {
  const { read, name, batchesAtOnce, log } = parts
  const slots = createSlots(batchesAtOnce)
  const underWay = createUnderWay()

  async function deliver(batch: readonly StreamRecord[]): Promise<void> {
    let left = batch
    for (let repeats = 0; ; repeats++) {
      left = await failedOf(left)
      if (left.length === 0) return
      if (repeats === mostRepeats) return log.error('stream-records-given-up', { reader: name, records: left.length })
      await underWay.pause((parts.repeatsAfterMs ?? repeatsAfterMs) * 2 ** repeats)
      if (underWay.isStopping()) return
    }
  }

  async function failedOf(records: readonly StreamRecord[]): Promise<readonly StreamRecord[]> {
    try {
      const failed = new Set((await read({ Records: records })).batchItemFailures.map((each) => each.itemIdentifier))
      if (failed.size === 0) return []
      const first = records.findIndex(({ dynamodb }) => failed.has(dynamodb.SequenceNumber))
      // Where it names none of these, AWS takes all of them for failed.
      return records.slice(Math.max(0, first))
    } catch (cause) {
      log.error('stream-reader-failed', { reader: name, cause })
      return records
    }
  }

  return {
    /** Resolves as soon as the batch has its place, not when it was read. Once it is stopping nothing more is taken. */
    take: async (batch: readonly StreamRecord[]): Promise<void> => {
      await slots.take()
      if (underWay.isStopping()) return slots.give()
      void underWay.add(deliver(batch).finally(slots.give))
    },
    /** What is cut off is found by a later sweep. */
    stop: underWay.stop,
  }
}
