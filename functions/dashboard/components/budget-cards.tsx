import { count, units } from '../../../shared/guard/sentences.ts'
import type { BudgetRow, CounterRow } from './budget-rows.ts'
import { Bar, BurnDown } from './charts.tsx'
import { Counter, Limit, Terms } from './counter.tsx'
import { Course } from './course.tsx'
import { budgetAddress, Time } from './parts.tsx'

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
    <Course row={row} zone={zone} />
    <Counter name={row.name} of={row.month} zone={zone} />
    {row.day ? <Day name={row.name} of={row.day} zone={zone} /> : null}
  </section>
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
    <div class={(row.month.total ?? 0) > 0 ? 'beside' : ''}>
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

const Left = ({ of: { total, available, spent, window } }: { of: CounterRow }) => (
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

const Day = ({ name, of, zone }: { name: string; of: CounterRow; zone: string }) => (
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
