import { describe, expect, it } from 'vitest'
import { createTestClock } from '../support/clock.ts'
import { globex, input, sandbox, serveSandbox } from '../support/sandbox.ts'

describe('sandbox: its Date header', () => {
  it('the sandbox’s Date comes from its own clock, not from the machine', async () => {
    const clock = createTestClock('2026-01-05T10:00:00Z')
    const base = await serveSandbox({ clock, token: 'token' })
    const dateOf = async (authorization: string) =>
      (await fetch(`${base}/on-demand/globex/estimate`, { headers: { authorization } })).headers.get('date')
    expect(await dateOf('Bearer token')).toBe('Mon, 05 Jan 2026 10:00:00 GMT')
    clock.advance(60_000)
    expect(await dateOf('Bearer token')).toBe('Mon, 05 Jan 2026 10:01:00 GMT')
    expect(await dateOf('Bearer other')).toBe('Mon, 05 Jan 2026 10:01:00 GMT')
  })
})

describe('sandbox: the list of faults', () => {
  it('the list of faults is replaced, shown with help, and deleted', async () => {
    const { json, put } = sandbox()
    const hang = { operation: 'run', fault: 'hang', consumes: true }
    const late = { operation: 'run', kind: 'ranking', times: 2, fault: 'late-date', ms: 50 }
    expect(await put({ operation: 'run', fault: 'hang' })).toEqual({ status: 200, body: { faults: [hang] } })
    await put({ operation: 'run', times: 2, fault: 'late-date', ms: 50 })
    const shown = (await json('/sandbox/faults')).body
    expect(shown.faults).toEqual([late])
    expect(Object.keys(shown.help)).toEqual([
      'every',
      'delay',
      'hang',
      'reset',
      'reset-mid-body',
      'status',
      'html',
      'envelope',
      'estimate-shape',
      'run-units',
      'late-date',
    ])
    expect((await json('/sandbox/faults', { method: 'DELETE' })).body).toEqual({ faults: [] })
    expect((await json('/sandbox/faults')).body.faults).toEqual([])
  })

  it('a wrong list of faults is refused with all mistakes at once and changes nothing', async () => {
    const { json, put } = sandbox()
    await put({ operation: 'any', fault: 'html' })
    const refused = await put(
      { operation: 'walk', fault: 'delay', ms: -1, times: 0 },
      { operation: 'run', fault: 'explode' },
      { operation: 'any', fault: 'estimate-shape', shape: 'round' },
      { operation: 'run', fault: 'status', status: 99, consume: true },
      { operation: 'run', kind: 'keyword-difficulty', fault: 'late-date', ms: 1 },
    )
    expect(refused).toEqual({
      status: 400,
      body: {
        response_code: 400,
        error: 'Bad Request',
        errors: [
          { path: 'faults.0.operation', message: 'must be run, estimate, dates, any' },
          { path: 'faults.0.times', message: 'must be a whole number from 1' },
          { path: 'faults.0.ms', message: 'must have 0 to 600000 milliseconds' },
          { path: 'faults.1.fault', message: 'must be one of the faults that GET /sandbox/faults explains' },
          { path: 'faults.2.operation', message: 'must be estimate' },
          {
            path: 'faults.2.shape',
            message:
              'must be plain, string, rows, rows-with-total, rows-wrong-total, nested, text, html, negative, fraction, ambiguous, missing',
          },
          { path: 'faults.3.status', message: 'must be an HTTP status from 200 to 599' },
          { path: 'faults.3', message: 'has unknown fields: consume' },
          { path: 'faults.4.kind', message: 'must be ranking' },
        ],
      },
    })
    expect((await json('/sandbox/faults')).body.faults).toEqual([{ operation: 'any', fault: 'html', consumes: true }])
  })

  it('a body that is not JSON is 400', async () => {
    const { json } = sandbox()
    expect((await json('/sandbox/faults', { method: 'PUT', body: '{' })).body.errors).toEqual([
      { path: '', message: 'must be a JSON object with faults' },
    ])
  })

  it('a fault applies only to its operation, kind and project', async () => {
    const { send, put } = sandbox()
    await put(
      { operation: 'run', kind: 'ranking', project: '1002', fault: 'status', status: 503 },
      { operation: 'dates', fault: 'status', status: 500 },
    )
    const statuses = []
    for (const path of [
      `${globex}/run`,
      '/v3/on-demand/1001,1002/run',
      `${globex}/estimate`,
      '/v3/keyword-difficulty/globex/run',
      '/v3/on-demand/initech/run',
      '/v3/projects/globex/dates',
    ])
      statuses.push((await send(path)).status)
    expect(statuses).toEqual([503, 503, 200, 200, 200, 500])
  })

  it('`any` applies to every operation, also for a project that does not exist yet', async () => {
    const { post, json, put } = sandbox()
    await put({ operation: 'any', project: 'shoes', fault: 'status', status: 500 })
    expect((await post('/v3/projects/shoes/create', input)).status).toBe(500)
    expect((await json('/v3/projects/shoes/dates')).status).toBe(500)
    expect((await json('/v3/projects')).status).toBe(200)
  })

  it('`times` counts down, and then the next fault in the list applies', async () => {
    const { json, put } = sandbox()
    await put(
      { operation: 'run', times: 2, fault: 'status', status: 503 },
      { operation: 'run', times: 1, fault: 'envelope' },
    )
    expect((await json(`${globex}/run`)).status).toBe(503)
    expect((await json('/sandbox/faults')).body.faults).toMatchObject([{ times: 1 }, { times: 1 }])
    expect((await json(`${globex}/run`)).status).toBe(503)
    expect((await json(`${globex}/run`)).body.response_code).toBe(12)
    expect((await json(`${globex}/run`)).body.response_code).toBe(0)
    expect((await json('/sandbox/faults')).body.faults).toEqual([])
  })
})

describe('sandbox: faults without a socket', () => {
  it('delay: takes the units, waits and answers normally', async () => {
    const { json, put, used, slept } = sandbox()
    await put({ operation: 'run', fault: 'delay', ms: 30_000 })
    expect((await json(`${globex}/run`)).body.data.keyword_units).toBe(640)
    expect([await used(), slept]).toEqual([640, [30_000]])
  })

  it.each([302, 408, 421, 429, 500, 503])(
    'status %i: answers an envelope, and takes units only if told so',
    async (status) => {
      const { json, put, used } = sandbox()
      const answer = { status, body: { response_code: status, error: `The sandbox was told to answer ${status}` } }
      await put({ operation: 'run', fault: 'status', status })
      expect([await json(`${globex}/run`), await used()]).toEqual([answer, 0])
      await put({ operation: 'run', fault: 'status', status, consumes: true })
      expect([await json(`${globex}/run`), await used()]).toEqual([answer, 640])
    },
  )

  it('status 302 points to itself, and 429 and 503 say when to retry', async () => {
    const { send, put } = sandbox()
    const header = async (name: string, fault: object) => {
      await put({ operation: 'run', fault: 'status', ...fault })
      return (await send(`http://sandbox.example${globex}/run?a=1`)).headers.get(name)
    }
    expect(await header('location', { status: 302 })).toBe(`http://sandbox.example${globex}/run?a=1`)
    expect(await header('retry-after', { status: 429 })).toBe('60')
    expect(await header('retry-after', { status: 503, retryAfter: 1_000_000_000 })).toBe('1000000000')
    expect(await header('retry-after', { status: 500 })).toBeNull()
  })

  it.each([200, 204, 304])('a fault of status %i has no body', async (status) => {
    const { send, put, used } = sandbox()
    await put({ operation: 'run', fault: 'status', status, consumes: true })
    const response = await send(`${globex}/run`)
    expect([response.status, await response.text()]).toEqual([status, ''])
    expect(await used()).toBe(640)
  })

  it('html: answers 200 with a page, and takes units unless the fault says otherwise', async () => {
    const { send, put, used } = sandbox()
    await put({ operation: 'run', times: 1, fault: 'html' }, { operation: 'run', fault: 'html', consumes: false })
    const response = await send(`${globex}/run`)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8'])
    expect(await response.text()).toContain('<p>We will be back soon.</p>')
    await send(`${globex}/run`)
    expect(await used()).toBe(640)
  })

  it('envelope: answers 200 with an error in it, and takes nothing', async () => {
    const { json, put, used } = sandbox()
    await put({ operation: 'run', fault: 'envelope' })
    expect(await json(`${globex}/run`)).toEqual({
      status: 200,
      body: { response_code: 12, error: 'Temporarily not available' },
    })
    expect(await used()).toBe(0)
  })

  it('run-units: states and takes an overrun, but not beyond the account', async () => {
    const { json, put, used } = sandbox({ unitsPerMonth: 30 * 25 + 1_399 })
    await put({ operation: 'run', fault: 'run-units', units: 700 })
    expect((await json(`${globex}/estimate`)).body.data.keyword_units).toBe(640)
    expect((await json(`${globex}/run`)).body.data).toEqual({ project: 'globex', keyword_units: 700, status: 'done' })
    expect((await json(`${globex}/run`)).status).toBe(402)
    expect(await used()).toBe(700)
  })

  it('late-date: queues the run, and its date (the day of the run) appears later', async () => {
    const { json, put, at, used } = sandbox()
    const dates = async () => (await json('/v3/projects/globex/dates')).body.data.dates
    await put({ operation: 'run', fault: 'late-date', ms: 60_000 })
    at('2026-11-20T23:59:30Z')
    expect((await json(`${globex}/run`)).body.data.status).toBe('queued')
    expect(await used()).toBe(640)
    at('2026-11-21T00:00:29Z')
    expect(await dates()).toEqual(['2026-10-16', '2026-11-13'])
    at('2026-11-21T00:00:30Z')
    expect(await dates()).toEqual(['2026-10-16', '2026-11-13', '2026-11-20'])
  })

  it('afterMs: a run takes effect later, with any answer', async () => {
    const { json, put, at, used, dates } = sandbox()
    await put({ operation: 'run', times: 1, fault: 'status', status: 504, afterMs: 90_000 })
    expect((await json(`${globex}/run`)).status).toBe(504)
    expect([await used(), (await dates('globex')).at(-1)]).toEqual([0, '2026-11-13'])
    at('2026-11-20T10:01:29.999Z')
    expect((await json('/sandbox/account')).body).toMatchObject({ used: 0, runs: [] })
    at('2026-11-20T10:01:30Z')
    expect((await json('/sandbox/account')).body).toMatchObject({
      used: 640,
      runs: [{ at: '2026-11-20T10:01:30.000Z', project: 'globex' }],
    })
    expect((await dates('globex')).at(-1)).toBe('2026-11-20')
  })

  it.each(['reset', 'reset-mid-body'])('a fault %s without its own connection answers 502', async (fault) => {
    const { json, put, used } = sandbox()
    await put({ operation: 'run', fault })
    expect(await json(`${globex}/run`)).toEqual({
      status: 502,
      body: { response_code: 502, error: 'Bad Gateway' },
    })
    expect(await used()).toBe(640)
  })
})

describe('sandbox: estimate shapes', () => {
  const row = { project: 'acme.example', keyword_units: 40 }
  it.each([
    ['plain', { units: 40 }],
    ['string', { response_code: 0, data: { keyword_units: '40' } }],
    ['rows', { response_code: 0, data: [row] }],
    ['rows-with-total', { response_code: 0, data: { projects: [row], total_units: 40 } }],
    ['rows-wrong-total', { response_code: 0, data: { projects: [row], total_units: 41 } }],
    ['nested', { result: { account: { on_demand: { required_units: 40 } } } }],
    ['negative', { response_code: 0, data: { keyword_units: -40 } }],
    ['fraction', { response_code: 0, data: { keyword_units: 40.5 } }],
    ['ambiguous', { response_code: 0, data: { keyword_units: 40, cost: 41 } }],
    ['missing', { response_code: 0, data: { projects: ['acme.example'] } }],
    ['text', '40 keyword units\n'],
    ['html', '<!doctype html><title>Estimate</title><p>40 keyword units</p>\n'],
  ])('an estimate has the shape %s', async (shape, body) => {
    const { send, put } = sandbox()
    await put({ operation: 'estimate', fault: 'estimate-shape', shape })
    const answer = await send('/v3/on-demand/acme.example/estimate')
    const isText = typeof body === 'string'
    expect([answer.status, isText ? await answer.text() : await answer.json()]).toEqual([200, body])
    expect(answer.headers.get('content-type')).toMatch(isText ? `text/${shape === 'html' ? shape : 'plain'}` : 'json')
  })

  it('an estimate of several projects has rows', async () => {
    const { json, put } = sandbox()
    await put({ operation: 'estimate', fault: 'estimate-shape', shape: 'rows-wrong-total' })
    expect((await json('/v3/keyword-difficulty/1001,1003/estimate')).body.data).toEqual({
      projects: [row, { project: 'initech', keyword_units: 120 }],
      total_units: 161,
    })
  })
})
