import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { getRequestListener } from '@hono/node-server'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTokens, type TokenCheck } from '../../../shared/auth/tokens.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import type { TokenFault } from '../../../shared/platform/words.ts'
import { createTestClock, minutes } from '../../support/clock.ts'
import { linesOf } from '../../support/log-lines.ts'
import { callerKey, type Product, serviceToken, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// The API admits the right callers, limits what they may do, and shows no secret.

const now = Date.parse('2026-11-20T10:00:00Z') / 1000
const days366 = 366 * 24 * 3600
const newKey = 'canary-new-key-0123456789abcdefghijklmnopqrs'
const newestKey = 'canary-newest-key-0123456789abcdefghijklmnop'
const secrets = [serviceToken, callerKey, newKey, newestKey]

const watched: { answers: string[]; logged: string[]; items: string[] }[] = []

/** The product, with all its output kept: answers, log lines and writes to the table. */
async function start(options: Parameters<typeof startProduct>[0] = {}) {
  const real = createMemoryStore()
  const items: string[] = []
  let touched = 0
  const touching =
    <Args extends unknown[], Result>(act: (...args: Args) => Result) =>
    (...args: Args) => {
      touched++
      return act(...args)
    }
  const store: Store = {
    get: touching(real.get),
    list: touching(real.list),
    transact: touching((writes, token) => {
      items.push(JSON.stringify(writes))
      return real.transact(writes, token)
    }),
  }
  const product = await startProduct({ store, ...options })
  const answers: string[] = []
  const call: Product['call'] = async (...args) => {
    const called = await product.call(...args)
    answers.push(called.text, JSON.stringify([...called.headers]))
    return called
  }
  const update: Product['update'] = (body, how = {}) => call('POST', '/updates', { ...how, body })
  watched.push({ answers, logged: product.logged, items })
  return { ...product, call, update, touched: () => touched }
}

afterEach(() => {
  for (const { answers, logged, items } of watched.splice(0)) {
    const said = [...answers, ...logged, ...items].join('\n')
    for (const secret of secrets) expect(said).not.toContain(secret)
    expect(said).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/)
  }
})

const callerIn = (checked: TokenCheck) => (checked.kind === 'accepted' ? checked.caller : null)

const encode = (part: unknown): string =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')

const claims = { sub: 'eve', aud: 'unit-guard', exp: now + 3600, scope: 'read run', budgets: '*' }

/** Builds a JWT by hand. `payload` may be text that JSON.stringify would not write. */
function craft(
  payload: unknown = claims,
  header: unknown = { alg: 'HS256' },
  key = callerKey,
  hash = 'sha256',
): string {
  const signed = `${encode(header)}.${encode(payload)}`
  return `${signed}.${createHmac(hash, key).update(signed).digest('base64url')}`
}

/** The last letter of a 32-byte signature has two bits without meaning. */
function respelled(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const other = `${token.slice(0, -1)}${alphabet[alphabet.indexOf(token.at(-1) ?? '') + 1]}`
  const bytesOf = (text: string) => Buffer.from(text.split('.')[2] ?? '', 'base64url').toString('hex')
  if (bytesOf(other) !== bytesOf(token)) throw new Error('not the same signature')
  return other
}

const { exp: _exp, ...withoutExp } = claims
const bearer = (...of: Parameters<typeof craft>) => `Bearer ${craft(...of)}`
const withExp = (exp: string) => bearer(JSON.stringify(withoutExp).replace('{', `{"exp":${exp},`))
const good = craft()
const [head = '', body = '', signature = ''] = good.split('.')

/** The name of the case, the reason in the log, and `Authorization` or all headers. */
type Wrong = [name: string, reason: TokenFault | undefined, given: string | Record<string, string>]

/** Values that a claim must not have, with the reason in the log. */
const wrongClaims: readonly (readonly [reason: TokenFault, claim: string, values: readonly unknown[]])[] = [
  ['lifetime', 'exp', [undefined, '4102444800', null, now + 3600.5, (now + 3600) * 1000, now + days366 + 1]],
  ['expired', 'exp', [0, -1, now, now - 1]],
  ['not-yet', 'nbf', [now + 60]],
  ['audience', 'aud', [undefined, 'unit-guard-staging', 'Unit-Guard', ['unit-guard'], ['unit-guard', 'other']]],
  ['subject', 'sub', [undefined, '', 'x'.repeat(129), 'eve#1', 'eve adams', 'eve\n', 'ève', 7, '__proto__']],
  // Names of Slack users, schedules and issuers, and look-alikes.
  ['subject', 'sub', ['slack:U123', 'schedule:daily', 'okta:ada', 'OKTA:ada', 'a-1:', 'github:repo:acme']],
  ['subject', 'sub', ['_okta:ada', ':ada', 'okta.eu:ada', '9:ada']],
  // Names of the guard itself, and patterns of names.
  ['subject', 'sub', ['guard', 'sweep', 'service', 'setup', 'Guard', '*', 'pod-*']],
  ['claims', 'scope', [['read', 'run']]],
  ['claims', 'budgets', [7, 'seo']],
]

describe('token check: malformed: 401, always with the same body, and nothing is touched', () => {
  test.each<Wrong>([
    ['token check: fails before any effect: no token', undefined, {}],
    ['an empty header', 'form', ''],
    ['a scheme without a token', 'form', 'Bearer'],
    ['a scheme and a space', 'form', 'Bearer '],
    ['Basic', 'form', 'Basic YWRhOmFkYQ=='],
    ['the token without a scheme', 'form', good],
    ['the token twice', 'form', `Bearer ${good} ${good}`],
    ['two headers, joined as proxies do', 'form', `Bearer ${good}, Bearer ${good}`],
    ['the token in a cookie', undefined, { cookie: `token=${good}; unit-guard=${good}` }],
    ['the token in another header', undefined, { 'x-authorization': `Bearer ${good}` }],
    ['nonsense', 'form', 'Bearer nonsense'],
    ['three empty segments', 'form', 'Bearer ..'],
    ['65 kB, rightly signed', 'form', bearer({ ...claims, more: 'x'.repeat(65_536) })],
    ['65 kB of dots', 'form', `Bearer ${'.'.repeat(65_536)}`],
    ['alg none, no signature', 'algorithm', `Bearer ${encode({ alg: 'none' })}.${body}.`],
    ['alg none, two segments', 'algorithm', `Bearer ${encode({ alg: 'none' })}.${body}`],
    ['alg none, rightly signed', 'algorithm', bearer(claims, { alg: 'none' })],
    ['a kid that is a path, and an empty key', 'signature', bearer(claims, { alg: 'HS256', kid: '../x' }, '')],
    ['the token of the service', 'form', `Bearer ${serviceToken}`],
    ['alg nOnE, rightly signed', 'algorithm', bearer(claims, { alg: 'nOnE' })],
    ['alg RS256, signed with our key by HMAC', 'algorithm', bearer(claims, { alg: 'RS256' })],
    ['alg HS512, signed with our key', 'algorithm', bearer(claims, { alg: 'HS512' }, callerKey, 'sha512')],
    ['alg HS256 in small letters', 'algorithm', bearer(claims, { alg: 'hs256' })],
    ['no alg', 'algorithm', bearer(claims, { typ: 'JWT' })],
    ['a critical extension', 'form', bearer(claims, { alg: 'HS256', crit: ['exp'], exp: 1 })],
    ['an unencoded payload', 'form', bearer(claims, { alg: 'HS256', crit: ['b64'], b64: false })],
    ['a header that is no JSON', 'form', bearer(claims, '{')],
    [
      'a key of its own in the header',
      'signature',
      bearer(claims, { alg: 'HS256', jwk: { kty: 'oct', k: 'AAAA' } }, 'a'),
    ],
    ['exp 1e308', 'lifetime', withExp('1e308')],
    ['exp NaN', 'form', withExp('NaN')],
    ...wrongClaims.flatMap(([reason, claim, values]) =>
      values.map((value): Wrong => [`${claim} ${inspect(value)}`, reason, bearer({ ...claims, [claim]: value })]),
    ),
    ['sub twice in the claims', 'form', bearer(JSON.stringify(claims).replace('{', '{"sub":"ada",'))],
    ['scope twice, once escaped', 'form', bearer(JSON.stringify(claims).replace('{', '{"sc\\u006fpe":"admin",'))],
    ['alg twice in the header', 'form', bearer(claims, '{"alg":"none","alg":"HS256"}')],
    [
      'a name twice deep in the claims',
      'form',
      bearer(JSON.stringify({ ...claims, own: 1 }).replace('"own":1', '"own":{"a":1,"a":1}')),
    ],
    ['claims that are a list', 'form', bearer([claims])],
    ['claims that are null', 'form', bearer('null')],
    ['claims that are no JSON', 'form', bearer('{')],
    [
      'other claims under the signature',
      'signature',
      `Bearer ${head}.${encode({ ...claims, sub: 'ada' })}.${signature}`,
    ],
    ['no signature', 'signature', `Bearer ${head}.${body}.`],
    ['half a signature', 'signature', `Bearer ${good.slice(0, -20)}`],
    ['another spelling of the signature', 'form', `Bearer ${respelled(good)}`],
    ['a padded signature', 'form', `Bearer ${good}=`],
    ['padded claims', 'form', `Bearer ${head}.${body}==.${signature}`],
    ['the other alphabet of base64', 'form', `Bearer ${head}.${body}.${signature.slice(0, -2)}+/`],
    ['a percent-encoded dot', 'form', `Bearer ${head}%2e${body}.${signature}`],
    ['four segments', 'form', `Bearer ${good}.${signature}`],
    ['five segments', 'form', `Bearer ${good}.${body}.${signature}`],
    ['another key', 'signature', bearer(claims, undefined, 'another-callers-key-0123456789abcdef')],
    ['an empty key', 'signature', bearer(claims, undefined, '')],
  ])('a wrong token is refused, and the log says why: %s', async (_name, reason, given) => {
    const headers = typeof given === 'string' ? { authorization: given } : given
    const product = await start()
    const update = { kind: 'ranking', project: 'acme' }
    for (const called of [
      await product.update(update, { token: null, headers }),
      await product.call('GET', `/updates?token=${good}`, { token: null, headers }),
      await product.call('GET', '/v3/on-demand/acme/run', { token: null, headers }),
      await product.call('GET', '/nothing/here', { token: null, headers }),
    ]) {
      expect(called.body).toEqual({
        type: '/problems/unauthorized',
        title: 'A valid token is needed',
        status: 401,
        detail: 'This address needs a valid bearer token of Unit Guard.',
        requestId: expect.stringMatching(/^[0-9a-z]{26}$/),
      })
      expect(called.status).toBe(401)
      expect(called.headers.get('www-authenticate')).toBe('Bearer')
      expect(called.headers.get('content-type')).toBe('application/problem+json')
    }
    expect(linesOf(product.logged, 'request').map((line) => line.reason)).toEqual(Array(4).fill(reason))
    expect(product.service.requests).toEqual([])
    expect(product.touched()).toBe(0)
  })

  test('two Authorization headers on one request are answered with 401', async () => {
    const product = await start()
    const port = await listen(product)
    expect(await ask(port, ['Authorization', `Bearer ${good}`])).toBe(200)
    expect(await ask(port, ['Authorization', `Bearer ${good}`, 'Authorization', `Bearer ${good}`])).toBe(401)
    expect(await ask(port, ['Authorization', `Bearer ${good}`, 'authorization', 'Bearer nonsense'])).toBe(401)
    expect(await ask(port, ['authorization', 'Basic eDp5', 'Authorization', `Bearer ${good}`])).toBe(401)
  })
})

/** Uses a real socket, because `fetch` would join the headers. */
async function listen({ api }: Pick<Product, 'api'>): Promise<number> {
  const server = createServer(getRequestListener(api.fetch)).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function ask(port: number, headers: readonly string[]): Promise<number | undefined> {
  const sent = request({
    port,
    host: '127.0.0.1',
    path: '/budgets',
    headers: ['Host', 'guard.example', ...headers],
  }).end()
  const [response] = await once(sent, 'response')
  response.resume()
  return response.statusCode
}

describe('good tokens', () => {
  test.each<[string, string]>([
    ['an ordinary token', `Bearer ${good}`],
    ['the scheme in small letters', `bearer ${good}`],
    ['exp in a second', withExp(`${now + 1}`)],
    ['exp in exactly 366 days', withExp(`${now + days366}`)],
    ['sub that begins with a reserved word', bearer({ ...claims, sub: 'guard-bot' })],
    ['claims of our own, with one name in two objects', bearer({ ...claims, own: { a: { b: 1 }, b: 1 } })],
    ...['okta.ada', 'ada@acme.com:x'].map((sub): [string, string] => [`sub ${sub}`, bearer({ ...claims, sub })]),
    ['sub of 128 characters', bearer({ ...claims, sub: 'x'.repeat(128) })],
    ['a kid that is a path: kid is ignored', bearer(claims, { alg: 'HS256', kid: '../../etc/passwd' })],
    ['a jku: nothing is ever fetched', bearer(claims, { alg: 'HS256', jku: 'http://127.0.0.1:1/keys' })],
    ['claims of other issuers', bearer({ ...claims, iat: now + 60, iss: 'another', __proto__: null, constructor: {} })],
    ['an unknown scope beside a known scope', bearer({ ...claims, scope: 'read fly' })],
  ])('a good token is accepted: %s', async (_name, authorization) => {
    const product = await start()
    expect((await product.call('GET', '/budgets', { token: null, headers: { authorization } })).status).toBe(200)
  })
})

describe('a token that was verified before', () => {
  const read = async (product: Awaited<ReturnType<typeof start>>, authorization: string) =>
    (await product.call('GET', '/budgets', { token: null, headers: { authorization } })).status

  test('a verified token is refused from its expiry on', async () => {
    const product = await start()
    const soon = withExp(`${now + 30}`)
    expect(await read(product, soon)).toBe(200)
    product.clock.advance(29_000)
    expect(await read(product, soon)).toBe(200)
    product.clock.advance(1_000)
    expect(await read(product, soon)).toBe(401)
  })

  test('a token with one letter more or less than a verified one is refused', async () => {
    const product = await start()
    expect(await read(product, `Bearer ${good}`)).toBe(200)
    expect(await read(product, `Bearer ${good.slice(0, -1)}`)).toBe(401)
    expect(await read(product, `Bearer ${good}A`)).toBe(401)
  })

  test('a verified token is refused after its key is gone', async () => {
    const product = await start()
    expect(await read(product, `Bearer ${good}`)).toBe(200)
    const key = 'unit-guard/caller-key'
    Object.assign(product.secrets.values, { [key]: newestKey, [`${key} previous`]: newKey })
    product.clock.advance(5 * 60_000 + 1)
    expect(await read(product, `Bearer ${good}`)).toBe(401)
  })
})

describe('the caller of a token', () => {
  const reader = () => {
    const clock = createTestClock('2026-11-20T10:00:00Z')
    const value = { current: callerKey, previous: null }
    return createTokens({ callerKey: { read: async () => value, reread: async () => value }, clock })
  }
  const verify = async (payload: object) => callerIn(await reader().verify(`Bearer ${craft(payload)}`))

  test('a caller has the rights of the token', async () => {
    expect(await verify({ ...claims, budgets: ['seo', 'shop'] })).toEqual({
      sub: 'eve',
      scopes: new Set(['read', 'run']),
      budgets: ['seo', 'shop'],
      until: Date.parse('2026-11-20T11:00:00Z'),
    })
  })

  test('a token without budgets may charge nothing, unless it has the scope admin', async () => {
    expect(await verify({ ...claims, budgets: undefined })).toMatchObject({ budgets: [] })
    expect(await verify({ ...claims, scope: 'admin', budgets: undefined })).toMatchObject({ budgets: '*' })
    expect(await verify({ ...claims, scope: 'admin', budgets: [] })).toMatchObject({ budgets: [] })
  })

  test('a token may have at most 8,192 characters', async () => {
    const sized = (length: number) => {
      for (let pad = length / 2; ; pad++) {
        const token = craft({ ...claims, pad: 'x'.repeat(pad) })
        if (token.length >= length) return token
      }
    }
    const [longest, tooLong] = [sized(8_192), sized(8_193)]
    expect([longest.length, tooLong.length]).toEqual([8_192, 8_193])
    expect(callerIn(await reader().verify(`Bearer ${longest}`))).toMatchObject({ sub: 'eve' })
    expect(await reader().verify(`Bearer ${tooLong}`)).toEqual({ kind: 'refused', reason: 'form' })
  })
})

describe('a thousand tokens are each verified once a minute', () => {
  const start = () => {
    const clock = createTestClock('2026-11-20T10:00:00Z')
    const value = { current: callerKey, previous: null }
    const tokens = createTokens({ callerKey: { read: async () => value, reread: async () => value }, clock })
    const verifying = vi.spyOn(crypto.subtle, 'verify')
    onTestFinished(() => verifying.mockRestore())
    /** Counts how often a signature is verified for these tokens. */
    const verified = async (...numbers: readonly number[]) => {
      verifying.mockClear()
      for (const each of numbers)
        expect(callerIn(await tokens.verify(`Bearer ${craft({ ...claims, sub: `eve${each}` })}`))).toMatchObject({
          sub: `eve${each}`,
        })
      return verifying.mock.calls.length
    }
    return { clock, verified }
  }
  const thousand = Array.from({ length: 1_000 }, (_, each) => each)

  test('a token is verified again after a minute', async () => {
    const { clock, verified } = start()
    expect(await verified(0, 1, 0, 1)).toBe(2)
    clock.advance(59_999)
    expect(await verified(0, 1)).toBe(0)
    clock.advance(1)
    expect(await verified(0, 1)).toBe(2)
  })

  test('the token after the thousandth clears the cache of verified tokens', async () => {
    const { verified } = start()
    expect(await verified(...thousand)).toBe(1_000)
    expect(await verified(...thousand)).toBe(0)
    expect(await verified(1_000)).toBe(1)
    expect(await verified(1_000, 0)).toBe(1)
  })
})

describe('the key of the tokens', () => {
  const key = 'unit-guard/caller-key'
  const own = { 'unit-guard/service-token': serviceToken }
  const readWith = (product: Product | Awaited<ReturnType<typeof start>>, signedWith: string) =>
    product.call('GET', '/budgets', { token: craft(claims, undefined, signedWith) })
  const asked = (product: Pick<Product, 'secrets'>) =>
    product.secrets.asked.filter((each) => each === `${key} AWSCURRENT`).length

  test('the previous key is accepted, and an older one is refused', async () => {
    const product = await start({ secrets: { ...own, [key]: newestKey, [`${key} previous`]: newKey } })
    expect((await readWith(product, newestKey)).status).toBe(200)
    expect((await readWith(product, newKey)).status).toBe(200)
    expect((await readWith(product, callerKey)).status).toBe(401)
  })

  test.each([
    ['once', newKey, callerKey, [newKey, callerKey], []],
    ['twice', newestKey, newKey, [newKey, newestKey], [callerKey]],
  ])('a key rotated %s after it was read is accepted after one re-read, and so is the previous one', async (...row) => {
    const [, current, previous, accepted, refused] = row
    const product = await start()
    expect((await readWith(product, callerKey)).status).toBe(200)
    Object.assign(product.secrets.values, { [key]: current, [`${key} previous`]: previous })
    product.clock.advance(10_000)
    for (const each of accepted) expect((await readWith(product, each)).status).toBe(200)
    expect(asked(product)).toBe(2)
    for (const each of refused) expect((await readWith(product, each)).status).toBe(401)
  })

  test('a flood of bad tokens reads the key once in ten seconds, and good tokens still pass', async () => {
    const product = await start()
    const flood = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => readWith(product, `a-wrong-key-number-${index}`)))
    expect((await readWith(product, callerKey)).status).toBe(200)
    for (let second = 1; second <= 25; second++) {
      product.clock.advance(1_000)
      expect(new Set((await flood(10)).map(({ status }) => status))).toEqual(new Set([401]))
    }
    expect(asked(product)).toBe(3)
    expect((await readWith(product, callerKey)).status).toBe(200)
  })

  test('callers are served with the cached key while Secrets Manager is down', async () => {
    const product = await start()
    expect((await product.update({ kind: 'ranking', project: 'a' })).status).toBe(201)
    await product.secrets.close()
    product.clock.advance(minutes(30))
    expect((await readWith(product, callerKey)).status).toBe(200)
    expect((await product.call('GET', '/budgets')).status).toBe(200)
    expect((await product.update({ kind: 'ranking', project: 'b' })).status).toBe(201)
  })

  test.each<[string, Record<string, string | undefined>]>([
    ['missing', { ...own }],
    ['empty', { ...own, [key]: '' }],
    ['with a line break', { ...own, [key]: `${callerKey}\n` }],
    ['beyond ASCII', { ...own, [key]: `${callerKey}é` }],
    ['missing, while the previous one is there', { ...own, [`${key} previous`]: callerKey }],
  ])('the API answers 503 without a run if the key is %s', async (_name, given) => {
    const product = await start({ secrets: given })
    for (const called of [
      await product.update({ kind: 'ranking', project: 'acme' }),
      await product.call('GET', '/budgets'),
    ]) {
      expect(called.body).toEqual({
        type: '/problems/secret-unavailable',
        title: 'A secret could not be read',
        status: 503,
        detail:
          'A secret that this needs could not be read, so nothing was sent or spent. You may send the same request again.',
        requestId: expect.stringMatching(/^[0-9a-z]{26}$/),
      })
      expect(called.status).toBe(503)
    }
    expect((await product.call('GET', '/health', { token: null })).status).toBe(200)
    expect(product.service.requests).toEqual([])
    expect(product.touched()).toBe(0)
    product.secrets.values[key] = callerKey
    expect((await product.call('GET', '/budgets')).status).toBe(200)
  })

  test.each<[string, string | undefined]>([
    ['missing', undefined],
    ['empty', ''],
    ['with a line break', `${serviceToken}\r\nHost: evil`],
  ])(
    'secret: fails before any effect: the service token %s: 503, nothing sent, nothing held, nothing recorded',
    async (_name, token) => {
      const product = await start({ secrets: { [key]: callerKey, 'unit-guard/service-token': token } })
      const headers = { 'idempotency-key': 'k' }
      const refused = await product.update({ kind: 'ranking', project: 'acme' }, { headers })
      expect(refused).toMatchObject({ status: 503, body: { type: '/problems/secret-unavailable' } })
      const estimate = await product.call('GET', '/estimates?kind=ranking&project=acme')
      expect(estimate).toMatchObject({ status: 503, body: { type: '/problems/secret-unavailable' } })
      expect(product.service.requests).toEqual([])
      expect(await product.figures()).toMatchObject({ available: 50000, held: 0, inDoubt: 0, spent: 0 })
      product.secrets.values['unit-guard/service-token'] = serviceToken
      product.clock.advance(10_000)
      expect((await product.update({ kind: 'ranking', project: 'acme' }, { headers })).status).toBe(201)
    },
  )
})

describe('scopes', () => {
  test.each(['READ', 'read,run', 'read\trun', 'reader', ''])('the unknown scope %j gives no right', async (scope) => {
    const product = await start()
    const { status, body } = await product.call('GET', '/budgets', { token: craft({ ...claims, scope }) })
    expect([status, body.detail]).toEqual([403, 'eve needs the scope read for this, and has: none.'])
  })
})

describe('budgets in a token', () => {
  test('reads show every budget to every caller', async () => {
    const product = await start()
    await product.call('PUT', '/budgets/ads', { body: { limits: [{ window: 'month', units: 1 }] } })
    const token = craft({ ...claims, scope: 'read', budgets: [] })
    expect((await product.call('GET', '/budgets/ads', { token })).status).toBe(200)
    expect((await product.call('GET', '/estimates?kind=ranking&project=x&budget=ads', { token })).status).toBe(200)
  })

  test('a retry of an unrecorded request is checked against the token of the retry', async () => {
    let broken = true
    const product = await start({
      service: ({ url }) => (broken && url.includes('/b/estimate') ? { status: 500 } : undefined),
    })
    const asked = { kind: 'ranking', projects: ['a', 'b'], whenShort: 'fit', force: true, reason: 'r' }
    const headers = { 'idempotency-key': 'k' }
    const first = await product.update(asked, { headers, token: craft({ ...claims, scope: 'run admin' }) })
    expect(first.status).toBe(201)
    broken = false
    await product.update(asked, { headers, token: craft({ ...claims, budgets: [] }) })
    expect(product.seen('run').map(({ url }) => url)).toEqual(['/v3/on-demand/a/run'])
  })
})
