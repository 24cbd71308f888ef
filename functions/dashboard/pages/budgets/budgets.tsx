import { count, zoneOf } from '../../../../shared/guard/sentences.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { budgetNamed } from '../../../../shared/ledger/book/definitions.ts'
import { type BudgetRow, budgetRows, type CounterRow } from '../../components/budget-rows.ts'
import { budgetAddress, InZone } from '../../components/parts.tsx'
import type { PageRoutes, Visit } from '../../session.tsx'
import { addBooking } from './book.tsx'
import { addBudget } from './budget.tsx'
import { MakeForm, makeBudget } from './create.tsx'
import { addEditing } from './edit.tsx'
import { addStopping } from './freeze.tsx'
import { addProjects } from './projects.tsx'

/** All budgets as a tree; and, for administrators, everything that the API lets them change. */
export function addBudgetPages(routes: PageRoutes, services: Services): void {
  const { guard } = services

  routes.page('/dashboard/budgets', {
    GET: async (visit) => {
      visit.mustHave('read')
      return showAll(visit, [])
    },

    POST: async (visit) => {
      visit.mustHave('admin')
      const made = await makeBudget(visit, services)
      if (made.kind === 'wrong') return showAll(visit, made.wrong)
      return visit.tell({ done: [`The budget ${made.name} is made.`], failed: [] }, budgetAddress(made.name))
    },
  })

  addBudget(routes, services)
  addEditing(routes, services)
  addBooking(routes, services)
  addProjects(routes, services)
  addStopping(routes, services)

  async function showAll({ show, allowed, frame, form }: Visit, wrong: readonly string[]) {
    const view = await guard.ledger.view()
    const rows = budgetRows(view, [])
    const isAdmin = allowed.scopes.has('admin')
    const owned = (name: string) => budgetNamed(view.definitions, name)?.projects.length ?? 0
    return show(
      'Budgets',
      <>
        {rows.length > 1 ? null : <NoneYet isAdmin={isAdmin} />}
        <Tree rows={rows} owned={owned} />
        {isAdmin ? <MakeForm frame={frame} parents={rows.map(({ name }) => name)} given={form} wrong={wrong} /> : null}
        <InZone zone={zoneOf(view)} />
      </>,
    )
  }
}

const NoneYet = ({ isAdmin }: { isAdmin: boolean }) => (
  <p class="empty">
    There is only the account itself, and everybody shares it.{' '}
    {isAdmin
      ? 'Make a budget for a team or a customer below: what it spends counts in the account too, and never more than you give it.'
      : 'An administrator can make a budget for a team or a customer here.'}
  </p>
)

const Tree = ({ rows, owned }: { rows: readonly BudgetRow[]; owned: (name: string) => number }) => (
  <div class="wide">
    <table class="tree">
      <caption>Each budget below its parent. What it spends counts in all above it, up to account.</caption>
      <thead>
        <tr>
          <th scope="col">Budget</th>
          <th scope="col" class="number">
            Left this month
          </th>
          <th scope="col" class="number">
            Spent
          </th>
          <th scope="col" class="number">
            Held, in doubt
          </th>
          <th scope="col" class="number">
            Left today
          </th>
          <th scope="col" class="number">
            Projects
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            <th scope="row" class={`in-tree depth-${row.depth}`}>
              {row.depth === 0 ? null : <span class="hidden">{`Level ${row.depth}: `}</span>}
              <a href={budgetAddress(row.name)}>{row.name}</a>
              {row.frozen === null ? null : (
                <span class="note">
                  <span aria-hidden="true">❄</span> frozen
                  {row.frozen.budget === row.name ? `: ${row.frozen.stop.reason}` : ` with ${row.frozen.budget}`}
                </span>
              )}
            </th>
            <td data-name="Left this month" class="number">
              <Left of={row.month} />
            </td>
            <td data-name="Spent" class="number">
              {count(row.month.spent)}
            </td>
            <td data-name="Held, in doubt" class="number">
              {count(row.month.held + row.month.inDoubt)}
            </td>
            <td data-name="Left today" class={row.day ? 'number' : 'number nothing'}>
              {row.day ? <Left of={row.day} /> : <span class="unknown">no limit</span>}
            </td>
            <td data-name="Projects" class={owned(row.name) > 0 ? 'number' : 'number nothing'}>
              {owned(row.name) === 0 ? <span class="unknown">–</span> : count(owned(row.name))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const Left = ({ of: { total, available } }: { of: CounterRow }) =>
  total === null ? (
    <span class="unknown">no limit</span>
  ) : (
    <>
      <strong class={available <= 0 ? 'none' : ''}>{count(available)}</strong>{' '}
      <span class="note">of {count(total)}</span>
    </>
  )
