import type { Child } from 'hono/jsx'
import * as z from 'zod/mini'
import { count, duration, percent, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { usedOf } from '../../../shared/ledger/definitions/counters.ts'
import { rootBudget, topsOf } from '../../../shared/ledger/definitions/definitions.ts'
import type { Window } from '../../../shared/ledger/definitions/windows.ts'
import { onTheWall } from '../../../shared/platform/clock.ts'
import type { BudgetOutlook, Outlook } from '../../../shared/reports/outlook.ts'
import type { NextRun } from '../../../shared/reports/plans/calendar.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { sumOfFigures, topOf } from '../../../shared/reports/tops.ts'
import { unlistedInWords } from '../../../shared/reports/unlisted.ts'
import { BudgetTable, MonthTable, NoBudgets, tableFields } from '../components/budget-table.tsx'
import { ChartFigure, FillPatterns, SpentSection } from '../components/charts.tsx'
import { CloseMonthOffer } from '../components/close-offer.tsx'
import { gravesIn, RiskSection, totalOf } from '../components/outlook.tsx'
import { type Period, PeriodLinks, periodFields, periodOf, shortLabel } from '../components/period.tsx'
import { CostText } from '../components/plan-status.tsx'
import { Tiles } from '../components/tiles.tsx'
import { readFields } from '../forms.ts'
import { Facts } from '../kit/facts.tsx'
import { Ago, askAddress, budgetAddress, LinkButtons, planAddress, Section, Time, ZoneNote } from '../kit/parts.tsx'
import type { PageRoutes, Visit } from '../kit/session.tsx'

const maxWaiting = 100

const querySchema = z.strictObject({
  window: periodFields.window,
  ...tableFields,
})
type Query = z.output<typeof querySchema>

const path = '/'

export function addOverview({ page }: PageRoutes): void {
  page(path, {
    GET: async (visit) => {
      visit.mustHave('read')
      const query = readFields(visit.query, querySchema)
      if (query.window === undefined) return showNow(visit, query)
      const view = await visit.guard.ledger.view()
      const period = periodOf(view, query)
      if (!period.month || period.month.name === view.month.name) return showNow(visit, query, view)
      return showPast(visit, { view, period, month: period.month, query })
    },
  })
}

const UnlistedWarning = ({ sentence, isAdmin }: { sentence: string | null; isAdmin: boolean }) => (
  <div class="warning">
    <p>{sentence}</p>
    <LinkButtons links={isAdmin ? [[`Change the rules of ${rootBudget}…`, budgetAddress(rootBudget, '/edit')]] : []} />
  </div>
)

async function showNow({ show, permissions, guard }: Visit, query: Query, given?: View) {
  const reports = await reportsOf(guard)
  const viewRead = given ? Promise.resolve(given) : guard.ledger.view()
  const [{ view, budgets, saved, next }, spenders, lastMonth, unlisted, approvals, doubts] = await Promise.all([
    reports.outlook(viewRead),
    viewRead.then(reports.whoSpent),
    viewRead.then(reports.usedLastMonth),
    viewRead.then(reports.unlistedProjects),
    guard.ledger.open('awaiting-approval', maxWaiting),
    guard.ledger.open('in-doubt', maxWaiting),
  ])
  const root = topOf(budgets)
  if (!root) return show('Overview', <NoBudgets />)
  const costs = await reports.spentCosts(
    view,
    budgets.map(({ figures }) => figures),
  )
  const zone = zoneOf(view)
  const period = periodOf(view, {})
  const isAdmin = permissions.scopes.has('admin')
  const isUnused = root.budget === rootBudget && budgets.length === 1 && usedOf(root.figures) === 0
  return show(
    verdict(shortLabel(view.month, zone), root, budgets, zone),
    <>
      <FillPatterns />
      <Head view={view} period={period} query={query}>
        <span>
          as of <Time at={view.now} zone={zone} isOfDay />
        </span>
        <NextRunText next={next} view={view} />
        <span>resets in {duration(view.month.end - view.now)}</span>
      </Head>
      {isUnused ? <FirstSteps isAdmin={isAdmin} /> : null}
      <CloseMonthOffer view={view} isOffered={isAdmin && permissions.readsBudgets === '*'} />
      {unlisted.length === 0 ? null : <UnlistedWarning sentence={unlistedInWords(unlisted)} isAdmin={isAdmin} />}
      <Tiles
        root={root}
        view={view}
        cost={costs.get(root.budget)}
        lastMonth={lastMonth}
        approvals={approvals}
        doubts={doubts}
      />
      {isUnused ? null : (
        <div class="halves">
          <RiskSection budgets={budgets} isAdmin={isAdmin} view={view} />
          <SpentSection id="spenders" title="Who spent" spenders={spenders} />
        </div>
      )}
      <BudgetTable view={view} budgets={budgets} query={query} path={path} costs={costs} usualSort="risk" />
      <div class="halves">
        <Section id="days" title="Left day by day">
          <ChartFigure name={root.budget} view={view} history={root.history} forecast={root.month} />
        </Section>
        <div>
          {isUnused ? null : <SavedUnits saved={saved} />}
          <Glossary />
          <ZoneNote zone={zone} />
        </div>
      </div>
    </>,
    approvals.rows.length + doubts.rows.length,
  )
}

async function showPast({ show, guard }: Visit, { view, period, month, query }: PastQuery) {
  const { createdAt } = view.definitions
  const zone = zoneOf(view)
  const showMonth = (title: string, content: Child) =>
    show(
      `${shortLabel(month, zone)}: ${title}`,
      <>
        <Head view={view} period={period} query={query}>
          <a href="/">Back to this month</a>
        </Head>
        {content}
        <ZoneNote zone={zone} />
      </>,
    )
  if (month.end <= createdAt)
    return showMonth(
      'before this ledger began',
      <p class="empty">
        This ledger began on <Time at={createdAt} zone={zone} />, so it knows no figures of this month.
      </p>,
    )
  const reports = await reportsOf(guard)
  const monthRead = reports.pastMonth(view, month)
  const [past, spenders] = await Promise.all([monthRead, monthRead.then((read) => reports.whoSpent(read.view))])
  const { figures, history } = past
  const tops = topsOf(view.definitions)
  if (tops.length === 0) return show('Overview', <NoBudgets />)
  const root = sumOfFigures(figures.filter(({ budget }) => tops.includes(budget)))
  const left = totalOf(root) === null ? '' : `, ${count(root.available)} left`
  return showMonth(
    `${units(root.spent)} spent${left}`,
    <>
      <div class="halves">
        <Section id="days" title="Left day by day">
          <ChartFigure name={root.budget} view={past.view} history={history} forecast={null} />
        </Section>
        <SpentSection id="spenders" title="Who spent" spenders={spenders} />
      </div>
      <MonthTable rows={figures} costs={await reports.spentCosts(view, figures, month)} />
    </>,
  )
}

interface PastQuery {
  readonly view: View
  readonly period: Period
  readonly month: Window
  readonly query: Query
}

const Head = ({ view, period, query, children }: { view: View; period: Period; query: Query; children: Child }) => (
  <div class="subhead">
    <PeriodLinks path={path} filters={{ sort: query.sort, show: query.show }} period={period} view={view} />
    {children}
  </div>
)

const NextRunText = ({ next, view }: { next: NextRun | null; view: View }) =>
  next === null ? null : (
    <span>
      next: <a href={planAddress(next.plan)}>{next.plan}</a> <Ago at={next.at} view={view} />,{' '}
      <CostText units={next.units} unpriced={next.unpriced} />
    </span>
  )

const numbers = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

function verdict(month: string, root: BudgetOutlook, budgets: readonly BudgetOutlook[], zone: string): string {
  const others = gravesIn(budgets).filter(({ name }) => name !== root.budget).length
  const risky = others === 0 ? '' : `${numbers[others] ?? count(others)} ${others === 1 ? 'budget' : 'budgets'}`
  const ofAccount = topVerdict(root, zone)
  if (ofAccount === null)
    return `${month}: on track${others === 0 ? '' : `, ${risky} ${others === 1 ? 'is' : 'are'} not`}`
  return `${month}: ${ofAccount}${others === 0 ? '' : `, and ${risky} ${others === 1 ? 'is' : 'are'} at risk`}`
}

/** `null`: on track. */
function topVerdict({ budget, status, reasons: [first] }: BudgetOutlook, zone: string): string | null {
  const name = budget === rootBudget ? 'the account' : budget
  if (first?.kind === 'frozen') return 'everything is frozen'
  if (first?.kind === 'exhausted') return first.window === 'day' ? 'nothing is left today' : 'nothing is left'
  if (first?.kind === 'plans-run-out' || first?.kind === 'pace-runs-out')
    return `${name} runs out ${first.isAtLeast ? 'by' : 'on'} ${onTheWall(first.at, zone)}`
  if (first?.kind === 'cannot-pay') return `${name} cannot pay for an update`
  if (first?.kind === 'cannot-pay-today') return `${name} cannot pay for an update today`
  if (first?.kind === 'threshold') return `${percent(first.used, first.of)} of ${name} is used`
  return status === 'on-track' || first?.kind === 'plan-paused' || first?.kind === 'reconcile-overdue'
    ? null
    : 'at risk'
}

const SavedUnits = ({ saved }: { saved: Outlook['saved'] }) => (
  <Section id="saved" title="What the guard saved this month">
    {saved === null ? (
      <p class="empty">The next sweep counts the refused duplicates.</p>
    ) : (
      <>
        <Facts
          rows={[
            ['Refused duplicates', count(saved.updates)],
            ['Units not spent twice', count(saved.units)],
          ]}
        />
        <p class="note">
          The same work was under way or just done, so these were refused. Their units are the cost of that work.{' '}
          <a href="/dashboard/updates?state=refused">All refused updates</a>
        </p>
      </>
    )}
  </Section>
)

const Glossary = () => (
  <details class="words">
    <summary>What the figures mean</summary>
    <Facts
      isLong
      rows={[
        ['Used', 'spent, held for running updates, or in doubt'],
        ['Spent', 'charged by the service, or booked as spent outside the guard'],
        ['In doubt', 'sent, but not known whether it ran; it stays counted'],
        ['Plans to come', 'units of the updates of plans that will run before the reset, at the last prices'],
        ['Left at reset', 'first at the pace of unplanned updates, then with plans only'],
      ]}
    />
  </details>
)

const FirstSteps = ({ isAdmin }: { isAdmin: boolean }) => (
  <Section id="first" title="What to do first">
    <p>Nothing has been spent yet, and the account is the only budget.</p>
    <LinkButtons
      links={[
        ['Ask for an update', askAddress()],
        ...(isAdmin ? [['Create a budget', '/dashboard/budgets#create'] as const] : []),
        ['Use the API', '/docs'],
      ]}
    />
  </Section>
)
