import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { noBudget } from '../../../../shared/guard/problems.ts'
import type { BudgetOutlook } from '../../../../shared/guard/reports/outlook.ts'
import { count, zoneOf } from '../../../../shared/guard/sentences.ts'
import {
  type Budget,
  budgetNamed,
  childrenOf,
  isEnforced,
  isWithin,
  rootBudget,
  unseenBudget,
} from '../../../../shared/ledger/book/definitions.ts'
import type { Entry } from '../../../../shared/ledger/book/entry.ts'
import type { Page } from '../../../../shared/ledger/views/pages.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { dayMs } from '../../../../shared/platform/clock.ts'
import { FillPatterns } from '../../components/charts.tsx'
import { Pill, ReasonRow } from '../../components/outlook.tsx'
import {
  BudgetLink,
  bookAddress,
  budgetAddress,
  joined,
  LinkButtons,
  Section,
  Time,
  words,
  ZoneNote,
} from '../../components/parts.tsx'
import { Who } from '../../components/people.tsx'
import { SpentSection } from '../../components/spenders.tsx'
import { Facts } from '../../kit/facts.tsx'
import type { PageRoutes, PageServices } from '../../session.tsx'
import { type BudgetWords, budgetWords, fields, labels } from './budget-texts.ts'
import { BudgetTrail } from './chain.tsx'
import { MonthsSection, UnitsSection, UpdatesSection } from './figures.tsx'
import { ProjectsSection } from './projects.tsx'

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
      const viewRead = guard.ledger.view().then((view) => {
        if (!budgetNamed(view.definitions, name)) throw new Refusal(noBudget(name))
        return view
      })
      const [{ view, budgets }, entries, latest, months, spent] = await Promise.all([
        guard.outlook(viewRead),
        viewRead.then(({ month }) => guard.ledger.entries({ month: month.name, budget: name }, maxEntries)),
        viewRead.then(({ now }) => guard.ledger.updates({ since: now - searched.ms }, searched.count)),
        viewRead.then((view) => guard.lastMonths(view, name, maxMonths)),
        viewRead.then((view) => guard.spentOn(view, name)),
      ])
      const budget = budgetNamed(view.definitions, name)
      const outlook = budgets.find((each) => each.budget === name)
      if (!budget || !outlook) throw new Refusal(noBudget(name))
      const cost = (await guard.spentCosts(view, [outlook.figures])).get(name)
      const zone = zoneOf(view)
      const isAdmin = permissions.scopes.has('admin')
      const updates = latest.rows.filter((update) => isWithin(view.definitions, update.budget, name))
      return show(
        `Budget ${name}`,
        <>
          <FillPatterns />
          <BudgetTrail budget={name} definitions={view.definitions} />
          <StatusLine outlook={outlook} view={view} isAdmin={isAdmin} />
          {isAdmin ? <Actions budget={budget} /> : null}
          <UnitsSection {...{ outlook, view, cost }} over={isEnforced(budget) ? null : spent.wouldHaveRefused} />
          <div class="halves">
            <SpentSection id="projects-spent" title="Spent by project" spenders={spent.projects} />
            <SpentSection id="callers-spent" title="Spent by person and plan" spenders={spent.callers} />
          </div>
          <div class="halves">
            <UpdatesSection name={name} updates={updates.slice(0, maxUpdates)} view={view} />
            <MonthsSection months={months} zone={zone} />
          </div>
          <RulesSection budget={budget} view={view} words={words} isAdmin={isAdmin} />
          <ProjectsSection
            budget={budget}
            definitions={view.definitions}
            frame={frame}
            isAdmin={isAdmin}
            kinds={kinds}
          />
          <EntriesSection entries={entries} name={name} view={view} isAdmin={isAdmin} />
          <ZoneNote zone={zone} />
        </>,
      )
    },
  })
}

const StatusLine = ({ outlook, view, isAdmin }: { outlook: BudgetOutlook; view: View; isAdmin: boolean }) => (
  <ul class="risks status">
    {outlook.reasons.length === 0 ? (
      <li>
        <Pill reason={undefined} view={view} />
      </li>
    ) : null}
    {outlook.reasons.map((reason, position) => (
      <ReasonRow
        {...{ reason, view, row: outlook.budget }}
        remedy={isAdmin && position === 0 ? outlook.remedy : null}
      />
    ))}
  </ul>
)

function Actions({ budget: { name, frozen } }: { budget: Budget }) {
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

interface RulesProps {
  readonly budget: Budget
  readonly view: View
  readonly words: BudgetWords
  readonly isAdmin: boolean
}

function RulesSection({ budget, view, words, isAdmin }: RulesProps) {
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
      <LinkButtons links={isAdmin ? [['Change limits and rules', budgetAddress(budget.name, '/edit')]] : []} />
    </Section>
  )
}

const correctableTypes: readonly Entry['type'][] = ['grant', 'transfer', 'external-spend', 'opening', 'correction']

const shownGiver = (budget: string): string => (budget === unseenBudget ? 'another budget' : budget)

interface EntriesProps {
  readonly entries: Page<Entry>
  readonly name: string
  readonly view: View
  readonly isAdmin: boolean
}

const EntriesSection = ({ entries, name, view, isAdmin }: EntriesProps) => (
  <Section id="entries" title="Booked this month">
    {entries.rows.length === 0 ? (
      <p class="empty">Nothing was booked by hand this month. The pages of updates show what they cost.</p>
    ) : (
      <ul class="entries">
        {entries.rows.map(({ id, type, budget, units, to, at, by, reason }) => (
          <li>
            <p>
              <strong>{words(type)}</strong>
              {units === 0 ? null : `, ${count(units)}`}
              {to === undefined ? budget !== name && `, on ${shownGiver(budget)}` : `, ${shownGiver(budget)} to ${to}`}
            </p>
            <p>{reason}</p>
            <p class="note">
              <Time at={at} zone={zoneOf(view)} /> by <Who name={by} definitions={view.definitions} />{' '}
              <code class="id">{id}</code>{' '}
              {isAdmin && correctableTypes.includes(type) ? (
                <a href={budgetAddress(name, `/book?corrects=${id}`)} aria-label={`Correct the entry ${id}`}>
                  Correct
                </a>
              ) : null}
            </p>
          </li>
        ))}
      </ul>
    )}
    <p class="buttons">
      <a href={`/dashboard/activity?budget=${name}`}>All entries of {name}</a>
    </p>
  </Section>
)
