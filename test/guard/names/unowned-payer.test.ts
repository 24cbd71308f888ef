import { describe, expect, test } from 'vitest'
import { unownedApproval } from '../../../shared/guard/rules/approvals.ts'
import { spellingFaults, unownedPayer, whyNotPaid } from '../../../shared/guard/rules/projects.ts'
import type { Unowned } from '../../../shared/ledger/definitions/definitions.ts'
import { readingOf } from '../../support/records.ts'

describe('the payer of projects that no budget lists after a change', () => {
  const listed = (unowned?: Unowned) => ({
    budgets: {
      account: { name: 'account', parent: null, limits: [], projects: [], ...(unowned && { unowned }) },
      acme: { name: 'acme', parent: 'account', limits: [], projects: [{ name: '1003' }] },
    },
  })
  // A number with a sign may mean the listed number.
  const odd = '+1003'

  test.each<[string, Unowned | undefined, readonly string[], number, string]>([
    ['one project', 'pay', ['a'], 0, 'account pays for it'],
    ['one project and no rule', undefined, ['a'], 0, 'account pays for it'],
    ['several projects', 'pay', ['a', 'b'], 0, 'account pays for them'],
    ['one unnamed project', 'pay', [], 1, 'account pays for it'],
    ['a named and an unnamed project', 'pay', ['a'], 1, 'account pays for them'],
    ['one project with approval', 'approve', ['a'], 0, 'account pays for it after an approval'],
    ['several projects with approval', 'approve', ['a', 'b'], 0, 'account pays for them after an approval'],
    ['one refused project', 'refuse', ['a'], 0, 'requests for it are refused until a budget lists it'],
    ['several refused projects', 'refuse', ['a', odd], 2, 'requests for them are refused until a budget lists them'],
    ['an unclear name', 'pay', [odd], 0, 'requests for it are refused until a budget lists it'],
    ['unclear names', 'pay', [odd, 'a,b'], 0, 'requests for them are refused until a budget lists them'],
    [
      'an unclear name beside a clear name',
      'pay',
      [odd, 'a'],
      0,
      `requests for ${odd} are refused until a budget lists it, and account pays for the other`,
    ],
    [
      'unclear names beside clear names',
      'approve',
      [odd, 'a', 'a,b', 'b'],
      1,
      `requests for ${odd} and a,b are refused until a budget lists them, and account pays for the others after an approval`,
    ],
    [
      'an unclear name beside an unnamed project',
      'pay',
      [odd],
      1,
      `requests for ${odd} are refused until a budget lists it, and account pays for the other`,
    ],
  ])('a clause names the payer of %s (unowned: %s)', (_what, rule, projects, more, expected) => {
    expect(unownedPayer(listed(rule), projects, more)).toBe(expected)
  })

  test('a narrowed reader’s clause names no rule, because they do not see account', () => {
    expect(unownedPayer({ budgets: {} }, ['a'])).toBe('account pays for it')
    expect(unownedPayer({ budgets: {} }, ['a'], 0)).not.toContain('refused')
  })
})

const reason = 'no budget lists new, and account wants approval for such projects'

test('the reason for approval says that one approval is enough for all unowned projects of a plan’s run', () => {
  const { definitions } = readingOf({ budgets: { account: { parent: null, unowned: 'approve' } } })
  expect([
    unownedApproval(definitions, { project: 'new' }),
    unownedApproval(definitions, { project: 'new', plan: 'night' }),
  ]).toEqual([reason, `${reason} (one is enough for all of them in this run of the plan night)`])
})

describe('the payer at the time of a request', () => {
  const { definitions } = readingOf({ budgets: { seo: { projects: [{ name: 'shop' }] } } })
  const asked = { project: 'shop', budget: 'seo', caller: 'bob' }
  const wrongState = (detail: string, budget: string) => ({ slug: 'wrong-state', detail, members: { budget } })
  const again = 'Ask for the update again.'

  test.each<[string, object, unknown]>([
    ['the same owner', { owner: 'seo' }, null],
    ['the same owner by default', { owner: 'seo', byDefault: true }, null],
    ['no known owner', {}, null],
    [
      'no owner',
      { owner: null },
      wrongState(`shop belonged to no budget when this was asked for, and belongs to seo now. ${again}`, 'seo'),
    ],
    [
      'another owner',
      { owner: 'acme' },
      wrongState(`shop belonged to acme when this was asked for, and belongs to seo now. ${again}`, 'seo'),
    ],
    [
      'another payer by default',
      { byDefault: true, budget: 'acme' },
      wrongState(`shop belongs to seo now, and this was to be charged to acme. ${again}`, 'acme'),
    ],
    [
      'an owner that it has no more',
      { project: 'gone', owner: 'seo' },
      wrongState(`gone belonged to seo when this was asked for, and belongs to no budget now. ${again}`, 'seo'),
    ],
    ['no owner as before', { project: 'gone', owner: null, budget: 'account', byDefault: true }, null],
  ])('a request that had %s is paid as before or must be repeated', (_what, changes, expected) => {
    expect(whyNotPaid(definitions, { ...asked, ...changes }, true)).toEqual(expected)
  })

  test('a number that no budget lists must be written as a plain number', () => {
    expect(spellingFaults(definitions, [{ project: '+1e99' }])[0]?.message).toBe(
      '+1e99 may be read as another number. Write the number itself, without signs or leading zeros; if it is a project of its own, list it in a budget.',
    )
  })
})
