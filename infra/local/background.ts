import { setTimeout as sleep } from 'node:timers/promises'
import type { Services } from '../../shared/guard/services.ts'
import type { Log } from '../../shared/platform/log.ts'
import { createSlots } from '../../shared/platform/parallel.ts'

const begunAtOnce = 3
const sweepEveryMs = 60_000

/**
 * More than an estimate, a run and its settlement may take together, each at the longest deadline that can be set. The
 * process itself has no end that is known, unlike a function on AWS.
 */
export const workLastsMs = 5 * 60_000

/**
 * What the table's stream and the schedule do on AWS: begins updates that are queued, and sweeps at once and then every
 * minute. Sweeps never overlap.
 */
export function createBackground(log: Log) {
  const slots = createSlots(begunAtOnce)
  const underWay = new Set<Promise<void>>()
  const stopped = new AbortController()
  let services: Services | undefined

  function follow(work: Promise<unknown>, event: string, fields: object = {}): void {
    const followed: Promise<void> = work
      .then(() => {})
      .catch((cause) => log.error(event, { ...fields, cause }))
      .finally(() => underWay.delete(followed))
    underWay.add(followed)
  }

  const endsAt = ({ clock }: Services) => clock.now() + workLastsMs

  /** Whatever is dropped here, because it is stopping, is begun by a later sweep. */
  async function start(id: string): Promise<void> {
    if (services && !stopped.signal.aborted) await services.guard.start(id, endsAt(services))
  }

  async function tick(running: Services): Promise<void> {
    while (!stopped.signal.aborted) {
      const sweep = running.guard.sweep(endsAt(running))
      follow(sweep, 'sweep-failed')
      await sweep.catch(() => {})
      await sleep(sweepEveryMs, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }

  return {
    begin: (id: string) =>
      follow(
        slots.use(() => start(id)),
        'not-begun',
        { update: id },
      ),
    run: (running: Services) => {
      services = running
      void tick(running)
    },
    /** What is cut off stays `running` in the ledger, and is put in doubt by a later sweep. */
    stop: async (patience: Promise<void>) => {
      stopped.abort()
      await Promise.race([Promise.all(underWay), patience])
    },
  }
}
