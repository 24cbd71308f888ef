import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nearFaults } from '../../shared/ledger/book/name-faults.ts'
import { releaseAnnouncement, releasedBy, unownedFaultsOf } from '../../shared/ledger/book/releases.ts'
import { type Budget, folded } from '../../shared/ledger/definitions/definitions.ts'
import { nearListings, nearName, nearNames } from '../../shared/ledger/definitions/near-names.ts'
import { listed, spellings } from '../guard/names/spellings.ts'

type Project = Budget['projects'][number]

const budgetOf = (name: string, projects: readonly Project[], more: Partial<Budget> = {}): Budget => ({
  name,
  parent: 'account',
  limits: [],
  projects,
  ...more,
})
const budgetsOf = (projects: Readonly<Record<string, readonly Project[]>>) => ({
  budgets: Object.fromEntries(Object.entries(projects).map(([name, each]) => [name, budgetOf(name, each)])),
})
const client = budgetsOf({ client: listed })
/** Each name that a spelling may be read as, with the budget and project that list it. */
const readings = (project: string) =>
  nearNames(client, project).map(({ reading, listing }) =>
    listing ? `${reading} of ${listing.budget.name}: ${listing.project.name}` : reading,
  )

describe('one folded name for all spellings of a project', () => {
  test.each([
    ['acme', ['acme', 'Acme', 'ACME', ' acme ', 'acme\u00a0', '\u200bac\u00adme', 'ａｃｍｅ']],
    ['café', ['café', 'cafe\u0301', 'CAFÉ', 'CAFE\u0301']],
    ['strasse', ['strasse', 'Straße', 'STRASSE', 'straẞe']],
    ['οδος', ['οδοσ', 'οδος', 'ΟΔΟΣ']],
    ['my shop', ['my shop', 'My  Shop', 'my\u3000shop', 'my\u00a0SHOP']],
    ['1', ['1', '①', '１']],
  ] as [string, string[]][])('all spellings of a project fold to one name: %s', (one, spellings) => {
    expect(spellings.map(folded)).toEqual(spellings.map(() => one))
  })

  test('different project names have different folded names', () => {
    const names = ['acme', 'acme2', 'a-cme', 'a.cme', 'acme/shop', 'c', 'c++', 'e', 'é', '77', 'ac me']
    expect(new Set(names.map(folded)).size).toBe(names.length)
  })

  test('folding a folded name or its capitals changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        const one = folded(name)
        expect(folded(one)).toBe(one)
        expect(folded(name.toUpperCase())).toBe(one)
        expect(folded(name.normalize('NFD'))).toBe(one)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a spelling that a lenient service may read as a listed name', () => {
  const initech = '8203 of client: initech'

  test.each(spellings)('%j may be read as %j', (spelling, reading) => {
    const near = nearName(client, spelling)
    expect([near?.reading, near?.listing?.budget.name]).toEqual([reading, 'client'])
  })

  test.each([
    ['08203', [initech, initech]],
    ['8203x', [initech]],
    ['8203e-0', [initech, initech]],
    ['"\'8203x', [initech]],
    ['+0x200bz', [initech]],
    ['sp–z1', ['sp-z1 of client: sp-z1']],
    ['020013', [initech]],
    ['+42', ['42']],
    ['-42', ['42']],
    ['010', ['10']],
    ['٤٢', ['42']],
    ['2147483648', [null]],
    ['1e400', [null]],
    ...['8203', 'initech', 'INITECH', '0', '42', '2147483647'].map((name) => [name, []] as const),
    ...['+-8203', '--8203', '++8203', 'Infinity', '1.2.3', '820', '8 203', 'x8203', '', '"'].map(
      (name) => [name, []] as const,
    ),
  ] as const)('%j has the readings %j', (name, expected) => {
    expect(readings(name)).toEqual(expected)
  })

  test('a number may end at its listed length, and a hexadecimal one needs its mark', () => {
    expect(nearName(budgetsOf({ a: [{ name: '0820' }] }), '0820-a')?.reading).toBe('0820')
    expect(nearName(budgetsOf({ a: [{ name: String(0xabcd0) }] }), 'abcd0x')).toBe(null)
  })

  test.each(['“”acme', '""acme""', 'a\u0323\u0301cme', 'ácme'])('several marks or quotes are ignored: %j', (name) => {
    expect(nearName(budgetsOf({ a: [{ name: 'acme' }] }), name)?.reading).toBe('acme')
  })

  test.each([
    [999, '999x', false],
    [1000, '1000x', true],
  ])('a number of at least four digits may be followed by text, %i from %j: %s', (id, name, isNear) => {
    expect(nearName(budgetsOf({ a: [{ name: String(id) }] }), name) !== null).toBe(isNear)
  })

  test.each([
    ['abc', '"abc"', true],
    ['ab', '"ab"', false],
    ['𝕒𝕓', '"𝕒𝕓"', false],
  ])('names of three letters or more are compared: %j and %j are near: %s', (name, other, isNear) => {
    expect(nearName(budgetsOf({ a: [{ name }] }), other) !== null).toBe(isNear)
  })
})

describe('two names that a lenient service may read as one', () => {
  const isNear = (listed: string, asked: string) =>
    nearNames(budgetsOf({ a: [{ name: listed }] }), asked).some(({ listing }) => listing !== null)

  test.each([
    ['08203', '8203'],
    ['8203.0', '8203'],
    ['+42', '42'],
    ['0x200b', '8203'],
    ['020013', '8203'],
    ['8203x', '8203'],
    ['8203-a', '8203'],
    ['"8203"', '8203'],
    ['sp–z1', 'sp-z1'],
    ['shop?x', 'shop'],
  ])('%j and %j are near, whichever of them a budget lists', (one, other) => {
    expect([isNear(one, other), isNear(other, one)]).toEqual([true, true])
  })

  test('a listed name is named when the service may read it as the project', () => {
    const { reading, listing } = nearName(budgetsOf({ a: [{ name: 'shop', id: '08203' }] }), '8203') ?? {}
    expect([reading, listing?.project.name]).toEqual(['08203', 'shop'])
  })

  test('each two names are near in both directions or in none', () => {
    const number = fc.constantFrom('8203', '42', '2147483647', '007', '1001')
    const decorated = fc
      .tuple(
        fc.constantFrom('', '+', '-', '0', '00', '0x', '"', ' '),
        number,
        fc.constantFrom('', 'x', '-a', '.0', 'e0', '"', ';q'),
      )
      .map((parts) => parts.join(''))
    const word = fc.constantFrom('shop', 'shóp', 'sh–op', 'sh-op', 'shop.', 'shop;q', '"shop"', 'øre', 'ore')
    fc.assert(
      fc.property(fc.oneof(decorated, word), fc.oneof(decorated, number, word), (one, other) => {
        expect([one, other, isNear(one, other)]).toEqual([one, other, isNear(other, one)])
      }),
      { numRuns: 2000 },
    )
  })
})

describe('the letters of a name', () => {
  const isNear = (name: string, project: string) => {
    const budget = { name: 'a', parent: 'account', limits: [], projects: [{ name }] }
    return nearName({ budgets: { a: budget } }, project) !== null
  }

  test.each([
    ['øre', 'ore'],
    ['łan', 'lan'],
    ['đak', 'dak'],
    ['ħam', 'ham'],
    ['ære', 'aere'],
    ['œuf', 'oeuf'],
    ['þin', 'thin'],
    ['Ǿre', 'ORE'],
    ['йога', 'иога'],
    ['άλφα', 'αλφα'],
    ['a−b—c', 'a−b-c'],
    ['shop', '«shop…»'],
    ['shop?x', 'shop'],
    ['shop', 'shop;jsessionid=1'],
    ['東京都', '"東京都".'],
  ])('%s and %s may be read as each other', (one, other) => {
    expect([isNear(one, other), isNear(other, one)]).toEqual([true, true])
  })

  test.each([
    ['éa', 'ea'],
    ['किताब', 'कताब'],
    ['がぎぐ', 'かきく'],
    ['a-bc', 'abc'],
    ['shop.de', 'shopde'],
    ['shop', '.shop'],
    ['шор', 'шоp'],
    ['8203', '820'],
    ['123', '123x'],
  ])('%s and %s are two names', (one, other) => {
    expect([isNear(one, other), isNear(other, one)]).toEqual([false, false])
  })

  test('the letters of names are compared for the first name that no budget lists, and not again', () => {
    let readings = 0
    const projects = {
      *[Symbol.iterator]() {
        readings++
        yield { name: 'shop' }
      },
    } as unknown as readonly { name: string }[]
    const definitions = { budgets: { a: { name: 'a', parent: 'account', limits: [], projects } } }
    const readingsAfter = (project: string) => [nearName(definitions, project)?.reading ?? null, readings]
    expect(readingsAfter('shop')).toEqual([null, 1])
    expect(readingsAfter('SHOP')).toEqual([null, 1])
    expect(readingsAfter('shóp')).toEqual(['shop', 2])
    expect(readingsAfter('other')).toEqual([null, 2])
  })
})

describe('two listed names that a service may confuse', () => {
  test('two near listed names are reported once, with their budgets', () => {
    const definitions = budgetsOf({
      a: [{ name: 'café' }, { name: '8203' }],
      b: [{ name: 'cafe' }, { name: 'x', id: '08203' }],
    })
    expect(nearListings(definitions)).toEqual([
      { name: 'café', budget: 'a', reading: 'cafe', other: 'b' },
      { name: '08203', budget: 'b', reading: '8203', other: 'a' },
    ])
  })

  test('the name and the id of one project are not near, nor a number that no budget lists', () => {
    expect(nearListings(budgetsOf({ a: [{ name: '8203', id: '08203' }, { name: '+42' }, { name: 'shop' }] }))).toEqual(
      [],
    )
  })

  test('no listed name or id is reported as near, however unusual', () => {
    const name = fc.oneof(
      fc.string({ minLength: 1, unit: 'grapheme' }),
      fc.constantFrom(...spellings.map(([text]) => text)),
    )
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

describe('a new name near the project of an update that may still run', () => {
  const update = (project: string, state: 'running' | 'in-doubt') =>
    ({ id: `upd_${project}`, kind: 'ranking', project, state }) as Parameters<typeof updatesOf>[0]
  const updatesOf = (...updates: Awaited<ReturnType<Parameters<typeof nearFaults>[2]>>[number][]) => updates
  type Names = Parameters<typeof budgetsOf>[0]
  const definitionsOf = (names: Names) => budgetsOf(names) as Parameters<typeof nearFaults>[0]
  const faults = (before: Names, after: Names, ...updates: ReturnType<typeof update>[]) => {
    const definitions = definitionsOf(before)
    const kept = Object.fromEntries(
      Object.entries(definitions.budgets).filter(([name]) => after[name] === before[name]),
    )
    const changed = definitionsOf(after)
    return nearFaults(definitions, { ...changed, budgets: { ...changed.budgets, ...kept } }, async () => updates)
  }
  const blocked = (name: string, project: string, is: string) => ({
    path: 'projects',
    message: `${name} may be read as ${project}, and the ranking update upd_${project} of ${project} ${is}; list ${name} when it has ended`,
    update: `upd_${project}`,
  })

  test('a new near name is refused while the update runs or is in doubt', async () => {
    const after = { a: [{ name: 'café' }] }
    expect(await faults({}, after, update('cafe', 'running'))).toEqual([blocked('café', 'cafe', 'is running')])
    expect(await faults({ a: [] }, after, update('cafe', 'in-doubt'), update('shop', 'running'))).toEqual([
      blocked('café', 'cafe', 'is in doubt'),
    ])
  })

  test('a new near name is refused in both directions: a number, and a number with a tail', async () => {
    expect(await faults({}, { a: [{ name: 'x', id: '8203' }] }, update('8203x', 'running'))).toEqual([
      blocked('8203', '8203x', 'is running'),
    ])
    expect(await faults({}, { a: [{ name: '8203x' }] }, update('8203', 'running'))).toEqual([
      blocked('8203x', '8203', 'is running'),
    ])
  })

  test.each([
    ['the same name', {}, { a: [{ name: 'Cafe' }] }],
    ['the other name of the same row', {}, { a: [{ name: 'cafe', id: 'café' }] }],
    ['a name that was listed before', { b: [{ name: 'café' }] }, { a: [{ name: 'CAFÉ' }] }],
    ['another name', {}, { a: [{ name: 'shop' }] }],
    ['no name', {}, { a: [] }],
  ] as [string, Names, Names][])('a new near name is accepted where it is %s', async (_, before, after) => {
    expect(await faults(before, after, update('cafe', 'running'))).toEqual([])
  })

  test('a change without a new name reads no updates', async () => {
    const fail = () => Promise.reject(new Error('was read'))
    const before = definitionsOf({ a: [{ name: 'café' }], b: [{ name: 'shop' }] })
    const moved = definitionsOf({ a: [{ name: 'shop' }], b: [{ name: 'café' }] })
    expect(await nearFaults(before, moved, fail)).toEqual([])
    expect(await nearFaults(before, before, fail)).toEqual([])
    await expect(nearFaults(before, definitionsOf({ a: [{ name: 'new' }] }), fail)).rejects.toThrow('was read')
  })
})

describe('projects that a change takes out of a budget', () => {
  const before = {
    a: [
      { name: 'one', id: '1111' },
      { name: 'two', id: '2222' },
    ],
    b: [{ name: 'three' }],
  }
  const released = (after: Parameters<typeof budgetsOf>[0]) =>
    releasedBy(budgetsOf(before), budgetsOf(after)).map(({ text, budget, project }) => [
      text,
      budget.name,
      project.name,
    ])

  test.each([
    ['nothing', before, []],
    ['a move to another budget', { b: [...before.b, ...before.a] }, []],
    ['a project', { a: before.a }, [['three', 'b', 'three']]],
    ['a project with an id, named once', { a: before.a.slice(1), b: before.b }, [['one', 'a', 'one']]],
    ['the id of a project', { ...before, a: [{ name: 'one' }, ...before.a.slice(1)] }, [['1111', 'a', 'one']]],
    [
      'a project whose id alone another budget lists',
      { a: before.a.slice(1), b: [...before.b, { name: '1111' }] },
      [['one', 'a', 'one']],
    ],
    [
      'the name of a project that is renamed',
      { ...before, a: [{ name: 'uno', id: '1111' }, ...before.a.slice(1)] },
      [['one', 'a', 'one']],
    ],
    ['an id in place of another', { ...before, a: [{ name: 'one', id: '9' }, ...before.a.slice(1)] }, []],
    ['an id that another row takes', { ...before, a: [{ name: 'one' }, { name: '1111' }, ...before.a.slice(1)] }, []],
  ] as const)('%s releases the names that no budget lists any more', (_, after, expected) => {
    expect(released(after)).toEqual(expected)
  })

  const announced = (from: Readonly<Record<string, readonly Project[]>>) => {
    const definitions = (names: typeof from) =>
      ({ ...budgetsOf(names), revision: 7 }) as Parameters<typeof nearFaults>[0]
    return releaseAnnouncement(
      { before: definitions(from), after: definitions({}), now: 5 },
      { by: 'ada', reason: 'left' },
    )
  }

  test('projects that leave a budget are announced once, at most twenty by name', () => {
    const many = Array.from({ length: 22 }, (_, place) => ({ name: `p${place}` }))
    const about = { kind: 'released', budget: 'a', otherBudgets: 1, more: 3, by: 'ada', reason: 'left' }
    const [write, ...others] = announced({ a: many, b: [{ name: 'last' }] })
    expect(JSON.stringify(write)).toContain(JSON.stringify(about.kind))
    expect(write).toMatchObject({ item: { pk: expect.stringContaining('released#7') } })
    expect(JSON.parse(JSON.stringify(write)).item).toMatchObject({
      about: { ...about, projects: many.slice(0, 20).map(({ name }) => name) },
    })
    expect(others).toEqual([])
    expect(announced({ a: [] })).toEqual([])
  })

  test.each([
    [{ name: 'account' }, []],
    [{ name: 'account', unowned: 'refuse' }, []],
    [{ name: 'account', unowned: 'approve', approvers: ['ada'] }, []],
    [
      { name: 'account', unowned: 'approve' },
      [
        [
          'approvers',
          'account needs approvers while it wants approval for projects that no budget lists (unowned: approve)',
        ],
      ],
    ],
    [{ name: 'a', unowned: 'pay' }, [['unowned', 'only account says what happens to projects that no budget lists']]],
  ] as const)('the rule for projects that no budget lists is checked: %j', (more, expected) => {
    const faults = unownedFaultsOf([budgetOf(more.name, [], more as Partial<Budget>)])
    expect(faults.map(({ path, message }) => [path, message])).toEqual(expected)
  })
})
