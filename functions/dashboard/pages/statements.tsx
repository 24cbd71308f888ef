import * as z from 'zod/mini'
import { answerStatementCsv, noWindow, statementKey, statementQuery } from '../../../shared/api/statements.ts'
import { type Statement, statementKeys } from '../../../shared/guard/reports/statements.ts'
import { type Figures, figuresOf, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { bookAsOf } from '../../../shared/ledger/book/book.ts'
import { dayAt, monthNamed } from '../../../shared/ledger/book/windows.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { MonthChoice } from '../components/months.tsx'
import { InZone } from '../components/parts.tsx'
import { FromBook, FromLines, type StatementQuery, statementsPath } from '../components/statement-tables.tsx'
import { readFields } from '../forms.ts'
import type { PageRoutes } from '../session.tsx'

const { window, price } = statementQuery.shape
/** Without `by` the book alone is read. */
const pageQuery = z.strictObject({ window, price, by: z.exactOptional(statementKey) })

/** Where the units of a month went. */
export function addStatements({ page }: PageRoutes, { guard }: Services): void {
  page(statementsPath, {
    GET: async ({ c, mustHave, show }) => {
      mustHave('read')
      const query = new URL(c.req.url).searchParams
      const { window, by, price } = readFields(query, pageQuery)
      const view = await guard.ledger.view()
      const month = window ?? view.month.name
      const asked = { window: month, by, price: query.get('price') || undefined }
      const content =
        by === undefined ? (
          <FromBook figures={await figuresIn(view, month)} asked={asked} />
        ) : (
          <FromLines of={await statementOf(month, by)} price={price} asked={asked} zone={zoneOf(view)} />
        )
      return show(
        'Statements',
        <>
          <Choice view={view} asked={asked} />
          {content}
          <InZone zone={zoneOf(view)} />
        </>,
      )
    },
  })

  page(`${statementsPath}.csv`, {
    GET: async ({ c, mustHave, session }) => {
      mustHave('read')
      c.get('expensiveReads').admit(session.sub)
      const { window, by, price } = readFields(new URL(c.req.url).searchParams, statementQuery)
      const statement = await c.get('expensiveReads').inTurn(() => statementOf(window, by))
      return answerStatementCsv(c, statement, price)
    },
  })

  /** @throws Refusal 400 */
  async function statementOf(window: string | undefined, by: Statement['by']): Promise<Statement> {
    const { statement: read } = await guard.background()
    const statement = await read(window ?? null, by)
    if (!statement) throw noWindow(window)
    return statement
  }

  /** What the month's book says of every budget there is. @throws Refusal 400 */
  async function figuresIn(view: View, name: string): Promise<readonly Figures[]> {
    const { definitions, now } = view
    const month = monthNamed(definitions.calendar, name)
    if (!month || month.start > now) throw noWindow(name)
    const stored = name === view.month.name ? view.stored : await guard.ledger.bookNamed(name)
    // A book that is over keeps the limits that it ended with.
    const book =
      stored && now >= month.end
        ? stored
        : bookAsOf(stored, definitions, name, dayAt(definitions.calendar, month.start).name)
    return Object.values(definitions.budgets).map((budget) => figuresOf({ ...view, month, book }, budget, 'month'))
  }
}

const Choice = ({ view, asked }: { view: View; asked: StatementQuery }) => (
  <form method="get" action={statementsPath} class="filters" aria-label="Which statement">
    <MonthChoice view={view} chosen={asked.window} />
    <p>
      <label for="by">By</label>
      <select id="by" name="by">
        <option value="">the book alone</option>
        {statementKeys.map((key) => (
          <option value={key} selected={key === asked.by}>
            {key}
          </option>
        ))}
      </select>
    </p>
    <p>
      <label for="price">Price of a unit, if any</label>
      <input id="price" name="price" type="text" inputmode="decimal" value={asked.price ?? ''} autocomplete="off" />
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
