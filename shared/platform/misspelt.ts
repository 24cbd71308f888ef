import { WrongSettings } from './settings.ts'

/** Shorter names are too near to those of others. */
const minLength = 8
const maxEdits = 2

/**
 * Refuses what nobody would ever read: a name that is nearly one of ours. A misspelt limit would otherwise be the default one.
 *
 * @param what as the sentence calls them: `variables`, `options`.
 * @throws WrongSettings naming each, and the name that was probably meant; no value is shown.
 */
export function refuseMisspelt(what: string, given: readonly string[], ours: readonly string[]): void {
  const faults = given.flatMap((name) => {
    if (name.length < minLength || ours.includes(name)) return []
    const meant = ours.find((own) => isNear(name, own))
    return meant === undefined ? [] : [`${name}: is it ${meant}?`]
  })
  if (faults.length > 0)
    throw new WrongSettings(`these ${what} are not known: ${faults.join(' ')} Correct or unset them.`)
}

function isNear(name: string, own: string): boolean {
  if (Math.abs(name.length - own.length) > maxEdits) return false
  const [a, b] = [name.toUpperCase(), own.toUpperCase()]
  return edits(a, b) <= maxEdits
}

/** How many letters have to be added, removed or replaced. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, replaced))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
