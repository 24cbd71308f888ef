import { describe, expect, test } from 'vitest'
import type { Book } from '../../shared/ledger/book/book.ts'
import { entriesWith, takenBackBy } from '../../shared/ledger/book/outcome.ts'
import { type Counter, freshCounter, type Move } from '../../shared/ledger/definitions/counters.ts'
import type { Grant, Hold, Update } from '../../shared/ledger/updates/update.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { minutes } from '../support/clock.ts'

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

const entriesOf = (fields: object, move: Move, grants: readonly Grant[], book: Book | null) =>
  entriesWith({ update: update(fields), move }, { ...hold, grants }, book, minutes(5))

/** The move of each entry as `budget window granted`. */
const grantedBy = (entries: ReturnType<typeof entriesOf>) =>
  entries.flatMap(({ moves }) => moves.map(({ budget, window, move }) => [budget, window, move.granted]))

describe('one-time grants go back', () => {
  const given = { held: -40 }
  const once = { ...hold, isOnce: true as const }
  const withOnce = (units: number, available = 0, day = today) =>
    bookWith({ month: { client: { once: units, available } }, day: { account: { once: 5, available: 0 } } }, day)
  const backOf = (fields: object, move: Move, grants: readonly Grant[], book: Book | null) =>
    entriesWith({ update: update(fields), move }, { ...once, grants }, book, minutes(5))

  test('one line takes all grants back, and names the person of the history’s last line', () => {
    const [entry, ...others] = backOf({ charged: 0 }, given, [grant(30)], withOnce(30))
    expect(others).toEqual([])
    expect(entry).toMatchObject({
      type: 'grant',
      budget: 'client',
      units: -30,
      reason: 'one-time units that are not needed any more, because upd_1 has cost nothing',
      moves: [
        { budget: 'client', window: 'month', move: { granted: -30, once: -30 } },
        { budget: 'account', window: 'day', move: { granted: -5, once: -5 } },
      ],
      month,
      day: today,
      by: 'ada',
      at: 2,
    })
    expect(entry?.corrects).toBeUndefined()
  })

  test.each<[string, object, readonly Grant[], Book | null, unknown[]]>([
    ['a counter that is overspent by more', {}, [], withOnce(30, -41), []],
    ['no book', { charged: 0 }, [grant(30)], null, []],
    ['a counter that is overspent by a part', {}, [], withOnce(30, -25), [['client', 'month', -15]]],
    ['an own grant that was not charged', { charged: 10 }, [grant(30)], withOnce(30, -90), [['client', 'month', -20]]],
    [
      'an own grant of which others took a part',
      { charged: 0 },
      [grant(30)],
      withOnce(8, -90),
      [['client', 'month', -8]],
    ],
  ])('what goes back from %s', (_, fields, grants, book, moves) => {
    const ofMonth = grantedBy(backOf(fields, given, grants, book)).filter(([, window]) => window === 'month')
    expect(ofMonth).toEqual(moves)
  })

  test('a day that is over gives nothing back', () => {
    const moves = grantedBy(backOf({ charged: 0 }, given, [], withOnce(0, 0, 'day:2026-11-21')))
    expect(moves).toEqual([])
  })

  test.each([
    [0, -10],
    [9, -19],
    [500, -50],
  ])('of a grant by an older version, a counter with %i available gives %i back', (available, moved) => {
    const book = bookWith({ month: { client: { available } } })
    const entries = entriesOf({ charged: 30 }, { held: -40, spent: 30 }, [grant(50)], book)
    expect(grantedBy(entries)).toEqual([['client', 'month', Math.min(moved, -20)]])
  })

  test('a grant by an older version goes back once', () => {
    const back = entriesOf({ charged: 0, takenBack: [grant(30)] }, given, [grant(30)], bookWith({}))
    expect(back).toEqual([])
    expect(entriesOf({}, given, [grant(30)], bookWith({}))).toEqual([])
    expect(entriesOf({ charged: 0 }, given, [grant(30, 'other')], bookWith({}))).toEqual([])
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

test('an update remembers only what went back of grants by an older version', () => {
  const entries = entriesOf({ charged: 0 }, { held: -40 }, [grant(30)], bookWith({}))
  expect(takenBackBy(entries, hold)).toEqual({ takenBack: [grant(30)] })
  expect(takenBackBy(entries, { ...hold, isOnce: true })).toEqual({})
  expect(takenBackBy([], hold)).toEqual({})
  const kept = entriesOf({ charged: 0 }, { spent: -40 }, [], bookWith({ month: { client: { spent: 0 } } }))
  expect([kept.length, takenBackBy(kept, hold)]).toEqual([1, {}])
})

test('a kept entry keeps the id that earlier versions gave it', () => {
  const [kept] = entriesOf({ charged: 0 }, { spent: -40 }, [], bookWith({ month: { client: { spent: 0 } } }))
  expect(kept?.id).toBe('ent_z9kc6cf9s83h49fjeray0dp19z')
})
