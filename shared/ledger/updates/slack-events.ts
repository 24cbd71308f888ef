import type { Units } from '../../platform/words.ts'
import { byKind, list, map, oneOf, optional, orNull, record, text, units, whole, yes } from '../stored.ts'
import { type Task, type TaskKind, taskMembers } from './queue.ts'

export interface SlackMessage {
  readonly channel: string
  readonly ts: string
}

/** Recorded before it is acknowledged. A `run` command waits for its button. */
export type SlackEvent = Task & {
  readonly user: string
  /** Takes up to five answers, within thirty minutes. Empty: App Home. */
  readonly responseUrl: string
  readonly answers: number
  readonly updates?: readonly string[]
} & (
    | {
        readonly kind: 'command'
        readonly text: string
        /** Units as shown for each project; more is not run. */
        readonly quotes?: Readonly<Record<string, number>>
        /** As shown for each project; no other is charged. */
        readonly payers?: Readonly<Record<string, Payer>>
      }
    | {
        readonly kind: 'press'
        readonly action: PressedAction
        readonly value: string
        /** Beside the button; older buttons have none. */
        readonly shown?: Units
        /** From a form. */
        readonly reason?: string
        readonly units?: Units
        readonly message?: SlackMessage
        /** Pressed in App Home. */
        readonly isHome?: true
      }
    | { readonly kind: 'home' }
  )

interface Payer {
  readonly budget: string
  readonly owner: string | null
}

export const pressedActions = [
  ...(['confirm', 'ask', 'approve', 'reject', 'resolve-ran', 'resolve-did-not-run'] as const),
  ...(['resume', 'unfreeze', 'grant'] as const),
  /** Slack did not open the button's form in time. */
  'unopened',
] as const
export type PressedAction = (typeof pressedActions)[number]

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
    press: {
      ...{ ...eventMembers, action: oneOf(pressedActions), value: text, shown: optional(units) },
      ...{ reason: optional(text), units: optional(units), isHome: optional(yes) },
      message: optional(record<SlackMessage>({ channel: text, ts: text })),
    },
    home: eventMembers,
  }),
}
