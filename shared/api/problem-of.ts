import { ledgerProblem, problem } from '../guard/problems.ts'
import { BadCursor, LedgerUnavailable } from '../ledger/errors.ts'
import type { Problem } from '../ledger/updates/update.ts'
import type { Log } from '../platform/log.ts'
import { SecretUnavailable } from '../platform/secrets.ts'
import { invalid, Refusal } from './refusal.ts'

/** Maps a thrown error to the problem the caller sees. Unexpected errors are logged. */
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
  'Something went wrong on our side; an operator of the guard finds it in the log under this requestId.',
)
