import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { UnitGuard, type Update } from '../../shared/client/client.ts'
import { patienceMs } from '../support/patience.ts'
import { json, startProduct } from '../support/product.ts'
import { gate } from '../support/scripted-service.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

type Listener = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

/** The client with the whole product, over a real socket. @param before sees each request first; true: it has answered. */
async function start(
  options: Parameters<typeof startProduct>[0] = {},
  before: (request: IncomingMessage, response: ServerResponse, pass: Listener) => boolean = () => false,
) {
  const product = await startProduct({ store: createMemoryStore(), ...options })
  const pass: Listener = getRequestListener((request, env) => product.api.fetch(request, env))
  const url = await listen((request, response) => {
    if (!before(request, response, pass)) void pass(request, response)
  })
  const exp = Math.floor(product.clock.now() / 1000) + 3600
  const as = async (sub: string, scope: string) =>
    new UnitGuard({ url, token: await product.signed({ sub, scope, budgets: '*', exp }), deadlineMs: 15_000 })
  return { product, url, as, guard: await as('tool', 'read run'), runs: () => product.seen('run').length }
}

/** The product finishes its work before it writes this answer, which is lost. */
function lose(request: IncomingMessage, response: ServerResponse, pass: Listener): true {
  response.writeHead = () => {
    request.socket.destroy()
    return response
  }
  void pass(request, response)
  return true
}

function refuse(response: ServerResponse, status: number, slug: string, retryAfter = 60): true {
  response.writeHead(status, { 'content-type': 'application/problem+json', 'retry-after': String(retryAfter) })
  response.end(JSON.stringify({ type: `/problems/${slug}`, title: 'x', status, detail: 'not now' }))
  return true
}

async function listen(listener: Listener): Promise<string> {
  const server = createServer((request, response) => void listener(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const initech = { kind: 'ranking', project: 'initech' } as const

describe('an update', () => {
  test('client.update returns a settled update with its units, and the earlier update if repeated', async () => {
    const { guard, runs } = await start()
    const first = await guard.update({ ...initech, reason: 'report' })
    expect(first).toMatchObject({ kind: 'settled', units: 40, earlier: false, update: { project: 'initech' } })
    expect(await guard.update(initech)).toMatchObject({ kind: 'settled', units: 40, earlier: true })
    expect(runs()).toBe(1)
  })

  test('client.update returns a refusal with its numbers and budgets instead of throwing', async () => {
    const { product, guard, runs } = await start({ units: { initech: 640 } })
    await product.call('PUT', '/budgets/acme', { body: { limits: [{ window: 'month', units: 120 }] } })
    const outcome = await guard.update({ ...initech, budget: 'acme' })
    if (outcome.kind !== 'refused' || outcome.problem.type !== '/problems/over-budget') throw new Error(outcome.kind)
    expect(outcome.problem.detail).toMatch(/^acme has 120 of 120 units left this month and this needs 640/)
    expect([outcome.problem.units, outcome.problem.short]).toEqual([640, 520])
    expect(outcome.problem.budgets).toMatchObject([{ budget: 'acme', window: 'month', available: 120, short: 520 }])
    expect(runs()).toBe(0)
  })

  test('client.update retries a lost answer with the same key and runs once', async () => {
    const keys: unknown[] = []
    const { guard, runs } = await start({}, (request, response, pass) => {
      if (request.method !== 'POST') return false
      keys.push(request.headers['idempotency-key'])
      if (keys.length > 1) return false
      return lose(request, response, pass)
    })
    expect(await guard.update(initech)).toMatchObject({ kind: 'settled', units: 40, earlier: false })
    expect(keys).toEqual([keys[0], keys[0]])
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(runs()).toBe(1)
  })

  test.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [503, 'ledger-unavailable'],
  ])('client.update is unanswered, not a problem, if status %i follows a lost answer', async (status, slug) => {
    let asked = 0
    const { guard, runs } = await start({}, (request, response, pass) => {
      asked++
      return asked > 1 ? refuse(response, status, slug) : lose(request, response, pass)
    })
    expect(await guard.update(initech, { key: 'k' })).toEqual({ kind: 'unanswered', why: 'not now', key: 'k' })
    expect([asked, runs()]).toEqual([2, 1])
  })

  test('client.update is unanswered while an attempt without an answer may still be at work', async () => {
    const priced = gate()
    let asked = 0
    const { product, guard, runs } = await start({}, (request, response, pass) => {
      if (++asked > 1) return false
      void pass(request, response)
      request.socket.destroy()
      return true
    })
    const price = json({ keyword_units: 40 })
    product.service.script('/on-demand/initech/estimate', { ...price, once: priced.opened }, { status: 403 })
    const outcome = await guard.update(initech, { key: 'k' })
    expect([outcome, asked, runs()]).toEqual([
      { kind: 'unanswered', why: expect.stringContaining('403'), key: 'k' },
      2,
      0,
    ])
    priced.open()
    await expect.poll(runs, { timeout: patienceMs }).toBe(1)
    expect(await guard.update(initech, { key: 'k' })).toMatchObject({ kind: 'settled', units: 40 })
  })

  test('client.update returns the outcome of a first request with its key that still runs', async () => {
    const answered = gate()
    let asked = 0
    const { product, guard, runs } = await start({}, () => {
      asked++
      if (asked === 3) answered.open()
      return false
    })
    product.service.script('/on-demand/initech/run', { ...json({ data: {} }), once: answered.opened })
    const both = await Promise.all([guard.update(initech, { key: 'k' }), guard.update(initech, { key: 'k' })])
    expect(both.map(({ kind }) => kind)).toEqual(['settled', 'settled'])
    expect(runs()).toBe(1)
  })

  test('client.update waits for an update answered with 202', async () => {
    let looks = 0
    const { product, guard } = await start({ stream: true }, ({ method }) => {
      if (method === 'GET' && ++looks === 2) void product.deliver()
      return false
    })
    const outcome = await guard.update(initech, { respondAsync: true })
    expect(outcome).toMatchObject({ kind: 'settled', units: 40 })
    expect(looks).toBeGreaterThanOrEqual(3)
  })

  test('client.update is pending after the deadline and can be waited for again', async () => {
    const { product, guard } = await start({ stream: true })
    const outcome = await guard.update(initech, { respondAsync: true, deadlineMs: 400 })
    if (outcome.kind !== 'pending') throw new Error(outcome.kind)
    expect(outcome.update.state).toBe('requested')
    await product.deliver()
    expect(await guard.wait(outcome.update.id)).toMatchObject({ kind: 'settled' })
    expect(await guard.wait('upd_none')).toMatchObject({ kind: 'problem', problem: { type: '/problems/not-found' } })
  })

  test('client.update stays in doubt if the run may have happened', async () => {
    const { guard, runs } = await start({
      service: ({ url }) => (url.endsWith('/run') ? { status: 500 } : undefined),
    })
    expect(await guard.update(initech)).toMatchObject({ kind: 'in-doubt', update: { units: { held: 40 } } })
    expect(runs()).toBe(1)
  })

  test('client.update is released if it did not run, and awaits an approval that it needs', async () => {
    const { as, guard } = await start({
      service: ({ url }) => (url.endsWith('/run') ? { status: 404 } : undefined),
    })
    expect(await guard.update(initech)).toMatchObject({
      kind: 'released',
      problem: { type: '/problems/service-refused', serviceStatus: 404 },
    })
    const agent = await as('agent', 'read propose')
    expect(await agent.update({ ...initech, project: 'globex' })).toMatchObject({ kind: 'awaiting-approval' })
  })

  test.each([
    ['an unknown budget', { ...initech, budget: 'none' }, '/problems/invalid-request'],
    ['an estimate that cannot be read', { ...initech, project: 'odd' }, '/problems/estimate-unreadable'],
  ])('client.update answers %s with a problem and nothing is recorded', async (_name, wanted, type) => {
    const { guard } = await start({
      service: ({ url }) => (url.includes('/odd/') ? json({ nothing: true }) : undefined),
    })
    expect(await guard.update(wanted, { key: 'k' })).toMatchObject({ kind: 'problem', problem: { type }, key: 'k' })
    expect(await all(guard.list())).toEqual([])
  })
})

test('client.updates returns one outcome for each project in their order', async () => {
  const { guard } = await start({
    units: { globex: 900 },
    service: ({ url }) => (url.includes('/odd/') ? json({ nothing: true }) : undefined),
  })
  const wanted = { kind: 'ranking', projects: ['odd', 'globex', 'initech'], maxUnits: 500, whenShort: 'fit' } as const
  const outcomes = await guard.updates(wanted)
  expect(outcomes.map(({ kind }) => kind)).toEqual(['problem', 'refused', 'settled'])
})

test('client.updates returns the earlier update of a project that it names by another spelling', async () => {
  const { guard, product, runs } = await start({ units: { odd: 900 } })
  const limits = [{ window: 'month', units: 5_000 }]
  await product.call('PUT', '/budgets/cafe', { body: { limits, projects: [{ name: 'café & co', id: '1004' }] } })
  await guard.update({ kind: 'ranking', project: '1004' })
  const projects = ['odd', 'café & co', 'initech']
  const outcomes = await guard.updates({ kind: 'ranking', projects, maxUnits: 500, whenShort: 'fit' })
  const shown = outcomes.map((each) => [
    each.kind,
    'update' in each && each.update.project,
    'earlier' in each && each.earlier,
  ])
  expect(shown).toEqual([
    ['refused', 'odd', false],
    ['settled', '1004', true],
    ['settled', 'initech', false],
  ])
  expect(runs()).toBe(2)
})

test('client.updates is unanswered for each project that the answer leaves out', async () => {
  const { guard } = await start({}, (_request, response) => {
    response.writeHead(201, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ updates: [] }))
    return true
  })
  const [first, ...others] = await guard.updates({ kind: 'ranking', projects: ['initech', 'globex'] }, { key: 'k' })
  expect(first).toEqual({ kind: 'unanswered', why: 'The answer has no update of initech.', key: 'k' })
  expect(others).toHaveLength(1)
})

describe('no answer:', () => {
  test.each([
    [503, 'ledger-unavailable'],
    [500, 'internal'],
    [409, 'in-progress'],
  ])('client.update is unanswered with its key after %i %s until the deadline', async (status, slug) => {
    const { guard } = await start({}, (_request, response) => refuse(response, status, slug))
    expect(await guard.update(initech, { key: 'k' })).toEqual({ kind: 'unanswered', why: 'not now', key: 'k' })
  })

  test('the client waits as long as 503 and 429 say and repeats the request', async () => {
    let times = 0
    const { guard, runs } = await start({}, (_request, response) => {
      times++
      return times <= 2 && refuse(response, 503, 'ledger-unavailable', 0)
    })
    expect(await guard.update(initech)).toMatchObject({ kind: 'settled' })
    expect([times, runs()]).toEqual([3, 1])
  })

  test.each([
    ['an estimate', 'estimate', 'problem'],
    ['a run', 'run', 'released'],
  ] as const)(
    'the client does not repeat %s that the service refused with 429, and shows its wait',
    async (_what, operation, kind) => {
      const { product, guard, runs } = await start({
        service: ({ url }) =>
          url.endsWith(`/${operation}`) ? { status: 429, headers: { 'retry-after': '0' } } : undefined,
      })
      const outcome = await guard.update(initech)
      expect(outcome).toMatchObject({
        kind,
        problem: { type: '/problems/service-refused', serviceStatus: 429, retryAfter: 0 },
      })
      expect([product.seen(operation).length, runs()]).toEqual([1, operation === 'run' ? 1 : 0])
    },
  )

  test('the client stops at once if Retry-After is beyond the deadline', async () => {
    let times = 0
    const { guard } = await start({}, (_request, response) => {
      times++
      return refuse(response, 429, 'too-many-requests')
    })
    const { kind } = await guard.update(initech)
    expect([kind, times]).toEqual(['problem', 1])
  })

  test('the client calls its token function one more time after a 401, and never repeats a fixed token', async () => {
    const { url, product, runs } = await start()
    const valid = await product.signed({ sub: 'tool', scope: 'run', budgets: '*', exp: product.inDays(1) })
    const ended = await product.signed({ sub: 'tool', scope: 'run', budgets: '*', exp: product.inDays(-1) })
    const given = async (...tokens: string[]) => {
      let times = 0
      const token = async () => tokens[times++] ?? ended
      const { kind } = await new UnitGuard({ url, token, deadlineMs: 15_000 }).update(initech)
      return [kind, times]
    }
    expect(await given(ended, valid)).toEqual(['settled', 2])
    expect(await given(ended, ended, valid)).toEqual(['problem', 2])
    expect((await new UnitGuard({ url, token: ended }).update(initech)).kind).toBe('problem')
    expect(runs()).toBe(1)
  })

  test('client.update is unanswered with its key at the deadline', async () => {
    const url = await listen(() => {})
    const guard = new UnitGuard({ url, token: 't' })
    expect(await guard.update(initech, { key: 'report-47', deadlineMs: 100 })).toEqual({
      kind: 'unanswered',
      key: 'report-47',
      why: expect.stringContaining('timeout'),
    })
    expect(await guard.budgets({ deadlineMs: 100 })).toMatchObject({ kind: 'unanswered' })
  })

  test('the client accepts a deadline beyond what a timer can count', async () => {
    const { guard } = await start()
    const month = 31 * 24 * 3600_000
    expect(await guard.update(initech, { deadlineMs: month })).toMatchObject({ kind: 'settled' })
    expect(await guard.update(initech, { deadlineMs: Number.POSITIVE_INFINITY })).toMatchObject({ kind: 'settled' })
  })

  test('the client follows no redirect, which would give the token away', async () => {
    const seen: string[] = []
    const elsewhere = await listen((request, response) => {
      seen.push(String(request.headers.authorization))
      response.end('{}')
    })
    const url = await listen((_request, response) => void response.writeHead(307, { location: elsewhere }).end())
    const guard = new UnitGuard({ url, token: 't', deadlineMs: 3_000 })
    expect(await guard.update(initech)).toMatchObject({ kind: 'unanswered', why: expect.stringContaining('redirect') })
    expect(seen).toEqual([])
  })

  test('aborting the client ends the waiting, not the update', async () => {
    const leaving = new AbortController()
    const { product, guard } = await start({ stream: true }, ({ method }) => {
      if (method === 'GET') leaving.abort(new Error('leaving'))
      return false
    })
    const asked = guard.update(initech, { respondAsync: true, signal: leaving.signal })
    await expect(asked).rejects.toThrow('leaving')
    await product.deliver()
    expect(product.seen('run')).toHaveLength(1)
  })
})

describe('cancelling', () => {
  async function queued(before?: Parameters<typeof start>[1]) {
    const started = await start({ stream: true }, before)
    const { product } = started
    /** Queues without the client, which would wait for an end that never comes. */
    const queue = async (sub: string, project: string): Promise<string> => {
      const token = product.signed({ sub, scope: 'read run', budgets: '*' })
      const headers = { prefer: 'respond-async' }
      const { body } = await product.call('POST', '/updates', { body: { ...initech, project }, token, headers })
      return body.updates[0].id
    }
    return { ...started, queue }
  }

  test('client.cancel cancels many updates and says why it left others', async () => {
    const { product, guard, queue, runs } = await queued()
    const [one, two, other] = [await queue('tool', 'a'), await queue('tool', 'b'), await queue('carol', 'c')]
    const done = await guard.cancel([one, other, two], { reason: 'a loop' })
    if (done.kind !== 'cancelled') throw new Error(done.kind)
    expect(done.updates.map(({ id, state }) => [id, state])).toEqual([
      [one, 'cancelled'],
      [two, 'cancelled'],
    ])
    expect(done.updates[0]?.history.at(-1)).toMatchObject({ by: 'tool', note: 'a loop' })
    expect(done.notCancelled).toEqual([
      { id: other, detail: `carol asked for the ranking update of c; only they or an administrator may cancel it.` },
    ])
    await product.deliver()
    expect(product.seen('run').map(({ url }) => url)).toEqual(['/v3/on-demand/c/run'])
    expect(runs()).toBe(1)
  })

  test('client.cancel returns a problem if it cancelled no update', async () => {
    const { guard } = await queued()
    const { update } = (await guard.update(initech)) as { update: Update }
    const settled = await guard.cancel([update.id])
    expect(settled).toMatchObject({ kind: 'problem', problem: { type: '/problems/wrong-state', state: 'settled' } })
    expect(await guard.cancel([])).toMatchObject({ kind: 'problem', problem: { type: '/problems/invalid-request' } })
  })

  test('client.cancel names the updates that a request with a lost answer cancelled', async () => {
    let losses = 0
    const { guard, queue } = await queued((request, response, pass) => {
      if (request.url !== '/updates/cancel' || ++losses > 1) return false
      return lose(request, response, pass)
    })
    const id = await queue('tool', 'a')
    const done = await guard.cancel([id, 'upd_none'])
    expect(done).toMatchObject({
      kind: 'cancelled',
      updates: [{ id, state: 'cancelled' }],
      notCancelled: [{ id: 'upd_none', detail: 'upd_none was not cancelled; its state is not known.' }],
    })
    expect(losses).toBe(2)
  })

  test.each(['undecided', 'internal'])(
    'client.cancel is unanswered after %s, because some updates may be cancelled',
    async (slug) => {
      const { guard } = await queued((request, response) => {
        return request.url === '/updates/cancel' && refuse(response, 503, slug)
      })
      expect(await guard.cancel(['upd_a', 'upd_b'])).toEqual({ kind: 'unanswered', why: 'not now' })
    },
  )
})

describe('reads of the client', () => {
  test('the client reads an estimate, all budgets and one budget', async () => {
    const { guard } = await start({ units: { 'a & b': 12 } })
    expect(await guard.estimate({ kind: 'ranking', projects: ['a & b', 'initech'] })).toMatchObject({
      kind: 'estimate',
      estimate: { units: 52, allowed: true },
    })
    expect(await guard.budgets()).toMatchObject({ kind: 'budgets', budgets: [{ name: 'account' }] })
    expect(await guard.budget('account')).toMatchObject({ kind: 'budget', budget: { windows: [{ limit: 50_000 }] } })
    expect(await guard.budget('none')).toMatchObject({ kind: 'problem', problem: { type: '/problems/not-found' } })
  })

  test('client.list yields all updates page by page, newest first', async () => {
    const pages: (string | undefined)[] = []
    const { guard } = await start({}, (request) => {
      if (request.method === 'GET') pages.push(request.url)
      request.url = request.url?.replace('limit=200', 'limit=2')
      return false
    })
    for (const project of ['a', 'b', 'c'])
      await guard.update({ kind: 'ranking', project, reason: 'r', tags: { for: project } })
    const listed = await all(guard.list({ kind: 'ranking', state: 'settled' }))
    expect(listed.map(({ project }) => project).toSorted()).toEqual(['a', 'b', 'c'])
    expect(pages).toHaveLength(2)
    const tagged = await all(guard.list({ tags: { for: 'b' } }))
    expect(tagged.map(({ tags }) => tags)).toEqual([{ for: 'b' }])
    await expect(all(guard.list({ since: 'yesterday' }))).rejects.toMatchObject({
      name: 'ProblemError',
      problem: { type: '/problems/invalid-request' },
    })
  })
})

describe('mistakes of the program throw:', () => {
  test('the client throws for a wrong address and a missing token', () => {
    expect(() => new UnitGuard({ url: 'guard', token: 't' })).toThrow(TypeError)
    expect(() => new UnitGuard({ url: 'ftp://guard', token: 't' })).toThrow(
      'url must be the address of Unit Guard, such as http://127.0.0.1:8787; it is ftp://guard',
    )
    const settings: { url?: string } = {}
    expect(() => new UnitGuard({ url: settings.url as string, token: 't' })).toThrow('it is undefined')
    expect(() => new UnitGuard({ url: 'http://guard', token: '' })).toThrow('token must be a bearer token')
  })

  test('the client throws for a token that no header can hold, without showing it', async () => {
    const guard = new UnitGuard({ url: 'http://127.0.0.1:1', token: 'se\ncret' })
    const failure = await guard.update(initech).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TypeError)
    expect(String(failure)).not.toContain('cret')
  })

  test('the client throws for a wrong key and a missing project', async () => {
    const guard = new UnitGuard({ url: 'http://127.0.0.1:1', token: 't' })
    await expect(guard.update(initech, { key: 'a b' })).rejects.toThrow('visible ASCII')
    await expect(guard.updates({ kind: 'ranking', projects: [] })).rejects.toThrow('need a project')
  })

  test('the client throws if another service answers', async () => {
    const url = await listen((_request, response) => void response.end('<html>'))
    await expect(new UnitGuard({ url, token: 't' }).update(initech)).rejects.toThrow('not from Unit Guard')
  })
})

async function all<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const found: Row[] = []
  for await (const row of rows) found.push(row)
  return found
}
