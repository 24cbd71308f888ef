import * as z from 'zod/mini'

const dateTakes = 'takes a calendar date such as 2026-11-20'
const date = z.optional(z.iso.date(dateTakes))

export const period = z.object({ startDate: date, stopDate: date }).check(
  z.refine(({ startDate, stopDate }) => startDate === undefined || stopDate === undefined || startDate <= stopDate, {
    path: ['startDate'],
    error: 'takes a date that is not after stopDate',
  }),
)

/** A `date` wins over a period. */
export const on = onOrFrom((day) => ({ startDate: day, stopDate: day }))
export const from = onOrFrom((day) => ({ startDate: day }))

function onOrFrom(periodOf: (day: string) => Period) {
  const withDate = z.object({ date })
  return z.pipe(
    z.intersection(period, withDate),
    z.transform(({ date: day, ...rest }): Period => (day === undefined ? rest : periodOf(day))),
  )
}

type Period = { readonly startDate?: string | undefined; readonly stopDate?: string | undefined }

/**
 * The dates of a period that have data, both ends included. Without an end it lasts to the latest date; without a
 * beginning it is the latest date only.
 *
 * @param dates oldest first.
 */
export function datesWithin({ startDate, stopDate }: Period, dates: readonly string[]): readonly string[] {
  const until = stopDate === undefined ? dates : dates.filter((each) => each <= stopDate)
  return startDate === undefined ? until.slice(-1) : until.filter((each) => each >= startDate)
}
