import type { EnterOutcome } from '../ledger/book/enter.ts'
import { AnswerLost, Contention, ItemTooLarge, type LedgerUnavailable } from '../ledger/errors.ts'
import { WrongLedger } from '../ledger/identity.ts'
import type { Problem } from '../ledger/updates/update.ts'
import { toRfc3339 } from '../platform/clock.ts'
import { count, units as inUnits } from './sentences.ts'

/** 4xx and 5xx mean that nothing was spent, unless the detail says otherwise. */
export const problems = {
  'invalid-request': { status: 400, title: 'The request is not valid' },
  unauthorized: { status: 401, title: 'A valid token is needed' },
  forbidden: { status: 403, title: 'This caller may not do that' },
  'wrong-address': { status: 403, title: 'This address is not open' },
  'over-budget': { status: 402, title: 'Not enough units available' },
  'over-update-limit': { status: 402, title: 'More units than one update may cost' },
  'kind-not-allowed': { status: 402, title: 'The budget does not allow this kind of update' },
  'project-unowned': { status: 402, title: 'No budget lists the project' },
  'over-max-units': { status: 402, title: 'More units than the request allows' },
  'already-fresh': { status: 402, title: "The project already has today's data" },
  'budget-frozen': { status: 402, title: 'The budget is frozen' },
  'plan-paused': { status: 402, title: 'The plan is paused' },
  rejected: { status: 402, title: 'The update was rejected' },
  cancelled: { status: 402, title: 'The update was cancelled' },
  expired: { status: 402, title: 'The update expired before it was begun' },
  'already-updated': { status: 200, title: 'The same work was done a short while ago' },
  'not-found': { status: 404, title: 'There is nothing here' },
  'method-not-allowed': { status: 405, title: 'This address does not take that method' },
  'in-progress': { status: 409, title: 'The first request with this key is still running' },
  'duplicate-work': { status: 409, title: 'The same work is already under way' },
  'ledger-restored': { status: 409, title: 'Whether this was done before the restore is not known' },
  'wrong-state': { status: 409, title: 'Not possible in the state that it is in' },
  'precondition-failed': { status: 412, title: 'The definitions have changed meanwhile' },
  'too-large': { status: 413, title: 'The body is too large' },
  'unsupported-media-type': { status: 415, title: 'The body is not JSON' },
  'key-reused': { status: 422, title: 'The idempotency key belongs to another request' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'estimate-unreadable': { status: 502, title: 'No units could be read from the estimate' },
  'service-refused': { status: 502, title: 'The service refused' },
  'service-unreachable': { status: 502, title: 'The service could not be reached' },
  'ledger-unavailable': { status: 503, title: 'The ledger does not answer' },
  undecided: { status: 503, title: 'The request could not be decided in time' },
  'identity-unavailable': { status: 503, title: 'The issuer of the token does not answer' },
  'wrong-clock': { status: 503, title: 'Our clock and that of the service disagree' },
  'secret-unavailable': { status: 503, title: 'A secret could not be read' },
  internal: { status: 500, title: 'Something went wrong on our side' },
} as const satisfies Record<string, { status: number; title: string }>

export type Slug = keyof typeof problems

/** @param detail one full sentence with the numbers. */
export const problem = (slug: Slug, detail: string, members: Problem['members'] = {}): Problem => ({
  slug,
  detail,
  members,
})

export const invalidRequest = (errors: readonly { readonly path: string; readonly message: string }[]): Problem =>
  problem('invalid-request', errors.map(({ message }) => message).join(' '), { errors })

/** The answer when the ledger fails before anything was sent. */
export function ledgerProblem(cause: LedgerUnavailable): Problem {
  if (cause instanceof WrongLedger) return problem('ledger-unavailable', cause.detail)
  if (cause instanceof Contention) return undecided
  if (cause instanceof ItemTooLarge) return itemTooLarge
  return cause instanceof AnswerLost ? answerLost : ledgerUnavailable
}

export const undecidedRetryAfter = 5

const undecided = problem(
  'undecided',
  `Other requests changed the same records each time, so this request could not be decided in time. Nothing was sent to the service and nothing was spent. Send the same request again in ${undecidedRetryAfter} seconds.`,
)

const itemTooLarge = problem(
  'wrong-state',
  'The book of the month or the definitions would be larger than the 400 KB that DynamoDB takes, so nothing was written and nothing was spent. An administrator makes room by deleting budgets and callers that are not used, or limits of callers; then the same request may be sent again.',
)

const answerLost = problem(
  'ledger-unavailable',
  'The answer of the ledger was lost, so this may have been written; nothing was sent to the service. With the same Idempotency-Key it may be sent again and counts once; without one, look first whether it is there.',
)

const ledgerUnavailable = problem(
  'ledger-unavailable',
  'The ledger does not answer, so nothing was sent to the service and nothing spent; the same request may be sent again.',
)

export function describe(slug: string): { readonly status: number; readonly title: string } {
  return Object.hasOwn(problems, slug) ? problems[slug as Slug] : problems.internal
}

export const noBudget = (name: string): Problem => problem('not-found', `There is no budget ${name}.`)

export function notEntered(outcome: Exclude<EnterOutcome, { kind: 'entered' }>): Problem {
  switch (outcome.kind) {
    case 'unknown-budget':
      return noBudget(outcome.budget)
    case 'unknown-entry':
      return problem('not-found', 'There is no such entry.')
    case 'key-reused': {
      const detail = 'This idempotency key was used before, for another entry; use a new key for a new one.'
      return problem('key-reused', detail)
    }
    case 'short': {
      const { budget, window, available, needed, counters, ends, past } = outcome
      const open = window === 'day' ? 'today' : 'this month'
      const where = past ? `in ${past[window]}` : open
      const grant = `a grant of ${count(needed - available)} to ${budget} before (POST /budgets/${budget}/entries, scope admin)`
      const detail = `${budget} has ${inUnits(available)} left ${where}, so ${count(needed)} cannot be taken from it; what is held, in doubt or spent stays.`
      return problem('over-budget', detail, {
        units: needed,
        short: needed - available,
        budgets: counters.map(({ granted: _, needed: takes, ...counter }) => ({
          ...counter,
          short: takes - counter.available,
          resetsAt: toRfc3339(ends[counter.window]),
        })),
        wouldPass: [...(available > 0 ? [`at most ${inUnits(available)}, now`] : []), ...(past ? [] : [grant])],
      })
    }
    case 'not-possible':
      return problem('wrong-state', outcome.why)
  }
}
