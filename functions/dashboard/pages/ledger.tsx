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
import { Pages, type Paging, pagingFields } from '../components/cursor-links.tsx'
import { MonthChoice } from '../components/months.tsx'
import { budgetAddress, InZone, Time, Units, words } from '../components/parts.tsx'
import { readFields } from '../forms.ts'
import type { PageRoutes, Visit } from '../session.tsx'
import { AuditNow, AuditResult, auditPath } from './audit.tsx'

const path = '/dashboard/ledger'
const rowsOfPage = 50

const pageQuery = z.strictObject({
  window: z.exactOptional(monthWindow),
  budget: z.exactOptional(budgetName),
  ...pagingFields,
})
type ListQuery = Omit<z.output<typeof pageQuery>, keyof Paging>

/** What was booked without an update: limits, grants, transfers, spending outside, who froze what. */
export function addLedger({ page }: PageRoutes, { guard: { ledger } }: Services): void {
  page(path, {
    GET: async ({ c, mustHave, show, frame }) => {
      mustHave('read')
      const { cursor, trail, ...asked } = readFields(queryOf(c), pageQuery)
      const view = await ledger.view()
      const filter = filterOf(asked, view)
      const [{ rows, next }, audit] = await Promise.all([
        ledger.entries(filter, rowsOfPage, cursor),
        ledger.lastAudit(),
      ])
      const paging = { ...(cursor !== undefined && { cursor }), ...(trail !== undefined && { trail }) }
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
          <Pages path={path} asked={asked} paging={paging} next={next} />
          <section aria-labelledby="audit">
            <h2 id="audit">Do the books add up?</h2>
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
          </section>
          <InZone zone={zone} />
        </>,
      )
    },
  })

  page(`${path}.csv`, {
    GET: async ({ c, mustHave, session }) => {
      mustHave('read')
      const { cursor: _, trail: _trail, ...asked } = readFields(queryOf(c), pageQuery)
      const filter = filterOf(asked, await ledger.view())
      c.get('expensiveReads').admit(session.sub)
      return answerCsv(c, 'entries', entryColumns, (after) => ledger.entries(filter, csvPage, after))
    },
  })
}

const queryOf = (c: Visit['c']) => new URL(c.req.url).searchParams

/** @throws Refusal 400 */
function filterOf({ window, budget }: ListQuery, { definitions, month }: View) {
  const named = window ?? month.name
  if (!monthNamed(definitions.calendar, named)) throw noWindow(named)
  return { month: named, ...(budget !== undefined && { budget }) }
}

function Filters({ asked: { budget }, view, chosen }: { asked: ListQuery; view: View; chosen: string }) {
  const budgets = Object.keys(view.definitions.budgets)
  const isGone = budget !== undefined && !budgets.includes(budget)
  return (
    <form method="get" action={path} class="filters" aria-label="Which lines">
      <MonthChoice view={view} chosen={chosen} />
      <p>
        <label for="budget">Budget</label>
        <select id="budget" name="budget">
          <option value="">any</option>
          {[...budgets, ...(isGone ? [budget] : [])].map((name) => (
            <option value={name} selected={name === budget}>
              {name}
            </option>
          ))}
        </select>
      </p>
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
      <thead>
        <tr>
          <th scope="col">Booked</th>
          <th scope="col">What</th>
          <th scope="col">Budget</th>
          <th scope="col" class="number">
            Units
          </th>
          <th scope="col">By</th>
          <th scope="col">Reason</th>
        </tr>
      </thead>
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
            <td data-name="Units" class="number">
              <Units of={entry.units} />
            </td>
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

/** What was made of budgets and callers: the book shows only what that did to units. */
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

/** Which others it moved, too. */
function othersOf({ budget, to, moves }: Entry): string {
  const others = [...new Set(moves.map((move) => move.budget))].filter((name) => name !== budget && name !== to)
  return others.length === 0 ? '' : `and ${others.map(shownCounter).join(', ')}`
}
