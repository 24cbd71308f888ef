import { ledgerProblem, problem } from '../../shared/guard/problems.ts'
import { BadCursor } from '../../shared/ledger/lists.ts'
import { LedgerUnavailable } from '../../shared/ledger/store.ts'
import type { Problem } from '../../shared/ledger/update.ts'
import type { Log } from '../../shared/platform/log.ts'
import { SecretUnavailable } from '../../shared/platform/secrets.ts'
import { invalid, Refusal } from './refusal.ts'

/** What whoever asked is told about what was thrown; what is no refusal of ours stands in the log. */
export function problemOf(error: unknown, log: Log): Problem {
  if (error instanceof Refusal) return error.problem
  if (error instanceof BadCursor) return invalid([{ path: 'cursor', message: error.message }]).problem
  log.error('failed', { cause: error })
  if (error instanceof LedgerUnavailable) return ledgerProblem(error)
  if (error instanceof SecretUnavailable) return secretUnavailable
  return internal
}

const secretUnavailable = problem(
  'secret-unavailable',
  'A secret that this needs could not be read, so nothing was sent and nothing spent; the same request may be sent again.',
)

const internal = problem(
  'internal',
  'Something went wrong on our side; whoever operates the guard finds it in the log under this requestId.',
)
