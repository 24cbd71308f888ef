import { amountOf, pricesOf } from '../../../shared/api/statements.ts'
import { costOf } from '../../../shared/guard/money.ts'
import {
  emptyRow,
  type Statement,
  type StatementRow,
  type StatementSum,
  sumOfRows,
} from '../../../shared/guard/reports/statements.ts'
import { list, shownCaller, units } from '../../../shared/guard/sentences.ts'
import { type Definitions, planOfCaller } from '../../../shared/ledger/book/definitions.ts'
import { tagKeyIn } from '../../../shared/platform/words.ts'
import { budgetAddress, numberColumns, TableHead, UnitsCell } from '../components/parts.tsx'
import { PlanName } from '../components/people.tsx'
import { addressWith } from '../kit/list.tsx'

export interface DetailsProps {
  readonly statement: Statement
  /** The month before; `null`: before the ledger began. */
  readonly previous: Statement | null
  readonly definitions: Definitions
  /** The reader's own. */
  readonly price: bigint | undefined
}

const keyLabels: Readonly<Record<string, string>> = { budget: 'Budget', project: 'Project', caller: 'Person' }

interface ShownRow extends StatementRow {
  /** The callers of a person. */
  readonly keys: readonly (string | null)[]
}

function shownRows({ by, rows }: Statement, definitions: Definitions): readonly ShownRow[] {
  const merged = new Map<string | null, ShownRow>()
  for (const row of rows) {
    const isPerson = by === 'caller' && row.key !== null && planOfCaller(row.key) === null
    const key = isPerson ? shownCaller(definitions, row.key, row.claimedPerson) : row.key
    const before = merged.get(key)
    merged.set(key, { ...sumOfRows(before ?? emptyRow(key), row), keys: [...(before?.keys ?? []), row.key] })
  }
  return [...merged.values()].toSorted((a, b) => spentOf(b) - spentOf(a))
}

const spentOf = ({ charged, external }: Pick<StatementSum, 'charged' | 'external'>): number => charged + external

export function StatementTable({ statement, previous, definitions, price }: DetailsProps) {
  const { by, total, currency } = statement
  const amount = price === undefined && currency !== null ? `Amount, ${currency}` : 'Amount'
  const hasAmount = price !== undefined || currency !== null
  const overNames = total.wouldHaveRefused === 0 ? [] : (['Over limits', 'Their units'] as const)
  const isByBudget = by === 'budget'
  const notes = [
    ...(price === undefined && currency !== null && total.atPrices.size > 0 ? [pricesUsed(total, currency)] : []),
    ...(isByBudget ? ['“Paid elsewhere” is charged in the rows of budgets above.'] : []),
    ...(overNames.length > 0 ? ['“Over limits”: updates that enforcing observed limits would have refused.'] : []),
  ]
  const columns = [
    ...['Updates', 'Charged', 'External', 'Share', ...(previous ? ['Last month'] : [])],
    ...(hasAmount ? [amount] : []),
    ...['Granted', 'Held', 'In doubt', 'Refused', ...(isByBudget ? ['Paid elsewhere'] : []), ...overNames],
  ]
  const before = new Map(previous ? shownRows(previous, definitions).map((row) => [row.key, spentOf(row)]) : [])
  const cells = (row: StatementSum, last: number) => (
    <>
      <FigureCells sum={row} names={['Updates', 'Charged', 'External']} />
      <td data-name="Share" class="number">
        {spentOf(total) === 0 ? '–' : `${Math.round((100 * spentOf(row)) / spentOf(total))} %`}
      </td>
      {previous ? <UnitsCell name="Last month" units={last} /> : null}
      {hasAmount ? (
        <td data-name={amount} class="number">
          {(price === undefined ? costOf(row.atPrices) : amountOf(row, price)).toFixed(2)}
        </td>
      ) : null}
      <FigureCells sum={row} names={['Granted', 'Held', 'In doubt', 'Refused']} />
    </>
  )
  return (
    <div class="wide">
      <table class="rows updates">
        {notes.length > 0 ? <caption>{notes.join(' ')}</caption> : null}
        <TableHead columns={[keyLabels[by] ?? `Tag ${tagKeyIn(by)}`, ...numberColumns(...columns)]} />
        <tbody>
          {shownRows(statement, definitions).map((row) => (
            <tr>
              <th scope="row">
                <RowName by={by} row={row} />
              </th>
              {cells(row, before.get(row.key) ?? 0)}
              {isByBudget ? <UnitsCell name="Paid elsewhere" units={row.paidElsewhere} /> : null}
              <FigureCells sum={row} names={overNames} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            {cells(total, previous ? spentOf(previous.total) : 0)}
            {isByBudget ? <td data-name="Paid elsewhere" /> : null}
            <FigureCells sum={total} names={overNames} />
          </tr>
        </tfoot>
      </table>
    </div>
  )
}

const pricesUsed = (total: StatementSum, currency: string): string =>
  `A unit costs ${list(pricesOf(total).map(({ from, perUnit, units: used }) => `${perUnit} ${currency}${from === undefined ? '' : ` from ${from}`} (${units(used)})`))}.`

function RowName({ by, row: { key, keys } }: { by: Statement['by']; row: ShownRow }) {
  const tag = tagKeyIn(by)
  if (key === null) return <>{tag === null ? 'outside the guard' : `without ${tag}, or outside the guard`}</>
  if (tag !== null) return <a href={addressWith('/dashboard/updates', { tag: `${tag}:${key}` })}>{key}</a>
  const plan = by === 'caller' ? planOfCaller(key) : null
  if (plan !== null) return <PlanName name={plan} />
  const [only, ...others] = keys
  if (others.length > 0 || only !== key) return <span title={keys.join(', ')}>{key}</span>
  return <a href={by === 'budget' ? budgetAddress(key) : addressWith('/dashboard/updates', { [by]: key })}>{key}</a>
}

const figures = {
  Updates: 'updates',
  Charged: 'charged',
  External: 'external',
  Granted: 'granted',
  Held: 'held',
  'In doubt': 'inDoubt',
  Refused: 'refused',
  'Over limits': 'wouldHaveRefused',
  'Their units': 'wouldHaveRefusedUnits',
} as const satisfies Record<string, keyof StatementSum>

const FigureCells = ({ sum, names }: { sum: StatementSum; names: readonly (keyof typeof figures)[] }) => (
  <>
    {names.map((name) => (
      <UnitsCell name={name} units={sum[figures[name]]} />
    ))}
  </>
)
