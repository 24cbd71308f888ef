import * as z from 'zod/mini'
import { answerCsv, csvPage } from '../../../shared/api/csv.ts'
import { entryColumns } from '../../../shared/api/entries.ts'
import { monthWindow } from '../../../shared/api/schemas.ts'
import { noWindow } from '../../../shared/api/statements.ts'
import { budgetName } from '../../../shared/guard/fields.ts'
import { differencesInWords } from '../../../shared/guard/people/differences.ts'
import { count, shownCounter, zoneOf } from '../../../shared/guard/sentences.ts'
import { madeAvailable } from '../../../shared/ledger/book/book.ts'
import { personOf } from '../../../shared/ledger/book/definitions.ts'
import type { Entry, EntryType } from '../../../shared/ledger/book/entry.ts'
import { monthNamed } from '../../../shared/ledger/book/windows.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { HiddenFields } from '../components/fields.tsx'
import { activityPath, BudgetLink, budgetAddress, Time, words, ZoneNote } from '../components/parts.tsx'
import { Who } from '../components/people.tsx'
import { dateSchema, PeriodLinks, periodOf } from '../components/period.tsx'
import type { FieldFaults } from '../flash.ts'
import { isEmpty, readFields, readFilters } from '../forms.ts'
import {
  addressWith,
  FaultyFilters,
  FilterField,
  List,
  PageLinks,
  type Paging,
  pagingFields,
  SelectField,
} from '../kit/list.tsx'
import type { PageRoutes } from '../session.tsx'
import { AuditSection } from './audit.tsx'

const path = activityPath
const pageSize = 50

const kinds = {
  bookings: ['opening', 'grant', 'external-spend', 'transfer', 'correction', 'reconcile', 'adopt', 'restore'],
  settings: [
    ...(['limit', 'renewal', 'budget-created', 'budget-deleted'] as const),
    ...(['freeze', 'unfreeze', 'caller', 'pause', 'resume'] as const),
  ],
} as const satisfies Record<string, readonly EntryType[]>
const kindNames = ['bookings', 'settings'] as const

const querySchema = z.strictObject({
  window: z.exactOptional(monthWindow),
  budget: z.exactOptional(budgetName),
  kind: z.exactOptional(z.enum(kindNames, 'must be bookings or settings')),
  by: z.exactOptional(z.string().check(z.maxLength(200, 'must have at most 200 characters'))),
  since: z.exactOptional(dateSchema),
  ...pagingFields,
})
const fieldNames = ['by', 'since', 'budget'] as const
type Filters = Omit<z.output<typeof querySchema>, keyof Paging>

export function addActivity({ page }: PageRoutes): void {
  page(path, {
    GET: async ({ query, mustHave, show, frame, permissions, guard: { ledger } }) => {
      mustHave('read')
      const { filters: read, faults } = readFilters(query, querySchema, fieldNames)
      const { cursor, trail, ...filters } = read
      const view = await ledger.view()
      const period = periodOf(view, { window: filters.window })
      const filter = filterOf(filters, view)
      const [{ rows, next }, audit] = await Promise.all([ledger.entries(filter, pageSize, cursor), ledger.lastAudit()])
      const zone = zoneOf(view)
      return show(
        'Activity',
        <>
          <div class="subhead">
            <PeriodLinks path={path} filters={filters} period={period} view={view} />
            <span class="actions">
              <a href={addressWith(`${path}.csv`, filters)} download>
                Download as CSV
              </a>
            </span>
          </div>
          <Tabs filters={filters} />
          <FilterForm {...{ filters, faults, query, view }} />
          {isEmpty(faults) ? (
            <>
              {rows.length === 0 ? <EmptyList isEnd={next === undefined} /> : <EntryTable rows={rows} view={view} />}
              <PageLinks path={path} filters={filters} paging={{ cursor, trail }} next={next} />
            </>
          ) : (
            <FaultyFilters />
          )}
          {permissions.readsBudgets === '*' ? <AuditSection {...{ audit, view, frame }} /> : null}
          <ZoneNote zone={zone} />
        </>,
      )
    },
  })

  page(`${path}.csv`, {
    GET: async ({ c, query, mustHave, session, guard: { ledger } }) => {
      mustHave('read')
      const { cursor: _, trail: _trail, ...filters } = readFields(query, querySchema)
      const filter = filterOf(filters, await ledger.view())
      c.get('expensiveReads').admit(session.sub)
      return answerCsv(c, 'entries', entryColumns, (after) => ledger.entries(filter, csvPage, after))
    },
  })
}

/** A person's name stands for all of their callers. @throws Refusal 400 */
function filterOf({ window, budget, kind, by, since }: Filters, view: View) {
  const { definitions, month } = view
  const name = window ?? month.name
  if (!monthNamed(definitions.calendar, name)) throw noWindow(name)
  const callers = Object.keys(definitions.callers ?? {}).filter((caller) => personOf(definitions, caller) === by)
  const from = since === undefined ? undefined : periodOf(view, { since }).since
  return {
    month: name,
    ...(budget !== undefined && { budget }),
    ...(kind !== undefined && { types: kinds[kind] }),
    ...(by !== undefined && { by: [by, ...callers] }),
    ...(from !== undefined && { since: from }),
  }
}

const Tabs = ({ filters: { kind, ...others } }: { filters: Filters }) => (
  <nav aria-label="Activity" class="chips">
    {([undefined, ...kindNames] as const).map((each) => (
      <a href={addressWith(path, { ...others, kind: each })} aria-current={kind === each ? 'page' : undefined}>
        {each === undefined ? 'All' : each === 'bookings' ? 'Bookings' : 'Changes of settings'}
      </a>
    ))}
  </nav>
)

interface FormProps {
  readonly filters: Filters
  readonly faults: FieldFaults
  readonly query: URLSearchParams
  readonly view: View
}

function FilterForm({ filters, faults, query, view: { definitions } }: FormProps) {
  const { window, kind } = filters
  const field = (name: (typeof fieldNames)[number]) => ({ name, value: query.get(name) ?? undefined, faults })
  return (
    <form method="get" action={path} class="filters" aria-label="Which entries">
      <HiddenFields values={{ ...(window !== undefined && { window }), ...(kind !== undefined && { kind }) }} />
      <FilterField {...field('by')} label="By" />
      <FilterField {...field('since')} label="Since" type="date" />
      <SelectField {...field('budget')} label="Budget" options={Object.keys(definitions.budgets)} />
      <p class="buttons">
        <button type="submit" class="primary">
          Show
        </button>
        {Object.keys({ ...filters, ...faults }).length === 0 ? null : <a href={path}>Clear filters</a>}
      </p>
    </form>
  )
}

const EmptyList = ({ isEnd }: { isEnd: boolean }) => (
  <p class="empty">
    {isEnd
      ? 'No entries. Grants, transfers, spending outside the guard and changes of settings are entered here.'
      : 'No matches so far. “Older” searches further back.'}
  </p>
)

const EntryTable = ({ rows, view }: { rows: readonly Entry[]; view: View }) => (
  <List
    label="Entries, newest first"
    rows={rows}
    columns={[
      { name: 'Time', cell: ({ at }) => <Time at={at} zone={zoneOf(view)} /> },
      { name: 'What', isHead: true, cell: ({ type }) => words(type), note: referencesOf },
      {
        name: 'Budget',
        cell: ({ budget }) => <BudgetLink name={budget} unseen="another budget" />,
        note: (entry) => otherCounters(entry, view),
      },
      { name: 'Units', isNumber: true, cell: signedUnits },
      { name: 'By', cell: ({ by }) => <Who name={by} definitions={view.definitions} /> },
      { name: 'Reason', cell: (entry) => [entry.reason, <EntryDifferences entry={entry} view={view} />] },
    ]}
  />
)

/** Changes of settings show their values instead. */
function signedUnits({ type, budget, moves }: Entry): string {
  if (!(kinds.bookings as readonly EntryType[]).includes(type)) return ''
  const counted = moves.find((each) => each.budget === budget && each.window === 'month') ?? moves[0]
  if (!counted) return '–'
  const units = madeAvailable(counted.move)
  return units > 0 ? `+${count(units)}` : count(units)
}

const referencesOf = ({ id, to, corrects }: Entry) => (
  <>
    {to === undefined ? null : ['to ', <a href={budgetAddress(to)}>{to}</a>, ', ']}
    {corrects === undefined ? null : ['of ', <span class="id">{corrects}</span>, ', ']}
    <span class="id">{id}</span>
  </>
)

const maxDifferences = 5

function EntryDifferences({ entry: { changed = [] }, view }: { entry: Entry; view: View }) {
  const more = changed.length - maxDifferences
  const told = differencesInWords(changed, view.definitions)
  return (
    <>
      {changed.slice(0, maxDifferences).map((difference, at) => (
        <span class="note" title={difference.kind === 'caller' ? difference.name : undefined}>
          {told[at]}
        </span>
      ))}
      {more > 0 ? <span class="note">and {count(more)} more in the CSV</span> : null}
    </>
  )
}

function otherCounters({ budget, to, moves }: Entry, { definitions }: View): string {
  const others = [...new Set(moves.map((move) => move.budget))].filter((name) => name !== budget && name !== to)
  return others.length === 0 ? '' : `and ${others.map((name) => shownCounter(definitions, name)).join(', ')}`
}
