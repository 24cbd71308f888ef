import { setImmediate as turn } from 'node:timers/promises'
import { vi } from 'vitest'
import type { Answer } from './scripted-service.ts'

/** How long a test waits for what must come: longer than a busy machine needs. */
export const patienceMs = 60_000

/** Whether only a deadline ends such an answer. */
export const isSlow = ({ kind }: Answer): boolean =>
  kind === 'hang' || kind === 'hang-in-body' || kind === 'byte-by-byte'

/** Turns of the event loop that take what was written to a socket of this process to its reader. */
export async function arrival(): Promise<void> {
  for (let each = 0; each < 50; each++) await turn()
}

/** What is sent bit by bit arrives between them. */
const steps = 10

/**
 * Lets a deadline pass once the other side has the request, however long a busy machine took for that. Sockets are real; the
 * timers of this process wait for the test.
 */
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
