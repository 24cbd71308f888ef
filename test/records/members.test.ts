import { expect, test } from 'vitest'
import { fromDefinitionsItem, toDefinitionsItem } from '../../shared/ledger/definitions/definitions-item.ts'
import { newCalendar } from '../../shared/ledger/definitions/windows.ts'
import { budgetMembers } from '../../shared/records/budget.ts'
import { callerMembers } from '../../shared/records/caller.ts'
import type { Member } from '../../shared/records/record.ts'
import { productKinds } from '../../shared/tracking/kinds.ts'

const calendar = newCalendar({ day: 1, time: '00:00', zone: 'UTC' })
const account = { name: 'account', parent: null, limits: [], projects: [] }
const values = [
  0,
  1,
  100,
  1.5,
  -1,
  'a',
  '4h',
  'C02ABCDEF',
  'T02ABCDEF',
  'pay',
  '*',
  true,
  false,
  null,
  {},
  [],
  ['a'],
  ['ranking'],
  ['read'],
  [80, 100],
  [{ window: 'day', units: 'unlimited' }],
  [{ name: 'a', id: '1' }],
]

const kinds = { budgets: budgetMembers, callers: callerMembers }
const rows = Object.entries(kinds).flatMap(([kind, members]) =>
  Object.entries<Member>(members).map(([name, member]) => [kind, name, member] as const),
)

/** Whether the ledger can read a record with this member. */
function isRead(kind: string, member: string, value: unknown): boolean {
  const budgets = { account: { ...account, ...(kind === 'budgets' && { [member]: value }) } }
  const stored = {
    revision: 1,
    createdAt: 0,
    calendar,
    budgets,
    callers: { ada: kind === 'callers' ? { [member]: value } : {} },
  }
  try {
    return fromDefinitionsItem(toDefinitionsItem(stored as never)).revision === 1
  } catch {
    return false
  }
}

test.each(rows)('the ledger accepts what a request may set: %s %s', (kind, name, { value, schema }) => {
  const accepted = values.filter((each) => schema?.(productKinds).safeParse(each).success)
  if (schema) expect(accepted).not.toEqual([])
  // Only one of the two values is stored.
  const dropped = value === 'yes' ? false : value === 'no' ? true : undefined
  expect(accepted.filter((each) => each !== dropped && !isRead(kind, name, each))).toEqual([])
  expect(isRead(kind, name, { un: 'like' })).toBe(false)
})
