import type { RunOutcome } from '../../ledger/book/outcome.ts'
import { announcement } from '../../ledger/updates/tasks.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { digest } from '../../platform/ids.ts'
import type { RunResult } from '../../tracking/tracking.ts'
import type { GuardParts } from '../options.ts'
import { isPlausible } from './settle.ts'

const maxPlaces = 1_000

/** Announces a figure that runs state and no setting reads, once for each kind of update and place. */
export function createUnreadFigures({ ledger, clock, log }: Pick<GuardParts, 'ledger' | 'clock' | 'log'>) {
  const announced = new Set<string>()

  /** Follows the settlement. A failed write does not fail the answer. */
  async function note(update: Update, outcome: RunOutcome, result: RunResult): Promise<void> {
    const { id, kind: updateKind, state, hold } = update
    if (outcome.kind !== 'ran' || result.kind !== 'ran' || state !== 'settled' || !hold) return
    const { stated } = result
    if (!stated || stated.by === 'pointer' || stated.units === outcome.units || !isPlausible(stated.units)) return
    const { units, source: place } = stated
    const newsId = `unread-figure#${updateKind}#${digest(place)}`
    if (announced.has(newsId)) return
    if (announced.size >= maxPlaces) announced.clear()
    announced.add(newsId)
    const atEstimate = stated.by === 'estimate' && ({ atEstimate: true } as const)
    const about = {
      kind: 'unread-figure',
      update: id,
      updateKind,
      place,
      units,
      held: hold.units,
      ...atEstimate,
    } as const
    try {
      await ledger.announcements.add(announcement(newsId, clock.now(), about, update))
    } catch (cause) {
      announced.delete(newsId)
      log.error('unread-figure-not-told', { update: id, place, cause })
    }
  }

  return { note }
}

export type UnreadFigures = ReturnType<typeof createUnreadFigures>
