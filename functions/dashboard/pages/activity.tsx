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
import { MonthField, PageLinks, type Paging, pagingFields, SelectField } from '../components/lists.tsx'
import { budgetAddress, Section, TableHead, Time, UnitsCell, words, ZoneNote } from '../components/parts.tsx'
import { readFields } from '../forms.ts'
import type { PageRoutes } from '../session.tsx'
import { AuditNow, AuditResult, auditPath } from './audit.tsx'

const path = '/dashboard/ledger'
const rowsOfPage = 50

const pageQuery = z.strictObject({
  window: z.exactOptional(monthWindow),
  budget: z.exactOptional(budgetName),
  ...pagingFields,
})
type ListQuery = Omit<z.output<typeof pageQuery>, keyof Paging>

/** Entries: what was booked without an update, such as limits, grants, transfers and freezes. */
export function addActivity({ page }: PageRoutes, { guard: { ledger } }: Services): void {
  page(path, {
    GET: async ({ query, mustHave, show, frame }) => {
      mustHave('read')
      const { cursor, trail, ...asked } = readFields(query, pageQuery)
      const view = await ledger.view()
      const filter = filterOf(asked, view)
      const [{ rows, next }, audit] = await Promise.all([
        ledger.entries(filter, rowsOfPage, cursor),
        ledger.lastAudit(),
      ])
      const zone = zoneOf(view)
      return show(
        'Ledger',
        <>
          <p class="note">
            Each line is one change of the book that no update made; lines never change, and a wrong one is corrected by
            another. Every update has its own lines in its history.
          </p>
          <Filters asked={asked} view={view} chosen={filter.month} />
          {rows.length === 0 ? <Nothing isEnd={next === undefined} /> : <Table rows={rows} zone={zone} />}
          <PageLinks path={path} filters={asked} paging={{ cursor, trail }} next={next} />
          <Section id="audit" title="Do the books add up?">
            <p>
              An audit takes every line of the month before, of this one and of the next, adds them up, and compares the
              sums with the books. It reads all of their updates, so it is made every night, and when somebody asks for
              it.
            </p>
            <AuditResult of={audit} zone={zone} />
            {audit ? (
              <p>
                <a href={auditPath}>See every counter</a>
              </p>
            ) : null}
            <AuditNow frame={frame} />
          </Section>
          <ZoneNote zone={zone} />
        </>,
      )
    },
  })

  page(`${path}.csv`, {
    GET: async ({ c, query, mustHave, session }) => {
      mustHave('read')
      const { cursor: _, trail: _trail, ...asked } = readFields(query, pageQuery)
      const filter = filterOf(asked, await ledger.view())
      c.get('expensiveReads').admit(session.sub)
      return answerCsv(c, 'entries', entryColumns, (after) => ledger.entries(filter, csvPage, after))
    },
  })
}

/** @throws Refusal 400 */
function filterOf({ window, budget }: ListQuery, { definitions, month }: View) {
  const named = window ?? month.name
  if (!monthNamed(definitions.calendar, named)) throw noWindow(named)
  return { month: named, ...(budget !== undefined && { budget }) }
}

function Filters({ asked: { budget }, view, chosen }: { asked: ListQuery; view: View; chosen: string }) {
  return (
    <form method="get" action={path} class="filters" aria-label="Which lines">
      <MonthField view={view} value={chosen} />
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

const Nothing = ({ isEnd }: { isEnd: boolean }) => (
  <p class="empty">
    {isEnd
      ? 'Nothing was booked there. A limit that is changed, a grant, a transfer or spending outside the guard makes a line.'
      : 'None of those that were looked at so far concerns this budget; “Older” looks at those before them.'}
  </p>
)

const Table = ({ rows, zone }: { rows: readonly Entry[]; zone: string }) => (
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
              <What of={entry} />
            </th>
            <td data-name="Budget">
              <a href={budgetAddress(entry.budget)}>{entry.budget}</a>
              <span class="note">{othersOf(entry)}</span>
            </td>
            <UnitsCell name="Units" units={entry.units} />
            <td data-name="By">{entry.by}</td>
            <td data-name="Reason">
              {entry.reason}
              <Changed of={entry} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const What = ({ of: { id, to, corrects } }: { of: Entry }) => (
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

const maxShown = 5

/** The changes of budgets and callers, beyond their units. */
function Changed({ of: { changed = [] } }: { of: Entry }) {
  const more = changed.length - maxShown
  return (
    <>
      {changed.slice(0, maxShown).map((difference) => (
        <span class="note">{differenceInWords(difference)}</span>
      ))}
      {more > 0 ? <span class="note">and {count(more)} more; the CSV has them all</span> : null}
    </>
  )
}

/** The other counters that it moved. */
function othersOf({ budget, to, moves }: Entry): string {
  const others = [...new Set(moves.map((move) => move.budget))].filter((name) => name !== budget && name !== to)
  return others.length === 0 ? '' : `and ${others.map(shownCounter).join(', ')}`
}
