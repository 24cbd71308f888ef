import { describe, expect, test } from 'vitest'
import { faultsOf } from '../../shared/ledger/book/changes.ts'
import {
  type Budget,
  budgetNamed,
  callerNamed,
  callerOfCounter,
  callerOfPlan,
  chainOf,
  childrenOf,
  counterOwnerNamed,
  counterOwnersIn,
  type Definitions,
  frozenAbove,
  isWithin,
  limitOf,
  limitsOfCaller,
  namesOf,
  ownerOf,
  pauseOf,
  personOf,
  planOfCaller,
  rulesOfCaller,
  topsOf,
  unownedRuleOf,
} from '../../shared/ledger/definitions/definitions.ts'
import { fromDefinitionsItem, toDefinitionsItem } from '../../shared/ledger/definitions/definitions-item.ts'
import { differencesOf, fittingDifferences } from '../../shared/ledger/definitions/difference.ts'
import { newCalendar } from '../../shared/ledger/definitions/windows.ts'
import { toUnits } from '../../shared/platform/words.ts'

const calendar = newCalendar({ day: 1, time: '00:00', zone: 'UTC' })

const budget = (name: string, parent: string | null, more: Partial<Budget> = {}): Budget => ({
  name,
  parent,
  limits: [{ window: 'month', units: toUnits(100) }],
  projects: [],
  ...more,
})

const define = (...budgets: Budget[]): Definitions => ({
  revision: 1,
  createdAt: 0,
  calendar,
  budgets: Object.fromEntries([budget('account', null), ...budgets].map((each) => [each.name, each])),
})

/** `b2` below the root, `b3` below `b2` and so on, with `deep` budgets in one chain. */
const chain = (deep: number) =>
  define(
    ...Array.from({ length: deep - 1 }, (_, index) =>
      budget(`b${index + 2}`, index === 0 ? 'account' : `b${index + 1}`),
    ),
  )

/** A budget below the root with these projects. */
const owning = (name: string, ...projects: (string | Budget['projects'][number])[]): Budget =>
  budget(name, 'account', { projects: projects.map((each) => (typeof each === 'string' ? { name: each } : each)) })

const ofProjects = (message: string) => ({ path: 'projects', message })
const ownedTwice = (project: string) => ofProjects(`${project} has one owner, and cannot belong to seo and to blog`)
const unknown = (parent: string) => ({ path: 'parent', message: `there is no budget ${parent}; create it first` })
const tooDeep = { path: 'parent', message: 'budgets are at most 8 deep, and no budget is its own ancestor' }

describe('faults of a set of budgets', () => {
  test.each<[string, Definitions, ReturnType<typeof faultsOf>]>([
    ['nothing, with the root alone', define(), []],
    ['nothing, eight deep', chain(8), []],
    ['nine deep', chain(9), [tooDeep]],
    ['eleven deep: said once', chain(11), [tooDeep]],
    ['an unknown parent', define(budget('seo', 'missing')), [unknown('missing')]],
    [
      'an unknown parent above another budget: only the one that is missing is named',
      define(budget('seo', 'missing'), budget('blog', 'seo')),
      [unknown('missing')],
    ],
    ['a parent that every object has', define(budget('seo', 'constructor')), [unknown('constructor')]],
    ['its own parent', define(budget('seo', 'seo')), [tooDeep]],
    ['a circle of three', define(budget('a', 'b'), budget('b', 'c'), budget('c', 'a')), [tooDeep]],
    ['a project owned twice by name', define(owning('seo', 'acme'), owning('blog', 'acme')), [ownedTwice('acme')]],
    [
      'a project owned twice by id',
      define(owning('seo', { name: 'acme', id: '77' }), owning('blog', { name: 'other', id: '77' })),
      [ownedTwice('77')],
    ],
    [
      'a name that is the id of a project of another budget',
      define(owning('seo', { name: 'acme', id: '77' }), owning('blog', '77')),
      [ownedTwice('77')],
    ],
    [
      'an id that two projects of one budget share',
      define(owning('seo', { name: 'acme', id: '77' }, { name: 'other', id: '77' })),
      [ofProjects('77 stands for two projects of seo')],
    ],
    [
      'a project owned twice under two spellings',
      define(owning('seo', { name: 'Acme', id: 'p-1' }), owning('blog', 'ACME ', { name: 'other', id: 'P-1' })),
      [ownedTwice('ACME , which is the same project as Acme,'), ownedTwice('P-1, which is the same project as p-1,')],
    ],
    [
      'one project twice in one budget, under two spellings',
      define(owning('seo', 'acme', 'Acme')),
      [ofProjects('Acme, which is the same project as acme, stands for two projects of seo')],
    ],
    [
      'nothing, where name and id are spellings of one another',
      define(owning('seo', { name: 'Acme', id: 'acme' })),
      [],
    ],
    ['nothing, where name and id are the same', define(owning('seo', { name: '77', id: '77' })), []],
    [
      'several things at once',
      define({ ...owning('seo', 'acme'), parent: 'missing' }, { ...owning('blog', 'acme'), parent: 'blog' }),
      [unknown('missing'), tooDeep, ownedTwice('acme')],
    ],
  ])('a set of budgets has these faults: %s', (_name, definitions, faults) => {
    expect(faultsOf(definitions)).toEqual(faults)
  })
})

test('old collisions of projects do not block another change, and a new one does', () => {
  const before = define(owning('seo', 'acme', 'Acme'))
  const frozen = { ...before.budgets.seo, frozen: { reason: 'r', by: 'ada', at: 1 } } as Budget
  expect(faultsOf({ ...before, budgets: { ...before.budgets, seo: frozen } }, before)).toEqual([])
  expect(faultsOf(define(owning('seo', 'acme', 'Acme', 'b', 'B')), before)).toEqual([
    ofProjects('B, which is the same project as b, stands for two projects of seo'),
  ])
})

test('budgets and callers must fit into one item, not counting freezes and disabled callers', () => {
  const withProjects = (count: number) =>
    define(
      budget('seo', 'account', {
        projects: Array.from({ length: count }, (_, index) => ({ name: `${index}`.padEnd(500, 'x') })),
      }),
    )
  const bytes = Buffer.byteLength(JSON.stringify(withProjects(680)))
  expect(bytes).toBeLessThan(350_000)
  const filled = (more: number) => {
    const { budgets, ...rest } = withProjects(680)
    const frozen = { reason: 'r'.repeat(500), by: 'ada', at: 1 }
    const account = { ...budget('account', null), approvers: ['x'.repeat(more)], frozen }
    return { ...rest, budgets: { ...budgets, account }, callers: { eve: { disabled: true } } } as const
  }
  const { budgets } = filled(0)
  const counted = { budgets: { ...budgets, account: { ...budgets.account, frozen: undefined } }, callers: {} }
  const spare = 350_000 - Buffer.byteLength(JSON.stringify(counted))
  expect(faultsOf(filled(spare))).toEqual([])
  expect(faultsOf(filled(spare + 1))).toEqual([
    {
      path: 'projects',
      message: 'all budgets and callers together take at most 350 KB: name fewer projects, or delete callers',
    },
  ])
})

describe('definitions of callers and plans', () => {
  const limits = [{ window: 'day', units: toUnits(5) }] as const
  const stop = { reason: 'too dear', by: 'ada', at: 1 }
  const definitions: Definitions = {
    ...define(budget('seo', 'account')),
    callers: { ada: { person: 'Ada L.' }, 'slack:U1': { limits }, bob: {} },
    pausedPlans: { nightly: stop },
  }
  const names = (found: readonly { name: string }[]) => found.map(({ name }) => name)

  test('a caller with limits has counters beside the budgets', () => {
    expect(names(counterOwnersIn(definitions))).toEqual(['account', 'seo', 'caller:slack:U1'])
    expect(names(counterOwnersIn(define(budget('seo', 'account'))))).toEqual(['account', 'seo'])
    expect(limitsOfCaller(definitions, 'slack:U1')).toEqual([{ name: 'caller:slack:U1', limits }])
    for (const caller of ['ada', 'bob', 'missing', 'constructor'])
      expect(limitsOfCaller(definitions, caller)).toEqual([])
  })

  test('a counter is found by its name', () => {
    expect(counterOwnerNamed(definitions, 'seo')?.name).toBe('seo')
    expect(counterOwnerNamed(definitions, 'caller:slack:U1')?.limits).toEqual(limits)
    expect(counterOwnerNamed(definitions, 'caller:bob')).toBeUndefined()
    expect(callerOfCounter('caller:slack:U1')).toBe('slack:U1')
    expect(callerOfCounter('seo')).toBeNull()
    expect(callerOfCounter('my-caller:')).toBeNull()
  })

  test('the person of a caller is the named one, or the caller', () => {
    expect(['ada', 'bob', 'missing'].map((caller) => personOf(definitions, caller))).toEqual([
      'Ada L.',
      'bob',
      'missing',
    ])
    expect(personOf(define(), 'ada')).toBe('ada')
    expect(callerNamed(definitions, 'toString')).toBeUndefined()
  })

  test('the nearest frozen budget above a budget is found, and so are the tops', () => {
    const frozen = { by: 'ada', at: 0, reason: 'r' }
    const tree = define(budget('seo', 'account', { frozen }), budget('blog', 'seo'), budget('post', 'blog', { frozen }))
    expect(['post', 'blog', 'seo', 'account', 'gone'].map((name) => frozenAbove(tree, name))).toEqual([
      'seo',
      'seo',
      null,
      null,
      null,
    ])
    expect(topsOf(tree)).toEqual(['account'])
  })

  test.each<[string, Record<string, string>, string | undefined, string[]]>([
    ['an unlisted caller', {}, undefined, ['ada']],
    ['a claimed person', {}, 'Ada L.', ['ada', 'Ada L.']],
    ['a listed person before a claimed one', { ada: 'Ada' }, 'Ada L.', ['ada', 'Ada']],
    ['a person who is a caller with a person', { ada: 'bob', bob: 'Bob' }, undefined, ['ada', 'bob', 'Bob']],
    ['a caller who is their own person', { ada: 'ada' }, undefined, ['ada']],
    [
      'a circle of an earlier version',
      { ada: 'cleo', cleo: 'bob', bob: 'cleo' },
      undefined,
      ['ada', 'cleo', 'bob', 'bob'],
    ],
  ])('the names of a caller end with the person: %s', (_name, persons, claimed, names) => {
    const callers = Object.fromEntries(Object.entries(persons).map(([name, person]) => [name, { person }]))
    expect(namesOf({ callers }, 'ada', claimed)).toEqual(names)
  })

  test('a difference names each made, changed and removed thing with its changed members', () => {
    const stop = { by: 'ada', at: 0, reason: 'r' }
    const before: Definitions = {
      ...define(budget('seo', 'account', { projects: [{ name: 'a' }, { name: 'b' }] }), budget('old', 'account')),
      callers: { bob: { disabled: true } },
      pausedPlans: { morning: stop },
    }
    const after: Definitions = {
      ...define(
        budget('seo', 'account', { projects: [{ name: 'b' }, { name: 'a' }], frozen: stop }),
        budget('new', 'seo'),
      ),
      callers: { bob: { disabled: true, ratePerMinute: 5 } },
      unlisted: { ratePerMinute: 2 },
      pausedPlans: { evening: stop },
    }
    const member = (name: string, from: unknown, to: unknown) => ({ member: name, from, to })
    const limits = [{ window: 'month', units: 100 }]
    const all = (parent: string) => ({ parent, limits, projects: [] })
    const differences = differencesOf(before, after)
    expect(differences).toEqual([
      {
        kind: 'budget',
        name: 'new',
        how: 'made',
        members: ['limits', 'parent', 'projects'].map((name) => member(name, null, all('seo')[name as 'parent'])),
      },
      {
        kind: 'budget',
        name: 'old',
        how: 'removed',
        members: ['limits', 'parent', 'projects'].map((name) => member(name, all('account')[name as 'parent'], null)),
      },
      { kind: 'caller', name: '*', how: 'made', members: [member('ratePerMinute', null, 2)] },
      { kind: 'caller', name: 'bob', how: 'changed', members: [member('ratePerMinute', null, 5)] },
      { kind: 'plan', name: 'evening', how: 'made', members: [] },
      { kind: 'plan', name: 'morning', how: 'removed', members: [] },
    ])
    expect(fittingDifferences(differences)).toEqual(differences)
    const many = Array.from({ length: 200 }, () => differences).flat()
    expect(fittingDifferences(many)).toEqual(many.map((each) => ({ ...each, members: [] })))
  })

  test('a plan is a caller, but the rules for unlisted callers do not apply to it', () => {
    const rules = { perUpdate: toUnits(3) }
    const withRules = { ...definitions, unlisted: rules }
    expect(callerOfPlan('nightly')).toBe('schedule:nightly')
    expect(['schedule:nightly', 'nightly', 'my-schedule:'].map(planOfCaller)).toEqual(['nightly', null, null])
    expect(rulesOfCaller(withRules, 'slack:U1')).toEqual({ limits })
    expect(rulesOfCaller(withRules, 'eve')).toEqual(rules)
    expect(rulesOfCaller(withRules, 'schedule:nightly')).toBeUndefined()
    expect(rulesOfCaller(definitions, 'eve')).toBeUndefined()
  })

  test('account pays for unowned projects unless its rule says otherwise', () => {
    const listed = budget('seo', 'account', { projects: [{ name: 'acme' }] })
    const strict = define(listed)
    const root = { ...strict.budgets.account, unowned: 'refuse' } as Budget
    expect(['acme', 'ACME', 'other'].map((project) => unownedRuleOf(strict, project))).toEqual([null, null, 'pay'])
    const refusing = { ...strict, budgets: { ...strict.budgets, account: root } }
    expect(['acme', 'other'].map((project) => unownedRuleOf(refusing, project))).toEqual([null, 'refuse'])
    expect(unownedRuleOf({ ...strict, budgets: { seo: listed } }, 'other')).toBe('pay')
  })

  test('the definitions say whether a plan is paused', () => {
    expect(pauseOf(definitions, 'nightly')).toEqual(stop)
    expect(pauseOf(definitions, 'toString')).toBeUndefined()
    expect(pauseOf(define(), 'nightly')).toBeUndefined()
  })
})

describe('the stored item', () => {
  const definitions = define(budget('b', 'account'), budget('a', 'account'), budget('zoo', 'account'))
  const item = toDefinitionsItem(definitions)

  test.each([
    ['as written', ['account', 'b', 'a', 'zoo']],
    ['the root last', ['zoo', 'b', 'a', 'account']],
    ['the root among others', ['a', 'account', 'zoo', 'b']],
    ['sorted', ['a', 'account', 'b', 'zoo']],
  ])('stored definitions have the root first, then names, in any order of the database: %s', (_name, order) => {
    const budgets = Object.fromEntries(order.map((name) => [name, definitions.budgets[name] ?? null]))
    const read = fromDefinitionsItem({ ...item, budgets } as typeof item)
    expect(Object.keys(read.budgets)).toEqual(['account', 'a', 'b', 'zoo'])
    expect(read).toEqual(definitions)
    expect(read).not.toHaveProperty('pk')
  })
})

describe('the tree', () => {
  const definitions = define(
    budget('seo', 'account', { projects: [{ name: 'acme', id: '77' }] }),
    budget('blog', 'seo'),
    budget('constructor', 'seo'),
  )

  test('a chain goes from the budget to the root', () => {
    expect(chainOf(definitions, 'blog').map(({ name }) => name)).toEqual(['blog', 'seo', 'account'])
    expect(chainOf(definitions, 'account').map(({ name }) => name)).toEqual(['account'])
    expect(chainOf(chain(8), 'b8')).toHaveLength(8)
  })

  test.each<[string, Definitions, string]>([
    ['an unknown budget', definitions, 'missing'],
    ['a name that every object has', definitions, 'toString'],
    ['an unknown parent', define(budget('seo', 'missing')), 'seo'],
    ['a circle', define(budget('a', 'b'), budget('b', 'a')), 'a'],
    ['nine deep', chain(9), 'b9'],
  ])('a broken chain of budgets is refused: %s', (_name, broken, name) => {
    expect(() => chainOf(broken, name)).toThrow(/^the chain of budget .* is broken/)
  })

  test.each([
    ['blog', 'blog', true],
    ['blog', 'seo', true],
    ['blog', 'account', true],
    ['seo', 'blog', false],
    ['missing', 'account', false],
  ])('%s is within %s: %s', (name, above, is) => {
    expect(isWithin(definitions, name, above)).toBe(is)
  })

  test('only own members of the definitions are budgets', () => {
    expect(budgetNamed(definitions, 'constructor')?.parent).toBe('seo')
    expect(budgetNamed(definitions, 'toString')).toBeUndefined()
    expect(budgetNamed(definitions, '__proto__')).toBeUndefined()
    expect(childrenOf(definitions, 'seo').map(({ name }) => name)).toEqual(['blog', 'constructor'])
    expect(childrenOf(definitions, 'blog')).toEqual([])
  })

  test('the owner of a project is found by name and id in any spelling', () => {
    expect(ownerOf(definitions, 'acme')?.name).toBe('seo')
    expect(ownerOf(definitions, '77')?.name).toBe('seo')
    expect(ownerOf(definitions, ' ACME')?.name).toBe('seo')
    expect(ownerOf(definitions, '７７')?.name).toBe('seo')
    expect(ownerOf(definitions, 'acm')).toBeUndefined()
  })

  test('a window without a limit is unlimited, and one with a limit of 0 is not', () => {
    const nothing = budget('none', 'account', { limits: [{ window: 'day', units: toUnits(0) }] })
    expect(limitOf(nothing, 'day')).toBe(0)
    expect(limitOf(nothing, 'month')).toBe('unlimited')
  })
})
