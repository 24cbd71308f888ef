import { WrongSettings } from './settings.ts'

/** Shorter names are too close to others. */
const minLength = 8
const maxSlips = 2

/** Settings of earlier versions, and what replaces them. */
const removed: Readonly<Record<string, string>> = {
  EVENT_BUS: 'events go to the targets of EVENT_TARGETS alone',
}

/**
 * Refuses removed names, and names that look like one of `ours`. Otherwise a misspelt limit would silently have its default.
 * @param what `variables` or `options`.
 * @throws WrongSettings, which shows no values.
 */
export function refuseMisspelt(what: string, given: readonly string[], ours: readonly string[]): void {
  const gone = given.find((name) => Object.hasOwn(removed, name))
  if (gone !== undefined) throw new WrongSettings(`${gone}: must be unset: ${removed[gone]}`)
  const faults = given.flatMap((name) => {
    if (name.length < minLength || ours.includes(name)) return []
    const meant = ours.find((own) => isNear(name, own))
    return meant === undefined ? [] : [`${name}: is it ${meant}?`]
  })
  if (faults.length > 0)
    throw new WrongSettings(`these ${what} are not known: ${faults.join(' ')} Correct or unset them.`)
}

function isNear(name: string, own: string): boolean {
  if (Math.abs(name.length - own.length) > maxSlips) return false
  const [a, b] = [name.toUpperCase(), own.toUpperCase()]
  return slipsBetween(a, b) <= maxSlips
}

/** The work grows with the square of the length. */
const maxWordLength = 20

export function nearest(typed: string, words: readonly string[]): string | null {
  if (typed.length > maxWordLength) return null
  const ranked = words
    .map((word) => ({ word, slips: slipsBetween(typed, word) }))
    .filter(({ word, slips }) => slips <= Math.max(1, Math.floor(word.length / 2)) && slips < word.length)
    .sort((a, b) => a.slips - b.slips)
  return ranked[0]?.word ?? null
}

/** Whether one slip turns a name into the other. Another digit is no slip, because people number their names. */
export function isSlipOf(name: string, other: string): boolean {
  if (Math.abs(name.length - other.length) > 1 || slipsBetween(name, other) !== 1) return false
  return name.replace(/\d/g, '0') !== other.replace(/\d/g, '0')
}

/** Optimal string alignment distance. */
function slipsBetween(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= b.length; j++) {
      const wrong = a[i - 1] === b[j - 1] ? 0 : 1
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        at(i - 1, j) + 1,
        at(i, j - 1) + 1,
        at(i - 1, j - 1) + wrong,
        isSwapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
  }
  return at(a.length, b.length)
}
