import { setTimeout as sleep } from 'node:timers/promises'
import type { StreamRecord } from '../../../infra/local/database/changes.ts'
import { passesFilter } from '../../support/infra/stream-filter.ts'

/** An event source mapping as in a template. */
export interface Mapping {
  readonly BatchSize: number
  readonly MaximumBatchingWindowInSeconds?: number
  readonly ParallelizationFactor?: number
  readonly FilterCriteria?: { readonly Filters: readonly { readonly Pattern: string }[] }
  readonly FunctionResponseTypes?: readonly string[]
  readonly BisectBatchOnFunctionError?: boolean
  /** Missing or −1: no limit. Records of a rehearsal never become too old. */
  readonly MaximumRetryAttempts?: number
  readonly DestinationConfig?: { readonly OnFailure: { readonly Destination: string } }
}

export interface Reader {
  /** @throws a function error. */
  call(event: { readonly Records: readonly StreamRecord[] }): Promise<unknown>
  /** Sends records that were given up to the destination. */
  discard(destination: string, records: readonly StreamRecord[]): Promise<void>
}

type Batch = readonly StreamRecord[]

const firstPauseMs = 50

/**
 * Delivers the records of a shard as a mapping of Lambda does: filtered and in batches, with the records of an item in order and as many
 * simultaneous batches as the mapping allows. A failed batch is halved and repeated until it is discarded.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 */
export function createStreamPoller(mapping: Mapping, { call, discard }: Reader) {
  const filters = mapping.FilterCriteria?.Filters.map(({ Pattern }) => JSON.parse(Pattern))
  const lanes = Array.from({ length: mapping.ParallelizationFactor ?? 1 }, () => ({
    waiting: [] as StreamRecord[],
    work: Promise.resolve(),
  }))
  let delivering = 0

  /** The halves of a batch share its remaining retries, and a halving does not count as one. */
  async function deliver(batch: Batch, retries: number): Promise<void> {
    const { left, isError } = await leftOf(batch)
    if (left.length === 0) return
    const { BisectBatchOnFunctionError: halves, MaximumRetryAttempts: max = -1, DestinationConfig } = mapping
    if (isError && halves && left.length > 1) {
      const middle = Math.ceil(left.length / 2)
      await deliver(left.slice(0, middle), retries)
      return deliver(left.slice(middle), retries)
    }
    if (retries === max) return discard(DestinationConfig?.OnFailure.Destination ?? '', left)
    await sleep(firstPauseMs * 2 ** retries)
    return deliver(left, retries + 1)
  }

  async function leftOf(batch: Batch): Promise<{ left: Batch; isError: boolean }> {
    try {
      const answer = (await call({ Records: batch })) as { batchItemFailures?: { itemIdentifier: string }[] } | null
      const reports = mapping.FunctionResponseTypes?.includes('ReportBatchItemFailures')
      const failed = (reports && answer?.batchItemFailures) || []
      if (failed.length === 0) return { left: [], isError: false }
      const names = failed.map(({ itemIdentifier }) => itemIdentifier)
      // An unknown record fails the whole batch.
      const first = batch.findIndex(({ dynamodb }) => names.includes(dynamodb.SequenceNumber))
      return { left: batch.slice(Math.max(0, first)), isError: false }
    } catch {
      return { left: batch, isError: true }
    }
  }

  async function work(lane: (typeof lanes)[number]): Promise<void> {
    if (mapping.MaximumBatchingWindowInSeconds) await sleep(mapping.MaximumBatchingWindowInSeconds * 1000)
    const batch = lane.waiting.splice(0, mapping.BatchSize)
    if (batch.length === 0) return
    delivering++
    await deliver(batch, 0).finally(() => delivering--)
  }

  return {
    take: async (records: Batch): Promise<void> => {
      for (const record of records) {
        if (filters && !filters.some((pattern) => passesFilter(pattern, record))) continue
        const lane = lanes[laneOf(record, lanes.length)]
        if (!lane) throw new Error('each record has a lane')
        lane.waiting.push(record)
        lane.work = lane.work.then(() => work(lane))
      }
    },
    isIdle: () => delivering === 0 && lanes.every(({ waiting }) => waiting.length === 0),
  }
}

/** Records of one item stay in order, so they share a lane. */
function laneOf({ dynamodb: { Keys } }: StreamRecord, count: number): number {
  let sum = 0
  for (const letter of JSON.stringify(Keys)) sum = (sum * 31 + letter.charCodeAt(0)) % 65_521
  return sum % count
}
