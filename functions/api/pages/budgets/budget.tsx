import { noBudget } from '../../../../shared/guard/budgeting.ts'
import { zoneOf } from '../../../../shared/guard/decide.ts'
import { count } from '../../../../shared/guard/sentences.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { budgetNamed, childrenOf, rootBudget } from '../../../../shared/ledger/definitions.ts'
import { budgetNameOf } from '../../budgets.ts'
import { Refusal } from '../../refusal.ts'
import { type BudgetRow, budgetRows, type Counted } from '../budget-rows.ts'
import { Bar, Patterns, Swatch } from '../charts.tsx'
import { budgetAddress, Fact, Facts, InZone, Time, Units } from '../parts.tsx'
import type { Visiting } from '../visiting.tsx'
import { labels, said, type Texts, texts, textsOf } from './budget-texts.ts'
import { Chain } from './chain.tsx'
import { Entries } from './entries.tsx'
import { Projects } from './projects.tsx'
import { Deletion, Stop } from './stopping.tsx'

const mostEntries = 10

/** One budget: what is left of it, what is set of it, what it owns, and what was booked on it. */
export function addBudget({ page }: Visiting, { guard }: Services): void {
  page('/dashboard/budgets/:name', {
    GET: async ({ c, mustHave, show, allowed, frame }) => {
      mustHave('read')
      const name = budgetNameOf(c)
      const [view, forecasts] = await Promise.all([guard.ledger.view(), guard.foresee()])
      const budget = budgetNamed(view.definitions, name)
      const row = budgetRows(view, forecasts).find((each) => each.name === name)
      if (!budget || !row) throw new Refusal(noBudget(name))
      const entries = await guard.ledger.entries({ month: view.month.name, budget: name }, mostEntries)
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
            <Window name={name} of={row.month} zone={zone} />
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
            <Rules of={textsOf(budget)} />
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
          <Projects budget={budget} frame={frame} isAdmin={isAdmin} />
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

function Window({ name, of, zone }: { name: string; of: Counted; zone: string }) {
  const { window, total, available, limit, granted } = of
  return (
    <div class={window}>
      <div class="title">
        <h3>{window === 'day' ? 'Today' : 'This month'}</h3>
        <p class={total !== null && available <= 0 ? 'left none' : 'left'}>
          {total === null ? (
            'no limit'
          ) : (
            <>
              <strong>{count(available)}</strong> of {count(total)} left
            </>
          )}
        </p>
      </div>
      <p class="note">
        {limit === 'unlimited' ? 'No limit' : `Limit ${count(limit)}`}
        {granted === 0 ? null : `, ${count(granted)} granted`}; resets <Time at={of.end} zone={zone} />
      </p>
      <Bar name={name} of={of} />
      <Facts>
        <Part of="spent" name="Spent" units={of.spent} />
        <Part of="held" name="Held" units={of.held} />
        <Part of="in-doubt" name="In doubt" units={of.inDoubt} />
        <Part of="committed" name="Committed" units={of.committed} />
        {of.evenPace === null ? null : <Part of="pace" name="Even pace" units={of.evenPace} />}
      </Facts>
    </div>
  )
}

const Part = ({ of, name, units }: { of: Parameters<typeof Swatch>[0]['of']; name: string; units: number }) => (
  <Fact
    name={
      <>
        <Swatch of={of} /> {name}
      </>
    }
  >
    <Units of={units} />
  </Fact>
)

const Rules = ({ of }: { of: Texts }) => (
  <Facts long>
    {texts
      .filter((text) => of[text] !== '')
      .map((text) => (
        <Fact name={labels[text]}>
          {text === 'parent' ? <a href={budgetAddress(of.parent)}>{of.parent}</a> : said(text, of[text])}
        </Fact>
      ))}
  </Facts>
)
