import { count, units as inUnits } from '../../guard/sentences.ts'
import type { Update } from '../../ledger/update.ts'
import { context, header, type Message, message, section } from '../blocks.ts'
import { code } from '../text.ts'
import { quoted } from './became.ts'
import { boldUnits, updateOf } from './words.ts'

/** It cost more than was set aside for it: all of it is counted, whatever the limit says. */
export function overrunMessage(update: Update): Message {
  const { id, budget, charged = 0, overrun = 0, hold } = update
  const expected = hold?.units ?? charged - overrun
  const lead = `The ${updateOf(update)} cost ${boldUnits(charged)}, which is ${count(overrun)} more than the ${count(expected)} that the tracking service had estimated.`
  return message(lead, [
    header('An update cost more than estimated'),
    section(`⚠️ ${lead}`),
    section(
      `All of it is counted on ${code(budget)}, so there may now be less left than expected, or less than nothing.`,
    ),
    context(`More: \`/units show ${id}\``),
  ])
}

/** What was counted turned out to be wrong, and the difference has been booked. */
export function correctionMessage(update: Update): Message {
  const { id, budget, charged = 0, history } = update
  const last = history.at(-1)
  const difference = last?.move?.spent ?? 0
  const change =
    difference === 0
      ? 'The number of units was right and stays.'
      : `Counted on ${code(budget)} now: ${boldUnits(Math.abs(difference))} ${difference > 0 ? 'more' : 'less'} than before.`
  const lead = `More is known about the ${updateOf(update)} now: it ${charged > 0 ? `ran and cost ${inUnits(charged)}` : 'did not run'}. ${change}`
  return message(lead, [
    header('A correction'),
    section(`${lead}${quoted(last?.note)}`),
    context(`This update was in doubt before. More: \`/units show ${id}\``),
  ])
}
