import { describe, expect, test } from 'vitest'
import { aboutIds } from '../../infra/local/commands/attention.ts'
import { examineStore } from '../../infra/local/commands/doctor/doctor.ts'
import { findIds } from '../../infra/local/commands/projects.ts'
import { createTestClock } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const none = { missing: [], twice: [], unowned: [], unknown: [], contradicted: [] }
const acme = (...projects: { name: string; id?: string }[]) => [{ name: 'acme', projects }]

describe('missing ids', () => {
  test('a missing id is the only id that the service lists under the exact name', () => {
    const listed = [
      { name: 'a', id: '1' },
      { name: 'B', id: '2' },
      { name: 'c', id: '3' },
      { name: 'c', id: '4' },
      { name: 'd' },
    ]
    expect(findIds(acme({ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' }), [listed])).toEqual({
      ...none,
      missing: [{ budget: 'acme', project: 'a', id: '1' }],
    })
  })

  test('missing ids never replace an id, and an id that the service contradicts is named', () => {
    expect(findIds(acme({ name: 'a', id: '9' }), [[{ name: 'a', id: '1' }]])).toEqual({
      ...none,
      contradicted: ['the service lists a under 1, not under 9 (a of acme has 9)'],
    })
  })

  test('ids of existing budgets are compared with the lists', () => {
    const listed = [
      { name: 'a', id: '1' },
      { name: 'b', id: '2' },
      { name: 'c', id: '3' },
      { name: 'c', id: '4' },
    ]
    const rows = acme({ name: 'A ', id: '2' }, { name: 'c', id: '3' }, { name: 'd', id: '1e3' }, { name: 'e', id: '5' })
    expect(findIds(rows, [listed]).contradicted).toEqual([
      'the service lists A  under 1; 2 is b (A  of acme has 2)',
      'ambiguous: the service lists c under 3 and 4 (c of acme has 3)',
      '1e3 of d is not an id that the service lists, and other ids are digits without leading zeros (d of acme has 1e3)',
    ])
    expect(findIds(rows, []).contradicted).toEqual([])
  })

  test('missing ids come from any list if the lists agree', () => {
    const first = [{ name: 'a' }, { name: 'b', id: '2' }]
    const second = [
      { name: 'a', id: '1' },
      { name: 'b', id: '3' },
    ]
    expect(findIds(acme({ name: 'a' }, { name: 'b' }), [first, second]).missing).toEqual([
      { budget: 'acme', project: 'a', id: '1' },
    ])
  })

  test.each([
    ['neither a name nor an id', [{ name: 'a', id: '1' }], ['b of acme', '7 of acme']],
    ['a name, where the service shows no ids', [{ name: 'a' }], ['b of acme']],
    [
      'nothing, where the service knows all under any spelling',
      [
        { name: 'B', id: '7' },
        { name: 'x', id: ' 1' },
      ],
      [],
    ],
  ])('a listed project is named that the service has under %s', (_what, listed, unknown) => {
    expect(findIds(acme({ name: 'a', id: '1' }, { name: 'b' }, { name: '7' }), [listed]).unknown).toEqual(unknown)
  })

  test('an id of another project is not filled in, and both projects are named', () => {
    const budgets = [...acme({ name: 'a' }), { name: 'globex', projects: [{ name: '1' }] }]
    expect(findIds(budgets, [[{ name: 'a', id: '1' }]])).toEqual({
      ...none,
      twice: ['a of acme and 1 of globex are one project (id 1)'],
    })
  })

  test('a project is owned by its name, its id and any spelling, and unowned projects are named', () => {
    const listed = [{ name: 'A', id: '1' }, { name: 'b', id: '2' }, { name: 'c', id: '3' }, { name: 'd' }]
    expect(findIds(acme({ name: 'a ', id: 'x' }, { name: '2' }), [listed]).unowned).toEqual(['c', 'd'])
  })
})

describe('npm start', () => {
  test('the start names old ids that the service contradicts, and says nothing while it cannot list its projects', async () => {
    let status = 200
    const listed = Array.from({ length: 8 }, (_, at) => ({ name: `p${at}`, id: at + 1 }))
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ url }) =>
        url.endsWith('/projects') ? { status, body: JSON.stringify({ projects: listed }) } : undefined,
    })
    const named = async () => aboutIds(product.services, await product.guard.ledger.view())
    expect(await named()).toEqual([])
    const projects = [
      { name: 'p0', id: '1' },
      { name: 'p1', id: '3' },
      ...Array.from({ length: 6 }, (_, at) => ({ name: `p${at + 2}`, id: `${at + 90}` })),
    ]
    const body = { limits: [{ window: 'month', units: 100 }], projects }
    expect((await product.call('PUT', '/budgets/acme?asWritten=true', { body })).status).toBe(201)
    const [first, ...others] = await named()
    expect(first).toBe('the service lists p1 under 2; 3 is p2 (p1 of acme has 3)')
    expect(others).toHaveLength(5)
    expect(others.at(-1)).toBe('2 more ids: npm run doctor lists them')
    status = 503
    expect(await named()).toEqual([])
  })
})

describe('doctor', () => {
  test('the doctor names owned projects without an id, double listings and unowned projects', async () => {
    const store = createMemoryStore()
    const product = await startProduct({ store, clock: createTestClock(), stream: false })
    const owns = (...projects: object[]) => ({ body: { limits: [{ window: 'month', units: 100 }], projects } })
    await product.call('PUT', '/budgets/acme', owns({ name: 'a' }, { name: 'b' }, { name: 'c', id: '3' }))
    await product.call('PUT', '/budgets/globex', owns({ name: '2' }))
    const lists = [
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((name, index) => ({ name, id: `${index + 1}` })),
    ]
    const { lines, toDo } = await examineStore({}, store, product.clock, { lists })
    expect(lines.at(-1)).toBe('no budget owns d, e, f, g, h and 2 more; account pays for their updates')
    expect(toDo).toEqual([
      'give owned projects their ids: npm run budgets -- ids (a has 1)',
      'keep one of two listings: b of acme and 2 of globex are one project (id 2)',
    ])
    await product.call(
      'PUT',
      '/budgets/acme',
      owns({ name: 'a', id: '1' }, { name: 'b' }, { name: 'c', id: '3' }, { name: 'gone' }),
    )
    const told =
      'look at budgets: the service does not list gone of acme; correct the name, or create the project there'
    expect((await examineStore({}, store, product.clock, { lists })).toDo).toContain(told)
    expect((await examineStore({}, store, product.clock, { lists: [] })).toDo).not.toContain(told)
  })

  test('the doctor names old ids that the service contradicts', async () => {
    const store = createMemoryStore()
    const product = await startProduct({ store, clock: createTestClock(), stream: false })
    const body = { limits: [{ window: 'month', units: 100 }], projects: [{ name: 'a', id: '2' }] }
    await product.call('PUT', '/budgets/acme', { body })
    const lists = [
      [
        { name: 'a', id: '1' },
        { name: 'b', id: '2' },
      ],
    ]
    const { toDo } = await examineStore({}, store, product.clock, { lists })
    expect(toDo).toContain(
      'correct an id, or leave it if it is right: the service lists a under 1; 2 is b (a of acme has 2)',
    )
  })
})
