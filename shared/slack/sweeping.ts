import { type Page, pagesOf } from '../ledger/lists.ts'
import type { Task } from '../ledger/queue.ts'
import type { Clock } from '../platform/clock.ts'

const atATime = 100

export interface SweepOptions {
  /** What is younger is still being done by whoever the stream has told of it. */
  readonly olderThanMs: number
  /** Whatever is left then is left to the next sweep: a Slack that hangs must not hold up what else the sweep does. */
  readonly endsAt: number
}

/** Does again what is still open, one after the other, in the order of the list. */
export async function sweepTasks<T extends Task>(
  open: (limit: number, cursor?: string) => Promise<Page<T>>,
  { olderThanMs, endsAt, clock }: SweepOptions & { clock: Clock },
  handle: (task: T) => Promise<void>,
): Promise<void> {
  for await (const { rows } of pagesOf((cursor) => open(atATime, cursor))) {
    for (const task of rows) {
      if (clock.now() >= endsAt) return
      if (clock.now() - task.createdAt >= olderThanMs) await handle(task)
    }
  }
}
