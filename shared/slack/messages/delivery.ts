import type { Update } from '../../ledger/updates/update.ts'
import { button, buttons, context, header, type Message, message, section } from '../blocks.ts'
import { code } from '../text.ts'
import { type Links, moreAbout } from './links.ts'
import { boldUnits, updateOf } from './words.ts'

/** @param hasModals is true only with a bot token. */
export function notDeliveredMessage(
  update: Update,
  { hasModals, ...links }: Links & { readonly hasModals: boolean },
): Message {
  const { id, budget, charged = 0, hold } = update
  const day = hold?.day.replace('day:', '') ?? ''
  const lead = `The ${updateOf(update)} of ${day} cost ${boldUnits(charged)} of ${code(budget)}, and the tracking service has no new data of it.`
  const came = button('delivery-came', id, {
    text: 'It came',
    dialog: {
      title: 'Did the data come?',
      text: 'The update is then no longer late.',
      confirm: 'It came',
      deny: 'Cancel',
    },
  })
  const givenBack = button('units-given-back', id, { text: 'Units were given back…' })
  return message(`${lead} Ask for the units back.`, [
    header('Paid, nothing delivered'),
    section(`${lead} Ask the service for the units back.`),
    hasModals ? buttons(came, givenBack) : buttons(came),
    context(`Data that come later close this. ${moreAbout(id, links)}`),
  ])
}
