import type { DamagedItem } from '../ledger/errors.ts'
import type { Queue, Task } from '../ledger/updates/queue.ts'
import { enough } from '../ledger/updates/queue.ts'
import type { Clock } from '../platform/clock.ts'

export interface SweepOptions {
  /** The stream handles younger tasks. */
  readonly olderThanMs: number
  /** A hanging Slack must not starve the rest of the sweep. */
  readonly endsAt: number
}

/** Handles the oldest task first. @param onDamage gets the id and the damage of each task that cannot be read. */
export const sweepTasks = <T extends Task>(
  { round }: Pick<Queue<T>, 'round'>,
  { olderThanMs, endsAt, clock }: SweepOptions & { clock: Clock },
  handle: (task: T) => Promise<void>,
  onDamage: (id: string, damage: DamagedItem) => void,
): Promise<void> =>
  round(
    () => clock.now() < endsAt,
    async (task, mayTake) => {
      if (clock.now() - task.createdAt < olderThanMs) return
      return mayTake() ? handle(task) : enough
    },
    (damage) => onDamage(damage.key.pk.replace(/^[^#]*#/, ''), damage),
  )
