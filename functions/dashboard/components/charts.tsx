import type { Child } from 'hono/jsx'
import { count, type Figures, percent, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { usedOf } from '../../../shared/ledger/definitions/counters.ts'
import type { Window } from '../../../shared/ledger/definitions/windows.ts'
import { toInstant, toLocal } from '../../../shared/platform/clock.ts'
import { dayUses, type History } from '../../../shared/reports/history.ts'
import type { Forecast } from '../../../shared/reports/plans/forecast.ts'
import type { Spender } from '../../../shared/reports/spenders.ts'
import { addressWith, List } from '../kit/list.tsx'
import { BudgetLink, personAddress, projectAddress, Section, say, shortDay, Time } from '../kit/parts.tsx'
import { totalOf } from './outlook.tsx'
import { PlanName } from './people.tsx'

// The parts of a bar differ by pattern, too, not only by colour. Numbers are beside the drawing, where no line crosses them.

export const FillPatterns = () => (
  <svg class="patterns" aria-hidden="true" focusable="false">
    <pattern id="committed" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
      <rect class="committed-ground" width="6" height="6" />
      <rect class="committed-mark" width="2" height="6" />
    </pattern>
  </svg>
)

export function Bar({ figures, committed = 0 }: { figures: Figures; committed?: number }) {
  const total = totalOf(figures)
  if (total === null) return null
  const used = Math.max(0, usedOf(figures))
  return <ShareBar of={Math.max(total, used + committed)} used={used} committed={committed} limit={total} />
}

/** @param props.limit is marked if more units are used or committed. */
function ShareBar(props: { of: number; used: number; committed?: number; limit?: number }) {
  const { of, used, committed = 0, limit = of } = props
  const share = (number: number) => shareOf(of === 0 ? 0 : number / of)
  return (
    <svg class="bar" aria-hidden="true" focusable="false">
      <rect class="room" width="100%" height="100%" />
      <rect class="fill" width={share(used)} height="100%" />
      {committed > 0 ? <rect x={share(used)} width={share(committed)} height="100%" fill="url(#committed)" /> : null}
      {limit < of ? <line class="limit" x1={share(limit)} x2={share(limit)} y2="100%" /> : null}
    </svg>
  )
}

interface ChartProps {
  readonly name: string
  /** The bars link to the updates of this budget. Without a budget, they link to all updates. */
  readonly budget?: string | undefined
  readonly view: View
  readonly history: History
  /** `null`: the month is over. */
  readonly forecast: Forecast | null
}

export function ChartFigure({ name, budget, view, history, forecast }: ChartProps) {
  const { nights } = history
  const { start, end } = view.month
  const xOf = (at: number) => Math.min(1, Math.max(0, (at - start) / (end - start)))
  const points = pointsOf(history)
  const now = points.at(-1)
  const ends = now && forecast ? endsOf(now, forecast) : []
  const foreseen = ends.map(({ left, words, most }) => `${most}${count(left)} ${words}`).join(', ')
  return (
    <>
      <figure>
        <div class="chart">
          {now ? <Plot name={name} points={points} now={now} ends={ends} xOf={xOf} view={view} /> : null}
          <DayBars view={view} history={history} xOf={xOf} budget={budget} />
        </div>
        <figcaption>
          {now &&
            lineKey('so-far', say`left: ${<strong>{count(now.left)}</strong>} ${forecast ? 'now' : 'at the end'}`)}{' '}
          {now && lineKey('limit', 'limit and grants')} {foreseen && lineKey('foreseen', `at the reset: ${foreseen}`)}{' '}
          Bars show the units of each day and link to its updates.
          {nights.length === 0 ? ' No day has ended yet, so the line is straight.' : null}
        </figcaption>
      </figure>
      {nights.length === 0 ? null : (
        <details>
          <summary>Day by day</summary>
          <List
            isInset
            class="dense"
            rows={nights}
            columns={[
              { name: 'Until', isHead: true, cell: ({ at }) => <Time at={at} zone={zoneOf(view)} /> },
              { name: 'Used', units: ({ used }) => used },
              { name: 'Limit and grants', units: ({ limit }) => limit },
              { name: 'Left', units: ({ limit, used }) => (limit === null ? null : limit - used) },
            ]}
          />
        </details>
      )}
    </>
  )
}

interface PlotProps extends Pick<ChartProps, 'name' | 'view'> {
  readonly points: ReturnType<typeof pointsOf>
  readonly now: PlotProps['points'][number]
  readonly ends: ReturnType<typeof endsOf>
  readonly xOf: (at: number) => number
}

function Plot({ name, points, now, ends, xOf, view }: PlotProps) {
  const zone = zoneOf(view)
  const highest = Math.max(1, ...points.flatMap(({ limit, left }) => [limit, left]))
  const lowest = Math.min(0, ...points.map(({ left }) => left), ...ends.map(({ left }) => left))
  const yOf = (number: number) => (highest - number) / (highest - lowest)
  const ticks = ticksTo(highest)
  const at = ({ at, left }: { at: number; left: number }) => `${per1000(xOf(at))} ${per1000(yOf(left))}`
  const foreseen = ends.map(({ left, words, most }) => ` ${most}${count(left)} at the reset ${words}.`).join('')
  return (
    <svg class="plot" role="img" aria-label={`${name}: ${count(now.left)} of ${units(now.limit)} left.${foreseen}`}>
      <svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true">
        <path class="grid" d={ticks.map((tick) => `M0 ${per1000(yOf(tick))}H1000`).join('')} />
        <path class="zero" d={`M0 ${per1000(yOf(0))}H1000`} />
        <path class="limit" d={stepsOf(points.map(({ at, limit }) => [xOf(at), yOf(limit)]))} />
        {ends.map(({ left }) => (
          <path class="foreseen" d={`M${at(now)}L${at({ at: view.month.end, left })}`} />
        ))}
        <path class="so-far" d={`M${points.map(at).join('L')}`} />
      </svg>
      {ticks.map((tick) => (
        <text class="tick" x="-8" y={shareOf(yOf(tick))} dy="4" text-anchor="end">
          {count(tick)}
        </text>
      ))}
      {weeksIn(view.month, zone).map((week) => (
        <text class="tick" x={shareOf(xOf(week))} y="100%" dy="21" text-anchor="middle">
          {shortDay(week, zone)}
        </text>
      ))}
      <circle class="point" cx={shareOf(xOf(now.at))} cy={shareOf(yOf(now.left))} r="5" />
    </svg>
  )
}

type BarsProps = Pick<ChartProps, 'budget' | 'view' | 'history'> & Pick<PlotProps, 'xOf'>

function DayBars({ view, history, xOf, budget }: BarsProps) {
  const days = dayUses(view, history)
  const most = Math.max(1, ...days.map((day) => day.units))
  return (
    <svg class="days" viewBox="0 0 1000 100" preserveAspectRatio="none">
      <title>Units used each day</title>
      {days.map(({ date, start, end, units: used }) => {
        const [x, width] = [per1000(xOf(start)), per1000(xOf(end)) - per1000(xOf(start))]
        const height = Math.max(used > 0 ? 2 : 0, Math.round((Math.max(0, used) / most) * 100))
        return (
          <a href={addressWith('/dashboard/updates', { since: date, until: date, budget })}>
            <title>{`${shortDay(start, zoneOf(view))}: ${units(used)}`}</title>
            <rect class="hit" x={x} width={width} height="100" />
            <rect class="day" x={x + 3} width={Math.max(1, width - 6)} y={100 - height} height={height} />
          </a>
        )
      })}
    </svg>
  )
}

const lineKey = (line: string, text: Child) => (
  <span class="key">
    <svg class="stroke" aria-hidden="true" focusable="false">
      <line class={line} x2="100%" y1="50%" y2="50%" />
    </svg>{' '}
    {text}
  </span>
)

/** Leaves out times without a limit. Returns no points if there was never a limit above 0. */
function pointsOf({ start, nights, now }: History) {
  const points = [{ ...start, limit: nights[0]?.limit ?? now.limit }, ...nights, now].flatMap(({ at, used, limit }) =>
    limit === null ? [] : [{ at, limit, left: limit - used }],
  )
  return points.some(({ limit }) => limit > 0) ? points : []
}

/** The units left when the month ends: with plans only, and at the recent pace. */
function endsOf(now: { limit: number }, { projected, projectedAtPace, unpriced }: Forecast) {
  const most = unpriced > 0 ? 'at most ' : ''
  const withPlans = { left: now.limit - projected, words: 'with plans only', most }
  return projectedAtPace === null || projectedAtPace === projected
    ? [withPlans]
    : [withPlans, { left: now.limit - projectedAtPace, words: 'at this pace', most }]
}

/** Returns up to five round numbers from 0 on. */
function ticksTo(highest: number): readonly number[] {
  const magnitude = 10 ** Math.floor(Math.log10(highest / 3))
  const step = [1, 2, 5, 10].map((each) => each * magnitude).find((each) => each >= highest / 4) ?? highest
  return Array.from({ length: Math.floor(highest / step) + 1 }, (_, index) => index * step).filter(Number.isInteger)
}

/** Counts calendar days of the zone, because a week with a clock change is an hour longer or shorter. */
function weeksIn({ start, end }: Window, zone: string): readonly number[] {
  const first = toLocal(start, zone)
  const weeks = Array.from({ length: 5 }, (_, week) => toInstant({ ...first, day: first.day + week * 7 }, zone))
  return weeks.filter((at) => at < end)
}

/** Draws each limit for the day that ends at its point, and the last limit on to the reset. */
const stepsOf = ([first, ...points]: readonly (readonly [x: number, y: number])[]): string =>
  `M${per1000(first?.[0] ?? 0)} ${per1000((points[0] ?? first)?.[1] ?? 0)}${points.map(([x, y]) => `V${per1000(y)}H${per1000(x)}`).join('')}H1000`

const per1000 = (share: number): number => Math.round(share * 1000)

const shareOf = (share: number): string => `${Math.round(share * 10_000) / 100}%`

const maxShown = 5

export const SpentSection = ({ id, title, spenders }: { id: string; title: string; spenders: readonly Spender[] }) => (
  <Section id={id} title={title}>
    {spenders.length === 0 ? <p class="empty">Nothing was spent.</p> : null}
    <Shares
      of={Math.max(1, ...spenders.map((each) => each.units))}
      rows={spenders.slice(0, maxShown).map((each) => [spenderName(each), each.units, percent(each.units, each.of)])}
    />
  </Section>
)

function spenderName({ kind, name }: Spender): Child {
  if (kind === 'outside') return 'outside the guard'
  if (kind === 'others' || name === null) return 'others'
  if (kind === 'plan') return <PlanName name={name} />
  if (kind === 'budget') return <BudgetLink name={name} />
  return kind === 'project' ? <a href={projectAddress(name)}>{name}</a> : <a href={personAddress(name)}>{name}</a>
}

type Row = readonly [name: Child, units: number, note: string]

export const Shares = ({ of, rows }: { of: number; rows: readonly Row[] }) => (
  <ul class="shares">
    {rows.map(([name, used, note]) => (
      <li>
        <span>{name}</span>
        <ShareBar of={of} used={Math.max(0, used)} />
        <span class="number">{count(used)}</span>
        <span class="number note">{note}</span>
      </li>
    ))}
  </ul>
)
