import { count, differenceToVendor, spentSince, when } from '../../guard/sentences.ts'
import type { Reconciliation } from '../../ledger/book/entry-request.ts'
import { button, buttons, context, header, type Message, message, section, toAsker } from '../blocks.ts'
import { code, prose } from '../text.ts'
import { boldUnits } from './words.ts'

const maxOpenShown = 5

/** `/units reconcile` @param askId the value of the button. */
export function reconcileMessage({
  askId,
  parts,
  zone,
  reason,
}: {
  readonly askId: string
  readonly parts: Reconciliation
  readonly zone: string
  readonly reason: string
}): Message {
  const { asOf, unitsLeft, since, held, inDoubt, difference, available, after, open } = parts
  const lead = `The vendor’s figure: ${boldUnits(unitsLeft)} left, ${asOf === null ? 'now' : `as of ${when(asOf, zone)}`}. ${differenceToVendor(parts)}`
  const more = open.length > maxOpenShown ? ` and ${open.length - maxOpenShown} more` : ''
  const opened = open
    .slice(0, maxOpenShown)
    .map((id) => code(id))
    .join(', ')
  const text =
    difference === 0
      ? 'Confirm: they agree'
      : `Confirm: book ${count(Math.abs(difference))} ${difference > 0 ? 'fewer' : 'more'}`
  return message(
    `${lead} Nothing is booked before you press Confirm.`,
    [
      header('Please confirm'),
      section(`${lead}${reason === '' ? '' : `\nReason: ${prose(reason)}`}`),
      section(
        `The account has ${count(available)} available and would have ${count(after)}. Taken as not in the figure: ${count(since)} ${spentSince(parts)}, ${count(held)} held, ${count(inDoubt)} in doubt.${open.length === 0 ? '' : `\nOpen then: ${opened}${more}.`}`,
      ),
      buttons(button('confirm', askId, { text, style: 'primary' })),
      context('Nothing is booked before you press Confirm. If you do not want it, do nothing.'),
    ],
    toAsker,
  )
}
