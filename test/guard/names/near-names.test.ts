import { describe, expect, test } from 'vitest'
import { only, startGuard } from '../../support/guard.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { listed, spellings as rows } from './spellings.ts'

/** A service that would run a project of the frozen budget for a near name. */
const start = async () => {
  const guard = await startGuard()
  await guard.budget('client', { projects: listed, frozen: { by: 'ada', reason: 'has left', at: 0 } })
  return guard
}

test('the table has at least the 85 spellings that were tried against a service', () => {
  expect(new Set(rows.map(([spelling]) => spelling)).size).toBeGreaterThanOrEqual(85)
})

describe('a name that no budget lists, but that a service may read as a listed one', () => {
  test.each(rows)('every way to request %j is refused, and names %j', async (spelling, reading) => {
    const guard = await start()
    const detail = (how: string) => `${spelling} may be read as ${reading}, a project of client. ${how}`
    const sentence = detail('Write it as listed; if it is a project of its own, list it in a budget.')
    const asked = [
      await guard.ask({ projects: [spelling] }),
      await guard.ask({ projects: [spelling], force: true, reason: 'x' }),
      await guard.ask({ projects: [spelling], budget: 'account' }),
      await guard.ask({ projects: [spelling] }, {}, { respondAsync: true }),
      await guard.ask({ projects: ['other', spelling] }),
    ]
    for (const { problem } of asked) expect(problem).toMatchObject({ slug: 'invalid-request', detail: sentence })
    const asker = { caller: 'bob', via: 'http' } as const
    expect(await guard.guard.estimate({ kind: 'ranking', projects: [spelling] }, asker)).toMatchObject({
      slug: 'invalid-request',
      detail: sentence,
    })
    expect([guard.sent, (await guard.guard.ledger.updates({}, 10)).rows]).toEqual([[], []])
  })

  test('a near name is refused through HTTP and the gateway before a request to the service', async () => {
    const product = await startProduct({ store: createMemoryStore(), stream: false })
    const projects = [{ name: 'initech', id: '8203' }, { name: 'sp-z1' }]
    await product.call('PUT', '/budgets/client', { body: { limits: [{ window: 'month', units: 5 }], projects } })
    for (const spelling of ['08203', '8203x', 'sp-z1.', '"sp-z1"', 'sp‐z1']) {
      const segment = encodeURIComponent(spelling)
      const answers = [
        await product.update({ kind: 'ranking', project: spelling }),
        await product.call('GET', `/estimates?kind=ranking&project=${segment}`),
        await product.call('GET', `/v3/on-demand/${segment}/run`),
        await product.call('GET', `/v3/keyword-difficulty/${segment}/run`),
      ]
      expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400])
    }
    expect(product.seen('run')).toEqual([])
  })

  test('a queued update is refused if a budget lists a near name meanwhile', async () => {
    const guard = await startGuard()
    const queued = only(await guard.ask({ projects: ['cafe'] }, {}, { respondAsync: true }))
    await guard.budget('client', { projects: [{ name: 'café' }] })
    const update = await guard.guard.start(queued.id, guard.clock.now() + 60_000)
    expect(update).toMatchObject({ state: 'refused', problem: { slug: 'wrong-state' } })
    expect(update?.problem?.detail).toBe(
      'cafe may be read as café, a project of client. Write it as listed; if it is a project of its own, list it in a budget.',
    )
    expect(guard.sent).toEqual([])
  })

  test('a near name runs after a budget lists it', async () => {
    const guard = await start()
    await guard.budget('other', { projects: ['8203x', 'sp-z1.', 'cafe.example'].map((name) => ({ name })) })
    for (const project of ['8203x', 'sp-z1.', 'cafe.example'])
      expect(only(await guard.ask({ projects: [project] }, { key: project })).state).toBe('settled')
  })
})

describe('a number in an unusual form', () => {
  test.each(['08203', '+42', '-42', '42.0', '4.2e1', '0x2a', '٤٢', '99999999999', '2147483648', '1e400'])(
    'the number %s is refused although no budget lists its plain form',
    async (project) => {
      const { problem } = await (await startGuard()).ask({ projects: [project] })
      expect(problem).toMatchObject({
        slug: 'invalid-request',
        detail: expect.stringContaining(`${project} may be read as`),
      })
    },
  )

  test.each(['0', '42', '8203', '2147483647', 'Infinity', '1.2.3', '3-2', 'x42'])(
    '%s runs, because it is a plain number or no number',
    async (project) => {
      expect(only(await (await startGuard()).ask({ projects: [project] })).state).toBe('settled')
    },
  )
})

describe('a name that is not near', () => {
  test.each([
    'spz1',
    'sp.z1',
    'cafeexample',
    'café-example',
    'initech2',
    'initec',
    '820',
    '82031',
    'x8203',
    'сafé.example',
  ])('%s is a name of its own, and runs', async (project) => {
    const guard = await start()
    expect(only(await guard.ask({ projects: [project] })).state).toBe('settled')
  })
})
