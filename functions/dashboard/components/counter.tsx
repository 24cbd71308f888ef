import type { Child } from 'hono/jsx'
import { count } from '../../../shared/guard/sentences.ts'
import type { BudgetRow, CounterRow } from './budget-rows.ts'
import { Bar, BurnDown, Swatch } from './charts.tsx'
import { Facts, Heads, numbers, Time, UnitsFact } from './parts.tsx'

/** A counter of a budget: its bar and its figures. */
export function Counter({ name, of, zone }: { name: string; of: CounterRow; zone: string }) {
  const { total, spent, held, inDoubt, committed, projected, evenPace, exhaustedAt, unpriced } = of
  return (
    <>
      <Bar name={name} of={of} />
      <Facts>
        <UnitsFact name={<Key of="spent">Spent</Key>} of={spent} />
        <UnitsFact name={<Key of="held">Held</Key>} of={held} />
        <UnitsFact name={<Key of="in-doubt">In doubt</Key>} of={inDoubt} />
        <UnitsFact name={<Key of="committed">Committed</Key>} of={committed} />
        <UnitsFact name="Projected" of={projected} />
        {evenPace === null ? null : <UnitsFact name={<Key of="pace">Even pace</Key>} of={evenPace} />}
        {total === null || projected <= total ? null : (
          <UnitsFact name={<Key of="limit">All there is</Key>} of={total} />
        )}
      </Facts>
      {exhaustedAt === null ? null : (
        <p class="warning">
          <span aria-hidden="true">⚠</span> Plans want more than is left from <Time at={exhaustedAt} zone={zone} /> on.
        </p>
      )}
      {unpriced === 0 ? null : (
        <p class="note">
          {unpriced === 1
            ? 'One project of a plan has no known price, and is not counted as committed.'
            : `${count(unpriced)} projects of plans have no known price, and are not counted as committed.`}
        </p>
      )}
    </>
  )
}

const Key = ({ of, children }: { of: Parameters<typeof Swatch>[0]['of']; children: Child }) => (
  <>
    <Swatch of={of} /> {children}
  </>
)

export const Limit = ({ of: { limit, granted } }: { of: CounterRow }) => (
  <>
    {limit === 'unlimited' ? 'No limit' : `Limit ${count(limit)}`}
    {granted === 0 ? null : `, ${count(granted)} granted`}
  </>
)

/** The limit, and the time of the reset. */
export const Terms = ({ of, zone }: { of: CounterRow; zone: string }) => (
  <>
    <Limit of={of} />; resets <Time at={of.end} zone={zone} />
  </>
)

/** The burn-down with its scale and key, and day by day in figures; nothing without units to use up. */
export function BurnDownFigure({ row, zone }: { row: BudgetRow; zone: string }) {
  const { month, past } = row
  if (month.total === null || month.total <= 0) return null
  return (
    <>
      <figure>
        <div class="plot">
          <span class="scale">{count(month.total)}</span>
          <BurnDown row={row} />
          <span class="from">
            <Time at={month.start} zone={zone} />
          </span>
          <span class="to">
            <Time at={month.end} zone={zone} />
          </span>
        </div>
        <figcaption>
          Units left.{' '}
          <span class="key">
            <Line of="so-far" /> so far{past.length === 0 ? ', as a straight line until a day has ended' : null}
          </span>{' '}
          <span class="key">
            <Line of="foreseen" /> to the reset, with what plans will take
          </span>{' '}
          <span class="key">
            <Line of="even" /> an even pace
          </span>
        </figcaption>
      </figure>
      <DayByDay past={past} total={month.total} zone={zone} />
    </>
  )
}

const Line = ({ of }: { of: string }) => (
  <svg class="stroke" aria-hidden="true" focusable="false">
    <line class={of} x1="0" y1="50%" x2="100%" y2="50%" />
  </svg>
)

const DayByDay = ({ past, total, zone }: { past: BudgetRow['past']; total: number; zone: string }) =>
  past.length === 0 ? null : (
    <details>
      <summary>Day by day</summary>
      <div class="scroll">
        <table>
          <Heads of={['Until', ...numbers('Used', 'Left')]} />
          <tbody>
            {past.map(({ at, used }) => (
              <tr>
                <th scope="row">
                  <Time at={at} zone={zone} />
                </th>
                <td class="number">{count(used)}</td>
                <td class="number">{count(total - used)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
