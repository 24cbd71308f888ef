import { context, header, type Message, message, section, sections, toAsker } from '../blocks.ts'
import type { Mistake } from '../command.ts'
import { commandLines } from '../command-lines.ts'
import { code, prose } from '../text.ts'

const longestLine = 200

/** `/units help`: every command with what it does and an example. */
export function helpMessage(): Message {
  const lines = Object.values(commandLines).map(
    ({ usage, does, example }) =>
      `${code(usage, longestLine)}\n${does}${example === usage ? '' : `; for example ${code(example, longestLine)}`}`,
  )
  const lead = 'Unit Guard watches over the keyword units that updates of the tracking service cost.'
  return message(
    `${lead} The commands: ${Object.keys(commandLines).join(', ')}.`,
    [
      header('What /units can do'),
      section(`${lead} Whatever spends units asks you first.`),
      ...sections([`${code('/units')}\nwhat is left of every budget`, ...lines], '\n\n'),
      context('Names with spaces are put in quotes: `"acme shop"`. An update’s id begins with `upd_`.'),
    ],
    toAsker,
  )
}

/** A command that could not be read. */
export function usageMessage({ sentence, usage }: Mistake): Message {
  const said = prose(sentence)
  return message(
    `${said} ${usageLead} ${code(usage, longestLine)}`,
    [section(`${said}\n${usageLead} ${code(usage, longestLine)}`), context('`/units help` lists all commands.')],
    toAsker,
  )
}

const usageLead = 'It is written like this:'

/** Something was done, in one sentence. */
export const doneMessage = (sentence: string): Message =>
  message(prose(sentence), [section(`✅ ${prose(sentence)}`)], toAsker)

/** Something cannot be done, in one sentence. */
export const problemMessage = (sentence: string): Message =>
  message(prose(sentence), [section(`⚠️ ${prose(sentence, 2_500)}`)], toAsker)
