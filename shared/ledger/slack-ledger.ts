import type { Ledger } from './ledger.ts'
import { ledgerPartsOf } from './ledger-parts.ts'
import { createQueue, createRotation } from './updates/queue.ts'
import { createVerifiedViews } from './views/verified-views.ts'

/** Slack's function checks the user in a view, and queues the event. */
export type SlackLedger = Pick<Ledger, 'view' | 'queue'>

/** Leaves out the rest of the ledger's code, because Slack waits only three seconds for a cold start. */
export function openSlackLedger(...how: Parameters<typeof ledgerPartsOf>): SlackLedger {
  const parts = ledgerPartsOf(...how)
  const queueParts = { ...parts, rotation: createRotation(parts) }
  return {
    view: createVerifiedViews(parts).view,
    queue: (kind) => createQueue(kind, queueParts),
  }
}
