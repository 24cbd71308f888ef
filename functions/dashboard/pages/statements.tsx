import * as z from 'zod/mini'
import { amountOf, answerStatementCsv, noWindow, statementKey, statementQuery } from '../../../shared/api/statements.ts'
import type { Statement, StatementSum } from '../../../shared/guard/reports/statements.ts'
import { count, type Figures, figuresOf, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { bookAsOf } from '../../../shared/ledger/book/book.ts'
import { dayAt, monthNamed } from '../../../shared/ledger/book/windows.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { statementKeys } from '../../../shared/platform/words.ts'
import { addressWith, MonthField, SelectField } from '../components/lists.tsx'
import { budgetAddress, numberColumns, Section, TableHead, Time, UnitsCell, ZoneNote } from '../components/parts.tsx'
import { readFields } from '../forms.ts'
import type { PageRoutes } from '../session.tsx'

const statementsPath = '/dashboard/statements'

const { window, price } = statementQuery.shape
/** Without `by`, the page reads only the book. */
const querySchema = z.strictObject({ window, price, by: z.exactOptional(statementKey) })

export function addStatements({ page }: PageRoutes, { guard }: Services): void {
  page(statementsPath, {
    GET: async ({ query, mustHave, show }) => {
      mustHave('read')
      const { window, by, price } = readFields(query, querySchema)
      const view = await guard.ledger.view()
      const month = window ?? view.month.name
      const filters = { window: month, by, price: query.get('price') || undefined }
      const content =
        by === undefined ? (
          <BookStatement figures={await figuresIn(view, month)} filters={filters} />
        ) : (
          <DetailedStatement
            statement={await statementOf(month, by)}
            price={price}
            filters={filters}
            zone={zoneOf(view)}
          />
        )
      return show(
        'Statements',
        <>
          <Filters view={view} filters={filters} />
          {content}
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },
  })

  page(`${statementsPath}.csv`, {
    GET: async ({ c, query, mustHave, session }) => {
      mustHave('read')
      c.get('expensiveReads').admit(session.sub)
      const { window, by, price } = readFields(query, statementQuery)
      const statement = await c.get('expensiveReads').inTurn(() => statementOf(window, by))
      return answerStatementCsv(c, statement, price)
    },
  })

  /** @throws Refusal 400 */
  async function statementOf(window: string | undefined, by: Statement['by']): Promise<Statement> {
    const { statement: readStatement } = await guard.background()
    const statement = await readStatement(window ?? null, by)
    if (!statement) throw noWindow(window)
    return statement
  }

  /** @throws Refusal 400 */
  async function figuresIn(view: View, name: string): Promise<readonly Figures[]> {
    const { definitions, now } = view
    const month = monthNamed(definitions.calendar, name)
    if (!month || month.start > now) throw noWindow(name)
    const stored = name === view.month.name ? view.stored : await guard.ledger.bookNamed(name)
    // The book of an ended month keeps the limits that held at its end.
    const book =
      stored && now >= month.end
        ? stored
        : bookAsOf(stored, definitions, name, dayAt(definitions.calendar, month.start).name)
    return Object.values(definitions.budgets).map((budget) => figuresOf({ ...view, month, book }, budget, 'month'))
  }
}

const Filters = ({ view, filters }: { view: View; filters: StatementFilters }) => (
  <form method="get" action={statementsPath} class="filters" aria-label="Which statement">
    <MonthField view={view} value={filters.window} />
    <SelectField name="by" label="By" options={statementKeys} value={filters.by} emptyLabel="the book alone" />
    <p>
      <label for="price">Price of a unit, if any</label>
      <input id="price" name="price" type="text" inputmode="decimal" value={filters.price ?? ''} autocomplete="off" />
    </p>
    <p class="buttons">
      <button type="submit" class="primary">
        Show
      </button>
    </p>
    <p class="note whole">
      The book knows every budget’s figures. By budget, project or caller they are added up from what the sweep has
      counted and the updates since.
    </p>
  </form>
)

const keyLabels = { budget: 'Budget', project: 'Project', caller: 'Caller' } satisfies Record<Statement['by'], string>

interface StatementFilters {
  readonly window: string
  readonly by: Statement['by'] | undefined
  readonly price: string | undefined
}

const BookStatement = ({ figures, filters }: { figures: readonly Figures[]; filters: StatementFilters }) => (
  <>
    <BookTable figures={figures} />
    <p class="pages">
      Statement as CSV:{' '}
      {statementKeys.map((by) => (
        <a href={addressWith(`${statementsPath}.csv`, { ...filters, by })} download>
          by {by}
        </a>
      ))}
    </p>
  </>
)

const BookTable = ({ figures }: { figures: readonly Figures[] }) => (
  <div class="wide">
    <table class="rows">
      <caption>Every budget as the month’s book has it; what a child used counts in its parents, too</caption>
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
            <UnitsCell name="Spent" units={spent} />
            <UnitsCell name="Held" units={held} />
            <UnitsCell name="In doubt" units={inDoubt} />
            <UnitsCell name="Left" units={limit === 'unlimited' ? null : available} />
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

interface LinesProps {
  readonly statement: Statement
  readonly price: bigint | undefined
  readonly filters: StatementFilters
  readonly zone: string
}

function DetailedStatement({ statement, price, filters, zone }: LinesProps) {
  const { window, status, rows, previous, next } = statement
  const title = (
    <>
      <Time at={window.start} zone={zone} /> to <Time at={window.end} zone={zone} />
    </>
  )
  return (
    <>
      <Section id="statement" title={title}>
        <p>
          {status === 'open' ? 'Open: it still changes.' : 'Final: nothing of it is held or in doubt.'}{' '}
          <SumCheck statement={statement} />
        </p>
      </Section>
      {rows.length === 0 ? (
        <p class="empty">Nothing was asked for or booked in this month.</p>
      ) : (
        <StatementTable statement={statement} price={price} />
      )}
      <nav aria-label="Pages" class="pages">
        <a href={addressWith(statementsPath, { ...filters, window: previous })} rel="prev">
          The month before
        </a>
        {next === null ? null : (
          <a href={addressWith(statementsPath, { ...filters, window: next })} rel="next">
            The month after
          </a>
        )}
        <a href={addressWith(`${statementsPath}.csv`, { ...filters })} download>
          Download as CSV
        </a>
      </nav>
    </>
  )
}

function SumCheck({ statement: { spent, total, addsUp } }: { statement: Statement }) {
  if (addsUp === null) return <>The book moved while it was read, again and again: look once more.</>
  if (addsUp) return <>It adds up to the {units(spent)} that the book says were spent.</>
  return (
    <strong class="differs">
      It makes {units(total.charged + total.external)}, and the book says {count(spent)}: check{' '}
      <a href="/dashboard/activity/audit">the ledger</a>.
    </strong>
  )
}

function StatementTable({ statement: { by, rows, total }, price }: Pick<LinesProps, 'statement' | 'price'>) {
  const isByBudget = by === 'budget'
  const columns = [
    ...Object.keys(figures),
    ...(price === undefined ? [] : ['Amount']),
    ...(isByBudget ? ['Paid elsewhere'] : []),
  ]
  const amount = (row: StatementSum) =>
    price === undefined ? null : (
      <td data-name="Amount" class="number">
        {amountOf(row, price).toFixed(2)}
      </td>
    )
  return (
    <div class="wide">
      <table class="rows">
        <caption>
          Settled updates, and units; the grants of the last row are the account’s own
          {isByBudget ? '; what was paid elsewhere is charged in the rows of budgets above' : ''}
        </caption>
        <TableHead columns={[keyLabels[by], ...numberColumns(...columns)]} />
        <tbody>
          {rows.map((row) => (
            <tr>
              <th scope="row">
                <RowName by={by} name={row.key} />
              </th>
              <FigureCells sum={row} />
              {amount(row)}
              {isByBudget ? <UnitsCell name="Paid elsewhere" units={row.paidElsewhere} /> : null}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All</th>
            <FigureCells sum={total} />
            {amount(total)}
            {isByBudget ? <td data-name="Paid elsewhere" /> : null}
          </tr>
        </tfoot>
      </table>
    </div>
  )
}

function RowName({ by, name }: { by: Statement['by']; name: string | null }) {
  if (name === null) return <>outside the guard</>
  return <a href={by === 'budget' ? budgetAddress(name) : addressWith('/dashboard/updates', { [by]: name })}>{name}</a>
}

const figures = {
  Updates: 'updates',
  Charged: 'charged',
  External: 'external',
  Granted: 'granted',
  Held: 'held',
  'In doubt': 'inDoubt',
  Refused: 'refused',
} as const satisfies Record<string, keyof StatementSum>

const FigureCells = ({ sum }: { sum: StatementSum }) => (
  <>
    {Object.entries(figures).map(([name, figure]) => (
      <UnitsCell name={name} units={sum[figure]} />
    ))}
  </>
)
