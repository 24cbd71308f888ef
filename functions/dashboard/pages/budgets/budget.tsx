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
import { Pill, ReasonDetail, RemedyLink } from '../../components/outlook.tsx'
import { bookAddress, budgetAddress, Fact, Facts, Section, Time, words, ZoneNote } from '../../components/parts.tsx'
import { Who } from '../../components/people.tsx'
import { SpentSection } from '../../components/spenders.tsx'
import type { PageRoutes, PageServices } from '../../session.tsx'
import { type BudgetWords, budgetWords, fields, labels, type Texts } from './budget-texts.ts'
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
        <span>
          <Pill reason={undefined} zone={zoneOf(view)} />
        </span>
      </li>
    ) : (
      outlook.reasons.map((reason, position) => (
        <li>
          <span>
            <Pill reason={reason} zone={zoneOf(view)} isLong />
          </span>
          <span class="why">
            <ReasonDetail reason={reason} view={view} />
          </span>
          <span class="remedy">
            {isAdmin && position === 0 && outlook.remedy ? (
              <RemedyLink remedy={outlook.remedy} budget={outlook.budget} />
            ) : null}
          </span>
        </li>
      ))
    )}
  </ul>
)

function Actions({ budget: { name, frozen } }: { budget: Budget }) {
  const links = [
    ['Grant', bookAddress(name, 'grant')],
    ['Transfer', bookAddress(name, 'transfer')],
    ['Change', budgetAddress(name, '/edit')],
    ...(name === rootBudget ? [['Reconcile', bookAddress(name, 'reconcile')] as const] : []),
    ...(frozen ? [['Unfreeze', budgetAddress(name, '/unfreeze')] as const] : []),
  ] as const
  return (
    <p class="buttons actions">
      {links.map(([label, address]) => (
        <a class="button" href={address}>
          {label}
        </a>
      ))}
      {frozen ? null : (
        <a class="button danger" href={budgetAddress(name, '/freeze')}>
          Freeze
        </a>
      )}
      {name === rootBudget ? null : <a href={budgetAddress(name, '/delete')}>Delete</a>}
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
  const children = childrenOf(view.definitions, budget.name).map(({ name }) => name)
  return (
    <Section id="rules" title="Limits and rules">
      <RuleFacts texts={words.textsOf(budget)} words={words} />
      {children.length === 0 ? null : (
        <p>
          Below it:{' '}
          {children.map((child, position) => (
            <>
              {position === 0 ? null : ', '}
              <a href={budgetAddress(child)}>{child}</a>
            </>
          ))}
        </p>
      )}
      {isAdmin ? (
        <p class="buttons">
          <a class="button" href={budgetAddress(budget.name, '/edit')}>
            Change limits and rules
          </a>
        </p>
      ) : null}
    </Section>
  )
}

const RuleFacts = ({ texts, words }: { texts: Texts; words: BudgetWords }) => (
  <Facts isLong>
    {fields
      .filter((text) => texts[text] !== '')
      .map((text) => (
        <Fact name={labels[text]}>
          {text === 'parent' ? (
            <a href={budgetAddress(texts.parent)}>{texts.parent}</a>
          ) : (
            words.valueText(text, texts[text])
          )}
        </Fact>
      ))}
  </Facts>
)

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
              {to === undefined ? null : `, ${shownGiver(budget)} to ${to}`}
              {to === undefined && budget !== name ? `, on ${shownGiver(budget)}` : null}
            </p>
            <p>{reason}</p>
            <p class="note">
              <Time at={at} zone={zoneOf(view)} /> by <Who name={by} definitions={view.definitions} />{' '}
              <code class="id">{id}</code>
              {isAdmin && correctableTypes.includes(type) ? (
                <>
                  {' '}
                  <a href={budgetAddress(name, `/book?corrects=${id}`)} aria-label={`Correct the entry ${id}`}>
                    Correct
                  </a>
                </>
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
