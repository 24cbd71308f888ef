import { expect, test } from 'vitest'
import { defined, type Shown } from '../../shared/api/shown.ts'

type Row = Shown<'AppliedBudgets'>['differences'][number]
type Restored = Shown<'Status'>['restored'] & object

const at = '2026-11-20T09:00:00.000Z'

test('a shown answer has no member that is undefined, and keeps null, false, 0 and an empty text', () => {
  const members = { id: undefined, hold: null, force: false, units: 0, note: '' }
  expect(Object.entries(defined<Partial<Record<keyof typeof members, unknown>>>(members))).toEqual([
    ['hold', null],
    ['force', false],
    ['units', 0],
    ['note', ''],
  ])
})

test('the compiler refuses a shown answer that differs from its schema', () => {
  defined<Restored>({ at, to: undefined })
  // @ts-expect-error a member that the schema does not have
  defined<Restored>({ at, from: at })
  // @ts-expect-error a required member without a value
  defined<Restored>({ at: undefined })
  // @ts-expect-error a required member is missing
  defined<Restored>({ to: at })
  // @ts-expect-error another type
  defined<Restored>({ at: 5 })
  const readOnly: Row['members'] = []
  // @ts-expect-error lists are read-only, because the ledger's are
  readOnly.push
})
