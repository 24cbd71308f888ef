export type Chance = ReturnType<typeof chanceOf>

/** Choices that the same seed repeats. */
export function chanceOf(seed: number) {
  let state = seed >>> 0
  /** From 0 to below 1. */
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (most: number): number => Math.floor(next() * most)
  return {
    below,
    isHeads: () => next() < 0.5,
    pick: <T>(of: readonly T[]): T => of[below(of.length)] as T,
  }
}
