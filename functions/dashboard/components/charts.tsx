import { count, units } from '../../../shared/guard/sentences.ts'
import type { BudgetRow, CounterRow } from './budget-rows.ts'

// Lengths are shares of the width. Parts differ by pattern as well as by colour, and each drawing has a sentence.

type Part = 'spent' | 'held' | 'in-doubt' | 'committed'

/** The fills of the parts, once on each page with a drawing. */
export const Patterns = () => (
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

export const Swatch = ({ of }: { of: Part | 'pace' | 'limit' }) => (
  <svg class="swatch" aria-hidden="true" focusable="false">
    {of === 'pace' || of === 'limit' ? (
      <line class={of} x1="50%" y1="0" x2="50%" y2="100%" />
    ) : (
      <rect class={of} width="100%" height="100%" {...fillOf(of)} />
    )}
  </svg>
)

/** Used and committed units against the limit and an even pace. */
export function Bar({ name, of }: { name: string; of: CounterRow }) {
  const { total, evenPace, committed } = of
  if (total === null || evenPace === null) return null
  const widest = Math.max(total, of.projected, 1)
  const share = (number: number) => percent(Math.max(0, number) / widest)
  const parts: [Part, number][] = [
    ['spent', of.spent],
    ['held', of.held],
    ['in-doubt', of.inDoubt],
    ['committed', committed],
  ]
  let before = 0
  const placed = parts.map(([part, number]) => {
    const from = before
    before += Math.max(0, number)
    return { part, from, number }
  })
  return (
    <svg class="bar" role="img" aria-label={sentenceOf(name, of)}>
      <rect class="room" x="0" y="6" width={share(total)} height="20" />
      {placed.map(({ part, from, number }) =>
        number > 0 ? (
          <rect class={part} x={share(from)} y="6" width={share(number)} height="20" {...fillOf(part)} />
        ) : null,
      )}
      {widest > total ? <line class="limit" x1={share(total)} y1="2" x2={share(total)} y2="30" /> : null}
      <line class="pace" x1={share(evenPace)} y1="0" x2={share(evenPace)} y2="32" />
    </svg>
  )
}

function sentenceOf(name: string, { window, total, spent, held, inDoubt, committed, evenPace, projected }: CounterRow) {
  const span = window === 'day' ? 'today' : 'this month'
  const plans = committed > 0 ? ` Plans will still take ${count(committed)}, which makes ${count(projected)}.` : ''
  return `${name}, ${span}: of ${units(total ?? 0)}, ${count(spent)} spent, ${count(held)} held and ${count(inDoubt)} in doubt; an even pace would be at ${count(evenPace ?? 0)} by now.${plans}`
}

/** The units left over the month: so far, as foreseen, and at an even pace. */
export function BurnDown({ row: { name, month, past }, isSmall }: { row: BudgetRow; isSmall?: true }) {
  const { total, elapsed, used, projected } = month
  if (total === null || total <= 0) return null
  const left = total - used
  const leftAtEnd = total - projected
  const [top, bottom] = [Math.max(total, left), Math.min(0, left, leftAtEnd, ...past.map((day) => total - day.used))]
  const down = (units: number) => (top - units) / (top - bottom)
  // Against today's total, as if later grants had been there from the start.
  const points = [
    [0, down(total)],
    ...past.map((day) => [day.elapsed, down(total - day.used)] as const),
    [elapsed, down(left)],
  ] as const
  const [now, height] = [percent(elapsed), percent(down(left))]
  const isLate = elapsed > 0.6
  const isLow = down(left) > 0.8
  const says = `Units of ${name} left this month: ${count(total)} at its beginning and ${count(left)} now, where an even pace would have left ${count(total - (month.evenPace ?? 0))}; ${count(leftAtEnd)} at its end, if plans cost what they cost now and nobody else asks.`
  return (
    <svg class={isSmall ? 'burn-down small' : 'burn-down'} role="img" aria-label={says}>
      <svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true">
        <path
          class="grid"
          d={[0.25, 0.5, 0.75, 1].map((share) => `M0 ${per1000(down(total * share))}H1000`).join('')}
        />
        <path class="used-up" d={`${lineOf(points)}V${per1000(down(0))}H0Z`} />
        <path class="zero" d={`M0 ${per1000(down(0))}H1000`} />
        <path
          class="even"
          d={lineOf([
            [0, down(total)],
            [1, down(0)],
          ])}
        />
        <path class="now" d={`M${per1000(elapsed)} 0V1000`} />
        <path
          class="foreseen"
          d={lineOf([
            [elapsed, down(left)],
            [1, down(leftAtEnd)],
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

/** Finer than any screen, but short: many budgets have a month of points. */
const per1000 = (share: number): number => Math.round(share * 1000)

const percent = (share: number): string => `${Math.round(share * 10_000) / 100}%`
