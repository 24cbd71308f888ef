import { count } from '../../guard/sentences.ts'
import { unreadReason } from '../../guard/update/settle.ts'
import { context, header, type Message, message, section } from '../blocks.ts'
import { code } from '../text.ts'
import type { News } from './announcements.ts'
import { type Links, moreAbout } from './links.ts'
import { bold, boldUnits } from './words.ts'

const maxPlaceLength = 200

/** @param setting the setting that names the place of the cost in a run's answer. */
export function unreadFigureMessage(
  { update, updateKind, place, units, held, atEstimate }: News<'unread-figure'>,
  { setting, ...links }: Links & { readonly setting: string },
): Message {
  const where = code(place, maxPlaceLength)
  const why = unreadReason({ units, by: atEstimate ? 'estimate' : 'none' }, held)
  const lead = `The service's answer to a ${updateKind} update states ${bold(count(units))} at ${where}, ${why}. The ${boldUnits(held)} held were charged.`
  const remedy = `If it is the cost, set ${code(`${setting}=${place}`, maxPlaceLength)}.`
  return message(`${lead} ${remedy}`, [
    header('A figure that is not read'),
    section(`${lead} ${remedy}`),
    context(`This is announced once for each kind of update and place. ${moreAbout(update, links)}`),
  ])
}
