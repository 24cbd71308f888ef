import { describe, expect, inject, test } from 'vitest'
import { createPassingClock, minutes, type TestClock } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import {
  createFaultyStore,
  type Fault,
  isHold,
  isSettle,
  itemsOf,
  type SentRequest,
} from '../../support/store/faulty-store.ts'

const hasDynamo = inject('dynamodb') !== null

const ask = { kind: 'ranking', project: 'acme.example' }
const key = { headers: { 'idempotency-key': 'once' } }

async function start(plans: readonly object[] = [], clock?: TestClock) {
  const faulty = await createFaultyStore(clock)
  const product = await startProduct({ stream: false, store: faulty.store, plans, ...(clock && { clock }) })
  await product.update({ kind: 'ranking', project: 'first-of-the-month' })
  faulty.requests.splice(0)
  return { product, faulty }
}

const mayBeWritten =
  'The answer of the ledger was lost, so the change may have been written. Nothing was sent to the service. With the same Idempotency-Key the request may be sent again and counts once. Without a key, check first whether the change was made.'

const all = (fault: Fault) => Array.from({ length: 40 }, () => fault)
/** More conflicts than the clock leaves time for. */
const conflicts = Array.from({ length: 5_000 }, (): Fault => 'conflict')

describe.skipIf(!hasDynamo)('requests to DynamoDB', () => {
  test('a guarded update makes two writes, of three and of two items, and one read', async () => {
    const { product, faulty } = await start()
    expect((await product.update(ask, key)).status).toBe(201)
    expect(faulty.requests.map((request) => `${request.command} ${itemsOf(request)}`)).toEqual([
      'BatchGetItem 0',
      'TransactWriteItems 3',
      'TransactWriteItems 2',
    ])
  })

  test('a repeat of done work costs one more read', async () => {
    const { product, faulty } = await start()
    await product.update(ask)
    product.clock.set('2026-11-21T10:00:00Z')
    await product.update({ kind: 'ranking', project: 'first-of-the-day' })
    faulty.requests.splice(0)
    expect((await product.update(ask)).status).toBe(201)
    expect(faulty.requests.map(({ command }) => command)).toEqual([
      'BatchGetItem',
      'BatchGetItem',
      'TransactWriteItems',
      'TransactWriteItems',
    ])
  })

  test('a gateway run is answered although the ledger cannot be read for the header figures', async () => {
    const { product, faulty } = await start()
    const isReadAfterIt = ({ command }: SentRequest) => command === 'BatchGetItem' && faulty.requests.some(isSettle)
    faulty.fail(isReadAfterIt, ...all('not-sent'))
    const { status, headers, body } = await product.call('GET', '/v3/on-demand/acme.example/run')
    expect([status, body]).toEqual([200, { response_code: 0, data: { keyword_units: 40 } }])
    expect(headers.get('unit-guard-units-charged')).toBe('40')
    expect(headers.get('unit-guard-units-available')).toBeNull()
  })

  test('a plan claims nothing false if the ledger fails after a run, and the sweep continues the plan', async () => {
    const night = { name: 'night', kind: 'ranking', projects: ['a', 'b'], schedule: 'cron(0 5 * * ? *)' }
    const { product, faulty } = await start([night])
    faulty.fail(() => faulty.requests.slice(0, -1).some(isSettle), ...all('not-sent'))
    const { status, body } = await product.call('POST', '/plans/night/run', { body: { time: '2026-11-20T10:00:00Z' } })
    expect([status, body.type, body.detail]).toEqual([
      503,
      '/problems/ledger-unavailable',
      'The ledger does not answer. The progress of this run is recorded, and the sweep continues it. You may send the same request again: nothing runs twice.',
    ])
    faulty.heal()
    product.clock.advance(minutes(10))
    await product.triggers.sweep(product.endsAt())
    const { rows } = await product.services.guard.ledger.updates({ plan: 'night' }, 10)
    expect(rows.map(({ project, state }) => [project, state]).toSorted()).toEqual([
      ['a', 'settled'],
      ['b', 'settled'],
    ])
    expect(product.seen('run')).toHaveLength(3)
  })

  test('the first update of a day or of a month needs one more request', async () => {
    const { product, faulty } = await start()
    for (const instant of ['2026-11-21T10:00:00Z', '2026-12-01T10:00:00Z']) {
      product.clock.set(instant)
      faulty.requests.splice(0)
      await product.update({ kind: 'ranking', project: instant })
      expect(faulty.requests.filter(({ command }) => command === 'TransactWriteItems')).toHaveLength(3)
    }
  })

  test('a replay, a duplicate and a refusal of an empty budget cost reads, and at most the write of the refusal', async () => {
    const { product, faulty } = await start()
    await product.call('PUT', '/budgets/none', { body: { limits: [{ window: 'month', units: 0 }] } })
    await product.update(ask, key)
    const commandsOf = async (body: object, how = {}) => {
      faulty.requests.splice(0)
      await product.update(body, how)
      return faulty.requests.map((request) => `${request.command} ${itemsOf(request)}`)
    }
    expect(await commandsOf(ask, key)).toEqual(['BatchGetItem 0', 'BatchGetItem 0'])
    expect(await commandsOf({ kind: 'ranking', project: 'x', budget: 'none' })).toEqual([
      'BatchGetItem 0',
      'TransactWriteItems 1',
    ])
  })
})

describe.skipIf(!hasDynamo)('hold + fence', () => {
  test.each<[string, Fault]>([
    ['hold: fails before any effect', 'not-sent'],
    ['hold: answer lost', 'answer-lost'],
    ['hold: answer lost, after its time', 'timeout'],
    ['hold: malformed', 'unknown-error'],
  ])('%s: the same transaction is sent again under the same token', async (_cell, fault) => {
    const { product, faulty } = await start()
    faulty.fail(isHold, fault)
    expect((await product.update(ask, key)).status).toBe(201)
    const holds = faulty.requests.filter(isHold)
    expect(holds).toHaveLength(2)
    expect(holds[0]?.input).toEqual(holds[1]?.input)
    expect(product.seen('run')).toHaveLength(2)
    expect(await product.figures()).toMatchObject({ spent: 80, held: 0 })
    expect(await product.audit()).toBe(true)
  })

  test.each<[string, Fault[]]>([
    ['hold: answer lost every time', all('answer-lost')],
    ['hold: answer lost, then conflicts until the time is over', ['answer-lost', ...conflicts]],
  ])('%s: the process finds its own hold, and continues once', async (_cell, faults) => {
    const { product, faulty } = await start([], createPassingClock())
    faulty.fail(isHold, ...faults)
    expect((await product.update(ask, key)).status).toBe(201)
    expect(product.seen('run')).toHaveLength(2)
    expect(await product.figures()).toMatchObject({ spent: 80, held: 0, inDoubt: 0 })
    expect(await product.audit()).toBe(true)
  })

  test('hold: fails before any effect every time: 503, nothing held, and the same key may try again', async () => {
    const { product, faulty } = await start()
    faulty.fail(isHold, ...all('not-sent'))
    const { status, body } = await product.update(ask, key)
    expect(status).toBe(503)
    expect(body).toMatchObject({ type: '/problems/ledger-unavailable' })
    expect(product.seen('run')).toHaveLength(1)
    faulty.heal()
    expect(await product.figures()).toMatchObject({ spent: 40, held: 0 })
    expect((await product.update(ask, key)).status).toBe(201)
  })

  test('hold: process dies: the applied hold of a dead process is put in doubt by the sweep, and never run', async () => {
    const { product, faulty } = await start()
    faulty.fail(isHold, ...all('answer-lost'))
    let holds = 0
    faulty.fail(
      (request) => {
        if (isHold(request)) holds += 1
        return request.command === 'BatchGetItem' && holds > 0
      },
      ...all('not-sent'),
    )
    const { status, body } = await product.update(ask, key)
    expect([status, body.detail]).toEqual([503, mayBeWritten])
    expect(product.seen('run')).toHaveLength(1)
    faulty.heal()
    expect((await product.update(ask, key)).status).toBe(409)
    product.clock.advance(minutes(1))
    const { doubted } = await (await product.guard.jobs()).sweep(product.clock.now() + minutes(2))
    expect(doubted).toHaveLength(1)
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures()).toMatchObject({ inDoubt: 40, spent: 40, held: 0 })
    expect(await product.audit()).toBe(true)
  })

  test.each<[Fault, string]>([
    ['conflict', 'undecided'],
    ['throttled', 'ledger-unavailable'],
  ])('hold: %s is retried until the time is over, and then 503 %s with nothing held', async (fault, slug) => {
    const { product, faulty } = await start([], createPassingClock())
    faulty.fail(isHold, fault, fault, fault)
    expect((await product.update(ask, key)).status).toBe(201)
    faulty.fail(isHold, ...Array.from({ length: 5_000 }, () => fault))
    const { status, body } = await product.update({ kind: 'ranking', project: 'other' })
    expect([status, body.type]).toEqual([503, `/problems/${slug}`])
    faulty.heal()
    expect(product.seen('run')).toHaveLength(2)
    expect(await product.figures()).toMatchObject({ spent: 80, held: 0 })
  })

  test('hold: delivered twice: two deliveries of the same request at once, one hold', async () => {
    const { product } = await start()
    const other = product.startProcess()
    const answers = await Promise.all([product.update(ask, key), product.update(ask, { ...key, process: other })])
    expect(product.seen('run')).toHaveLength(2)
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      expect.toSatisfy((status) => status === 201 || status === 409),
    ])
    expect(await product.figures()).toMatchObject({ spent: 80, held: 0 })
  })
})

describe.skipIf(!hasDynamo)('settle', () => {
  test.each<[string, Fault[]]>([
    ['settle: answer lost', ['answer-lost']],
    ['settle: answer lost every time', all('answer-lost')],
    ['two settlements that are not sent', ['not-sent', 'not-sent']],
    ['two conflicts of a settlement', ['conflict', 'conflict']],
    ['two throttled settlements', ['throttled', 'throttled']],
  ])('%s: the settlement is applied once', async (_cell, faults) => {
    const { product, faulty } = await start()
    faulty.fail(isSettle, ...faults)
    expect((await product.update(ask, key)).status).toBe(201)
    expect(await product.figures()).toMatchObject({ spent: 80, held: 0 })
    expect(await product.audit()).toBe(true)
  })

  test('settle: fails before any effect: the caller reads that the update ran, and the sweep settles it later', async () => {
    const { product, faulty } = await start()
    product.clock.sleep = async (ms) => product.clock.advance(ms)
    faulty.fail(isSettle, ...Array.from({ length: 400 }, () => 'not-sent' as const))
    const { status, body } = await product.update(ask, key)
    expect(status).toBe(202)
    expect(body.updates).toMatchObject([{ state: 'running', units: { held: 40, charged: null } }])
    faulty.heal()
    expect(await product.figures()).toMatchObject({ held: 40, spent: 40 })
    product.clock.advance(minutes(1))
    await (await product.guard.jobs()).sweep(product.clock.now() + minutes(2))
    expect(await product.figures()).toMatchObject({ held: 0, inDoubt: 40, spent: 40 })
    expect(product.seen('run')).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })
})

describe.skipIf(!hasDynamo)('an entry', () => {
  const grant = { body: { type: 'grant', units: 5, reason: 'more' } }

  test('an entry with a lost answer that cannot be read back is answered as perhaps written', async () => {
    const { product, faulty } = await start()
    const isWritten = () => faulty.requests.some(({ command }) => command === 'TransactWriteItems')
    faulty.fail(isWritten, ...all('answer-lost'))
    const { status, body } = await product.call('POST', '/budgets/account/entries', grant)
    expect([status, body.type, body.detail]).toEqual([503, '/problems/ledger-unavailable', mayBeWritten])
    faulty.heal()
    expect(await product.figures()).toMatchObject({ granted: 5 })
  })

  test.each<[string, Fault[]]>([
    ['every answer lost', all('answer-lost')],
    ['its answer lost and conflicts until the time is over', ['answer-lost', ...conflicts]],
  ])('an entry with %s is found and booked once', async (_what, faults) => {
    const { product, faulty } = await start([], createPassingClock())
    faulty.fail(({ command }) => command === 'TransactWriteItems', ...faults)
    expect((await product.call('POST', '/budgets/account/entries', grant)).status).toBe(201)
    faulty.heal()
    expect(await product.figures()).toMatchObject({ granted: 5 })
    expect(await product.audit()).toBe(true)
  })
})

describe.skipIf(!hasDynamo)('request, key', () => {
  test('request: fails before any effect: the ledger cannot be read: 503 without a request to the service', async () => {
    const { product, faulty } = await start()
    const calls = product.service.requests.length
    faulty.fail(({ command }) => command === 'BatchGetItem', ...all('not-sent'))
    const { status, body } = await product.update(ask, key)
    expect(status).toBe(503)
    expect(body).toMatchObject({ type: '/problems/ledger-unavailable' })
    expect(product.service.requests).toHaveLength(calls)
  })

  test('request: no permission: 500 with a fixed text, and the cause in the log', async () => {
    const { product, faulty } = await start()
    faulty.fail(({ command }) => command === 'BatchGetItem', 'access-denied')
    const { status, text } = await product.update(ask, key)
    expect(status).toBe(500)
    expect(text).not.toContain('AccessDenied')
    expect(product.logged.join()).toContain('AccessDeniedException')
  })
})
