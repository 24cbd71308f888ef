import { dayAt } from '../../ledger/book/windows.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Hold, Update } from '../../ledger/updates/update.ts'
import type { View } from '../../ledger/views/views.ts'
import { dayMs } from '../../platform/clock.ts'
import type { Tracking } from '../../tracking/tracking.ts'
import { targetOfRequest } from '../update/quote.ts'
import { datesNear } from '../update/records.ts'

/** With more rivals than this it is unclear which update made a date. */
const maxWalk = 50
const rivalsWithinMs = 3 * dayMs

/**
 * Evidence that an update ran: a date around its fence that the service did not have before and has now, and that no
 * other update of the same work can have made. Only ranking updates leave such dates, so only their holds know of some.
 */
export function createEvidence({ ledger, tracking }: { ledger: Ledger; tracking: Tracking }) {
  /** The date that proves it, or `null`: nothing is known. */
  async function evidenceFor(update: Update): Promise<string | null> {
    const { hold } = update
    if (!hold?.datesBefore) return null
    const reading = await tracking.dates(targetOfRequest(update))
    if (reading.kind !== 'dates') return null
    const { kind, project } = update
    const view = await ledger.view([{ work: { kind, project, keys: hold.works ?? [] } }])
    const fresh = datesSince(view, hold).filter((date) => reading.dates.includes(date))
    if (fresh.length === 0) return null
    const latest = view.results[0]?.works.flatMap(({ work }) => (work ? [work.update] : [])) ?? []
    const rivals = await rivalsOf(update.id, hold, latest)
    if (!rivals) return null
    return fresh.find((date) => !rivals.some((rival) => datesSince(view, rival).includes(date))) ?? null
  }

  /**
   * The holds of other updates of the work around this one that may have run, from the latest back; `null` where there
   * are too many to tell.
   */
  async function rivalsOf(own: string, hold: Hold, latest: readonly string[]): Promise<Hold[] | null> {
    const rivals: Hold[] = []
    const ids = new Set(latest)
    for (const id of ids) {
      if (ids.size > maxWalk) return null
      const rival = await ledger.update(id)
      if (!rival?.hold || rival.hold.at < hold.at - rivalsWithinMs) continue
      const didNotRun = rival.state === 'released' && rival.closedBy === 'sender'
      if (rival.id !== own && !didNotRun) rivals.push(rival.hold)
      const { previous = [] } = rival.hold
      for (const before of typeof previous === 'string' ? [previous] : previous) ids.add(before)
    }
    return rivals
  }

  return { evidenceFor }
}

/**
 * The dates that would prove that this update ran, had they data of it now; the others around its fence had some before.
 * `null`: there is nothing that could be looked for.
 */
export const soughtDates = (view: Pick<View, 'definitions'>, { hold }: Update): readonly string[] | null =>
  hold?.datesBefore ? datesSince(view, hold) : null

/** The dates that a run behind this fence may have made; all around it, where the earlier dates are unknown. */
const datesSince = ({ definitions }: Pick<View, 'definitions'>, { at, datesBefore = [] }: Hold): readonly string[] =>
  datesNear(dayAt(definitions.calendar, at)).filter((date) => !datesBefore.includes(date))
