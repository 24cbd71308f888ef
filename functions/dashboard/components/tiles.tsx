import type { Child } from 'hono/jsx'
import { count, countOf, percent, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { usedOf } from '../../../shared/ledger/definitions/counters.ts'
import { monthBefore } from '../../../shared/ledger/definitions/windows.ts'
import type { Page } from '../../../shared/ledger/store/pages.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { dailyMean, dayUses } from '../../../shared/reports/history.ts'
import type { BudgetOutlook } from '../../../shared/reports/outlook.ts'
import { Ago, inboxPath, joined, say } from '../kit/parts.tsx'
import { totalOf } from './outlook.tsx'
import { shortLabel } from './period.tsx'

interface TilesProps {
  readonly root: BudgetOutlook
  readonly view: View
  /** The cost of the units spent. */
  readonly cost: string | undefined
  readonly lastMonth: number | null
  readonly approvals: Page<Update>
  readonly doubts: Page<Update>
}

type Tile = readonly [name: Child, figure: Child, note: Child]

export const Tiles = (props: TilesProps) => (
  <dl class="tiles">
    {[leftTile, resetTile, yesterdayTile, waitingTile].map((tileOf) => {
      const [name, figure, note] = tileOf(props)
      return (
        <div>
          <dt>{name}</dt>
          <dd>
            <p class="figure">{figure}</p>
            <p class="note">{note}</p>
          </dd>
        </div>
      )
    })}
  </dl>
)

function leftTile({ root: { figures }, view: { month, now }, cost }: TilesProps): Tile {
  const [total, used] = [totalOf(figures), usedOf(figures)]
  const spent = cost === undefined ? '' : ` · ${cost} spent`
  const gone = `${percent(now - month.start, month.end - month.start)} of the month gone${spent}`
  if (total === null) return ['Used, without a limit', count(used), gone]
  const left = <span class={figures.available <= 0 ? 'none' : ''}>{count(figures.available)}</span>
  return [`Left of ${count(total)}`, left, `${percent(used, total)} used, ${gone}`]
}

function resetTile({ root: { figures, month } }: TilesProps): Tile {
  const total = totalOf(figures)
  const { projected, projectedAtPace, pace, unpriced } = month
  const ends = [projectedAtPace ?? projected, projected].map((end) => count(total === null ? end : total - end))
  const note =
    projectedAtPace === null
      ? 'with plans only; fewer than three days of history'
      : `at the pace of ${pace.last7Days === null ? 'this month' : 'the last 7 days'} · with plans only`
  const bound = unpriced === 0 ? '' : total === null ? 'at least ' : 'at most '
  const figure = `${bound}${[...new Set(ends)].join('–')}`
  return [total === null ? 'Used at the reset' : 'Left at the reset', figure, note]
}

function yesterdayTile({ root: { history }, view, lastMonth }: TilesProps): Tile {
  const { month, day, definitions } = view
  const yesterday = dayUses(view, history).find(({ end }) => end === Math.max(month.start, day.start))
  const name = 'Yesterday / daily mean'
  const updates = `/dashboard/updates?since=${yesterday?.date}&until=${yesterday?.date}`
  const [used, mean, before] = [yesterday?.units, dailyMean(history), lastMonth].map((each) =>
    each == null ? '–' : count(each),
  )
  const name1 = shortLabel(monthBefore(definitions.calendar, month), zoneOf(view))
  return [yesterday ? <a href={updates}>{name}</a> : name, `${used} / ${mean}`, `${name1} by this day: ${before}`]
}

function waitingTile({ approvals, doubts, view }: TilesProps): Tile {
  const waiting = [...approvals.rows, ...doubts.rows]
  const more = approvals.next === undefined && doubts.next === undefined ? '' : ' or more'
  const sum = waiting.reduce((all, { hold, estimated = 0 }) => all + (hold?.units ?? estimated), 0)
  const deadlines = approvals.rows.flatMap(({ approvableUntil }) => approvableUntil ?? [])
  const first = deadlines.length > 0 && say` (first ends ${<Ago at={Math.min(...deadlines)} view={view} />})`
  const asked = approvals.rows.length
  const parts: readonly Child[] = [
    ...(asked > 0 ? [say`${countOf(asked, 'approval')}${first}`] : []),
    ...(doubts.rows.length > 0 ? [`${count(doubts.rows.length)} in doubt`] : []),
  ]
  const figure = say`${count(waiting.length)}${more} ${waiting.length > 0 && <small>{units(sum)}</small>}`
  return [
    <a href={inboxPath}>To decide</a>,
    figure,
    parts.length > 0 ? joined(parts, ' · ') : 'nothing waits for a decision',
  ]
}
