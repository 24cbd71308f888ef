import type { Guard } from '../../guard/guard.ts'
import { type Change, idIn } from '../../ledger/stream.ts'
import { announcements } from '../../ledger/updates/tasks.ts'
import { inTraceOf, type Log } from '../../platform/log.ts'
import type { Teller } from './tell.ts'

interface Parts {
  readonly guard: Guard
  readonly teller: Pick<Teller, 'tell' | 'refresh'>
  readonly log: Log
}

/**
 * Sends announcements, edits them when their updates change, and checks thresholds.
 *
 * @returns the sequence numbers of the changes that the stream must deliver again.
 */
export async function tellChanges(parts: Parts, changes: readonly Change[]): Promise<readonly string[]> {
  const { guard, log } = parts
  const failed: string[] = []
  for (const change of changes)
    if (!(await inTraceOf(change, () => tellChange(parts, change)))) failed.push(change.sequenceNumber)
  if (changes.some(({ pk }) => pk === 'book')) {
    // The sweep also checks thresholds, so the stream need not repeat the records.
    await guard
      .jobs()
      .then(({ checkThresholds }) => checkThresholds())
      .catch((cause) => log.error('thresholds-not-watched', { cause }))
  }
  return failed
}

/** `false`: the stream must deliver the change again. */
async function tellChange({ teller, log }: Parts, { pk, isNew, wasAnnounced }: Change): Promise<boolean> {
  let isTold = true
  const update = !isNew && wasAnnounced ? idIn(pk, 'update') : null
  if (update !== null) {
    await teller.refresh(update).catch((cause) => {
      log.error('not-refreshed', { update, cause })
      isTold = false
    })
  }
  const announcement = isNew ? idIn(pk, announcements.name) : null
  if (announcement !== null) {
    await teller.tell(announcement).catch((cause) => {
      log.error('not-told', { announcement, cause })
      isTold = false
    })
  }
  return isTold
}
