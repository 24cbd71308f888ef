import type { Ledger } from '../ledger/ledger.ts'
import type { Update } from '../ledger/update.ts'
import type { View } from '../ledger/views.ts'
import { dayAt } from '../ledger/windows.ts'
import type { Tracking } from '../tracking/tracking.ts'
import { targetOfRequest } from './quoting.ts'
import { datesAround, datesNear } from './records.ts'

/** How many updates of the same work are looked at before it counts as unclear whose a date is. */
const longestWalk = 50
const rivalsWithinMs = 3 * 24 * 3600_000

/**
 * Evidence that an update ran: a date around its fence that the service did not have before and has now, and that no
 * other update of the same work can have made. Only ranking updates leave such dates.
 */
export function createEvidence({ ledger, tracking }: { ledger: Ledger; tracking: Tracking }) {
  /** The date that proves it, or `null`: nothing is known. */
  async function evidenceFor(update: Update): Promise<string | null> {
    const { hold } = update
    if (update.kind !== 'ranking' || !hold?.datesBefore) return null
    const reading = await tracking.dates(targetOfRequest(update))
    if (reading.kind !== 'dates') return null
    const view = await ledger.view([{ work: { kind: update.kind, project: update.project } }])
    const fresh = nearDates(view, update, reading.dates).filter((date) => !hold.datesBefore?.includes(date))
    if (fresh.length === 0) return null
    const rivals = await rivalsOf(update, view.asked[0]?.work?.update)
    if (!rivals) return null
    return fresh.find((date) => !rivals.some((rival) => mayHaveMade(view, rival, date))) ?? null
  }

  /** The other updates of the work around this one, from the latest back; `null` where there are too many to tell. */
  async function rivalsOf(update: Update, latest: string | undefined): Promise<Update[] | null> {
    const rivals: Update[] = []
    const oldest = (update.hold?.at ?? 0) - rivalsWithinMs
    let id = latest
    for (let step = 0; id !== undefined; step++) {
      if (step === longestWalk) return null
      const rival = await ledger.update(id)
      if (!rival?.hold || rival.hold.at < oldest) return rivals
      if (rival.id !== update.id) rivals.push(rival)
      id = rival.hold.previous
    }
    return rivals
  }

  return { evidenceFor }
}

/**
 * The dates that would prove that this update ran, had they data of it now; the others around its fence had some before.
 * `null`: there is nothing that could be looked for.
 */
export function soughtDates({ definitions }: Pick<View, 'definitions'>, update: Update): readonly string[] | null {
  const { hold, kind } = update
  if (kind !== 'ranking' || !hold?.datesBefore) return null
  return datesNear(dayAt(definitions.calendar, hold.at)).filter((date) => !hold.datesBefore?.includes(date))
}

function mayHaveMade(view: View, rival: Update, date: string): boolean {
  if (rival.state === 'released' && rival.closedBy === 'sender') return false
  return nearDates(view, rival, [date]).length > 0 && !rival.hold?.datesBefore?.includes(date)
}

function nearDates({ definitions }: View, { hold }: Update, dates: readonly string[]): readonly string[] {
  return hold ? datesAround(dayAt(definitions.calendar, hold.at), dates) : []
}
