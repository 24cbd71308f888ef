import {
  byKind,
  list,
  map,
  type Of,
  oneOf,
  optional,
  orNull,
  record,
  text,
  units,
  whole,
  yes,
} from '../ledger/store/stored.ts'
import { type TaskKind, taskMembers } from '../ledger/updates/queue.ts'

const slackMessage = record({ channel: text, ts: text })
export type SlackMessage = Of<typeof slackMessage>

export const pressedActions = [
  'confirm',
  'ask',
  'approve',
  'reject',
  'resolve-ran',
  'resolve-did-not-run',
  'resume',
  'unfreeze',
  'grant',
  'delivery-came',
  'given-back',
  /** Slack did not open the button's form in time. */
  'unopened',
] as const
export type PressedAction = (typeof pressedActions)[number]

const eventMembers = {
  ...taskMembers,
  user: text,
  /** The workspace and the organization of the user. Absent in events that an earlier version recorded. */
  teams: optional(list(text)),
  /** Slack accepts up to five answers here, for thirty minutes. Empty for App Home. */
  responseUrl: text,
  answers: whole,
  updates: optional(list(text)),
}

/** Recorded before Slack gets an acknowledgement. A `run` command waits for its button. */
const storedEvent = byKind({
  command: {
    ...eventMembers,
    text,
    /** The units shown for each project. The update must not cost more. */
    quotes: optional(map(whole)),
    /** The payer shown for each project. No other budget is charged. */
    payers: optional(map(record({ budget: text, owner: orNull(text) }))),
  },
  press: {
    ...eventMembers,
    action: oneOf(pressedActions),
    value: text,
    /** The units shown beside the button. Older buttons show none. */
    shown: optional(units),
    /** The reason that the user typed into a form. */
    reason: optional(text),
    units: optional(units),
    message: optional(slackMessage),
    /** Pressed in App Home. */
    isHome: optional(yes),
  },
  home: eventMembers,
})
export type SlackEvent = Of<typeof storedEvent>

export const slackEvents: TaskKind<SlackEvent> = {
  name: 'slack-event',
  stored: storedEvent,
  narrowed: 'own',
}
