import type { Child } from 'hono/jsx'
import { count } from '../../../shared/guard/sentences.ts'
import type { BudgetRow, CounterRow } from './budget-rows.ts'
import { Bar, BurnDown, Swatch } from './charts.tsx'
import { Facts, numberColumns, TableHead, Time, UnitsFact } from './parts.tsx'

export function CounterFigures({ name, counter, zone }: { name: string; counter: CounterRow; zone: string }) {
  const { total, spent, held, inDoubt, committed, projected, evenPace, exhaustedAt, unpriced } = counter
  return (
    <>
      <Bar name={name} counter={counter} />
      <Facts>
        <UnitsFact name={<KeyName mark="spent">Spent</KeyName>} units={spent} />
        <UnitsFact name={<KeyName mark="held">Held</KeyName>} units={held} />
        <UnitsFact name={<KeyName mark="in-doubt">In doubt</KeyName>} units={inDoubt} />
        <UnitsFact name={<KeyName mark="committed">Committed</KeyName>} units={committed} />
        <UnitsFact name="Projected" units={projected} />
        {evenPace === null ? null : <UnitsFact name={<KeyName mark="pace">Even pace</KeyName>} units={evenPace} />}
        {total === null || projected <= total ? null : (
          <UnitsFact name={<KeyName mark="limit">All there is</KeyName>} units={total} />
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

const KeyName = ({ mark, children }: { mark: Parameters<typeof Swatch>[0]['mark']; children: Child }) => (
  <>
    <Swatch mark={mark} /> {children}
  </>
)

export const Limit = ({ counter: { limit, granted } }: { counter: CounterRow }) => (
  <>
    {limit === 'unlimited' ? 'No limit' : `Limit ${count(limit)}`}
    {granted === 0 ? null : `, ${count(granted)} granted`}
  </>
)

export const LimitAndReset = ({ counter, zone }: { counter: CounterRow; zone: string }) => (
  <>
    <Limit counter={counter} />; resets <Time at={counter.end} zone={zone} />
  </>
)

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
            <LineSample line="so-far" /> so far{past.length === 0 ? ', as a straight line until a day has ended' : null}
          </span>{' '}
          <span class="key">
            <LineSample line="foreseen" /> to the reset, with what plans will take
          </span>{' '}
          <span class="key">
            <LineSample line="even" /> an even pace
          </span>
        </figcaption>
      </figure>
      <DailyFigures past={past} total={month.total} zone={zone} />
    </>
  )
}

const LineSample = ({ line }: { line: string }) => (
  <svg class="stroke" aria-hidden="true" focusable="false">
    <line class={line} x1="0" y1="50%" x2="100%" y2="50%" />
  </svg>
)

const DailyFigures = ({ past, total, zone }: { past: BudgetRow['past']; total: number; zone: string }) =>
  past.length === 0 ? null : (
    <details>
      <summary>Day by day</summary>
      <div class="scroll">
        <table>
          <TableHead columns={['Until', ...numberColumns('Used', 'Left')]} />
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
