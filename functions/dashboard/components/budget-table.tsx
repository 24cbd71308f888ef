import type { Child } from 'hono/jsx'
import * as z from 'zod/mini'
import type { BudgetOutlook } from '../../../shared/guard/reports/outlook.ts'
import type { SpentCosts } from '../../../shared/guard/reports/statements.ts'
import { count, type Figures } from '../../../shared/guard/sentences.ts'
import { limitOf } from '../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { addressWith } from '../kit/list.tsx'
import { Bar } from './charts.tsx'
import { isAtRisk, LeftAtReset, Pill, totalOf } from './outlook.tsx'
import { budgetAddress, joined, numberColumns, Section, TableHead, Units, UnitsCell } from './parts.tsx'

const sorts = ['risk', 'name', 'spent'] as const
const filters = ['all', 'at risk', 'frozen'] as const
export const tableFields = { sort: z.exactOptional(z.enum(sorts)), show: z.exactOptional(z.enum(filters)) }
type Sort = (typeof sorts)[number]
type Filter = (typeof filters)[number]
type TableQuery = Readonly<{ sort?: Sort; show?: Filter }>

interface TableProps {
  readonly view: View
  /** In the order of risk. */
  readonly budgets: readonly BudgetOutlook[]
  readonly query: TableQuery
  readonly path: string
  readonly costs: SpentCosts
}

export function BudgetTable({ view, budgets, query, path, costs }: TableProps) {
  const { sort = 'risk', show = 'all' } = query
  const rows = sorted(budgets, sort).filter(([outlook]) => isShown(outlook, show))
  return (
    <Section id="budgets" title={tableTitle(sort, show, path)}>
      {rows.length === 0 ? <p class="empty">No budget is {show}.</p> : null}
      <div class="scroll">
        <table class="dense">
          <TableHead
            columns={[
              ...['Budget', 'Status', 'Used and committed'],
              ...numberColumns('Left', 'Spent', 'Plans to come', 'Left at reset', 'Updates it can still pay'),
            ]}
          />
          <tbody>
            {rows.map(([outlook, depth]) => (
              <BudgetLine {...{ outlook, depth, view, costs }} />
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  )
}

interface LineProps extends Pick<TableProps, 'view' | 'costs'> {
  readonly outlook: BudgetOutlook
  readonly depth: number
}

function BudgetLine({ outlook, depth, view, costs }: LineProps) {
  const { budget, figures, month, day } = outlook
  const definition = view.definitions.budgets[budget]
  const hasDay = definition !== undefined && limitOf(definition, 'day') !== 'unlimited'
  return (
    <tr>
      <th scope="row" class={`depth-${depth}`}>
        {depth === 0 ? null : <span class="hidden">{`Level ${depth}: `}</span>}
        <a href={budgetAddress(budget)}>{budget}</a>
      </th>
      <td data-name="Status">
        <Pill reason={outlook.reasons[0]} view={view} />
        {figures.enforce === false ? <span class="note"> observed</span> : null}
      </td>
      <td data-name="Used and committed" class="bar-cell">
        <Bar figures={figures} committed={month.committed} />
      </td>
      <td data-name="Left" class="number">
        {totalOf(figures) === null ? <span class="unknown">no limit</span> : count(figures.available)}
        {hasDay && day.available !== null ? <span class="note"> {count(day.available)} today</span> : null}
      </td>
      <UnitsCell name="Spent" units={figures.spent} cost={costs.get(budget)} />
      <UnitsCell name="Plans to come" units={month.committed} />
      <td data-name="Left at reset" class="number">
        <LeftAtReset outlook={outlook} />
      </td>
      <td data-name="Updates it can still pay" class="number">
        <Units units={month.updatesLeft} />
      </td>
    </tr>
  )
}

/** The only one of a reader's budgets may have been deleted. */
export const NoBudgets = () => (
  <p class="empty">You may read no budget. Ask an administrator of Unit Guard to list one for you.</p>
)

const isShown = (outlook: BudgetOutlook, show: Filter): boolean =>
  show === 'all' || (show === 'frozen' ? outlook.status === 'frozen' : isAtRisk(outlook))

/** By name it is a tree, with the depth of each budget. */
function sorted(budgets: readonly BudgetOutlook[], sort: Sort): readonly (readonly [BudgetOutlook, number])[] {
  if (sort === 'risk') return budgets.map((each) => [each, 0])
  if (sort === 'spent') return budgets.toSorted((a, b) => b.figures.spent - a.figures.spent).map((each) => [each, 0])
  const below = (parent: string | null, depth: number): (readonly [BudgetOutlook, number])[] =>
    budgets
      .filter((each) => each.parent === parent)
      .toSorted((a, b) => (a.budget < b.budget ? -1 : 1))
      .flatMap((each) => [[each, depth] as const, ...below(each.budget, depth + 1)])
  return below(null, 0)
}

function tableTitle(sort: Sort, show: Filter, path: string): Child {
  const choices = <Name extends string>(names: readonly Name[], chosen: Name, to: (name: Name) => TableQuery) => {
    const link = (name: Name) => <a href={`${addressWith(path, to(name))}#budgets`}>{name}</a>
    return joined(
      names.map((name) => (name === chosen ? <strong aria-current="true">{name}</strong> : link(name))),
      ' · ',
    )
  }
  return (
    <>
      Budgets
      <span class="choices">sort: {choices(sorts, sort, (name) => ({ sort: name, show }))}</span>
      <span class="choices">filter: {choices(filters, show, (name) => ({ sort, show: name }))}</span>
    </>
  )
}

export const PastTable = ({ rows, costs }: { rows: readonly Figures[]; costs: SpentCosts }) => (
  <Section id="budgets" title="Budgets">
    <div class="scroll">
      <table class="dense">
        <TableHead columns={['Budget', 'Used', ...numberColumns('Limit and grants', 'Spent', 'Left')]} />
        <tbody>
          {rows.map((figures) => (
            <tr>
              <th scope="row">
                <a href={budgetAddress(figures.budget)}>{figures.budget}</a>
              </th>
              <td data-name="Used" class="bar-cell">
                <Bar figures={figures} />
              </td>
              <UnitsCell name="Limit and grants" units={totalOf(figures)} />
              <UnitsCell name="Spent" units={figures.spent} cost={costs.get(figures.budget)} />
              <UnitsCell name="Left" units={totalOf(figures) === null ? null : figures.available} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </Section>
)
