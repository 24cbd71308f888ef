import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { deliveriesIn } from '../../shared/events/deliveries.ts'
import { openEvents } from '../../shared/events/events.ts'
import { eventIdIn } from '../../shared/events/for-people.ts'
import type { Store, Write } from '../../shared/ledger/store/store.ts'
import { hours, minutes } from '../support/clock.ts'
import { linesOf } from '../support/log-lines.ts'
import { type Product, startProduct } from '../support/product.ts'
import { mustBeSigned, startReceiver, targetAt } from '../support/receiver.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { createStore, patienceMs } from '../support/store/stores.ts'

type Options = Parameters<typeof startProduct>[0]

/** The test decides when the stream delivers. */
const started = (targets: readonly ReturnType<typeof targetAt>[], options: Options = {}) =>
  startProduct({ targets, store: createMemoryStore(), stream: true, ...options })

const onRealStore = async (targets: readonly ReturnType<typeof targetAt>[]) =>
  started(targets, { store: await createStore() })

const run = async (product: Product, project = 'acme'): Promise<string> =>
  (await product.update({ kind: 'ranking', project })).body.updates[0].id

const sweep = (product: Product) => product.triggers.handle({ task: 'sweep' }, product.endsAt())

const opened = (product: Product) => openEvents(product.services)

async function statusOf(product: Product, name = 'warehouse') {
  const events = await opened(product)
  const target = events.targets.find((each) => each.name === name)
  if (!target) throw new Error(`no target ${name}`)
  const { waiting, dead, ...state } = await events.statusOf(target)
  const [last] = dead.latest
  return { ...state, waiting: waiting.count, ...(last && { dead: { event: eventIdIn(last), reason: last.givenUp } }) }
}

/** A record of the stream, as Lambda hands it over. */
const recordOf = (id: string, version: number, sequence = version) => ({
  eventSource: 'aws:dynamodb',
  eventName: 'MODIFY',
  dynamodb: {
    Keys: { pk: { S: `update#${id}` }, sk: { S: 'update' } },
    NewImage: { state: { S: 'settled' }, version: { N: String(version) } },
    SequenceNumber: String(sequence),
  },
})

const tell = (product: Product, ...Records: object[]) => product.startProcess().tell({ Records }, product.endsAt())

describe('an update', () => {
  test('each state of an update is sent as a signed event to each target that wants this state', async () => {
    const [warehouse, pager] = [await startReceiver(), await startReceiver()]
    const product = await onRealStore([
      targetAt(warehouse.url),
      targetAt(pager.url, { name: 'pager', secret: 'unit-guard/events/pager', types: ['update.settled'] }),
    ])
    const id = await run(product)
    expect(warehouse.received).toEqual([])
    await product.deliver()
    expect(warehouse.types()).toEqual(['unit-guard.update.running', 'unit-guard.update.settled'])
    expect(warehouse.ids()).toEqual([`${id}-1`, `${id}-2`])
    expect(pager.ids()).toEqual([`${id}-2`])
    for (const received of [...warehouse.received, ...pager.received]) mustBeSigned(received)
    expect((await product.call('GET', `/updates/${id}`)).body).toEqual(pager.received[0]?.event.data)
    expect(await statusOf(product)).toEqual({
      delivered: { at: product.clock.now(), event: `${id}-1` },
      waiting: 0,
    })
    expect(linesOf(product.logged, 'event-sent')).toHaveLength(3)
  })

  test('an update writes and sends the same with or without targets', async () => {
    const counted = async (targets?: readonly ReturnType<typeof targetAt>[]) => {
      const inner = createMemoryStore()
      const asked: string[] = []
      const store: Store = {
        ...inner,
        get: (keys) => {
          asked.push('get')
          return inner.get(keys)
        },
        transact: (...write) => {
          asked.push('transact')
          return inner.transact(...write)
        },
      }
      const product = await startProduct({ store, stream: false, ...(targets && { targets }) })
      await run(product)
      return { asked, secrets: product.secrets.asked.length }
    }
    const receiver = await startReceiver(() => {})
    expect(await counted([targetAt(receiver.url)])).toEqual(await counted())
    expect(receiver.received).toEqual([])
  })

  test('the stream does not read an update if there are no targets', async () => {
    const inner = createMemoryStore()
    let reads = 0
    const store: Store = {
      ...inner,
      get: (keys) => {
        reads++
        return inner.get(keys)
      },
    }
    const product = await startProduct({ store, stream: false })
    const id = await run(product)
    reads = 0
    expect(await tell(product, recordOf(id, 2))).toEqual({ batchItemFailures: [] })
    expect([reads, product.logged.filter((line) => line.includes('"event-'))]).toEqual([0, []])
  })
})

describe('an event that a target does not accept', () => {
  test('the first sweep ends the deliveries of the removed event bus, and no others', async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end())
    const product = await onRealStore([targetAt(receiver.url, { types: ['update.settled'] })])
    const id = await run(product)
    await product.deliver()
    const deliveries = deliveriesIn(product.guard.ledger)
    const owed = {
      version: 1,
      createdAt: product.clock.now(),
      target: 'bus',
      event: { kind: 'update', update: id, version: 2 },
      tries: 3,
      nextAt: product.clock.now() + minutes(15),
    } as const
    for (const version of [1, 2]) await deliveries.add({ ...owed, id: `bus#${id}-${version}` })
    await sweep(product)
    expect([(await deliveries.waiting('bus')).count, (await deliveries.waiting('warehouse')).count]).toEqual([0, 1])
    const reason = 'the event bus was removed'
    expect(linesOf(product.logged, 'event-dead')).toMatchObject(
      [1, 2].map((version) => ({ target: 'bus', eventId: `${id}-${version}`, tries: 3, reason })),
    )
    expect(await deliveries.get(`bus#${id}-2`)).toMatchObject({ doneAt: product.clock.now(), givenUp: reason })
  })

  test('a rejected event is kept and sent again after about a minute', async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end())
    const product = await onRealStore([targetAt(receiver.url, { types: ['update.settled'] })])
    const id = await run(product)
    await product.deliver()
    expect(receiver.ids()).toEqual([`${id}-2`])
    expect(await statusOf(product)).toEqual({
      failed: { at: product.clock.now(), event: `${id}-2`, reason: 'status 500' },
      waiting: 1,
    })
    product.clock.advance(40_000)
    await sweep(product)
    expect(receiver.received).toHaveLength(1)
    receiver.answers((response) => response.end())
    product.clock.advance(40_000)
    await sweep(product)
    await sweep(product)
    expect(receiver.ids()).toEqual([`${id}-2`, `${id}-2`])
    const [first, second] = receiver.received
    expect(second?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp'])
    expect(await statusOf(product)).toMatchObject({ delivered: { event: `${id}-2` }, waiting: 0 })
    expect(linesOf(product.logged, 'event-not-sent')).toMatchObject([{ level: 'info', reason: 'status 500' }])
  })

  test.each([
    ['although it was delivered', true],
    ['although its next attempt comes later', false],
  ])('an event is not sent again if a lagging index of DynamoDB still lists it, %s', async (_why, isTaken) => {
    const receiver = await startReceiver((response) => response.writeHead(500).end())
    const store = createMemoryStore()
    let before: Awaited<ReturnType<Store['list']>> | undefined
    const lagging: Store = {
      ...store,
      list: async (query) => (query.partition === 'delivery#warehouse' && before) || store.list(query),
    }
    const product = await started([targetAt(receiver.url, { types: ['update.settled'] })], { store: lagging })
    const id = await run(product)
    await product.deliver()
    const listed = await store.list({
      index: 'open',
      partition: 'delivery#warehouse',
      newestFirst: false,
      limit: 9,
    })
    expect(listed.positions).toHaveLength(1)
    if (isTaken) receiver.answers((response) => response.end())
    product.clock.advance(80_000)
    await sweep(product)
    before = listed
    await sweep(product)
    expect(receiver.ids()).toEqual([`${id}-2`, `${id}-2`])
    const { oldestAt } = await deliveriesIn(product.guard.ledger).waiting('warehouse')
    expect(oldestAt).toBe(isTaken ? null : product.clock.now() - 80_000)
  })

  test('a sweep does not read an event before its next attempt', async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end())
    const store = createMemoryStore()
    const read: string[] = []
    const counting: Store = {
      ...store,
      get: (keys) => {
        read.push(...keys.map(({ pk }) => pk).filter((pk) => pk.startsWith('delivery#')))
        return store.get(keys)
      },
    }
    const product = await started([targetAt(receiver.url)], { store: counting })
    await run(product)
    await product.deliver()
    read.splice(0)
    await sweep(product)
    expect(read).toEqual([])
    product.clock.advance(minutes(2))
    await sweep(product)
    expect(new Set(read).size).toBe(2)
  })

  test('an event is repeated for 24 hours, and then is dead, with one log line', async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end())
    const product = await started([targetAt(receiver.url, { types: ['update.settled'] })])
    const from = product.clock.now()
    const id = await run(product)
    await product.deliver()
    const times: number[] = []
    receiver.answers((response) => {
      times.push(product.clock.now() - from)
      response.writeHead(500).end()
    })
    for (let minute = 0; minute < 25 * 60; minute += 5) {
      product.clock.advance(minutes(5))
      await product.events.sweep(product.endsAt())
    }
    const dead = { target: 'warehouse', eventId: `${id}-2`, type: 'unit-guard.update.settled', reason: 'status 500' }
    const tries = times.length + 1
    expect(linesOf(product.logged, 'event-dead')).toMatchObject([{ level: 'error', ...dead, tries }])
    expect(await statusOf(product)).toMatchObject({ dead: { event: `${id}-2`, reason: 'status 500' }, waiting: 0 })
    expect(times.at(-1)).toBeGreaterThan(hours(23))
    expect(times.at(-1)).toBeLessThanOrEqual(hours(24))
    const pauses = times.slice(5).map((time, index) => time - (times[index + 4] ?? 0))
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(minutes(10))
    expect(Math.max(...pauses)).toBeLessThanOrEqual(minutes(20))
  })

  test('an event is dead at once if the target answers 410', async () => {
    const receiver = await startReceiver((response) => response.writeHead(410).end())
    const product = await started([targetAt(receiver.url, { types: ['update.settled'] })])
    const id = await run(product)
    await product.deliver()
    product.clock.advance(minutes(5))
    await sweep(product)
    expect(receiver.received).toHaveLength(1)
    expect(linesOf(product.logged, 'event-dead')).toMatchObject([
      { eventId: `${id}-2`, tries: 1, reason: 'status 410' },
    ])
    expect(await statusOf(product)).toMatchObject({ dead: { event: `${id}-2` }, waiting: 0 })
  })

  test('that events were given up is a trouble of their target until one is delivered', async () => {
    const [warehouse, pager] = [await startReceiver((response) => response.writeHead(410).end()), await startReceiver()]
    const toPager = targetAt(pager.url, { name: 'pager', secret: 'unit-guard/events/pager' })
    const product = await started([targetAt(warehouse.url), toPager])
    const troubles = async () => {
      product.clock.advance(minutes(2))
      return (await product.call('GET', '/status')).body.troubles.map(({ sentence }: { sentence: string }) => sentence)
    }
    await run(product)
    await product.deliver()
    expect(await troubles()).toEqual(['Events for warehouse were given up.'])
    warehouse.answers((response) => response.writeHead(204).end())
    await run(product, 'globex')
    await product.deliver()
    expect(await troubles()).toEqual([])
  })

  test('an event that cannot be kept makes the stream repeat its record', async () => {
    const inner = createMemoryStore()
    let isDown = false
    const isDelivery = (write: Write) => JSON.stringify(write).includes('delivery#')
    const store: Store = {
      ...inner,
      transact: (writes, ...rest) =>
        isDown && writes.some(isDelivery) ? Promise.reject(new Error('down')) : inner.transact(writes, ...rest),
    }
    const receiver = await startReceiver((response, { event }) =>
      response.writeHead(event.type.endsWith('running') ? 200 : 500).end(),
    )
    const product = await started([targetAt(receiver.url)], { store, stream: false })
    const id = await run(product)
    isDown = true
    const records = [recordOf(id, 1, 101), recordOf(id, 2, 102)]
    expect(await tell(product, ...records)).toEqual({ batchItemFailures: [{ itemIdentifier: '102' }] })
    expect(linesOf(product.logged, 'event-not-kept')).toMatchObject([{ target: 'warehouse', eventId: `${id}-2` }])
    isDown = false
    expect(await tell(product, ...records.slice(1))).toEqual({ batchItemFailures: [] })
    expect((await statusOf(product)).waiting).toBe(1)
  })

  test('an event is rebuilt only from an existing record, and a damaged record is retried', async () => {
    const receiver = await startReceiver()
    const inner = createMemoryStore()
    const store: Store = {
      ...inner,
      get: async (keys) => {
        if (keys.some(({ pk }) => pk === 'update#upd_lost')) throw new Error('down')
        return inner.get(keys)
      },
    }
    const product = await started([targetAt(receiver.url)], { store, stream: false })
    expect(await tell(product, recordOf('upd_lost', 1, 7), recordOf('upd_gone', 1, 8))).toEqual({
      batchItemFailures: [{ itemIdentifier: '7' }],
    })
    expect(receiver.received).toEqual([])
  })
})

describe('an event of a repeated record', () => {
  test('a repeated record has the same event id and is sent at most twice', async () => {
    const receiver = await startReceiver()
    const product = await started([targetAt(receiver.url)], { stream: false })
    const id = await run(product)
    await tell(product, recordOf(id, 2))
    await tell(product, recordOf(id, 2))
    await sweep(product)
    expect(receiver.ids()).toEqual([`${id}-2`, `${id}-2`])
  })

  test('a repeated record is kept once if both attempts failed', async () => {
    const receiver = await startReceiver((response) => response.writeHead(503).end())
    const product = await started([targetAt(receiver.url)], { stream: false })
    const id = await run(product)
    await Promise.all([tell(product, recordOf(id, 2)), tell(product, recordOf(id, 2))])
    expect((await statusOf(product)).waiting).toBe(1)
  })

  test('an event is sent again and then recorded if the process died in between', async () => {
    const inner = createMemoryStore()
    let isDead = false
    const store: Store = {
      ...inner,
      transact: (writes, ...rest) =>
        isDead && writes.some(({ kind }) => kind !== 'check')
          ? Promise.reject(new Error('killed'))
          : inner.transact(writes, ...rest),
    }
    const receiver = await startReceiver((response) => response.writeHead(500).end())
    const product = await started([targetAt(receiver.url, { types: ['update.settled'] })], { store, stream: false })
    const id = await run(product)
    await tell(product, recordOf(id, 2))
    receiver.answers((response) => response.end())
    product.clock.advance(minutes(2))
    isDead = true
    await product.startProcess().events.sweep(product.endsAt())
    expect([receiver.received.length, (await statusOf(product)).waiting]).toEqual([2, 1])
    isDead = false
    await product.startProcess().events.sweep(product.endsAt())
    await product.startProcess().events.sweep(product.endsAt())
    expect(receiver.ids()).toEqual([`${id}-2`, `${id}-2`, `${id}-2`])
    expect((await statusOf(product)).waiting).toBe(0)
  })
})

describe('targets that do not answer', () => {
  const five = ['a', 'b', 'c', 'd', 'e']
  const targetsAt = (url: string) => five.map((name) => targetAt(url, { name, secret: `unit-guard/events/${name}` }))

  test('a target that does not answer delays no update, message or other target, and loses nothing', async () => {
    const held: ServerResponse[] = []
    const [hanging, working] = [await startReceiver((response) => void held.push(response)), await startReceiver()]
    const targets = [...targetsAt(hanging.url).slice(1), targetAt(working.url)]
    const product = await started(targets, { slack: true, stream: false, network: { withinMs: patienceMs } })
    const id = await run(product)
    const { guard, clock } = product
    const about = {
      kind: 'stopped',
      what: 'budget',
      name: 'seo',
      by: 'ada',
      reason: 'a loop',
      isStopped: true,
    } as const
    await guard.ledger.announcements.add({ id: 'a1', version: 1, createdAt: clock.now(), about, tries: 0 })
    const announcement = {
      eventSource: 'aws:dynamodb',
      eventName: 'INSERT',
      dynamodb: {
        Keys: { pk: { S: 'announcement#a1' }, sk: { S: 'announcement' } },
        NewImage: { openAs: { S: 'announcement' } },
        SequenceNumber: '103',
      },
    }
    let isOver = false
    const told = product
      .startProcess()
      .tell({ Records: [recordOf(id, 1), recordOf(id, 2), announcement] }, product.endsAt())
      .finally(() => {
        isOver = true
      })
    await expect.poll(() => [product.slack.posted().length, working.received.length, held.length]).toEqual([1, 2, 8])
    expect(isOver).toBe(false)
    expect((await product.update({ kind: 'ranking', project: 'shop' })).status).toBe(201)
    for (const response of held) response.writeHead(500).end()
    expect(await told).toEqual({ batchItemFailures: [] })
    for (const name of five.slice(1)) expect((await statusOf(product, name)).waiting).toBe(2)
  })

  test('five slow targets delay no answer about an update, and each event is kept for each target', async () => {
    const slow = await startReceiver(() => {})
    const product = await started(targetsAt(slow.url), { stream: false, network: { withinMs: 1_500 } })
    const id = await run(product)
    const process = product.startProcess()
    const told = process.tell({ Records: [recordOf(id, 1), recordOf(id, 2)] }, product.endsAt())
    await expect.poll(() => slow.received.length).toBeGreaterThan(0)
    expect((await product.update({ kind: 'ranking', project: 'shop' })).body.updates[0].state).toBe('settled')
    expect(await told).toEqual({ batchItemFailures: [] })
    const waiting = await Promise.all(five.map(async (name) => (await statusOf(product, name)).waiting))
    expect(waiting).toEqual([2, 2, 2, 2, 2])
    expect(linesOf(product.logged, 'event-not-sent').map(({ reason }) => reason)).toContain('no answer in time')
    // The targets rest, so the next batch does not wait for them.
    const before = slow.received.length
    await process.tell({ Records: [recordOf(id, 2)] }, product.endsAt())
    expect(slow.received.length).toBe(before)
  })

  test('a target rests for a minute after a failed attempt, however many events come', async () => {
    const silent = await startReceiver((response) => response.socket?.destroy())
    const product = await started([targetAt(silent.url)], { stream: false })
    const id = await run(product)
    const { tell } = product.startProcess()
    const asked = async (version: number) => {
      await tell({ Records: [recordOf(id, version)] }, product.endsAt())
      return silent.received.length
    }
    expect(await asked(1)).toBe(1)
    product.clock.advance(59_999)
    expect(await asked(2)).toBe(1)
    product.clock.advance(1)
    expect(await asked(2)).toBe(2)
  })

  test.each<[string, Parameters<typeof startReceiver>[0], number]>([
    ['rest after an answer that took half of the time', (response) => void setTimeout(() => response.end(), 250), 1],
    ['do not rest after any quick answer', (response) => response.writeHead(500).end(), 2],
  ])('targets %s', async (_what, answer, asked) => {
    const receiver = await startReceiver(answer)
    const withinMs = asked === 1 ? 400 : patienceMs
    const product = await started([targetAt(receiver.url)], { stream: false, network: { withinMs } })
    const id = await run(product)
    const { tell } = product.startProcess()
    for (const version of [1, 2]) await tell({ Records: [recordOf(id, version)] }, product.endsAt())
    expect(receiver.received).toHaveLength(asked)
  })

  test('a sweep tries a dead target about three times, and the other targets get their events', async () => {
    const [dead, working] = [await startReceiver((response) => response.writeHead(500).end()), await startReceiver()]
    const product = await started(
      [
        targetAt(dead.url, { name: 'dead', secret: 'unit-guard/events/dead' }),
        targetAt(working.url, { types: ['update.settled'] }),
      ],
      { stream: false },
    )
    const id = await run(product)
    const createdAt = product.clock.now()
    const event = { kind: 'update', update: id, version: 2 } as const
    const waits = { version: 1, createdAt, event, tries: 0, nextAt: createdAt } as const
    for (const target of ['dead', 'warehouse']) {
      for (let each = 0; each < 30; each++)
        await deliveriesIn(product.guard.ledger).add({ ...waits, id: `${target}#${each}`, target })
    }
    await sweep(product)
    expect(working.received).toHaveLength(30)
    expect(dead.received.length).toBeGreaterThanOrEqual(3)
    expect(dead.received.length).toBeLessThan(8)
    expect([(await statusOf(product, 'dead')).waiting, (await statusOf(product)).waiting]).toEqual([30, 0])
  })
})

test('a delivery ends without a message if its target no longer wants the type', async () => {
  const receiver = await startReceiver()
  const product = await started([targetAt(receiver.url, { types: ['budget.*'] })], { stream: false })
  const id = await run(product)
  const createdAt = product.clock.now()
  await deliveriesIn(product.guard.ledger).add({
    id: 'warehouse#x',
    version: 1,
    createdAt,
    target: 'warehouse',
    tries: 1,
    nextAt: createdAt,
    event: { kind: 'update', update: id, version: 2 },
  })
  await sweep(product)
  expect([receiver.received, (await statusOf(product)).waiting]).toEqual([[], 0])
})
