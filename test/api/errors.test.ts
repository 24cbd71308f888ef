import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AnswerLost, LedgerUnavailable } from '../../shared/ledger/errors.ts'
import type { Store } from '../../shared/ledger/store/store.ts'
import { type Called, json, type Product, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// Errors that are not about units, and lists as CSV.

function expectProblem(called: Called, status: number, slug: string, detail: string) {
  expect(called.body).toMatchObject({ type: `/problems/${slug}`, status, detail })
  expect(called.body.title).toMatch(/^[A-Z]/)
  expect(called.body.requestId).toBe(called.headers.get('x-request-id'))
  expect(called.status).toBe(status)
  expect(called.headers.get('content-type')).toBe('application/problem+json')
  expect(called.headers.get('cache-control')).toBe('no-store')
}

const start = (options: Parameters<typeof startProduct>[0] = {}) =>
  startProduct({ store: createMemoryStore(), ...options })

/** A store that fails in one way as soon as the test sets this way. */
function createFailingStore() {
  const real = createMemoryStore()
  let failure: (() => Error) | null = null
  let failing: readonly (keyof Store)[] = []
  const unlessFailing =
    <Args extends unknown[], Result>(name: keyof Store, act: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      if (failure && failing.includes(name)) throw failure()
      return act(...args)
    }
  const store: Store = {
    get: unlessFailing('get', real.get),
    list: unlessFailing('list', real.list),
    transact: unlessFailing('transact', real.transact),
  }
  return {
    store,
    fail: (how: () => Error, ...what: (keyof Store)[]) => {
      failure = how
      failing = what.length > 0 ? what : ['get', 'list', 'transact']
    },
  }
}

const routes: readonly (readonly [methods: readonly string[], path: string])[] = [
  [['GET'], '/estimates'],
  [['GET'], '/audit'],
  [['GET', 'POST'], '/updates'],
  [['POST'], '/updates/resolve'],
  [['POST'], '/updates/cancel'],
  [['GET'], '/updates/upd_none'],
  [['POST'], '/updates/upd_none/approve'],
  [['POST'], '/updates/upd_none/reject'],
  [['POST'], '/updates/upd_none/cancel'],
  [['POST'], '/updates/upd_none/resolve'],
  [['GET', 'PUT'], '/budgets'],
  [['GET', 'PUT', 'DELETE'], '/budgets/account'],
  [['POST'], '/budgets/account/freeze'],
  [['POST'], '/budgets/account/unfreeze'],
  [['GET', 'POST'], '/budgets/account/entries'],
]

describe('404', () => {
  test.each([
    '/nothing',
    '/updates/',
    '/updates//approve',
    '/updates/upd_none/run',
    '/updates/upd_none/approve/',
    '/UPDATES',
    '/Updates/upd_none',
    '/updates;x',
    '/updates%2F',
    '/updates%00',
    '/%2575pdates',
    '//updates',
    '/budgets/',
    '/budgets/account/',
    '/budgets/account%2Fentries',
    '/budgets/account/entries/ent_none',
    '/audit.json',
    '/%E0%A4%A',
    '/health/',
    '/HEALTH',
  ])('GET %s is answered with 404', async (path) => {
    const product = await start()
    const called = await product.call('GET', path)
    expect(called.body).toMatchObject({ type: '/problems/not-found', title: 'There is nothing here' })
    expectProblem(called, 404, 'not-found', called.body.detail)
    expect(['There is nothing at this address.', 'There is no such budget.']).toContain(called.body.detail)
    expect((await product.call('GET', path, { token: null })).status).toBe(401)
  })

  test('unknown names are answered with 404', async () => {
    const product = await start()
    const limits = { limits: [{ window: 'month', units: 5 }] }
    for (const [method, path, body, detail] of [
      ['GET', '/updates/upd_none', undefined, 'There is no update upd_none.'],
      ['GET', '/updates/constructor', undefined, 'There is no update constructor.'],
      ['POST', '/updates/upd_none/approve', {}, 'There is no update upd_none.'],
      ['POST', '/updates/upd_none/cancel', {}, 'There is no update upd_none.'],
      ['GET', '/budgets/seo', undefined, 'There is no budget seo.'],
      ['GET', '/budgets/constructor', undefined, 'There is no budget constructor.'],
      ['GET', '/budgets/__proto__', undefined, 'There is no such budget.'],
      ['GET', '/budgets/SEO', undefined, 'There is no such budget.'],
      ['DELETE', '/budgets/SEO', limits, 'There is no such budget.'],
      ['POST', '/budgets/seo/freeze', { reason: 'x' }, 'There is no budget seo.'],
      ['POST', '/budgets/seo/entries', { type: 'grant', units: 1, reason: 'x' }, 'There is no budget seo.'],
    ] as const) {
      expectProblem(await product.call(method, path, { body }), 404, 'not-found', detail)
    }
  })

  test('an address with encoded letters counts as the same address and needs a token', async () => {
    const product = await start()
    expect((await product.call('GET', '/%75pdates')).status).toBe(200)
    expect((await product.call('GET', '/%75pdates', { token: null })).status).toBe(401)
    expectProblem(
      await product.call('PATCH', '/b%75dgets'),
      405,
      'method-not-allowed',
      'This address allows GET, HEAD, PUT, not PATCH.',
    )
  })
})

describe('405 with the allowed methods', () => {
  const open = ['/health', '/problems/over-budget'] as const
  const all = [...routes, ...open.map((path) => [['GET'], path] as const)]

  test.each(all)('an address that accepts %j is answered with 405 for any other method: %s', async (methods, path) => {
    const product = await start()
    const allowed = methods.includes('GET') ? ['GET', 'HEAD', ...methods.slice(1)] : methods
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']) {
      if (allowed.includes(method)) continue
      const response = await product.api.request(path, {
        method,
        headers: { authorization: `Bearer ${await product.signed({ sub: 'ada', scope: 'admin' })}` },
      })
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, allowed.join(', ')])
      expect(response.headers.get('content-type')).toBe('application/problem+json')
    }
    expect(product.service.requests).toEqual([])
  })
})

describe('HEAD', () => {
  test.each(['/health', '/openapi.json', '/budgets', '/budgets/account', '/updates', '/audit'])(
    'HEAD %s answers as GET does, without a body',
    async (path) => {
      const product = await start()
      const headers = { authorization: `Bearer ${await product.signed({ sub: 'ada', scope: 'read' })}` }
      const [get, head] = [
        await product.api.request(path, { headers }),
        await product.api.request(path, { method: 'HEAD', headers }),
      ]
      expect([head.status, head.headers.get('content-type'), head.headers.get('etag')]).toEqual([
        200,
        get.headers.get('content-type'),
        get.headers.get('etag'),
      ])
      expect(await head.text()).toBe('')
    },
  )
})

describe('/health', () => {
  test('GET /health needs no token and touches nothing', async () => {
    const { store, fail } = createFailingStore()
    fail(() => new Error('touched'))
    const product = await start({ store, secrets: {} })
    const { status, body } = await product.call('GET', '/health', { token: null })
    expect([status, body]).toEqual([200, { status: 'ok' }])
    expect((await product.call('GET', '/health', { token: 'nonsense' })).status).toBe(200)
    expect(product.secrets.asked).toEqual([])
    expect(product.service.requests).toEqual([])
  })
})

const bodies: Readonly<Record<string, unknown>> = {
  'POST /updates': { kind: 'ranking', project: 'acme' },
  'POST /updates/resolve': { ids: ['upd_a', 'upd_b'], outcome: 'ran', reason: 'seen' },
  'POST /updates/cancel': { ids: ['upd_a', 'upd_b'] },
  'POST /updates/upd_none/resolve': { outcome: 'ran', reason: 'seen' },
  'PUT /budgets/account': { limits: [{ window: 'month', units: 5 }] },
  'POST /budgets/account/freeze': { reason: 'x' },
  'POST /budgets/account/unfreeze': { reason: 'x' },
  'POST /budgets/account/entries': { type: 'grant', units: 5, reason: 'x' },
}
const everyRequest = routes.flatMap(([methods, path]) =>
  methods.map((method) => [method, path === '/estimates' ? '/estimates?kind=ranking&project=acme' : path] as const),
)
const notRecorded =
  'The ledger does not answer, so the update of acme was not recorded: nothing was sent to the service for it and nothing was spent on it. Send the same request again, with the same Idempotency-Key.'
const noLedger =
  'The ledger does not answer, so nothing was sent to the service and nothing spent; the same request may be sent again.'

describe('a disk that takes no write', () => {
  const again =
    'Nothing was sent to the service and nothing spent; the same request may be sent again when an operator has repaired this.'
  const lost =
    'The answer of the ledger was lost, so the change may have been written. Nothing was sent to the service. With the same Idempotency-Key the request may be sent again and counts once. Without a key, check first whether the change was made.'

  test.each([
    ['full', LedgerUnavailable, `The disk of the ledger is full. ${again}`],
    ['read-only', LedgerUnavailable, `The disk of the ledger is read-only. ${again}`],
    ['full', AnswerLost, `The disk of the ledger is full. ${lost}`],
    [null, LedgerUnavailable, noLedger],
  ] as const)('%s is 503 with a sentence that names the disk', async (disk, Failure, detail) => {
    const { store, fail } = createFailingStore()
    const product = await start({ store })
    fail(() => new Failure('the file of the ledger fails', { disk }))
    const called = await product.call('POST', '/updates', { body: bodies['POST /updates'] })
    expectProblem(called, 503, 'ledger-unavailable', detail)
  })
})

describe('a ledger that does not answer', () => {
  test.each(everyRequest)('%s %s is 503 and sends nothing if the ledger does not answer', async (method, path) => {
    const { store, fail } = createFailingStore()
    const product = await start({ store })
    fail(() => new LedgerUnavailable('DynamoDB does not answer', { cause: new Error('ECONNREFUSED 10.0.0.7') }))
    const called = await product.call(method, path, { body: bodies[`${method} ${path}`] })
    expectProblem(called, 503, 'ledger-unavailable', noLedger)
    expect(called.text).not.toContain('10.0.0.7')
    expect(product.service.requests).toEqual([])
    expect(failures(product)).toEqual([
      expect.objectContaining({
        requestId: called.body.requestId,
        cause: expect.objectContaining({ cause: expect.objectContaining({ message: 'ECONNREFUSED 10.0.0.7' }) }),
      }),
    ])
  })

  test.each(['/updates', '/budgets/account/entries'])(
    '%s as CSV is 503 instead of a partial file if the ledger does not answer',
    async (path) => {
      const { store, fail } = createFailingStore()
      const product = await start({ store })
      fail(() => new LedgerUnavailable('DynamoDB does not answer'), 'list')
      const called = await product.call('GET', path, { headers: { accept: 'text/csv' } })
      expectProblem(called, 503, 'ledger-unavailable', noLedger)
    },
  )

  test.each([
    [{ kind: 'ranking', project: 'acme' }, {}],
    [{ kind: 'ranking', projects: ['acme', 'globex'] }, {}],
    [{ kind: 'ranking', project: 'acme' }, { prefer: 'respond-async' }],
  ])('%j %j is 503 if the ledger can be read but not written', async (body, headers) => {
    const { store, fail } = createFailingStore()
    const product = await start({ store })
    await product.call('GET', '/budgets')
    fail(() => new LedgerUnavailable('DynamoDB refuses for now'), 'transact')
    const detail = 'projects' in body ? notRecorded : noLedger
    expectProblem(await product.update(body, { headers }), 503, 'ledger-unavailable', detail)
    expect(product.seen('run')).toEqual([])
  })
})

describe('an unexpected error is answered with a fixed text, and only the log has its cause', () => {
  test.each(everyRequest)('%s %s is 500 with a fixed text after an unexpected error', async (method, path) => {
    const { store, fail } = createFailingStore()
    const product = await start({ store })
    fail(() => new TypeError('the canary died', { cause: new Error('in table secret-table-9') }))
    const called = await product.call(method, path, { body: bodies[`${method} ${path}`] })
    expect(called.body).toEqual({
      type: '/problems/internal',
      title: 'Something went wrong on our side',
      status: 500,
      detail: 'Something went wrong on our side; an operator of the guard finds it in the log under this requestId.',
      requestId: called.headers.get('x-request-id'),
    })
    expect(called.status).toBe(500)
    expect(called.headers.get('content-type')).toBe('application/problem+json')
    expect(product.seen('run')).toEqual([])
    expect(failures(product)).toEqual([
      {
        at: '2026-11-20T10:00:00.000Z',
        level: 'error',
        event: 'failed',
        function: 'api',
        requestId: called.body.requestId,
        cause: {
          name: 'TypeError',
          message: 'the canary died',
          stack: expect.stringContaining('errors.test.ts'),
          cause: expect.objectContaining({ message: 'in table secret-table-9' }),
        },
      },
    ])
  })
})

const failures = (product: Pick<Product, 'logged'>) =>
  product.logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'failed')

describe('the log line of a request', () => {
  test.each([
    ['GET', '/budgets', undefined, { status: 200, route: '/budgets', caller: 'ada' }],
    ['POST', '/updates', { kind: 'ranking', project: '..' }, { status: 400, route: '/updates', caller: 'ada' }],
    ['GET', '/nothing', undefined, { status: 404, caller: 'ada' }],
    ['PATCH', '/updates/upd_x', undefined, { status: 405, caller: 'ada' }],
  ])('%s %s is logged once, without its body', async (method, path, body, expected) => {
    const product = await start()
    const { headers } = await product.call(method, path, { body })
    expect(product.logged.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        event: 'request',
        level: 'info',
        requestId: headers.get('x-request-id'),
        method,
        ...expected,
      }),
    ])
  })
})

describe('CSV', () => {
  const csv = (product: Product, path: string) => product.call('GET', path, { headers: { accept: 'text/csv' } })

  test('CSV has a header, quotes where needed, ends lines as RFC 4180 says and escapes formulas', async () => {
    const product = await start()
    const projects = [{ name: '+1' }, { name: '-1' }]
    await product.call('PUT', '/budgets/none', { body: { limits: [{ window: 'month', units: 0 }], projects } })
    const rows = [
      ['=1+1', 'plain', "'=1+1", 'plain'],
      ['+1', 'say "hi"', "'+1", '"say ""hi"""'],
      ['-1', 'two\nlines', "'-1", '"two\nlines"'],
      ['@SUM(A1)', 'two\r\nlines', "'@SUM(A1)", '"two\r\nlines"'],
      ['a"b', '=HYPERLINK("http://evil.example","x")', '"a""b"', '"\'=HYPERLINK(""http://evil.example"",""x"")"'],
      ['＝1', '\t=1', "'＝1", "'\t=1"],
      ['1-1', '\r=1', '1-1', '"\'\r=1"'],
      ["'a", '-1;2', "'a", "'-1;2"],
      ['b', 'x\n=1+1,"', 'b', '"x\n=1+1,"""'],
      ['né 🙂', ' =1', 'né 🙂', ' =1'],
    ] as const
    for (const [project, reason] of rows) {
      product.clock.advance(1_000)
      // Calls the guard directly, because older reasons may contain what requests now refuse.
      const asked = await product.guard.submit(
        {
          caller: 'ada',
          via: 'http',
          route: 'POST /updates',
          token: { scopes: new Set(['run']), budgets: '*' },
        },
        { kind: 'ranking', projects: [project], whenShort: 'refuse', reason, budget: 'none' },
        { respondAsync: false, endsAt: product.endsAt() },
      )
      expect(asked.status).toBe(402)
    }
    const { headers, text } = await csv(product, '/updates')
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="updates.csv"')
    const ids = (await product.call('GET', '/updates')).body.updates.map(({ id }: { id: string }) => id)
    const detail =
      'none has 0 of 0 units left this month; resets 1 Dec 2026 00:00 UTC; ask for more before trying again.'
    const lines = rows.map(([, , project, reason], index) => {
      const at = `2026-11-20T10:00:${String(index + 1).padStart(2, '0')}.000Z`
      const id = ids[rows.length - 1 - index]
      return `${id},${at},${at},refused,ranking,${project},none,month:2026-11-01,ada,http,,,0,0,${reason},over-budget,${detail},,,,${project}\r\n`
    })
    const header =
      'id,createdAt,finishedAt,state,kind,project,budget,window,caller,via,plan,estimated,held,charged,reason,problem,detail,tags,wouldHaveRefused,delivery,projectName\r\n'
    expect(text).toBe(header + lines.reverse().join(''))
  })

  test('entries are exported as CSV', async () => {
    const product = await start()
    const reason = '=1'
    const body = { type: 'external-spend', units: 7, reason }
    const { id } = (await product.call('POST', '/budgets/account/entries', { body })).body
    expect((await csv(product, '/budgets/account/entries')).text).toBe(
      `id,at,type,budget,units,window,by,reason,to,corrects,changed\r\n${id},2026-11-20T10:00:00.000Z,external-spend,account,7,month:2026-11-01,ada,'=1,,,\r\n`,
    )
  })

  test('a CSV without rows has only its header', async () => {
    const product = await start()
    const { text } = await csv(product, '/budgets/account/entries')
    expect(text).toBe('id,at,type,budget,units,window,by,reason,to,corrects,changed\r\n')
  })

  test('a CSV has all pages, also with a limit', async () => {
    const product = await start()
    await product.call('PUT', '/budgets/none', { body: { limits: [{ window: 'month', units: 0 }] } })
    for (let batch = 0; batch < 12; batch++) {
      const projects = Array.from({ length: 20 }, (_, index) => `p-${batch}-${index}`)
      await product.update({ kind: 'ranking', projects, budget: 'none' })
    }
    const lines = (await csv(product, '/updates?limit=5')).text.trimEnd().split('\r\n')
    expect(lines).toHaveLength(241)
    expect(new Set(lines).size).toBe(241)
    const some = (await csv(product, '/updates?project=p-3-3')).text.trimEnd().split('\r\n')
    expect(some).toHaveLength(2)
    const head = await product.api.request('/updates', {
      method: 'HEAD',
      headers: { accept: 'text/csv', authorization: `Bearer ${await product.signed({ sub: 'ada', scope: 'read' })}` },
    })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  test('a CSV breaks off if the ledger fails in the middle', async () => {
    const { store, fail } = createFailingStore()
    const product = await start({ store })
    await product.call('PUT', '/budgets/none', { body: { limits: [{ window: 'month', units: 0 }] } })
    for (let batch = 0; batch < 6; batch++) {
      const projects = Array.from({ length: 20 }, (_, index) => `p-${batch}-${index}`)
      await product.update({ kind: 'ranking', projects, budget: 'none' })
    }
    const response = await product.api.request('/updates', {
      headers: { accept: 'text/csv', authorization: `Bearer ${await product.signed({ sub: 'ada', scope: 'read' })}` },
    })
    fail(() => new LedgerUnavailable('DynamoDB does not answer'))
    await expect(response.text()).rejects.toThrow('DynamoDB does not answer')
  })
})

describe('requests over a real socket', () => {
  async function listen({ api }: Pick<Product, 'api'>): Promise<number> {
    const server = createServer(getRequestListener(api.fetch)).listen(0, '127.0.0.1')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  test.each([
    ['with its length', { 'content-length': '10000000' }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('10 MB %s are answered with 413 before the connection closes', async (_name, length) => {
    const product = await start()
    const port = await listen(product)
    const authorization = `Bearer ${await product.signed({ sub: 'ada', scope: 'run' })}`
    const headers = { authorization, 'content-type': 'application/json', ...length }
    const sent = request({ port, host: '127.0.0.1', method: 'POST', path: '/updates', headers })
    sent.on('error', () => {})
    sent.end(Buffer.alloc(10_000_000, ' '))
    const [response] = await once(sent, 'response')
    let text = ''
    for await (const chunk of response) text += chunk
    expect([response.statusCode, JSON.parse(text).detail]).toEqual([413, 'A body has at most 256 KiB.'])
  })

  test.each([
    ['TRACE /health HTTP/1.1', /^HTTP\/1.1 (400|405|501) /],
    ['GET http://evil.example/updates HTTP/1.1', /^HTTP\/1.1 401 /],
    ['GET //evil.example/updates HTTP/1.1', /^HTTP\/1.1 (400|401|404) /],
    ['GET /%zz HTTP/1.1', /^HTTP\/1.1 (400|401) /],
    ['GET /updates#x HTTP/1.1', /^HTTP\/1.1 (400|401) /],
    ['GET /health?x HTTP/1.1', /^HTTP\/1.1 200 /],
  ])('the server answers the raw request %s', async (line, status) => {
    const product = await start()
    const socket = connect(await listen(product), '127.0.0.1')
    // The server may answer and close before the whole request is written; the answer decides.
    socket.on('error', () => {})
    socket.end(`${line}\r\nHost: guard.example\r\nConnection: close\r\n\r\n`)
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text).toMatch(status)
  })
})

describe('several faults in one request', () => {
  test.each([
    'GET /updates/ID',
    'POST /updates/ID/approve',
    'POST /updates/ID/reject',
    'POST /updates/ID/cancel',
    'POST /updates/ID/resolve',
  ])('%s with an id of 3,000 characters is answered with 404 without repeating it', async (address) => {
    const product = await startProduct()
    const [method = '', path = ''] = address.replace('ID', 'x'.repeat(3_000)).split(' ')
    const called = await product.call(
      method,
      path,
      path.endsWith('resolve') ? { body: { outcome: 'ran', reason: 'r' } } : {},
    )
    expect(called.status).toBe(404)
    expect(called.text.length).toBeLessThan(1_000)
  })

  test('definitions that do not fit into one item are refused with their size', async () => {
    const product = await startProduct()
    const limits = [{ window: 'month', units: 1 }]
    const named = (of: string) =>
      Array.from({ length: 500 }, (_, index) => ({ name: `${of}${index}`.padEnd(480, 'x') }))
    const put = (name: string) => product.call('PUT', `/budgets/${name}`, { body: { limits, projects: named(name) } })
    expect((await put('a')).status).toBe(201)
    const { status, body } = await put('b')
    expect(status).toBe(400)
    expect(body.errors).toMatchObject([{ path: 'projects', message: expect.stringContaining('at most 350 KB') }])
  })

  test('counters stay safe integers, whatever a run reports', async () => {
    const product = await startProduct({
      service: ({ url }) => (url.endsWith('/run') ? json({ keyword_units: Number.MAX_SAFE_INTEGER }) : undefined),
      env: { RUN_POINTER_RANKING: '/keyword_units' },
    })
    const { body } = await product.update({ kind: 'ranking', project: 'acme' })
    expect(body.updates).toMatchObject([{ state: 'settled', units: { held: 40, charged: 40 } }])
    expect(product.logged.join()).toContain('impossible-units')
    await product.call('POST', '/budgets/account/entries', { body: { type: 'external-spend', units: 5, reason: 'r' } })
    expect(await product.figures()).toMatchObject({ spent: 45 })
  })
})

test('any number of blanks after Bearer is one', async () => {
  const { api, signed } = await start()
  const token = await signed({ sub: 'ada', scope: 'read' })
  for (const blanks of [' ', '  ', '   '])
    expect((await api.request('/budgets', { headers: { authorization: `Bearer${blanks}${token}` } })).status).toBe(200)
})
