import { describe, expect, it } from 'vitest'
import { auth, input, sandbox } from '../support/sandbox.ts'

const strange = () => sandbox({ habits: 'strange' })
type Strange = ReturnType<typeof strange>

const listed = async ({ json }: Strange): Promise<Map<string, number>> => {
  const { projects } = (await json('/v3/projects')).body
  return new Map(projects.map(({ uid, title }: { uid: number; title: string }) => [title, uid]))
}

const seen = async (response: Response) => ({
  status: response.status,
  headers: Object.fromEntries([...response.headers].filter(([name]) => name !== 'date')),
  bytes: Buffer.from(await response.arrayBuffer()).toString('base64'),
})

const many = async (world: Strange, path: string, count = 40) => {
  const answers: Awaited<ReturnType<typeof seen>>[] = []
  for (let number = 0; number < count; number++) answers.push(await seen(await world.send(path)))
  return answers
}

describe('sandbox: strange habits', () => {
  it.each(['/v3/on-demand/globex/estimate', '/v3/on-demand/globex/run', '/v3/projects/globex/dates'])(
    '%s is answered in many shapes, and by another stand-in in the same ones',
    async (path) => {
      const answers = await many(strange(), path)
      expect(new Set(answers.map(({ bytes }) => bytes)).size).toBeGreaterThan(20)
      expect(answers.some(({ headers }) => Number(headers.age) > 0)).toBe(true)
      expect(answers.some(({ headers }) => headers['content-encoding'] !== undefined)).toBe(true)
      expect(await many(strange(), path)).toEqual(answers)
    },
  )

  it('every run takes its units, whatever the answer says', async () => {
    const world = strange()
    await many(world, '/v3/on-demand/acme.example/run', 30)
    const { used, runs } = (await world.json('/sandbox/account')).body
    expect([used, runs.length]).toEqual([30 * 40, 30])
  })

  it('a run that the account cannot pay takes nothing, and some say so with 200', async () => {
    const world = sandbox({ habits: 'strange', unitsPerMonth: 0 })
    const statuses = (await many(world, '/v3/on-demand/globex/run')).map(({ status }) => status)
    expect([...new Set(statuses)].sort()).toEqual([200, 402])
    expect((await world.json('/sandbox/account')).body).toMatchObject({ used: 0, runs: [] })
  })

  it('projects are scheduled unless they are made on demand', async () => {
    const world = strange()
    await world.post('/v3/projects/shoes/create', input)
    await world.post('/v3/projects/boots/create?frequency=ondemand', input)
    const frequency = async (name: string) => (await world.json(`/v3/projects/${name}/details`)).body.data.frequency
    expect(await Promise.all(['globex', 'daily.example', 'shoes', 'boots'].map(frequency))).toEqual([
      'weekly',
      'daily',
      'daily',
      'ondemand',
    ])
  })

  it('an id is not taken for a name, nor a name for an id, and ids are those of the list of projects', async () => {
    const world = strange()
    const ids = await listed(world)
    const status = async (path: string) => (await world.send(`/v3/${path}`)).status
    expect([...ids.keys()]).toContain('globex')
    expect(ids.get('globex')).toBe(92001)
    expect(await status('on-demand/92001/estimate')).toBe(404)
    expect(await status('on-demand/1002/estimate')).toBe(404)
    expect(await status('keyword-difficulty/globex/estimate')).toBe(404)
    expect(await status('keyword-difficulty/1002/estimate')).toBe(404)
    expect(await status('keyword-difficulty/92001,91001/estimate')).toBeLessThan(300)
    expect(await status('projects/92001/keywords')).toBe(200)
    expect(await status('on-demand/globex/estimate')).toBeLessThan(300)
  })

  it('faults and the control paths are answered as always', async () => {
    const { put, json, send } = strange()
    await put({ operation: 'run', fault: 'run-units', units: 7 })
    expect((await json('/v3/on-demand/globex/run')).body.data).toMatchObject({ keyword_units: 7 })
    expect((await json('/sandbox/account')).body).toMatchObject({ used: 7 })
    expect((await send('/v3/on-demand/globex/run', { method: 'POST', headers: auth })).status).toBe(405)
  })
})
