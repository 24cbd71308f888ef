import type { Clock } from '../platform/clock.ts'

/**
 * Shares one load between everyone who asks for the same key while it runs, and for `forMs` after it started, if
 * `isWorthKeeping` says so of its result. A load that fails is shared only with those who already wait for it.
 */
export function createSharing<T>(options: {
  forMs: number
  maxEntries: number
  clock: Clock
  isWorthKeeping: (value: T) => boolean
}): (key: string, load: () => Promise<T>) => Promise<T> {
  const { forMs, maxEntries, clock, isWorthKeeping } = options
  const entries = new Map<string, { readonly value: Promise<T>; readonly startedAt: number }>()

  return (key, load) => {
    const known = entries.get(key)
    const age = known ? clock.now() - known.startedAt : -1
    // A negative age is a clock that was set back: nothing is known about the age then.
    if (known && age >= 0 && age < forMs) return known.value

    entries.delete(key) // an entry's place in the map is its age
    const [oldest] = entries.keys()
    if (entries.size >= maxEntries && oldest !== undefined) entries.delete(oldest)
    const entry = { value: load(), startedAt: clock.now() }
    entries.set(key, entry)
    const forget = () => {
      if (entries.get(key) === entry) entries.delete(key)
    }
    entry.value.then((value) => isWorthKeeping(value) || forget(), forget)
    return entry.value
  }
}
