import type { EnterOutcome } from '../ledger/book/enter.ts'
import type { DoubtsOpen } from '../ledger/book/figure.ts'
import {
  AnswerLost,
  Contention,
  DamagedItem,
  type DiskFault,
  ItemTooLarge,
  type LedgerUnavailable,
} from '../ledger/errors.ts'
import { WrongLedger } from '../ledger/identity.ts'
import type { Problem } from '../ledger/updates/update.ts'
import { toRfc3339 } from '../platform/clock.ts'
import type { Slug } from './problem-types.ts'
import { count, countOf, diskSentences, few, holdsEnd, units as inUnits, thisWindow } from './sentences.ts'

/** @param detail one full sentence with the numbers. */
export const problem = (slug: Slug, detail: string, members: Problem['members'] = {}): Problem => ({
  slug,
  detail,
  members,
})

/** The member that the HTTP answer sends as `Retry-After`, in seconds. */
export const retryAfter = (ms: number | undefined): Problem['members'] =>
  ms === undefined ? {} : { retryAfter: Math.ceil(ms / 1000) }

export const waitFor = (ms: number): string => `The service asks to wait ${countOf(Math.ceil(ms / 1000), 'second')}.`

/** A problem as an outcome. */
export interface Refused {
  readonly kind: 'problem'
  readonly problem: Problem
}

export const refused = (problem: Problem): Refused => ({ kind: 'problem', problem })

export const invalidRequest = (errors: readonly { readonly path: string; readonly message: string }[]): Problem =>
  problem('invalid-request', errors.map(({ message }) => message).join(' '), { errors })

/**
 * The answer when the ledger fails before anything was sent.
 * @param project of several in the request, because updates of the others may have run.
 */
export function ledgerProblem(cause: LedgerUnavailable | DamagedItem, project?: string): Problem {
  if (cause instanceof DamagedItem) return damagedRecord(cause)
  if (cause instanceof WrongLedger) return problem('ledger-unavailable', cause.detail)
  if (cause instanceof Contention) return undecided(project)
  if (cause instanceof ItemTooLarge) return itemTooLarge
  if (cause.disk !== null) return diskProblem(cause.disk, cause instanceof AnswerLost, project)
  if (cause instanceof AnswerLost) return answerLost
  return project === undefined ? ledgerUnavailable : notRecorded(project)
}

function diskProblem(fault: DiskFault, mayBeWritten: boolean, project: string | undefined): Problem {
  const [about, on] = project === undefined ? ['', ''] : [` for ${project}`, ' on it']
  const nothing = `Nothing was sent to the service${about} and nothing spent${on}; the same request may be sent again when an operator has repaired this.`
  return problem('ledger-unavailable', `${diskSentences[fault]} ${mayBeWritten ? answerLost.detail : nothing}`)
}

export const undecidedRetryAfter = 5

const damagedRecord = ({ key }: DamagedItem): Problem =>
  problem(
    'ledger-unavailable',
    `The stored item ${key.pk} (${key.sk}) is damaged, so what needs it is refused. Sending the request again does not help: an operator restores a backup (npm run doctor names all damage).`,
  )

function undecided(project: string | undefined): Problem {
  const [what, about, on, how] =
    project === undefined
      ? ['this request', '', '', '']
      : [`the update of ${project}`, ' for it', ' on it', withSameKey]
  const detail = `Other requests changed the same records each time, so ${what} could not be decided in time. Nothing was sent to the service${about} and nothing was spent${on}. Send the same request again in ${undecidedRetryAfter} seconds${how}.`
  return problem('undecided', detail)
}

const withSameKey = ', with the same Idempotency-Key'

const itemTooLarge = problem(
  'wrong-state',
  'The book of the month or the definitions would be larger than the 400 KB that DynamoDB takes, so nothing was written and nothing was spent. An administrator makes room by deleting budgets and callers that are not used, or limits of callers; then the same request may be sent again.',
)

const answerLost = problem(
  'ledger-unavailable',
  'The answer of the ledger was lost, so the change may have been written. Nothing was sent to the service. With the same Idempotency-Key the request may be sent again and counts once. Without a key, check first whether the change was made.',
)

const ledgerUnavailable = problem(
  'ledger-unavailable',
  'The ledger does not answer, so nothing was sent to the service and nothing spent; the same request may be sent again.',
)

const notRecorded = (project: string): Problem =>
  problem(
    'ledger-unavailable',
    `The ledger does not answer, so the update of ${project} was not recorded: nothing was sent to the service for it and nothing was spent on it. Send the same request again${withSameKey}.`,
  )

export const noBudget = (name: string): Problem => problem('not-found', `There is no budget ${name}.`)

function doubtsOpen({ doubts, isEarlier }: DoubtsOpen): Problem {
  const named = few(doubts.map(({ id, project, units }) => `${id} (${project}, ${inUnits(units)})`))
  const one = doubts.length === 1
  const has = `The vendor’s figure has ${one ? 'this update' : 'these updates'} in doubt, if ${one ? 'it' : 'they'} ran: ${named}.`
  const toDo = isEarlier
    ? 'A figure of an earlier time closes no doubts: say first whether they ran (POST /updates/resolve), then send the figure again.'
    : 'Say whether they ran: doubts: "ran", or an answer for each, {"upd_…": "ran" or "did-not-run"}. Booking closes them first.'
  const members = doubts.map(({ id, project, units }) => ({ update: id, project, units }))
  return problem('doubts-open', `${has} ${toDo}`, { doubts: members })
}

export function notEntered(outcome: Exclude<EnterOutcome, { kind: 'entered' }>): Problem {
  switch (outcome.kind) {
    case 'unknown-budget':
      return noBudget(outcome.budget)
    case 'unknown-entry':
      return problem('not-found', 'There is no such entry.')
    case 'unknown-update':
      return problem('not-found', `There is no update ${outcome.update}.`)
    case 'other-payer': {
      const message = `${outcome.update} was charged to ${outcome.budget}, so correct it there`
      return invalidRequest([{ path: 'corrects', message: `${message}: POST /budgets/${outcome.budget}/entries.` }])
    }
    case 'key-reused': {
      const detail = 'This idempotency key was used before, for another entry; use a new key for a new entry.'
      return problem('key-reused', detail)
    }
    case 'short': {
      const { budget, window, available, needed, counters, ends, past } = outcome
      const open = thisWindow(window)
      const where = past ? `in ${past[window]}` : open
      const grant = `a grant of ${count(needed - available)} to ${budget} before (POST /budgets/${budget}/entries, scope admin)`
      const detail = `${budget} has ${inUnits(available)} left ${where}, so ${count(needed)} cannot be taken from it; what is held, in doubt or spent stays.`
      return problem('over-budget', [detail, holdsEnd(counters)].filter(Boolean).join(' '), {
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
    case 'doubts-open':
      return doubtsOpen(outcome)
    case 'not-possible':
      return problem('wrong-state', outcome.why)
  }
}
