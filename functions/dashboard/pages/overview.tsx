import type { Course } from '../../../shared/guard/reports/summary.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { type BudgetRow, budgetRows, type CounterRow } from '../components/budget-rows.ts'
import { Bar, BurnDown, FillPatterns } from '../components/charts.tsx'
import { BurnDownFigure, CounterFigures, Limit, LimitAndReset } from '../components/counter.tsx'
import { budgetAddress, Fact, Facts, Section, Time, UnitsFact, ZoneNote } from '../components/parts.tsx'
import type { PageRoutes } from '../session.tsx'

/** The page shows a higher count as "20 or more". */
const maxWaiting = 20

/** The units of every budget. To stay fast, the page reads the book and the inbox, never all updates. */
export function addOverview({ page }: PageRoutes, { guard }: Services): void {
  page('/', {
    GET: async ({ mustHave, show }) => {
      mustHave('read')
      const { forecast, course } = await guard.background()
      const viewRead = guard.ledger.view()
      const [view, forecasts, { nights, saved }, approvals, doubts] = await Promise.all([
        viewRead,
        forecast(viewRead),
        course(viewRead),
        guard.ledger.open('awaiting-approval', maxWaiting),
        guard.ledger.open('in-doubt', maxWaiting),
      ])
      const rows = budgetRows(view, forecasts, nights)
      const zone = zoneOf(view)
      const [root, ...others] = rows
      const isUnused = rows.length === 1 && root?.month.used === 0
      return show(
        'Overview',
        <>
          <FillPatterns />
          <InboxNote approvals={approvals.rows.length} doubts={doubts.rows.length} />
          {isUnused ? <FirstSteps /> : null}
          {root ? <AccountSection row={root} zone={zone} /> : null}
          {isUnused ? null : <SavedUnits saved={saved} />}
          {others.length > 0 ? (
            <Section id="budgets" title="Budgets">
              <p class="note">An update counts in its own budget and in all above it, up to account.</p>
              <ul class="budgets">
                {others.map((row) => (
                  <BudgetItem row={row} zone={zone} />
                ))}
              </ul>
            </Section>
          ) : null}
          <Glossary />
          <ZoneNote zone={zone} />
        </>,
      )
    },
  })
}

function InboxNote({ approvals, doubts }: { approvals: number; doubts: number }) {
  if (approvals + doubts === 0) return null
  const number = (value: number) => (value === maxWaiting ? `${maxWaiting} or more` : count(value))
  const parts = [
    ...(approvals > 0 ? [`${number(approvals)} awaiting approval`] : []),
    ...(doubts > 0 ? [`${number(doubts)} in doubt`] : []),
  ]
  return (
    <p class="waiting">
      <span aria-hidden="true">!</span> Updates that need somebody: {parts.join(', ')}.{' '}
      <a href="/dashboard/inbox">See what to do</a>
    </p>
  )
}

const SavedUnits = ({ saved }: { saved: Course['saved'] }) => (
  <Section id="saved" title="What the guard saved this month">
    {saved === null ? (
      <p class="empty">The next sweep counts the duplicates that were refused.</p>
    ) : (
      <>
        <Facts>
          <UnitsFact name="Refused duplicates" units={saved.updates} />
          <UnitsFact name="Units not spent twice" units={saved.units} />
        </Facts>
        <p class="note">
          Refused because the same work was under way or just done; at what that had cost. The sweep counts them a few
          minutes after. A request repeated with its key is answered from its record, and not even counted.{' '}
          <a href="/dashboard/updates?state=refused">Everything that was refused</a>
        </p>
      </>
    )}
  </Section>
)

const Glossary = () => (
  <Section id="words" title="What the figures mean">
    <Facts isLong>
      <Fact name="Spent">charged by the service, or booked as spent elsewhere</Fact>
      <Fact name="Held">set aside for updates that are running</Fact>
      <Fact name="In doubt">sent, and nobody knows yet whether it ran; it stays counted</Fact>
      <Fact name="Committed">what plans will still take before the reset, at the prices last seen</Fact>
      <Fact name="Projected">all of these together, at the reset</Fact>
      <Fact name="Even pace">where it would be now, if every day took the same</Fact>
    </Facts>
  </Section>
)

const FirstSteps = () => (
  <Section id="first" title="What to do first" class="first">
    <p>
      Nothing has been spent yet, and there is no budget but the account’s own. In a terminal, after{' '}
      <code>source .local/env</code>, or with an address and a token of yours:
    </p>
    <ol>
      <li>
        <p>
          Make a budget, here of 2,000 units a month; or with the form under <a href="/dashboard/budgets">Budgets</a>:
        </p>
        <pre>
          <code>{budgetCommand}</code>
        </pre>
      </li>
      <li>
        <p>Ask for an update, which is charged to it:</p>
        <pre>
          <code>{updateCommand('"budget": "acme", ')}</code>
        </pre>
      </li>
    </ol>
    <p>What it cost, and what is left, is here then.</p>
  </Section>
)

const budgetCommand = `curl -X PUT "$UNIT_GUARD_URL/budgets/acme" \\
  -H "Authorization: Bearer $UNIT_GUARD_TOKEN" -H "Content-Type: application/json" \\
  -d '{"limits": [{"window": "month", "units": 2000}]}'`

/** @param more JSON members to insert before the reason. */
const updateCommand = (more = ''): string => `curl -X POST "$UNIT_GUARD_URL/updates" \\
  -H "Authorization: Bearer $UNIT_GUARD_TOKEN" -H "Content-Type: application/json" \\
  -d '{"kind": "ranking", "project": "acme.example", ${more}"reason": "monthly report"}'`

const AccountSection = ({ row, zone }: { row: BudgetRow; zone: string }) => (
  <section class="account" aria-labelledby="account">
    <div class="title">
      <h2 id="account">
        <a href={budgetAddress(row.name)}>{row.name}</a>
      </h2>
      <UnitsLeft counter={row.month} />
    </div>
    <FreezeNote row={row} zone={zone} />
    <p class="note">
      The month from <Time at={row.month.start} zone={zone} /> to <Time at={row.month.end} zone={zone} />, of which{' '}
      {Math.floor(row.month.elapsed * 100)} % is over. <Limit counter={row.month} />.
    </p>
    <BurnDownFigure row={row} zone={zone} />
    <CounterFigures name={row.name} counter={row.month} zone={zone} />
    {row.day ? <DayCounter name={row.name} counter={row.day} zone={zone} /> : null}
  </section>
)

const BudgetItem = ({ row, zone }: { row: BudgetRow; zone: string }) => (
  <li class={`budget depth-${row.depth}`}>
    <div class="title">
      <h3>
        <a href={budgetAddress(row.name)}>{row.name}</a>
      </h3>
      <UnitsLeft counter={row.month} />
    </div>
    <FreezeNote row={row} zone={zone} />
    <div class={(row.month.total ?? 0) > 0 ? 'beside' : ''}>
      <BurnDown row={row} isSmall />
      <div>
        <CounterFigures name={row.name} counter={row.month} zone={zone} />
      </div>
    </div>
    <p class="note">
      <LimitAndReset counter={row.month} zone={zone} /> ·{' '}
      <a href={`/dashboard/updates?budget=${row.name}`}>Updates of {row.name}</a>
    </p>
    {row.day ? <DayCounter name={row.name} counter={row.day} zone={zone} /> : null}
  </li>
)

const UnitsLeft = ({ counter: { total, available, spent, window } }: { counter: CounterRow }) => (
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

const FreezeNote = ({ row: { frozen, name }, zone }: { row: BudgetRow; zone: string }) =>
  frozen === null ? null : (
    <p class="frozen">
      <span aria-hidden="true">❄</span> <strong>Frozen</strong>
      {frozen.budget === name ? null : <> with {frozen.budget}</>} by {frozen.stop.by} on{' '}
      <Time at={frozen.stop.at} zone={zone} />: {frozen.stop.reason}
    </p>
  )

const DayCounter = ({ name, counter, zone }: { name: string; counter: CounterRow; zone: string }) => (
  <div class="day">
    <div class="title">
      <p class="name">Today</p>
      <UnitsLeft counter={counter} />
    </div>
    <Bar name={name} counter={counter} />
    <p class="note">
      {count(counter.spent)} spent, {count(counter.held)} held, {count(counter.inDoubt)} in doubt.{' '}
      <LimitAndReset counter={counter} zone={zone} />
    </p>
  </div>
)
