import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { counts, vitals } from '../../shared/platform/metrics.ts'
import { common, documentedEvents, eventsInSource, eventsWithoutName, linesOf, schemas } from '../support/log-lines.ts'
import { json, type Product, serviceToken, startProduct } from '../support/product.ts'

const held = {
  kind: 'ranking',
  project: 'acme',
  budget: 'account',
  budgets: ['account'],
  month: 'month:2026-11-01',
  day: 'day:2026-11-20',
  held: 40,
  heldAt: '2026-11-20T10:00:00.000Z',
}

/** The lines of the request or job that caused the run, in order. */
function followed(product: Product) {
  const [run, ...others] = linesOf(product.logged, 'run')
  if (!run || others.length > 0) throw new Error(`not one line of a run: ${product.logged}`)
  return { run, of: linesOf(product.logged).filter(({ requestId }) => requestId === run.requestId) }
}

describe('a run has a line before and after it, with everything that a restored ledger must book', () => {
  test('a run over HTTP has a line before it is sent and a line after it', async () => {
    const product = await startProduct()
    const { headers, body } = await product.update({ kind: 'ranking', project: 'acme', reason: 'weekly' })
    const requestId = headers.get('x-request-id')
    const [{ id }] = body.updates
    const { of } = followed(product)
    expect(of).toEqual([
      { ...lineOf('hold', requestId), update: id, ...held, caller: 'ada', via: 'http' },
      {
        ...lineOf('run', requestId),
        update: id,
        ...held,
        caller: 'ada',
        via: 'http',
        found: 'ran',
        charged: 40,
        stated: 40,
        status: 200,
        note: expect.any(String),
        ms: 0,
      },
      {
        ...lineOf('request', requestId),
        method: 'POST',
        route: '/updates',
        status: 201,
        caller: 'ada',
        ms: 0,
        updates: [id],
        Settled: 1,
        UnitsCharged: 40,
        EstimateMs: [0],
        RunMs: [0],
      },
    ])
  })

  test('a run through the gateway has its lines under the name of the operation', async () => {
    const product = await startProduct()
    const { headers } = await product.call('GET', '/v3/on-demand/acme/run')
    const update = headers.get('unit-guard-update')
    const { run, of } = followed(product)
    expect(run).toMatchObject({ update, ...held, caller: 'ada', via: 'gateway', found: 'ran', charged: 40 })
    expect(of.at(-1)).toMatchObject({ event: 'request', route: 'run-ranking', status: 200, updates: [update] })
    await product.call('GET', '/v3/projects/acme/dates')
    await product.call('GET', '/v3/nothing')
    expect(linesOf(product.logged, 'request').map(({ route }) => route)).toEqual([
      'run-ranking',
      'project-dates',
      '/v3/*',
    ])
  })

  test('a queued run that the stream begins has its lines', async () => {
    const product = await startProduct({ stream: true })
    const headers = { prefer: 'respond-async' }
    const { body } = await product.update({ kind: 'ranking', project: 'acme' }, { headers })
    const [{ id }] = body.updates
    await expect.poll(() => product.deliver().then(() => linesOf(product.logged, 'run').length)).toBe(1)
    const { run, of } = followed(product)
    expect(run).toMatchObject({ update: id, caller: 'ada', via: 'http', charged: 40 })
    expect(of.at(-1)).toMatchObject({ event: 'job', job: 'start', updates: [id] })
    expect(linesOf(product.logged, 'request')).toMatchObject([{ status: 202, updates: [id] }])
  })

  test('a queued run that the sweep begins has its lines', async () => {
    const product = await startProduct()
    const headers = { prefer: 'respond-async' }
    const { body } = await product.update({ kind: 'ranking', project: 'acme' }, { headers })
    const [{ id }] = body.updates
    product.clock.advance(3 * 60_000)
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    const { of } = followed(product)
    expect(of.at(-1)).toMatchObject({ event: 'job', job: 'sweep', updates: [id] })
  })

  test('an update of a plan has both lines', async () => {
    const plan = { name: 'morning', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 10 * * ? *)' }
    const product = await startProduct({ plans: [plan] })
    await product.triggers.handle({ plan: 'morning', time: '2026-11-20T10:00:00Z' }, product.endsAt())
    const { run, of } = followed(product)
    expect(run).toMatchObject({ plan: 'morning', caller: 'schedule:morning', via: 'schedule', charged: 40 })
    expect(of.at(-1)).toEqual({
      ...lineOf('job', run.requestId, 'scheduled'),
      job: 'plan',
      plan: 'morning',
      time: '2026-11-20T10:00:00.000Z',
      ms: 0,
      updates: [run.update],
      Settled: 1,
      UnitsCharged: 40,
      EstimateMs: [0],
      RunMs: [0],
    })
  })

  test('a run from Slack has a line that links the request to its job', async () => {
    const product = await startProduct({ slack: true })
    const caller = { scopes: ['run'], budgets: '*' }
    await product.call('PUT', '/callers/slack:U0ADA', { body: caller })
    const { slack } = product
    // On a busy machine the stream may deliver a write late.
    const delivered = (isThere: () => boolean) => expect.poll(() => product.deliver().then(isThere)).toBe(true)
    await slack.command('run ranking acme because weekly', { user: 'U0ADA' })
    await delivered(() => slack.buttons().length > 0)
    await slack.press('confirm', slack.buttons()[0]?.value ?? '', { user: 'U0ADA' })
    await delivered(() => linesOf(product.logged, 'run').length > 0)
    const { run, of } = followed(product)
    expect(run).toMatchObject({ caller: 'slack:U0ADA', via: 'slack', charged: 40 })
    expect(of.at(-1)).toMatchObject({ event: 'job', job: 'start', updates: [run.update] })
    const asked = linesOf(product.logged, 'job').find((job) => job.slackEvents && job.updates?.includes(run.update))
    const pressed = linesOf(product.logged, 'slack').find(({ slackEvent }) => asked?.slackEvents.includes(slackEvent))
    expect(linesOf(product.logged, 'request').find(({ requestId }) => requestId === pressed?.requestId)).toMatchObject({
      method: 'POST',
      route: '/slack/interactions',
      status: 200,
      caller: 'slack:U0ADA',
    })
  })

  test('a run whose process died before the answer came keeps the line before it', async () => {
    const product = await startProduct({
      service: ({ url }) => (url.includes('/run') ? { kind: 'hang' } : undefined),
    })
    void product.update({ kind: 'ranking', project: 'acme' })
    await expect.poll(() => product.seen('run').length).toBe(1)
    expect(linesOf(product.logged, 'hold', 'run')).toMatchObject([{ event: 'hold', ...held }])
  })

  test('a run that the service refused costs nothing in its line, and an incomplete answer is unknown', async () => {
    const statuses = [402, 500]
    const product = await startProduct({
      service: ({ url }) => (url.includes('/run') ? json({}, statuses.shift()) : undefined),
    })
    await product.update({ kind: 'ranking', project: 'acme' })
    await product.update({ kind: 'ranking', project: 'shop' })
    expect(linesOf(product.logged, 'run')).toMatchObject([
      { project: 'acme', found: 'did-not-run', charged: 0, status: 402 },
      { project: 'shop', found: 'unknown', charged: null, status: 500 },
    ])
  })

  test('an update that was never sent has neither a line hold nor a line run', async () => {
    const { service } = await startProduct().then(async (product) => {
      await product.call('PUT', '/budgets/poor', { body: { limits: [{ window: 'month', units: 10 }], reason: 'x' } })
      await product.update({ kind: 'ranking', project: 'acme', budget: 'poor' })
      expect(linesOf(product.logged, 'hold', 'run')).toEqual([])
      expect(linesOf(product.logged, 'request').at(-1)).toMatchObject({ status: 402, updates: [expect.any(String)] })
      return product
    })
    expect(service.requests.filter(({ url }) => url.includes('/run'))).toEqual([])
  })
})

test('the resolution of a doubt by a person or the sweep has a line with its cost', async () => {
  const product = await startProduct({ service: ({ url }) => (url.includes('/run') ? json({}, 500) : undefined) })
  const { body } = await product.update({ kind: 'ranking', project: 'acme' })
  const [{ id }] = body.updates
  await product.call('POST', `/updates/${id}/resolve`, { body: { outcome: 'ran', units: 38, reason: 'invoice' } })
  expect(linesOf(product.logged, 'closed')).toMatchObject([
    { update: id, state: 'settled', found: 'ran', closedBy: 'person', by: 'ada', charged: 38 },
  ])
  expect(linesOf(product.logged, 'request').at(-1)).toMatchObject({ route: '/updates/:id/resolve', updates: [id] })
})

test('a replay and a cool-down name the earlier update', async () => {
  const product = await startProduct()
  const headers = { 'idempotency-key': 'k1' }
  const first = await product.update({ kind: 'ranking', project: 'acme' }, { headers })
  await product.update({ kind: 'ranking', project: 'acme' }, { headers })
  await product.update({ kind: 'ranking', project: 'acme' })
  const [{ id }] = first.body.updates
  const named = linesOf(product.logged, 'request').map(({ updates }) => updates)
  expect(named).toEqual([[id], [id], [expect.stringMatching(/^upd_/), id]])
})

test('an error inside a request carries the id of that request', async () => {
  const product = await startProduct({ secrets: {} })
  const { headers } = await product.call('GET', '/budgets')
  const errors = linesOf(product.logged).filter(({ level }) => level === 'error')
  expect(errors.length).toBeGreaterThan(0)
  for (const line of errors) expect(line.requestId).toBe(headers.get('x-request-id'))
})

test('a line never holds a body, a reason or a token', async () => {
  const product = await startProduct()
  await product.update({ kind: 'ranking', project: 'acme', reason: 'a-reason-of-mine' })
  const text = product.logged.join()
  for (const secret of ['a-reason-of-mine', serviceToken, 'response_code']) expect(text).not.toContain(secret)
})

describe('docs/runbook.md', () => {
  const document = readFileSync('docs/runbook.md', 'utf8')

  test('docs/runbook.md lists every event that the code logs, with its level, and no other event', () => {
    const logged = [...eventsInSource()].map(([event, levels]) => [event, [...levels].join()])
    const listed = [...documentedEvents].map(([event, { level }]) => [event, level])
    const withSchema = Object.keys(schemas).map((event) => [event, 'info'])
    expect(logged.sort()).toEqual([...listed, ...withSchema].sort())
  })

  test('the code writes every event name as a literal, so that the list can be complete', () => {
    expect(eventsWithoutName()).toEqual([])
  })

  test('docs/runbook.md names each metric once, with the line that has it', () => {
    const rows = [...document.matchAll(/^\| ((?:`[A-Z]\w+`(?:, )?)+) \| (.*?) \|/gm)]
    const named = rows.flatMap(([, names = '', lines = '']) =>
      [...names.matchAll(/\w+/g)].map(([name]) => [name, lines] as const),
    )
    const inLines = (of: object, lines: string) => Object.keys(of).map((name) => [name, lines] as const)
    expect(named.sort()).toEqual([...inLines(counts, '`request`, `job`'), ...inLines(vitals, '`vitals`')].sort())
  })

  test.each(Object.entries(schemas))('docs/runbook.md names the members of %s as its schema does', (event, schema) => {
    const [, members = ''] = new RegExp(`^\\| \`${event}\` \\| (.*?) \\|`, 'm').exec(document) ?? []
    const named = [...members.replace('all of `hold`', '').matchAll(/`(\w+)\??`/g)].map(([, name]) => name)
    const shared = [...common.filter((name) => name !== 'update'), ...Object.keys(counts)]
    const ofHold = event === 'run' ? Object.keys(schemas.hold.shape) : []
    const own = Object.keys(schema.shape).filter((name) => !shared.includes(name) && !ofHold.includes(name))
    expect(named).toEqual(own)
  })
})

const lineOf = (event: string, requestId: unknown, name = 'api') => ({
  at: '2026-11-20T10:00:00.000Z',
  level: 'info',
  event,
  function: name,
  requestId,
})
