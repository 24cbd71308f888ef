import { setTimeout as sleep } from 'node:timers/promises'

/** Work that goes on by itself. When everything stops, it is let end. */
export function createUnderWay() {
  const all = new Set<Promise<void>>()
  const stopping = new AbortController()
  const { signal } = stopping

  return {
    isStopping: (): boolean => signal.aborted,
    /** @param work fails never: whoever adds it says what a failure means. */
    add: (work: Promise<unknown>): Promise<void> => {
      const added: Promise<void> = work.then(() => void all.delete(added))
      all.add(added)
      return added
    },
    /** Cut short by the stop. */
    pause: (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {}),
    /** Waits for what is under way, until `patience` ends. */
    stop: async (patience: Promise<void>): Promise<void> => {
      stopping.abort()
      await Promise.race([Promise.all(all), patience])
    },
  }
}
