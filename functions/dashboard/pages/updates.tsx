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
import { updateCommand } from './overview.tsx'

const pageSize = 50

const isDate = (text: string) =>
  /^\d{4}-\d\d-\d\d$/.test(text) && new Date(Date.parse(text) || 0).toISOString().startsWith(text)
const dateSchema = z.string().check(z.refine(isDate, 'must be a date such as 2026-11-20'))

const searchSchema = z.string().check(z.maxLength(200, 'must have at most 200 characters'))
/** The filters of the API, but with dates instead of instants, and with `search`. */
function querySchemaOf(kinds: Kinds) {
  const { limit: _limit, cursor: _cursor, since: _since, until: _until, ...apiFilters } = updateFilterOf(kinds).shape
  return z.strictObject({
    ...apiFilters,
    search: z.exactOptional(searchSchema),
    since: z.exactOptional(dateSchema),
    until: z.exactOptional(dateSchema),
    ...pagingFields,
  })
}
type UpdateFilters = Omit<z.output<ReturnType<typeof querySchemaOf>>, keyof Paging>

const path = '/dashboard/updates'

export function addUpdateList({ page }: PageRoutes, { guard, kinds }: Services): void {
  const querySchema = querySchemaOf(kinds)

  page(path, {
    GET: async ({ query, mustHave, show }) => {
      mustHave('read')
      const { cursor, trail, ...filters } = readFields(query, querySchema)
      const view = await guard.ledger.view()
      const { rows, next } = await guard.ledger.updates(toFilter(filters, zoneOf(view)), pageSize, cursor)
      return show(
        'Updates',
        <>
          <Filters filters={filters} view={view} kinds={kinds} />
          {rows.length === 0 ? (
            <EmptyList filters={filters} isEnd={next === undefined} />
          ) : (
            <UpdateTable rows={rows} zone={zoneOf(view)} />
          )}
          <PageLinks path={path} filters={filters} paging={{ cursor, trail }} next={next} />
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },
  })

  page(`${path}.csv`, {
    GET: async ({ c, query, mustHave, session }) => {
      mustHave('read')
      const { cursor: _, trail: _trail, ...filters } = readFields(query, querySchema)
      const filter = toFilter(filters, zoneOf(await guard.ledger.view()))
      c.get('expensiveReads').admit(session.sub)
      return answerCsv(c, 'updates', updateColumns, (after) => guard.ledger.updates(filter, csvPage, after))
    },
  })
}

/** The day of `until` is included, in the account's zone. */
function toFilter({ since, until, ...filter }: UpdateFilters, zone: string) {
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

function Filters({ filters, view, kinds }: { filters: UpdateFilters; view: View; kinds: Kinds }) {
  const budgets = Object.keys(view.definitions.budgets)
  return (
    <form method="get" action={path} class="filters" aria-label="Which updates">
      <SelectField name="state" label="State" options={states} value={filters.state} labelOf={words} />
      <SelectField name="kind" label="Kind" options={namesOf(kinds)} value={filters.kind} />
      <SelectField name="budget" label="Budget" options={budgets} value={filters.budget} />
      <SelectField name="via" label="Via" options={vias} value={filters.via} />
      <FilterField name="search" label="Project, or a part of it" value={filters.search} />
      <FilterField name="plan" label="Plan" value={filters.plan} />
      <FilterField name="caller" label="Caller" value={filters.caller} />
      <FilterField name="since" label="From" value={filters.since} type="date" />
      <FilterField name="until" label="To" value={filters.until} type="date" />
      {filters.project === undefined ? null : (
        <FilterField name="project" label="Project, in full" value={filters.project} />
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

function EmptyList({ filters, isEnd }: { filters: UpdateFilters; isEnd: boolean }) {
  if (!isEnd)
    return (
      <p class="empty">None of those that were looked at so far is like this; “Older” looks at those before them.</p>
    )
  return Object.keys(filters).length > 0 ? (
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
        <code>{updateCommand()}</code>
      </pre>
    </div>
  )
}

const UpdateTable = ({ rows, zone }: { rows: readonly Update[]; zone: string }) => (
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
              <CallerName caller={update.caller} />
              <span class="note">via {update.via}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** Lets a name such as `schedule:morning` break after its colon. */
const CallerName = ({ caller }: { caller: string }) =>
  caller.split(/(?<=:)/).map((part, index) => (
    <>
      {index > 0 ? <wbr /> : null}
      {part}
    </>
  ))
