import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { noBudget } from '../../../../shared/guard/problems.ts'
import { count, keptIn, units, zoneOf } from '../../../../shared/guard/sentences.ts'
import { type Entry, isOfUpdate, isOnce } from '../../../../shared/ledger/book/entry.ts'
import type { View } from '../../../../shared/ledger/book/view.ts'
import {
  type Budget,
  budgetNamed,
  childrenOf,
  isWithin,
  rootBudget,
} from '../../../../shared/ledger/definitions/definitions.ts'
import type { Page } from '../../../../shared/ledger/store/pages.ts'
import type { Update } from '../../../../shared/ledger/updates/update.ts'
import { dayMs, onTheWall } from '../../../../shared/platform/clock.ts'
import type { MonthFigures } from '../../../../shared/reports/history.ts'
import type { BudgetOutlook } from '../../../../shared/reports/outlook.ts'
import { reportsOf } from '../../../../shared/reports/reports.ts'
import type { SpentOn } from '../../../../shared/reports/spenders.ts'
import { Bar, ChartFigure, FillPatterns, Shares, SpentSection } from '../../components/charts.tsx'
import { LeftAtReset, Pill, PlansToCome, ReasonRow, totalOf } from '../../components/outlook.tsx'
import { shortLabel } from '../../components/period.tsx'
import { UpdateLines } from '../../components/update-table.tsx'
import { Facts } from '../../kit/facts.tsx'
import {
  BudgetLink,
  bookAddress,
  budgetAddress,
  joined,
  Section,
  say,
  Time,
  Units,
  ZoneNote,
} from '../../kit/parts.tsx'
import type { PageRoutes, PageServices } from '../../kit/session.tsx'
import { EntryList } from '../activity/activity.tsx'
import { type BudgetWords, budgetWords, fields, labels } from './budget-texts.ts'
import { BudgetTrail } from './chain.tsx'
import { ProjectsSection } from './projects-section.tsx'

const maxEntries = 10
const maxUpdates = 5
/** Bounds the search for the latest updates. */
const searched = { count: 100, ms: 7 * dayMs }
const maxMonths = 6

export function addBudget({ page }: PageRoutes, { kinds }: PageServices): void {
  const words = budgetWords(kinds)

  page('/dashboard/budgets/:name', {
    GET: async ({ c, mustHave, show, permissions, frame, guard }) => {
      mustHave('read')
      const name = budgetNameOf(c)
      const reports = await reportsOf(guard)
      const viewRead = guard.ledger.view([{ nextMonth: true }]).then((view) => {
        if (!budgetNamed(view.definitions, name)) throw new Refusal(noBudget(name))
        return view
      })
      const [{ view, budgets }, entries, latest, months, spent] = await Promise.all([
        reports.outlook(viewRead),
        viewRead.then(({ month }) => guard.ledger.entries({ month: month.name, budget: name }, maxEntries)),
        viewRead.then(({ now }) => guard.ledger.updates({ since: now - searched.ms }, searched.count)),
        viewRead.then((view) => reports.lastMonths(view, name, maxMonths)),
        viewRead.then((view) => reports.spentOn(view, name)),
      ])
      const budget = budgetNamed(view.definitions, name)
      const outlook = budgets.find((each) => each.budget === name)
      if (!budget || !outlook) throw new Refusal(noBudget(name))
      const cost = (await reports.spentCosts(view, [outlook.figures])).get(name)
      const isAdmin = permissions.scopes.has('admin')
      const updates = latest.rows
        .filter((update) => isWithin(view.definitions, update.budget, name))
        .slice(0, maxUpdates)
      const read = { budget, outlook, view, isAdmin, cost, spent, entries, updates, months }
      return show(
        `Budget ${name}`,
        <>
          <FillPatterns />
          <BudgetTrail budget={name} definitions={view.definitions} />
          <StatusLine {...read} />
          {isAdmin ? <Actions {...budget} /> : null}
          <UnitsSection {...read} />
          <div class="halves">
            <SpentSection id="projects-spent" title="Spent by project" spenders={spent.projects} />
            <SpentSection id="callers-spent" title="Spent by person and plan" spenders={spent.callers} />
          </div>
          <div class="halves">
            <UpdatesSection {...read} />
            <MonthsSection {...read} />
          </div>
          <RulesSection {...read} words={words} />
          <ProjectsSection {...read} frame={frame} kinds={kinds} />
          <EntriesSection {...read} />
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },
  })
}

interface BudgetPage {
  readonly budget: Budget
  readonly outlook: BudgetOutlook
  readonly view: View
  readonly isAdmin: boolean
  /** The cost of the units spent. */
  readonly cost: string | undefined
  readonly spent: SpentOn
  readonly entries: Page<Entry>
  readonly updates: readonly Update[]
  readonly months: readonly MonthFigures[]
}

/** A button below the status already offers this remedy. */
const isAction = (remedy: BudgetOutlook['remedy'], name: string): boolean =>
  remedy?.kind === 'reconcile' ? name === rootBudget : remedy?.kind === 'unfreeze' && remedy.budget === name

const StatusLine = ({ outlook: { budget, reasons, remedy }, view, isAdmin }: BudgetPage) => (
  <ul class="risks status">
    {reasons.length === 0 ? (
      <li>
        <Pill reason={undefined} view={view} />
      </li>
    ) : null}
    {reasons.map((reason, position) => (
      <ReasonRow
        reason={reason}
        view={view}
        row={budget}
        remedy={isAdmin && position === 0 && !isAction(remedy, budget) ? remedy : null}
      />
    ))}
  </ul>
)

function Actions({ name, frozen }: Budget) {
  const isRoot = name === rootBudget
  const links = [
    ['Grant', bookAddress(name, 'grant')],
    ['Transfer', bookAddress(name, 'transfer')],
    ['Change', budgetAddress(name, '/edit')],
    ...(isRoot ? [['Reconcile', bookAddress(name, 'reconcile')]] : []),
    frozen ? ['Unfreeze', budgetAddress(name, '/unfreeze')] : ['Freeze', budgetAddress(name, '/freeze'), ' danger'],
  ] as const
  return (
    <p class="buttons actions">
      {links.map(([label, address, danger = '']) => (
        <a class={`button${danger}`} href={address}>
          {label}
        </a>
      ))}
      {isRoot ? null : <a href={budgetAddress(name, '/delete')}>Delete</a>}
    </p>
  )
}

function UnitsSection({ budget: { name, enforce }, outlook, view, cost, spent: { wouldHaveRefused } }: BudgetPage) {
  const { figures, month, day, history } = outlook
  const { limit, granted, held, inDoubt } = figures
  const total = totalOf(figures)
  const pace = month.pace.last7Days ?? month.pace.month
  const unpriced =
    month.unpriced === 1
      ? ['One project of a plan has', 'is']
      : [`${count(month.unpriced)} projects of plans have`, 'are']
  return (
    <Section
      id="figures"
      title={
        total === null
          ? 'No limit this month'
          : say`${<span class="figure">{count(figures.available)}</span>} of ${units(total)} left`
      }
    >
      <p>{outlook.next?.sentence}</p>
      <p class="note">
        {limit === 'unlimited' ? 'No limit' : `Limit ${count(limit)}`}
        {granted === 0 ? '' : `, ${count(granted)} granted`}; resets <Time at={figures.end} zone={zoneOf(view)} />
      </p>
      {enforce === false ? <Observed over={wouldHaveRefused} /> : null}
      <Bar figures={figures} committed={month.committed} />
      <Facts
        rows={[
          ['Spent', <Units units={figures.spent} cost={cost} />],
          ['Held', count(held)],
          ['In doubt', count(inDoubt)],
          ['Plans to come', <PlansToCome month={month} />],
          keptIn(figures) > 0 && ['Kept for plans', count(keptIn(figures))],
          month.ifResumed > 0 && ['If paused plans resumed', count(month.ifResumed)],
          ['Left at reset', <LeftAtReset outlook={outlook} />],
          ['Pace beside plans', pace === null ? 'fewer than three days known' : `${count(Math.round(pace))} a day`],
          day.available !== null && ['Left today', count(day.available)],
        ]}
      />
      {month.unpriced === 0 ? null : (
        <p class="note">{`${unpriced[0]} no known price yet, and ${unpriced[1]} missing in “Plans to come”.`}</p>
      )}
      <ChartFigure
        name={name}
        view={view}
        history={history}
        forecast={month}
        budget={name === rootBudget ? undefined : name}
      />
    </Section>
  )
}

const Observed = ({ over: { updates, units: charged } }: { over: SpentOn['wouldHaveRefused'] }) => (
  <p class={updates === 0 ? 'note' : 'warning'}>
    Its limits are only observed and refuse nothing.{' '}
    {updates === 0
      ? 'Enforcing would have refused no update that ended this month.'
      : `Enforcing would have refused ${updates === 1 ? '1 update' : `${count(updates)} updates`} of ${units(charged)} this month.`}
  </p>
)

const MonthsSection = ({ months, view }: BudgetPage) => (
  <Section id="months" title="Month by month">
    <Shares
      of={Math.max(...months.map((each) => Math.max(each.spent, totalOf(each) ?? 0)))}
      rows={months.map((each) => {
        const total = totalOf(each)
        return [shortLabel(each.month, zoneOf(view)), each.spent, total === null ? 'no limit' : `of ${count(total)}`]
      })}
    />
  </Section>
)

const UpdatesSection = ({ budget: { name }, updates, view }: BudgetPage) => (
  <Section id="updates" title="Latest updates">
    {updates.length === 0 ? <p class="empty">None among the newest updates of the last seven days.</p> : null}
    <UpdateLines updates={updates} view={view} />
    <p>
      <a href={`/dashboard/updates?budget=${name}`}>All updates of {name}</a>
    </p>
  </Section>
)

function RulesSection({ budget, view, words }: BudgetPage & { words: BudgetWords }) {
  const texts = words.textsOf(budget)
  const below = childrenOf(view.definitions, budget.name).map(({ name }) => <BudgetLink name={name} />)
  return (
    <Section id="rules" title="Limits and rules">
      <Facts
        isLong
        rows={fields.map((text) => [
          labels[text],
          texts[text] && (text === 'parent' ? <BudgetLink name={texts.parent} /> : words.valueText(text, texts[text])),
        ])}
      />
      {below.length === 0 ? null : <p>Below it: {joined(below)}</p>}
    </Section>
  )
}

const GrantedNextMonth = ({ granted }: { granted: number }) =>
  granted <= 0 ? null : (
    <p class="note">
      Next month: {units(granted)} {granted === 1 ? 'is' : 'are'} granted.
    </p>
  )

const correctableTypes: readonly Entry['type'][] = ['grant', 'transfer', 'external-spend', 'opening', 'correction']

const EntriesSection = ({ entries, budget: { name }, view, isAdmin }: BudgetPage) => (
  <Section id="entries" title="Booked this month">
    <GrantedNextMonth granted={view.nextStored?.counters.month[name]?.granted ?? 0} />
    <EntryList
      isInset
      rows={entries.rows}
      view={view}
      more={({ id, type, at, corrects = '', moves }) =>
        isAdmin && correctableTypes.includes(type) && !isOfUpdate(corrects) && !isOnce(moves) ? (
          <a
            href={budgetAddress(name, `/book?corrects=${id}`)}
            aria-label={`Correct the ${type} of ${onTheWall(at, zoneOf(view))}`}
          >
            Correct
          </a>
        ) : null
      }
    />
    <p>
      <a href={`/dashboard/activity?budget=${name}`}>All entries of {name}</a>
    </p>
  </Section>
)
