import { describe, expect, test } from 'vitest'
import { describe as described, problems } from '../../shared/guard/problem-types.ts'
import { ledgerProblem, problem } from '../../shared/guard/problems.ts'
import {
  count,
  differenceToVendor,
  type Figures,
  figuresOf,
  holdsEnd,
  left,
  leftOrOver,
  list,
  percent,
  shownCaller,
  shownIn,
  tightest,
  units,
  when,
} from '../../shared/guard/sentences.ts'
import { onlyProblem, toAnswer } from '../../shared/guard/update/answer.ts'
import type { Row } from '../../shared/guard/update/batch.ts'
import { overBudget, type Shortage } from '../../shared/guard/update/over-budget.ts'
import { AnswerLost, LedgerUnavailable } from '../../shared/ledger/errors.ts'
import type { State, Update } from '../../shared/ledger/updates/update.ts'
import { onTheWall } from '../../shared/platform/clock.ts'
import { at, readingOf, u, updateOf } from '../support/records.ts'

const figures = (changes: Partial<Figures> = {}): Figures => ({
  budget: 'seo',
  window: 'month',
  limit: u(100),
  granted: 0,
  available: 60,
  held: 10,
  inDoubt: 5,
  spent: 25,
  start: at('2026-11-01T00:00:00Z'),
  end: at('2026-12-01T00:00:00Z'),
  ...changes,
})

describe('the shown name of a caller', () => {
  const definitions = { callers: { 'okta:1': { person: 'mira' }, 'slack:U1': { person: 'okta:1' }, mira: {} } }
  test.each<readonly [caller: string, claimed: string | undefined, shown: string]>([
    ['okta:1', undefined, 'mira'],
    ['slack:U1', undefined, 'mira'],
    ['okta:1', 'eve', 'mira'],
    ['okta:2', 'eve', 'eve'],
    ['okta:2', undefined, 'okta:2'],
    ['schedule:morning', 'eve', 'plan morning'],
    // A claim that looks like a caller of another kind.
    ...['guard', 'Sweep', 'service', 'setup', '*', 'slack:U1', 'schedule:morning', 'okta:1'].map(
      (claim) => ['okta:2', claim, 'okta:2'] as const,
    ),
  ])('the shown name is that of the person for %s with the claim %s', (caller, claimed, shown) => {
    expect(shownCaller(definitions, caller, claimed)).toBe(shown)
  })

  test('the shown name uses the claim of the caller or approver only for themselves', () => {
    const token = { scopes: [], budgets: '*', person: 'eve' } as const
    const approval = { by: 'okta:3', person: 'joe', at: 0, units: u(1) }
    const shown = ['okta:2', 'okta:3', 'okta:4'].map((by) => shownIn({}, { caller: 'okta:2', token, approval }, by))
    expect(shown).toEqual(['eve', 'joe', 'okta:4'])
  })
})

describe('numbers and times', () => {
  test.each([
    [0, '0', '0 units'],
    [1, '1', '1 unit'],
    [1234567, '1,234,567', '1,234,567 units'],
    [-30, '−30', '−30 units'],
  ])('the number %d has separators and its unit', (number, plain, withUnits) => {
    expect([count(number), units(number)]).toEqual([plain, withUnits])
  })

  test('a time is shown in the zone’s local time', () => {
    expect(when(at('2026-12-11T23:05:00Z'), 'Europe/Berlin')).toBe('12 Dec 2026 00:05 Europe/Berlin')
    expect(onTheWall(at('2026-01-02T09:07:00Z'), 'UTC')).toBe('2 Jan 2026 09:07')
  })

  test('a list has commas and one “and”', () => {
    expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(list)).toEqual(['', 'a', 'a and b', 'a, b and c'])
  })
})

describe('shares', () => {
  test.each([
    [0, 1_000, '0 %'],
    [-5, 1_000, '0 %'],
    [9, 1_000, '< 1 %'],
    [10, 1_000, '1 %'],
    [99, 1_000, '9.9 %'],
    [100, 1_000, '10 %'],
    [994, 1_000, '99 %'],
    [999, 1_000, '99 %'],
    [1_000, 1_000, '100 %'],
    [12_345, 1_000, '1,235 %'],
    [0, 0, '100 %'],
  ])('%i of %i units are %s', (used, of, share) => {
    expect(percent(used, of)).toBe(share)
  })
})

describe('sentences about the units left', () => {
  test.each<[Partial<Figures>, string]>([
    [{ granted: 50, available: 110 }, 'seo has 110 of 150 units left this month'],
    [{ window: 'day', budget: 'caller:bob' }, 'bob has 60 of 100 units left today'],
    [{ available: -10 }, 'seo is 10 over its 100 units this month'],
    [{ limit: 'unlimited' }, 'seo is unlimited this month'],
    [{ limit: 'unlimited', window: 'day', budget: 'caller:bob' }, 'bob is unlimited this day'],
  ])('the sentence about the units left: %o', (changes, sentence) => {
    expect(left(figures(changes))).toBe(sentence)
  })

  test.each([
    [30, 'has 30 units left'],
    [1, 'has 1 unit left'],
    [0, 'has 0 units left'],
    [-1, 'is over by 1 unit'],
    [-10, 'is over by 10 units'],
  ])('%i units available: %s', (available, sentence) => {
    expect(leftOrOver(available)).toBe(sentence)
  })

  const ends = 'they are charged or come back, in seven days at the latest.'

  test.each<[string | null, Partial<Figures>[]]>([
    [null, []],
    [null, [{ held: 0, inDoubt: 0 }]],
    [`seo has 10 units held and 10 in doubt: ${ends}`, [{ held: 10, inDoubt: 10 }]],
    [
      `top has 9 units in doubt: ${ends}`,
      [
        { held: 8, inDoubt: 0 },
        { budget: 'top', held: 0, inDoubt: 9 },
      ],
    ],
    [
      `top has 9 units held: ${ends}`,
      [
        { held: 0, inDoubt: 8 },
        { budget: 'top', held: 9, inDoubt: 0 },
      ],
    ],
  ])('how the units end that are held and in doubt: %s', (sentence, all) => {
    expect(holdsEnd(all.map(figures))).toBe(sentence)
  })

  test.each([
    [0, 'The vendor and the book both show 4,990: no units are moved.'],
    [1, 'The vendor shows 4,990, the book 4,991: 1 were used outside.'],
    [-10, 'The vendor shows 4,990, the book 4,980: 10 too many were booked, and they come back.'],
  ])('a difference of %i to the vendor: %s', (difference, sentence) => {
    expect(differenceToVendor({ difference, unitsLeft: 4_990, expected: 4_990 + difference })).toBe(sentence)
  })

  test('the tightest counter has the least left, and is never unlimited', () => {
    const [a, b] = [figures({ available: 7 }), figures({ available: 30 })]
    const unlimited = figures({ limit: 'unlimited', available: -500 })
    expect(tightest([b, unlimited, a])).toBe(a)
    expect(tightest([a, b])).toBe(a)
    expect(tightest([unlimited])).toBeUndefined()
  })
})

describe('the refusal over budget', () => {
  const day = { window: 'day', end: at('2026-11-21T00:00:00Z') } as const
  const said = (...short: readonly Shortage[]) => overBudget(short, 90, 'UTC')
  const needs = (changes: Partial<Figures>, needed: number | null = 90): Shortage =>
    needed === null ? { figures: figures(changes), needed } : { figures: figures(changes), needed, leave: 0 }

  test('an over-budget refusal names the worst counter, the first of equal ones, and the last reset', () => {
    const worst = needs({ budget: 'acme', available: 10 })
    const sentence =
      'acme has 10 of 100 units left this month and this needs 90; resets 1 Dec 2026 00:00 UTC; ask for 80 more. Also short: seo has 60 of 100 units left today (resets 21 Nov 2026 00:00 UTC). acme has 10 units held and 5 in doubt: they are charged or come back, in seven days at the latest.'
    for (const short of [
      [worst, needs(day)],
      [needs(day), worst],
    ]) {
      const { detail, members } = said(...short)
      expect(detail).toBe(sentence)
      expect(members.wouldPass).toContain('the same request after 1 Dec 2026 00:00 UTC, if it fits then')
    }
    expect(said(needs({ budget: 'b' }), needs({ budget: 'a' })).detail).toMatch(/^b has 60 .*\. Also short: a has 60 /)
  })

  test('a refusal without units left does not suggest smaller updates', () => {
    expect(said(needs({ available: 0 })).members.wouldPass).toEqual([
      'a grant of 90 to seo for the month (POST /budgets/<name>/entries, scope admin)',
      'the same request after 1 Dec 2026 00:00 UTC, if it fits then',
    ])
    expect(said(needs({ available: 1 })).members.wouldPass).toContain('updates of at most 1 units together, now')
  })

  test('a refusal by a caller’s own limit suggests no grant', () => {
    expect(said(needs({ budget: 'caller:bob' })).members.wouldPass).toEqual([
      'updates of at most 60 units together, now',
      'a higher limit for bob (PUT /callers/bob, scope admin)',
      'the same request after 1 Dec 2026 00:00 UTC, if it fits then',
    ])
  })

  test('an over-budget refusal shows every figure of every counter', () => {
    expect(said(needs({ ...day, limit: u(100), available: 60 })).members).toMatchObject({
      units: 90,
      short: 30,
      budgets: [
        {
          budget: 'seo',
          window: 'day',
          limit: 100,
          held: 10,
          inDoubt: 5,
          spent: 25,
          available: 60,
          short: 30,
          resetsAt: '2026-11-21T00:00:00.000Z',
        },
      ],
    })
  })
})

describe('the answer about updates', () => {
  const row = (state: State, changes: Partial<Update> = {}): Row => ({ update: updateOf({ state, ...changes }) })
  const unread = problem('estimate-unreadable', 'No units.', { shape: '{}' })
  const answer = (...rows: readonly Row[]) => toAnswer(rows, { replayed: false, now: 0 })
  const duplicate = problem('duplicate-work', 'It is running.', { update: 'upd_9' })
  const done = problem('already-updated', 'It was done.', { update: 'upd_9' })

  test.each<[Row, number]>([
    [row('awaiting-approval'), 202],
    [row('requested'), 202],
    [row('running'), 202],
    [row('in-doubt'), 202],
    [row('settled'), 201],
    [row('released'), 502],
    [row('refused', { problem: duplicate }), 409],
    [row('refused', { problem: done }), 200],
    [row('refused', { problem: problem('over-budget', '') }), 402],
    [row('refused'), 402],
    [row('rejected'), 402],
    [row('cancelled'), 402],
    [row('expired'), 402],
    [{ project: 'shop', problem: unread }, 502],
  ])('an answer about one update has that update’s status: %#', (one, status) => {
    expect(answer(one).status).toBe(status)
  })

  test('an answer about several updates has the first of 202, 201, 200, 502, 409, 402, and the deciding problem', () => {
    const rows = [row('rejected'), row('refused', { problem: duplicate }), row('released')]
    expect(answer(...rows)).toMatchObject({ status: 502, problem: { slug: 'service-refused' } })
    expect(answer(...rows.slice(0, 2))).toMatchObject({ status: 409, problem: duplicate })
    expect(answer(...rows, row('refused', { problem: done }))).toMatchObject({ status: 200, problem: null })
    expect(answer(...rows, row('refused', { problem: done }), row('settled'))).toMatchObject({ status: 201 })
    expect(answer(...rows, row('settled'), row('requested'))).toMatchObject({ status: 202, problem: null })
    expect(answer(row('rejected'), { project: 'b', problem: unread })).toMatchObject({
      status: 502,
      problem: unread,
      notRecorded: [{ project: 'b', problem: unread }],
      updates: [{ state: 'rejected' }],
    })
  })

  test('an answer about no recorded update has the first problem, and lists all if there are several', () => {
    const one = { project: 'a', problem: unread }
    const two = { project: 'b', problem: problem('ledger-unavailable', 'away') }
    const first = { status: 502, updates: [], problem: unread, replayed: false, earlier: [] }
    expect(answer(one)).toEqual({ ...first, notRecorded: [] })
    expect(answer(one, two)).toEqual({ ...first, notRecorded: [one, two] })
    expect(onlyProblem(unread)).toEqual({ ...first, notRecorded: [] })
  })

  test('an answer shows the update that did the work instead of the refusal', () => {
    const earlier = updateOf({ id: 'upd_9', state: 'settled' })
    const shown = answer({ update: updateOf({ state: 'refused', problem: done }), earlier }, row('settled'))
    expect(shown.updates.map(({ id }) => id)).toEqual(['upd_9', 'upd_1'])
    expect([shown.earlier, answer(row('settled')).earlier]).toEqual([['upd_9'], []])
  })

  test('an answer without a problem says the outcome of the update, by whom, and why', () => {
    const history = [{ state: 'expired', at: 0, by: 'sweep', note: 'too late' }] as const
    expect(answer(row('expired', { history })).problem).toEqual({
      slug: 'expired',
      detail: 'The update upd_1 was expired by sweep: too late.',
      members: {},
    })
    expect(answer(row('released', { history: [{ state: 'released', at: 0, by: 'eve' }] })).problem).toEqual({
      slug: 'service-refused',
      detail: 'The update upd_1 was released by eve.',
      members: { serviceStatus: null },
    })
  })

  test('an answer turns an unknown problem into an internal problem', () => {
    expect(described('over-budget')).toBe(problems['over-budget'])
    expect(described('constructor')).toBe(problems.internal)
  })
})

test.each([
  [0, 100, '0 %'],
  [1, 3, '33 %'],
  [199, 200, '99 %'],
  [200, 200, '100 %'],
  [500, 200, '250 %'],
  [3000, 2, '150,000 %'],
  [-1, 200, '0 %'],
  [0, 0, '100 %'],
  [5, -1, '100 %'],
])('the share of %i of %i is %s, rounded down', (used, of, text) => {
  expect(percent(used, of)).toBe(text)
})

test('a caller’s figures have the person’s name, and a budget’s its own', () => {
  const callers = { 'okta:1': { person: 'mira', limits: [{ window: 'month', units: u(10) }] } } as const
  const view = readingOf({ callers })
  const owner = { name: 'caller:okta:1', limits: callers['okta:1'].limits }
  expect(left(figuresOf(view, owner, 'month'))).toBe('mira has 10 of 10 units left this month')
  expect(figuresOf(view, { name: 'seo', limits: [] }, 'month')).not.toHaveProperty('shownAs')
})

test('the figures of a budget have each member of its counter, and its rules', () => {
  const view = readingOf({})
  const counter = { limit: u(100), granted: 7, available: 60, held: 12, inDoubt: 6, spent: 29, once: 5 }
  const counters = { month: { seo: counter }, day: {} }
  const owner = { name: 'seo', limits: [], enforce: false, keep: u(3) } as const
  const { start, end } = view.month
  expect(figuresOf({ ...view, book: { ...view.book, counters } }, owner, 'month')).toEqual({
    ...counter,
    budget: 'seo',
    window: 'month',
    start,
    end,
    enforce: false,
    keep: 3,
  })
})

describe('what a request says while the ledger does not answer', () => {
  const full = { disk: 'full' } as const

  test.each<[sentence: string, cause: LedgerUnavailable, project?: string]>([
    [
      'The ledger does not answer, so nothing was sent to the service and nothing spent; the same request may be sent again.',
      new LedgerUnavailable('away'),
    ],
    [
      'The ledger does not answer, so the update of acme was not recorded: nothing was sent to the service for it and nothing was spent on it. Send the same request again, with the same Idempotency-Key.',
      new LedgerUnavailable('away'),
      'acme',
    ],
    [
      'The disk of the ledger is full. Nothing was sent to the service and nothing spent; the same request may be sent again when an operator has repaired this.',
      new LedgerUnavailable('no space', full),
    ],
    [
      'The disk of the ledger is full. Nothing was sent to the service for acme and nothing spent on it; the same request may be sent again when an operator has repaired this.',
      new LedgerUnavailable('no space', full),
      'acme',
    ],
    [
      'The disk of the ledger is full. The answer of the ledger was lost, so the change may have been written. Nothing was sent to the service. With the same Idempotency-Key the request may be sent again and counts once. Without a key, check first whether the change was made.',
      new AnswerLost('no space', full),
      'acme',
    ],
  ])('%s', (detail, cause, project) => {
    expect(ledgerProblem(cause, project)).toMatchObject({ slug: 'ledger-unavailable', detail })
  })
})
