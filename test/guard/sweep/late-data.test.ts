import { describe, expect, test } from 'vitest'
import { judgeLateData } from '../../../shared/guard/sweep/late-data.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { days, hours } from '../../support/clock.ts'
import { holdOf, u, updateOf } from '../../support/records.ts'

const noon = (date: string): number => Date.parse(`${date}T12:00:00Z`)
const nov = (day: number): string => `2026-11-${String(day).padStart(2, '0')}`

/** A settled run of this day in November, whose list had the dates up to the day before. */
function run(day: number, changes: Partial<Update> = {}, hold: Parameters<typeof holdOf>[0] = {}): Update {
  return updateOf({
    id: `upd_${day}`,
    state: 'settled',
    closedBy: 'sender',
    charged: u(40),
    owner: 'seo',
    createdAt: noon(nov(day)),
    finishedAt: noon(nov(day)),
    hold: holdOf({ day: `day:${nov(day)}`, at: noon(nov(day)), datesBefore: [nov(day - 1)], ...hold }),
    ...changes,
  })
}

const came = (day: number) => ({ delivery: { state: 'came', date: nov(day) } }) as const
const late = { delivery: { state: 'late' } } as const

interface Look {
  readonly dates?: readonly string[]
  readonly fresh?: readonly string[]
  readonly hadDates?: boolean
  readonly now?: number
}

/** What is said of each run: a date, `late`, or nothing. */
function judged(updates: readonly Update[], { dates = [], fresh = dates, hadDates = true, now }: Look) {
  const at = { now: now ?? noon(nov(20)), deliveryMs: hours(96) }
  const verdicts = judgeLateData(updates, { dates, fresh, hadDates }, at)
  return Object.fromEntries(
    verdicts.map(({ update, delivery }) => [update.id, delivery.state === 'late' ? 'late' : (delivery.date ?? 'came')]),
  )
}

const history = [nov(1), nov(2)]

describe('the date that a run expects', () => {
  test.each([
    ['two days before', 8, {}],
    ['the day before', 9, { upd_10: nov(9) }],
    ['the same day', 10, { upd_10: nov(10) }],
    ['three days after', 13, { upd_10: nov(13) }],
    ['four days after', 14, {}],
  ])('a new date of %s: %d November', (_, date, expected) => {
    const own = run(10, {}, { datesBefore: [] })
    expect(judged([own], { dates: [...history, nov(date)], now: noon(nov(11)) })).toEqual(expected)
  })

  test('a date that was in the list before the hold is no new date', () => {
    const own = run(10, {}, { datesBefore: [nov(9), nov(10)] })
    expect(judged([own], { dates: [nov(9), nov(10)] })).toEqual({ upd_10: 'late' })
    expect(judged([own], { dates: [nov(9), nov(10), nov(11)] })).toEqual({ upd_10: nov(11) })
  })

  test('without a new date a run is late from 96 hours after it on', () => {
    const at = noon(nov(10)) + hours(96)
    expect(judged([run(10)], { dates: history, now: at - 1 })).toEqual({})
    expect(judged([run(10)], { dates: history, now: at })).toEqual({ upd_10: 'late' })
  })

  test.each([
    ['evidence settled it', { closedBy: 'evidence' }, {}],
    ['it cost nothing', { charged: u(0) }, {}],
    ['it did not run', { state: 'released', ran: false }, {}],
    ['it is in doubt', { state: 'in-doubt' }, {}],
    ['units were given back', { delivery: { state: 'given-back' } }, {}],
    ['it is late already', late, {}],
    ['its data came', came(9), {}],
    ['a person settled it', { closedBy: 'person' }, { upd_10: 'late' }],
    ['time settled it', { closedBy: 'time' }, { upd_10: 'late' }],
  ] as const)('a run becomes late or not: %s', (_, changes, expected) => {
    expect(judged([run(10, changes)], { dates: history })).toEqual(expected)
  })

  test('without a list before the first hold of the day, nothing is said', () => {
    const { datesBefore: _, ...unread } = holdOf({ day: 'day:2026-11-10', at: noon(nov(10)) })
    const first = run(10, { hold: unread })
    const second = run(10, { id: 'upd_b' }, { at: noon(nov(10)) + 1 })
    expect(judged([first, second], { dates: [...history, nov(10)] })).toEqual({})
    expect(judged([first, second], { dates: history })).toEqual({})
  })
})

describe('a list of dates that says nothing', () => {
  test('a list that begins after the day of the run says nothing, and one that begins with it does', () => {
    expect(judged([run(10)], { dates: [nov(14), nov(15)] })).toEqual({})
    expect(judged([run(10, {}, { datesBefore: [nov(10)] })], { dates: [nov(10)] })).toEqual({ upd_10: 'late' })
  })

  test('an empty list says nothing if there were dates before, and else that no data came', () => {
    expect(judged([run(10)], { dates: [], hadDates: true })).toEqual({})
    expect(judged([run(10, {}, { datesBefore: [] })], { dates: [], hadDates: false })).toEqual({ upd_10: 'late' })
  })

  test('of a run of more than ten days ago, only a date that the look before did not find is told', () => {
    const at = { now: noon(nov(10)) + days(10) + 1 }
    const dates = [...history, nov(10)]
    expect(judged([run(10)], { dates, fresh: [], ...at })).toEqual({})
    expect(judged([run(10, late)], { dates, fresh: [], ...at })).toEqual({})
    expect(judged([run(10, late)], { dates, fresh: [nov(10)], ...at })).toEqual({ upd_10: nov(10) })
    expect(judged([run(10)], { dates, fresh: [], now: at.now - 1 })).toEqual({ upd_10: nov(10) })
  })
})

describe('a date serves one day, the earliest first', () => {
  test('of two neighbouring days with one date, the earlier day has it, and the later day is late', () => {
    const both = [run(11, {}, { datesBefore: [] }), run(10)]
    expect(judged(both, { dates: [...history, nov(11)] })).toEqual({ upd_10: nov(11), upd_11: 'late' })
    expect(judged(both, { dates: [...history, nov(10), nov(11)] })).toEqual({ upd_10: nov(10), upd_11: nov(11) })
  })

  test('an earlier date that comes later frees the date that it replaces', () => {
    const both = [run(10, came(13)), run(13)]
    expect(judged(both, { dates: [...history, nov(13)] })).toEqual({ upd_13: 'late' })
    expect(judged(both, { dates: [...history, nov(10), nov(13)] })).toEqual({ upd_13: nov(13) })
  })

  test('a day whose data came keeps a date, so an earlier day that settles later does not take it', () => {
    const both = [run(10, { closedBy: 'time' }), run(11, came(11), { datesBefore: [] })]
    expect(judged(both, { dates: [...history, nov(11)] })).toEqual({ upd_10: 'late' })
    const proven = [run(10, { closedBy: 'time' }), run(11, { closedBy: 'evidence' }, { datesBefore: [] })]
    expect(judged(proven, { dates: [...history, nov(11)] })).toEqual({ upd_10: 'late' })
  })

  test('a day whose units came back, or of which a person said that it came, needs no date', () => {
    const later = run(11, {}, { datesBefore: [] })
    for (const state of ['given-back', 'came'] as const)
      expect(judged([run(10, { delivery: { state } }), later], { dates: [...history, nov(11)] })).toEqual({
        upd_11: nov(11),
      })
  })

  test('several runs of one day share a date, and are late together 96 hours after the last of them', () => {
    const second = run(10, { id: 'upd_b' }, { at: noon(nov(10)) + hours(3), datesBefore: [nov(9), nov(10)] })
    const both = [run(10), second]
    expect(judged(both, { dates: [...history, nov(10)] })).toEqual({ upd_10: nov(10), upd_b: nov(10) })
    expect(judged(both, { dates: history, now: noon(nov(10)) + hours(98) })).toEqual({})
    const verdicts = judgeLateData(
      both,
      { dates: history, fresh: [], hadDates: true },
      { now: noon(nov(10)) + hours(99), deliveryMs: hours(96) },
    )
    expect(verdicts.map(({ update, delivery }) => [update.id, delivery])).toEqual([
      ['upd_10', { state: 'late' }],
      ['upd_b', { state: 'late', sharedWith: 'upd_10' }],
    ])
    expect(judged([run(10, late), second], { dates: history })).toEqual({ upd_b: 'late' })
    expect(judged([run(10, { delivery: { state: 'came' } }), second], { dates: history })).toEqual({ upd_b: 'came' })
  })

  /** Which days have a date, tried in every way: the first day in the order that can have one keeps it. */
  function servedByForce(wishes: readonly (readonly string[])[]): readonly boolean[] {
    const ways = (position: number, taken: readonly string[]): readonly (readonly boolean[])[] => {
      const wish = wishes[position]
      if (!wish) return [[]]
      const without = ways(position + 1, taken).map((rest) => [false, ...rest])
      const free = wish.filter((date) => !taken.includes(date))
      return [
        ...free.flatMap((date) => ways(position + 1, [...taken, date]).map((rest) => [true, ...rest])),
        ...without,
      ]
    }
    const best = ways(0, []).map((way) => way.map((isServed) => (isServed ? '1' : '0')).join(''))
    return [...(best.toSorted().at(-1) ?? '')].map((mark) => mark === '1')
  }

  test('of every choice of five days and five dates, as many of the earliest days as possible have a date of their own', () => {
    const all = [10, 11, 12, 13, 14]
    const chosen = (mask: number) => all.filter((_, position) => (mask >> position) % 2 === 1)
    for (let runs = 1; runs < 32; runs++) {
      for (let data = 0; data < 32; data++) {
        const ran = chosen(runs).map((day) => run(day, {}, { datesBefore: [] }))
        const dates = chosen(data).map(nov)
        const found = judged(ran, { dates: [...history, ...dates], now: noon(nov(20)) })
        const wishes = chosen(runs).map((day) => dates.filter((date) => date >= nov(day - 1) && date <= nov(day + 3)))
        const expected = servedByForce(wishes)
        expect(chosen(runs).map((day) => found[`upd_${day}`] !== 'late')).toEqual(expected)
        const used = Object.values(found).filter((each) => each !== 'late')
        expect(new Set(used).size).toBe(used.length)
      }
    }
  })
})
