import { type Kinds, productKinds } from '../../tracking/kinds.ts'
import { context, header, type Message, message, section, sections, toAsker } from '../blocks.ts'
import { lineOf, type Mistake, verbs } from '../command-words.ts'
import { code, prose } from '../text.ts'

const maxLineLength = 200

const aboutOne = `${code('/units <budget, person or project>')}\nunits spent, latest updates and what needs a decision; for a person, also what they may do`

/** `/units help` */
export function helpMessage(kinds: Kinds = productKinds): Message {
  const lines = verbs
    .map((verb) => lineOf(verb, kinds))
    .map(
      ({ usage, does, example }) =>
        `${code(usage, maxLineLength)}\n${does}${example === usage ? '' : `; for example ${code(example, maxLineLength)}`}`,
    )
  const lead = 'Unit Guard watches over the keyword units that updates of the tracking service cost.'
  return message(
    `${lead} The commands: ${verbs.join(', ')}.`,
    [
      header('What /units can do'),
      section(`${lead} Every command that spends units asks you first.`),
      ...sections([`${code('/units')}\nwhat is left of every budget`, aboutOne, ...lines], '\n\n'),
      context('Put names with spaces in quotes: `"acme shop"`. An update’s id begins with `upd_`.'),
    ],
    toAsker,
  )
}

export function usageMessage({ sentence, usage }: Mistake): Message {
  const text = prose(sentence)
  return message(
    `${text} ${usageLead} ${code(usage, maxLineLength)}`,
    [section(`${text}\n${usageLead} ${code(usage, maxLineLength)}`), context('`/units help` lists all commands.')],
    toAsker,
  )
}

const usageLead = 'It is written like this:'

export const doneMessage = (sentence: string): Message =>
  message(prose(sentence), [section(`✅ ${prose(sentence)}`)], toAsker)

export const problemMessage = (sentence: string): Message =>
  message(prose(sentence), [section(`⚠️ ${prose(sentence, 2_500)}`)], toAsker)

/** @param url logs in its first visitor, so the notification must not show it. */
export const loginMessage = (url: string): Message =>
  message(
    'Your link to the dashboard is here. It works once, within five minutes.',
    [
      section(`<${url}|Open the dashboard>`),
      context(
        'This link logs in anyone who opens it. It works once, within five minutes. Ask for as many as you like.',
      ),
    ],
    toAsker,
  )
