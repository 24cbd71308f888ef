import { describe, expect, test } from 'vitest'
import { json, startProduct } from '../support/product.ts'
import type { Answer } from '../support/scripted-service.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// Whole requests to a service whose answers are not those of the stand-in.

interface Script {
  readonly estimate?: Answer
  readonly run?: Answer
  readonly env?: Record<string, string>
}

const projects = [{ name: 'shop', id: '1001' }, { name: 'press' }]

async function start({ estimate = json({ keyword_units: 6 }), run, env = {} }: Script) {
  const product = await startProduct({
    store: createMemoryStore(),
    env,
    service: ({ url }) => (url.endsWith('/estimate') ? estimate : url.endsWith('/run') ? run : undefined),
  })
  await product.call('PUT', '/budgets/acme', {
    body: { limits: [{ window: 'month', units: 100 }], projects },
  })
  const ask = async (more: object = {}) => {
    const { status, body } = await product.update({ kind: 'ranking', project: 'shop', ...more })
    return { status, body, update: body.updates?.[0] }
  }
  const lastLine = (update: { history: { note?: string }[] }) => update.history.at(-1)?.note
  return { ...product, ask, lastLine }
}

describe('a 200 that speaks of a failure', () => {
  test('keeps the units counted, names the sign, and is never sent again', async () => {
    const refusal = '{"response_code":10,"message":"already scheduled"}'
    const product = await start({ run: { body: refusal } })
    const { status, update } = await product.ask()
    expect([status, update.state]).toEqual([202, 'in-doubt'])
    expect(product.lastLine(update)).toBe(
      'the answer has response_code 10 at /response_code, so it proves nothing. If the update ran, say so here; the settings that decide such answers: npm run doctor.',
    )
    for (let times = 0; times < 3; times++) expect((await product.ask()).status).toBe(409)
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures('acme')).toMatchObject({ inDoubt: 6, available: 94 })
    expect(await product.audit()).toBe(true)
  })

  test('never shows other text of the service or the token in the history', async () => {
    const token = 'canary-service-token-7f3a9c'
    const body = JSON.stringify({ status: `failed <!channel> ${token}` })
    const product = await start({ run: { body } })
    const { update } = await product.ask()
    expect(product.lastLine(update)).toMatch(/^the answer has status failed at \/status, so it proves nothing\./)
  })

  test('released by RUN_REFUSED gives the units back', async () => {
    const product = await start({
      run: { body: '{"response_code":26,"message":"not enough keyword units"}' },
      env: { RUN_REFUSED_RANKING: '/response_code=26' },
    })
    const { status, body, update } = await product.ask()
    expect([status, body.type, update.state]).toEqual([502, '/problems/service-refused', 'released'])
    expect(body.detail).toBe(
      'The service refused the update, so it provably did not run: RUN_REFUSED names this answer. The units were given back.',
    )
    expect(await product.figures('acme')).toMatchObject({ inDoubt: 0, spent: 0, available: 100 })
  })

  test('settled by RUN_STARTED of its kind alone', async () => {
    const product = await start({
      run: { body: '{"status_code":20100,"error":"none found"}' },
      env: { RUN_STARTED_RANKING: '/status_code=20000|20100' },
    })
    expect((await product.ask()).update.state).toBe('settled')
    expect((await product.ask({ kind: 'keyword-difficulty', project: '1001' })).update.state).toBe('in-doubt')
  })

  test('settled because a word of its state belongs to the listed name of the project', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ url }) => (url.endsWith('/run') ? json({ status: 'Update of limit.example queued' }) : undefined),
    })
    const projects = [{ name: 'limit.example', id: '1007' }]
    await product.call('PUT', '/budgets/acme', { body: { limits: [{ window: 'month', units: 100 }], projects } })
    const { body } = await product.update({ kind: 'keyword-difficulty', project: '1007' })
    expect(body.updates[0].state).toBe('settled')
    const other = await product.update({ kind: 'ranking', project: 'another' })
    expect(other.body.updates[0].state).toBe('in-doubt')
  })
})

describe('an estimate of 0', () => {
  const zero = json({ units: 0 })
  const sentence = 'The service says 0 units: there is nothing to update, or it does not know the price.'

  test('starts nothing, whatever the limits allow', async () => {
    const product = await start({ estimate: zero })
    await product.call('PUT', '/budgets/acme', {
      body: { limits: [{ window: 'month', units: 100 }], approvalAbove: 0, perUpdate: 5, projects },
    })
    const { status, body, update } = await product.ask({ maxUnits: 1 })
    expect([status, body.type, body.detail, update.state]).toEqual([402, '/problems/no-price', sentence, 'refused'])
    expect(product.seen('run')).toEqual([])
    const estimate = await product.call('GET', '/estimates?kind=ranking&project=shop')
    expect(estimate.body).toMatchObject({ units: 0, allowed: false, problem: { type: '/problems/no-price' } })
  })

  test('refuses only its own project of a request for two', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ url }) => (url.endsWith('/shop/estimate') ? zero : undefined),
    })
    const { status, body } = await product.update({ kind: 'ranking', projects: ['shop', 'press'] })
    expect([status, body.updates.map(({ state }: { state: string }) => state)]).toEqual([201, ['refused', 'settled']])
  })

  test('is admitted with ZERO_PRICE=free, holds 0, and needs approval where approvals have a limit', async () => {
    const product = await start({ estimate: zero, env: { ZERO_PRICE: 'free' } })
    expect((await product.ask()).update).toMatchObject({ state: 'settled', units: { held: 0, charged: 0 } })
    await product.call('PUT', '/budgets/acme', {
      body: { limits: [{ window: 'month', units: 100 }], approvalAbove: 50, projects },
    })
    const { update } = await product.ask({ project: 'press' })
    expect(update.state).toBe('awaiting-approval')
    expect(product.lastLine(update)).toBe('it needs 0 units, and acme wants approval above 50 and for a price of 0')
  })

  test('of a project that no budget lists needs approval with ZERO_PRICE=free, where account wants it', async () => {
    const product = await start({ estimate: zero, env: { ZERO_PRICE: 'free' } })
    await product.call('PUT', '/budgets/account', {
      body: { parent: null, limits: [{ window: 'month', units: 100 }], unowned: 'approve', approvers: ['bob'] },
    })
    expect((await product.ask({ project: 'new' })).update.state).toBe('awaiting-approval')
  })

  test('with a sign of failure is no price at all, and is not recorded', async () => {
    const product = await start({ estimate: json({ success: false, cost: 0 }) })
    const { status, body } = await product.ask()
    expect([status, body.type, body.updates]).toEqual([502, '/problems/estimate-unreadable', undefined])
    expect(body.detail).toBe(
      'The estimate of the ranking update of shop could not be read (the answer has success false at /success), so nothing was run and nothing spent. The settings that decide such answers: npm run doctor.',
    )
  })
})

describe('a figure in the answer of a run', () => {
  test('is no cost at another place than the estimate’s', async () => {
    const product = await start({ run: json({ ok: true, data: { units: 94_000 } }) })
    const { update } = await product.ask()
    expect([update.state, update.units.charged]).toEqual(['settled', 6])
    expect(product.lastLine(update)).toBe(
      'ran; the 6 units held were charged. The answer also states 94,000 at /data/units, which is not read; if it is the cost, set RUN_POINTER_RANKING=/data/units.',
    )
  })

  test('is the cost at the place of the estimate', async () => {
    const product = await start({ run: json({ keyword_units: 9 }) })
    expect((await product.ask()).update.units).toMatchObject({ held: 6, charged: 9 })
  })
})

test('a configured pointer reads the estimate, and the history names the sign beside it', async () => {
  const product = await start({
    estimate: json({ status: 'error', need: 6 }),
    env: { ESTIMATE_POINTER_RANKING: '/need' },
  })
  const { update } = await product.ask()
  expect(update.history[0].note).toBe('6 units held on acme and account; the estimate has status error at /status')
})

test('an answer of a cache to the estimate stops the update, and to the run puts it in doubt', async () => {
  const cachedEstimate = await start({ estimate: { body: '{"units":6}', headers: { age: '900' } } })
  expect((await cachedEstimate.ask()).body).toMatchObject({
    type: '/problems/estimate-unreadable',
    detail:
      'The estimate of the ranking update of shop could not be read (answered by a cache), so nothing was run and nothing spent.',
  })
  const cachedRun = await start({ run: { status: 404, body: '{}', headers: { age: '900' } } })
  const { update } = await cachedRun.ask()
  expect([update.state, cachedRun.lastLine(update)]).toEqual(['in-doubt', 'answered by a cache'])
})

test.each([
  ['estimate', { type: '/problems/service-refused', retryAfter: 120, serviceStatus: 429 }],
  ['run', { type: '/problems/service-refused', retryAfter: 120, serviceStatus: 429 }],
] as const)('Retry-After of a 429 to the %s reaches the caller', async (call, problem) => {
  const busy = { status: 429, headers: { 'retry-after': '120' } }
  const product = await start({ [call]: busy })
  const { status, headers, body } = await product.update({ kind: 'ranking', project: 'shop' })
  expect([status, headers.get('retry-after'), body]).toMatchObject([502, '120', problem])
  expect(body.detail).toMatch(/ The service asks to wait 120 seconds\.$/)
})
