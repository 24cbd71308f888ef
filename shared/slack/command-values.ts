import type { Kind } from '../platform/words.ts'

/** What names, ids and reasons may look like in a command; what is there in truth is looked up by whoever acts on it. */

const longestProject = 512
const longestReason = 500

const kinds: Readonly<Record<string, Kind>> = {
  ranking: 'ranking',
  difficulty: 'keyword-difficulty',
  'keyword-difficulty': 'keyword-difficulty',
}

export const kindNamed = (word: string): Kind | undefined => (Object.hasOwn(kinds, word) ? kinds[word] : undefined)

export const isBudgetName = (text: string): boolean => /^[a-z0-9][a-z0-9-]{0,62}$/.test(text)

/** The plans file decides what plans are called; nothing longer than a budget's name fits a message. */
export const isPlanName = (text: string): boolean => /^[^\p{C}\s]{1,63}$/u.test(text)

export const isUpdateId = (text: string): boolean => /^upd_[0-9a-z]{1,64}$/.test(text)

/** What keeps a word from being a project's name, as a sentence; it becomes one segment of the service's path. */
export function projectFault(name: string): string | null {
  if (name === '') return 'A project name cannot be empty.'
  if (name.length > longestProject) return `A project name has at most ${longestProject} characters.`
  if (/\p{Cc}/u.test(name)) return 'A project name cannot contain control characters.'
  if (name === '.' || name === '..') return `“${name}” cannot be the name of a project.`
  return name.isWellFormed() ? null : 'A project name has to be Unicode text.'
}

export function reasonFault(reason: string): string | null {
  if (reason === '') return 'Say why as well: the reason is kept with the record.'
  if (reason.length > longestReason)
    return `A reason has at most ${longestReason} characters; this has ${reason.length}.`
  if (/\p{Cc}/u.test(reason)) return 'A reason cannot contain line breaks or other control characters.'
  return reason.isWellFormed() ? null : 'A reason has to be Unicode text.'
}
