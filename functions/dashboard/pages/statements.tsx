import * as z from 'zod/mini'
import { answerStatementCsv, statementKey, statementQuery } from '../../../shared/api/reports/statements.ts'
import { noWindow } from '../../../shared/api/windows.ts'
import type { Guard } from '../../../shared/guard/guard.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { monthNamed, type Window } from '../../../shared/ledger/definitions/windows.ts'
import { tagKeyIn } from '../../../shared/platform/words.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { correctedAtIn, isFinal, notFinalOf, type Statement } from '../../../shared/reports/statements/statements.ts'
import { MonthTable } from '../components/budget-table.tsx'
import { FieldFault, inputAttributes } from '../components/fields.tsx'
import { activityPath, say, Time, ZoneNote } from '../components/parts.tsx'
import { periodOf, Subhead } from '../components/period.tsx'
import { UpdateLines } from '../components/update-table.tsx'
import type { FieldFaults } from '../flash.ts'
import { isEmpty, readFields, readFilters } from '../forms.ts'
import { addressWith, Chips } from '../kit/list.tsx'
import type { PageRoutes } from '../session.tsx'
import { StatementTable } from './statement-table.tsx'

/** The page lists at most this many open updates. */
const maxOpen = 100

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
      const month = period.month ?? view.month
      const filters = { window, by, price: query.get('price') || undefined }
      const details = by === undefined ? null : await detailsOf(guard, view, month.name, by)
      const csv = { ...filters, window: window ?? view.month.name, by: by ?? 'budget' }
      return show(
        'Statements',
        <>
          <Subhead path={statementsPath} filters={filters} period={period} view={view} ofCsv={csv} />
          <Chips
            label="Statements"
            of={[...tabs, ...tagTabs(by, details?.statement.tagKeys ?? [])].map(
              ([tab, text]) => [text, addressWith(statementsPath, { ...filters, by: tab }), by === tab] as const,
            )}
          />
          <FinalitySentence
            view={view}
            month={month}
            {...(details?.statement ?? (await finalityIn(guard, view, month)))}
          />
          {details === null ? (
            await bookTable(guard, view, month)
          ) : (
            <>
              <p>
                <SumCheck statement={details.statement} mayAudit={permissions.readsBudgets === '*'} />
              </p>
              <StatementTable {...details} price={price} />
            </>
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

type Finality = Pick<Statement, 'notFinal' | 'correctedAt'>

const maxCorrections = 100

async function finalityIn({ ledger }: Guard, view: View, month: Window): Promise<Finality> {
  const open = await Promise.all((['running', 'in-doubt'] as const).map((state) => ledger.open(state, maxOpen)))
  const updates = open.flatMap(({ rows }) => rows)
  const late = { month: month.name, since: month.end, types: ['correction'] } as const
  const corrections = view.now < month.end ? [] : (await ledger.entries(late, maxCorrections)).rows
  return { notFinal: notFinalOf(view, month, updates), correctedAt: correctedAtIn(corrections, month) }
}

function FinalitySentence({ notFinal, correctedAt, view, month }: Finality & { view: View; month: Window }) {
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
        {isOver ? null : say` until the month ends on ${<Time at={month.end} zone={zoneOf(view)} />}`}
        {updates.length === 0 ? '.' : `${isOver ? '' : ', and'} until these updates end:`}
      </p>
      <UpdateLines updates={updates.slice(0, maxOpen)} view={view} />
    </>
  )
}

async function bookTable(guard: Guard, view: View, month: Window) {
  const reports = await reportsOf(guard)
  const rows = await reports.monthFigures(view, month)
  return <MonthTable rows={rows} costs={await reports.spentCosts(view, rows, month)} />
}

const tabs = [
  [undefined, 'Summary'],
  ['budget', 'By budget'],
  ['project', 'By project'],
  ['caller', 'By person'],
] as const

const maxTagTabs = 10

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

type StatementFilters = Readonly<Record<'window' | 'by' | 'price', string | undefined>>

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
