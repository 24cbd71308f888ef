import * as z from 'zod/mini'
import { answerCsv, csvPage } from '../../../shared/api/csv.ts'
import { updateColumnsAt, updateFilterOf } from '../../../shared/api/updates.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import { tagCriterion } from '../../../shared/guard/tags.ts'
import { foldedPage, type Repeated } from '../../../shared/guard/update/repeating-callers.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { deliveryStates } from '../../../shared/ledger/updates/delivery.ts'
import { isTerminal, type State, vias } from '../../../shared/ledger/updates/update.ts'
import type { UpdateFilter } from '../../../shared/ledger/views/lists.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import type { UpdateCounts } from '../../../shared/reports/update-counts.ts'
import { type Kinds, namesOf } from '../../../shared/tracking/kinds.ts'
import { planIn } from '../components/people.tsx'
import { type Period, periodFields, periodOf } from '../components/period.tsx'
import { addPeriodPage, type PeriodRequest } from '../components/period-page.tsx'
import { UpdateTable } from '../components/update-table.tsx'
import { isEmpty } from '../forms.ts'
import { askAddress, say, Time, words } from '../kit/parts.tsx'
import type { PageRoutes, PageServices, Visit } from '../kit/session.tsx'

const pageSize = 50

const searchSchema = z.string().check(z.maxLength(200, 'must have at most 200 characters'))
/** The filters of the API, but with days instead of instants, one tag, and `search`. */
function querySchemaOf(kinds: Kinds) {
  const { limit: _limit, cursor: _cursor, since: _since, until: _until, ...apiFilters } = updateFilterOf(kinds).shape
  const tag = z.exactOptional(tagCriterion)
  return z.strictObject({ ...apiFilters, tag, search: z.exactOptional(searchSchema), ...periodFields })
}
type UpdateFilters = z.output<ReturnType<typeof querySchemaOf>>

const path = '/dashboard/updates'
const fieldNames = ['kind', 'budget', 'via', 'plan', 'caller', 'tag', 'delivery', 'since', 'until', 'project', 'search']

export function addUpdateList(routes: PageRoutes, { kinds }: PageServices): void {
  addPeriodPage(routes, {
    title: 'Updates',
    path,
    schema: querySchemaOf(kinds),
    fields: fieldNames,
    hasAll: true,
    periodOf: periodFor,
    read: (request) => readUpdates(request, kinds),
    csv: async ({ c, guard }, filters) => {
      const view = await guard.ledger.view()
      const filter = toFilter(filters, periodFor(view, filters))
      return answerCsv(c, 'updates', updateColumnsAt(view.now), (after) => guard.ledger.updates(filter, csvPage, after))
    },
  })
}

async function readUpdates(request: PeriodRequest<UpdateFilters>, kinds: Kinds) {
  const { visit, view, period, filters, query, faults, cursor, pageOf } = request
  const filter = toFilter(filters, period)
  const isValid = isEmpty(faults)
  const reports = await reportsOf(visit.guard)
  const [{ rows, next }, counts] = await Promise.all([
    isValid ? listed(visit.guard, filter, cursor) : { rows: [], next: undefined },
    isValid ? reports.countUpdates(filter, view) : null,
  ])
  return {
    sums: counts ? <Sums counts={counts} /> : null,
    actions: mayAsk(visit) ? <a href={askAddress()}>Ask for an update</a> : null,
    tabs: { label: 'States', name: 'state', chosen: filters.state, of: statesWith(counts, filters.state) },
    form: formOf(filters, visit.query, view, kinds),
    content: (
      <UpdateTable
        rows={rows}
        view={view}
        filters={query}
        page={pageOf(next)}
        empty={<EmptyText visit={visit} filters={filters} view={view} />}
      />
    ),
  }
}

/** Repeated refusals share a row, except in a list of one caller's refusals of one project. */
async function listed({ ledger }: Visit['guard'], filter: UpdateFilter, cursor: string | undefined) {
  const { state, caller, project } = filter
  const read = (after: string | undefined) => ledger.updates(filter, pageSize, after)
  if (state !== 'refused' || caller === undefined || project === undefined)
    return foldedPage(read, { cursor, wanted: pageSize / 2 })
  const { rows, next } = await read(cursor)
  return { rows: rows.map((update): Repeated => ({ update, count: 1, since: update.createdAt })), next }
}

/** Unfinished updates, and updates whose data did not come, are listed however old they are. */
function periodFor(view: View, { state, delivery, window, since, until }: UpdateFilters): Period {
  const isOpen = (state !== undefined && !isTerminal(state)) || delivery === 'late'
  return periodOf(view, { window: window ?? (isOpen ? 'all' : undefined), since, until })
}

/** People write a plan as its caller, such as `plan morning`. */
function toFilter(filters: UpdateFilters, period: Period): UpdateFilter {
  const { window: _window, since: _since, until: _until, tag, caller, ...others } = filters
  const { since, until } = period
  const plan = planIn(caller ?? '')
  return {
    ...others,
    ...(plan !== null && { plan }),
    ...(plan === null && caller !== undefined && { caller }),
    ...(tag !== undefined && { tag: [tag] }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  }
}

const chipStates: readonly State[] = [
  'awaiting-approval',
  'in-doubt',
  'requested',
  'running',
  'settled',
  'refused',
  'released',
  'rejected',
  'cancelled',
  'expired',
]

const Sums = ({ counts: { count: number, sum } }: { counts: UpdateCounts }) => (
  <span>
    <strong>{count(number)}</strong> {number === 1 ? 'update' : 'updates'}
    {sum !== null && say`, ${<strong>{units(sum)}</strong>} charged`}
  </span>
)

function statesWith(counts: UpdateCounts | null, chosen: State | undefined) {
  const shown = chipStates.filter((each) => !counts || counts.states[each] > 0 || each === chosen)
  const all = counts && Object.values(counts.states).reduce((sum, each) => sum + each, 0)
  const chip = (state: State | undefined, text: string, number: number | null | undefined) =>
    [state, `${text}${number == null ? '' : ` ${count(number)}`}`] as const
  return [chip(undefined, 'All', all), ...shown.map((each) => chip(each, words(each), counts?.states[each]))]
}

const formOf = ({ state, window }: UpdateFilters, query: URLSearchParams, view: View, kinds: Kinds) => ({
  label: 'Which updates',
  hidden: { state, window },
  search: { name: 'search', label: 'Project, or a part of it' },
  fold: 'More filters',
  fields: [
    { name: 'kind', label: 'Kind', options: namesOf(kinds) },
    { name: 'budget', label: 'Budget', options: Object.keys(view.definitions.budgets) },
    { name: 'via', label: 'Via', options: vias },
    { name: 'plan', label: 'Plan' },
    { name: 'caller', label: 'Caller' },
    { name: 'tag', label: 'Tag, such as client:acme' },
    { name: 'delivery', label: 'Data', options: deliveryStates },
    { name: 'since', label: 'From', type: 'date' as const },
    { name: 'until', label: 'To', type: 'date' as const },
    ...(query.has('project') ? [{ name: 'project', label: 'Project' }] : []),
  ],
})

const mayAsk = ({ permissions: { scopes } }: Visit): boolean => scopes.has('run') || scopes.has('propose')

const EmptyText = ({ visit, filters, view }: { visit: Visit; filters: UpdateFilters; view: View }) =>
  Object.keys(filters).length > 0 ? (
    <>
      No matches. Plan and caller need the exact name. <a href={path}>Clear filters</a>
    </>
  ) : (
    <>
      No updates since <Time at={view.month.start} zone={zoneOf(view)} />.{' '}
      {mayAsk(visit) ? <a href={askAddress()}>Ask for an update</a> : null}
    </>
  )
