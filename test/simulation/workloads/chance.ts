import type { Choose } from '../step.ts'

/** A small generator of well-known quality (mulberry32). */
export function chanceOf(seed: number): Choose {
  let state = seed >>> 0
  return (of) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % of
  }
}

export function one<T>(chance: Choose, of: readonly T[]): T {
  const chosen = of[chance(of.length)]
  if (chosen === undefined) throw new Error('nothing to choose from')
  return chosen
}
