import { expect, test } from 'vitest'
import { findPastEvents, replay } from '../../infra/local/commands/events/replay.ts'
import { openEvents } from '../../shared/events/events.ts'
import { toRfc3339 } from '../../shared/platform/clock.ts'
import { days, minutes } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { mustBeSigned, startReceiver, targetAt } from '../support/receiver.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const plan = { name: 'morning', kind: 'ranking', projects: ['globex'], schedule: 'cron(0 10 * * ? *)' }

/** Updates at 10:00, 10:10 and 10:20, which the stream sends to a receiver. */
async function start(types: readonly string[] = ['update.*']) {
  const { product, ...rest } = await startWith(types)
  for (const project of ['acme', 'globex', 'initech']) {
    await product.update({ kind: 'ranking', project })
    await product.deliver()
    product.clock.advance(minutes(10))
  }
  return { product, ...rest }
}

async function startWith(types: readonly string[], options: Parameters<typeof startProduct>[0] = {}) {
  const receiver = await startReceiver()
  const targets = [targetAt(receiver.url, { types })]
  const product = await startProduct({ store: createMemoryStore(), stream: true, targets, ...options })
  const events = await openEvents(product.services)
  const [target] = events.targets
  if (!target) throw new Error('there is no target')
  const stop = new AbortController()
  const said: string[] = []
  const parts = { events, stop: stop.signal, pause: async () => {}, tell: (line: string) => void said.push(line) }
  const past = (since: string, until = '2026-11-20T11:00:00Z') =>
    findPastEvents(product.guard.ledger, target, { since: Date.parse(since), until: Date.parse(until) })
  return {
    product,
    receiver,
    target,
    stop,
    said,
    past,
    again: async (...span: Parameters<typeof past>) => replay(parts, target, await past(...span)),
  }
}

test('a replay sends signed events that a target missed, with the same ids in the order of time', async () => {
  const { receiver, again } = await start()
  const first = receiver.ids()
  expect(first).toHaveLength(6)
  receiver.received.length = 0
  expect(await again('2026-11-20T10:05:00Z')).toEqual({ sent: 4 })
  expect(receiver.ids()).toEqual(first.slice(2))
  for (const received of receiver.received) mustBeSigned(received)
  expect(receiver.types()).toEqual([
    'unit-guard.update.running',
    'unit-guard.update.settled',
    'unit-guard.update.running',
    'unit-guard.update.settled',
  ])
})

test('a replay leaves out types that the target does not want, and times outside its period', async () => {
  const { receiver, again } = await start(['update.settled'])
  const [, second] = receiver.ids()
  receiver.received.length = 0
  expect(await again('2026-11-20T10:10:00Z', '2026-11-20T10:10:00Z')).toEqual({ sent: 1 })
  expect(receiver.ids()).toEqual([second])
})

test('a replay has the events of budgets, plans, prices and callers, with the ids of the stream', async () => {
  const units = { acme: 40 }
  const types = ['budget.*', 'plan.*', 'project.*', 'caller.*']
  const { product, receiver, target, again } = await startWith(types, { units, plans: [plan] })
  const { call, clock, deliver, update } = product
  const later = async (of: () => Promise<unknown>) => {
    await of()
    await deliver()
    clock.advance(minutes(10))
  }
  const limits = (count: number) => ({ body: { limits: [{ window: 'month', units: count }] } })
  await later(() => call('PUT', '/budgets/seo', limits(50)))
  await later(() => update({ kind: 'ranking', project: 'acme', budget: 'seo' }))
  await later(() => call('PUT', '/budgets/seo', limits(5000)))
  await later(() => call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } }))
  await later(() => call('POST', '/budgets/seo/unfreeze', { body: { reason: 'mended' } }))
  await later(() => product.triggers.handle({ plan: 'morning', time: '2026-11-20T10:00:00Z' }, product.endsAt()))
  clock.advance(days(14))
  units.acme = 420
  await later(() => update({ kind: 'ranking', project: 'acme', budget: 'seo' }))
  const repeat = () => update({ kind: 'ranking', project: 'acme', budget: 'seo' })
  await later(async () => {
    for (let count = 0; count < 50; count++) await repeat()
  })
  const first = receiver.received.map(({ event }) => event)
  expect(first.map(({ type }) => type.slice('unit-guard.'.length))).toEqual([
    'budget.changed',
    'budget.threshold',
    'budget.changed',
    'budget.frozen',
    'budget.unfrozen',
    'plan.finished',
    'project.price-jumped',
    'caller.repeats',
  ])
  const idsOf = (events: typeof first) => events.map(({ id }) => id)
  receiver.received.length = 0
  expect(await again('1970-01-01T00:00:00Z', '2027-11-20T00:00:00Z')).toEqual({ sent: 8 })
  expect(receiver.ids()).toEqual(idsOf(first))
  receiver.received.length = 0
  expect(await again('2026-11-20T10:20:00Z', '2026-11-20T10:50:00Z')).toEqual({ sent: 4 })
  expect(receiver.ids()).toEqual(idsOf(first.slice(2, 6)))
  const ofPlans = await findPastEvents(
    product.guard.ledger,
    { ...target, types: ['plan.*'] },
    { since: 0, until: clock.now() },
  )
  expect(ofPlans.map(({ at }) => toRfc3339(at))).toEqual(['2026-11-20T10:50:00.000Z'])
})

test('the list by time has only announcements that are events', async () => {
  const { product } = await startWith(['budget.*'])
  const span = { since: 0, until: product.clock.now() }
  await product.call('POST', '/budgets/account/freeze', { body: { reason: 'a loop' } })
  expect((await product.guard.ledger.announcements.open(10)).rows.map(({ about }) => about.kind)).toEqual(['stopped'])
  expect((await product.guard.ledger.newsFrom(span, 10)).rows).toEqual([])
})

test('a second replay writes nothing and sends the same events again', async () => {
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
