import type { Clock } from './clock.ts'

/** Looks again after `forMs`. Calls that come together share one look. */
export function remembered<T>(clock: Pick<Clock, 'now'>, forMs: number, look: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly seen: Promise<T> } | undefined
  return () => {
    const now = clock.now()
    // A clock that was set back must not keep an old look.
    if (last === undefined || Math.abs(now - last.at) >= forMs) last = { at: now, seen: look() }
    return last.seen
  }
}
