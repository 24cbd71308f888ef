import { expect, test } from 'vitest'
import { findPastEvents, replay } from '../../infra/local/commands/events/replay.ts'
import { openEvents } from '../../shared/events/events.ts'
import { createMemoryStore } from '../../shared/ledger/store/memory-store.ts'
import { minutes } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { mustBeSigned, startReceiver, targetAt } from '../support/receiver.ts'

/** Updates at 10:00, 10:10 and 10:20, told to a receiver by the stream. */
async function start(types: readonly string[] = ['update.*']) {
  const receiver = await startReceiver()
  const product = await startProduct({
    ...{ store: createMemoryStore(), stream: true, targets: [targetAt(receiver.url, { types })] },
  })
  for (const project of ['acme', 'globex', 'initech']) {
    await product.update({ kind: 'ranking', project })
    await product.deliver()
    product.clock.advance(minutes(10))
  }
  const events = await openEvents(product.services)
  const [target] = events.targets
  if (!target) throw new Error('there is no target')
  const stop = new AbortController()
  const said: string[] = []
  const parts = { events, stop: stop.signal, pause: async () => {}, tell: (line: string) => void said.push(line) }
  const past = (since: string, until = '2026-11-20T11:00:00Z') =>
    findPastEvents(product.guard.ledger, target, { since: Date.parse(since), until: Date.parse(until) })
  return {
    ...{ product, receiver, stop, said, past },
    again: async (...span: Parameters<typeof past>) => replay(parts, target, { pastEvents: await past(...span) }),
  }
}

test('a replay sends what a target missed again, signed, with the same ids and in the order of time', async () => {
  const { receiver, again } = await start()
  const first = receiver.ids()
  expect(first).toHaveLength(6)
  receiver.received.length = 0
  expect(await again('2026-11-20T10:05:00Z')).toEqual({ sent: 4 })
  expect(receiver.ids()).toEqual(first.slice(2))
  for (const received of receiver.received) mustBeSigned(received)
  expect(receiver.types()).toEqual([
    ...['unit-guard.update.running', 'unit-guard.update.settled'],
    ...['unit-guard.update.running', 'unit-guard.update.settled'],
  ])
})

test('a replay leaves out types that the target does not want, and times outside of its span', async () => {
  const { receiver, again } = await start(['update.settled'])
  const [, second] = receiver.ids()
  receiver.received.length = 0
  expect(await again('2026-11-20T10:10:00Z', '2026-11-20T10:10:00Z')).toEqual({ sent: 1 })
  expect(receiver.ids()).toEqual([second])
})

test('a second replay writes nothing and sends the same again', async () => {
  const { product, receiver, again } = await start()
  const status = async () => {
    const { targets, statusOf } = await openEvents(product.services)
    return Promise.all(targets.map(statusOf))
  }
  const before = await status()
  receiver.received.length = 0
  expect([await again('2026-11-20T10:00:00Z'), await again('2026-11-20T10:00:00Z')]).toEqual([{ sent: 6 }, { sent: 6 }])
  expect(receiver.ids().slice(6)).toEqual(receiver.ids().slice(0, 6))
  expect(await status()).toEqual(before)
})

test('a replay tries an event three times, then stops and says from when to continue', async () => {
  const { receiver, again } = await start()
  receiver.received.length = 0
  receiver.answers((response) => response.writeHead(receiver.received.length > 2 ? 500 : 204).end())
  expect(await again('2026-11-20T10:00:00Z')).toEqual({
    sent: 2,
    stopped: { at: Date.parse('2026-11-20T10:10:00Z'), reason: 'status 500' },
  })
  expect(receiver.received).toHaveLength(5)
})

test('a replay that is interrupted cuts its attempt and says from when to continue', async () => {
  const { receiver, again, stop } = await start()
  receiver.received.length = 0
  receiver.answers((response) => (receiver.received.length > 2 ? stop.abort() : response.end()))
  expect(await again('2026-11-20T10:00:00Z')).toEqual({
    sent: 2,
    stopped: { at: Date.parse('2026-11-20T10:10:00Z'), reason: 'interrupted' },
  })
})
