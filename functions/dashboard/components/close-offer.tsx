import { isLastDay } from '../../../shared/guard/inbox/close-month.ts'
import { zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { closePath, Time } from '../kit/parts.tsx'

/** Shown on the last day of the month, because no figure of a month can be booked after it. */
export const CloseMonthOffer = ({ view, isOffered }: { view: View; isOffered: boolean }) =>
  isOffered && isLastDay(view) ? (
    <p class="warning">
      The month ends on <Time at={view.month.end} zone={zoneOf(view)} />. After that no figure of the vendor can be
      booked for it. <a href={closePath}>Close the month</a>
    </p>
  ) : null
