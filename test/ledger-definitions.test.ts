import { describe, expect, test } from 'vitest'
import {
  type Budget,
  budgetNamed,
  chainOf,
  childrenOf,
  type Definitions,
  faultsOf,
  limitOf,
  ownerOf,
} from '../shared/ledger/definitions.ts'
import { newCalendar } from '../shared/ledger/windows.ts'
import { toUnits } from '../shared/platform/words.ts'

const calendar = newCalendar({ day: 1, time: '00:00', zone: 'UTC' })

const budget = (name: string, parent: string | null, more: Partial<Budget> = {}): Budget => ({
  ...{ name, parent, limits: [{ window: 'month', units: toUnits(100) }], projects: [] },
  ...more,
})

const define = (...budgets: Budget[]): Definitions => ({
  revision: 1,
  createdAt: 0,
  calendar,
  budgets: Object.fromEntries([budget('account', null), ...budgets].map((each) => [each.name, each])),
})

/** `b2` below the root, `b3` below `b2`, and so on, until `deep` budgets are in one chain. */
const chain = (deep: number) =>
  define(
    ...Array.from({ length: deep - 1 }, (_, index) =>
      budget(`b${index + 2}`, index === 0 ? 'account' : `b${index + 1}`),
    ),
  )

const tooDeep = { path: 'parent', message: 'budgets are at most 8 deep, and no budget is its own ancestor' }

describe('what is wrong with a set of budgets', () => {
  test.each<[string, Definitions, ReturnType<typeof faultsOf>]>([
    ['nothing, with the root alone', define(), []],
    ['nothing, eight deep', chain(8), []],
    ['nine deep', chain(9), [tooDeep]],
    ['eleven deep: said once', chain(11), [tooDeep]],
    [
      'an unknown parent',
      define(budget('seo', 'nobody')),
      [{ path: 'parent', message: 'there is no budget nobody; create it first' }],
    ],
    [
      'an unknown parent above another budget: only the one that is missing is named',
      define(budget('seo', 'nobody'), budget('blog', 'seo')),
      [{ path: 'parent', message: 'there is no budget nobody; create it first' }],
    ],
    [
      'a parent that every object has',
      define(budget('seo', 'constructor')),
      [{ path: 'parent', message: 'there is no budget constructor; create it first' }],
    ],
    ['its own parent', define(budget('seo', 'seo')), [tooDeep]],
    ['a circle of three', define(budget('a', 'b'), budget('b', 'c'), budget('c', 'a')), [tooDeep]],
    [
      'a project owned twice by name',
      define(
        budget('seo', 'account', { projects: [{ name: 'acme' }] }),
        budget('blog', 'seo', { projects: [{ name: 'acme' }] }),
      ),
      [{ path: 'projects', message: 'acme has one owner, and cannot belong to seo and to blog' }],
    ],
    [
      'a project owned twice by id',
      define(
        budget('seo', 'account', { projects: [{ name: 'acme', id: '77' }] }),
        budget('blog', 'account', { projects: [{ name: 'other', id: '77' }] }),
      ),
      [{ path: 'projects', message: '77 has one owner, and cannot belong to seo and to blog' }],
    ],
    [
      'a name that is the id of a project of another budget',
      define(
        budget('seo', 'account', { projects: [{ name: 'acme', id: '77' }] }),
        budget('blog', 'account', { projects: [{ name: '77' }] }),
      ),
      [{ path: 'projects', message: '77 has one owner, and cannot belong to seo and to blog' }],
    ],
    [
      'an id that two projects of one budget share',
      define(
        budget('seo', 'account', {
          projects: [
            { name: 'acme', id: '77' },
            { name: 'other', id: '77' },
          ],
        }),
      ),
      [{ path: 'projects', message: '77 stands for two projects of seo' }],
    ],
    [
      'nothing, where name and id are the same',
      define(budget('seo', 'account', { projects: [{ name: '77', id: '77' }] })),
      [],
    ],
    [
      'several things at once',
      define(
        budget('seo', 'nobody', { projects: [{ name: 'acme' }] }),
        budget('blog', 'blog', { projects: [{ name: 'acme' }] }),
      ),
      [
        { path: 'parent', message: 'there is no budget nobody; create it first' },
        tooDeep,
        { path: 'projects', message: 'acme has one owner, and cannot belong to seo and to blog' },
      ],
    ],
  ])('%s', (_name, definitions, faults) => {
    expect(faultsOf(definitions)).toEqual(faults)
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
    ['an unknown budget', definitions, 'nobody'],
    ['a name that every object has', definitions, 'toString'],
    ['an unknown parent', define(budget('seo', 'nobody')), 'seo'],
    ['a circle', define(budget('a', 'b'), budget('b', 'a')), 'a'],
    ['nine deep', chain(9), 'b9'],
  ])('a broken chain is no chain: %s', (_name, broken, name) => {
    expect(() => chainOf(broken, name)).toThrow(/^the chain of budget .* is broken/)
  })

  test('budgets are found by their own names only', () => {
    expect(budgetNamed(definitions, 'constructor')?.parent).toBe('seo')
    expect(budgetNamed(definitions, 'toString')).toBeUndefined()
    expect(budgetNamed(definitions, '__proto__')).toBeUndefined()
    expect(childrenOf(definitions, 'seo').map(({ name }) => name)).toEqual(['blog', 'constructor'])
    expect(childrenOf(definitions, 'blog')).toEqual([])
  })

  test('a project is owned by its name and by its id', () => {
    expect(ownerOf(definitions, 'acme')?.name).toBe('seo')
    expect(ownerOf(definitions, '77')?.name).toBe('seo')
    expect(ownerOf(definitions, 'Acme')).toBeUndefined()
  })

  test('a window without a limit is unlimited, a limit of 0 is not', () => {
    const nothing = budget('none', 'account', { limits: [{ window: 'day', units: toUnits(0) }] })
    expect(limitOf(nothing, 'day')).toBe(0)
    expect(limitOf(nothing, 'month')).toBe('unlimited')
  })
})
