import { describe } from '../../../shared/guard/problem-types.ts'
import { count, shownIn, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Repeated } from '../../../shared/guard/update/repeats.ts'
import { isTerminal, type Update } from '../../../shared/ledger/updates/update.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { addressWith } from './lists.tsx'
import { BudgetLink, numberColumns, StateName, TableHead, Time, UnitsCell, updateAddress } from './parts.tsx'
import { CallerName } from './people.tsx'

const addressOfEach = (
  { caller, project, kind }: Update,
  filters: Readonly<Record<string, string | undefined>>,
): string =>
  addressWith('/dashboard/updates', { ...filters, search: undefined, ...{ state: 'refused', caller, project, kind } })

export const UpdateTable = ({
  rows,
  view,
  filters,
}: {
  rows: readonly Repeated[]
  view: View
  filters: Readonly<Record<string, string | undefined>>
}) => (
  <div class="wide">
    <table class="rows updates" aria-label="Updates, newest first">
      <TableHead
        columns={['Asked for', 'Project', 'State', ...numberColumns('Estimated', 'Charged'), 'Budget', 'By', 'Reason']}
      />
      <tbody>
        {rows.map(({ update, count: times, since }) => (
          <tr>
            <td data-name="Asked for">
              {times === 1 ? null : (
                <>
                  <Time at={since} zone={zoneOf(view)} /> –{' '}
                </>
              )}
              <Time at={update.createdAt} zone={zoneOf(view)} />
            </td>
            <th scope="row">
              <a href={updateAddress(update.id)}>{update.project}</a>
              <span class="note">{update.kind}</span>
            </th>
            <td data-name="State">
              <StateName state={update.state} />
              {times === 1 ? null : (
                <span class="note">
                  {count(times)} times: <a href={addressOfEach(update, filters)}>show all</a>
                </span>
              )}
            </td>
            <UnitsCell name="Estimated" units={update.estimated} />
            <UnitsCell name="Charged" units={update.charged ?? (isTerminal(update.state) ? 0 : null)} />
            <td data-name="Budget">
              <BudgetLink name={update.budget} />
            </td>
            <td data-name="By">
              <CallerName update={update} definitions={view.definitions} />
            </td>
            <td data-name="Reason">{whyText(update, view)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

export function whyText(update: Update, { definitions }: Pick<View, 'definitions'>): string {
  const { state, problem, history, reason = '' } = update
  if (problem) return detailed.includes(problem.slug) ? firstClause(problem.detail) : describe(problem.slug).title
  const line = history.findLast((each) => each.state === state)
  switch (state) {
    case 'awaiting-approval':
    case 'in-doubt':
    case 'released':
    case 'expired':
      return line?.note ?? reason
    case 'rejected':
    case 'cancelled':
      return `by ${shownIn(definitions, update, line?.by ?? '')}${line?.note === undefined ? '' : `: ${line.note}`}`
    default:
      return reason
  }
}

/** The numbers are in the detail; the title is enough for the others. */
const detailed: readonly string[] = [
  ...[
    'over-budget',
    'over-update-limit',
    'over-max-units',
    'kind-not-allowed',
    'project-unowned',
    'budget-frozen',
    'plan-paused',
  ],
]

/** Problems begin with what is wrong; what to do follows. */
const firstClause = (detail: string): string => detail.split(/; |\. /)[0]?.replace(/\.$/, '') ?? detail
