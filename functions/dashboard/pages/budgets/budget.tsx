import type { Child } from 'hono/jsx'
import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { noBudget } from '../../../../shared/guard/problems.ts'
import { count, zoneOf } from '../../../../shared/guard/sentences.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { type Budget, budgetNamed, childrenOf, rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import type { Entry } from '../../../../shared/ledger/book/entry.ts'
import type { Page } from '../../../../shared/ledger/views/pages.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { type BudgetRow, budgetRows, type CounterRow } from '../../components/budget-rows.ts'
import { FillPatterns } from '../../components/charts.tsx'
import { BurnDownFigure, CounterFigures, LimitAndReset } from '../../components/counter.tsx'
import { budgetAddress, Fact, Facts, Section, Time, words, ZoneNote } from '../../components/parts.tsx'
import type { PageRoutes } from '../../session.tsx'
import { type BudgetWords, budgetWords, fields, labels, type Texts } from './budget-texts.ts'
import { BudgetTrail } from './chain.tsx'
import { DeletionForm, FreezeForm } from './freeze.tsx'
import { ProjectsSection } from './projects.tsx'

const maxEntries = 10

export function addBudget({ page }: PageRoutes, { guard, kinds }: Services): void {
  const words = budgetWords(kinds)

  page('/dashboard/budgets/:name', {
    GET: async ({ c, mustHave, show, permissions, frame }) => {
      mustHave('read')
      const name = budgetNameOf(c)
      const { forecast, course } = await guard.background()
      const viewRead = guard.ledger.view()
      const [view, forecasts, { nights }, entries] = await Promise.all([
        viewRead,
        forecast(viewRead),
        course(viewRead),
        viewRead.then(({ month }) => guard.ledger.entries({ month: month.name, budget: name }, maxEntries)),
      ])
      const budget = budgetNamed(view.definitions, name)
      const row = budgetRows(view, forecasts, nights).find((each) => each.name === name)
      if (!budget || !row) throw new Refusal(noBudget(name))
      const zone = zoneOf(view)
      const isAdmin = permissions.scopes.has('admin')
      const { revision } = view.definitions
      return show(
        `Budget ${name}`,
        <>
          <FillPatterns />
          <BudgetTrail budget={name} definitions={view.definitions} />
          <UnitsSection row={row} isAdmin={isAdmin} zone={zone} />
          <RulesSection budget={budget} view={view} words={words} isAdmin={isAdmin} />
          <ProjectsSection budget={budget} frame={frame} isAdmin={isAdmin} kinds={kinds} />
          <EntriesSection entries={entries} name={name} zone={zone} isAdmin={isAdmin} />
          {isAdmin ? <FreezeForm budget={budget} frame={frame} revision={revision} /> : null}
          {isAdmin && name !== rootBudget ? <DeletionForm budget={budget} frame={frame} revision={revision} /> : null}
          <ZoneNote zone={zone} />
        </>,
      )
    },
  })
}

const UnitsSection = ({ row, isAdmin, zone }: { row: BudgetRow; isAdmin: boolean; zone: string }) => (
  <Section id="figures" title="Units">
    <FreezeNote row={row} zone={zone} />
    <WindowCounter name={row.name} counter={row.month} zone={zone}>
      <BurnDownFigure row={row} zone={zone} />
    </WindowCounter>
    {row.day ? <WindowCounter name={row.name} counter={row.day} zone={zone} /> : null}
    <p class="buttons">
      {isAdmin ? (
        <a class="button" href={budgetAddress(row.name, '/book')}>
          Grant, transfer, book
        </a>
      ) : null}
      <a href={`/dashboard/updates?budget=${row.name}`}>Updates of {row.name}</a>
    </p>
  </Section>
)

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

const FreezeNote = ({ row: { name, frozen }, zone }: { row: BudgetRow; zone: string }) =>
  frozen === null ? null : (
    <p class="frozen">
      <span aria-hidden="true">❄</span> <strong>Frozen</strong>
      {frozen.budget === name ? null : (
        <>
          {' '}
          with <a href={budgetAddress(frozen.budget)}>{frozen.budget}</a>
        </>
      )}{' '}
      by {frozen.stop.by} on <Time at={frozen.stop.at} zone={zone} />: {frozen.stop.reason}
    </p>
  )

const WindowCounter = ({
  name,
  counter,
  zone,
  children,
}: {
  name: string
  counter: CounterRow
  zone: string
  children?: Child
}) => (
  <div class={counter.window}>
    <div class="title">
      <h3>{counter.window === 'day' ? 'Today' : 'This month'}</h3>
      <p class={counter.total !== null && counter.available <= 0 ? 'left none' : 'left'}>
        {counter.total === null ? (
          'no limit'
        ) : (
          <>
            <strong>{count(counter.available)}</strong> of {count(counter.total)} left
          </>
        )}
      </p>
    </div>
    <p class="note">
      <LimitAndReset counter={counter} zone={zone} />
    </p>
    {children}
    <CounterFigures name={name} counter={counter} zone={zone} />
  </div>
)

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

interface EntriesProps {
  readonly entries: Page<Entry>
  readonly name: string
  readonly zone: string
  readonly isAdmin: boolean
}

const EntriesSection = ({ entries, name, zone, isAdmin }: EntriesProps) => (
  <Section id="entries" title="Booked this month">
    {entries.rows.length === 0 ? (
      <p class="empty">Nothing was booked by hand this month. What updates cost is on their own pages.</p>
    ) : (
      <ul class="entries">
        {entries.rows.map(({ id, type, budget, units, to, at, by, reason }) => (
          <li>
            <p>
              <strong>{words(type)}</strong>
              {units === 0 ? null : `, ${count(units)}`}
              {to === undefined ? null : `, ${budget} to ${to}`}
              {to === undefined && budget !== name ? `, asked for ${budget}` : null}
            </p>
            <p>{reason}</p>
            <p class="note">
              <Time at={at} zone={zone} /> by {by} <code>{id}</code>
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
