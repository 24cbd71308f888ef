import { amountOf } from '../../../shared/api/statements.ts'
import type { Statement, StatementRow, StatementSum } from '../../../shared/guard/reports/statements.ts'
import { type Definitions, personOf } from '../../../shared/ledger/book/definitions.ts'
import { tagKeyIn } from '../../../shared/platform/words.ts'
import { addressWith } from '../components/lists.tsx'
import { budgetAddress, numberColumns, TableHead, UnitsCell } from '../components/parts.tsx'

export interface DetailsProps {
  readonly statement: Statement
  /** The month before; `null`: before the ledger began. */
  readonly previous: Statement | null
  readonly definitions: Definitions
  readonly price: bigint | undefined
  readonly currency: string | null
}

const keyLabels: Readonly<Record<string, string>> = { budget: 'Budget', project: 'Project', caller: 'Person' }

interface ShownRow extends StatementRow {
  /** The callers of a person. */
  readonly keys: readonly (string | null)[]
}

function shownRows({ by, rows }: Statement, definitions: Definitions): readonly ShownRow[] {
  const merged = new Map<string | null, ShownRow>()
  for (const row of rows) {
    const key = by === 'caller' && row.key !== null ? personOf(definitions, row.key) : row.key
    const before = merged.get(key)
    const sums = Object.fromEntries(summed.map((name) => [name, row[name] + (before?.[name] ?? 0)]))
    merged.set(key, { ...row, ...sums, key, keys: [...(before?.keys ?? []), row.key] })
  }
  return [...merged.values()].toSorted((a, b) => spentOf(b) - spentOf(a))
}

const spentOf = ({ charged, external }: Pick<StatementSum, 'charged' | 'external'>): number => charged + external

export function StatementTable({ statement, previous, definitions, price, currency }: DetailsProps) {
  const amount = currency === null ? 'Amount' : `Amount, ${currency}`
  const { by, total } = statement
  const overNames = total.wouldHaveRefused === 0 ? [] : (['Over limits', 'Their units'] as const)
  const isByBudget = by === 'budget'
  const notes = [
    ...(isByBudget ? ['“Paid elsewhere” is charged in the rows of budgets above.'] : []),
    ...(overNames.length > 0 ? ['“Over limits”: updates that enforcing observed limits would have refused.'] : []),
  ]
  const columns = [
    ...['Updates', 'Charged', 'External', 'Share', ...(previous ? ['Last month'] : [])],
    ...(price === undefined ? [] : [amount]),
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
      {price === undefined ? null : (
        <td data-name={amount} class="number">
          {amountOf(row, price).toFixed(2)}
        </td>
      )}
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

function RowName({ by, row: { key, keys } }: { by: Statement['by']; row: ShownRow }) {
  const tag = tagKeyIn(by)
  if (key === null) return <>{tag === null ? 'outside the guard' : `without ${tag}, or outside the guard`}</>
  if (tag !== null) return <a href={addressWith('/dashboard/updates', { tag: `${tag}:${key}` })}>{key}</a>
  const [only, ...others] = keys
  if (others.length > 0 || only !== key)
    return (
      <>
        {key} <span class="note">{keys.join(', ')}</span>
      </>
    )
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

const summed = [...Object.values(figures), 'paidElsewhere'] as const

const FigureCells = ({ sum, names }: { sum: StatementSum; names: readonly (keyof typeof figures)[] }) => (
  <>
    {names.map((name) => (
      <UnitsCell name={name} units={sum[figures[name]]} />
    ))}
  </>
)
