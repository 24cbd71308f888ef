import * as z from 'zod/mini'
import { answerStatementCsv, noWindow, statementKey, statementQuery } from '../../../shared/api/statements.ts'
import type { Guard } from '../../../shared/guard/guard.ts'
import type { SpentCosts, Statement } from '../../../shared/guard/reports/statements.ts'
import { count, type Figures, figuresOf, units, zoneOf } from '../../../shared/guard/sentences.ts'
import { bookAsOf } from '../../../shared/ledger/book/book.ts'
import { dayAt, monthNamed } from '../../../shared/ledger/book/windows.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { tagKeyIn } from '../../../shared/platform/words.ts'
import { FieldFault, inputAttributes } from '../components/fields.tsx'
import { activityPath, budgetAddress, numberColumns, TableHead, UnitsCell, ZoneNote } from '../components/parts.tsx'
import { type Period, PeriodLinks, periodOf } from '../components/period.tsx'
import type { FieldFaults } from '../flash.ts'
import { isEmpty, readFields, readFilters } from '../forms.ts'
import { addressWith } from '../kit/list.tsx'
import type { PageRoutes } from '../session.tsx'
import { type DetailsProps, StatementTable } from './statement-table.tsx'

const statementsPath = '/dashboard/statements'

const { window, price } = statementQuery.shape
const querySchema = z.strictObject({ window, price, by: z.exactOptional(statementKey) })

export function addStatements({ page }: PageRoutes): void {
  page(statementsPath, {
    GET: async ({ query, mustHave, show, permissions, guard }) => {
      mustHave('read')
      const { filters: read, faults } = readFilters(query, querySchema, ['price'])
      const { window, by, price } = read
      const view = await guard.ledger.view()
      const period = periodOf(view, { window })
      const month = period.month?.name ?? view.month.name
      const filters = { window, by, price: query.get('price') || undefined }
      const details = by === undefined ? null : await detailsOf(guard, view, month, by)
      return show(
        'Statements',
        <>
          <Subhead {...{ filters, period, view }} />
          <Tabs filters={filters} tagKeys={details?.statement.tagKeys ?? []} />
          {details === null ? (
            <BookTable {...(await figuresIn(guard, view, month))} />
          ) : (
            <DetailedStatement {...details} price={price} mayAudit={permissions.readsBudgets === '*'} />
          )}
          <PriceForm filters={filters} faults={faults} />
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },
  })

  page(`${statementsPath}.csv`, {
    GET: async ({ c, query, mustHave, session, guard }) => {
      mustHave('read')
      c.get('expensiveReads').admit(session.sub)
      const { window, by, price } = readFields(query, statementQuery)
      const statement = await c.get('expensiveReads').inTurn(() => statementOf(guard, window, by))
      return answerStatementCsv(c, statement, price)
    },
  })
}

/** With the month before it, if the ledger had begun. @throws Refusal 400 */
async function detailsOf(
  guard: Guard,
  view: View,
  month: string,
  by: Statement['by'],
): Promise<Omit<DetailsProps, 'price'>> {
  const { definitions } = view
  const statement = await statementOf(guard, month, by)
  const before = monthNamed(definitions.calendar, statement.previous)
  const previous = before && before.end > definitions.createdAt ? await statementOf(guard, before.name, by) : null
  return { statement, previous, definitions }
}

/** @throws Refusal 400 */
async function statementOf(guard: Guard, window: string | undefined, by: Statement['by']): Promise<Statement> {
  const statement = await guard.statement(window ?? null, by)
  if (!statement) throw noWindow(window)
  return statement
}

/** @throws Refusal 400 */
async function figuresIn(guard: Guard, view: View, name: string): Promise<BookTableProps> {
  const { definitions, now } = view
  const month = monthNamed(definitions.calendar, name)
  if (!month || month.start > now) throw noWindow(name)
  const stored = name === view.month.name ? view.stored : await guard.ledger.bookNamed(name)
  // The book of an ended month keeps the limits that held at its end.
  const book =
    stored && now >= month.end
      ? stored
      : bookAsOf(stored, definitions, name, dayAt(definitions.calendar, month.start).name)
  const figures = Object.values(definitions.budgets).map((budget) =>
    figuresOf({ ...view, month, book }, budget, 'month'),
  )
  return { figures, costs: await guard.spentCosts(view, figures, month) }
}

interface SubheadProps {
  readonly filters: StatementFilters
  readonly period: Period
  readonly view: View
}

function Subhead({ filters, period, view }: SubheadProps) {
  const { by = 'budget', window = view.month.name } = filters
  return (
    <div class="subhead">
      <PeriodLinks path={statementsPath} filters={{ ...filters }} period={period} view={view} />
      <span class="actions">
        <a href={addressWith(`${statementsPath}.csv`, { ...filters, window, by })} download>
          Download as CSV
        </a>
      </span>
    </div>
  )
}

const tabs = [
  [undefined, 'Summary'],
  ['budget', 'By budget'],
  ['project', 'By project'],
  ['caller', 'By person'],
] as const

const maxTagTabs = 10

const Tabs = ({ filters, tagKeys }: { filters: StatementFilters; tagKeys: readonly string[] }) => (
  <nav aria-label="Statements" class="chips">
    {[...tabs, ...tagTabs(filters.by, tagKeys)].map(([by, label]) => (
      <a href={addressWith(statementsPath, { ...filters, by })} aria-current={filters.by === by ? 'page' : undefined}>
        {label}
      </a>
    ))}
  </nav>
)

const tagTabs = (by: Statement['by'] | undefined, keys: readonly string[]) => {
  const shown = by === undefined ? null : tagKeyIn(by)
  const all = [...new Set([...(shown === null ? [] : [shown]), ...keys])].slice(0, maxTagTabs)
  return all.toSorted().map((key) => [`tag:${key}`, `By tag ${key}`] as const)
}

function PriceForm({ filters: { window, by, price }, faults }: { filters: StatementFilters; faults: FieldFaults }) {
  const field = { formId: 'statement', name: 'price', faults }
  return (
    <details open={!isEmpty(faults)}>
      <summary>Price of a unit</summary>
      <form method="get" action={statementsPath} class="search">
        {window === undefined ? null : <input type="hidden" name="window" value={window} />}
        <input type="hidden" name="by" value={by ?? 'budget'} />
        <label for="statement-price">One unit costs</label>
        <input
          id="statement-price"
          name="price"
          type="text"
          inputmode="decimal"
          value={price ?? ''}
          autocomplete="off"
          {...inputAttributes(field)}
        />
        <button type="submit">Show amounts</button>
        <FieldFault {...field} />
      </form>
    </details>
  )
}

interface StatementFilters {
  readonly window: string | undefined
  readonly by: Statement['by'] | undefined
  readonly price: string | undefined
}

interface BookTableProps {
  readonly figures: readonly Figures[]
  readonly costs: SpentCosts
}

const BookTable = ({ figures, costs }: BookTableProps) => (
  <div class="wide">
    <table class="rows">
      <caption>What a budget uses counts in its parents, too.</caption>
      <TableHead columns={['Budget', ...numberColumns('Limit', 'Granted', 'Spent', 'Held', 'In doubt', 'Left')]} />
      <tbody>
        {figures.map(({ budget, limit, granted, spent, held, inDoubt, available }) => (
          <tr>
            <th scope="row">
              <a href={budgetAddress(budget)}>{budget}</a>
            </th>
            <td data-name="Limit" class="number">
              {limit === 'unlimited' ? 'none' : count(limit)}
            </td>
            <UnitsCell name="Granted" units={granted} />
            <UnitsCell name="Spent" units={spent} cost={costs.get(budget)} />
            <UnitsCell name="Held" units={held} />
            <UnitsCell name="In doubt" units={inDoubt} />
            <UnitsCell name="Left" units={limit === 'unlimited' ? null : available} />
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const DetailedStatement = ({ mayAudit, ...details }: DetailsProps & { mayAudit: boolean }) => (
  <>
    <p>
      {details.statement.status === 'open' ? 'Open: figures still change. ' : 'Final: nothing is held or in doubt. '}
      <SumCheck statement={details.statement} mayAudit={mayAudit} />
    </p>
    {details.statement.rows.length === 0 ? (
      <p class="empty">No updates and no bookings this month.</p>
    ) : (
      <StatementTable {...details} />
    )}
  </>
)

function SumCheck({ statement: { spent, total, addsUp }, mayAudit }: { statement: Statement; mayAudit: boolean }) {
  if (addsUp === null) return <>The book changed while it was read. Load the page again.</>
  if (addsUp) return <>The rows add up to the {units(spent)} spent in the book.</>
  return (
    <strong class="differs">
      The rows add up to {units(total.charged + total.external)}, but the book has {count(spent)}.
      {mayAudit ? (
        <>
          {' '}
          <a href={`${activityPath}#audit`}>Audit the books</a>.
        </>
      ) : null}
    </strong>
  )
}
