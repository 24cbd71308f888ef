import type { Child } from 'hono/jsx'
import { amountOf, pricesOf } from '../../../shared/api/reports/statements.ts'
import { costOf } from '../../../shared/guard/money.ts'
import { list, percent, shownCaller, units } from '../../../shared/guard/sentences.ts'
import { type Definitions, planOfCaller } from '../../../shared/ledger/definitions/definitions.ts'
import { figuresOverLimits, type StatementFigure, tagKeyIn } from '../../../shared/platform/words.ts'
import {
  emptyRow,
  type StatementRow,
  type StatementSum,
  sumOfRows,
} from '../../../shared/reports/statements/statement-rows.ts'
import type { Statement } from '../../../shared/reports/statements/statements.ts'
import { PlanName } from '../components/people.tsx'
import { addressWith, List } from '../kit/list.tsx'
import { budgetAddress, personAddress, projectAddress } from '../kit/parts.tsx'

interface DetailsProps {
  readonly statement: Statement
  /** The statement of the month before. `null`: the ledger did not exist yet. */
  readonly previous: Statement | null
  readonly definitions: Definitions
  /** The price of a unit that the reader entered. */
  readonly price: bigint | undefined
}

const keyLabels: Readonly<Record<string, string>> = { budget: 'Budget', project: 'Project', caller: 'Person' }

interface Row extends StatementSum {
  /** The callers of a person. */
  readonly keys: readonly (string | null)[]
  /** Units spent in the month before. */
  readonly last: number
  readonly paidElsewhere?: number
  readonly listedNow?: string
}

function shownRows({ by, rows }: Statement, definitions: Definitions): readonly Omit<Row, 'last'>[] {
  const merged = new Map<string | null, StatementRow & Pick<Row, 'keys'>>()
  for (const row of rows) {
    const isPerson = by === 'caller' && row.key !== null && planOfCaller(row.key) === null
    const key = isPerson ? shownCaller(definitions, row.key, row.claimedPerson) : row.key
    const before = merged.get(key)
    merged.set(key, { ...sumOfRows(before ?? emptyRow(key), row), keys: [...(before?.keys ?? []), row.key] })
  }
  return [...merged.values()].toSorted((a, b) => spentOf(b) - spentOf(a))
}

const nowOf = ({ key, listedNow }: Pick<StatementRow, 'key' | 'listedNow'>) => listedNow ?? key

const spentOf = ({ charged, external }: Pick<StatementSum, 'charged' | 'external'>): number => charged + external

const figures = {
  updates: 'Updates',
  charged: 'Charged',
  external: 'External',
  granted: 'Granted',
  held: 'Held',
  inDoubt: 'In doubt',
  refused: 'Refused',
  wouldHaveRefused: 'Over limits',
  wouldHaveRefusedUnits: 'Their units',
} as const satisfies Record<StatementFigure, string>

const figureColumns = (...names: readonly StatementFigure[]) =>
  names.map((name) => ({ name: figures[name], units: (row: StatementSum) => row[name] }))

export function StatementTable({ statement, previous, definitions, price }: DetailsProps) {
  const { by, total, currency } = statement
  const isPriced = price === undefined && currency !== null
  const isByBudget = by === 'budget'
  const isOver = total.wouldHaveRefused > 0
  const granted = statement.rows.reduce((sum, row) => sum + row.granted, 0)
  const notes = [
    ...(isPriced && total.atPrices.size > 0 ? [pricesUsed(total, currency)] : []),
    ...(isByBudget ? ['“Paid elsewhere” is charged in the rows of budgets above.'] : []),
    ...(isByBudget && granted !== total.granted
      ? ['The total of “Granted” counts only the budgets at the top, because one grant may be in several rows.']
      : []),
    ...(isOver ? ['“Over limits” counts updates that observed limits would have refused.'] : []),
  ]
  const before = new Map(previous ? shownRows(previous, definitions).map((row) => [nowOf(row), spentOf(row)]) : [])
  const share = (row: StatementSum) => percent(spentOf(row), spentOf(total))
  const amount = (row: StatementSum) => (price === undefined ? costOf(row.atPrices) : amountOf(row, price)).toFixed(2)
  return (
    <List<Row>
      class="rows updates statement"
      caption={notes.length > 0 ? notes.join(' ') : undefined}
      empty="No updates and no bookings this month."
      rows={shownRows(statement, definitions).map((row) => ({ ...row, last: before.get(nowOf(row)) ?? 0 }))}
      total={{ ...total, keys: [], last: previous ? spentOf(previous.total) : 0 }}
      columns={[
        { name: keyLabels[by] ?? `Tag ${tagKeyIn(by)}`, isHead: true, cell: (row) => rowName(by, row) },
        ...figureColumns('updates', 'charged', 'external'),
        { name: 'Share', isNumber: true, cell: (row) => (spentOf(total) === 0 ? '–' : share(row)) },
        previous && { name: 'Last month', units: ({ last }) => last },
        isPriced || price !== undefined
          ? { name: isPriced ? `Amount, ${currency}` : 'Amount', isNumber: true, cell: amount }
          : null,
        ...figureColumns('granted', 'held', 'inDoubt', 'refused'),
        isByBudget ? { name: 'Paid elsewhere', units: (row) => row.paidElsewhere } : null,
        ...(isOver ? figureColumns(...figuresOverLimits) : []),
      ]}
    />
  )
}

const pricesUsed = (total: StatementSum, currency: string): string =>
  `A unit costs ${list(pricesOf(total).map(({ from, perUnit, units: used }) => `${perUnit} ${currency}${from === undefined ? '' : ` from ${from}`} (${units(used)})`))}.`

function rowName(by: Statement['by'], { key, keys, listedNow = key ?? '' }: Row): Child {
  const tag = tagKeyIn(by)
  if (key === null) return tag === null ? 'outside the guard' : `without ${tag}, or outside the guard`
  if (tag !== null) return <a href={addressWith('/dashboard/updates', { tag: `${tag}:${key}` })}>{key}</a>
  const plan = by === 'caller' ? planOfCaller(key) : null
  if (plan !== null) return <PlanName name={plan} />
  if (by === 'budget') return <a href={budgetAddress(key)}>{key}</a>
  if (by === 'project') return <a href={projectAddress(listedNow)}>{key}</a>
  return (
    <a href={personAddress(key)} title={keys[0] === key ? undefined : keys.join(', ')}>
      {key}
    </a>
  )
}
