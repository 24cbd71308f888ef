import { instant, map, type Of, oneOf, optional, record, text, whole } from '../../ledger/store/stored.ts'
import { type TaskKind, taskMembers } from '../../ledger/updates/queue.ts'
import { occurrenceStates } from '../../ledger/updates/tasks.ts'

/** The outcome of each project is in the records of the updates. */
const storedOccurrence = record({
  ...taskMembers,
  plan: text,
  time: instant,
  state: oneOf(occurrenceStates),
  reason: optional(text),
  /** The number of projects for each outcome, without zeros. */
  counts: optional(map(whole)),
  /** The units that its updates had been charged when the occurrence ended. */
  charged: optional(whole),
  /** When the clock or a person started the occurrence. Attempts are counted from this time. */
  startedAt: instant,
  only: optional(oneOf(['refused'])),
  round: whole,
  nextAt: instant,
  /** The service asked to wait beyond the last round, so that round is repeated at this time. */
  lastRoundAt: optional(instant),
  lease: optional(record({ by: text, until: instant })),
})
export type Occurrence = Of<typeof storedOccurrence>

/** The list of a plan's occurrences. */
export const occurrencesOf = (plan: string) => `occurrences#${plan}`

export const occurrences: TaskKind<Occurrence> = {
  name: 'occurrence',
  stored: storedOccurrence,
  listed: ({ plan, time }) => ({ in: occurrencesOf(plan), at: time }),
  narrowed: ['get', 'latest'],
}

export const occurrenceId = (plan: string, time: number): string => `${plan}#${new Date(time).toISOString()}`

export const runsAgain = ['unsent', 'refused'] as const
export type RunAgain = (typeof runsAgain)[number]

/** A request on the dashboard to run an occurrence again. The sweep runs it, because the dashboard may not write occurrences. */
const storedRerun = record({
  ...taskMembers,
  plan: text,
  time: instant,
  only: oneOf(runsAgain),
  /** The version of the occurrence that the person saw. If the occurrence has changed since, nothing runs. */
  seenVersion: whole,
  by: text,
})
export type Rerun = Of<typeof storedRerun>

export const reruns: TaskKind<Rerun> = { name: 'rerun', stored: storedRerun, narrowed: ['get'] }

/** Each end of an occurrence has one id, so repeated presses of the button add one request. */
export const rerunId = ({ id, version }: Pick<Occurrence, 'id' | 'version'>): string => `${id}#${version}`
