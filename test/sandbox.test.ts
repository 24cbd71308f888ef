import { describe, expect, it } from 'vitest'
import { createSandbox } from '../functions/sandbox/app.ts'

const token = 'sandbox-token'
const auth = { authorization: `Bearer ${token}` }
const globex = '/v3/on-demand/globex'

function sandbox({ unitsPerMonth }: { unitsPerMonth?: number } = {}) {
  let now = Date.parse('2026-11-20T10:00:00Z')
  const slept: number[] = []
  const lines: object[] = []
  const clock = { now: () => now, sleep: async (ms: number) => void slept.push(ms) }
  const log = { info: (event: string, fields?: object) => void lines.push({ event, ...fields }), error() {}, hide() {} }
  const app = createSandbox({ clock, token, log, ...(unitsPerMonth !== undefined && { unitsPerMonth }) })

  const send = (path: string, init: RequestInit = {}) => app.request(path, { headers: auth, ...init })
  const json = async (path: string, init?: RequestInit) => {
    const response = await send(path, init)
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  const put = (...faults: object[]) => json('/sandbox/faults', { method: 'PUT', body: JSON.stringify({ faults }) })
  const create = (path: string, body: unknown) => json(path, { method: 'POST', body: JSON.stringify(body) })
  const used = async () => (await json('/sandbox/account')).body.used
  return { app, send, json, put, create, used, slept, lines, at: (instant: string) => (now = Date.parse(instant)) }
}

const input = {
  keywords: [{ name: 'red shoes' }, { name: 'blue shoes' }],
  searchengines: [{ name: 'example search' }, { name: 'example search', country: 'DE', se_type: 'mobile organic' }],
  websites: [{ name: 'shoes.example', color_r: 0, color_b: 255 }],
}

describe('sandbox: authentication', () => {
  it.each([
    ['no header', {}],
    ['another token', { authorization: 'Bearer other' }],
    ['another scheme', { authorization: `Basic ${token}` }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['something behind the token', { authorization: `Bearer ${token} x` }],
  ])('%s is 401, on its own paths too, and touches nothing', async (_, headers) => {
    const { app, used } = sandbox()
    for (const path of [`${globex}/run`, '/v3/projects', '/sandbox/account', '/sandbox/faults', '/elsewhere']) {
      const response = await app.request(path, { headers: headers as Record<string, string> })
      expect(response.status).toBe(401)
      expect(await response.json()).toEqual({ response_code: 401, error: 'Unauthorized' })
    }
    expect(await used()).toBe(0)
  })

  it('an empty token opens nothing', async () => {
    const app = createSandbox({ clock: { now: () => 0, sleep: async () => {} }, token: '' })
    expect((await app.request('/v3/projects')).status).toBe(401)
    expect((await app.request('/v3/projects', { headers: { authorization: 'Bearer ' } })).status).toBe(401)
  })

  it('an unknown path and a wrong method are 404 and cost nothing', async () => {
    const { json, used } = sandbox()
    expect((await json('/v3/elsewhere')).status).toBe(404)
    expect((await json(`${globex}/run`, { method: 'POST' })).status).toBe(404)
    expect((await json(`${globex}/RUN`)).status).toBe(404)
    expect((await json('/v3/on-demand/café/paris/run')).status).toBe(404)
    expect(await used()).toBe(0)
  })
})

describe('sandbox: projects', () => {
  it('begins with five demonstration projects', async () => {
    const { json } = sandbox()
    expect((await json('/v3/projects')).body).toEqual({
      projects: [
        { id: '1001', name: 'acme.example', frequency: 'ondemand' },
        { id: '1002', name: 'globex', frequency: 'ondemand' },
        { id: '1003', name: 'initech', frequency: 'ondemand' },
        { id: '1004', name: 'café & co/paris', frequency: 'ondemand' },
        { id: '1005', name: 'daily.example', frequency: 'daily' },
      ],
    })
  })

  it('create applies the defaults of the interface and gives an id', async () => {
    const { create, json } = sandbox()
    const created = await create('/v3/projects/shoes/create?frequency=weekly&country=FR', input)
    expect(created).toEqual({ status: 201, body: { response_code: 0, data: { project: 'shoes', id: '1006' } } })
    expect((await json('/v3/projects/shoes/details')).body.data).toEqual({
      id: '1006',
      name: 'shoes',
      frequency: 'weekly',
      country: 'FR',
      created: '2026-11-20T10:00:00.000Z',
      keywords: [{ name: 'red shoes' }, { name: 'blue shoes' }],
      searchengines: [
        {
          svc_id: 1,
          name: 'example search',
          country: 'FR',
          location: 'San Francisco, CA',
          language: 'en',
          se_type: 'desktop universal',
        },
        {
          svc_id: 2,
          name: 'example search',
          country: 'DE',
          location: 'San Francisco, CA',
          language: 'en',
          se_type: 'mobile organic',
        },
      ],
      websites: [{ name: 'shoes.example', color_r: 0, color_b: 255 }],
    })
  })

  it('create without a query is on demand, in the US', async () => {
    const { create, json } = sandbox()
    await create('/v3/projects/shoes/create', input)
    const { data } = (await json('/v3/projects/1006/details')).body
    expect([data.frequency, data.country, data.searchengines[0].country]).toEqual(['ondemand', 'US', 'US'])
  })

  it('create refuses a name that is taken', async () => {
    const { create } = sandbox()
    expect(await create('/v3/projects/globex/create', input)).toEqual({
      status: 409,
      body: { response_code: 409, error: 'There is a project called globex already' },
    })
  })

  it.each([
    ['nothing', undefined, ['']],
    ['a list', [], ['']],
    ['no fields', {}, ['keywords', 'searchengines', 'websites']],
    ['a keyword without a name', { ...input, keywords: [{}] }, ['keywords.0.name']],
    ['a search engine without a name', { ...input, searchengines: [{ country: 'US' }] }, ['searchengines.0.name']],
    [
      'colours out of bounds',
      { ...input, websites: [{ name: 'a', color_r: -1, color_g: 256, color_b: 1.5 }] },
      ['websites.0.color_r', 'websites.0.color_g', 'websites.0.color_b'],
    ],
  ])('create refuses %s, every fault at once', async (_, body, paths) => {
    const { create, json } = sandbox()
    const refused = await create('/v3/projects/shoes/create', body)
    expect(refused.status).toBe(400)
    expect(refused.body).toMatchObject({ response_code: 400, error: 'Bad Request' })
    expect(refused.body.errors.map(({ path }: { path: string }) => path)).toEqual(paths)
    expect((await json('/v3/projects/shoes/details')).status).toBe(404)
  })

  it('create refuses another frequency and a body beyond one megabyte', async () => {
    const { create } = sandbox()
    const refused = await create('/v3/projects/shoes/create?frequency=hourly', input)
    expect(refused.status).toBe(400)
    expect(refused.body.errors).toEqual([{ path: 'frequency', message: 'takes one of ondemand, daily, weekly' }])
    const huge = { ...input, websites: [{ name: 'x'.repeat(1024 * 1024) }] }
    expect((await create('/v3/projects/shoes/create', huge)).status).toBe(413)
  })

  it('details and dates of an unknown project are 404', async () => {
    const { json } = sandbox()
    const unknown = { status: 404, body: { response_code: 404, error: 'There is no project called nobody' } }
    expect(await json('/v3/projects/nobody/details')).toEqual(unknown)
    expect(await json('/v3/projects/nobody/dates')).toEqual(unknown)
  })

  it('names keep their slashes, percent signs and broken escapes', async () => {
    const { create, json } = sandbox()
    expect((await json('/v3/on-demand/caf%C3%A9%20%26%20co%2Fparis/estimate')).body.data).toEqual({
      project: 'café & co/paris',
      keyword_units: 12,
    })
    await create('/v3/projects/100%25%2F%252F/create', input)
    expect((await json('/v3/projects/100%25%2F%252F/details')).body.data.name).toBe('100%/%2F')
    expect((await json('/v3/projects/%zz/details')).status).toBe(404)
  })
})

describe('sandbox: costs', () => {
  it.each([
    ['acme.example', 40, 40],
    ['globex', 640, 480],
    ['initech', 120, 120],
    ['caf%C3%A9%20%26%20co%2Fparis', 12, 12],
    ['1005', 25, 25],
  ])('%s: a ranking update costs %i units, keyword difficulty %i', async (name, ranking, difficulty) => {
    const { json, used } = sandbox()
    expect((await json(`/v3/on-demand/${name}/estimate`)).body.data.keyword_units).toBe(ranking)
    expect((await json(`/v3/keyword-difficulty/${name}/estimate`)).body.data.keyword_units).toBe(difficulty)
    expect(await used()).toBe(0)
  })

  it('one project answers plainly', async () => {
    const { json } = sandbox()
    expect(await json(`${globex}/estimate`)).toEqual({
      status: 200,
      body: { response_code: 0, data: { project: 'globex', keyword_units: 640 } },
    })
  })

  it('several projects, by id or name and each once, answer with rows and a total', async () => {
    const { json } = sandbox()
    const data = {
      projects: [
        { project: 'acme.example', keyword_units: 40 },
        { project: 'globex', keyword_units: 480 },
      ],
      total_units: 520,
    }
    expect((await json('/v3/keyword-difficulty/1001,globex,1002/estimate')).body).toEqual({ response_code: 0, data })
    expect((await json('/v3/keyword-difficulty/1001%2Cglobex/estimate')).body).toEqual({ response_code: 0, data })
    expect(await json('/v3/keyword-difficulty/1001,nobody/estimate')).toEqual({
      status: 404,
      body: { response_code: 404, error: 'There is no project called nobody' },
    })
  })

  it('a name with a comma is one project', async () => {
    const { create, json } = sandbox()
    await create('/v3/projects/acme.example,globex/create', input)
    expect((await json('/v3/on-demand/acme.example,globex/estimate')).body.data).toEqual({
      project: 'acme.example,globex',
      keyword_units: 4,
    })
  })
})

describe('sandbox: runs', () => {
  it('a ranking run takes its units and gives a date, at once', async () => {
    const { json } = sandbox()
    const before = { response_code: 0, data: { dates: ['2026-10-16', '2026-11-13'] } }
    expect((await json('/v3/projects/globex/dates')).body).toEqual(before)
    expect((await json(`${globex}/run`)).body).toEqual({
      response_code: 0,
      data: { project: 'globex', keyword_units: 640, status: 'done' },
    })
    expect((await json('/v3/projects/globex/dates')).body.data.dates).toEqual([
      '2026-10-16',
      '2026-11-13',
      '2026-11-20',
    ])
    expect((await json('/sandbox/account')).body).toEqual({
      unitsPerMonth: 100_000,
      used: 640,
      left: 99_360,
      runs: [{ at: '2026-11-20T10:00:00.000Z', kind: 'ranking', project: 'globex', units: 640 }],
    })
  })

  it('a second run on the same day is paid for and adds no date', async () => {
    const { json, used } = sandbox()
    await json(`${globex}/run`)
    await json(`${globex}/run`)
    expect(await used()).toBe(1280)
    expect((await json('/v3/projects/globex/dates')).body.data.dates).toHaveLength(3)
  })

  it('HEAD on run is paid for like GET', async () => {
    const { send, used } = sandbox()
    expect((await send(`${globex}/run`, { method: 'HEAD' })).status).toBe(200)
    expect(await used()).toBe(640)
  })

  it('a keyword-difficulty run takes its units and gives no date', async () => {
    const { json } = sandbox()
    expect((await json('/v3/keyword-difficulty/1002/run')).body.data).toEqual({
      project: 'globex',
      keyword_units: 480,
      status: 'done',
    })
    expect((await json('/v3/projects/globex/dates')).body.data.dates).toHaveLength(2)
    expect((await json('/sandbox/account')).body.runs).toMatchObject([{ kind: 'keyword-difficulty', units: 480 }])
  })

  it('a run of several projects is one run', async () => {
    const { json } = sandbox()
    expect((await json('/v3/on-demand/1001,initech/run')).body.data).toEqual({
      projects: [
        { project: 'acme.example', keyword_units: 40, status: 'done' },
        { project: 'initech', keyword_units: 120, status: 'done' },
      ],
      total_units: 160,
    })
    expect((await json('/sandbox/account')).body.runs).toMatchObject([{ project: 'acme.example,initech', units: 160 }])
    expect((await json('/v3/projects/initech/dates')).body.data.dates).toContain('2026-11-20')
  })

  it('a run of an unknown project is 404 and takes nothing', async () => {
    const { json, used } = sandbox()
    expect((await json('/v3/on-demand/nobody/run')).status).toBe(404)
    expect((await json('/v3/on-demand/globex,nobody/run')).status).toBe(404)
    expect(await used()).toBe(0)
  })

  it('a run that the account cannot pay for is 402 and takes nothing; a cheaper one still runs', async () => {
    const { json } = sandbox({ unitsPerMonth: 160 })
    expect((await json('/v3/on-demand/initech/run')).status).toBe(200)
    expect(await json(`${globex}/run`)).toEqual({
      status: 402,
      body: { response_code: 402, error: 'Not enough keyword units for 640 more' },
    })
    expect((await json('/v3/projects/globex/dates')).body.data.dates).toHaveLength(2)
    expect((await json('/v3/on-demand/acme.example/run')).status).toBe(200)
    expect((await json('/sandbox/account')).body).toMatchObject({ used: 160, left: 0 })
  })

  it('the last unit can be spent, once, by one of many at the same time', async () => {
    const { json, used } = sandbox({ unitsPerMonth: 640 })
    const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await json(`${globex}/run`)).status))
    expect(statuses.sort()).toEqual([200, 402, 402, 402, 402])
    expect(await used()).toBe(640)
  })

  it('the account begins anew with the UTC month', async () => {
    const { json, at } = sandbox({ unitsPerMonth: 700 })
    await json(`${globex}/run`)
    at('2026-11-30T23:59:59Z')
    expect((await json(`${globex}/run`)).status).toBe(402)
    at('2026-12-01T00:00:00Z')
    expect((await json(`${globex}/run`)).status).toBe(200)
    expect((await json('/sandbox/account')).body).toMatchObject({ used: 640, left: 60 })
  })

  it('a daily project gains a date a day, free of charge', async () => {
    const { json, at, used } = sandbox()
    const dates = async () => (await json('/v3/projects/daily.example/dates')).body.data.dates
    expect((await dates()).slice(-2)).toEqual(['2026-11-19', '2026-11-20'])
    at('2026-11-22T00:00:00Z')
    expect((await dates()).slice(-2)).toEqual(['2026-11-21', '2026-11-22'])
    expect(await used()).toBe(0)
  })

  it('a weekly project gains a date a week', async () => {
    const { json, create, at } = sandbox()
    await create('/v3/projects/shoes/create?frequency=weekly', input)
    at('2026-12-04T09:00:00Z')
    expect((await json('/v3/projects/shoes/dates')).body.data.dates).toEqual(['2026-11-20', '2026-11-27', '2026-12-04'])
  })

  it('writes one line for each request under /v3, and no secret', async () => {
    const { json, lines } = sandbox()
    await json(`${globex}/run`)
    await json('/sandbox/account')
    expect(lines).toEqual([
      {
        event: 'sandbox-request',
        method: 'GET',
        operation: 'run',
        kind: 'ranking',
        name: 'globex',
        fault: undefined,
      },
    ])
  })
})

describe('sandbox: the list of faults', () => {
  it('is replaced, shown with help, and deleted', async () => {
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

  it('lists all that is wrong at once and changes nothing', async () => {
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
          { path: 'faults.0.operation', message: 'takes run, estimate, dates, any' },
          { path: 'faults.0.times', message: 'takes a whole number from 1' },
          { path: 'faults.0.ms', message: 'takes 0 to 600000 milliseconds' },
          { path: 'faults.1.fault', message: 'takes one of the faults that GET /sandbox/faults explains' },
          { path: 'faults.2.operation', message: 'takes estimate' },
          {
            path: 'faults.2.shape',
            message:
              'takes plain, string, rows, rows-with-total, rows-wrong-total, nested, text, html, negative, fraction, ambiguous, missing',
          },
          { path: 'faults.3.status', message: 'takes an HTTP status from 200 to 599' },
          { path: 'faults.3', message: 'has unknown fields: consume' },
          { path: 'faults.4.kind', message: 'takes ranking' },
        ],
      },
    })
    expect((await json('/sandbox/faults')).body.faults).toEqual([{ operation: 'any', fault: 'html', consumes: true }])
  })

  it('a body that is not JSON is 400', async () => {
    const { json } = sandbox()
    expect((await json('/sandbox/faults', { method: 'PUT', body: '{' })).body.errors).toEqual([
      { path: '', message: 'takes a JSON object with faults' },
    ])
  })

  it('a fault meets only its operation, kind and project', async () => {
    const { send, put } = sandbox()
    await put({ operation: 'run', kind: 'ranking', project: '1002', fault: 'status', status: 503 })
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
    expect(statuses).toEqual([503, 503, 200, 200, 200, 200])
  })

  it('`any` meets every operation, also of a project that does not exist yet', async () => {
    const { create, json, put } = sandbox()
    await put({ operation: 'any', project: 'shoes', fault: 'status', status: 500 })
    expect((await create('/v3/projects/shoes/create', input)).status).toBe(500)
    expect((await json('/v3/projects/shoes/dates')).status).toBe(500)
    expect((await json('/v3/projects')).status).toBe(200)
  })

  it('`times` counts down, and the next fault in the list takes over', async () => {
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
  it('delay: takes the units, waits, answers normally', async () => {
    const { json, put, used, slept } = sandbox()
    await put({ operation: 'run', fault: 'delay', ms: 30_000 })
    expect((await json(`${globex}/run`)).body.data.keyword_units).toBe(640)
    expect([await used(), slept]).toEqual([640, [30_000]])
  })

  it.each([302, 408, 421, 429, 500, 503])('status %i: an envelope, nothing taken', async (status) => {
    const { json, put, used } = sandbox()
    await put({ operation: 'run', fault: 'status', status })
    expect(await json(`${globex}/run`)).toEqual({
      status,
      body: { response_code: status, error: `The sandbox was told to answer ${status}` },
    })
    expect(await used()).toBe(0)
  })

  it('status: may take the units all the same', async () => {
    const { json, put, used } = sandbox()
    await put({ operation: 'run', fault: 'status', status: 500, consumes: true })
    expect((await json(`${globex}/run`)).status).toBe(500)
    expect(await used()).toBe(640)
  })

  it('status 302 points to itself; 429 and 503 say when to come again', async () => {
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

  it.each([200, 204, 304])('status %i has no body', async (status) => {
    const { send, put, used } = sandbox()
    await put({ operation: 'run', fault: 'status', status, consumes: true })
    const response = await send(`${globex}/run`)
    expect([response.status, await response.text()]).toEqual([status, ''])
    expect(await used()).toBe(640)
  })

  it('html: 200 with a page, units taken unless told otherwise', async () => {
    const { send, put, used } = sandbox()
    await put({ operation: 'run', times: 1, fault: 'html' }, { operation: 'run', fault: 'html', consumes: false })
    const response = await send(`${globex}/run`)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8'])
    expect(await response.text()).toContain('<p>We will be back soon.</p>')
    await send(`${globex}/run`)
    expect(await used()).toBe(640)
  })

  it('envelope: 200 with an error in it, nothing taken', async () => {
    const { json, put, used } = sandbox()
    await put({ operation: 'run', fault: 'envelope' })
    expect(await json(`${globex}/run`)).toEqual({
      status: 200,
      body: { response_code: 12, error: 'Temporarily not available' },
    })
    expect(await used()).toBe(0)
  })

  it('run-units: an overrun, stated and taken', async () => {
    const { json, put, used } = sandbox()
    await put({ operation: 'run', fault: 'run-units', units: 700 })
    expect((await json(`${globex}/estimate`)).body.data.keyword_units).toBe(640)
    expect((await json(`${globex}/run`)).body.data).toEqual({ project: 'globex', keyword_units: 700, status: 'done' })
    expect(await used()).toBe(700)
  })

  it('run-units: still cannot exceed the account', async () => {
    const { json, put, used } = sandbox({ unitsPerMonth: 650 })
    await put({ operation: 'run', fault: 'run-units', units: 700 })
    expect((await json(`${globex}/run`)).status).toBe(402)
    expect(await used()).toBe(0)
  })

  it('late-date: the run is queued and its date, the day of the run, appears later', async () => {
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

  it('dates can fail alone', async () => {
    const { json, put } = sandbox()
    await put({ operation: 'dates', fault: 'status', status: 500 })
    expect((await json('/v3/projects/globex/dates')).status).toBe(500)
    expect((await json(`${globex}/estimate`)).status).toBe(200)
  })

  it.each(['reset', 'reset-mid-body'])('%s: without a connection of its own it answers 502', async (fault) => {
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
  ])('%s', async (shape, body) => {
    const { json, put } = sandbox()
    await put({ operation: 'estimate', fault: 'estimate-shape', shape })
    expect(await json('/v3/on-demand/acme.example/estimate')).toEqual({ status: 200, body })
  })

  it.each([
    ['text', /^text\/plain/, '40 keyword units\n'],
    ['html', /^text\/html/, '<!doctype html><title>Estimate</title><p>40 keyword units</p>\n'],
  ])('%s', async (shape, type, body) => {
    const { send, put } = sandbox()
    await put({ operation: 'estimate', fault: 'estimate-shape', shape })
    const response = await send('/v3/on-demand/acme.example/estimate')
    expect([response.status, await response.text()]).toEqual([200, body])
    expect(response.headers.get('content-type')).toMatch(type)
  })

  it('rows of several projects', async () => {
    const { json, put } = sandbox()
    await put({ operation: 'estimate', fault: 'estimate-shape', shape: 'rows-wrong-total' })
    expect((await json('/v3/keyword-difficulty/1001,1003/estimate')).body.data).toEqual({
      projects: [row, { project: 'initech', keyword_units: 120 }],
      total_units: 161,
    })
  })
})
