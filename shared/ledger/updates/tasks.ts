import type { Units } from '../../platform/words.ts'
import { type WindowKind, windowKinds } from '../book/definitions.ts'
import type { Write } from '../store/store.ts'
import {
  byKind,
  flag,
  instant,
  list,
  map,
  number,
  oneOf,
  optional,
  orNull,
  record,
  text,
  units,
  whole,
} from '../stored.ts'
import { addTask, type Task, type TaskKind, taskMembers } from './queue.ts'
import { isTerminal, type Update } from './update.ts'

/** Something that people shall be told. It is written with what it is about, and open until it was told. */
export interface Announcement extends Task {
  readonly about: About
  /** How often it was tried in vain, and when the next try is worth it. */
  readonly tries: number
  readonly notBefore?: number
  /** It will never be told, and why. */
  readonly givenUp?: string
}

export type About =
  | { readonly kind: UpdateNews; readonly update: string }
  /** A user in Slack waits for the outcome of these. */
  | { readonly kind: 'outcome'; readonly update: string; readonly replyTo: string }
  | { readonly kind: 'occurrence'; readonly occurrence: string }
  | {
      readonly kind: 'threshold'
      readonly budget: string
      readonly window: WindowKind
      readonly percent: number
      readonly used: number
      readonly of: number
      readonly resetsAt: number
    }
  | {
      readonly kind: 'refusals'
      readonly caller: string
      /** Of the latest; the others are only counted. */
      readonly budget: string
      readonly otherBudgets?: number
      readonly count: number
      readonly since: number
      readonly detail: string
    }
  | {
      readonly kind: 'stopped'
      readonly what: 'budget' | 'plan'
      readonly name: string
      readonly by: string
      readonly reason: string
      readonly isStopped: boolean
    }
  | {
      readonly kind: 'foreign-data'
      readonly found: readonly { readonly project: string; readonly dates: readonly string[] }[]
      readonly more: number
    }
  | { readonly kind: 'token-expires'; readonly expiresAt: number; readonly daysLeft: number }
  | { readonly kind: 'digest'; readonly until: number }

type UpdateNews = 'approval-wanted' | 'approval-reminder' | 'in-doubt' | 'overrun' | 'correction'

const ofUpdate = { update: text }

const storedAbout = byKind<About>({
  'approval-wanted': ofUpdate,
  'approval-reminder': ofUpdate,
  'in-doubt': ofUpdate,
  overrun: ofUpdate,
  correction: ofUpdate,
  outcome: { update: text, replyTo: text },
  occurrence: { occurrence: text },
  threshold: {
    budget: text,
    window: oneOf(windowKinds),
    percent: number,
    used: number,
    of: number,
    resetsAt: instant,
  },
  refusals: { caller: text, budget: text, otherBudgets: optional(whole), count: whole, since: instant, detail: text },
  stopped: { what: oneOf(['budget', 'plan']), name: text, by: text, reason: text, isStopped: flag },
  'foreign-data': {
    found: list(
      record<{ readonly project: string; readonly dates: readonly string[] }>({ project: text, dates: list(text) }),
    ),
    more: whole,
  },
  'token-expires': { expiresAt: instant, daysLeft: number },
  digest: { until: instant },
})

export const announcements: TaskKind<Announcement> = {
  name: 'announcement',
  stored: record<Announcement>({
    ...taskMembers,
    about: storedAbout,
    tries: whole,
    notBefore: optional(instant),
    givenUp: optional(text),
  }),
}

export const announcement = (id: string, createdAt: number, about: About): Announcement => ({
  id,
  version: 1,
  createdAt,
  about,
  tries: 0,
})

/** The write that announces something; what is announced once has one id, whichever process finds it. */
export const announce = (id: string, at: number, about: About): Write =>
  addTask(announcements, announcement(id, at, about))

/** What this change of a record has people told, in the transaction that makes the change. */
export function announcedWith(update: Update, seen: Update | null): Write[] {
  const at = update.history.at(-1)?.at ?? update.createdAt
  const news = (kind: UpdateNews) => announce(`${update.id}#${kind}#${update.version}`, at, { kind, update: update.id })
  const isNewState = update.state !== seen?.state
  const hasEnded = isTerminal(update.state) || update.state === 'in-doubt' || update.state === 'awaiting-approval'
  // Two writes of one item are refused, and the change of the record with them.
  const waiting = [...new Set(update.replyTo)]
  return [
    ...(isNewState && update.state === 'awaiting-approval' ? [news('approval-wanted')] : []),
    ...(isNewState && update.state === 'in-doubt' ? [news('in-doubt')] : []),
    ...(update.overrun !== undefined && update.overrun !== seen?.overrun ? [news('overrun')] : []),
    ...(update.corrected && !seen?.corrected ? [news('correction')] : []),
    // The answer to the request tells of an update that ends with its very first line.
    ...(seen && isNewState && hasEnded ? waiting : []).map((replyTo) =>
      announce(`${update.id}#outcome#${update.version}#${replyTo}`, at, {
        kind: 'outcome',
        update: update.id,
        replyTo,
      }),
    ),
  ]
}

/** A plan at one scheduled time. What became of its projects is in the records of their updates. */
export interface Occurrence extends Task {
  readonly plan: string
  readonly time: number
  readonly state: OccurrenceState
  /** Why it was not run, or not to its end. */
  readonly reason?: string
  /** When it was begun, by the clock or again by a person: tries are counted from then on. */
  readonly startedAt: number
  /** A person had it begun again, for what was refused alone. */
  readonly only?: 'refused'
  /** The next try of what has not run yet: its number, and from when on. */
  readonly round: number
  readonly nextAt: number
  /** The process that runs it, and until when: an occurrence runs one update after another. */
  readonly lease?: { readonly by: string; readonly until: number }
}

export const occurrenceStates = ['running', 'done', 'stopped', 'missed', 'paused'] as const
export type OccurrenceState = (typeof occurrenceStates)[number]

export const occurrencesOf = (plan: string) => `occurrences#${plan}`

export const occurrences: TaskKind<Occurrence> = {
  name: 'occurrence',
  stored: record<Occurrence>({
    ...taskMembers,
    plan: text,
    time: instant,
    state: oneOf(occurrenceStates),
    reason: optional(text),
    startedAt: instant,
    only: optional(oneOf(['refused'])),
    round: whole,
    nextAt: instant,
    lease: optional(record<NonNullable<Occurrence['lease']>>({ by: text, until: instant })),
  }),
  listed: ({ plan, time }) => ({ in: occurrencesOf(plan), at: time }),
}

export const occurrenceId = (plan: string, time: number): string => `${plan}#${new Date(time).toISOString()}`

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
