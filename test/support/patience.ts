import { setImmediate as turn } from 'node:timers/promises'
import { vi } from 'vitest'
import type { Answer } from './scripted-service.ts'

/** How long tests wait on a busy machine. */
export const patienceMs = 60_000

export const isSlow = ({ kind }: Answer): boolean =>
  kind === 'hang' || kind === 'hang-in-body' || kind === 'byte-by-byte'

/** Enough turns of the event loop for bytes in a socket of this process to arrive. */
export async function arrival(): Promise<void> {
  for (let each = 0; each < 50; each++) await turn()
}

const steps = 10

/** Lets a deadline pass as soon as the other side has the request. The sockets are real, and the test controls the timers. */
export async function pastDeadline<T>(
  act: () => Promise<T>,
  { deadlineMs, isThere }: { deadlineMs: number; isThere: () => boolean },
): Promise<T> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const outcome = act()
    const from = performance.now()
    while (!isThere()) {
      if (performance.now() - from > patienceMs) throw new Error('nothing came')
      await turn()
    }
    for (let step = 0; step < steps; step++) {
      await arrival()
      await vi.advanceTimersByTimeAsync(deadlineMs / steps)
    }
    return await outcome
  } finally {
    vi.useRealTimers()
  }
}
