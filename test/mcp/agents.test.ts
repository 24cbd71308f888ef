import { describe, expect, test } from 'vitest'
import { hours, minutes } from '../support/clock.ts'
import { listenForAgents, type Result, revisions } from '../support/mcp.ts'
import { json, type Product, startProduct } from '../support/product.ts'
import { gate } from '../support/scripted-service.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { mortal } from '../support/store/mortal-store.ts'
import { createStore } from '../support/store/stores.ts'

const owner = { limits: [{ window: 'month', units: 1000 }], projects: [{ name: 'initech' }] }

/** Uses DynamoDB Local only if calls race or the table matters. */
const onDynamoDb = async () => ({ store: await createStore(), stream: false })
const onMemory = () => ({ store: createMemoryStore(), stream: false })

async function start(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct(options.store ? options : { ...onMemory(), ...options })
  expect((await product.call('PUT', '/budgets/acme', { body: owner })).status).toBe(201)
  // These tests retry faster than an agent may.
  for (const sub of ['agent', 'other']) {
    const caller = await product.call('PUT', `/callers/${sub}`, { body: { ratePerMinute: 10_000 } })
    expect(caller.status).toBe(201)
  }
  return { ...product, ...(await listenForAgents(product)) }
}

const idsOf = (results: readonly Result[]) => [
  ...new Set(results.map(({ data }) => data.id ?? data.updates?.[0]?.id ?? data.update)),
]

describe.each(revisions)('an agent with a client of the revision %s', (revision) => {
  test('an agent gets an estimate, a quote and one update, and reads its result', async () => {
    const { connect, seen, figures, audit } = await start({ units: { initech: 40 } })
    const agent = await connect({ revision })
    const estimate = await agent.call('estimate_update', { kind: 'ranking', project: 'initech' })
    expect(estimate.data).toMatchObject({ units: 40, allowed: true, quoteExpiresAt: '2026-11-20T10:10:00.000Z' })
    expect(estimate.data.left).toContainEqual({ budget: 'acme', window: 'month', before: 1000, after: 960 })
    expect(seen('run')).toHaveLength(0)
    const wanted = { quote: estimate.data.quote, reason: 'report 47', tags: { client: 'acme' } }
    const result = await agent.call('request_update', wanted)
    expect(result.data).toMatchObject({
      state: 'settled',
      via: 'mcp',
      reason: 'report 47',
      tags: { client: 'acme' },
      units: { charged: 40 },
    })
    const read = await agent.call('get_update', { id: result.data.id, waitSeconds: 20 })
    expect(read.data).toMatchObject({
      state: 'settled',
      timeline: [expect.stringContaining('running'), expect.stringContaining('settled')],
    })
    expect(seen('run')).toHaveLength(1)
    expect(await figures('acme')).toMatchObject({ spent: 40, held: 0, available: 960 })
    expect(await audit()).toBe(true)
  })

  test('ten parallel requests of one quote run once, in two processes of the product', async () => {
    const product = await start(await onDynamoDb())
    const other = await listenForAgents({ ...product, mcp: product.startProcess().mcp })
    const agents = [await product.connect({ revision }), await other.connect({ revision })]
    const quote = (await agents[0]?.quote('initech')) ?? ''
    const results = await Promise.all(
      Array.from({ length: 10 }, async (_, at) => agents[at % 2]?.request(quote, `reason ${at}`) as Promise<Result>),
    )
    expect(idsOf(results)).toHaveLength(1)
    expect(results.map(({ isError }) => isError)).not.toContain(true)
    expect([product.seen('run').length, (await product.figures('acme')).spent]).toEqual([1, 40])
    expect(await product.audit()).toBe(true)
  })

  test('an agent’s list has the tools that its scopes allow', async () => {
    const { connect, call } = await start()
    const namesOf = async (scope: string, sub = 'agent') => {
      const { client } = await connect({ revision, scope, sub })
      return (await client.listTools()).tools.map(({ name }) => name).toSorted()
    }
    const reads = ['estimate_update', 'forecast', 'get_budget', 'get_update', 'list_budgets', 'list_updates']
    const spends = ['cancel_update', 'request_update']
    expect(await namesOf('read')).toEqual(reads)
    expect(await namesOf('read run')).toEqual([...reads, ...spends].toSorted())
    expect(await namesOf('propose')).toEqual(spends)
    expect(await namesOf('approve')).toEqual([])
    await call('PUT', '/callers/narrow', { body: { scopes: ['read'] } })
    expect(await namesOf('read run', 'narrow')).toEqual(reads)
    const narrow = await connect({ revision, sub: 'narrow' })
    const refusal = await narrow.request('quote')
    expect([refusal.isError, refusal.data.type]).toEqual([true, '/problems/forbidden'])
  })
})

describe('a request of an agent', () => {
  test('a request with a hundred retries of one quote runs once, and each gets the same answer', async () => {
    const { connect, seen, figures, audit } = await start(await onDynamoDb())
    const agent = await connect()
    const quote = await agent.quote('initech')
    const results: Result[] = []
    for (let time = 0; time < 100; time += 10) {
      const retries = Array.from({ length: time === 0 ? 1 : 11 }, (_, at) =>
        agent.request(quote, `reason ${time + at}`),
      )
      results.push(...(await Promise.all(retries)))
    }
    expect(results).toHaveLength(100)
    expect(new Set(results.map(({ data }) => JSON.stringify(data))).size).toBe(1)
    expect(results[99]?.data).toMatchObject({ state: 'settled', reason: 'reason 0' })
    expect([seen('run').length, (await figures('acme')).spent, await audit()]).toEqual([1, 40, true])
  })

  test('a request continues if its stream breaks or is cancelled, and its retry finds the same update', async () => {
    for (const revision of revisions) {
      const slow = gate()
      const { connect, seen, figures, audit } = await start({
        service: ({ url }) =>
          url.includes('/run') ? { once: slow.opened, body: '{"data":{"keyword_units":40}}' } : undefined,
      })
      const agent = await connect({ revision })
      const quote = await agent.quote('initech')
      const leaving = new AbortController()
      const broken = agent.request(quote, 'report', { signal: leaving.signal }).catch((error: Error) => error)
      await expect.poll(() => seen('run').length).toBe(1)
      leaving.abort()
      expect(await broken).toBeInstanceOf(Error)
      const again = await agent.request(quote)
      expect(again).toMatchObject({
        isError: false,
        data: { state: 'running', next: expect.stringContaining('get_update') },
      })
      const waiting = agent.call('get_update', { id: again.data.id, waitSeconds: 20 })
      slow.open()
      expect((await waiting).data.state).toBe('settled')
      expect((await agent.request(quote)).data).toMatchObject({ id: again.data.id, state: 'settled' })
      expect([seen('run').length, (await figures('acme')).spent, await audit()]).toEqual([1, 40, true])
    }
  })

  test('a request is refused finally if the price grew after the quote, even if the price falls again', async () => {
    const units = { initech: 40 }
    const { connect, seen, figures } = await start({ units })
    const agent = await connect()
    const quote = await agent.quote('initech')
    units.initech = 41
    const refusal = await agent.request(quote)
    expect(refusal).toMatchObject({
      isError: true,
      data: { type: '/problems/over-max-units', units: 41, maxUnits: 40 },
    })
    const read = await agent.call('get_update', { id: refusal.data.updates[0].id })
    expect(read.sentence).toMatch(/ at most 40 for each update \(maxUnits\)\.$/)
    units.initech = 40
    expect((await agent.request(quote)).sentence).toContain(`The reason then: ${refusal.data.detail}`)
    expect([seen('run').length, (await figures('acme')).spent]).toEqual([0, 0])
    expect((await agent.request(await agent.quote('initech'))).data.state).toBe('settled')
  })

  test('a request is refused if its budget was frozen after the quote', async () => {
    const { connect, call, seen } = await start()
    const agent = await connect()
    const quote = await agent.quote('initech')
    await call('POST', '/budgets/acme/freeze', { body: { reason: 'gone wild' } })
    const refusal = await agent.request(quote)
    expect(refusal).toMatchObject({ isError: true, data: { type: '/problems/budget-frozen', budget: 'acme' } })
    expect(refusal.sentence).toContain('acme was frozen by ada')
    await call('POST', '/budgets/acme/unfreeze', { body: { reason: 'tame again' } })
    const later = await agent.request(quote)
    expect(later.sentence).toMatch(
      /^This quote is used up: its request was refused on 20 Nov 2026 10:00 UTC\. The reason then: acme was frozen by ada .* call estimate_update\.$/,
    )
    expect(later.isError).toBe(true)
    expect(seen('run')).toHaveLength(0)
  })

  test.each([
    ['owner', { projects: [] }, { projects: [{ name: 'initech' }] }],
    ['names', { projects: [{ name: 'initech', id: '7' }] }, null],
  ])('a request is refused if the %s of its project changed after the quote', async (_, acme, press) => {
    const { connect, call, seen } = await start()
    const agent = await connect()
    const quote = await agent.quote('initech')
    expect((await call('PUT', '/budgets/acme?release=true', { body: { ...owner, ...acme } })).status).toBe(200)
    if (press) expect((await call('PUT', '/budgets/press', { body: { ...owner, ...press } })).status).toBe(201)
    const refusal = await agent.request(quote)
    expect(refusal).toMatchObject({ isError: true, data: { type: '/problems/wrong-state' } })
    expect(refusal.sentence).toContain('changed after the quote, so nothing was spent')
    expect(seen('run')).toHaveLength(0)
  })

  test('a request without a record is refused after ten minutes, and a request with a record is answered', async () => {
    const { connect, clock, seen } = await start()
    const [agent, late] = [await connect(), await connect({ sub: 'other' })]
    const [used, unused] = [await agent.quote('initech'), await late.quote('globex')]
    const { data } = await agent.request(used)
    clock.advance(minutes(10))
    expect(await late.request(unused)).toMatchObject({
      isError: true,
      sentence: expect.stringContaining('This quote expired on 20 Nov 2026 10:10 UTC. This call spent nothing.'),
    })
    clock.advance(minutes(30))
    expect((await agent.request(used)).data).toEqual(data)
    expect(seen('run')).toHaveLength(1)
  })

  test('a request is refused if the time of its quote is more than a minute ahead', async () => {
    const { connect, clock } = await start()
    const agent = await connect()
    clock.advance(minutes(5))
    const quote = await agent.quote('initech')
    clock.advance(-minutes(5))
    expect((await agent.request(quote)).sentence).toContain('more than a minute ahead of our clock')
  })

  test('a request with an altered quote is refused, even if the quote has a record', async () => {
    const { connect, seen } = await start()
    const agent = await connect()
    const quote = await agent.quote('initech')
    const cheaper = altered(quote, (text) => text.replace('"units":40', '"units":99'))
    const before = await agent.request(cheaper)
    expect(before).toMatchObject({ isError: true, data: { type: '/problems/invalid-request' } })
    await agent.request(quote)
    expect(await agent.request(cheaper)).toEqual(before)
    expect(seen('run')).toHaveLength(1)
  })

  test('a request of a caller who may only propose awaits approval, and the answer links to the update', async () => {
    const { connect, call, seen } = await start({ env: { DASHBOARD_URL: 'https://units.example' } })
    const agent = await connect({ scope: 'read propose' })
    const estimate = await agent.call('estimate_update', { kind: 'ranking', project: 'initech' })
    expect(estimate.sentence).toContain('A person would have to approve it')
    const asked = await agent.request(estimate.data.quote)
    expect(asked).toMatchObject({ isError: false, data: { state: 'awaiting-approval' } })
    expect(asked.sentence).toContain(`https://units.example/dashboard/updates/${asked.data.id}`)
    expect((await agent.request(estimate.data.quote)).data).toEqual(asked.data)
    await call('POST', `/updates/${asked.data.id}/approve`)
    expect((await agent.request(estimate.data.quote)).data).toMatchObject({ id: asked.data.id, state: 'settled' })
    expect(seen('run')).toHaveLength(1)
  })

  test('a request can be cancelled before it is sent, and stays cancelled', async () => {
    const { connect, seen } = await start()
    const agent = await connect({ scope: 'read propose' })
    const quote = await agent.quote('initech')
    const { id } = (await agent.request(quote)).data
    const cancelled = await agent.call('cancel_update', { id })
    expect(cancelled).toMatchObject({ isError: false, data: { state: 'cancelled' } })
    expect(await agent.call('cancel_update', { id })).toEqual(cancelled)
    expect(await agent.request(quote)).toMatchObject({ isError: true, data: { updates: [{ id, state: 'cancelled' }] } })
    expect(seen('run')).toHaveLength(0)
  })

  test('only its own caller may cancel a cancelled request again', async () => {
    const { connect } = await start()
    const [agent, other] = [await connect({ scope: 'read propose' }), await connect({ sub: 'other' })]
    const { id } = (await agent.request(await agent.quote('initech'))).data
    await agent.call('cancel_update', { id })
    expect(await other.call('cancel_update', { id })).toMatchObject({
      isError: true,
      data: { type: '/problems/forbidden' },
    })
    const { id: settled } = (await other.request(await other.quote('initech'))).data
    expect(await other.call('cancel_update', { id: settled })).toMatchObject({
      isError: true,
      data: { type: '/problems/wrong-state' },
    })
  })

  test('a second call with a quote that another call used in its last moment is answered with its update', async () => {
    const memory = createMemoryStore()
    /** Runs once, after a call has found no record of its quote. */
    let meanwhile: (() => Promise<unknown>) | null = null
    const store = {
      ...memory,
      get: async (keys: Parameters<typeof memory.get>[0]) => {
        const found = await memory.get(keys)
        const act = meanwhile
        if (act === null || keys.length !== 1 || !keys[0]?.pk.startsWith('update#')) return found
        meanwhile = null
        await act()
        return found
      },
    }
    const { connect, clock, seen } = await start({ store, stream: false })
    const [agent, twin] = [await connect(), await connect()]
    const quote = await agent.quote('initech')
    clock.advance(minutes(10) - 1)
    let first: Result | null = null
    meanwhile = async () => {
      first = await twin.request(quote)
      clock.advance(1)
    }
    const second = await agent.request(quote)
    expect(first).toMatchObject({ isError: false, data: { state: 'settled' } })
    expect(idsOf([second])).toEqual(first ? idsOf([first]) : [])
    expect(seen('run')).toHaveLength(1)
  })

  test('an agent can wait for a request while it is queued and while it runs', async () => {
    const slow = gate()
    const memory = createMemoryStore()
    let reads: string[] = []
    const store = {
      ...memory,
      get: (keys: Parameters<typeof memory.get>[0]) => {
        reads.push(...keys.map(({ pk }) => pk))
        return memory.get(keys)
      },
    }
    const { connect, update, guard, clock, seen } = await start({
      store,
      service: ({ url }) => (url.includes('/run') ? { ...json({ keyword_units: 40 }), once: slow.opened } : undefined),
    })
    const agent = await connect()
    const { body } = await update({ kind: 'ranking', project: 'initech' }, { headers: { prefer: 'respond-async' } })
    const { id } = body.updates[0]
    const awaited = async () => {
      reads = []
      const waiting = agent.call('get_update', { id, waitSeconds: 20 })
      await expect.poll(() => reads).toContain(`update#${id}`)
      return { waiting }
    }
    const queued = await awaited()
    const started = guard.start(id, clock.now() + minutes(1))
    await expect.poll(() => seen('run').length).toBe(1)
    const running = await awaited()
    slow.open()
    await started
    for (const { waiting } of [queued, running]) expect((await waiting).data.state).toBe('settled')
  })

  test.each<[string, number, (by: { leaving: AbortController; clock: Product['clock'] }) => void]>([
    ['its caller leaves', 20, ({ leaving }) => leaving.abort()],
    ['the function has no time left', 20, ({ clock }) => clock.advance(hours(1))],
    ['the seconds of the call are over', 1, () => {}],
  ])('an agent waits for a request no longer than until %s', async (_end, waitSeconds, end) => {
    const memory = createMemoryStore()
    let reads = 0
    const store = {
      ...memory,
      get: (keys: Parameters<typeof memory.get>[0]) => {
        reads += keys.filter(({ pk }) => pk.startsWith('update#')).length
        return memory.get(keys)
      },
    }
    const { update, mcp, signed, clock } = await startProduct({ store, stream: false })
    const { body } = await update({ kind: 'ranking', project: 'initech' }, { headers: { prefer: 'respond-async' } })
    const { id } = body.updates[0]
    const leaving = new AbortController()
    reads = 0
    const waiting = mcp.request('http://localhost/mcp', {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        authorization: `Bearer ${await signed({ sub: 'agent', scope: 'read' })}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'get_update', arguments: { id, waitSeconds } },
      }),
    })
    await expect.poll(() => reads).toBeGreaterThan(0)
    end({ leaving, clock })
    expect(await (await waiting).text()).toContain(`"state":"requested"`)
    // The waiting call reads the update two times a second.
    expect(reads).toBeLessThan(10)
  })

  test('a request may be repeated with its quote if the service gave no estimate', async () => {
    let isDown = false
    const { connect, seen } = await start({ service: () => (isDown ? { status: 500 } : undefined) })
    const agent = await connect()
    const quote = await agent.quote('initech')
    isDown = true
    const refusal = await agent.request(quote)
    expect(refusal.isError).toBe(true)
    expect(refusal.data.next).toContain('same quote again')
    isDown = false
    expect((await agent.request(quote)).data.state).toBe('settled')
    expect(seen('run')).toHaveLength(1)
  })

  test('a request is never sent twice if a process dies at any write, and its books add up', async () => {
    const states = new Set<string>()
    for (const writes of [0, 1, 2, 3]) {
      const { store, kill, heal } = mortal(createMemoryStore())
      const { connect, clock, guard, seen, figures, audit } = await start({ store })
      const agent = await connect()
      const quote = await agent.quote('initech')
      kill(writes)
      await agent.request(quote)
      heal()
      const first = (await agent.request(quote)).data
      clock.advance(minutes(15))
      await (await guard.jobs()).sweep(clock.now() + minutes(15))
      const last = (await agent.request(quote)).data
      expect(last.id).toBe(first.id)
      states.add(last.state)
      const { spent, held, inDoubt } = await figures('acme')
      expect([seen('run').length <= 1, spent + held + inDoubt, await audit()]).toEqual([true, 40, true])
      expect(last.next).toMatch(last.state === 'settled' ? /It is done/ : /may have run, so it stays counted/)
    }
    expect([...states].toSorted()).toEqual(['in-doubt', 'settled'])
  })

  test('a request is refused if its caller lost the right after the quote, even if it is recorded', async () => {
    const { connect, call, seen } = await start()
    const agent = await connect()
    const [used, unused] = [await agent.quote('initech'), await agent.quote('globex')]
    await agent.request(used)
    for (const change of [{ disabled: true }, { scopes: ['read'] }]) {
      await call('PUT', '/callers/agent', { body: { ...change, ratePerMinute: 10_000 } })
      for (const quote of [used, unused])
        expect((await agent.request(quote)).data).toMatchObject({ type: '/problems/forbidden' })
    }
    expect(seen('run')).toHaveLength(1)
  })

  test('the answer to a caller who reads some budgets names no budget above', async () => {
    const { connect, call, seen } = await start()
    await call('PUT', '/budgets/clients', { body: { limits: owner.limits } })
    expect((await call('PUT', '/budgets/acme', { body: { ...owner, parent: 'clients' } })).status).toBe(200)
    const body = { readsBudgets: ['acme'], ratePerMinute: 10_000 }
    expect((await call('PUT', '/callers/agent', { body })).status).toBe(200)
    const agent = await connect()
    const quote = await agent.quote('initech')
    const results = [await agent.request(quote), await agent.request(quote)]
    expect(results.map(({ data }) => data.state)).toEqual(['settled', 'settled'])
    expect(JSON.stringify(results)).not.toContain('clients')
    expect(seen('run')).toHaveLength(1)
  })

  test('an agent gets no quote if the request would be refused or the caller has no right', async () => {
    const { connect } = await start({ units: { initech: 2000 } })
    const agent = await connect()
    const short = await agent.call('estimate_update', { kind: 'ranking', project: 'initech' })
    expect(short.data).toMatchObject({ allowed: false, problem: { type: '/problems/over-budget' } })
    expect(short.data.quote).toBeUndefined()
    const reader = await connect({ scope: 'read' })
    expect((await reader.call('estimate_update', { kind: 'ranking', project: 'globex' })).data.quote).toBeUndefined()
  })
})

function altered(quote: string, change: (text: string) => string): string {
  const [payload = '', signature = ''] = quote.split('.')
  return `${Buffer.from(change(Buffer.from(payload, 'base64url').toString())).toString('base64url')}.${signature}`
}
