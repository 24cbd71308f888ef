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
import { FieldFault, HiddenFields, inputAttributes } from '../components/fields.tsx'
import { askAddress, Time, words, ZoneNote } from '../components/parts.tsx'
import { planIn } from '../components/people.tsx'
import { type Period, periodFields, periodOf, Subhead } from '../components/period.tsx'
import { UpdateTable } from '../components/update-table.tsx'
import type { FieldFaults } from '../flash.ts'
import { isEmpty, readFields, readFilters } from '../forms.ts'
import { addressWith, Chips, ClearFilters, FilterFields, type Paging, pagingFields } from '../kit/list.tsx'
import type { PageRoutes, PageServices, Visit } from '../session.tsx'

const pageSize = 50

const searchSchema = z.string().check(z.maxLength(200, 'must have at most 200 characters'))
/** The filters of the API, but with days instead of instants, one tag, and `search`. */
function querySchemaOf(kinds: Kinds) {
  const { limit: _limit, cursor: _cursor, since: _since, until: _until, ...apiFilters } = updateFilterOf(kinds).shape
  const tag = z.exactOptional(tagCriterion)
  return z.strictObject({ ...apiFilters, tag, search: z.exactOptional(searchSchema), ...periodFields, ...pagingFields })
}
type UpdateFilters = Omit<z.output<ReturnType<typeof querySchemaOf>>, keyof Paging>

const path = '/dashboard/updates'

export function addUpdateList({ page }: PageRoutes, { kinds }: PageServices): void {
  const querySchema = querySchemaOf(kinds)

  page(path, {
    GET: async (visit) => {
      visit.mustHave('read')
      const { guard } = visit
      const plan = planIn(visit.query.get('caller') ?? '')
      if (plan !== null) {
        const filters = Object.fromEntries(visit.query)
        return visit.c.redirect(addressWith(path, { ...filters, caller: undefined, plan }), 303)
      }
      const { filters: read, faults } = readFilters(visit.query, querySchema, fieldNames)
      const { cursor, trail, ...filters } = read
      const view = await guard.ledger.view()
      const period = periodFor(view, filters)
      const filter = toFilter(filters, period)
      const isValid = isEmpty(faults)
      const reports = await reportsOf(guard)
      const [{ rows, next }, counts] = await Promise.all([
        isValid ? listed(guard, filter, cursor) : { rows: [], next: undefined },
        isValid ? reports.countUpdates(filter, view) : null,
      ])
      return visit.show(
        'Updates',
        <>
          <Subhead
            path={path}
            filters={filters}
            period={period}
            view={view}
            hasAll
            sums={counts ? <Sums counts={counts} /> : null}
            actions={mayAsk(visit) ? <a href={askAddress()}>Ask for an update</a> : null}
          />
          <Chips label="States" of={chipsOf(filters, counts)} />
          <Filters filters={filters} faults={faults} view={view} kinds={kinds} query={visit.query} />
          <UpdateTable
            rows={rows}
            view={view}
            filters={filters}
            page={{ path, filters, paging: { cursor, trail }, next, faults }}
            empty={<EmptyText visit={visit} filters={filters} view={view} />}
          />
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },
  })

  page(`${path}.csv`, {
    GET: async ({ c, query, mustHave, session, guard }) => {
      mustHave('read')
      const { cursor: _, trail: _trail, ...filters } = readFields(query, querySchema)
      const view = await guard.ledger.view()
      const filter = toFilter(filters, periodFor(view, filters))
      c.get('expensiveReads').admit(session.sub)
      return answerCsv(c, 'updates', updateColumnsAt(view.now), (after) => guard.ledger.updates(filter, csvPage, after))
    },
  })
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

function toFilter({ window: _window, since: _since, until: _until, tag, ...filter }: UpdateFilters, period: Period) {
  const { since, until } = period
  return {
    ...filter,
    ...(tag !== undefined && { tag: [tag] }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  } satisfies UpdateFilter
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
    {sum === null ? null : (
      <>
        , <strong>{units(sum)}</strong> charged
      </>
    )}
  </span>
)

function chipsOf({ state, ...others }: UpdateFilters, counts: UpdateCounts | null) {
  const shown = chipStates.filter((each) => !counts || counts.states[each] > 0 || each === state)
  const all = counts && Object.values(counts.states).reduce((sum, each) => sum + each, 0)
  const chip = (text: string, number: number | null | undefined, each: State | undefined) =>
    [
      `${text}${number == null ? '' : ` ${count(number)}`}`,
      addressWith(path, { ...others, state: each }),
      state === each,
    ] as const
  return [chip('All', all, undefined), ...shown.map((each) => chip(words(each), counts?.states[each], each))]
}

const foldedFilters = [
  'kind',
  'budget',
  'via',
  'plan',
  'caller',
  'tag',
  'delivery',
  'since',
  'until',
  'project',
] as const
const fieldNames = [...foldedFilters, 'search'] as const

interface FiltersProps {
  readonly filters: UpdateFilters
  readonly faults: FieldFaults
  readonly query: URLSearchParams
  readonly view: View
  readonly kinds: Kinds
}

function Filters({ filters: { state, window }, faults, query, view, kinds }: FiltersProps) {
  const active = foldedFilters.filter((name) => query.get(name))
  const search = { formId: 'filter', name: 'search', faults }
  return (
    <form method="get" action={path} class="finder" aria-label="Which updates">
      <HiddenFields values={{ state, window }} />
      <div class="search">
        <label for="filter-search" class="hidden">
          Project, or a part of it
        </label>
        <input
          id="filter-search"
          name="search"
          type="search"
          value={query.get('search') ?? ''}
          autocomplete="off"
          placeholder="Project, or a part of it"
          {...inputAttributes(search)}
        />
        <button type="submit" class="primary">
          Show
        </button>
        <ClearFilters path={path} query={query} />
      </div>
      <FieldFault {...search} />
      <details open={active.length > 0}>
        <summary>{active.length === 0 ? 'More filters' : `More filters (${active.length} set)`}</summary>
        <div class="filters">
          <FilterFields
            query={query}
            faults={faults}
            fields={[
              { name: 'kind', label: 'Kind', options: namesOf(kinds) },
              { name: 'budget', label: 'Budget', options: Object.keys(view.definitions.budgets) },
              { name: 'via', label: 'Via', options: vias },
              { name: 'plan', label: 'Plan' },
              { name: 'caller', label: 'Caller' },
              { name: 'tag', label: 'Tag, such as client:acme' },
              { name: 'delivery', label: 'Data', options: deliveryStates },
              { name: 'since', label: 'From', type: 'date' },
              { name: 'until', label: 'To', type: 'date' },
              ...(query.has('project') ? [{ name: 'project', label: 'Project' }] : []),
            ]}
          />
        </div>
      </details>
    </form>
  )
}

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
