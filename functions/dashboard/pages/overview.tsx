import type { Course } from '../../../shared/guard/reports/summary.ts'
import { count, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { Account, Budget } from '../components/budget-cards.tsx'
import { budgetRows } from '../components/budget-rows.ts'
import { Patterns } from '../components/charts.tsx'
import { FirstSteps } from '../components/first-steps.tsx'
import { Fact, Facts, InZone, Units } from '../components/parts.tsx'
import type { PageRoutes } from '../session.tsx'

/** How many are counted; more than that is said to be more. */
const maxCounted = 20

/** The units of every budget. It reads the book and what waits for people, never the updates behind them. */
export function addOverview({ page }: PageRoutes, { guard }: Services): void {
  page('/', {
    GET: async ({ mustHave, show }) => {
      mustHave('read')
      const { forecast, course } = await guard.background()
      const looked = guard.ledger.view()
      const [view, forecasts, { nights, saved }, approvals, doubts] = await Promise.all([
        looked,
        forecast(looked),
        course(looked),
        guard.ledger.open('awaiting-approval', maxCounted),
        guard.ledger.open('in-doubt', maxCounted),
      ])
      const rows = budgetRows(view, forecasts, nights)
      const zone = zoneOf(view)
      const [root, ...others] = rows
      const isUnused = rows.length === 1 && root?.month.used === 0
      return show(
        'Overview',
        <>
          <Patterns />
          <Waiting approvals={approvals.rows.length} doubts={doubts.rows.length} />
          {isUnused ? <FirstSteps /> : null}
          {root ? <Account row={root} zone={zone} /> : null}
          {isUnused ? null : <Saved of={saved} />}
          {others.length > 0 ? (
            <section aria-labelledby="budgets">
              <h2 id="budgets">Budgets</h2>
              <p class="note">An update counts in its own budget and in all above it, up to account.</p>
              <ul class="budgets">
                {others.map((row) => (
                  <Budget row={row} zone={zone} />
                ))}
              </ul>
            </section>
          ) : null}
          <Words />
          <InZone zone={zone} />
        </>,
      )
    },
  })
}

function Waiting({ approvals, doubts }: { approvals: number; doubts: number }) {
  if (approvals + doubts === 0) return null
  const number = (of: number) => (of === maxCounted ? `${maxCounted} or more` : count(of))
  const parts = [
    ...(approvals > 0 ? [`${number(approvals)} awaiting approval`] : []),
    ...(doubts > 0 ? [`${number(doubts)} in doubt`] : []),
  ]
  return (
    <p class="waiting">
      <span aria-hidden="true">!</span> Updates that need somebody: {parts.join(', ')}.{' '}
      <a href="/dashboard/needs-you">See what to do</a>
    </p>
  )
}

/** What loops and double clicks would have cost, as far as a sweep has counted it. */
const Saved = ({ of }: { of: Course['saved'] }) => (
  <section aria-labelledby="saved">
    <h2 id="saved">What the guard saved this month</h2>
    {of === null ? (
      <p class="empty">The next sweep counts the duplicates that were refused.</p>
    ) : (
      <>
        <Facts>
          <Fact name="Refused duplicates">
            <Units of={of.updates} />
          </Fact>
          <Fact name="Units not spent twice">
            <Units of={of.units} />
          </Fact>
        </Facts>
        <p class="note">
          Refused because the same work was under way or just done; at what that had cost. The sweep counts them a few
          minutes after. A request repeated with its key is answered from its record, and not even counted.{' '}
          <a href="/dashboard/updates?state=refused">Everything that was refused</a>
        </p>
      </>
    )}
  </section>
)

const Words = () => (
  <section aria-labelledby="words">
    <h2 id="words">What the figures mean</h2>
    <Facts long>
      <Fact name="Spent">charged by the service, or booked as spent elsewhere</Fact>
      <Fact name="Held">set aside for updates that are running</Fact>
      <Fact name="In doubt">sent, and nobody knows yet whether it ran; it stays counted</Fact>
      <Fact name="Committed">what plans will still take before the reset, at the prices last seen</Fact>
      <Fact name="Projected">all of these together, at the reset</Fact>
      <Fact name="Even pace">where it would be now, if every day took the same</Fact>
    </Facts>
  </section>
)
