import type { Child } from 'hono/jsx'
import * as z from 'zod/mini'
import { answerCsv, csvPage } from '../../../../shared/api/csv.ts'
import { entryColumns } from '../../../../shared/api/entries.ts'
import { monthWindow } from '../../../../shared/api/schemas.ts'
import { noWindow } from '../../../../shared/api/windows.ts'
import { differencesInWords } from '../../../../shared/guard/people/differences.ts'
import { count, shownCounter, signed, units } from '../../../../shared/guard/sentences.ts'
import { type Entry, type EntryType, isOfUpdate } from '../../../../shared/ledger/book/entry.ts'
import type { View } from '../../../../shared/ledger/book/view.ts'
import { madeAvailable } from '../../../../shared/ledger/definitions/counters.ts'
import { personOf } from '../../../../shared/ledger/definitions/definitions.ts'
import { monthNamed } from '../../../../shared/ledger/definitions/windows.ts'
import { budgetName } from '../../../../shared/records/common-fields.ts'
import { Who } from '../../components/people.tsx'
import { dateSchema, periodOf } from '../../components/period.tsx'
import { addPeriodPage, type PeriodRequest } from '../../components/period-page.tsx'
import { List } from '../../kit/list.tsx'
import {
  activityPath,
  BudgetLink,
  budgetAddress,
  EntryLink,
  RecentTime,
  updateAddress,
  words,
} from '../../kit/parts.tsx'
import type { PageRoutes } from '../../kit/session.tsx'
import { AuditSection } from './audit.tsx'

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
})
type Filters = z.output<typeof querySchema>

export function addActivity(routes: PageRoutes): void {
  addPeriodPage(routes, {
    title: 'Activity',
    path: activityPath,
    schema: querySchema,
    fields: ['by', 'since', 'budget'],
    periodOf: (view, { window }) => periodOf(view, { window }),
    read: readActivity,
    csv: async ({ c, guard: { ledger } }, filters) => {
      const filter = filterOf(filters, await ledger.view())
      return answerCsv(c, 'entries', entryColumns, (after) => ledger.entries(filter, csvPage, after))
    },
  })
}

async function readActivity({ visit, view, filters, cursor, pageOf }: PeriodRequest<Filters>) {
  const { permissions, frame, guard } = visit
  const [{ rows, next }, audit] = await Promise.all([
    guard.ledger.entries(filterOf(filters, view), pageSize, cursor),
    guard.ledger.lastAudit(),
  ])
  return {
    tabs: { label: 'Activity', name: 'kind', chosen: filters.kind, of: tabs },
    form: {
      label: 'Which entries',
      hidden: { window: filters.window, kind: filters.kind },
      fields: [
        { name: 'by', label: 'By' },
        { name: 'since', label: 'Since', type: 'date' as const },
        { name: 'budget', label: 'Budget', options: Object.keys(view.definitions.budgets) },
      ],
    },
    content: (
      <>
        <EntryList rows={rows} view={view} page={pageOf(next)} />
        {permissions.readsBudgets === '*' ? <AuditSection audit={audit} view={view} frame={frame} /> : null}
      </>
    ),
  }
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

const tabs = [
  [undefined, 'All'],
  ['bookings', 'Bookings'],
  ['settings', 'Changes of settings'],
] as const

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
      { name: 'Time', cell: ({ at }) => <RecentTime at={at} view={view} /> },
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

/** Only a transfer names another budget, and only a correction names what it corrects. */
function referencesOf({ to, corrects, units: number }: Entry): Child {
  if (to !== undefined) return ['to ', <a href={budgetAddress(to)}>{to}</a>]
  return corrects === undefined ? null : ['of ', corrected(corrects, number)]
}

/** The correction of an update says what the update costs now. */
export const corrected = (corrects: string, number: number): Child =>
  isOfUpdate(corrects) ? (
    <>
      <a href={updateAddress(corrects)}>an update</a>, charged {units(number)}
    </>
  ) : (
    <EntryLink id={corrects} text="an earlier entry" />
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
