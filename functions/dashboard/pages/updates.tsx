import * as z from 'zod/mini'
import { answerCsv, csvPage } from '../../../shared/api/csv.ts'
import { updateColumns, updateFilterOf } from '../../../shared/api/updates.ts'
import type { UpdateCounts } from '../../../shared/guard/reports/update-counts.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import { tagCriterion } from '../../../shared/guard/tags.ts'
import { foldedPage, type Repeated } from '../../../shared/guard/update/repeats.ts'
import { isTerminal, type State, vias } from '../../../shared/ledger/updates/update.ts'
import type { UpdateFilter } from '../../../shared/ledger/views/lists.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { type Kinds, namesOf } from '../../../shared/tracking/kinds.ts'
import { FieldFault, inputAttributes } from '../components/fields.tsx'
import { askAddress, Time, words, ZoneNote } from '../components/parts.tsx'
import { planIn } from '../components/people.tsx'
import { type Period, PeriodLinks, periodFields, periodOf } from '../components/period.tsx'
import { UpdateTable } from '../components/update-table.tsx'
import type { FieldFaults } from '../flash.ts'
import { isEmpty, readFields, readFilters } from '../forms.ts'
import {
  addressWith,
  FaultyFilters,
  FilterField,
  PageLinks,
  type Paging,
  pagingFields,
  SelectField,
} from '../kit/list.tsx'
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
      const [{ rows, next }, counts] = await Promise.all([
        isValid ? listed(guard, filter, cursor) : { rows: [], next: undefined },
        isValid ? guard.countUpdates(filter, view) : null,
      ])
      return visit.show(
        'Updates',
        <>
          <div class="subhead">
            <PeriodLinks path={path} filters={filters} period={period} view={view} hasAll />
            {counts ? <Sums counts={counts} /> : null}
            <span class="actions">
              {mayAsk(visit) ? <a href={askAddress()}>Ask for an update</a> : null}
              <a href={addressWith(`${path}.csv`, filters)} download>
                Download as CSV
              </a>
            </span>
          </div>
          <StateChips filters={filters} counts={counts} />
          <Filters {...{ filters, faults, view, kinds }} query={visit.query} />
          {isValid ? (
            <>
              {rows.length === 0 ? (
                <EmptyList {...{ visit, filters, view, isEnd: next === undefined }} />
              ) : (
                <UpdateTable rows={rows} view={view} filters={filters} />
              )}
              <PageLinks path={path} filters={filters} paging={{ cursor, trail }} next={next} />
            </>
          ) : (
            <FaultyFilters />
          )}
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },
  })

  page(`${path}.csv`, {
    GET: async ({ c, query, mustHave, session, guard }) => {
      mustHave('read')
      const { cursor: _, trail: _trail, ...filters } = readFields(query, querySchema)
      const filter = toFilter(filters, periodFor(await guard.ledger.view(), filters))
      c.get('expensiveReads').admit(session.sub)
      return answerCsv(c, 'updates', updateColumns, (after) => guard.ledger.updates(filter, csvPage, after))
    },
  })
}

/** The refusals of one caller and project are listed each by itself. */
async function listed({ ledger }: Visit['guard'], filter: UpdateFilter, cursor: string | undefined) {
  const { state, caller, project } = filter
  const read = (after: string | undefined) => ledger.updates(filter, pageSize, after)
  if (state !== 'refused' || caller === undefined || project === undefined)
    return foldedPage(read, { cursor, wanted: pageSize / 2 })
  const { rows, next } = await read(cursor)
  return { rows: rows.map((update): Repeated => ({ update, count: 1, since: update.createdAt })), next }
}

/** Unfinished updates are listed whenever they were asked for. */
const periodFor = (view: View, { state, window, since, until }: UpdateFilters): Period =>
  periodOf(view, { window: window ?? (state && !isTerminal(state) ? 'all' : undefined), since, until })

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
  ...(['awaiting-approval', 'in-doubt', 'requested', 'running', 'settled', 'refused'] as const),
  ...(['released', 'rejected', 'cancelled', 'expired'] as const),
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

interface ChipsProps {
  readonly filters: UpdateFilters
  readonly counts: UpdateCounts | null
}

function StateChips({ filters: { state, ...others }, counts }: ChipsProps) {
  const shown = chipStates.filter((each) => !counts || counts.states[each] > 0 || each === state)
  const all = counts && Object.values(counts.states).reduce((sum, each) => sum + each, 0)
  return (
    <nav aria-label="States" class="chips">
      <a href={addressWith(path, others)} aria-current={state === undefined ? 'true' : undefined}>
        All{all === null ? '' : ` ${count(all)}`}
      </a>
      {shown.map((each) => (
        <a href={addressWith(path, { ...others, state: each })} aria-current={state === each ? 'true' : undefined}>
          {words(each)}
          {counts ? ` ${count(counts.states[each])}` : ''}
        </a>
      ))}
    </nav>
  )
}

const foldedFilters = ['kind', 'budget', 'via', 'plan', 'caller', 'tag', 'since', 'until', 'project'] as const
const fieldNames = [...foldedFilters, 'search'] as const

interface FiltersProps {
  readonly filters: UpdateFilters
  readonly faults: FieldFaults
  readonly query: URLSearchParams
  readonly view: View
  readonly kinds: Kinds
}

function Filters({ filters, faults, query, view, kinds }: FiltersProps) {
  const { state, window } = filters
  const budgets = Object.keys(view.definitions.budgets)
  const active = foldedFilters.filter((name) => query.get(name))
  const field = (name: (typeof fieldNames)[number]) => ({ name, value: query.get(name) ?? undefined, faults })
  const search = { formId: 'filter', ...field('search') }
  return (
    <form method="get" action={path} class="finder" aria-label="Which updates">
      {state === undefined ? null : <input type="hidden" name="state" value={state} />}
      {window === undefined ? null : <input type="hidden" name="window" value={window} />}
      <div class="search">
        <label for="filter-search" class="hidden">
          Project, or a part of it
        </label>
        <input
          id="filter-search"
          name="search"
          type="search"
          placeholder="Project, or a part of it"
          value={search.value ?? ''}
          autocomplete="off"
          {...inputAttributes(search)}
        />
        <button type="submit" class="primary">
          Show
        </button>
        {Object.keys({ ...filters, ...faults }).length === 0 ? null : <a href={path}>Clear filters</a>}
      </div>
      <FieldFault {...search} />
      <details open={active.length > 0}>
        <summary>{active.length === 0 ? 'More filters' : `More filters (${active.length} set)`}</summary>
        <div class="filters">
          <SelectField {...field('kind')} label="Kind" options={namesOf(kinds)} />
          <SelectField {...field('budget')} label="Budget" options={budgets} />
          <SelectField {...field('via')} label="Via" options={vias} />
          <FilterField {...field('plan')} label="Plan" />
          <FilterField {...field('caller')} label="Caller" />
          <FilterField {...field('tag')} label="Tag, such as client:acme" />
          <FilterField {...field('since')} label="From" type="date" />
          <FilterField {...field('until')} label="To" type="date" />
          {query.has('project') ? <FilterField {...field('project')} label="Project, exact name" /> : null}
        </div>
      </details>
    </form>
  )
}

const mayAsk = ({ permissions: { scopes } }: Visit): boolean => scopes.has('run') || scopes.has('propose')

function EmptyList({
  visit,
  filters,
  view,
  isEnd,
}: {
  visit: Visit
  filters: UpdateFilters
  view: View
  isEnd: boolean
}) {
  if (!isEnd) return <p class="empty">No matches so far. “Older” searches further back.</p>
  if (Object.keys(filters).length === 0)
    return (
      <p class="empty">
        No updates since <Time at={view.month.start} zone={zoneOf(view)} />.{' '}
        {mayAsk(visit) ? <a href={askAddress()}>Ask for an update</a> : null}
      </p>
    )
  return (
    <p class="empty">
      No matches. Plan and caller need the exact name. <a href={path}>Clear filters</a>
    </p>
  )
}
