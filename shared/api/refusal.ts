import { ledgerProblem, problem } from '../guard/problems.ts'
import { BadCursor, LedgerUnavailable } from '../ledger/errors.ts'
import type { Problem } from '../ledger/updates/update.ts'
import type { Log } from '../platform/log.ts'
import { SecretUnavailable } from '../platform/secrets.ts'

/** Thrown where a refusal is found, and answered in one place. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  constructor(
    readonly problem: Problem,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(problem.slug)
  }
}

/** An answer stays small whatever was sent. */
const maxFaults = 25
const maxNamed = 5

/** 400 with every fault. */
export function invalid(faults: readonly { path: string; message: string }[]): Refusal {
  const named = faults.slice(0, maxNamed).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const unnamed = faults.length - named.length
  const detail = `${named.join('; ')}${unnamed > 0 ? `; and ${unnamed} more` : ''}`
  const unlisted = faults.length - maxFaults
  const errors = [
    ...faults.slice(0, maxFaults),
    ...(unlisted > 0 ? [{ path: '', message: `and ${unlisted} more` }] : []),
  ]
  return new Refusal(problem('invalid-request', `The request is not valid: ${detail}.`, { errors }))
}

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
