import { count } from '../../../shared/guard/sentences.ts'
import type { BudgetRow } from './budget-rows.ts'
import { BurnDown } from './charts.tsx'
import { Time } from './parts.tsx'

/** How a month goes: drawn with its scale and its key, and day by day in figures. Nothing where there is nothing to use up. */
export function Course({ row, zone }: { row: BudgetRow; zone: string }) {
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
          <thead>
            <tr>
              <th scope="col">Until</th>
              <th scope="col" class="number">
                Used
              </th>
              <th scope="col" class="number">
                Left
              </th>
            </tr>
          </thead>
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
