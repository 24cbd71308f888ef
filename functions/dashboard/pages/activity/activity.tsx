import type { Child } from 'hono/jsx'
import * as z from 'zod/mini'
import { answerCsv, csvPage } from '../../../../shared/api/csv.ts'
import { entryColumns } from '../../../../shared/api/entries.ts'
import { monthWindow } from '../../../../shared/api/schemas.ts'
import { noWindow } from '../../../../shared/api/windows.ts'
import { differencesInWords } from '../../../../shared/guard/people/differences.ts'
import { count, shownCounter, signed, units, zoneOf } from '../../../../shared/guard/sentences.ts'
import { type Entry, type EntryType, isOfUpdate } from '../../../../shared/ledger/book/entry.ts'
import type { View } from '../../../../shared/ledger/book/view.ts'
import { madeAvailable } from '../../../../shared/ledger/definitions/counters.ts'
import { personOf } from '../../../../shared/ledger/definitions/definitions.ts'
import { monthNamed } from '../../../../shared/ledger/definitions/windows.ts'
import { budgetName } from '../../../../shared/records/common-fields.ts'
import {
  activityPath,
  BudgetLink,
  budgetAddress,
  EntryLink,
  joined,
  Time,
  updateAddress,
  words,
  ZoneNote,
} from '../../components/parts.tsx'
import { Who } from '../../components/people.tsx'
import { dateSchema, periodOf, Subhead } from '../../components/period.tsx'
import { readFields, readFilters } from '../../forms.ts'
import { addressWith, Chips, FilterForm, List, type Paging, pagingFields } from '../../kit/list.tsx'
import type { PageRoutes } from '../../session.tsx'
import { AuditSection } from './audit.tsx'

const path = activityPath
const pageSize = 50

const kinds = {
  bookings: ['opening', 'grant', 'external-spend', 'transfer', 'correction', 'reconcile', 'adopt', 'restore'],
  settings: ['limit', 'renewal', 'budget-created', 'budget-deleted', 'freeze', 'unfreeze', 'caller', 'pause', 'resume'],
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
          <Subhead path={path} filters={filters} period={period} view={view} />
          <Chips label="Activity" of={tabsOf(filters)} />
          <FilterForm
            path={path}
            query={query}
            faults={faults}
            label="Which entries"
            hidden={{ window: filters.window, kind: filters.kind }}
            fields={[
              { name: 'by', label: 'By' },
              { name: 'since', label: 'Since', type: 'date' },
              { name: 'budget', label: 'Budget', options: Object.keys(view.definitions.budgets) },
            ]}
          />
          <EntryList rows={rows} view={view} page={{ path, filters, paging: { cursor, trail }, next, faults }} />
          {permissions.readsBudgets === '*' ? <AuditSection audit={audit} view={view} frame={frame} /> : null}
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
  if (!monthNamed(definitions.calendar, name)) throw noWindow(view, name)
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

const tabsOf = ({ kind, ...others }: Filters) =>
  (
    [
      [undefined, 'All'],
      ['bookings', 'Bookings'],
      ['settings', 'Changes of settings'],
    ] as const
  ).map(([each, text]) => [text, addressWith(path, { ...others, kind: each }), each === kind] as const)

type ListProps = Pick<Parameters<typeof List<Entry>>[0], 'rows' | 'page' | 'isInset'>

interface EntryListProps extends ListProps {
  readonly view: View
  more?(entry: Entry): Child
}

export const EntryList = ({ view, more, ...list }: EntryListProps) => (
  <List
    {...list}
    class="two-lines entries"
    label="Entries, newest first"
    empty="No entries. Grants, transfers, spending outside the guard and changes of settings are entered here."
    columns={[
      { name: 'Time', cell: ({ at }) => <Time at={at} zone={zoneOf(view)} /> },
      {
        name: 'What',
        isHead: true,
        cell: ({ id, type }) => <EntryLink id={id} text={words(type)} />,
        note: referencesOf,
      },
      {
        name: 'Budget',
        cell: ({ budget }) => <BudgetLink name={budget} unseen="another budget" />,
        note: (entry) => otherCounters(entry, view),
      },
      { name: 'Units', isNumber: true, cell: signedUnits },
      { name: 'By', cell: ({ by }) => <Who name={by} definitions={view.definitions} /> },
      {
        name: 'Reason',
        cell: (entry) => [entry.reason, <EntryDifferences entry={entry} view={view} />],
        ...(more && { note: more }),
      },
    ]}
  />
)

/** Empty for a change of settings, because its row shows the changed values. */
function signedUnits({ type, budget, moves, corrects = '' }: Entry): string {
  if (!(kinds.bookings as readonly EntryType[]).includes(type)) return ''
  if (isOfUpdate(corrects)) return '–'
  const counted = moves.find((each) => each.budget === budget && each.window === 'month') ?? moves[0]
  if (!counted) return '–'
  return signed(madeAvailable(counted.move))
}

function referencesOf({ to, corrects, units: number }: Entry): Child {
  const references = [
    ...(to === undefined ? [] : [['to ', <a href={budgetAddress(to)}>{to}</a>]]),
    ...(corrects === undefined ? [] : [correctedBy(corrects, number)]),
  ]
  return references.length === 0 ? null : joined(references)
}

function correctedBy(corrects: string, number: number): Child {
  if (isOfUpdate(corrects)) return [<a href={updateAddress(corrects)}>an update</a>, ' is charged ', units(number)]
  return ['of ', <EntryLink id={corrects} text="an earlier entry" />]
}

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
