import type { Child } from 'hono/jsx'
import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { noBudget } from '../../../../shared/guard/problems.ts'
import { count, zoneOf } from '../../../../shared/guard/sentences.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { budgetNamed, childrenOf, rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import type { Entry } from '../../../../shared/ledger/book/entry.ts'
import type { Page } from '../../../../shared/ledger/views/pages.ts'
import { type BudgetRow, budgetRows, type CounterRow } from '../../components/budget-rows.ts'
import { Patterns } from '../../components/charts.tsx'
import { BurnDownFigure, Counter, Terms } from '../../components/counter.tsx'
import { budgetAddress, Fact, Facts, InZone, Time, words } from '../../components/parts.tsx'
import type { PageRoutes } from '../../session.tsx'
import { type BudgetWords, budgetWords, labels, type Texts, texts } from './budget-texts.ts'
import { Chain } from './chain.tsx'
import { Deletion, Stop } from './freeze.tsx'
import { Projects } from './projects.tsx'

const maxEntries = 10

/** One budget: what is left of it, what is set of it, what it owns, and what was booked on it. */
export function addBudget({ page }: PageRoutes, { guard, kinds }: Services): void {
  const words = budgetWords(kinds)

  page('/dashboard/budgets/:name', {
    GET: async ({ c, mustHave, show, allowed, frame }) => {
      mustHave('read')
      const name = budgetNameOf(c)
      const { forecast, course } = await guard.background()
      const looked = guard.ledger.view()
      const [view, forecasts, { nights }, entries] = await Promise.all([
        looked,
        forecast(looked),
        course(looked),
        looked.then(({ month }) => guard.ledger.entries({ month: month.name, budget: name }, maxEntries)),
      ])
      const budget = budgetNamed(view.definitions, name)
      const row = budgetRows(view, forecasts, nights).find((each) => each.name === name)
      if (!budget || !row) throw new Refusal(noBudget(name))
      const zone = zoneOf(view)
      const children = childrenOf(view.definitions, name).map((each) => each.name)
      const isAdmin = allowed.scopes.has('admin')
      return show(
        `Budget ${name}`,
        <>
          <Patterns />
          <Chain of={name} in={view.definitions} />
          <section aria-labelledby="figures">
            <h2 id="figures">Units</h2>
            <FrozenMark of={row} zone={zone} />
            <Window name={name} of={row.month} zone={zone}>
              <BurnDownFigure row={row} zone={zone} />
            </Window>
            {row.day ? <Window name={name} of={row.day} zone={zone} /> : null}
            <p class="buttons">
              {isAdmin ? (
                <a class="button" href={budgetAddress(name, '/book')}>
                  Grant, transfer, book
                </a>
              ) : null}
              <a href={`/dashboard/updates?budget=${name}`}>Updates of {name}</a>
            </p>
          </section>
          <section aria-labelledby="rules">
            <h2 id="rules">Limits and rules</h2>
            <Rules of={words.textsOf(budget)} words={words} />
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
                <a class="button" href={budgetAddress(name, '/edit')}>
                  Change limits and rules
                </a>
              </p>
            ) : null}
          </section>
          <Projects budget={budget} frame={frame} isAdmin={isAdmin} kinds={kinds} />
          <Entries of={entries} name={name} zone={zone} isAdmin={isAdmin} />
          {isAdmin ? <Stop budget={budget} frame={frame} revision={view.definitions.revision} /> : null}
          {isAdmin && name !== rootBudget ? (
            <Deletion budget={budget} frame={frame} revision={view.definitions.revision} />
          ) : null}
          <InZone zone={zone} />
        </>,
      )
    },
  })
}

const FrozenMark = ({ of: { name, frozen }, zone }: { of: BudgetRow; zone: string }) =>
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

const Window = ({ name, of, zone, children }: { name: string; of: CounterRow; zone: string; children?: Child }) => (
  <div class={of.window}>
    <div class="title">
      <h3>{of.window === 'day' ? 'Today' : 'This month'}</h3>
      <p class={of.total !== null && of.available <= 0 ? 'left none' : 'left'}>
        {of.total === null ? (
          'no limit'
        ) : (
          <>
            <strong>{count(of.available)}</strong> of {count(of.total)} left
          </>
        )}
      </p>
    </div>
    <p class="note">
      <Terms of={of} zone={zone} />
    </p>
    {children}
    <Counter name={name} of={of} zone={zone} />
  </div>
)

const Rules = ({ of, words }: { of: Texts; words: BudgetWords }) => (
  <Facts long>
    {texts
      .filter((text) => of[text] !== '')
      .map((text) => (
        <Fact name={labels[text]}>
          {text === 'parent' ? <a href={budgetAddress(of.parent)}>{of.parent}</a> : words.said(text, of[text])}
        </Fact>
      ))}
  </Facts>
)

const correctable: readonly Entry['type'][] = ['grant', 'transfer', 'external-spend', 'opening', 'correction']

/** What was booked on a budget this month, beside its updates. */
const Entries = ({ of, name, zone, isAdmin }: { of: Page<Entry>; name: string; zone: string; isAdmin: boolean }) => (
  <section aria-labelledby="entries">
    <h2 id="entries">Booked this month</h2>
    {of.rows.length === 0 ? (
      <p class="empty">Nothing was booked by hand this month. What updates cost is on their own pages.</p>
    ) : (
      <ul class="entries">
        {of.rows.map(({ id, type, budget, units, to, at, by, reason }) => (
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
              {isAdmin && correctable.includes(type) ? (
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
      <a href={`/dashboard/ledger?budget=${name}`}>All entries of {name}</a>
    </p>
  </section>
)
