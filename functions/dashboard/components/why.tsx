import { describe } from '../../../shared/guard/problems.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'

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
