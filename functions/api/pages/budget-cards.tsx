import type { Child } from 'hono/jsx'
import { count, units } from '../../../shared/guard/sentences.ts'
import type { BudgetRow, Counted } from './budget-rows.ts'
import { Bar, BurnDown, Swatch } from './charts.tsx'
import { budgetAddress, Fact, Facts, Time, Units } from './parts.tsx'

/** Budgets with their counters: the root with its burn-down, all others as rows of a tree. */

export const Account = ({ row, zone }: { row: BudgetRow; zone: string }) => (
  <section class="account" aria-labelledby="account">
    <div class="title">
      <h2 id="account">
        <a href={budgetAddress(row.name)}>{row.name}</a>
      </h2>
      <Left of={row.month} />
    </div>
    <Frozen of={row} zone={zone} />
    <p class="note">
      The month from <Time at={row.month.start} zone={zone} /> to <Time at={row.month.end} zone={zone} />, of which{' '}
      {Math.floor(row.month.elapsed * 100)} % is over. <Limit of={row.month} />.
    </p>
    {row.month.total === null ? null : (
      <figure>
        <div class="plot">
          <span class="scale">{count(row.month.total)}</span>
          <BurnDown row={row} />
          <span class="from">
            <Time at={row.month.start} zone={zone} />
          </span>
          <span class="to">
            <Time at={row.month.end} zone={zone} />
          </span>
        </div>
        <figcaption>
          Units left.{' '}
          <span class="key">
            <Line of="so-far" /> so far{row.past.length === 0 ? ', as a straight line until a day has ended' : null}
          </span>{' '}
          <span class="key">
            <Line of="foreseen" /> to the reset, with what plans will take
          </span>{' '}
          <span class="key">
            <Line of="even" /> an even pace
          </span>
        </figcaption>
      </figure>
    )}
    <DayByDay row={row} zone={zone} />
    <Counter name={row.name} of={row.month} zone={zone} />
    {row.day ? <Day name={row.name} of={row.day} zone={zone} /> : null}
  </section>
)

/** The drawing in figures. */
const DayByDay = ({ row: { past, month }, zone }: { row: BudgetRow; zone: string }) =>
  past.length === 0 || month.total === null ? null : (
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
                <td class="number">{count((month.total ?? 0) - used)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )

const Line = ({ of }: { of: string }) => (
  <svg class="stroke" aria-hidden="true" focusable="false">
    <line class={of} x1="0" y1="50%" x2="100%" y2="50%" />
  </svg>
)

export const Budget = ({ row, zone }: { row: BudgetRow; zone: string }) => (
  <li class={`budget depth-${row.depth}`}>
    <div class="title">
      <h3>
        <a href={budgetAddress(row.name)}>{row.name}</a>
      </h3>
      <Left of={row.month} />
    </div>
    <Frozen of={row} zone={zone} />
    <div class={row.month.total === null ? '' : 'beside'}>
      <BurnDown row={row} isSmall />
      <div>
        <Counter name={row.name} of={row.month} zone={zone} />
      </div>
    </div>
    <p class="note">
      <Terms of={row.month} zone={zone} /> · <a href={`/dashboard/updates?budget=${row.name}`}>Updates of {row.name}</a>
    </p>
    {row.day ? <Day name={row.name} of={row.day} zone={zone} /> : null}
  </li>
)

const Left = ({ of: { total, available, spent, window } }: { of: Counted }) => (
  <p class={total !== null && available <= 0 ? 'left none' : 'left'}>
    {total === null ? (
      <>no limit {window === 'day' ? 'today' : 'this month'}</>
    ) : (
      <>
        <strong>{count(available)}</strong> of {units(total)} left
      </>
    )}
    {total === null && spent === 0 ? ', nothing spent' : null}
  </p>
)

const Frozen = ({ of: { frozen, name }, zone }: { of: BudgetRow; zone: string }) =>
  frozen === null ? null : (
    <p class="frozen">
      <span aria-hidden="true">❄</span> <strong>Frozen</strong>
      {frozen.budget === name ? null : <> with {frozen.budget}</>} by {frozen.stop.by} on{' '}
      <Time at={frozen.stop.at} zone={zone} />: {frozen.stop.reason}
    </p>
  )

function Counter({ name, of, zone }: { name: string; of: Counted; zone: string }) {
  const { spent, held, inDoubt, committed, projected, evenPace, exhaustedAt, unpriced } = of
  return (
    <>
      <Bar name={name} of={of} />
      <Facts>
        <Fact name={<Key of="spent">Spent</Key>}>
          <Units of={spent} />
        </Fact>
        <Fact name={<Key of="held">Held</Key>}>
          <Units of={held} />
        </Fact>
        <Fact name={<Key of="in-doubt">In doubt</Key>}>
          <Units of={inDoubt} />
        </Fact>
        <Fact name={<Key of="committed">Committed</Key>}>
          <Units of={committed} />
        </Fact>
        <Fact name="Projected">
          <Units of={projected} />
        </Fact>
        {evenPace === null ? null : (
          <Fact name={<Key of="pace">Even pace</Key>}>
            <Units of={evenPace} />
          </Fact>
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

const Limit = ({ of: { limit, granted } }: { of: Counted }) => (
  <>
    {limit === 'unlimited' ? 'No limit' : `Limit ${count(limit)}`}
    {granted === 0 ? null : `, ${count(granted)} granted`}
  </>
)

/** Where the total comes from, and when all of it is there again. */
const Terms = ({ of, zone }: { of: Counted; zone: string }) => (
  <>
    <Limit of={of} />; resets <Time at={of.end} zone={zone} />
  </>
)

const Day = ({ name, of, zone }: { name: string; of: Counted; zone: string }) => (
  <div class="day">
    <div class="title">
      <p class="name">Today</p>
      <Left of={of} />
    </div>
    <Bar name={name} of={of} />
    <p class="note">
      {count(of.spent)} spent, {count(of.held)} held, {count(of.inDoubt)} in doubt. <Terms of={of} zone={zone} />
    </p>
  </div>
)
