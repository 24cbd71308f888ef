import type { EnterOutcome } from '../../ledger/book/enter.ts'
import { isOfUpdate } from '../../ledger/book/entry.ts'
import type { EntryRequest } from '../../ledger/book/entry-request.ts'
import { type GuardParts, withParts } from '../options.ts'

type Parts = Pick<GuardParts, 'ledger' | 'log'>

export const createEnter = (parts: Parts) => withParts(parts, { enter })

/** Books an entry. The log has the correction of a charge, because a restored ledger may lack it. */
export async function enter({ ledger, log }: Parts, request: EntryRequest): Promise<EnterOutcome> {
  const outcome = await ledger.enter(request)
  if (outcome.kind !== 'entered' || outcome.again) return outcome
  const { id, corrects, units, by } = outcome.entry
  if (corrects !== undefined && isOfUpdate(corrects))
    log.info('charge-corrected', { update: corrects, charged: units, by, entry: id })
  return outcome
}
