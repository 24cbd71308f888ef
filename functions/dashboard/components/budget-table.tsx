import type { Child } from 'hono/jsx'
import * as z from 'zod/mini'
import { count, keptIn, list } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { deletedIn, type FiguresInMonth } from '../../../shared/reports/history.ts'
import type { BudgetOutlook } from '../../../shared/reports/outlook.ts'
import type { SpentCosts } from '../../../shared/reports/statements/statements.ts'
import { addressWith, List } from '../kit/list.tsx'
import { BudgetLink, joined, Section } from '../kit/parts.tsx'
import { Bar } from './charts.tsx'
import { isAtRisk, LeftAtReset, Pill, PlansToCome, totalOf } from './outlook.tsx'

const sorts = ['risk', 'name', 'spent'] as const
const filters = ['all', 'at risk', 'frozen'] as const
export const tableFields = { sort: z.exactOptional(z.enum(sorts)), show: z.exactOptional(z.enum(filters)) }
type Sort = (typeof sorts)[number]
type Filter = (typeof filters)[number]
type TableQuery = Readonly<{ sort?: Sort; show?: Filter }>

interface TableProps {
  readonly view: View
  /** Sorted by risk. */
  readonly budgets: readonly BudgetOutlook[]
  readonly query: TableQuery
  readonly path: string
  readonly costs: SpentCosts
  /** The order without a choice of the reader. */
  readonly usualSort: Sort
}

export function BudgetTable({ view, budgets, query, path, costs, usualSort }: TableProps) {
  const { sort = usualSort, show = 'all' } = query
  const deleted = deletedIn(view)
  return (
    <Section id="budgets" title={tableTitle(sort, show, path)}>
      <List
        isInset
        class="dense"
        empty={show === 'all' ? noBudgets : `No budget is ${show}.`}
        rows={sorted(budgets, sort).filter(([outlook]) => isShown(outlook, show))}
        rowClass={([, depth]) => `depth-${depth}`}
        columns={[
          {
            name: 'Budget',
            isHead: true,
            cell: ([{ budget }, depth]) => [
              depth > 0 && <span class="hidden">{`Level ${depth}: `}</span>,
              <BudgetLink name={budget} />,
            ],
          },
          {
            name: 'Status',
            cell: ([{ reasons, next }]) => <Pill reason={reasons[0]} view={view} title={next?.sentence} />,
            note: ([{ figures }]) => figures.enforce === false && 'observed',
          },
          {
            name: 'Used and committed',
            class: 'bar-cell',
            cell: ([{ figures, month }]) => <Bar figures={figures} committed={month.committed} />,
          },
          { name: 'Limit and grants', units: ([{ figures }]) => totalOf(figures) },
          {
            name: 'Left',
            isNumber: true,
            cell: ([{ figures }]) => (totalOf(figures) === null ? noLimit : count(figures.available)),
            note: ([{ day, figures }]) =>
              list([
                ...(day.available === null ? [] : [`${count(day.available)} today`]),
                ...(keptIn(figures) > 0 ? [`${count(keptIn(figures))} for plans`] : []),
              ]),
          },
          {
            name: 'Spent',
            units: ([{ figures }]) => figures.spent,
            cost: ([{ budget }]) => costs.get(budget),
          },
          { name: 'Plans to come', isNumber: true, cell: ([outlook]) => <PlansToCome month={outlook.month} /> },
          { name: 'Left at reset', isNumber: true, cell: ([outlook]) => <LeftAtReset outlook={outlook} /> },
        ]}
      />
      {deleted.length === 0 ? null : (
        <p class="note">
          Deleted this month: {list(deleted.map(({ budget, spent }) => `${budget} (${count(spent)} spent)`))}. Their
          units stay counted in the budgets that were above them.
        </p>
      )}
    </Section>
  )
}

const noLimit = <span class="unknown">no limit</span>

/** Shown if every budget that the reader may see was deleted. */
const noBudgets = 'You may read no budget. Ask an administrator of Unit Guard to list one for you.'

export const NoBudgets = () => <p class="empty">{noBudgets}</p>

const isShown = (outlook: BudgetOutlook, show: Filter): boolean =>
  show === 'all' || (show === 'frozen' ? outlook.status === 'frozen' : isAtRisk(outlook))

/** Sorting by name gives a tree, with the depth of each budget. */
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

export const MonthTable = ({ rows, costs }: { rows: readonly FiguresInMonth[]; costs: SpentCosts }) => (
  <Section id="budgets" title="Budgets">
    <p class="note">
      Units that a budget uses count in its parents, too
      {rows.some(({ isDeleted }) => isDeleted) ? ', and stay counted there after it is deleted.' : '.'}
    </p>
    <List
      isInset
      class="dense of-month"
      rows={rows}
      columns={[
        {
          name: 'Budget',
          isHead: true,
          cell: ({ budget, isDeleted }) => (isDeleted ? `${budget} (deleted)` : <BudgetLink name={budget} />),
        },
        { name: 'Used', class: 'bar-cell', cell: (figures) => <Bar figures={figures} /> },
        { name: 'Limit', isNumber: true, cell: ({ limit }) => (limit === 'unlimited' ? 'none' : count(limit)) },
        { name: 'Granted', units: ({ granted }) => granted },
        { name: 'Spent', units: ({ spent }) => spent, cost: ({ budget }) => costs.get(budget) },
        { name: 'Held', units: ({ held }) => held },
        { name: 'In doubt', units: ({ inDoubt }) => inDoubt },
        { name: 'Left', units: (figures) => (totalOf(figures) === null ? null : figures.available) },
      ]}
    />
  </Section>
)
