import { describe, expect, test } from 'vitest'
import { mayFetch } from '../../../shared/auth/issuer-keys.ts'
import { issuerKeys } from '../../../shared/auth/stored-keys.ts'
import { LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import { type Item, keyOf, type Store } from '../../../shared/ledger/store/store.ts'
import { createTestClock, hours, minutes } from '../../support/clock.ts'
import { linesOf } from '../../support/log-lines.ts'
import { startProduct } from '../../support/product.ts'
import { type Provider, startProvider } from '../../support/provider.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const discovery = '/.well-known/openid-configuration'

/** The product, the writes of keys, and a table that fails for keys while `table.fails`. */
async function start(options: { entry?: object; withinMs?: number } = {}) {
  const clock = createTestClock()
  const provider = await startProvider({ clock })
  const items = new Map<string, Item>()
  const real = createMemoryStore(items)
  const table = { fails: false, failsToWrite: false, writes: 0 }
  const isOfKeys = ({ pk }: { pk: string }) => pk.startsWith('issuer-keys#')
  const store: Store = {
    ...real,
    get: async (keys) => {
      if (table.fails && keys.some(isOfKeys)) throw new LedgerUnavailable('the table is away')
      return real.get(keys)
    },
    transact: async (writes, ...rest) => {
      const isOurs = writes.some((write) => isOfKeys(keyOf(write)))
      if (isOurs && table.failsToWrite) throw new LedgerUnavailable('the table takes nothing')
      if (isOurs) table.writes++
      return real.transact(writes, ...rest)
    },
  }
  const own = options.withinMs === undefined ? {} : { issuersWithinMs: options.withinMs }
  const product = await startProduct({ store, clock, issuers: [provider.entry(options.entry)], ...own })
  const token = () => provider.sign({ groups: ['seo'], jti: String(Math.random()) })
  const read = async (given: Promise<string> | string = token(), process?: ReturnType<typeof product.startProcess>) =>
    (await product.call('GET', '/budgets', { token: given, ...(process && { process }) })).status
  const stored = () => [...items.values()].filter(isOfKeys)
  return { clock, provider, product, table, token, read, stored, lines: () => linesOf(product.logged) }
}

describe('keys of an issuer', () => {
  test('200 simultaneous first requests fetch the keys once in each process', async () => {
    const { provider, product, token, read, table } = await start()
    const tokens = await Promise.all(Array.from({ length: 200 }, token))
    const answers = await Promise.all(tokens.map((each) => read(each)))
    expect(new Set(answers)).toEqual(new Set([200]))
    expect([provider.asked(discovery), provider.asked('/keys'), table.writes]).toEqual([1, 1, 1])
    const process = product.startProcess()
    await Promise.all(tokens.map((each) => read(each, process)))
    expect([provider.asked(discovery), provider.asked('/keys'), table.writes]).toEqual([2, 2, 1])
  })

  test('keys are rotated without a failed request', async () => {
    const { clock, provider, read, token } = await start()
    expect(await read()).toBe(200)
    for (let round = 0; round < 3; round++) {
      const before = token()
      await provider.rotate()
      expect([await read(), await read(before)]).toEqual([200, 200])
      clock.advance(minutes(1))
    }
    const old = await token()
    await provider.rotate({ keeps: false })
    expect(await read()).toBe(200)
    expect(await read(old)).toBe(401)
  })

  test('a key that was withdrawn is refused within ten minutes', async () => {
    const { clock, provider, read, token } = await start()
    expect(await read()).toBe(200)
    const old = token()
    await provider.rotate({ keeps: false })
    clock.advance(minutes(10) - 1)
    expect(await read(old)).toBe(200)
    clock.advance(minutes(1))
    expect(await read(old)).toBe(401)
  })

  test('a first token with an unknown key id fetches the keys once', async () => {
    const { provider, read } = await start()
    expect(await read(provider.sign({ groups: ['seo'] }, {}, await provider.newKey('k9')))).toBe(401)
    expect(provider.asked('/keys')).toBe(1)
  })

  test('unknown key ids fetch the keys once in 30 seconds', async () => {
    const { clock, provider, read } = await start()
    const foreign = await provider.newKey('k9')
    const unknown = () => provider.sign({ groups: ['seo'], jti: String(Math.random()) }, {}, foreign)
    expect(await read()).toBe(200)
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(Array.from({ length: 20 }, async () => read(unknown())))
      expect(new Set(answers)).toEqual(new Set([401]))
      clock.advance(10_000)
    }
    expect(provider.asked('/keys')).toBe(2)
    clock.advance(10_000)
    await read(unknown())
    expect(provider.asked('/keys')).toBe(3)
    expect(await read()).toBe(200)
  })

  test('the table stores public keys only, when they change or after five minutes', async () => {
    const { clock, provider, product, read, stored, table } = await start()
    const secret = { kty: 'oct', k: 'c2VjcmV0', kid: 's' }
    const [first] = provider.state.keys
    const body = { keys: [{ ...first?.jwk, x5c: ['AAAA'] }, { ...first?.jwk, kid: 'leaked', d: 'AAAA' }, secret, 7] }
    provider.state.answers['/keys'] = { body }
    expect(await read()).toBe(200)
    const [item] = stored()
    expect(item).toMatchObject({ name: 'okta', issuer: provider.issuer, fetchedAt: clock.now() })
    expect(JSON.parse(String(item?.jwks))).toEqual({ keys: [first?.jwk] })
    for (let request = 0; request < 5; request++) await read()
    await read(undefined, product.startProcess())
    expect(table.writes).toBe(1)
    provider.state.answers = {}
    clock.advance(1_000)
    await provider.rotate()
    await read()
    expect(table.writes).toBe(2)
    clock.advance(minutes(11))
    await read()
    expect(table.writes).toBe(3)
  })
})

describe('an issuer that does not answer', () => {
  const redirect = { status: 302, headers: { location: '/elsewhere' } }
  const unavailable = {
    type: '/problems/identity-unavailable',
    title: 'The issuer of the token does not answer',
    status: 503,
    detail:
      'The issuer of the token does not answer, and its keys are not known here. Nothing was sent or spent. You may send the same request again.',
    requestId: expect.any(String),
  }

  test.each<[string, (provider: Provider) => void]>([
    ['it answers 500', becomes({ way: 'error' })],
    ['it closes the connection', becomes({ way: 'reset' })],
    ['it hangs', becomes({ way: 'hang' })],
    ['discovery is redirected', becomes({ answers: { [discovery]: redirect } })],
    ['the keys are redirected', becomes({ answers: { '/keys': redirect } })],
    ['discovery names another issuer', (provider) => names(provider, { issuer: `${provider.issuer}/` })],
    ['discovery names no issuer', (provider) => names(provider, { issuer: undefined })],
    ['the keys are elsewhere by http', (provider) => names(provider, { jwks_uri: 'http://keys.example/keys' })],
    ['the keys are a file', (provider) => names(provider, { jwks_uri: 'file:///etc/passwd' })],
    ['the address of the keys has a password', (provider) => names(provider, { jwks_uri: 'https://a:b@keys.example' })],
    ['the address of the keys is missing', (provider) => names(provider, { jwks_uri: undefined })],
    ['the keys are larger than 256 KB', keysAre(`{"keys":[],"more":"${'x'.repeat(256 * 1024)}"}`)],
    ['the keys are not JSON', keysAre('<html>')],
    ['the keys name a member twice', keysAre('{"keys":[],"keys":[]}')],
    ['the keys are not a list', keysAre({ keys: {} })],
    ['the keys are not an object', keysAre([])],
  ])('a token of a silent issuer is 503 with one alarm, and is retried soon: %s', async (_name, breakIt) => {
    const { clock, provider, product, read, token, lines } = await start({ withinMs: 300 })
    breakIt(provider)
    const refused = await product.update({ kind: 'ranking', project: 'acme' }, { token: token() })
    expect(refused.body).toEqual(unavailable)
    const asked = provider.requests.length
    expect(await read()).toBe(503)
    expect(provider.requests).toHaveLength(asked)
    expect(product.service.requests).toEqual([])
    const alarms = lines().filter(({ event }) => event === 'issuer-unavailable')
    expect(alarms).toMatchObject([{ level: 'error', issuer: 'okta', keysOf: null }])
    Object.assign(provider.state, { way: 'answer', answers: {} })
    clock.advance(5_000)
    expect(await read()).toBe(200)
    expect(provider.requests.filter((each) => each.includes('/elsewhere'))).toEqual([])
  })

  test('a flood of forged tokens of an issuer logs one error in ten minutes', async () => {
    const { clock, provider, product, read, lines } = await start()
    provider.state.way = 'reset'
    const foreign = await provider.newKey('k9')
    const forged = () => provider.sign({ groups: ['seo'], jti: String(Math.random()) }, {}, foreign)
    const errors = () =>
      lines()
        .filter(({ level }) => level === 'error')
        .map(({ event }) => event)
    const flood = async () => {
      for (let second = 0; second < 20; second++) {
        expect(await Promise.all([read(forged()), read(forged())])).toEqual([503, 503])
        clock.advance(1_000)
      }
    }
    await flood()
    expect(errors()).toEqual(['issuer-unavailable'])
    expect(lines().filter(({ event, status }) => event === 'request' && status === 503)).toHaveLength(40)
    clock.advance(minutes(10))
    await flood()
    expect(errors()).toEqual(['issuer-unavailable', 'issuer-unavailable'])
    expect(product.service.requests).toEqual([])
  })

  function becomes(own: Partial<Provider['state']>) {
    return ({ state }: Provider) => void Object.assign(state, own)
  }

  function keysAre(body: unknown) {
    return becomes({ answers: { '/keys': { body } } })
  }

  function names(provider: Provider, own: object) {
    const { issuer } = provider
    becomes({ answers: { [discovery]: { body: { issuer, jwks_uri: `${issuer}/keys`, ...own } } } })(provider)
  }

  test('an outage of 24 hours with a cold start fails no request with a known key', async () => {
    const { clock, provider, product, read, lines } = await start()
    expect(await read()).toBe(200)
    provider.state.way = 'reset'
    const foreign = await provider.newKey('k9')
    let cold = product.startProcess()
    for (let hour = 0; hour < 23; hour++) {
      clock.advance(hours(1))
      if (hour === 12) cold = product.startProcess()
      expect([await read(), await read(undefined, cold)]).toEqual([200, 200])
    }
    expect(await read(provider.sign({ groups: ['seo'] }, {}, foreign), cold)).toBe(401)
    expect(lines().find(({ event }) => event === 'issuer-unavailable')).toMatchObject({
      keysOf: '2026-11-20T10:00:00.000Z',
    })
    clock.advance(hours(1) - 1)
    expect([await read(), await read(undefined, cold)]).toEqual([200, 200])
    clock.advance(1)
    expect([await read(), await read(undefined, cold), await read(undefined, product.startProcess())]).toEqual([
      503, 503, 503,
    ])
    provider.state.way = 'answer'
    clock.advance(5_000)
    expect([await read(), await read(undefined, cold)]).toEqual([200, 200])
  })

  test('one request in 30 seconds waits for an issuer that hangs', async () => {
    const { clock, provider, read } = await start({ withinMs: 300 })
    expect(await read()).toBe(200)
    provider.state.way = 'hang'
    clock.advance(minutes(11))
    const asked = provider.requests.length
    expect(await Promise.all([read(), read(), read()])).toEqual([200, 200, 200])
    expect(await read()).toBe(200)
    expect(provider.requests.length - asked).toBe(1)
    clock.advance(30_000)
    expect(await read()).toBe(200)
    expect(provider.requests.length - asked).toBe(2)
  })

  test('one failed fetch raises no alarm', async () => {
    const { clock, provider, read, lines } = await start()
    expect(await read()).toBe(200)
    provider.state.way = 'error'
    clock.advance(minutes(11))
    expect(await read()).toBe(200)
    expect(lines().filter(({ level }) => level === 'error')).toEqual([])
  })

  test('older keys in the table do not replace newer ones of the process', async () => {
    const { clock, provider, read, table } = await start()
    expect(await read()).toBe(200)
    await provider.rotate({ keeps: false })
    table.failsToWrite = true
    clock.advance(minutes(11))
    expect(await read()).toBe(200)
    provider.state.way = 'error'
    clock.advance(minutes(11))
    expect(await read()).toBe(200)
  })

  test('a process uses newer keys of another process if its own fetch fails', async () => {
    const { clock, provider, product, read } = await start()
    expect(await read()).toBe(200)
    await provider.rotate({ keeps: false })
    clock.advance(1)
    expect(await read(undefined, product.startProcess())).toBe(200)
    provider.state.way = 'error'
    clock.advance(minutes(11))
    expect(await read()).toBe(200)
  })
})

describe('the name of an issuer', () => {
  test('a name that another issuer used before is refused, with one alarm', async () => {
    const { clock, provider, product, read, lines } = await start()
    await product.guard.ledger.item(issuerKeys).keep({
      name: 'okta',
      issuer: 'https://earlier.example',
      jwks: '{"keys":[]}',
      fetchedAt: clock.now(),
    })
    expect([await read(), await read()]).toEqual([401, 401])
    expect(lines().filter(({ level }) => level === 'error')).toMatchObject([
      { event: 'issuer-renamed', issuer: 'okta', url: provider.issuer, earlierUrl: 'https://earlier.example' },
    ])
    clock.advance(hours(1))
    expect(await read()).toBe(401)
  })

  test('the first verified token takes the name, not a request for keys', async () => {
    const { provider, product, read, stored } = await start()
    const foreign = await provider.newKey('k1')
    expect(await read(provider.sign({ groups: ['seo'] }, {}, foreign))).toBe(401)
    expect([provider.asked('/keys'), stored()]).toEqual([1, []])
    expect(await read()).toBe(200)
    expect(await product.guard.ledger.item(issuerKeys).read('okta')).toMatchObject({ issuer: provider.issuer })
  })

  test('a name is refused if another issuer took it after the keys were fetched', async () => {
    const { clock, provider, product, read } = await start()
    expect(await read(provider.sign({ groups: ['seo'] }, {}, await provider.newKey('k1')))).toBe(401)
    const other = { name: 'okta', issuer: 'https://other.example', jwks: '{"keys":[]}', fetchedAt: clock.now() }
    expect(await product.guard.ledger.item(issuerKeys).keep(other)).toBe('kept')
    expect(await read()).toBe(401)
  })

  test('only one of two processes with different files gets the name', async () => {
    const { clock, product } = await start()
    const keep = (issuer: string, fetchedAt = clock.now()) =>
      product.guard.ledger.item(issuerKeys).keep({ name: 'okta', issuer, jwks: issuer, fetchedAt })
    const came = await Promise.all([keep('https://a.example'), keep('https://b.example')])
    expect(came.toSorted()).toEqual(['kept', 'other-issuer'])
    const { issuer = '' } = (await product.guard.ledger.item(issuerKeys).read('okta')) ?? {}
    expect(await keep(issuer, clock.now() - 1)).toBe('kept')
    expect(await product.guard.ledger.item(issuerKeys).read('okta')).toMatchObject({ fetchedAt: clock.now() })
  })

  test('a new name is 503 if it cannot be stored, but newer keys of a known name may wait', async () => {
    const { clock, read, table } = await start()
    table.failsToWrite = true
    expect(await read()).toBe(503)
    table.failsToWrite = false
    expect(await read()).toBe(200)
    table.failsToWrite = true
    clock.advance(minutes(11))
    expect(await read()).toBe(200)
    table.failsToWrite = false
    expect([await read(), table.writes]).toEqual([200, 2])
  })

  test('while the table fails, a new name is 503 and a known one works', async () => {
    const { clock, read, table } = await start()
    table.fails = true
    expect(await read()).toBe(503)
    table.fails = false
    expect(await read()).toBe(200)
    table.fails = true
    clock.advance(minutes(11))
    expect(await read()).toBe(200)
  })
})

test.each([
  ['https://okta.example', 'https://okta.example/keys', true],
  ['https://okta.example', 'https://keys.example/keys', true],
  ['https://okta.example', 'http://okta.example/keys', false],
  ['https://okta.example', 'http://127.0.0.1/keys', false],
  ['https://okta.example', 'https://me:word@okta.example/keys', false],
  ['https://okta.example', 'file:///keys', false],
  ['http://127.0.0.1:1', 'http://127.0.0.1:2/keys', true],
  ['http://127.0.0.1:1', 'http://okta.example/keys', false],
])('the keys of issuer %s may be at %s: %s', (issuer, at, may) => {
  expect(mayFetch(at, { issuer })).toBe(may)
})
