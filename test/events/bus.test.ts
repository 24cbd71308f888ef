import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createBusSender } from '../../shared/events/bus.ts'
import type { CloudEvent } from '../../shared/events/event.ts'

/** An EventBridge on a socket. */
async function startEventBridge({ status = 200, body }: { status?: number; body: object }) {
  const requests: unknown[] = []
  const server = createServer(async (request, response) => {
    expect(request.headers['x-amz-target']).toBe('AWSEvents.PutEvents')
    requests.push(JSON.parse(await text(request)))
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { send } = createBusSender({ bus: 'company' }, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return { requests, send }
}

const event: CloudEvent = {
  ...({ specversion: '1.0', datacontenttype: 'application/json' } as const),
  ...({ type: 'unit-guard.update.settled' } as const),
  id: 'upd_1-3',
  source: '/unit-guard/led_1',
  time: '2026-11-20T10:00:00.000Z',
  subject: 'upd_1',
  data: { units: 40 },
}
const deadline = () => AbortSignal.timeout(20_000)

test('an event is put on the bus with its CloudEvent as detail', async () => {
  const { requests, send } = await startEventBridge({ body: { FailedEntryCount: 0, Entries: [{ EventId: 'e1' }] } })
  expect(await send(event, deadline())).toEqual({ kind: 'delivered' })
  const entry = {
    EventBusName: 'company',
    Source: 'unit-guard',
    DetailType: 'unit-guard.update.settled',
    Detail: JSON.stringify(event),
    Time: 1_795_168_800,
  }
  expect(requests).toEqual([{ Entries: [entry] }])
})

test('an entry that the bus rejects has failed, although the request succeeded', async () => {
  const entry = { ErrorCode: 'ThrottlingException', ErrorMessage: 'slow down' }
  const { send } = await startEventBridge({ body: { FailedEntryCount: 1, Entries: [entry] } })
  expect(await send(event, deadline())).toEqual({
    kind: 'failed',
    reason: 'EventBridge refuses: ThrottlingException: slow down',
  })
})

test('an event fails with the name of the error when the bus refuses the request', async () => {
  const body = { __type: 'AccessDeniedException', message: 'not authorized to perform: events:PutEvents' }
  const { send } = await startEventBridge({ status: 400, body })
  expect(await send(event, deadline())).toEqual({
    kind: 'failed',
    reason: 'EventBridge refuses: AccessDeniedException',
  })
})

test('an event that is too large for the bus is dead at once, and nothing is sent', async () => {
  const { requests, send } = await startEventBridge({ body: {} })
  const large = { ...event, data: { text: 'x'.repeat(256 * 1024) } }
  expect(await send(large, deadline())).toEqual({ kind: 'gone', reason: 'the event has more than 256 KB' })
  expect(requests).toEqual([])
})
