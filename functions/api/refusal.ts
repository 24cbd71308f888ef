import { problem } from '../../shared/guard/problems.ts'
import type { Problem } from '../../shared/ledger/update.ts'

/** A refusal of our own, thrown by whatever finds it and answered in one place. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  constructor(
    readonly problem: Problem,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(problem.slug)
  }
}

export const invalid = (errors: readonly { path: string; message: string }[]): Refusal => {
  const detail = errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ')
  return new Refusal(problem('invalid-request', `The request is not valid: ${detail}.`, { errors }))
}
