import * as z from 'zod/mini'

interface Period {
  readonly startDate?: string | undefined
  readonly stopDate?: string | undefined
}

const date = z.optional(z.iso.date('must be a calendar date such as 2026-11-20'))

export const period = z.object({ startDate: date, stopDate: date }).check(
  z.refine(({ startDate, stopDate }) => startDate === undefined || stopDate === undefined || startDate <= stopDate, {
    path: ['startDate'],
    error: 'must be a date that is not after stopDate',
  }),
)

export const on = periodFromDate((day) => ({ startDate: day, stopDate: day }))
export const from = periodFromDate((day) => ({ startDate: day }))

function periodFromDate(periodOf: (day: string) => Period) {
  return z.pipe(
    z.intersection(period, z.object({ date })),
    z.transform(({ date: day, ...rest }): Period => (day === undefined ? rest : periodOf(day))),
  )
}

/** The dates of the period, both ends included. Without a start, only the latest date. @param dates oldest first. */
export function datesWithin({ startDate, stopDate }: Period, dates: readonly string[]): readonly string[] {
  const until = stopDate === undefined ? dates : dates.filter((each) => each <= stopDate)
  return startDate === undefined ? until.slice(-1) : until.filter((each) => each >= startDate)
}
