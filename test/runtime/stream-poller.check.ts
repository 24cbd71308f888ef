import { expect, test } from 'vitest'
import type { StreamRecord } from '../../infra/local/database/changes.ts'
import { synthesize } from '../support/infra/stack.ts'
import { patienceMs } from '../support/store/stores.ts'
import { createStreamPoller, type Mapping } from './lambda/stream-poller.ts'

const record = (number: number, pk = 'update#1', state = 'requested'): StreamRecord => ({
  eventSource: 'aws:dynamodb',
  eventName: 'INSERT',
  dynamodb: { Keys: { pk: { S: pk } }, NewImage: { state: { S: state } }, SequenceNumber: String(number) },
})

type Answer = (numbers: readonly string[]) => unknown

/** Delivers the records, and returns each call and the discarded records. */
async function deliver(mapping: Mapping, records: readonly StreamRecord[], answer: Answer = () => null) {
  const [calls, discarded]: [string[][], string[]] = [[], []]
  const numbersOf = (batch: readonly StreamRecord[]) => batch.map(({ dynamodb }) => dynamodb.SequenceNumber)
  const poller = createStreamPoller(mapping, {
    call: async ({ Records }) => {
      calls.push(numbersOf(Records))
      return answer(numbersOf(Records))
    },
    discard: async (destination, batch) => void discarded.push(`${numbersOf(batch)} to ${destination}`),
  })
  await poller.take(records)
  await expect.poll(poller.isIdle, { timeout: patienceMs }).toBe(true)
  return { calls, discarded }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => record(index + 1))
const failing =
  (...bad: readonly string[]): Answer =>
  (batch) => {
    if (batch.some((number) => bad.includes(number))) throw new Error('it failed')
  }
const destination = { DestinationConfig: { OnFailure: { Destination: 'queue' } } }

test('the poller fills batches up to the size of the mapping', async () => {
  const { calls } = await deliver({ BatchSize: 2 }, numbers(5))
  expect(calls).toEqual([['1', '2'], ['3', '4'], ['5']])
})

test('the poller passes on only records that match a filter of the mapping', async () => {
  const Filters = [{ Pattern: JSON.stringify({ dynamodb: { Keys: { pk: { S: [{ prefix: 'update#' }] } } } }) }]
  const { calls } = await deliver({ BatchSize: 9, FilterCriteria: { Filters } }, [record(1), record(2, 'book')])
  expect(calls).toEqual([['1']])
})

test('the poller halves a failing batch until the bad record is alone, retries that record, and discards it', async () => {
  const mapping = { BatchSize: 4, BisectBatchOnFunctionError: true, MaximumRetryAttempts: 2, ...destination }
  const { calls, discarded } = await deliver(mapping, numbers(4), failing('3'))
  expect(calls).toEqual([['1', '2', '3', '4'], ['1', '2'], ['3', '4'], ['3'], ['3'], ['3'], ['4']])
  expect(discarded).toEqual(['3 to queue'])
})

test('the poller repeats a batch from the first record that the function reports', async () => {
  const mapping = { BatchSize: 4, FunctionResponseTypes: ['ReportBatchItemFailures'], MaximumRetryAttempts: 1 }
  let isFirst = true
  const { calls, discarded } = await deliver(mapping, numbers(4), () => {
    const batchItemFailures = isFirst ? [{ itemIdentifier: '3' }] : []
    isFirst = false
    return { batchItemFailures }
  })
  expect(calls).toEqual([
    ['1', '2', '3', '4'],
    ['3', '4'],
  ])
  expect(discarded).toEqual([])
})

test('the poller repeats a whole batch without the options that narrow it', async () => {
  const { calls, discarded } = await deliver(
    { BatchSize: 2, MaximumRetryAttempts: 1, ...destination },
    numbers(2),
    failing('2'),
  )
  expect(calls).toEqual([
    ['1', '2'],
    ['1', '2'],
  ])
  expect(discarded).toEqual(['1,2 to queue'])
})

test('the poller knows every property of the mappings of the template', () => {
  const known = ['BatchSize', 'ParallelizationFactor', 'FilterCriteria', 'FunctionResponseTypes', 'DestinationConfig']
  known.push('BisectBatchOnFunctionError', 'MaximumRetryAttempts', 'MaximumRecordAgeInSeconds')
  const found = synthesize()
    .ofType('AWS::Lambda::EventSourceMapping')
    .flatMap(({ Properties }) => Object.keys(Properties))
  const others = ['EventSourceArn', 'FunctionName', 'StartingPosition', 'Tags']
  expect(found.filter((name) => ![...known, ...others].includes(name))).toEqual([])
})
