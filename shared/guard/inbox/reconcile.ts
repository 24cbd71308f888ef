import type { EnterOutcome } from '../../ledger/book/enter.ts'
import type { EntryRequest } from '../../ledger/book/entry-request.ts'
import { whyNotBooked } from '../../ledger/book/reconcile.ts'
import { type GuardParts, withParts } from '../options.ts'
import type { Approvals } from '../people/decisions.ts'
import type { Permissions } from '../people/permissions.ts'
import { problem, type Refused, refused } from '../problems.ts'
import { list } from '../sentences.ts'

type ReconcileRequest = Extract<EntryRequest, { type: 'reconcile' }>

interface Parts extends Pick<GuardParts, 'ledger'> {
  readonly approvals: Pick<Approvals, 'decide'>
}

export const createReconcile = (parts: Parts) => withParts(parts, { reconcile })

/**
 * Books the difference to the vendor's figure. First it closes the doubts that the figure has, as the request says and as
 * that person's own resolutions, so that book and figure speak of the same updates.
 */
async function reconcile(
  { ledger, approvals }: Parts,
  request: ReconcileRequest,
  by: Pick<Permissions, 'caller' | 'person' | 'isAdmin' | 'scopes'>,
): Promise<EnterOutcome | Refused> {
  const first = await ledger.enter(request)
  if (first.kind !== 'doubts-open' || !request.doubts) return first
  const preview = await ledger.previewEntry(request)
  if (preview.kind !== 'possible') return preview
  const { reconciliation: parts } = preview
  const why = parts && whyNotBooked(request, parts)
  if (!parts || why) return { kind: 'not-possible', why: why ?? 'There is nothing to reconcile.' }
  const ids = parts.doubts.map(({ id }) => id)
  if (!by.scopes.has('approve')) {
    const detail = `${by.caller} needs the scope approve to say whether ${list(ids)} ran. Nothing was booked.`
    return refused(problem('forbidden', detail))
  }
  const reason = request.reason === '' ? 'the vendor’s figure was reconciled' : request.reason
  for (const { id, outcome = 'ran' } of parts.doubts) {
    // Another person may have closed it just now. The ledger then compares the difference again.
    const closed = await approvals.decide(outcome, id, by, { reason })
    if (closed.kind === 'problem' && closed.problem.slug !== 'wrong-state') return refused(closed.problem)
  }
  return ledger.enter(request)
}
