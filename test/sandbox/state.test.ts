import { describe, expect, inject, it } from 'vitest'
import { createSandboxFile, createSandboxStates, globex, input, sandbox, sandboxStates } from '../support/sandbox.ts'

/** The 30 dates of `daily.example` in November. */
const scheduled = 30 * 25

const hasDynamoDb = inject('dynamodb') !== null

describe.each(sandboxStates)('sandbox: its state in %s', (_, create) => {
  it('the sandbox’s state begins with the demonstration, once', async () => {
    const { json } = sandbox({ state: await create() })
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

  it.each([0, 639])(
    'exactly those of 20 simultaneous runs succeed that the account can pay for, with %i left',
    async (left) => {
      const { json, used } = sandbox({ state: await create(), unitsPerMonth: scheduled + 7 * 640 + left })
      const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await json(`${globex}/run`)).status))
      expect([statuses.filter((each) => each === 200).length, statuses.filter((each) => each === 402).length]).toEqual([
        7, 13,
      ])
      expect(await used()).toBe(7 * 640)
      expect((await json('/v3/on-demand/acme.example/run')).status).toBe(left === 0 ? 402 : 200)
    },
  )

  it('each month has its own units', async () => {
    const { json, at } = sandbox({ state: await create(), unitsPerMonth: 31 * 25 + 700 })
    expect((await json(`${globex}/run`)).status).toBe(200)
    at('2026-11-30T23:59:59Z')
    expect((await json(`${globex}/run`)).status).toBe(402)
    at('2026-12-01T00:00:00Z')
    expect((await json(`${globex}/run`)).status).toBe(200)
    expect((await json('/sandbox/account')).body).toMatchObject({
      used: 640,
      scheduled: 31 * 25,
      left: 60,
      runs: [{}, {}],
    })
  })

  it('a run of several projects is one run and gives each its date', async () => {
    const { json, dates } = sandbox({ state: await create() })
    await json('/v3/on-demand/1001,initech/run')
    expect((await json('/sandbox/account')).body.runs).toMatchObject([{ project: 'acme.example,initech', units: 160 }])
    expect((await dates('acme.example')).at(-1)).toBe('2026-11-20')
    expect((await dates('initech')).at(-1)).toBe('2026-11-20')
    expect((await dates('globex')).at(-1)).toBe('2026-11-13')
  })

  it('projects that are created at once have different ids, and one name makes one project', async () => {
    const { post, json } = sandbox({ state: await create() })
    const names = ['a', 'b', 'c', 'd', 'a', 'b', 'é'.repeat(512)]
    const made = await Promise.all(names.map((name) => post(`/v3/projects/${encodeURIComponent(name)}/create`, input)))
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 201, 409, 409])
    const { projects } = (await json('/v3/projects')).body
    expect(projects.map(({ id }: { id: string }) => Number(id))).toEqual([
      1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010,
    ])
  })

  it('simultaneous updates of a project are all kept', async () => {
    const { post, json } = sandbox({ state: await create() })
    const add = { addSearchengines: [{ name: 'example search' }] }
    const done = await Promise.all(Array.from({ length: 8 }, () => post('/v3/projects/globex/update', add)))
    expect(done.map(({ status }) => status)).toEqual(Array(8).fill(200))
    const { searchengines } = (await json('/v3/projects/globex/details')).body.data
    expect(searchengines.map(({ svc_id }: { svc_id: number }) => svc_id)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ])
  })

  it('a fault with times 3 happens 3 times for any number of simultaneous requests', async () => {
    const { put, send, json } = sandbox({ state: await create() })
    await put({ operation: 'estimate', times: 3, fault: 'status', status: 503 })
    const asked = await Promise.all(Array.from({ length: 10 }, () => send(`${globex}/estimate`)))
    expect(asked.map(({ status }) => status).filter((each) => each === 503)).toHaveLength(3)
    expect((await json('/sandbox/faults')).body.faults).toEqual([])
  })
})

const kept = [
  ['a file', createSandboxFile] as const,
  ...(hasDynamoDb ? [['DynamoDB Local', createSandboxStates] as const] : []),
]

describe.each(kept)('sandbox: a restart over %s', (_, open) => {
  const everything = async ({ json, rows }: ReturnType<typeof sandbox>) => [
    await json('/v3/projects'),
    await json('/v3/projects/globex/details'),
    await json('/v3/projects/globex/dates'),
    await json('/v3/projects/shoes/details'),
    await json('/v3/projects/1002/export-keyword-difficulty'),
    await rows('/v3/projects/globex/export-rankings?startDate=2026-11-01'),
    await json('/sandbox/account'),
    await json('/sandbox/faults'),
  ]

  it('a restart of the sandbox changes nothing: another process on the same state gives the same answers', async () => {
    const start = await open()
    const first = sandbox({ state: await start() })
    await first.post('/v3/projects/shoes/create', input)
    await first.post('/v3/projects/globex/update', { addSearchengines: [{ name: 'example search', country: 'IT' }] })
    await first.json(`${globex}/run`)
    await first.json('/v3/keyword-difficulty/1002/run')
    await first.put({ operation: 'run', times: 2, fault: 'hang' })
    const before = await everything(first)
    expect(await everything(sandbox({ state: await start('2027-06-01T00:00:00Z') }))).toEqual(before)
  })

  it('a project that is too large for an item is 413', async () => {
    const { post, json } = sandbox({ state: await (await open())() })
    let seed = 1
    const noise = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed.toString(36)
    }
    const keywords = Array.from({ length: 25_000 }, () => ({ name: `${noise()}${noise()}${noise()}${noise()}` }))
    expect((await post('/v3/projects/shoes/create?frequency=ondemand', { ...input, keywords })).status).toBe(413)
    expect((await json('/v3/projects/shoes/details')).status).toBe(404)
  })
})

describe.skipIf(!hasDynamoDb)('sandbox: one table', () => {
  it('two simultaneous processes see each other’s changes', async () => {
    const start = await createSandboxStates()
    const [one, other] = [sandbox({ state: start() }), sandbox({ state: start() })]
    await Promise.all([one.json('/v3/projects'), other.json('/v3/projects')])
    await one.post('/v3/projects/shoes/create', input)
    expect((await other.json('/v3/projects/shoes/details')).status).toBe(200)
    await other.post('/v3/projects/shoes/update', { keywords: [] })
    expect((await one.json('/v3/projects/shoes/keywords')).body.data.keywords).toEqual([])
    await other.put({ operation: 'any', fault: 'status', status: 500 })
    expect((await one.json('/v3/projects')).status).toBe(500)
  })
})
