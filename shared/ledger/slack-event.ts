import type { Units } from '../platform/words.ts'
import type { Task, TaskKind } from './queue.ts'

/**
 * Something that somebody did in Slack, as it was recorded before it was acknowledged: a command, or a pressed button.
 * A command to run waits, as this item, for its button.
 */
export type SlackEvent = Task & {
  /** Slack's id of the person. */
  readonly user: string
  /** Where answers go: up to five times, for thirty minutes. */
  readonly responseUrl: string
  readonly answers: number
  /** The updates whose outcome is told there. */
  readonly updates?: readonly string[]
} & (
    | {
        readonly kind: 'command'
        readonly text: string
        /** What each project was said to need when it was to be confirmed; more than that is not run. */
        readonly quotes?: Readonly<Record<string, number>>
        /** Who was said to pay for each project, and which budget owns it; nothing else is charged. */
        readonly payers?: Readonly<Record<string, { readonly budget: string; readonly owner: string | null }>>
      }
    | {
        readonly kind: 'press'
        readonly action: PressedAction
        readonly value: string
        /** The units that stood beside the button; older buttons do not say. */
        readonly shown?: Units
      }
  )

export const pressedActions = ['confirm', 'approve', 'reject', 'resolve-ran', 'resolve-did-not-run'] as const
type PressedAction = (typeof pressedActions)[number]

export const slackEvents: TaskKind<SlackEvent> = { name: 'slack-event' }
