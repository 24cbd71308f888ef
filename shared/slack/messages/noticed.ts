import { count } from '../../guard/sentences.ts'
import type { PriceJumped, Repeats } from '../../ledger/updates/news.ts'
import { context, header, type Message, message, section } from '../blocks.ts'
import { code } from '../text.ts'
import { type Links, moreAbout } from './links.ts'
import { bold, boldUnits, capital, countOf, person } from './words.ts'

export function repeatsMessage({ caller, budget, project, count: number }: Repeats): Message {
  const lead = `${capital(person(caller))} repeated itself ${bold(countOf(number, 'time'))} within ten minutes, the last time for ${code(project)} on ${code(budget)}.`
  return message(`${lead} Nothing was spent on repeats.`, [
    header('A caller repeats itself'),
    section(`${lead} Nothing was spent on repeats.`),
    context(
      'This is often a loop, or a script that sends the same key again to see whether its update has ended. For that there is `GET /updates/{id}`.',
    ),
  ])
}

export function priceJumpedMessage({ update, budget, project, units, before }: PriceJumped, links: Links): Message {
  const lead = `An update of ${code(project)} needs ${boldUnits(units)}. The one before cost ${count(before)}.`
  return message(lead, [
    header('A price has jumped'),
    section(`${lead} It is charged to ${code(budget)}.`),
    context(moreAbout(update, links)),
  ])
}
