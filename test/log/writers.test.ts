import { afterEach, describe, expect, test, vi } from 'vitest'
import { streamAnswers } from '../../shared/platform/http.ts'
import { awslambda, callStreaming, urlEvent } from '../support/infra/lambda.ts'
import { type Line, linesOf } from '../support/log-lines.ts'
import { listenForAgents } from '../support/mcp.ts'
import { json, startProduct } from '../support/product.ts'
import { startReceiver, targetAt } from '../support/receiver.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

afterEach(() => void vi.unstubAllGlobals())

const initech = { kind: 'ranking', project: 'initech' }

describe('the function in a log line', () => {
  test('each line names its function, also if one process is all functions', async () => {
    const product = await startProduct({ store: createMemoryStore(), slack: true })
    await product.update(initech, { headers: { prefer: 'respond-async' } })
    await product.dashboard.request('/login')
    const agents = await listenForAgents(product)
    await (await agents.connect()).quote('initech')
    await product.slack.command('help')
    await expect.poll(() => product.deliver().then(() => linesOf(product.logged, 'run').length)).toBe(1)
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    const writers = linesOf(product.logged, 'request', 'job', 'run', 'vitals').map((line) => [
      line.function,
      line.job ?? line.route ?? line.event,
    ])
    for (const writer of [
      ['api', '/updates'],
      ['dashboard', '/login'],
      ['mcp', 'mcp estimate_update'],
      ['slack', '/slack/commands'],
      ['start', 'run'],
      ['start', 'start'],
      ['tell', 'tell'],
      ['scheduled', 'vitals'],
      ['scheduled', 'sweep'],
    ])
      expect(writers).toContainEqual(writer)
  })
})

describe('the update in a log line', () => {
  const about = (lines: readonly Line[], id: string) => lines.map(({ event, update }) => [event, update === id])

  test('lines about a missing estimate, and about an update that stays queued, name the update', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ url }) => (url.includes('/run') ? undefined : json({}, 500)),
    })
    const { body } = await product.update(initech, { headers: { prefer: 'respond-async' } })
    const [{ id }] = body.updates
    product.clock.advance(3 * 60_000)
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    expect(about(linesOf(product.logged, 'no-dates', 'no-estimate', 'stays-queued'), id)).toEqual([
      ['no-dates', true],
      ['no-estimate', true],
      ['stays-queued', true],
    ])
    await product.update({ ...initech, project: 'acme' })
    expect(linesOf(product.logged, 'no-estimate').at(-1)?.update).toMatch(/^upd_/)
    await product.call('GET', '/estimates?kind=ranking&project=acme')
    expect(linesOf(product.logged, 'no-estimate').at(-1)).not.toHaveProperty('update')
  })

  test('lines about announcements and events name the update', async () => {
    const receiver = await startReceiver()
    const product = await startProduct({
      store: createMemoryStore(),
      slack: true,
      targets: [targetAt(receiver.url)],
      service: ({ url }) => (url.includes('/run') ? json({}, 500) : undefined),
    })
    const { body } = await product.update(initech)
    const [{ id }] = body.updates
    const told = () => linesOf(product.logged, 'slack-sent', 'event-sent')
    await expect.poll(() => product.deliver().then(() => new Set(told().map(({ event }) => event)).size)).toBe(2)
    for (const line of told()) expect(line).toMatchObject({ function: 'tell', update: id })
  })
})

describe('log lines on AWS', () => {
  async function deployed() {
    vi.stubGlobal('awslambda', awslambda)
    const product = await startProduct({ store: createMemoryStore() })
    const { api, services } = product
    // biome-ignore lint/suspicious/noExplicitAny: Lambda calls it without types.
    const handler = streamAnswers('api', api, services.log) as any
    const token = await product.signed({ sub: 'tool', scope: 'run read', budgets: '*' })
    return { product, handler, authorization: `Bearer ${token}` }
  }

  test('a request’s line has the address that Lambda saw, with any headers', async () => {
    const { product, handler, authorization } = await deployed()
    const forged = { 'x-forwarded-for': '203.0.113.9', 'cloudfront-viewer-address': '203.0.113.9:443', via: '1.1 x' }
    await callStreaming(handler, urlEvent('GET', '/budgets', { headers: { ...forged, authorization } }))
    await callStreaming(handler, urlEvent('GET', '/v3/projects', { headers: forged }))
    expect(linesOf(product.logged, 'request')).toMatchObject([
      { status: 200, route: '/budgets', caller: 'tool', sourceIp: '192.0.2.1' },
      { status: 401, sourceIp: '192.0.2.1' },
    ])
  })

  test('a line that is written while the body is sent has the ids of its request', async () => {
    const { product, handler, authorization } = await deployed()
    product.service.script('/projects/acme/export-rankings', {
      kind: 'raw',
      bytes: `HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ncontent-length: 3000000\r\n\r\n${'x'.repeat(2_000_000)}`,
    })
    const event = urlEvent('GET', '/v3/projects/acme/export-rankings', { headers: { authorization } })
    await expect(callStreaming(handler, event)).rejects.toThrow('the answer broke in its middle')
    const [broken] = linesOf(product.logged, 'answer-broken')
    expect(broken).toMatchObject({ function: 'api', lambdaRequestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef' })
    expect(linesOf(product.logged, 'request').at(-1)).toMatchObject({
      route: 'export-rankings',
      requestId: broken?.requestId,
    })
  })
})
