import { count, units } from '../../../shared/guard/sentences.ts'
import type { BudgetRow, CounterRow } from './budget-rows.ts'

// Parts differ by pattern, not by colour alone, and each drawing has a sentence for screen readers.

type Part = 'spent' | 'held' | 'in-doubt' | 'committed'

/** Each page with a drawing needs these fills once. */
export const FillPatterns = () => (
  <svg class="patterns" aria-hidden="true" focusable="false">
    <defs>
      <pattern id="held" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="held-ground" width="8" height="8" />
        <rect class="held-mark" width="3" height="8" />
      </pattern>
      <pattern id="in-doubt" width="7" height="7" patternUnits="userSpaceOnUse">
        <rect class="in-doubt-ground" width="7" height="7" />
        <circle class="in-doubt-mark" cx="3.5" cy="3.5" r="2" />
      </pattern>
      <pattern id="committed" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
        <rect class="committed-ground" width="6" height="6" />
        <rect class="committed-mark" width="1.5" height="6" />
      </pattern>
    </defs>
  </svg>
)

const fillOf = (part: Part) => (part === 'spent' ? {} : { fill: `url(#${part})` })

export const Swatch = ({ mark }: { mark: Part | 'pace' | 'limit' }) => (
  <svg class="swatch" aria-hidden="true" focusable="false">
    {mark === 'pace' || mark === 'limit' ? (
      <line class={mark} x1="50%" y1="0" x2="50%" y2="100%" />
    ) : (
      <rect class={mark} width="100%" height="100%" {...fillOf(mark)} />
    )}
  </svg>
)

export function Bar({ name, counter }: { name: string; counter: CounterRow }) {
  const { total, evenPace, committed } = counter
  if (total === null || evenPace === null) return null
  const widest = Math.max(total, counter.projected, 1)
  const share = (number: number) => percent(Math.max(0, number) / widest)
  const parts: [Part, number][] = [
    ['spent', counter.spent],
    ['held', counter.held],
    ['in-doubt', counter.inDoubt],
    ['committed', committed],
  ]
  let start = 0
  const segments = parts.map(([part, number]) => {
    const from = start
    start += Math.max(0, number)
    return { part, from, number }
  })
  return (
    <svg class="bar" role="img" aria-label={barDescription(name, counter)}>
      <rect class="room" x="0" y="6" width={share(total)} height="20" />
      {segments.map(({ part, from, number }) =>
        number > 0 ? (
          <rect class={part} x={share(from)} y="6" width={share(number)} height="20" {...fillOf(part)} />
        ) : null,
      )}
      {widest > total ? <line class="limit" x1={share(total)} y1="2" x2={share(total)} y2="30" /> : null}
      <line class="pace" x1={share(evenPace)} y1="0" x2={share(evenPace)} y2="32" />
    </svg>
  )
}

function barDescription(
  name: string,
  { window, total, spent, held, inDoubt, committed, evenPace, projected }: CounterRow,
) {
  const span = window === 'day' ? 'today' : 'this month'
  const plans = committed > 0 ? ` Plans will still take ${count(committed)}, which makes ${count(projected)}.` : ''
  return `${name}, ${span}: of ${units(total ?? 0)}, ${count(spent)} spent, ${count(held)} held and ${count(inDoubt)} in doubt; an even pace would be at ${count(evenPace ?? 0)} by now.${plans}`
}

export function BurnDown({ row: { name, month, past }, isSmall }: { row: BudgetRow; isSmall?: true }) {
  const { total, elapsed, used, projected } = month
  if (total === null || total <= 0) return null
  const left = total - used
  const leftAtEnd = total - projected
  const [top, bottom] = [Math.max(total, left), Math.min(0, left, leftAtEnd, ...past.map((day) => total - day.used))]
  const yOf = (units: number) => (top - units) / (top - bottom)
  // All points use today's total, as if every grant had existed from the start.
  const points = [
    [0, yOf(total)],
    ...past.map((day) => [day.elapsed, yOf(total - day.used)] as const),
    [elapsed, yOf(left)],
  ] as const
  const [now, height] = [percent(elapsed), percent(yOf(left))]
  const isLate = elapsed > 0.6
  const isLow = yOf(left) > 0.8
  const description = `Units of ${name} left this month: ${count(total)} at its beginning and ${count(left)} now, where an even pace would have left ${count(total - (month.evenPace ?? 0))}; ${count(leftAtEnd)} at its end, if plans cost what they cost now and nobody else asks.`
  return (
    <svg class={isSmall ? 'burn-down small' : 'burn-down'} role="img" aria-label={description}>
      <svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true">
        <path class="grid" d={[0.25, 0.5, 0.75, 1].map((share) => `M0 ${per1000(yOf(total * share))}H1000`).join('')} />
        <path class="used-up" d={`${lineOf(points)}V${per1000(yOf(0))}H0Z`} />
        <path class="zero" d={`M0 ${per1000(yOf(0))}H1000`} />
        <path
          class="even"
          d={lineOf([
            [0, yOf(total)],
            [1, yOf(0)],
          ])}
        />
        <path class="now" d={`M${per1000(elapsed)} 0V1000`} />
        <path
          class="foreseen"
          d={lineOf([
            [elapsed, yOf(left)],
            [1, yOf(leftAtEnd)],
          ])}
        />
        <path class="so-far" d={lineOf(points)} />
      </svg>
      <circle class="point" cx={now} cy={height} r={isSmall ? 4 : 6} />
      {isSmall ? null : (
        <text x={now} y={height} dx={isLate ? -12 : 12} dy={isLow ? -14 : 22} text-anchor={isLate ? 'end' : 'start'}>
          {count(left)} left now
        </text>
      )}
    </svg>
  )
}

const lineOf = (points: readonly (readonly [number, number])[]): string =>
  `M${points.map(([x, y]) => `${per1000(x)} ${per1000(y)}`).join('L')}`

/** Rounded, because a page may hold a month of points for each of many budgets. */
const per1000 = (share: number): number => Math.round(share * 1000)

const percent = (share: number): string => `${Math.round(share * 10_000) / 100}%`
