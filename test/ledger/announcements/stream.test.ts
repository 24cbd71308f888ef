import { expect, test } from 'vitest'
import { readChanges } from '../../../shared/ledger/stream.ts'

const recordOf = (eventName: string, NewImage?: object) => ({
  eventSource: 'aws:dynamodb',
  eventName,
  dynamodb: { Keys: { pk: { S: 'update#upd_1' } }, SequenceNumber: '7', ...(NewImage && { NewImage }) },
})

test('each change says what was written, and only a written member is there', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const image = { state: { S: 'in-doubt' }, version: { N: '3' }, doubt: {}, traceparent: { S: traceparent } }
  const records = [
    recordOf('INSERT', { state: { S: 'running' } }),
    recordOf('MODIFY', image),
    recordOf('MODIFY', { approvableUntil: {}, subjects: { L: [{ S: 'seo' }, {}, { S: 'blog' }] } }),
    recordOf('REMOVE'),
  ]
  const same = { pk: 'update#upd_1', update: 'upd_1', sequenceNumber: '7', isNew: false, wasAnnounced: false }
  expect(readChanges({ Records: records })).toStrictEqual([
    { ...same, isNew: true, state: 'running', subjects: [] },
    { ...same, state: 'in-doubt', version: 3, wasAnnounced: true, subjects: [], traceparent },
    { ...same, wasAnnounced: true, subjects: ['seo', 'blog'] },
    { ...same, subjects: [] },
  ])
})

test('what is not an event of a stream is refused', () => {
  expect(() => readChanges({ Records: [{ eventSource: 'aws:s3' }] })).toThrow('not an event of a DynamoDB stream')
})
