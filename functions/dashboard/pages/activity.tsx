import * as z from 'zod/mini'
import { answerCsv, csvPage } from '../../../shared/api/csv.ts'
import { entryColumns } from '../../../shared/api/entries.ts'
import { monthWindow } from '../../../shared/api/schemas.ts'
import { noWindow } from '../../../shared/api/statements.ts'
import { budgetName } from '../../../shared/guard/fields.ts'
import { differenceInWords } from '../../../shared/guard/people/differences.ts'
import { count, shownCounter, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import type { Entry } from '../../../shared/ledger/book/entry.ts'
import { monthNamed } from '../../../shared/ledger/book/windows.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { addressWith, MonthField, PageLinks, type Paging, pagingFields, SelectField } from '../components/lists.tsx'
import {
  activityPath,
  budgetAddress,
  Section,
  TableHead,
  Time,
  UnitsCell,
  words,
  ZoneNote,
} from '../components/parts.tsx'
import { readFields } from '../forms.ts'
import type { PageRoutes } from '../session.tsx'
import { AuditForm, AuditResult, auditPath } from './audit.tsx'

const path = activityPath
const pageSize = 50

const querySchema = z.strictObject({
  window: z.exactOptional(monthWindow),
  budget: z.exactOptional(budgetName),
  ...pagingFields,
})
type Filters = Omit<z.output<typeof querySchema>, keyof Paging>

/** Entries are bookings without an update, such as grants, transfers and freezes. */
export function addActivity({ page }: PageRoutes, { guard: { ledger } }: Services): void {
  page(path, {
    GET: async ({ query, mustHave, show, frame }) => {
      mustHave('read')
      const { cursor, trail, ...filters } = readFields(query, querySchema)
      const view = await ledger.view()
      const filter = filterOf(filters, view)
      const [{ rows, next }, audit] = await Promise.all([ledger.entries(filter, pageSize, cursor), ledger.lastAudit()])
      const zone = zoneOf(view)
      return show(
        'Activity',
        <>
          <p class="note">
            Each line is one change of the book that no update made; lines never change, and a wrong one is corrected by
            another. Every update has its own lines in its history.
          </p>
          <p>
            <a href={addressWith(`${activityPath}.csv`, filters)} download>
              Download as CSV
            </a>
          </p>
          <Filters filters={filters} view={view} month={filter.month} />
          {rows.length === 0 ? <EmptyList isEnd={next === undefined} /> : <EntryTable rows={rows} zone={zone} />}
          <PageLinks path={path} filters={filters} paging={{ cursor, trail }} next={next} />
          <Section id="audit" title="Do the books add up?">
            <p>
              An audit takes every line of the month before, of this one and of the next, adds them up, and compares the
              sums with the books. It reads all of their updates, so it is made every night, and when somebody asks for
              it.
            </p>
            <AuditResult audit={audit} zone={zone} />
            {audit ? (
              <p>
                <a href={auditPath}>See every counter</a>
              </p>
            ) : null}
            <AuditForm frame={frame} />
          </Section>
          <ZoneNote zone={zone} />
        </>,
      )
    },
  })

  page(`${path}.csv`, {
    GET: async ({ c, query, mustHave, session }) => {
      mustHave('read')
      const { cursor: _, trail: _trail, ...filters } = readFields(query, querySchema)
      const filter = filterOf(filters, await ledger.view())
      c.get('expensiveReads').admit(session.sub)
      return answerCsv(c, 'entries', entryColumns, (after) => ledger.entries(filter, csvPage, after))
    },
  })
}

/** @throws Refusal 400 */
function filterOf({ window, budget }: Filters, { definitions, month }: View) {
  const name = window ?? month.name
  if (!monthNamed(definitions.calendar, name)) throw noWindow(name)
  return { month: name, ...(budget !== undefined && { budget }) }
}

function Filters({ filters: { budget }, view, month }: { filters: Filters; view: View; month: string }) {
  return (
    <form method="get" action={path} class="filters" aria-label="Which lines">
      <MonthField view={view} value={month} />
      <SelectField name="budget" label="Budget" options={Object.keys(view.definitions.budgets)} value={budget} />
      <p class="buttons">
        <button type="submit" class="primary">
          Show
        </button>
        <a href={path}>This month</a>
      </p>
    </form>
  )
}

const EmptyList = ({ isEnd }: { isEnd: boolean }) => (
  <p class="empty">
    {isEnd
      ? 'Nothing was booked there. A limit that is changed, a grant, a transfer or spending outside the guard makes a line.'
      : 'None of those that were looked at so far concerns this budget; “Older” looks at those before them.'}
  </p>
)

const EntryTable = ({ rows, zone }: { rows: readonly Entry[]; zone: string }) => (
  <div class="wide">
    <table class="rows">
      <caption>Lines of the month’s book, the newest first</caption>
      <TableHead columns={['Booked', 'What', 'Budget', { number: 'Units' }, 'By', 'Reason']} />
      <tbody>
        {rows.map((entry) => (
          <tr>
            <td data-name="Booked">
              <Time at={entry.at} zone={zone} />
            </td>
            <th scope="row">
              {words(entry.type)}
              <EntryReferences entry={entry} />
            </th>
            <td data-name="Budget">
              <a href={budgetAddress(entry.budget)}>{entry.budget}</a>
              <span class="note">{otherCounters(entry)}</span>
            </td>
            <UnitsCell name="Units" units={entry.units} />
            <td data-name="By">{entry.by}</td>
            <td data-name="Reason">
              {entry.reason}
              <EntryDifferences entry={entry} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const EntryReferences = ({ entry: { id, to, corrects } }: { entry: Entry }) => (
  <span class="note">
    {to === undefined ? null : (
      <>
        to <a href={budgetAddress(to)}>{to}</a>,{' '}
      </>
    )}
    {corrects === undefined ? null : (
      <>
        of <span class="id">{corrects}</span>,{' '}
      </>
    )}
    <span class="id">{id}</span>
  </span>
)

const maxDifferences = 5

function EntryDifferences({ entry: { changed = [] } }: { entry: Entry }) {
  const more = changed.length - maxDifferences
  return (
    <>
      {changed.slice(0, maxDifferences).map((difference) => (
        <span class="note">{differenceInWords(difference)}</span>
      ))}
      {more > 0 ? <span class="note">and {count(more)} more; the CSV has them all</span> : null}
    </>
  )
}

/** Names the other budgets whose counters the entry changed. */
function otherCounters({ budget, to, moves }: Entry): string {
  const others = [...new Set(moves.map((move) => move.budget))].filter((name) => name !== budget && name !== to)
  return others.length === 0 ? '' : `and ${others.map(shownCounter).join(', ')}`
}
