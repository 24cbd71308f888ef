import { describe, expect, test } from 'vitest'
import type { PlayedRow, PlayedRun } from '../../../shared/guard/plans/play.ts'
import { parsePlans } from '../../../shared/guard/plans-file.ts'
import { unseenBudget } from '../../../shared/ledger/definitions/definitions.ts'
import { summaryDays } from '../../../shared/ledger/updates/summary-days.ts'
import { lookAhead } from '../../../shared/reports/plans/days-ahead.ts'
import { verdictOf } from '../../../shared/reports/plans/verdict.ts'
import { greatest, spentBy } from '../../../shared/reports/spenders.ts'
import type { SummaryRow, summaryFigures } from '../../../shared/reports/stored-summary.ts'
import { merged, spendersOf } from '../../../shared/reports/summary.ts'
import { at, readingOf } from '../../support/records.ts'

// Sums by a key of several parts: rows that differ in one part alone are never one sum.

const { definitions } = readingOf({ callers: { dora: {}, 'dora-laptop': { person: 'dora' } } })
const [day] = summaryDays(definitions.calendar, { since: at('2026-11-20T10:00Z'), until: at('2026-11-20T10:00Z') })
if (!day) throw new Error('there is no day')

type RowKey = Omit<Required<SummaryRow>, (typeof summaryFigures)[number] | 'price'>

/** A row, and another value of each part of its key. The compiler asks for a new part. */
const row: RowKey = {
  budget: 'seo',
  project: 'shop',
  listed: { name: 'shop', id: '7' },
  caller: 'ada',
  person: 'kim',
  kind: 'ranking',
  via: 'http',
  plan: 'night',
  owner: 'seo',
  above: ['acme'],
  month: day.month,
  heldOn: day.name,
  wouldHaveRefused: ['seo'],
  tags: { client: 'x' },
}
const others: { readonly [Part in keyof RowKey]: readonly RowKey[Part][] } = {
  budget: ['shop'],
  project: ['seo'],
  listed: [{ name: 'shop', id: '8' }, { name: 'shops', id: '7' }, { id: '7' }, { name: 'shop' }],
  caller: ['kim'],
  person: ['ada'],
  kind: ['keyword-difficulty'],
  via: ['mcp'],
  plan: ['deep'],
  owner: ['acme'],
  above: [['acme', 'top'], ['top'], []],
  month: ['month:2026-10-01'],
  heldOn: ['day:2026-11-21'],
  wouldHaveRefused: [['acme'], ['acme', 'seo'], []],
  tags: [{ client: 'y' }, { other: 'x' }, { client: 'x', other: 'x' }, {}],
}
const without = (part: keyof RowKey): SummaryRow => {
  const { [part]: _value, ...rest } = row
  return rest as SummaryRow
}

describe('the rows of a summary', () => {
  test('rows with one key are one row, with their sums and the latest price', () => {
    const one = { ...row, tags: { client: 'x', other: 'z' }, charged: 40, settled: 1, price: 40 }
    const two = { ...row, tags: { other: 'z', client: 'x' }, charged: 2, released: 1, price: 2 }
    expect(merged([one, two])).toEqual([{ ...one, charged: 42, released: 1, price: 2 }])
  })

  test.each(Object.keys(row) as (keyof RowKey)[])('rows that differ in %s alone stay apart', (part) => {
    const different = [...others[part].map((value) => ({ ...row, [part]: value })), without(part)]
    // An empty list is as good as none.
    const distinct = part === 'tags' ? different.slice(0, -1) : different
    expect(merged([row, ...distinct].map((each) => ({ ...each, charged: 1 })))).toHaveLength(distinct.length + 1)
  })
})

describe('the spenders of a day', () => {
  const spent = (changes: Partial<SummaryRow>, charged = 1) => ({ ...row, ...changes, charged })

  test.each<[string, Partial<SummaryRow>]>([
    ['caller', { caller: 'bob' }],
    ['person', { person: 'bob' }],
    ['plan', { plan: 'deep' }],
  ])('spenders that differ in their %s alone stay apart', (_part, changes) => {
    expect(spendersOf([spent({}), spent(changes), spent({ project: 'other' })], day).map(({ units }) => units)).toEqual(
      [2, 1],
    )
  })

  test('a row without a plan or person is not that of a plan or person', () => {
    const { plan: _plan, person: _person, ...bare } = spent({})
    expect(spendersOf([spent({}), bare, { ...bare, plan: 'night' }, { ...bare, person: 'kim' }], day)).toHaveLength(4)
  })

  test('spenders of other months and of budgets that the reader does not see are left out', () => {
    const [other, unseen] = [spent({ month: 'month:2026-10-01' }), spent({ budget: unseenBudget })]
    const { month: _month, ...ofTheDay } = spent({ caller: 'bob' })
    expect(spendersOf([other, unseen, ofTheDay], day)).toMatchObject([{ caller: 'bob', units: 1 }])
  })

  test('the fifty greatest spenders are kept, wherever they are in the list', () => {
    const rows = Array.from({ length: 60 }, (_, number) => spent({ caller: `c${number}` }, number + 1))
    const kept = spendersOf(rows, day)
    expect([kept.length, kept[0]?.units, kept.at(-1)?.units]).toEqual([50, 60, 11])
  })
})

describe('spenders', () => {
  const named = (kind: 'plan' | 'person' | 'caller', name: string, units: number) => ({ kind, name, units })

  test('a plan, a person and a caller of one name are three spenders, in the order of their units', () => {
    const all = [
      named('plan', 'shop', 1),
      named('person', 'shop', 2),
      named('caller', 'shop', 3),
      named('caller', 'a', 3),
    ]
    const found = greatest(20, [...all, named('plan', 'shop', 4)])
    expect(found.map(({ kind, name, units, of }) => [kind, name, units, of])).toEqual([
      ['others', null, 7, 20],
      ['plan', 'shop', 5, 20],
      ['caller', 'a', 3, 20],
      ['caller', 'shop', 3, 20],
      ['person', 'shop', 2, 20],
    ])
  })

  test('units that the rows have above the sum of all are no others', () => {
    expect(greatest(2, [named('plan', 'shop', 3)]).map(({ kind, units }) => [kind, units])).toEqual([['plan', 3]])
  })

  test('a name is a person’s if the list or a token gives it to another caller, and that caller spent units', () => {
    const rows = [
      { caller: 'dora', charged: 1 },
      { caller: 'dora-laptop', charged: 2 },
      { caller: 'ada', charged: 3 },
      { caller: 'okta:7', person: 'kim', charged: 4 },
      { caller: 'kim', charged: 5 },
      { caller: 'okta:8', person: 'ada', charged: 0 },
      { caller: 'night', charged: 6 },
      { caller: 'schedule:night', plan: 'night', charged: 7 },
    ]
    expect(spentBy(definitions, rows).map(({ kind, name, units }) => `${kind} ${name} ${units}`)).toEqual([
      'person dora 1',
      'person dora 2',
      'caller ada 3',
      'person kim 4',
      'person kim 5',
      'caller night 6',
      'plan night 7',
    ])
  })
})

const planOf = (name: string) => {
  const [plan] = parsePlans(
    JSON.stringify([{ name, kind: 'ranking', projects: ['shop', 'p1'], schedule: 'cron(0 5 * * ? *)' }]),
  )
  if (!plan) throw new Error('there is no plan')
  return plan
}
const played = (name: string, time: string, rows: readonly PlayedRow[] = []): PlayedRun => ({
  plan: planOf(name),
  time: at(time),
  rows,
  units: 10,
  unpriced: 1,
})

test('the days ahead sum up each plan apart, at each of its times', () => {
  const runs = [
    played('one', '2026-11-20T11:00Z'),
    played('two', '2026-11-20T11:00Z'),
    played('one', '2026-11-20T12:00Z'),
  ]
  const [shown] = lookAhead({ days: [day], runs, paused: [], runsOut: [], resets: [] })
  expect(shown?.due).toEqual([
    { plan: 'one', times: [at('2026-11-20T11:00Z'), at('2026-11-20T12:00Z')], units: 20, unpriced: 2 },
    { plan: 'two', times: [at('2026-11-20T11:00Z')], units: 10, unpriced: 1 },
  ])
})

test('the verdict groups projects that wait apart from projects that are refused for the same reason', () => {
  const rowOf = (project: string, outcome: 'waits' | 'refused', brief: string): PlayedRow => ({
    project,
    outcome,
    units: 40,
    why: { slug: 'over-budget', by: 'seo', brief },
  })
  const rows = [
    rowOf('a', 'waits', 'seo has too little'),
    rowOf('b', 'refused', 'seo has too little'),
    rowOf('c', 'waits', 'acme has too little'),
    rowOf('d', 'waits', 'seo has too little'),
  ]
  const run = played('one', '2026-11-21T05:00Z', rows)
  const verdict = verdictOf(
    { view: readingOf(), played: { runs: [run], months: [], today: [], sumsFrom: null } },
    run.plan,
    run.time,
  )
  expect(verdict).toMatchObject({
    groups: [
      { projects: ['a', 'd'], waits: true, why: 'seo has too little' },
      { projects: ['b'], waits: false, why: 'seo has too little' },
      { projects: ['c'], waits: true, why: 'acme has too little' },
    ],
  })
})
