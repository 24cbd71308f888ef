import type { Ledger } from './ledger.ts'
import { ledgerPartsOf } from './ledger-parts.ts'
import { createQueue, createRotation } from './updates/queue.ts'
import { slackEvents } from './updates/slack-events.ts'
import { createVerifiedViews } from './views/verified-views.ts'

/** What Slack's function needs: who may ask, and a place for what was asked. */
export type SlackLedger = Pick<Ledger, 'view' | 'slackEvents'>

/** Without the rest of the ledger's code, because Slack waits only three seconds for a cold start. */
export function openSlackLedger(...how: Parameters<typeof ledgerPartsOf>): SlackLedger {
  const parts = ledgerPartsOf(...how)
  return {
    view: createVerifiedViews(parts).view,
    slackEvents: createQueue(slackEvents, { ...parts, rotation: createRotation(parts) }),
  }
}
