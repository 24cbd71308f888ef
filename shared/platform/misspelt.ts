import { slipsBetween } from './nearest.ts'
import { WrongSettings } from './settings.ts'

/** Shorter names are too close to others. */
const minLength = 8
const maxSlips = 2

/**
 * Refuses a name that is nearly one of ours: no code would read it, and a misspelt limit would be the default one.
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
  if (Math.abs(name.length - own.length) > maxSlips) return false
  const [a, b] = [name.toUpperCase(), own.toUpperCase()]
  return slipsBetween(a, b) <= maxSlips
}
