import { describe, expect, test } from 'vitest'
import { type Book, type Counter, freshCounter, type Move } from '../../shared/ledger/book/book.ts'
import { grantEntryId } from '../../shared/ledger/book/entry.ts'
import { entriesWith, moveOn, takenBackBy } from '../../shared/ledger/book/outcome.ts'
import type { Grant, Hold, Update } from '../../shared/ledger/updates/update.ts'
import { toUnits } from '../../shared/platform/words.ts'

const month = 'month:2026-11-01'
const today = 'day:2026-11-20'
const history = [
  { state: 'running', at: 1, by: 'guard', note: '' },
  { state: 'released', at: 2, by: 'ada', note: '' },
]
const grant = (units: number, budget = 'client', window: Grant['window'] = 'month'): Grant => ({
  budget,
  window,
  units: toUnits(units),
})
const hold = { attempt: 'att', at: 1, day: today, units: 40, budgets: ['client', 'account'] } as unknown as Hold
const update = (fields: object) => ({ id: 'upd_1', month, history, ...fields }) as unknown as Update

/** Every counter of the book is fresh, except the given counters. */
function bookWith(counters: Partial<Record<Grant['window'], Record<string, Partial<Counter>>>>, day = today): Book {
  const filled = (window: Grant['window']) =>
    Object.fromEntries(
      hold.budgets.map((name) => [name, { ...freshCounter(toUnits(100)), spent: 40, ...counters[window]?.[name] }]),
    )
  return { month, day, revision: 1, counters: { month: filled('month'), day: filled('day') } }
}

const entriesOf = (fields: object, move: Move, grants: readonly Grant[], book: Book | null, corrected: string[] = []) =>
  entriesWith({ update: update(fields), move }, { ...hold, grants }, { book, corrected })

/** The move of each entry as `budget window granted`. */
const grantedBy = (entries: ReturnType<typeof entriesOf>) =>
  entries.flatMap(({ moves }) => moves.map(({ budget, window, move }) => [budget, window, move.granted]))

describe('grants return with a hold that cost nothing', () => {
  const given = { held: -40 }

  test('the entry that takes a grant back corrects the grant, and names the person of the history’s last line', () => {
    const [entry, ...others] = entriesOf({ charged: 0 }, given, [grant(30)], bookWith({}))
    expect(others).toEqual([])
    expect(entry).toMatchObject({
      type: 'correction',
      budget: 'client',
      corrects: grantEntryId(hold, grant(30)),
      units: 0,
      reason: 'granted for upd_1, which has cost nothing',
      moves: [{ budget: 'client', window: 'month', move: { granted: -30 } }],
      signs: [{ budget: 'client', window: 'month', move: { granted: 1 } }],
      ...{ month, day: today, by: 'ada', at: 2 },
    })
  })

  test.each<[string, object, readonly Grant[], Book | null, readonly string[], unknown[]]>([
    ['an update without a charge yet', {}, [grant(30)], bookWith({}), [], []],
    ['grants that went back before', { charged: 0, takenBack: [grant(30)] }, [grant(30)], bookWith({}), [], []],
    ['a grant that a person corrected', { charged: 0 }, [grant(30)], null, [grantEntryId(hold, grant(30))], []],
    ['a day that is over', { charged: 0 }, [grant(30, 'client', 'day')], bookWith({}, 'day:2026-11-21'), [], []],
    ['a budget outside the hold', { charged: 0 }, [grant(30, 'other')], bookWith({}), [], []],
    ['no book', { charged: 0 }, [grant(90)], null, [], [['client', 'month', -90]]],
    ['a grant of today', { charged: 0 }, [grant(5, 'account', 'day')], bookWith({}), [], [['account', 'day', -5]]],
  ])('the grants that return after %s', (_, fields, grants, book, corrected, moves) => {
    expect(grantedBy(entriesOf(fields, given, grants, book, [...corrected]))).toEqual(moves)
  })

  test.each([
    [-60, -40],
    [0, -40],
    [9, -49],
    [500, -50],
  ])('a counter with %i available moves by %i, so that only free units return', (available, moved) => {
    const book = bookWith({ month: { client: { available } } })
    expect(grantedBy(entriesOf({ charged: 0 }, given, [grant(50)], book))).toEqual([['client', 'month', moved]])
  })

  test('a book without free units returns nothing', () => {
    expect(entriesOf({ charged: 0 }, {}, [grant(50)], bookWith({ month: { client: { available: 0 } } }))).toEqual([])
  })
})

describe('grants are repeated if an update ran after all', () => {
  const ran = { spent: 40 }
  const takenBack = [grant(20), grant(5, 'account', 'day')]

  test('each repeated grant corrects the entry that took it back', () => {
    const entries = entriesOf({ charged: 40, takenBack }, ran, [grant(30), grant(7, 'account', 'day')], bookWith({}))
    expect(grantedBy(entries)).toEqual([
      ['client', 'month', 20],
      ['account', 'day', 5],
    ])
    expect(entries.map(({ units }) => units)).toEqual([30, 7])
    expect(new Set(entries.map(({ id }) => id)).size).toBe(2)
    expect(entries[0]?.reason).toBe('granted for upd_1, which ran after all')
    const [taken] = entriesOf({ charged: 0 }, { held: -40 }, [grant(30)], bookWith({}))
    expect(entries[0]?.corrects).toBe(taken?.id)
    expect(entries[0]?.id).not.toBe(taken?.id)
  })

  test.each<[string, Move, Book | null]>([
    ['that costs nothing', { spent: 0 }, null],
    ['that moves nothing', {}, null],
  ])('an update %s repeats no grant', (_, move, book) => {
    expect(entriesOf({ charged: 40, takenBack }, move, [], book)).toEqual([])
  })

  test('each counter gets its own grant again, with the figure of its own hold', () => {
    const two = [grant(20), grant(4, 'account')]
    const entries = entriesOf({ charged: 40, takenBack: two }, ran, [grant(7, 'account'), grant(30)], bookWith({}))
    expect(entries.map(({ budget, units }) => [budget, units])).toEqual([
      ['client', 30],
      ['account', 7],
    ])
    const outside = entriesOf({ charged: 40, takenBack: [grant(20, 'left')] }, ran, [], bookWith({}))
    expect(outside).toEqual([])
  })

  test('a record that lost the hold’s grants repeats the units that went back', () => {
    const { grants: _grants, ...without } = { ...hold, grants: [] }
    const settlement = { update: update({ charged: 40, takenBack }), move: ran }
    const entries = entriesWith(settlement, without as unknown as Hold, { book: null, corrected: [] })
    expect(entries.map(({ units }) => units)).toEqual([20, 5])
  })

  test('an ended day and a corrected entry repeat no grant', () => {
    const over = entriesOf({ charged: 40, takenBack }, ran, [], bookWith({}, 'day:2026-11-21'))
    expect(grantedBy(over)).toEqual([['client', 'month', 20]])
    const corrects = over[0]?.corrects ?? ''
    expect(grantedBy(entriesOf({ charged: 40, takenBack }, ran, [], bookWith({}), [corrects]))).toEqual([
      ['account', 'day', 5],
    ])
  })
})

describe('units that a counter has given back before', () => {
  test('a counter keeps its figure if less was spent on it than would return', () => {
    const book = bookWith({ month: { client: { spent: 39 } }, day: { account: { spent: 0 } } })
    const [entry, ...others] = entriesOf({ charged: 0 }, { spent: -40 }, [], book)
    expect(others).toEqual([])
    expect(entry).toMatchObject({ type: 'external-spend', budget: 'client', units: 40, by: 'ada' })
    expect(entry?.moves).toEqual([
      { budget: 'client', window: 'month', move: { spent: 40 } },
      { budget: 'account', window: 'day', move: { spent: 40 } },
    ])
  })

  test('a counter that the book lacks keeps its figure', () => {
    const book = { ...bookWith({}), counters: { month: {}, day: {} } }
    const [entry] = entriesOf({ charged: 0 }, { spent: -40 }, [], book)
    expect(entry?.moves).toHaveLength(4)
  })

  test.each<[string, Move, Book | null]>([
    ['nothing goes back', { spent: 40 }, bookWith({ month: { client: { spent: 0 } } })],
    ['the move is empty', {}, bookWith({ month: { client: { spent: -1 } } })],
    ['there is no book', { spent: -40 }, null],
    ['each counter has enough spent', { spent: -40 }, bookWith({})],
  ])('no entry keeps a figure if %s', (_, move, book) => {
    expect(entriesOf({ charged: 1 }, move, [], book)).toEqual([])
  })
})

describe('sums of a line and its entries', () => {
  const entries = entriesOf({ charged: 0 }, { held: -40 }, [grant(30)], bookWith({}))

  test('a counter moves by its line and its own entries', () => {
    const line = { held: -40, inDoubt: 3, spent: 2, granted: 1 }
    expect(moveOn(grant(0), line, entries)).toEqual({ held: -40, inDoubt: 3, spent: 2, granted: -29 })
    expect(moveOn(grant(0, 'account'), line, entries)).toEqual(line)
    expect(moveOn(grant(0, 'client', 'day'), line, entries)).toEqual(line)
  })

  test('an update remembers only the grants that returned', () => {
    expect(takenBackBy(entries)).toEqual({ takenBack: [grant(30)] })
    expect(takenBackBy(entriesOf({ charged: 40, takenBack: [grant(2)] }, { spent: 40 }, [], null))).toEqual({})
    expect(takenBackBy([])).toEqual({})
    const kept = entriesOf({ charged: 0 }, { spent: -40 }, [], bookWith({ month: { client: { spent: 0 } } }))
    expect([kept.length, takenBackBy(kept)]).toEqual([1, {}])
  })
})

test('entries keep the ids that earlier versions gave them, because corrections name these', () => {
  const [taken] = entriesOf({ charged: 0 }, { held: -40 }, [grant(30)], bookWith({}))
  const [again] = entriesOf({ charged: 40, takenBack: [grant(30)] }, { spent: 40 }, [grant(30)], bookWith({}))
  const [kept] = entriesOf({ charged: 0 }, { spent: -40 }, [], bookWith({ month: { client: { spent: 0 } } }))
  expect([taken?.corrects, taken?.id, again?.id, kept?.id]).toEqual([
    'ent_4esrhpnmn0wv34r4xagg40rpaf',
    'ent_w9sa8zhm3shdqgngs9wmczj4zw',
    'ent_vr8jyyx9vv9ej6xrn1rw874mym',
    'ent_z9kc6cf9s83h49fjeray0dp19z',
  ])
})
