import { asOfExamples, readAsOf } from '../../guard/people/as-of.ts'
import { readTags } from '../../guard/tags.ts'
import type { Tags } from '../../ledger/updates/update.ts'
import { nearest } from '../../platform/misspelt.ts'
import { readNumber } from '../../platform/typed-number.ts'
import { maxUnits, toUnits, type Units } from '../../platform/words.ts'
import { anyOf, type Kind, type Kinds, productKinds } from '../../tracking/kinds.ts'
import {
  isBudgetName,
  isPlanName,
  isUpdateId,
  isVerb,
  kindNamed,
  kindWords,
  lineOf,
  type Mistake,
  projectFault,
  reasonFault,
  type Verb,
  verbs,
} from '../command-words.ts'
import { cut } from '../text.ts'

export type Command =
  | { readonly do: 'figures' }
  | { readonly do: 'help' }
  | { readonly do: 'estimate'; readonly kind: Kind; readonly projects: readonly string[] }
  | {
      readonly do: 'run'
      readonly kind: Kind
      readonly projects: readonly string[]
      readonly budget?: string
      readonly reason?: string
      readonly tags?: Tags
    }
  | { readonly do: 'updates' }
  | { readonly do: 'login' }
  | { readonly do: 'show'; readonly id: string }
  | { readonly do: 'cancel'; readonly id: string }
  | StopChange
  /** `asOf` is the time as typed, in the account's zone. Without it, the figure is of now. */
  | { readonly do: 'reconcile'; readonly unitsLeft: Units; readonly asOf?: string; readonly reason: string }

export interface StopChange {
  readonly do: 'freeze' | 'unfreeze' | 'pause' | 'resume'
  readonly name: string
  readonly reason: string
}

const maxProjects = 20
const maxShownWord = 50

export function parseCommand(text: string, kinds: Kinds = productKinds): Command | Mistake {
  const fault = (verb: Verb, sentence: string): Mistake => ({
    do: 'mistake',
    sentence,
    usage: lineOf(verb, kinds).usage,
  })
  const words = readWords(decodeText(text))
  const verbWord = words.next()
  if (!verbWord) return words.isUnclosed() ? fault('help', unclosed) : { do: 'figures' }
  const verb = verbWord.text.toLowerCase()
  if (!isVerb(verb))
    return {
      ...fault('help', unknownVerb(verbWord.text)),
      ...(words.rest() === '' && projectFault(verbWord.text) === null && { name: verbWord.text }),
    }
  const read = readers[verb](words, kinds)
  // The missing end of an open quote could change the meaning.
  if (words.isUnclosed()) return fault(verb, unclosed)
  return typeof read === 'string' ? fault(verb, read) : read
}

const unclosed = 'A quote is opened and never closed.'

function unknownVerb(typed: string): string {
  if (typed === '') return 'An empty name is not a command.'
  const nearestVerb = nearest(typed.toLowerCase(), verbs)
  const suggestion = nearestVerb === null ? '' : `; did you mean /units ${nearestVerb}?`
  return `There is no command ${quoteWord(typed)}${suggestion === '' ? '.' : suggestion}`
}

const readers: Record<Verb, (words: Words, kinds: Kinds) => Command | string> = {
  help: (words) => withoutArguments(words, 'help', { do: 'help' }),
  estimate: readEstimate,
  run: readRun,
  updates: (words) => withoutArguments(words, 'updates', { do: 'updates' }),
  login: (words) => withoutArguments(words, 'login', { do: 'login' }),
  show: (words) => readId(words, 'show'),
  cancel: (words) => readId(words, 'cancel'),
  freeze: (words) => readStop(words, 'freeze'),
  unfreeze: (words) => readStop(words, 'unfreeze'),
  pause: (words) => readStop(words, 'pause'),
  resume: (words) => readStop(words, 'resume'),
  reconcile: readReconcile,
}

const withoutArguments = (words: Words, verb: Verb, command: Command): Command | string =>
  words.rest() === '' ? command : `“${verb}” takes nothing after it.`

function readEstimate(words: Words, kinds: Kinds): Command | string {
  const kind = readKind(words, kinds)
  if (typeof kind === 'string') return kind
  const projects: string[] = []
  for (let word = words.next(); word; word = words.next()) projects.push(word.text)
  return faultOfProjects(projects) ?? { do: 'estimate', kind: kind.is, projects }
}

/** Reads all words after `because` as the reason. */
function readRun(words: Words, kinds: Kinds): Command | string {
  const kind = readKind(words, kinds)
  if (typeof kind === 'string') return kind
  const projects: string[] = []
  let budget: string | undefined
  let reason: string | undefined
  const tagWords: string[] = []
  for (let word = words.next(); word; word = words.next()) {
    const [, budgetName] = word.isQuoted ? [] : (/^budget=(.*)$/is.exec(word.text) ?? [])
    const [, tag] = word.isQuoted ? [] : (/^tag:(.*)$/is.exec(word.text) ?? [])
    if (!word.isQuoted && word.text.toLowerCase() === 'because') {
      reason = words.rest()
      const problem = reasonFault(reason)
      if (problem) return problem
    } else if (budgetName !== undefined) {
      if (budget !== undefined) return 'Name one budget only.'
      if (!isBudgetName(budgetName)) return budgetNameFault(budgetName)
      budget = budgetName
    } else if (tag !== undefined) tagWords.push(tag)
    else projects.push(word.text)
  }
  const problem = faultOfProjects(projects)
  if (problem) return problem
  const read = readTags(tagWords)
  if ('fault' in read)
    return `These tags cannot be read: ${read.fault}. Write tag:client=acme or tag:client="Acme Inc".`
  return {
    do: 'run',
    kind: kind.is,
    projects,
    ...(budget !== undefined && { budget }),
    ...(reason && { reason }),
    ...(tagWords.length > 0 && { tags: read.tags }),
  }
}

function readKind(words: Words, kinds: Kinds): { readonly is: Kind } | string {
  const word = words.next()
  if (!word) return `Say which kind of update: ${anyOf(kindWords(kinds))}.`
  const kind = kindNamed(word.text.toLowerCase(), kinds)
  return kind ? { is: kind } : `${quoteWord(word.text)} is not a kind of update: say ${anyOf(kindWords(kinds))} first.`
}

function faultOfProjects(projects: readonly string[]): string | null {
  if (projects.length === 0) return 'Name at least one project.'
  if (projects.length > maxProjects) return `Name at most ${maxProjects} projects; these are ${projects.length}.`
  for (const [position, project] of projects.entries()) {
    const problem = projectFault(project)
    if (problem) return problem
    if (projects.indexOf(project) !== position) return `${quoteWord(project)} is named twice.`
  }
  return null
}

function readId(words: Words, verb: 'show' | 'cancel'): Command | string {
  const word = words.next()
  if (!word) return `Say which update to ${verb}; /units updates lists the latest.`
  if (!isUpdateId(word.text)) return `${quoteWord(word.text)} is not the id of an update: those begin with upd_.`
  return words.rest() === '' ? { do: verb, id: word.text } : 'Name one update only.'
}

/** Only quotes keep the blanks of a number, such as 31 200, together. */
function readReconcile(words: Words): Command | string {
  const word = words.next()
  if (!word) return 'Say how many units the vendor’s screen shows as left.'
  const units = readNumber(word.text)
  if (units === null || units > maxUnits) return `${quoteWord(word.text)} is not a whole number of units.`
  const reason = words.rest()
  if (/^\d{1,3}(?:[.,’']\d{3})*$/.test(word.text) && /^\d{3}(?!\S)/.test(reason))
    return 'Put a number with spaces in quotes.'
  const figure = { do: 'reconcile', unitsLeft: toUnits(units) } as const
  const [, asOf] = /^as of\b:?\s*(.*)$/is.exec(reason) ?? []
  // Without “as of”, a figure of that time would be booked as a figure of now.
  if (asOf === undefined && looksLikeTime.test(reason)) return asOfFault
  if (asOf === undefined) return (reason === '' ? null : reasonFault(reason)) ?? { ...figure, reason }
  const read = readAsOf(asOf, { now: 0, zone: 'UTC' })
  if (!read) return asOfFault
  const typed = asOf.slice(0, asOf.length - read.rest.length).replace(/[\s,;]+$/, '')
  return (read.rest === '' ? null : reasonFault(read.rest)) ?? { ...figure, asOf: typed, reason: read.rest }
}

const looksLikeTime = /\b\d{1,2}[:.]\d{2}\b|\b(?:yesterday|as at)\b|\b\d{1,2} ?[ap]\.?m\b/i
const asOfFault = `When did the vendor’s screen show it? Write as of ${asOfExamples}, then the reason. Without “as of”, the figure counts as a figure of now, and the reason cannot contain a time.`

function readStop(words: Words, verb: StopChange['do']): Command | string {
  const what = verb === 'freeze' || verb === 'unfreeze' ? 'budget' : 'plan'
  const word = words.next()
  if (!word) return `Say which ${what} to ${verb}, and why.`
  if (what === 'budget' && !isBudgetName(word.text)) return budgetNameFault(word.text)
  if (what === 'plan' && !isPlanName(word.text)) return `${quoteWord(word.text)} cannot be the name of a plan.`
  const reason = words.rest()
  return reasonFault(reason) ?? { do: verb, name: word.text, reason }
}

const budgetNameFault = (name: string): string =>
  `${quoteWord(name)} cannot be the name of a budget. A budget name has lower-case letters, digits and hyphens, at most 63.`

export const quoteWord = (word: string): string => (word === '' ? 'An empty name' : `“${cut(word, maxShownWord)}”`)

interface Word {
  readonly text: string
  /** A quoted word is never a keyword. */
  readonly isQuoted: boolean
}

interface Words {
  /** `null` at the end or at an open quote. */
  next(): Word | null
  rest(): string
  isUnclosed(): boolean
}

/** Any kind of quote closes any other, because Slack's clients may make only one of a pair curly. */
function readWords(text: string): Words {
  let position = 0
  let unclosed = false
  return {
    next() {
      position += text.slice(position).search(/\S|$/)
      if (position === text.length || unclosed) return null
      const isQuoted = isQuote(text.charAt(position))
      let word = ''
      let isInside = false
      for (; position < text.length; position++) {
        const character = text.charAt(position)
        if (isQuote(character)) isInside = !isInside
        else if (!isInside && /\s/.test(character)) break
        else word += character
      }
      unclosed = isInside
      return unclosed ? null : { text: word, isQuoted }
    },
    rest() {
      const rest = text.slice(position).trim()
      position = text.length
      return rest
    },
    isUnclosed: () => unclosed,
  }
}

const isQuote = (character: string): boolean => /["“”„]/.test(character)

/**
 * Restores the text that the user typed. Slack escapes `&`, `<` and `>`, so Slack itself wrote any unescaped `<…>`.
 *
 * @see https://docs.slack.dev/messaging/formatting-message-text
 * @see https://docs.slack.dev/interactivity/implementing-slash-commands
 */
function decodeText(text: string): string {
  const withoutMarks = text.replace(/<([^<>|]*)(?:\|([^<>]*))?>/g, (_mark, inside: string, label?: string) =>
    label ? label : inside,
  )
  return withoutMarks.replace(/&(amp|lt|gt);/g, (_entity, name: string) => characters[name] ?? '')
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>' }
