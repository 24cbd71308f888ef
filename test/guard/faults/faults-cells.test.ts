import { describe, expect, inject, test } from 'vitest'
import { minutes } from '../../support/clock.ts'
import { callerKey, type Product, serviceToken, startProduct } from '../../support/product.ts'
import { createFaultyStore, type SentRequest } from '../../support/store/faulty-store.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { mortal } from '../../support/store/mortal-store.ts'

// The cells of the fault table that no other file tests. test/guard/faults/faults-table.test.ts finds every cell by its name.

const ask = { kind: 'ranking', project: 'acme.example' }
const key = { headers: { 'idempotency-key': 'once' } }
const nothing = { available: 50_000, held: 0, inDoubt: 0, spent: 0 }
const once = { available: 49_960, held: 0, inDoubt: 0, spent: 40 }

type Options = NonNullable<Parameters<typeof startProduct>[0]>

/** A product with a process that the test can kill, and another process on the same table with its own memory. */
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

const listed = async (product: Product) => (await product.call('GET', '/updates')).body.updates
const get = async (product: Product, id: string) => (await product.call('GET', `/updates/${id}`)).body
const sweep = async (product: Product, { services } = product as Pick<Product, 'services'>) =>
  (await services.guard.jobs()).sweep(product.clock.now() + minutes(2))

describe('request', () => {
  test('request: process dies before its first write: the next delivery finds nothing and does everything', async () => {
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

  test('request: process dies after the request was recorded: the next delivery finds the request, and another process runs it', async () => {
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
})

/** Kills the process during this step, before it holds anything. */
const steps: readonly (readonly [cell: string, dying: (die: () => void) => Omit<Options, 'store'>])[] = [
  [
    'token check: process dies',
    (die) => ({
      secrets: {
        'unit-guard/service-token': serviceToken,
        get 'unit-guard/caller-key'() {
          die()
          return callerKey
        },
      },
    }),
  ],
  [
    'secret: process dies',
    (die) => ({
      secrets: {
        'unit-guard/caller-key': callerKey,
        get 'unit-guard/service-token'() {
          die()
          return serviceToken
        },
      },
    }),
  ],
  [
    'estimate: process dies',
    (die) => ({
      service: ({ url }) => {
        if (url.endsWith('/estimate')) die()
        return undefined
      },
    }),
  ],
]

test.each(steps)('%s: nothing is held, and the next delivery does everything', async (_cell, dying) => {
  let isFirst = true
  const { product, die, restart } = await mortalProduct(
    dying(() => {
      if (isFirst) die()
      isFirst = false
    }),
  )
  expect((await product.update(ask, key)).status).toBe(500)
  const process = restart()
  expect([await listed(product), product.seen('run')]).toEqual([[], []])
  expect(await product.figures()).toMatchObject(nothing)
  expect((await product.update(ask, { ...key, process })).status).toBe(201)
  expect(product.seen('run')).toHaveLength(1)
})

test('token check: delivered twice: the same answer, and nothing is written', async () => {
  const product = await startProduct({ store: createMemoryStore() })
  const token = product.signed({ sub: 'eve', scope: 'run', exp: 1 })
  const answers = await Promise.all([1, 2, 3].map(() => product.update(ask, { token })))
  const [first, ...others] = answers.map(({ status, body: { requestId: _own, ...body } }) => ({ status, body }))
  expect(first?.status).toBe(401)
  for (const other of others) expect(other).toEqual(first)
  expect(product.service.requests).toEqual([])
  expect(await listed(product)).toEqual([])
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

test('estimate: answer lost: the guard asks for the free estimate once more', async () => {
  let asked = 0
  const product = await startProduct({
    store: createMemoryStore(),
    service: ({ url }) => (url.endsWith('/estimate') && ++asked === 1 ? { kind: 'reset' } : undefined),
  })
  expect((await product.update(ask, key)).status).toBe(201)
  expect([asked, product.seen('run').length]).toEqual([2, 1])
  expect(await product.figures()).toMatchObject(once)
})

describe('sweep', () => {
  const projects = ['a', 'b', 'c']

  /** Three updates past their lease, whose sender died between the hold and the settlement. */
  async function threeLeft() {
    const { product, kill, restart } = await mortalProduct()
    // This makes the book, so that the next hold is the next write.
    await product.update({ kind: 'ranking', project: 'first' })
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
