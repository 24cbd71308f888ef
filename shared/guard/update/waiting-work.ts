import type { Ledger } from '../../ledger/ledger.ts'
import { workKeysOf } from '../../ledger/updates/work.ts'
import { permissionsNow } from '../people/permissions.ts'
import { type Reads, seesUpdate } from '../reads/sees.ts'
import { list } from '../sentences.ts'
import type { DecisionInput } from './quote.ts'

const maxRead = 200
const maxNamed = 3

/**
 * Clauses about other requests for the same work that wait for approval and that the caller may see. The list lags a
 * moment, so it may miss a new request. The inbox shows such requests together.
 */
export async function sameWorkWaiting(
  { oldestOpen }: Pick<Ledger, 'oldestOpen'>,
  knowns: readonly DecisionInput[],
  reads: Reads | null = null,
): Promise<readonly string[]> {
  if (knowns.length === 0) return []
  const { rows } = await oldestOpen('awaiting-approval', maxRead)
  const waiting = rows.filter(({ state }) => state === 'awaiting-approval')
  return knowns.flatMap(({ view: { definitions }, asked, request }) => {
    const { id, project } = request
    const keys = asked.works.map(({ key }) => key)
    const ofCaller = reads ?? permissionsNow(definitions, request)
    const others = waiting.filter(
      (other) =>
        other.id !== id &&
        workKeysOf(definitions, other.kind, other.project).some((key) => keys.includes(key)) &&
        (!ofCaller || seesUpdate(definitions, ofCaller, other)),
    )
    if (others.length === 0) return []
    const ids = others.slice(0, maxNamed).map((other) => other.id)
    const wait = others.length === 1 ? `another request for ${project} waits` : `other requests for ${project} wait`
    return [`${wait} for approval already: ${list(ids)}`]
  })
}
