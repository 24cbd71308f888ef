import { describe, expect, test } from 'vitest'
import { linesOf } from '../support/log-lines.ts'
import { listenForAgents } from '../support/mcp.ts'
import { json, type Product, startProduct } from '../support/product.ts'

const traceOf = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`
const traceparent = traceOf('a')
const otherTrace = traceOf('b')

const initech = { kind: 'ranking', project: 'initech' }
const failingRun = { service: ({ url }: { url: string }) => (url.includes('/run') ? json({}, 500) : undefined) }

const recordOf = async ({ guard }: Product, id: string) => {
  const update = await guard.ledger.update(id)
  if (!update) throw new Error(`no update ${id}`)
  return update
}

const tracesOf = (product: Product, ...events: readonly string[]) =>
  linesOf(product.logged, ...events).map((line) => line.traceparent)

describe('the trace of a request', () => {
  test('a trace is in all log lines of the request and in its update, but not in requests to the service', async () => {
    const product = await startProduct()
    const headers = { traceparent, tracestate: 'vendor=value-of-tracestate' }
    const { body } = await product.update(initech, { headers })
    expect((await recordOf(product, body.updates[0].id)).traceparent).toBe(traceparent)
    expect(linesOf(product.logged).map(({ event }) => event)).toEqual(['hold', 'run', 'request'])
    expect(tracesOf(product)).toEqual([traceparent, traceparent, traceparent])
    const { requests } = product.service
    expect(JSON.stringify([...product.logged, requests])).not.toContain('value-of-tracestate')
    expect(JSON.stringify(requests)).not.toContain('a'.repeat(32))
  })

  test('a gateway run has a trace, and no request passes it on', async () => {
    const product = await startProduct()
    const { headers } = await product.call('GET', '/v3/on-demand/initech/run', { headers: { traceparent } })
    expect((await recordOf(product, headers.get('unit-guard-update') ?? '')).traceparent).toBe(traceparent)
    await product.call('GET', '/v3/projects/initech/dates', { headers: { traceparent } })
    expect(new Set(tracesOf(product))).toEqual(new Set([traceparent]))
    expect(JSON.stringify(product.service.requests)).not.toContain('a'.repeat(32))
  })

  test('a call of an agent has a trace', async () => {
    const product = await startProduct()
    const agents = await listenForAgents(product)
    const withTrace: typeof fetch = (url, init) => {
      const headers = new Headers(init?.headers)
      headers.set('traceparent', traceparent)
      return fetch(url, { ...init, headers })
    }
    const agent = await agents.connect({ fetch: withTrace })
    const { data } = await agent.request(await agent.quote('initech'))
    expect((await recordOf(product, data.id)).traceparent).toBe(traceparent)
    expect(tracesOf(product, 'hold', 'run')).toEqual([traceparent, traceparent])
  })

  test('a malformed trace is ignored, and the request passes', async () => {
    const product = await startProduct()
    const headers = { traceparent: traceparent.toUpperCase() }
    const { status, body } = await product.update(initech, { headers })
    expect(status).toBe(201)
    expect(await recordOf(product, body.updates[0].id)).not.toHaveProperty('traceparent')
    expect(new Set(tracesOf(product))).toEqual(new Set([undefined]))
  })

  test('a repeated request with its key may have another trace, and the update keeps the first', async () => {
    const product = await startProduct()
    const key = { 'idempotency-key': 'k1' }
    const { body } = await product.update(initech, { headers: { ...key, traceparent } })
    const again = await product.update(initech, { headers: { ...key, traceparent: otherTrace } })
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    expect((await recordOf(product, body.updates[0].id)).traceparent).toBe(traceparent)
    expect(tracesOf(product, 'request')).toEqual([traceparent, otherTrace])
  })
})

describe('the later work of an update has the trace of its request', () => {
  test('an update has the trace of its request when the stream starts it', async () => {
    const product = await startProduct({ stream: true })
    await product.update(initech, { headers: { traceparent, prefer: 'respond-async' } })
    await product.update({ ...initech, project: 'other' }, { headers: { prefer: 'respond-async' } })
    await expect.poll(() => product.deliver().then(() => linesOf(product.logged, 'run').length)).toBe(2)
    const traces = linesOf(product.logged, 'hold', 'run').map((line) => [line.event, line.project, line.traceparent])
    expect(traces.sort()).toEqual([
      ['hold', 'initech', traceparent],
      ['hold', 'other', undefined],
      ['run', 'initech', traceparent],
      ['run', 'other', undefined],
    ])
    const jobs = linesOf(product.logged, 'job').filter(({ job }) => job === 'start')
    expect(jobs.some(({ updates }) => updates?.length > 0)).toBe(true)
    expect(jobs.map((line) => line.traceparent)).not.toContain(traceparent)
  })

  test('an update has the trace of its request when the sweep starts it, doubts it and settles it', async () => {
    const product = await startProduct(failingRun)
    await product.update(initech, { headers: { traceparent, prefer: 'respond-async' } })
    product.clock.advance(3 * 60_000)
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    expect(tracesOf(product, 'hold', 'run', 'in-doubt')).toEqual([traceparent, traceparent, traceparent])
    product.clock.advance(8 * 24 * 3_600_000)
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    expect(tracesOf(product, 'closed')).toEqual([traceparent])
  })

  test('an update keeps the trace of its request when a person decides in another trace', async () => {
    const product = await startProduct(failingRun)
    const { body } = await product.update(initech, { headers: { traceparent } })
    const resolution = { outcome: 'ran', reason: 'invoice' }
    const headers = { traceparent: otherTrace }
    await product.call('POST', `/updates/${body.updates[0].id}/resolve`, { body: resolution, headers })
    expect(tracesOf(product, 'closed')).toEqual([traceparent])
    expect(tracesOf(product, 'request')).toEqual([traceparent, otherTrace])
  })

  test('messages about an update have the trace of its request', async () => {
    const product = await startProduct({ ...failingRun, slack: true })
    await product.update(initech, { headers: { traceparent } })
    await expect.poll(() => product.deliver().then(() => tracesOf(product, 'slack-sent'))).toEqual([traceparent])
  })

  test('messages that the sweep sends about an update have the trace of its request', async () => {
    const product = await startProduct({ ...failingRun, slack: { answers: [{ status: 500 }] } })
    await product.update(initech, { headers: { traceparent } })
    product.clock.advance(3 * 60_000)
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    expect(tracesOf(product, 'slack-try-again')).toContain(traceparent)
  })
})
