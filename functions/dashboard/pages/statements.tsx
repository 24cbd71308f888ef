import type * as z from 'zod/mini'
import { answerStatementCsv, statementQuery } from '../../../shared/api/reports/statements.ts'
import { noWindow } from '../../../shared/api/windows.ts'
import type { Guard } from '../../../shared/guard/guard.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { monthNamed } from '../../../shared/ledger/definitions/windows.ts'
import { tagKeyIn } from '../../../shared/platform/words.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { isFinal, type Statement } from '../../../shared/reports/statements/statements.ts'
import { periodOf } from '../components/period.tsx'
import { addPeriodPage, type PeriodRequest } from '../components/period-page.tsx'
import { UpdateLines } from '../components/update-table.tsx'
import { activityPath, say, Time } from '../kit/parts.tsx'
import type { PageRoutes } from '../kit/session.tsx'
import { StatementTable } from './statement-table.tsx'

/** The page lists at most this many open updates. */
const maxOpen = 100

export function addStatements(routes: PageRoutes): void {
  addPeriodPage(routes, {
    title: 'Statements',
    path: '/dashboard/statements',
    schema: statementQuery,
    fields: ['price'],
    periodOf: (view, { window }) => periodOf(view, { window }),
    read: readStatement,
    csv: async ({ c, guard }, { window, by, price }) => {
      const statement = await c.get('expensiveReads').inTurn(() => statementOf(guard, window, by))
      return answerStatementCsv(c, statement, price)
    },
  })
}

async function readStatement({ visit, view, period, filters, query }: PeriodRequest<StatementFilters>) {
  const { by, price } = filters
  const details = await detailsOf(visit.guard, view, (period.month ?? view.month).name, by)
  const { statement } = details
  return {
    tabs: { label: 'Statements', name: 'by', chosen: by, of: tabsOf(statement) },
    form: {
      label: 'Amounts',
      hidden: { window: query.window, by: query.by },
      fold: 'Price of a unit',
      fields: [{ name: 'price', label: 'One unit costs', isDecimal: true as const }],
    },
    content: (
      <>
        <FinalitySentence statement={statement} view={view} />
        <p>
          <SumCheck statement={statement} mayAudit={visit.permissions.readsBudgets === '*'} />
        </p>
        <StatementTable {...details} price={price} />
      </>
    ),
  }
}

type StatementFilters = z.output<typeof statementQuery>

/** Adds the statement of the month before, if the ledger existed. @throws Refusal 400 */
async function detailsOf(guard: Guard, { definitions }: View, month: string, by: Statement['by']) {
  const statement = await statementOf(guard, month, by)
  const before = monthNamed(definitions.calendar, statement.previous)
  const previous = before && before.end > definitions.createdAt ? await statementOf(guard, before.name, by) : null
  return { statement, previous, definitions }
}

/** @throws Refusal 400 */
async function statementOf(guard: Guard, window: string | undefined, by: Statement['by']): Promise<Statement> {
  const reports = await reportsOf(guard)
  const statement = await reports.statement(window ?? null, by)
  if (!statement) throw noWindow(await guard.ledger.view(), window ?? '')
  return statement
}

function FinalitySentence({ statement, view }: { statement: Statement; view: View }) {
  const { notFinal, correctedAt, window } = statement
  const { isOver, updates } = notFinal
  if (isFinal(notFinal))
    return (
      <p>
        Final: nothing is held or in doubt.
        {correctedAt === null ? null : say` Corrected on ${<Time at={correctedAt} zone={zoneOf(view)} />}.`}
      </p>
    )
  return (
    <>
      <p>
        Open: figures still change
        {isOver ? null : say` until the month ends on ${<Time at={window.end} zone={zoneOf(view)} />}`}
        {updates.length === 0 ? '.' : `${isOver ? '' : ', and'} until these updates end:`}
      </p>
      <UpdateLines updates={updates.slice(0, maxOpen)} view={view} />
    </>
  )
}

const maxTagTabs = 10

function tabsOf({ by, tagKeys }: Statement) {
  const shown = tagKeyIn(by)
  const keys = [...new Set([...(shown === null ? [] : [shown]), ...tagKeys])].slice(0, maxTagTabs)
  return [
    ['budget', 'By budget'] as const,
    ['project', 'By project'] as const,
    ['caller', 'By person'] as const,
    ...keys.toSorted().map((key) => [`tag:${key}`, `By tag ${key}`] as const),
  ]
}

function SumCheck({ statement: { spent, total, addsUp }, mayAudit }: { statement: Statement; mayAudit: boolean }) {
  if (addsUp === null) return <>The book changed while it was read. Load the page again.</>
  if (addsUp) return <>The rows add up to the {units(spent)} spent in the book.</>
  return (
    <strong class="differs">
      The rows add up to {units(total.charged + total.external)}, but the book has {count(spent)}.
      {mayAudit && say` ${<a href={`${activityPath}#audit`}>Audit the books</a>}.`}
    </strong>
  )
}
