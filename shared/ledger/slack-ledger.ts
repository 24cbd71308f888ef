import type { Ledger } from './ledger.ts'
import { ledgerPartsOf } from './ledger-parts.ts'
import { createAdd, type Queue, type Task, type TaskKind } from './updates/queue.ts'
import { createVerifiedViews } from './verified-views.ts'

/** Slack's function checks the user in a view, and queues the event. */
export interface SlackLedger extends Pick<Ledger, 'view'> {
  queue<T extends Task>(kind: TaskKind<T>): Pick<Queue<T>, 'add'>
}

/** Leaves out the rest of the ledger's code, because Slack waits only three seconds for a cold start. */
export function openSlackLedger(...how: Parameters<typeof ledgerPartsOf>): SlackLedger {
  const parts = ledgerPartsOf(...how)
  return {
    view: createVerifiedViews(parts).view,
    queue: (kind) => ({ add: createAdd(kind, parts.store) }),
  }
}
