import type { ItemKind } from '../ledger/store/item-kind.ts'
import { instant, type Of, optional, record, text } from '../ledger/store/stored.ts'
import { digest } from '../platform/ids.ts'

const targetNote = {
  at: instant,
  /** The event's id. */
  event: text,
}

/** The last success and failure of a target, for people. */
const storedState = record({
  delivered: optional(record(targetNote)),
  /** The last failed attempt. */
  failed: optional(record({ ...targetNote, reason: text })),
})
export type TargetState = Of<typeof storedState>

export interface TargetStates {
  read(target: string): Promise<TargetState>
  /** Replaces the given members, and keeps the others. */
  note(target: string, state: TargetState): Promise<void>
}

export const targetStates: ItemKind<TargetStates, TargetState, string> = {
  name: 'event-target',
  stored: storedState,
  restOf: (target) => target,
  functions: (items) => ({
    read: async (target) => (await items.read([target]))[0] ?? {},
    note: async (target, state) => {
      const token = digest('event-target', target, JSON.stringify(state))
      await items.write([{ id: target, set: state, when: [] }], token)
    },
  }),
}
