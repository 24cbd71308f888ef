import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nearName } from '../../../shared/ledger/book/near-names.ts'
import { createMemoryStore } from '../../../shared/ledger/store/memory-store.ts'
import { only, startGuard } from '../../support/guard.ts'
import { startProduct } from '../../support/product.ts'

const listed = [
  { name: 'initech', id: '8203' },
  { name: 'sp-z1' },
  { name: 'café.example' },
  { name: 'Ærøskøbing Łódź' },
]

const digitsFrom = (zero: number) => [8, 2, 0, 3].map((digit) => String.fromCodePoint(zero + digit)).join('')

/** Another way to write what a budget lists, as a lenient service reads it. */
const spellings: Readonly<Record<string, readonly string[]>> = {
  '8203': [
    ...[
      '08203',
      '008203',
      '+8203',
      '-8203',
      '8203.0',
      '8203.00',
      '8203.',
      '8.203e3',
      '82.03E2',
      '0.8203e4',
      '82030e-1',
    ],
    ...['0x200b', '0X200B', '0x0200b', '0o20013', '0b10000000001011', '+08203', '8203.5', '+0x200b'],
    ...[
      '8203x',
      '8203-a',
      '8203 a',
      '8203_',
      '8203:',
      '8203!',
      '8203a',
      '8203.x',
      '8203e',
      '8203\t1',
      '8203$',
      '8203)',
    ],
    ...['"8203"', "'8203'", '"8203', "'8203", ' "8203"', '8203"', "8203'", '"8203"x', '" 8203', '08203x', '8203’'],
    ...['8203?x=1', '8203#a', '8203&a=1', '8203=', '8203|1', '8203~'],
    ...[0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0x1810, 0x0a66, 0x0ce6].map(digitsFrom),
    ...[`${digitsFrom(0x660)}x`, `+${digitsFrom(0x966)}`],
  ],
  'sp-z1': [
    ...['sp-z1.', 'sp-z1..', '"sp-z1"', "'sp-z1'", '“sp-z1”', '«sp-z1»', '`sp-z1`', '"sp-z1', "sp-z1'", '"sp-z1."'],
    ...['sp‐z1', 'sp‑z1', 'sp‒z1', 'sp–z1', 'sp—z1', 'sp―z1', 'sp﹘z1', 'SP–Z1', 'sp-z1?x=1', 'sp-z1#a', 'sp-z1&a'],
    ...['šp-z1', 'sp-ž1', 'ṣp-z1', 'sp-z١', 'sp-z۱', 'sp-z१', '"sp—z1".', 'sp-z1.?x'],
  ],
  'café.example': ['cafe.example', 'cafè.example', 'CAFE.example', 'cafe.example.', '"cafe.example"', 'ĉafe.example'],
  'Ærøskøbing Łódź': ['aeroskobing lodz', 'Aerøskøbing Łódz', 'AEROSKOBING LODZ', 'ærøskøbing lódź'],
}

const rows = Object.entries(spellings).flatMap(([reading, all]) => all.map((spelling) => [spelling, reading] as const))

/** Whether the adversary's service would run one of the frozen budget's projects. */
const start = async () => {
  const guard = await startGuard()
  await guard.budget('client', { projects: listed, frozen: { by: 'ada', reason: 'has left', at: 0 } })
  return guard
}

test('the table has more spellings than the adversary tried', () => {
  expect(new Set(rows.map(([spelling]) => spelling)).size).toBeGreaterThanOrEqual(85)
})

describe('a name that no budget lists, but that may be read as a listed one', () => {
  test.each(rows)('%j is refused by every way of asking, with the name %j', async (spelling, reading) => {
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

  test('is refused through HTTP and the gateway, before anything is sent', async () => {
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

  test('is refused where a budget has listed the near name after the update was queued', async () => {
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

  test('runs once a budget lists it', async () => {
    const guard = await start()
    await guard.budget('other', { projects: ['8203x', 'sp-z1.', 'cafe.example'].map((name) => ({ name })) })
    for (const project of ['8203x', 'sp-z1.', 'cafe.example'])
      expect(only(await guard.ask({ projects: [project] }, { key: project })).state).toBe('settled')
  })
})

describe('a number that is written oddly', () => {
  test.each(['08203', '+42', '-42', '42.0', '4.2e1', '0x2a', '٤٢', '99999999999', '2147483648', '1e400'])(
    '%s is refused although no budget lists what it may mean',
    async (project) => {
      const { problem } = await (await startGuard()).ask({ projects: [project] })
      expect(problem).toMatchObject({
        slug: 'invalid-request',
        detail: expect.stringContaining(`${project} may be read as`),
      })
    },
  )

  test.each(['0', '42', '8203', '2147483647', 'Infinity', '1.2.3', '3-2', 'x42'])(
    '%s is written as usual, or is no number',
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
  ])('%s is another project', async (project) => {
    const guard = await start()
    expect(only(await guard.ask({ projects: [project] })).state).toBe('settled')
  })

  test('no listed name or id is near, however strange', () => {
    const name = fc.oneof(fc.string({ minLength: 1, unit: 'grapheme' }), fc.constantFrom(...rows.map(([text]) => text)))
    const property = fc.property(
      fc.array(fc.record({ name, id: name }), { minLength: 1, maxLength: 5 }),
      (projects) => {
        const budget = { name: 'a', parent: 'account', limits: [], projects }
        for (const { name, id } of projects)
          for (const text of [name, id]) expect(nearName({ budgets: { a: budget } }, text)).toBeNull()
      },
    )
    fc.assert(property, { numRuns: 500 })
  })
})
