import { describe, expect, inject, test } from 'vitest'
import { LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { minutes } from '../../support/clock.ts'
import { callerKey, json, type Product, serviceToken, startProduct } from '../../support/product.ts'
import { gate } from '../../support/scripted-service.ts'
import { createFaultyStore, isHold, type SentRequest } from '../../support/store/faulty-store.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { mortal } from '../../support/store/mortal-store.ts'

// The cells of the fault table that no other file tests; test/guard/faults/faults-table.test.ts finds all of them by their names.

const ask = { kind: 'ranking', project: 'acme.example' }
const key = { headers: { 'idempotency-key': 'once' } }
const nothing = { available: 50_000, held: 0, inDoubt: 0, spent: 0 }
const once = { available: 49_960, held: 0, inDoubt: 0, spent: 40 }

type Options = NonNullable<Parameters<typeof startProduct>[0]>
type Service = NonNullable<Options['service']>

/** A product whose process can be killed, and what another process finds: the same table, other memory. */
async function mortalProduct(options: Omit<Options, 'store'> = {}) {
  const { store, kill, heal } = mortal(createMemoryStore())
  const product = await startProduct({ ...options, store, stream: false })
  const die = () => kill(1)
  const restart = () => {
    heal()
    return product.startProcess()
  }
  return { product, kill, die, restart }
}

/** Its book is made, so that the next hold is its next write. */
const prepare = (product: Product) => product.update({ kind: 'ranking', project: 'first' })

const listed = async (product: Product) => (await product.call('GET', '/updates')).body.updates
const get = async (product: Product, id: string) => (await product.call('GET', `/updates/${id}`)).body
const sweep = async (product: Product, { services } = product as Pick<Product, 'services'>) =>
  services.guard.sweep(product.clock.now() + minutes(2))

describe('request', () => {
  test('request: process dies before anything is written: the next delivery finds nothing, and does it', async () => {
    const { product, die, restart } = await mortalProduct()
    await product.figures()
    die()
    expect((await product.update(ask, key)).status).toBe(500)
    const process = restart()
    expect(await listed(product)).toEqual([])
    expect((await product.update(ask, { ...key, process })).status).toBe(201)
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures()).toMatchObject(once)
  })

  test('request: process dies after it was recorded: the next delivery finds the record, and another process runs it', async () => {
    const { product, restart } = await mortalProduct()
    const queued = await product.update(ask, { headers: { ...key.headers, prefer: 'respond-async' } })
    expect(queued.body.updates).toMatchObject([{ state: 'requested' }])
    const process = restart()
    const again = await product.update(ask, { ...key, process })
    expect([again.status, again.body]).toEqual([202, queued.body])
    product.clock.advance(minutes(2))
    const [{ id }] = queued.body.updates
    expect((await sweep(product, process)).begun).toEqual([id])
    expect((await product.update(ask, { ...key, process })).body.updates).toMatchObject([{ id, state: 'settled' }])
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.audit()).toBe(true)
  })

  test('request: delivered twice at once, to two processes: one winner, the other 409 or the replay; other content 422', async () => {
    const product = await startProduct()
    const process = product.startProcess()
    const answers = await Promise.all([product.update(ask, key), product.update(ask, { ...key, process })])
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      expect.toSatisfy((status) => status === 201 || status === 409),
    ])
    expect((await product.update({ ...ask, maxUnits: 50 }, { ...key, process })).status).toBe(422)
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures()).toMatchObject(once)
  })

  /** Both have read the table before either has written: their estimates come at the same moment. */
  const atOnce = async (bodies: readonly [object, object]) => {
    const { opened, open } = gate()
    let asked = 0
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ url }) => {
        if (url.endsWith('/estimate') && ++asked === 2) open()
        if (url.endsWith('/estimate')) return { ...json({ units: 40 }), once: opened }
        return url.endsWith('/run') ? { ...json({}), delayMs: 20 } : undefined
      },
    })
    const processes = [product, product.startProcess()]
    const answers = await Promise.all(
      bodies.map((body, index) => product.update(body, { ...key, process: processes[index] ?? product })),
    )
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures()).toMatchObject(once)
    return answers.sort((one, other) => one.status - other.status)
  }

  test('request: delivered twice, and the other one is faster by a hair: 409 that names what is running', async () => {
    const [won, lost] = await atOnce([ask, ask])
    expect(won?.body.updates).toMatchObject([{ state: 'settled' }])
    expect(lost).toMatchObject({
      status: 409,
      body: { type: '/problems/in-progress', update: won?.body.updates[0].id, updates: [{ state: 'running' }] },
    })
  })

  test('request: delivered twice with other content, and the other one is faster by a hair: 422', async () => {
    const [won, lost] = await atOnce([ask, { ...ask, maxUnits: 50 }])
    expect(won?.body.updates).toMatchObject([{ state: 'settled' }])
    expect(lost).toMatchObject({ status: 422, body: { type: '/problems/key-reused' } })
    expect(lost?.body.updates).toBeUndefined()
  })
})

describe('token check', () => {
  test('token check: process dies: nothing has happened', async () => {
    const secrets = {
      'unit-guard/service-token': serviceToken,
      get 'unit-guard/caller-key'() {
        die()
        return callerKey
      },
    }
    const { product, die, restart } = await mortalProduct({ secrets })
    expect((await product.update(ask, key)).status).toBe(500)
    expect(product.service.requests).toEqual([])
    restart()
    expect(await listed(product)).toEqual([])
    expect(await product.figures()).toMatchObject(nothing)
  })

  test('token check: delivered twice: the same answer, and nothing touched', async () => {
    const product = await startProduct({ store: createMemoryStore() })
    const token = product.signed({ sub: 'eve', scope: 'run', exp: 1 })
    const answers = await Promise.all([1, 2, 3].map(() => product.update(ask, { token })))
    const [first, ...others] = answers.map(({ status, body: { requestId: _own, ...body } }) => ({ status, body }))
    expect(first?.status).toBe(401)
    for (const other of others) expect(other).toEqual(first)
    expect(product.service.requests).toEqual([])
    expect(await listed(product)).toEqual([])
  })
})

describe('secret', () => {
  const dyingSecrets = (die: () => void) => ({
    'unit-guard/caller-key': callerKey,
    get 'unit-guard/service-token'() {
      die()
      return serviceToken
    },
  })

  test('secret: process dies: nothing has happened', async () => {
    const { product, die, restart } = await mortalProduct({ secrets: dyingSecrets(() => die()) })
    expect((await product.update(ask, key)).status).toBe(500)
    restart()
    expect(product.seen('run')).toEqual([])
    expect(await listed(product)).toEqual([])
    expect(await product.figures()).toMatchObject(nothing)
  })

  test.each(['', 'two words', 'a\nb'])('secret: malformed, %j: 503, an alarm, never sent', async (value) => {
    const secrets = { 'unit-guard/caller-key': callerKey, 'unit-guard/service-token': value }
    const product = await startProduct({ store: createMemoryStore(), secrets })
    const { status, body } = await product.update(ask, key)
    expect([status, body.type]).toEqual([503, '/problems/secret-unavailable'])
    const alarms = product.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error')
    expect(alarms[0]).toMatchObject({ event: 'secret-unavailable', secret: 'unit-guard/service-token' })
    expect(product.service.requests).toEqual([])
    expect(await product.figures()).toMatchObject(nothing)
  })
})

describe('estimate', () => {
  const during =
    (answer: () => ReturnType<Service>): Service =>
    ({ url }) =>
      url.endsWith('/estimate') ? answer() : undefined

  test('estimate: answer lost: it is free, and asked for once more', async () => {
    let asked = 0
    const service = during(() => (++asked === 1 ? { kind: 'reset' } : undefined))
    const product = await startProduct({ store: createMemoryStore(), service })
    expect((await product.update(ask, key)).status).toBe(201)
    expect([asked, product.seen('run').length]).toEqual([2, 1])
    expect(await product.figures()).toMatchObject(once)
  })

  test('estimate: process dies: nothing is held, and the next delivery does it all', async () => {
    let isFirst = true
    const service = during(() => {
      if (isFirst) die()
      isFirst = false
      return undefined
    })
    const { product, die, restart } = await mortalProduct({ service })
    expect((await product.update(ask, key)).status).toBe(500)
    const process = restart()
    expect(await product.figures()).toMatchObject(nothing)
    expect(product.seen('run')).toEqual([])
    expect((await product.update(ask, { ...key, process })).status).toBe(201)
    expect(product.seen('run')).toHaveLength(1)
  })

  test('estimate: slow: bounded, then no run and nothing recorded', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      env: { SERVICE_TIMEOUT_MS: '100' },
      service: during(() => ({ kind: 'hang' })),
    })
    const { status, body } = await product.update(ask, key)
    expect([status, body.type]).toEqual([502, '/problems/service-unreachable'])
    expect([product.seen('run'), await listed(product)]).toEqual([[], []])
    expect(await product.figures()).toMatchObject(nothing)
  })

  test('estimate: malformed: unreadable, so no run; the answer shows its shape without its values', async () => {
    const service = during(() => json({ units: 'about 40', note: 'personal' }))
    const product = await startProduct({ store: createMemoryStore(), service })
    const { status, body, text } = await product.update(ask, key)
    expect([status, body.type, body.shape]).toEqual([
      502,
      '/problems/estimate-unreadable',
      '{"units": string, "note": string}',
    ])
    expect(text).not.toContain('personal')
    expect([product.seen('run'), await listed(product)]).toEqual([[], []])
  })
})

test('dates: delivered twice: harmless, the same dates are the same advice', async () => {
  const product = await startProduct({ store: createMemoryStore(), service: twiceTheDates })
  expect((await product.update(ask, key)).status).toBe(201)
  expect(product.seen('run')).toHaveLength(1)
  expect(await product.figures()).toMatchObject(once)
})

const twiceTheDates: Service = ({ url }) =>
  url.endsWith('/dates') ? json({ dates: ['2026-11-13', '2026-11-13', '2026-10-16'] }) : undefined

describe('hold', () => {
  test('hold: slow: its time counts against the deadline; where none is left, run is not sent and the units come back', async () => {
    const inner = createMemoryStore()
    const store: Store = {
      ...inner,
      transact: (writes, token) => {
        if (writes.length === 3) product.clock.advance(5_000)
        return inner.transact(writes, token)
      },
    }
    const product: Product = await startProduct({ store, stream: false, env: { SERVICE_TIMEOUT_MS: '5000' } })
    const { status, body } = await product.update(ask, key)
    expect(status).toBe(502)
    expect(body.updates).toMatchObject([{ state: 'released', units: { held: 40, charged: 0 } }])
    expect(product.seen('run')).toEqual([])
    expect(await product.figures()).toMatchObject(nothing)
  })

  test.skipIf(inject('dynamodb') === null)(
    'hold: malformed: an error of an unknown name is a lost answer: the same transaction, the same token',
    async () => {
      const { store, requests, fail } = await createFaultyStore()
      const product = await startProduct({ stream: false, store })
      await prepare(product)
      requests.splice(0)
      fail(isHold, 'unknown-error', 'unknown-error')
      expect((await product.update(ask, key)).status).toBe(201)
      const tokens = requests.filter(isHold).map(({ input }) => input.ClientRequestToken)
      expect([tokens.length, new Set(tokens).size]).toEqual([3, 1])
      expect(product.seen('run')).toHaveLength(2)
      expect(await product.audit()).toBe(true)
    },
  )
})

describe('settle', () => {
  test('settle: process dies: running, in doubt by the sweep, settled by evidence', async () => {
    let dates = ['2026-11-13']
    const { product, kill, restart } = await mortalProduct({
      service: ({ url }) => (url.endsWith('/dates') ? json({ dates }) : undefined),
    })
    await prepare(product)
    kill(2) // the hold is the last write that it lives to see
    await product.update(ask, key)
    const process = restart()
    expect(product.seen('run')).toHaveLength(2)
    const [{ id }] = (await product.call('GET', '/updates?state=running')).body.updates
    product.clock.advance(minutes(10))
    expect((await sweep(product, process)).doubted).toEqual([id])
    expect(await product.figures()).toMatchObject({ held: 0, inDoubt: 40, spent: 40 })
    dates = ['2026-11-13', '2026-11-20']
    product.clock.advance(minutes(10))
    expect((await sweep(product, process)).proven).toEqual([id])
    expect(await get(product, id)).toMatchObject({ state: 'settled', units: { held: 40, charged: 40 } })
    expect(product.seen('run')).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })

  test('settle: slow: it fits into the margin that was kept back before run was sent', async () => {
    const inner = createMemoryStore()
    let slowOnes = 3
    const isSettle = (writes: Parameters<Store['transact']>[0]) =>
      writes.some((write) => write.kind === 'put' && write.item.state === 'settled')
    const store: Store = {
      ...inner,
      transact: async (writes, token) => {
        if (!isSettle(writes) || slowOnes-- <= 0) return inner.transact(writes, token)
        product.clock.advance(3_000)
        throw new LedgerUnavailable('slow')
      },
    }
    const product: Product = await startProduct({ store, stream: false })
    product.clock.sleep = async (ms) => product.clock.advance(ms)
    const { status, body } = await product.update(ask, key)
    expect([status, body.updates[0].state]).toEqual([201, 'settled'])
    expect(await product.figures()).toMatchObject(once)
    expect(await product.audit()).toBe(true)
  })

  test('settle: malformed: a negative figure books the hold, and raises an alarm', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      env: { RUN_POINTER_RANKING: '/real' },
      service: ({ url }) => (url.endsWith('/run') ? json({ real: -5 }) : undefined),
    })
    expect((await product.update(ask)).body.updates).toMatchObject([{ state: 'settled', units: { charged: 40 } }])
    const alarms = product.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error')
    expect(alarms).toMatchObject([{ event: 'impossible-units', stated: -5 }])
    expect(await product.figures()).toMatchObject(once)
  })
})

describe('sweep', () => {
  const projects = ['a', 'b', 'c']

  /** Three updates whose sender died between their hold and their settlement, past their lease. */
  async function threeLeft() {
    const { product, kill, restart } = await mortalProduct()
    await prepare(product)
    for (const project of projects) {
      kill(2)
      await product.update({ kind: 'ranking', project })
      restart()
    }
    product.clock.advance(minutes(1))
    return { product, kill, restart }
  }

  test('sweep: process dies at any of its writes: the next round finishes', async () => {
    for (let write = 1; write <= projects.length; write++) {
      const { product, kill, restart } = await threeLeft()
      kill(write)
      await sweep(product).catch(() => {})
      const { doubted } = await sweep(product, restart())
      expect(doubted).toHaveLength(projects.length - (write - 1))
      expect(await product.figures()).toMatchObject({ held: 0, inDoubt: 120, spent: 40 })
      expect(await product.audit()).toBe(true)
    }
  })

  test('sweep: delivered twice at once: each update is put in doubt once', async () => {
    const { product, restart } = await threeLeft()
    await Promise.all([sweep(product), sweep(product, restart())])
    const { updates } = (await product.call('GET', '/updates?state=in-doubt')).body
    const states = updates.map(({ history }: { history: { state: string }[] }) => history.map(({ state }) => state))
    expect(states).toEqual([1, 2, 3].map(() => ['running', 'in-doubt']))
    expect(await product.figures()).toMatchObject({ held: 0, inDoubt: 120, spent: 40 })
    expect(await product.audit()).toBe(true)
  })

  test.skipIf(inject('dynamodb') === null)(
    'sweep: answer lost: its write is conditional, and counts once',
    async () => {
      const { store, fail } = await createFaultyStore()
      const product = await startProduct({
        stream: false,
        store,
        service: ({ url }) => (url.endsWith('/run') ? { status: 500 } : undefined),
      })
      const [{ id }] = (await product.update(ask)).body.updates
      product.clock.advance(minutes(7 * 24 * 60))
      fail(isSettling, 'answer-lost', 'answer-lost')
      expect((await sweep(product)).settledByTime).toEqual([id])
      expect((await sweep(product)).settledByTime).toEqual([])
      expect(await get(product, id)).toMatchObject({ state: 'settled', units: { held: 40, charged: 40 } })
      const { body } = await product.call('GET', '/audit')
      expect(body.ok).toBe(true)
      expect(product.seen('run')).toHaveLength(1)
    },
  )

  const isSettling = ({ command, input }: SentRequest) =>
    command === 'TransactWriteItems' && JSON.stringify(input).includes('"settled"')
})
