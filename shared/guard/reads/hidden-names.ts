import { rootBudget } from '../../ledger/definitions/definitions.ts'

const words = /[\p{L}\p{N}]+/gu
/** Every text is searched for the names of this group, because some scripts write words without blanks. */
const anywhere = ''
/** `account` is a common word, so a text names this budget only in phrases of refusals. */
const rootSentences = new RegExp(
  String.raw`\b${rootBudget} (has|is|was|wants|allows|pays)\b|\b(to|of|for|by|charge|budget) ${rootBudget}\b`,
)

/**
 * Whether a text contains a hidden name. There may be thousands of names, so they are looked up by their first word.
 *
 * @param hidden returns the hidden names. It is called when the first text is checked.
 */
export function createTelling(hidden: () => readonly string[]): (text: string) => boolean {
  let names: ReadonlyMap<string, readonly string[]> | null = null
  return (text) => {
    names ??= byFirstWord(hidden())
    const lower = text.toLowerCase()
    const found = [anywhere, ...(lower.match(words) ?? [])]
    for (const word of found) if (names.get(word)?.some((name) => lower.includes(name))) return true
    return rootSentences.test(text)
  }
}

function byFirstWord(hidden: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const name of new Set(hidden.map((each) => each.toLowerCase()))) {
    const [word] = name.match(words) ?? []
    if (word === undefined || name === rootBudget) continue
    const place = /^[a-z0-9]+$/.test(word) ? word : anywhere
    found.set(place, [...(found.get(place) ?? []), name])
  }
  return found
}
