import { describe, expect, it } from 'vitest'
import { input, sandbox } from '../support/sandbox.ts'

/** The 30 dates of `daily.example` in November, at 25 units. */
const scheduled = 750

const account = async ({ json }: ReturnType<typeof sandbox>) => {
  const { used, scheduled, left } = (await json('/sandbox/account')).body
  return { used, scheduled, left }
}

describe('sandbox: scheduled projects reserve units', () => {
  it('a daily project reserves its ranking cost for each day of the month, and a new one from its first day', async () => {
    const world = sandbox()
    expect(await account(world)).toEqual({ used: 0, scheduled: 750, left: 99_250 })
    await world.post('/v3/projects/shoes/create?frequency=daily', input)
    expect(await account(world)).toEqual({ used: 0, scheduled: 750 + 11 * 4, left: 99_206 })
    world.at('2026-12-01T00:00:00Z')
    expect(await account(world)).toEqual({ used: 0, scheduled: 31 * 29, left: 99_101 })
  })

  it('a project created without a frequency is weekly, and reserves units that a run cannot take', async () => {
    const world = sandbox({ unitsPerMonth: scheduled + 8 + 11 })
    expect((await world.post('/v3/projects/shoes/create', input)).status).toBe(201)
    expect(await account(world)).toEqual({ used: 0, scheduled: scheduled + 8, left: 11 })
    expect((await world.json('/v3/on-demand/1004/run')).status).toBe(402)
    expect((await world.json('/v3/on-demand/shoes/run')).status).toBe(200)
    expect(await account(world)).toEqual({ used: 4, scheduled: scheduled + 8, left: 7 })
    expect(await world.dates('shoes')).toEqual(['2026-11-20'])
    world.at('2026-11-27T00:00:00Z')
    expect(await world.dates('shoes')).toEqual(['2026-11-20', '2026-11-27'])
    expect(await account(world)).toEqual({ used: 4, scheduled: scheduled + 8, left: 7 })
  })

  it('a schedule that the month cannot pay is 402 and changes nothing, and an on-demand project reserves nothing', async () => {
    const world = sandbox({ unitsPerMonth: scheduled + 7 })
    expect(await world.post('/v3/projects/shoes/create?frequency=weekly', input)).toEqual({
      status: 402,
      body: { response_code: 402, error: 'Not enough keyword units for this schedule' },
    })
    expect((await world.json('/v3/projects/shoes/details')).status).toBe(404)
    expect((await world.post('/v3/projects/shoes/create?frequency=ondemand', input)).status).toBe(201)
    expect(await account(world)).toEqual({ used: 0, scheduled, left: 7 })
  })

  it('an update of a scheduled project reserves more units or fewer, and is 402 if the month has too few', async () => {
    const world = sandbox({ unitsPerMonth: scheduled + 60 })
    const keywords = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `keyword ${index}` }))
    const change = (count: number) => world.post('/v3/projects/daily.example/update', { keywords: keywords(count) })
    expect((await change(27)).status).toBe(200)
    expect(await account(world)).toEqual({ used: 0, scheduled: 30 * 27, left: 0 })
    expect((await change(28)).status).toBe(402)
    expect((await world.json('/v3/on-demand/daily.example/estimate')).body.data.keyword_units).toBe(27)
    expect((await change(20)).status).toBe(200)
    expect(await account(world)).toEqual({ used: 0, scheduled: 30 * 20, left: 210 })
  })
})
