import { describe, expect, it } from 'vitest'
import { globex, input, sandbox } from '../support/sandbox.ts'

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
    expect(await json('/v3/keyword-difficulty/1001,missing/estimate')).toEqual({
      status: 404,
      body: { response_code: 404, error: 'There is no project called missing' },
    })
  })

  it('a name with a comma is one project', async () => {
    const { post, json } = sandbox()
    await post('/v3/projects/acme.example,globex/create', input)
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
    expect((await json('/v3/on-demand/missing/run')).status).toBe(404)
    expect((await json('/v3/on-demand/globex,missing/run')).status).toBe(404)
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

  it('the account begins again with the UTC month', async () => {
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
    const { json, post, at } = sandbox()
    await post('/v3/projects/shoes/create?frequency=weekly', input)
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
