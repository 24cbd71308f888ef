import type { Change } from '../ledger/stream.ts'

/** A way in which changes of the table reach people or other systems. No channel waits for another one. */
export interface Channel {
  readonly name: 'slack' | 'events'
  /** @returns the sequence numbers of the changes that the stream must deliver again. */
  tell(changes: readonly Change[]): Promise<readonly string[]>
  /** Repeats what failed. */
  sweep(endsAt: number): Promise<void>
}
