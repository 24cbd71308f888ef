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

  it('one project answers in the plain form', async () => {
    const { json } = sandbox()
    expect(await json(`${globex}/estimate`)).toEqual({
      status: 200,
      body: { response_code: 0, data: { project: 'globex', keyword_units: 640 } },
    })
  })

  it('several projects, named by id or name, answer with one row for each project and a total; one unknown name makes it 404', async () => {
    const { json, used } = sandbox()
    const data = {
      projects: [
        { project: 'acme.example', keyword_units: 40 },
        { project: 'globex', keyword_units: 480 },
      ],
      total_units: 520,
    }
    expect((await json('/v3/keyword-difficulty/1001,globex,1002/estimate')).body).toEqual({ response_code: 0, data })
    expect((await json('/v3/keyword-difficulty/1001%2Cglobex/estimate')).body).toEqual({ response_code: 0, data })
    for (const operation of ['estimate', 'run'])
      expect(await json(`/v3/keyword-difficulty/1001,missing/${operation}`)).toEqual({
        status: 404,
        body: { response_code: 404, error: 'There is no project called missing' },
      })
    expect(await used()).toBe(0)
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
  it('a ranking run takes its units and adds a date at once', async () => {
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
      scheduled: 750,
      left: 98_610,
      runs: [{ at: '2026-11-20T10:00:00.000Z', kind: 'ranking', project: 'globex', units: 640 }],
    })
  })

  it('a second run on the same day costs units and adds no date', async () => {
    const { json, used } = sandbox()
    await json(`${globex}/run`)
    await json(`${globex}/run`)
    expect(await used()).toBe(1280)
    expect((await json('/v3/projects/globex/dates')).body.data.dates).toHaveLength(3)
  })

  it('HEAD on run costs units like GET', async () => {
    const { send, used } = sandbox()
    expect((await send(`${globex}/run`, { method: 'HEAD' })).status).toBe(200)
    expect(await used()).toBe(640)
  })

  it('a keyword-difficulty run takes its units and adds no date', async () => {
    const { json } = sandbox()
    expect((await json('/v3/keyword-difficulty/1002/run')).body.data).toEqual({
      project: 'globex',
      keyword_units: 480,
      status: 'done',
    })
    expect((await json('/v3/projects/globex/dates')).body.data.dates).toHaveLength(2)
    expect((await json('/sandbox/account')).body.runs).toMatchObject([{ kind: 'keyword-difficulty', units: 480 }])
  })

  it('a run of several projects has rows and a total', async () => {
    const { json } = sandbox()
    expect((await json('/v3/on-demand/1001,initech/run')).body.data).toEqual({
      projects: [
        { project: 'acme.example', keyword_units: 40, status: 'done' },
        { project: 'initech', keyword_units: 120, status: 'done' },
      ],
      total_units: 160,
    })
  })

  it('a run above the account’s units is 402 and takes nothing, and a cheaper one still runs', async () => {
    const { json } = sandbox({ unitsPerMonth: 30 * 25 + 160 })
    expect((await json('/v3/on-demand/initech/run')).status).toBe(200)
    expect(await json(`${globex}/run`)).toEqual({
      status: 402,
      body: { response_code: 402, error: 'Not enough keyword units for 640 more' },
    })
    expect((await json('/v3/projects/globex/dates')).body.data.dates).toHaveLength(2)
    expect((await json('/v3/on-demand/acme.example/run')).status).toBe(200)
    expect((await json('/sandbox/account')).body).toMatchObject({ used: 160, scheduled: 750, left: 0 })
  })

  it('the sandbox logs one line for each request under /v3, and no secret', async () => {
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
