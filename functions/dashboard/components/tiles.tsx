import type { Child } from 'hono/jsx'
import { type DayUse, dailyMean } from '../../../shared/guard/reports/history.ts'
import type { BudgetOutlook } from '../../../shared/guard/reports/outlook.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import { usedOf } from '../../../shared/ledger/book/book.ts'
import { monthBefore } from '../../../shared/ledger/book/windows.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import type { Page } from '../../../shared/ledger/views/pages.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { totalOf } from './outlook.tsx'
import { dayAndTime, inboxPath } from './parts.tsx'
import { shortLabel } from './period.tsx'

export const Tiles = ({ children }: { children: Child }) => <dl class="tiles">{children}</dl>

const Tile = ({ name, figure, children }: { name: Child; figure: Child; children: Child }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      <p class="figure">{figure}</p>
      <p class="note">{children}</p>
    </dd>
  </div>
)

const percent = (part: number, whole: number): string => `${whole > 0 ? Math.floor((part / whole) * 100) : 0} %`

interface LeftProps {
  readonly root: BudgetOutlook
  readonly view: View
  /** Of what is spent. */
  readonly cost: string | undefined
}

export function LeftTile({ root: { figures }, view: { month, now }, cost }: LeftProps) {
  const total = totalOf(figures)
  const gone = `${percent(now - month.start, month.end - month.start)} of the month gone`
  const used = usedOf(figures)
  const spent = cost === undefined ? '' : ` · ${cost} spent`
  if (total === null)
    return (
      <Tile name="Used, without a limit" figure={count(used)}>
        {gone}
        {spent}
      </Tile>
    )
  return (
    <Tile
      name={`Left of ${count(total)}`}
      figure={<span class={figures.available <= 0 ? 'none' : ''}>{count(figures.available)}</span>}
    >
      {percent(used, total)} used, {gone}
      {spent}
    </Tile>
  )
}

export function ResetTile({ root: { figures, month } }: { root: BudgetOutlook }) {
  const total = totalOf(figures)
  const { projected, projectedAtPace, pace } = month
  const at = (projection: number) => (total === null ? projection : total - projection)
  const name = total === null ? 'Used at the reset' : 'Left at the reset'
  if (projectedAtPace === null)
    return (
      <Tile name={name} figure={count(at(projected))}>
        with plans only; fewer than three days of history
      </Tile>
    )
  const ends = [at(projectedAtPace), at(projected)]
  return (
    <Tile name={name} figure={ends[0] === ends[1] ? count(at(projected)) : ends.map((end) => count(end)).join('–')}>
      at the pace of {pace.last7Days === null ? 'this month' : 'the last 7 days'} · with plans only
    </Tile>
  )
}

interface YesterdayProps {
  readonly root: BudgetOutlook
  readonly days: readonly DayUse[]
  readonly view: View
  readonly lastMonth: number | null
}

export function YesterdayTile({ root: { history }, days, view, lastMonth }: YesterdayProps) {
  const { month, day, definitions } = view
  const yesterday = days.find(({ end }) => end === Math.max(month.start, day.start))
  const mean = dailyMean(history)
  const figure = [yesterday?.units, mean].map((each) => (each == null ? '–' : count(each))).join(' / ')
  return (
    <Tile
      name={
        yesterday ? (
          <a href={`/dashboard/updates?since=${yesterday.date}&until=${yesterday.date}`}>Yesterday / daily mean</a>
        ) : (
          'Yesterday / daily mean'
        )
      }
      figure={figure}
    >
      {shortLabel(monthBefore(definitions.calendar, month), zoneOf(view))} by this day:{' '}
      {lastMonth === null ? '–' : count(lastMonth)}
    </Tile>
  )
}

export function WaitingTile({
  approvals,
  doubts,
  view,
}: {
  approvals: Page<Update>
  doubts: Page<Update>
  view: View
}) {
  const number = approvals.rows.length + doubts.rows.length
  const hasMore = approvals.next !== undefined || doubts.next !== undefined
  const sum =
    approvals.rows.reduce((all, { estimated = 0 }) => all + estimated, 0) +
    doubts.rows.reduce((all, { hold }) => all + (hold?.units ?? 0), 0)
  const deadlines = approvals.rows.flatMap(({ approvableUntil }) => approvableUntil ?? [])
  const parts = [
    ...(approvals.rows.length > 0
      ? [
          `${approvals.rows.length === 1 ? '1 approval' : `${count(approvals.rows.length)} approvals`}${deadlines.length > 0 ? ` (first ends ${dayAndTime(Math.min(...deadlines), zoneOf(view))})` : ''}`,
        ]
      : []),
    ...(doubts.rows.length > 0 ? [`${count(doubts.rows.length)} in doubt`] : []),
  ]
  return (
    <Tile
      name={<a href={inboxPath}>To decide</a>}
      figure={
        <>
          {count(number)}
          {hasMore ? ' or more' : ''} {number === 0 ? null : <small>{units(sum)}</small>}
        </>
      }
    >
      {parts.length === 0 ? 'nothing waits for a decision' : parts.join(' · ')}
    </Tile>
  )
}
