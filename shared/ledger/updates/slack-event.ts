import type { Units } from '../../platform/words.ts'
import { byKind, list, map, oneOf, optional, orNull, record, text, units, whole } from '../stored.ts'
import { type Task, type TaskKind, taskMembers } from './queue.ts'

/**
 * Something that a user did in Slack, as it was recorded before it was acknowledged: a command, or a pressed button.
 * A command to run waits, as this item, for its button.
 */
export type SlackEvent = Task & {
  /** Slack's id of the person. */
  readonly user: string
  /** Where answers go: up to five times, for thirty minutes. */
  readonly responseUrl: string
  readonly answers: number
  /** The updates with an outcome to tell there. */
  readonly updates?: readonly string[]
} & (
    | {
        readonly kind: 'command'
        readonly text: string
        /** What each project was said to need when it was to be confirmed; more than that is not run. */
        readonly quotes?: Readonly<Record<string, number>>
        /** Who was said to pay for each project, and which budget owns it; nothing else is charged. */
        readonly payers?: Readonly<Record<string, Payer>>
      }
    | {
        readonly kind: 'press'
        readonly action: PressedAction
        readonly value: string
        /** The units that stood beside the button; older buttons do not say. */
        readonly shown?: Units
      }
  )

interface Payer {
  readonly budget: string
  readonly owner: string | null
}

export const pressedActions = ['confirm', 'approve', 'reject', 'resolve-ran', 'resolve-did-not-run'] as const
type PressedAction = (typeof pressedActions)[number]

const eventMembers = {
  ...taskMembers,
  user: text,
  responseUrl: text,
  answers: whole,
  updates: optional(list(text)),
}

export const slackEvents: TaskKind<SlackEvent> = {
  name: 'slack-event',
  stored: byKind<SlackEvent>({
    command: {
      ...eventMembers,
      text,
      quotes: optional(map(whole)),
      payers: optional(map(record<Payer>({ budget: text, owner: orNull(text) }))),
    },
    press: { ...eventMembers, action: oneOf(pressedActions), value: text, shown: optional(units) },
  }),
}
