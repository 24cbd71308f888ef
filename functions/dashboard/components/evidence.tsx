import { count, list, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { soughtDates } from '../../../shared/guard/sweep/sweep.ts'
import { inFlightUntil } from '../../../shared/guard/update/duplicate-work.ts'
import { doubtLastsMs } from '../../../shared/ledger/book/outcome.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import type { Kinds } from '../../../shared/tracking/kinds.ts'
import { dayNamed, Time } from './parts.tsx'

type Of = { update: Update; view: View } & Pick<Services, 'options' | 'kinds'>

/** What is looked for, and when a person may say what. */
export function Evidence({ update, view, options, kinds }: Of) {
  const zone = zoneOf(view)
  const landed = inFlightUntil(update, options)
  const until = (update.doubt?.at ?? view.now) + doubtLastsMs
  return (
    <ul class="evidence">
      <li>{evidenceSentence(update, view, kinds)}</li>
      <li>
        {view.now < landed ? (
          <>
            It may still take effect: that it did not run can be said from <Time at={landed} zone={zone} /> on. That it
            ran can be said now.
          </>
        ) : (
          <>
            Nothing that was sent can still take effect since <Time at={landed} zone={zone} />: both can be said.
          </>
        )}
      </li>
      <li>
        If nobody says anything, it is settled on <Time at={until} zone={zone} /> at the{' '}
        {count(update.hold?.units ?? 0)} held.
      </li>
    </ul>
  )
}

function evidenceSentence(update: Update, view: View, kinds: Kinds): string {
  if (!kinds[update.kind].leavesDates)
    return `A ${update.kind} update leaves nothing that could be looked for: only a person can tell.`
  const sought = soughtDates(view, update)
  if (sought === null)
    return 'Which dates the service had before could not be read, so nothing can prove that it ran: only a person can tell.'
  if (sought.length === 0)
    return 'The service had data of every day around it before, so nothing can prove that it ran: only a person can tell.'
  return `The sweep looks for data of ${list(sought.map(dayNamed))} at the service, which had none before; it has not found any yet.`
}
