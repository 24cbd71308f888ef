import { describe, expect, test } from 'vitest'
import { sumOfHistories } from '../../../shared/reports/history.ts'

const night = (day: number) => Date.UTC(2026, 10, day)

const history = (start: number, nights: readonly (readonly [day: number, used: number])[]) => ({
  start: { at: start, used: 5 },
  nights: nights.map(([day, used]) => ({ at: night(day), used, limit: 100 })),
  now: { at: night(20), used: 50, limit: 100 },
})

describe('the sum of the histories of two budgets', () => {
  const old = history(night(1), [
    [2, 10],
    [3, 20],
    [4, 30],
  ])

  test('the sum of two histories counts nothing for a budget on nights before it began', () => {
    expect(sumOfHistories([old, history(night(3) + 1, [[4, 7]])]).nights).toEqual([
      { at: night(2), used: 10, limit: 100 },
      { at: night(3), used: 20, limit: 100 },
      { at: night(4), used: 37, limit: 200 },
    ])
  })

  test('the sum of two histories counts nothing for a budget on the night at which it began', () => {
    expect(sumOfHistories([old, history(night(3), [[4, 7]])]).nights).toHaveLength(3)
  })

  test('the sum of two histories leaves out a night that one budget has not recorded', () => {
    const begun = history(night(1), [
      [2, 1],
      [4, 3],
    ])
    expect(sumOfHistories([old, begun]).nights.map(({ at }) => at)).toEqual([night(2), night(4)])
    expect(sumOfHistories([begun, old]).nights.map(({ at }) => at)).toEqual([night(2), night(4)])
  })
})
