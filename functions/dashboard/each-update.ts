import { problemOf } from '../../shared/api/problem-of.ts'
import type { Problem } from '../../shared/ledger/updates/update.ts'
import type { Log } from '../../shared/platform/log.ts'

/**
 * Does the same for each of many, one after another. When something is thrown (the ledger does not answer), the rest is
 * left, and the answer says what was done before; with nothing done it is an answer like any other.
 */
export async function oneByOne<Outcome>(
  ids: Iterable<string>,
  act: (id: string) => Promise<Outcome>,
  log: Log,
): Promise<readonly (Outcome | { readonly kind: 'problem'; readonly problem: Problem })[]> {
  const outcomes: (Outcome | { kind: 'problem'; problem: Problem })[] = []
  for (const id of new Set(ids)) {
    try {
      outcomes.push(await act(id))
    } catch (error) {
      if (outcomes.length === 0) throw error
      return [...outcomes, { kind: 'problem', problem: problemOf(error, log) }]
    }
  }
  return outcomes
}
