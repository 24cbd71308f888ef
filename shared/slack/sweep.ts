import type { Queue, Task } from '../ledger/updates/queue.ts'
import { enough } from '../ledger/updates/queue.ts'
import type { Clock } from '../platform/clock.ts'

export interface SweepOptions {
  /** What is younger is still being done by the process that the stream started. */
  readonly olderThanMs: number
  /** A hanging Slack must not hold up the rest of the sweep: the next one continues with what is left then. */
  readonly endsAt: number
}

/** Repeats what is still open, one after the other, in the order in which it happened. */
export const sweepTasks = <T extends Task>(
  { round }: Pick<Queue<T>, 'round'>,
  { olderThanMs, endsAt, clock }: SweepOptions & { clock: Clock },
  handle: (task: T) => Promise<void>,
): Promise<void> =>
  round(
    () => clock.now() < endsAt,
    async (task, mayTake) => {
      if (clock.now() - task.createdAt < olderThanMs) return
      return mayTake() ? handle(task) : enough
    },
  )
