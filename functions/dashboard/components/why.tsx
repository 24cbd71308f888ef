import { describe } from '../../../shared/guard/problems.ts'
import { count } from '../../../shared/guard/sentences.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { Time, updateAddress } from './parts.tsx'

export function whyText({ state, problem, history, reason = '' }: Update): string {
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
      return `by ${line?.by}${line?.note === undefined ? '' : `: ${line.note}`}`
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
    'too-many-callers',
  ],
]

/** Problems begin with what is wrong; what to do follows. */
const firstClause = (detail: string): string => detail.split(/; |\. /)[0]?.replace(/\.$/, '') ?? detail

/** Of a loop, whose latest refusal has the row. */
export const EarlierRefusals = ({ updates, zone }: { updates: readonly Update[]; zone: string }) =>
  updates.length === 0 ? null : (
    <details>
      <summary>
        {count(updates.length + 1)} times since <Time at={updates.at(-1)?.createdAt ?? 0} zone={zone} isOfDay />
      </summary>
      {updates.map(({ id, createdAt }) => (
        <a href={updateAddress(id)} class="note">
          <Time at={createdAt} zone={zone} />
        </a>
      ))}
    </details>
  )
