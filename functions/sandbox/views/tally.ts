import { clickThrough, rounded } from '../world/figures.ts'

/** What a website, a host or a URL gathers over the keywords for which it ranks. */
export function createTally() {
  let keywords = 0
  let positions = 0
  let best: number | null = null
  let clicks = 0
  let first3 = 0
  let first10 = 0
  return {
    add(position: number, volume: number): void {
      keywords++
      positions += position
      best = Math.min(best ?? position, position)
      clicks += clickThrough(position) * volume
      if (position <= 3) first3++
      if (position <= 10) first10++
    },
    keywords: () => keywords,
    first3: () => first3,
    first10: () => first10,
    best: () => best,
    averageRank: () => (keywords === 0 ? null : rounded(positions / keywords, 2)),
    /** In a month, not rounded. */
    clicks: () => clicks,
  }
}

export type Tally = ReturnType<typeof createTally>

/** The tally of a key, made when it is met first. */
export function tallyOf<Key>(tallies: Map<Key, Tally>, key: Key): Tally {
  const known = tallies.get(key) ?? createTally()
  tallies.set(key, known)
  return known
}
