import { unreadable } from '../platform/words.ts'
import { type Kind, type Kinds, namesOf } from '../tracking/kinds.ts'

export interface Mistake {
  readonly do: 'mistake'
  /** May quote words of the user. */
  readonly sentence: string
  /** Set if the user typed one word alone, which may name a budget, project or person. */
  readonly name?: string
  readonly usage: string
}

interface CommandLine {
  readonly usage: string
  readonly does: string
  readonly example: string
}

const lines = {
  estimate: {
    usage: '/units estimate <kind> <project…>',
    does: 'what an update would cost, and whether it would pass; spends nothing',
    example: '/units estimate ranking acme-shop',
  },
  run: {
    usage: '/units run <kind> <project…> [budget=<name>] [tag:<key>=<value>] [because <reason>]',
    does: 'shows the cost and a Confirm button; nothing is spent before you press it',
    example: '/units run ranking acme-shop "acme blog" because the prices changed',
  },
  updates: { usage: '/units updates', does: 'the latest updates and their outcome', example: '/units updates' },
  show: {
    usage: '/units show <id>',
    does: 'everything about one update: who, why, what it cost',
    example: '/units show upd_4t8kx2',
  },
  cancel: {
    usage: '/units cancel <id>',
    does: 'cancels an update that has not started',
    example: '/units cancel upd_4t8kx2',
  },
  freeze: {
    usage: '/units freeze <budget> <reason>',
    does: 'stops all spending of a budget and of those below it',
    example: '/units freeze seo something asks in a loop',
  },
  unfreeze: {
    usage: '/units unfreeze <budget> <reason>',
    does: 'lets a budget spend again',
    example: '/units unfreeze seo the loop is fixed',
  },
  pause: {
    usage: '/units pause <plan> <reason>',
    does: 'stops a scheduled plan until it is resumed',
    example: '/units pause nightly the site moves this week',
  },
  resume: {
    usage: '/units resume <plan> <reason>',
    does: 'lets a paused plan run again',
    example: '/units resume nightly the move is done',
  },
  reconcile: {
    usage: '/units reconcile <units left> [as of <time>] [<reason>]',
    does: 'compares the book with the units left on the vendor’s screen, and shows a Confirm button; nothing is booked before you press it',
    example: '/units reconcile 31200 as of 10:40',
  },
  login: {
    usage: '/units login',
    does: 'a link to the dashboard, for you alone: it works once, within five minutes',
    example: '/units login',
  },
  help: { usage: '/units help', does: 'this list', example: '/units help' },
} as const satisfies Record<string, CommandLine>

export type Verb = keyof typeof lines

export const isVerb = (text: string): text is Verb => Object.hasOwn(lines, text)

export const verbs = Object.keys(lines).filter(isVerb)

export const kindWords = (kinds: Kinds): readonly string[] => namesOf(kinds).map((kind) => kinds[kind].short)

export const lineOf = (verb: Verb, kinds: Kinds): CommandLine => ({
  ...lines[verb],
  usage: lines[verb].usage.replace('<kind>', `<${kindWords(kinds).join('|')}>`),
})

const maxProjectLength = 512
export const maxReasonLength = 500

export const kindNamed = (word: string, kinds: Kinds): Kind | undefined =>
  namesOf(kinds).find((kind) => word === kind || word === kinds[kind].short)

export const isBudgetName = (text: string): boolean => /^[a-z0-9][a-z0-9-]{0,62}$/.test(text)

/** Names of plans and of budgets have the same maximum length. */
export const isPlanName = (text: string): boolean => /^[^\p{C}\s]{1,63}$/u.test(text)

export const isUpdateId = (text: string): boolean => /^upd_[0-9a-z]{1,64}$/.test(text)

export function projectFault(name: string): string | null {
  if (name === '') return 'A project name cannot be empty.'
  if (name.length > maxProjectLength) return `A project name has at most ${maxProjectLength} characters.`
  if (/\p{Cc}/u.test(name)) return 'A project name cannot contain control characters.'
  if (name === '.' || name === '..') return `“${name}” cannot be the name of a project.`
  return name.isWellFormed() ? null : 'A project name has to be Unicode text.'
}

export function reasonFault(reason: string): string | null {
  if (reason === '') return 'Add a reason: it is kept with the record.'
  if (reason.length > maxReasonLength)
    return `A reason has at most ${maxReasonLength} characters; this has ${reason.length}.`
  if (unreadable.test(reason))
    return 'A reason cannot contain line breaks, invisible characters, or characters that turn text round.'
  return reason.isWellFormed() ? null : 'A reason has to be Unicode text.'
}
