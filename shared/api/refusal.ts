import { problem } from '../guard/problems.ts'
import type { Problem } from '../ledger/updates/update.ts'

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
