import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createBus } from '../../shared/events/bus.ts'

interface Entry {
  readonly EventBusName: string
  readonly Source: string
  readonly DetailType: string
  readonly Detail: string
  readonly Time: number
}

/** An EventBridge on a socket. It answers each request with what `answer` says about its entries. */
async function startEventBridge(answer: (entries: readonly Entry[]) => { status?: number; body: object }) {
  const requests: Entry[][] = []
  const server = createServer(async (request, response) => {
    expect(request.headers['x-amz-target']).toBe('AWSEvents.PutEvents')
    const { Entries } = JSON.parse(await text(request))
    requests.push(Entries)
    const { status = 200, body } = answer(Entries)
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { requests, endpoint: `http://127.0.0.1:${port}` }
}

const taken = (entries: readonly Entry[]) => ({
  body: { FailedEntryCount: 0, Entries: entries.map((_, each) => ({ EventId: `event-${each}` })) },
})
const eventOf = (subject: string, bytes = 0) => ({
  type: 'unit-guard.update.settled',
  time: Date.parse('2026-11-20T10:00:00Z'),
  body: JSON.stringify({ id: `${subject}.3`, more: 'x'.repeat(bytes) }),
})
const many = (count: number, bytes = 0) => Array.from({ length: count }, (_, each) => eventOf(`upd_${each}`, bytes))

test('puts an event on the bus with its CloudEvent as detail', async () => {
  const { requests, endpoint } = await startEventBridge(taken)
  const bus = createBus({ bus: 'company', endpoint, withinMs: 20_000 })
  expect(await bus.send([eventOf('upd_1')])).toEqual([{ kind: 'sent' }])
  expect(requests).toEqual([
    [
      {
        EventBusName: 'company',
        Source: 'unit-guard',
        DetailType: 'unit-guard.update.settled',
        Detail: '{"id":"upd_1.3","more":""}',
        Time: 1_795_168_800,
      },
    ],
  ])
})

test('sends at most ten events and 256 KB in one request to the bus', async () => {
  const { requests, endpoint } = await startEventBridge(taken)
  const bus = createBus({ bus: 'company', endpoint, withinMs: 20_000 })
  expect(await bus.send([...many(11), ...many(3, 100_000)])).toEqual(Array(14).fill({ kind: 'sent' }))
  expect(requests.map(({ length }) => length)).toEqual([10, 3, 1])
})

test('refuses an event that is too large for the bus, and sends the others', async () => {
  const { requests, endpoint } = await startEventBridge(taken)
  const bus = createBus({ bus: 'company', endpoint, withinMs: 20_000 })
  expect(await bus.send([eventOf('upd_1'), eventOf('upd_2', 256 * 1024), eventOf('upd_3')])).toEqual([
    { kind: 'sent' },
    { kind: 'refused', reason: 'the event has more than 256 KB' },
    { kind: 'sent' },
  ])
  expect(requests.map((entries) => entries.map(({ Detail }) => JSON.parse(Detail).id))).toEqual([
    ['upd_1.3', 'upd_3.3'],
  ])
})

test('retries only the entries that the bus did not take', async () => {
  const { endpoint } = await startEventBridge((entries) => ({
    body: {
      FailedEntryCount: 1,
      Entries: entries.map((_, each) =>
        each === 1 ? { ErrorCode: 'ThrottlingException', ErrorMessage: 'slow down' } : { EventId: `event-${each}` },
      ),
    },
  }))
  const bus = createBus({ bus: 'company', endpoint, withinMs: 20_000 })
  expect(await bus.send(many(3))).toEqual([
    { kind: 'sent' },
    { kind: 'try-again', reason: 'ThrottlingException: slow down' },
    { kind: 'sent' },
  ])
})

test('retries every event of a request that the bus refused', async () => {
  const { endpoint } = await startEventBridge(() => ({
    status: 400,
    body: { __type: 'AccessDeniedException', message: 'not authorized to perform: events:PutEvents' },
  }))
  const bus = createBus({ bus: 'company', endpoint, withinMs: 20_000 })
  const failed = { kind: 'try-again', reason: 'EventBridge did not take it (AccessDeniedException)' }
  expect(await bus.send(many(2))).toEqual([failed, failed])
})
