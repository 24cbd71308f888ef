import type { Child } from 'hono/jsx'
import * as z from 'zod/mini'
import { monthWindow } from '../../../shared/api/schemas.ts'
import { noWindow } from '../../../shared/api/windows.ts'
import { zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { monthAfter, monthBefore, monthNamed, type Window } from '../../../shared/ledger/definitions/windows.ts'
import { dayMs, months, onTheWall, toInstant } from '../../../shared/platform/clock.ts'
import { addressWith } from '../kit/list.tsx'
import { dayNamed } from '../kit/parts.tsx'

const isDate = (text: string) =>
  /^\d{4}-\d\d-\d\d$/.test(text) && new Date(Date.parse(text) || 0).toISOString().startsWith(text)
export const dateSchema = z.string().check(z.refine(isDate, 'must be a date such as 2026-11-20'))

export const periodFields = {
  window: z.exactOptional(z.union([z.literal('all'), monthWindow], 'must be a month such as month:2026-11-12, or all')),
  since: z.exactOptional(dateSchema),
  until: z.exactOptional(dateSchema),
}

export interface PeriodQuery {
  readonly window?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export interface Period {
  readonly label: string
  /** `null`: the period has chosen dates, or is all time. */
  readonly month: Window | null
  readonly since?: number
  readonly until?: number
}

/** The period includes the day of `until`. @throws Refusal 400 */
export function periodOf(view: View, { window, since, until }: PeriodQuery): Period {
  const zone = zoneOf(view)
  if (since !== undefined || until !== undefined)
    return {
      label: datesLabel(since, until),
      month: null,
      ...(since !== undefined && { since: startOf(since, zone) }),
      ...(until !== undefined && { until: startOf(dayAfter(until), zone) - 1 }),
    }
  if (window === 'all') return { label: 'All time', month: null }
  const month = window === undefined ? view.month : monthNamed(view.definitions.calendar, window)
  if (!month || month.start > view.now) throw noWindow(view, window ?? '')
  return { label: monthLabel(month, zone), month, since: month.start, until: month.end - 1 }
}

function startOf(day: string, zone: string): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return toInstant({ year, month, day: date }, zone)
}

const dayAfter = (day: string) => new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10)

function datesLabel(since: string | undefined, until: string | undefined): string {
  if (since === undefined) return `until ${dayNamed(until ?? '')}`
  return until === undefined ? `since ${dayNamed(since)}` : `${dayNamed(since)} – ${dayNamed(until)}`
}

/** `1 – 30 Nov 2026` */
function monthLabel({ start, end }: Window, zone: string): string {
  const [from, to] = [start, end - 1].map((at) => onTheWall(at, zone).split(' ').slice(0, 3))
  const [day, month, year] = from ?? []
  const isOneMonth = month === to?.[1] && year === to?.[2]
  return isOneMonth ? `${day} – ${to?.join(' ')}` : `${day} ${month} – ${to?.join(' ')}`
}

interface PeriodProps {
  readonly path: string
  readonly filters: Readonly<Record<string, string | undefined>>
  readonly period: Period
  readonly view: View
  readonly hasAll?: boolean | undefined
}

interface SubheadProps extends PeriodProps {
  readonly sums?: Child
  readonly actions?: Child
}

export const Subhead = ({ sums, actions, ...props }: SubheadProps) => (
  <div class="subhead">
    <PeriodLinks {...props} />
    {sums}
    <span class="actions">
      {actions}
      <a href={addressWith(`${props.path}.csv`, props.filters)} download>
        Download as CSV
      </a>
    </span>
  </div>
)

export function PeriodLinks({ path, filters, period, view, hasAll = false }: PeriodProps) {
  const { calendar, createdAt } = view.definitions
  const { window: _window, since: _since, until: _until, ...others } = filters
  const link = (window: string | undefined) => addressWith(path, { ...others, window })
  const shown = period.month ?? view.month
  const before = monthBefore(calendar, shown)
  const isFirst = before.end <= createdAt
  const isLast = shown.end > view.now
  const nameOf = (month: Window) => (month.name === view.month.name ? undefined : month.name)
  return (
    <nav aria-label="Period" class="period">
      {isFirst ? null : (
        <a href={link(nameOf(before))} rel="prev">
          ‹ {shortLabel(before, zoneOf(view))}
        </a>
      )}
      {period.month === null ? (
        <>
          <a href={link(undefined)}>{monthLabel(view.month, zoneOf(view))}</a>
          <strong aria-current="true">{period.label}</strong>
        </>
      ) : (
        <strong aria-current="true">{period.label}</strong>
      )}
      {isLast ? null : (
        <a href={link(nameOf(monthAfter(calendar, shown)))} rel="next">
          {shortLabel(monthAfter(calendar, shown), zoneOf(view))} ›
        </a>
      )}
      {hasAll && period.label !== 'All time' ? <a href={link('all')}>All time</a> : null}
    </nav>
  )
}

/** `November`, or `12 Nov – 11 Dec` for a month that begins on another day. */
export function shortLabel(month: Window, zone: string): string {
  const [day, , year] = onTheWall(month.start, zone).split(' ')
  const name = months[Number(month.name.slice('month:0000-'.length, 'month:0000-00'.length)) - 1]
  return day === '1' ? `${name}` : monthLabel(month, zone).replace(` ${year}`, '')
}
