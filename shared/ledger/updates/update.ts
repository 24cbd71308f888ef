import { dayMs } from '../../platform/clock.ts'
import type { Scope } from '../../platform/words.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { type Move, storedMove } from '../definitions/counters.ts'
import { storedListing, windowKinds } from '../definitions/definitions.ts'
import {
  any,
  type Content,
  either,
  flag,
  instant,
  list,
  map,
  number,
  type Of,
  oneOf,
  optional,
  orNull,
  record,
  text,
  textOf,
  units,
  whole,
  yes,
} from '../store/stored.ts'
import { storedLeave } from './leave.ts'
import { storedDelivery } from './stored-delivery.ts'

export const states = [
  'awaiting-approval',
  'requested',
  'running',
  'in-doubt',
  'settled',
  'released',
  'refused',
  'rejected',
  'cancelled',
  'expired',
] as const
export type State = (typeof states)[number]

export const isTerminal = (state: State): boolean =>
  !['awaiting-approval', 'requested', 'running', 'in-doubt'].includes(state)

/** True if the update will end without a person or evidence. */
export const isUnderWay = (state: State): boolean => state === 'requested' || state === 'running'

/** A run may cost nothing, so `ran` decides. In older records without it, the state or the charge decides. */
export const isKnownToHaveRun = ({ ran, state, corrected, charged }: Update): boolean =>
  ran ?? (corrected ? (charged ?? 0) > 0 : state === 'settled')

/** Whether `run` was sent to the service, or may have been. Only the sender itself knows that it sent nothing. */
export function mayHaveBeenSent({ hold, state, closedBy, problem, service }: Update): boolean {
  if (!hold) return false
  if (state !== 'released' || closedBy !== 'sender') return true
  return service !== undefined || problem?.slug !== 'service-unreachable'
}

/** `finishedAt` is the time of the run only if the sender closed the update. Otherwise the hold's time counts. */
const ranAt = ({ closedBy, finishedAt, hold, createdAt }: Update): number =>
  (closedBy === 'sender' ? finishedAt : hold?.at) ?? createdAt

export const storedRun = record({ update: text, at: instant, units: whole })
export type Run = Of<typeof storedRun>

export const runOf = (update: Update): Run => ({ update: update.id, at: ranAt(update), units: update.charged ?? 0 })

export const isFinal = ({ closedBy, corrected }: Update): boolean => closedBy === 'sender' || corrected === true

/** For a plan, a project with fresh data counts as updated. */
export const wasUpToDate = ({ state, plan, problem }: Pick<Update, 'state' | 'plan' | 'problem'>): boolean =>
  state === 'refused' &&
  (problem?.slug === 'already-updated' || (plan !== undefined && problem?.slug === 'already-fresh'))

export const vias = ['http', 'gateway', 'schedule', 'slack', 'mcp'] as const
export type Via = (typeof vias)[number]

/** The rights of the caller's token at the time of the request. */
const keptToken = record({
  scopes: list(textOf<Scope>()),
  budgets: either(oneOf(['*']), list(text)),
  /** The person behind the caller, from a claim. */
  person: optional(text),
  /** Each decision maps these claims again, with the issuers file as it is then. Absent: a token of Unit Guard itself. */
  issuer: optional(record({ name: text, claims: map(list(text)) })),
})
export type KeptToken = Of<typeof keptToken>

/** Labels that the caller chooses, such as a client or a ticket. */
const tags = map(text)
export type Tags = Of<typeof tags>

/** Sorted, because neither callers nor the database keep an order. */
export const tagEntries = (tags: Tags = {}): readonly (readonly [key: string, value: string])[] =>
  Object.entries(tags).toSorted()

export const tagOf = (tags: Tags | undefined, key: string): string | undefined =>
  tags && Object.hasOwn(tags, key) ? tags[key] : undefined

/** @param wanted each as `key:value`; a value may have colons. */
export const hasTags = (tags: Tags | undefined, wanted: readonly string[]): boolean =>
  wanted.every((text) => {
    const [key = ''] = text.split(':', 1)
    return tagOf(tags, key) === text.slice(key.length + 1)
  })

/** A request never changes. */
const requestMembers = {
  id: text,
  kind: textOf<Kind>(),
  project: text,
  query: optional(map(text)),
  /** Project and query as the gateway's caller wrote them. */
  target: optional(record({ segment: text, search: text })),
  budget: text,
  /** The request named no budget. If the owner changes, the update is refused, and not charged to the new owner. */
  byDefault: optional(yes),
  /** The project's owner at the time of the request. `null`: no budget listed it. Absent: an older record. */
  owner: optional(orNull(text)),
  caller: text,
  via: textOf<Via>(),
  /** Absent: only the list of callers decides. */
  token: optional(keptToken),
  plan: optional(text),
  /** The time of the plan's occurrence. Older records lack it. */
  scheduledAt: optional(instant),
  /** A plan's retry, or a late run that a person asked for. */
  again: optional(yes),
  leave: optional(storedLeave),
  reason: optional(text),
  force: optional(yes),
  /** A person must approve the update. */
  proposed: optional(yes),
  maxUnits: optional(units),
  whenShort: optional(oneOf(['ask'])),
  tags: optional(tags),
  /** The request's trace context (W3C). */
  traceparent: optional(text),
  /** Slack events that wait for the outcome. */
  replyTo: optional(list(text)),
  /** The digest of the whole request, and how many projects it names. */
  content: record({ digest: text, count: whole }),
  createdAt: instant,
}
export type UpdateRequest = Content<typeof requestMembers>

const grant = record({ budget: text, window: oneOf(windowKinds), units })
export type Grant = Of<typeof grant>

/** The hold is also the fence: only the process that created it may send `run`. */
const hold = record({
  units,
  attempt: text,
  at: instant,
  /** After this time, the sweep may declare the sender dead. */
  leaseUntil: instant,
  /** After this time, the sender's process is certainly gone. */
  senderUntil: instant,
  /** Settling corrects the counters of this day and these budgets. */
  day: text,
  budgets: list(text),
  /** The owner, and the budgets between it and the payer. Absent: the owner itself pays. */
  owners: optional(list(text)),
  grants: optional(list(grant)),
  /** The book counts its grants as one-time grants. Absent: an older version granted them. */
  isOnce: optional(yes),
  /** The project's dates with data, as read before the run. Absent if they were not read. */
  datesBefore: optional(list(text)),
  /** The updates that held this work before. */
  previous: optional(list(text)),
  /** The JSON Pointer of the estimate's figure in its body. A run's cost is believed at this place. */
  place: optional(text),
  /** Settling writes these work items, because names may change meanwhile. Absent: the item of the project's own name. */
  works: optional(list(text)),
})
export type Hold = Of<typeof hold>

const approval = record({
  by: text,
  /** The person behind the approver, from a claim. */
  person: optional(text),
  at: instant,
  /** The update never holds more units than the approver agreed to here. */
  units,
  /** The units that an approval by an older version grants. */
  grants: optional(list(grant)),
  /** The limits and lasting grants that the approver relied on. Present if the approval covers what the update lacks at its hold. */
  covers: optional(
    record({
      month: text,
      day: text,
      limits: list(record({ budget: text, window: oneOf(windowKinds), limit: units, granted: whole })),
    }),
  ),
})

const outcomeSource = oneOf(['sender', 'evidence', 'time', 'person'])
export type OutcomeSource = Of<typeof outcomeSource>

const problem = record({ slug: text, detail: text, members: map(any) })
export type Problem = Of<typeof problem>

const service = record({
  status: whole,
  contentType: orNull(text),
  body: text,
  truncated: flag,
  /** The `Age` header of a cache that answered. */
  age: optional(text),
})
export type ServiceAnswer = Of<typeof service>

const historyLine = record({
  state: oneOf(states),
  at: instant,
  by: text,
  note: optional(text),
  move: optional(storedMove),
})
export type HistoryLine = Of<typeof historyLine>

export const storedUpdate = record({
  ...requestMembers,
  state: oneOf(states),
  /** Every change is conditional on this version. */
  version: whole,
  /** The billing month. */
  month: text,
  listed: optional(storedListing),
  /** The answer was 202, and the first process that finds the update runs it. */
  queued: optional(yes),
  requestedAt: optional(instant),
  finishedAt: optional(instant),
  estimated: optional(units),
  hold: optional(hold),
  charged: optional(units),
  ran: optional(flag),
  overrun: optional(units),
  /** The units that were missing when the update began to await approval. */
  short: optional(list(grant)),
  /** How far an approval may put budgets above their limits. Absent: nothing is granted, or an older version grants `short`. */
  mayExceed: optional(units),
  /** The units that observed budgets lacked at the time of the hold. */
  wouldHaveRefused: optional(list(grant)),
  /** The previous price. Present only if this hold is far above that price. */
  priceBefore: optional(number),
  approval: optional(approval),
  /** Units of an earlier approval that no longer counts, because the price grew or the approver lost the right. */
  approvedBefore: optional(units),
  approvableUntil: optional(instant),
  /** `sign`: what in the answer speaks of a failure, such as `response_code 26 at /response_code`. */
  doubt: optional(record({ by: oneOf(['sender', 'sweep']), at: instant, sign: optional(text) })),
  closedBy: optional(outcomeSource),
  /** Late evidence or a late answer has corrected the outcome; at most once. */
  corrected: optional(yes),
  /** The latest correction by an administrator. `kept`: the units that `account` keeps as spent in all, as in an entry. */
  chargeCorrected: optional(record({ at: instant, by: text, from: units, kept: optional(whole) })),
  takenBack: optional(list(grant)),
  /** The search for evidence has ended. */
  unwatched: optional(yes),
  /** Whether the paid data came, as the nightly look or a person found. */
  delivery: optional(storedDelivery),
  problem: optional(problem),
  service: optional(service),
  history: list(historyLine),
})
export type Update = Of<typeof storedUpdate>

export function next(
  update: Update,
  state: State,
  changes: Partial<Update>,
  line: { at: number; by: string; note?: string; move?: Move },
): Update {
  return {
    ...update,
    ...changes,
    state,
    version: update.version + 1,
    history: [...update.history, { state, ...line }],
  }
}

/** A hold may come seven days and an hour after the request, and so in another month. */
export const createdAroundMs = 8 * dayMs

export function begin(
  request: UpdateRequest,
  state: 'awaiting-approval' | 'requested' | 'refused' | 'running',
  fields: Partial<Update> & Pick<Update, 'month'>,
  line: { at: number; by: string; note?: string; move?: Move },
): Update {
  return { ...request, ...fields, state, version: 1, history: [{ state, ...line }] }
}
