import { amountOf } from '../../../shared/api/statements.ts'
import {
  type Statement,
  type StatementRow,
  type StatementSum,
  statementKeys,
} from '../../../shared/guard/reports/statements.ts'
import { count, type Figures, units } from '../../../shared/guard/sentences.ts'
import { addressWith } from './cursor-links.tsx'
import { budgetAddress, Time, Units } from './parts.tsx'

/** Two ways to see where a month's units went: its book alone, and its lines added up. */

export const statementsPath = '/dashboard/statements'

const heads = { budget: 'Budget', project: 'Project', caller: 'Caller' } satisfies Record<Statement['by'], string>

export interface StatementQuery {
  readonly window: string
  readonly by: Statement['by'] | undefined
  readonly price: string | undefined
}

export const FromBook = ({ figures, asked }: { figures: readonly Figures[]; asked: StatementQuery }) => (
  <>
    <BookTable figures={figures} />
    <p class="pages">
      Statement as CSV:{' '}
      {statementKeys.map((by) => (
        <a href={addressWith(`${statementsPath}.csv`, { ...asked, by })} download>
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
      <thead>
        <tr>
          <th scope="col">Budget</th>
          {['Limit', 'Granted', 'Spent', 'Held', 'In doubt', 'Left'].map((name) => (
            <th scope="col" class="number">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {figures.map(({ budget, limit, granted, spent, held, inDoubt, available }) => (
          <tr>
            <th scope="row">
              <a href={budgetAddress(budget)}>{budget}</a>
            </th>
            <td data-name="Limit" class="number">
              {limit === 'unlimited' ? 'none' : count(limit)}
            </td>
            <Cell name="Granted" of={granted} />
            <Cell name="Spent" of={spent} />
            <Cell name="Held" of={held} />
            <Cell name="In doubt" of={inDoubt} />
            <Cell name="Left" of={limit === 'unlimited' ? null : available} />
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

export function FromLines({
  of,
  price,
  asked,
  zone,
}: {
  of: Statement
  price: bigint | undefined
  asked: StatementQuery
  zone: string
}) {
  const { window, status, by, rows, total, previous, next } = of
  return (
    <>
      <section aria-labelledby="statement">
        <h2 id="statement">
          <Time at={window.start} zone={zone} /> to <Time at={window.end} zone={zone} />
        </h2>
        <p>
          {status === 'open' ? 'Open: it still changes.' : 'Final: nothing of it is held or in doubt.'}{' '}
          <AddsUp of={of} />
        </p>
      </section>
      {rows.length === 0 ? (
        <p class="empty">Nothing was asked for or booked in this month.</p>
      ) : (
        <Lines by={by} rows={rows} total={total} price={price} />
      )}
      <nav aria-label="Pages" class="pages">
        <a href={addressWith(statementsPath, { ...asked, window: previous })} rel="prev">
          The month before
        </a>
        {next === null ? null : (
          <a href={addressWith(statementsPath, { ...asked, window: next })} rel="next">
            The month after
          </a>
        )}
        <a href={addressWith(`${statementsPath}.csv`, { ...asked })} download>
          Download as CSV
        </a>
      </nav>
    </>
  )
}

function AddsUp({ of: { spent, total, addsUp } }: { of: Statement }) {
  if (addsUp === null) return <>The book moved while it was read, again and again: look once more.</>
  if (addsUp) return <>It adds up to the {units(spent)} that the book says were spent.</>
  return (
    <strong class="differs">
      It makes {units(total.charged + total.external)}, and the book says {count(spent)}: check{' '}
      <a href="/dashboard/ledger/audit">the ledger</a>.
    </strong>
  )
}

function Lines({
  by,
  rows,
  total,
  price,
}: {
  by: Statement['by']
  rows: readonly StatementRow[]
  total: StatementSum
  price: bigint | undefined
}) {
  const isByBudget = by === 'budget'
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
        <thead>
          <tr>
            <th scope="col">{heads[by]}</th>
            {['Updates', 'Charged', 'External', 'Granted', 'Held', 'In doubt', 'Refused'].map((name) => (
              <th scope="col" class="number">
                {name}
              </th>
            ))}
            {price === undefined ? null : (
              <th scope="col" class="number">
                Amount
              </th>
            )}
            {isByBudget ? (
              <th scope="col" class="number">
                Paid elsewhere
              </th>
            ) : null}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              <th scope="row">
                <Key by={by} of={row.key} />
              </th>
              <Figure of={row} />
              {amount(row)}
              {isByBudget ? <Cell name="Paid elsewhere" of={row.paidElsewhere} /> : null}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All</th>
            <Figure of={total} />
            {amount(total)}
            {isByBudget ? <td data-name="Paid elsewhere" /> : null}
          </tr>
        </tfoot>
      </table>
    </div>
  )
}

function Key({ by, of }: { by: Statement['by']; of: string | null }) {
  if (of === null) return <>outside the guard</>
  return <a href={by === 'budget' ? budgetAddress(of) : addressWith('/dashboard/updates', { [by]: of })}>{of}</a>
}

const Figure = ({ of }: { of: StatementSum }) => (
  <>
    <Cell name="Updates" of={of.updates} />
    <Cell name="Charged" of={of.charged} />
    <Cell name="External" of={of.external} />
    <Cell name="Granted" of={of.granted} />
    <Cell name="Held" of={of.held} />
    <Cell name="In doubt" of={of.inDoubt} />
    <Cell name="Refused" of={of.refused} />
  </>
)

const Cell = ({ name, of }: { name: string; of: number | null }) => (
  <td data-name={name} class="number">
    <Units of={of} />
  </td>
)
