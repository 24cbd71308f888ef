import { instant, oneOf, optional, record, text, whole } from '../stored.ts'
import { type Task, type TaskKind, taskMembers } from './queue.ts'

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
