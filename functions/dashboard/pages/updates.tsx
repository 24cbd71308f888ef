import * as z from 'zod/mini'
import { answerCsv, csvPage } from '../../../shared/api/csv.ts'
import { updateColumns, updateFilterOf } from '../../../shared/api/updates.ts'
import { zoneOf } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { isTerminal, states, type Update, vias } from '../../../shared/ledger/updates/update.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { dayMs, toInstant } from '../../../shared/platform/clock.ts'
import { type Kinds, namesOf } from '../../../shared/tracking/kinds.ts'
import { FilterField, PageLinks, type Paging, pagingFields, SelectField } from '../components/lists.tsx'
import {
  budgetAddress,
  numberColumns,
  StateName,
  TableHead,
  Time,
  UnitsCell,
  updateAddress,
  words,
  ZoneNote,
} from '../components/parts.tsx'
import { readFields } from '../forms.ts'
import type { PageRoutes } from '../session.tsx'
import { askForUpdate } from './overview.tsx'

const rowsOfPage = 50

const isDate = (text: string) =>
  /^\d{4}-\d\d-\d\d$/.test(text) && new Date(Date.parse(text) || 0).toISOString().startsWith(text)
const date = z.string().check(z.refine(isDate, 'must be a date such as 2026-11-20'))

const part = z.string().check(z.maxLength(200, 'must have at most 200 characters'))
/** The filters of the API, with dates instead of instants and parts of project names. */
function pageFilterOf(kinds: Kinds) {
  const { limit: _limit, cursor: _cursor, since: _since, until: _until, ...same } = updateFilterOf(kinds).shape
  return z.strictObject({
    ...same,
    search: z.exactOptional(part),
    since: z.exactOptional(date),
    until: z.exactOptional(date),
    ...pagingFields,
  })
}
type ListQuery = Omit<z.output<ReturnType<typeof pageFilterOf>>, keyof Paging>

const path = '/dashboard/updates'

export function addUpdateList({ page }: PageRoutes, { guard, kinds }: Services): void {
  const pageFilter = pageFilterOf(kinds)

  page(path, {
    GET: async ({ query, mustHave, show }) => {
      mustHave('read')
      const { cursor, trail, ...asked } = readFields(query, pageFilter)
      const view = await guard.ledger.view()
      const { rows, next } = await guard.ledger.updates(toFilter(asked, zoneOf(view)), rowsOfPage, cursor)
      return show(
        'Updates',
        <>
          <Filters asked={asked} view={view} kinds={kinds} />
          {rows.length === 0 ? (
            <Nothing asked={asked} isEnd={next === undefined} />
          ) : (
            <Table rows={rows} zone={zoneOf(view)} />
          )}
          <PageLinks path={path} filters={asked} paging={{ cursor, trail }} next={next} />
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },
  })

  page(`${path}.csv`, {
    GET: async ({ c, query, mustHave, session }) => {
      mustHave('read')
      const { cursor: _, trail: _trail, ...asked } = readFields(query, pageFilter)
      const filter = toFilter(asked, zoneOf(await guard.ledger.view()))
      c.get('expensiveReads').admit(session.sub)
      return answerCsv(c, 'updates', updateColumns, (after) => guard.ledger.updates(filter, csvPage, after))
    },
  })
}

/** `until` includes its whole day, in the account's zone. */
function toFilter({ since, until, ...filter }: ListQuery, zone: string) {
  return {
    ...filter,
    ...(since !== undefined && { since: startOf(since, zone) }),
    ...(until !== undefined && { until: startOf(dayAfter(until), zone) - 1 }),
  }
}

function startOf(day: string, zone: string): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return toInstant({ year, month, day: date }, zone)
}

const dayAfter = (day: string) => new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10)

function Filters({ asked, view, kinds }: { asked: ListQuery; view: View; kinds: Kinds }) {
  const budgets = Object.keys(view.definitions.budgets)
  return (
    <form method="get" action={path} class="filters" aria-label="Which updates">
      <SelectField name="state" label="State" options={states} value={asked.state} labelOf={words} />
      <SelectField name="kind" label="Kind" options={namesOf(kinds)} value={asked.kind} />
      <SelectField name="budget" label="Budget" options={budgets} value={asked.budget} />
      <SelectField name="via" label="Via" options={vias} value={asked.via} />
      <FilterField name="search" label="Project, or a part of it" value={asked.search} />
      <FilterField name="plan" label="Plan" value={asked.plan} />
      <FilterField name="caller" label="Caller" value={asked.caller} />
      <FilterField name="since" label="From" value={asked.since} type="date" />
      <FilterField name="until" label="To" value={asked.until} type="date" />
      {asked.project === undefined ? null : (
        <FilterField name="project" label="Project, in full" value={asked.project} />
      )}
      <p class="buttons">
        <button type="submit" class="primary">
          Show
        </button>
        <a href={path}>All updates</a>
      </p>
    </form>
  )
}

function Nothing({ asked, isEnd }: { asked: ListQuery; isEnd: boolean }) {
  if (!isEnd)
    return (
      <p class="empty">None of those that were looked at so far is like this; “Older” looks at those before them.</p>
    )
  return Object.keys(asked).length > 0 ? (
    <p class="empty">
      No update is like this. Plans and callers have to be named in full. <a href={path}>All updates</a>
    </p>
  ) : (
    <div class="empty">
      <p>
        Nobody has asked for an update yet. In a terminal, after <code>source .local/env</code>, or with an address and
        a token of yours:
      </p>
      <pre>
        <code>{askForUpdate()}</code>
      </pre>
    </div>
  )
}

const Table = ({ rows, zone }: { rows: readonly Update[]; zone: string }) => (
  <div class="wide">
    <table class="rows">
      <caption>Updates, the newest first; units as estimated and as charged</caption>
      <TableHead
        columns={['Asked for', 'Project', 'State', ...numberColumns('Estimated', 'Charged'), 'Budget', 'Caller']}
      />
      <tbody>
        {rows.map((update) => (
          <tr>
            <td data-name="Asked for">
              <Time at={update.createdAt} zone={zone} />
            </td>
            <th scope="row">
              <a href={updateAddress(update.id)}>{update.project}</a>
              <span class="note">{update.kind}</span>
            </th>
            <td data-name="State">
              <StateName state={update.state} />
            </td>
            <UnitsCell name="Estimated" units={update.estimated} />
            <UnitsCell name="Charged" units={update.charged ?? (isTerminal(update.state) ? 0 : null)} />
            <td data-name="Budget">
              <a href={budgetAddress(update.budget)}>{update.budget}</a>
            </td>
            <td data-name="Caller">
              <CallerName of={update.caller} />
              <span class="note">via {update.via}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** `schedule:morning` breaks after its colon rather than elsewhere. */
const CallerName = ({ of }: { of: string }) =>
  of.split(/(?<=:)/).map((part, index) => (
    <>
      {index > 0 ? <wbr /> : null}
      {part}
    </>
  ))
