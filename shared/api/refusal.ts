import { IdentityUnavailable } from '../auth/identity-unavailable.ts'
import { ReadsNarrowed } from '../guard/people/sees.ts'
import { ledgerProblem, problem } from '../guard/problems.ts'
import { BadCursor, DamagedItem, LedgerUnavailable } from '../ledger/errors.ts'
import type { Problem } from '../ledger/updates/update.ts'
import type { Log } from '../platform/log.ts'
import { SecretUnavailable } from '../platform/secrets.ts'

/** Any function may throw a refusal. The app's error handler answers with its problem. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  constructor(
    readonly problem: Problem,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(problem.slug)
  }
}

/** Limits the answer, however large the request is. */
const maxFaults = 25
const maxShown = 5

export function invalid(faults: readonly { path: string; message: string }[]): Refusal {
  const shownFaults = faults
    .slice(0, maxShown)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const hiddenFaults = faults.length - shownFaults.length
  const detail = `${shownFaults.join('; ')}${hiddenFaults > 0 ? `; and ${hiddenFaults} more` : ''}`
  const unlistedFaults = faults.length - maxFaults
  const errors = [
    ...faults.slice(0, maxFaults),
    ...(unlistedFaults > 0 ? [{ path: '', message: `and ${unlistedFaults} more` }] : []),
  ]
  return new Refusal(problem('invalid-request', `The request is not valid: ${detail}.`, { errors }))
}

/** Maps a thrown error to the problem that the caller sees. Unexpected errors are logged. */
export function problemOf(error: unknown, log: Log): Problem {
  if (error instanceof Refusal || error instanceof ReadsNarrowed) return error.problem
  if (error instanceof BadCursor) return invalid([{ path: 'cursor', message: error.message }]).problem
  // Not logged for each request, because anyone can send such tokens: `issuer-unavailable` is logged once.
  if (error instanceof IdentityUnavailable) return identityUnavailable
  log.error('failed', { cause: error })
  if (error instanceof LedgerUnavailable || error instanceof DamagedItem) return ledgerProblem(error)
  if (error instanceof SecretUnavailable) return secretUnavailable
  return internal
}

export const secretUnavailable = problem(
  'secret-unavailable',
  'A secret that this needs could not be read, so nothing was sent or spent. You may send the same request again.',
)

const identityUnavailable = problem(
  'identity-unavailable',
  'The issuer of the token does not answer, and its keys are not known here. Nothing was sent or spent. You may send the same request again.',
)

const internal = problem(
  'internal',
  'Something went wrong on our side; an operator of the guard finds it in the log under this requestId.',
)
