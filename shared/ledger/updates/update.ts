import { dayMs } from '../../platform/clock.ts'
import type { Scope, Units } from '../../platform/words.ts'
import type { Kind } from '../../tracking/kinds.ts'
import type { Move } from '../book/book.ts'
import type { WindowKind } from '../book/definitions.ts'
import type { Value } from '../store/store.ts'

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

/** A run may cost nothing, so it has a field of its own; in records of older versions, what is charged has to tell. */
export const isKnownToHaveRun = ({ ran, state, corrected, charged }: Update): boolean =>
  ran ?? (corrected ? (charged ?? 0) > 0 : state === 'settled')

/** When the work was done, as well as is known: a resolution long after says nothing about the time of the run. */
const ranAt = ({ closedBy, finishedAt, hold, createdAt }: Update): number =>
  (closedBy === 'sender' ? finishedAt : hold?.at) ?? createdAt

/** One run as work items remember it. */
export type Run = { readonly update: string; readonly at: number; readonly units: number }

export const runOf = (update: Update): Run => ({ update: update.id, at: ranAt(update), units: update.charged ?? 0 })

/** Nothing that comes to light changes it any more. */
export const isFinal = ({ closedBy, corrected }: Update): boolean => closedBy === 'sender' || corrected === true

/** Refused because there was nothing to do. To a plan, today's data are as good as its own update. */
export const wasUpToDate = ({ state, plan, problem }: Pick<Update, 'state' | 'plan' | 'problem'>): boolean =>
  state === 'refused' &&
  (problem?.slug === 'already-updated' || (plan !== undefined && problem?.slug === 'already-fresh'))

export const vias = ['http', 'gateway', 'schedule', 'slack'] as const
export type Via = (typeof vias)[number]

/** Units of each window that stay for others: of every counter, or of the budgets that are named. */
export type Leave = Units | { readonly [budget: string]: Units }

export function leftOf({ leave = 0 as Units }: Pick<Request, 'leave'>, budget: string): Units {
  if (typeof leave === 'number') return leave
  return (Object.hasOwn(leave, budget) ? leave[budget] : undefined) ?? (0 as Units)
}

/** What a caller asked for: everything about an update that never changes. */
export interface Request {
  readonly id: string
  readonly kind: Kind
  readonly project: string
  /** Sent with `estimate` and with `run`, the same both times. */
  readonly query?: Readonly<Record<string, string>>
  /** Path segment and query exactly as the gateway's caller wrote them; they go on so. */
  readonly target?: { readonly segment: string; readonly search: string }
  /** The budget that pays. */
  readonly budget: string
  /** The request named no budget: the owner pays, and the charge never moves to another owner. */
  readonly byDefault?: true
  readonly caller: string
  readonly via: Via
  /** What their token said about this. Without one the list of callers decides, if it has the caller. */
  readonly token?: { readonly scopes: readonly Scope[]; readonly budgets: '*' | readonly string[] }
  readonly plan?: string
  readonly leave?: Leave
  readonly reason?: string
  readonly force?: true
  /** The caller may only propose: a person has to agree. */
  readonly proposed?: true
  readonly maxUnits?: Units
  /** What is short is put to a person, instead of being refused. */
  readonly whenShort?: 'ask'
  /** The events in Slack that wait for what becomes of it. */
  readonly replyTo?: readonly string[]
  /** What the idempotency key stood for: the digest of the whole request, and how many updates it asked for. */
  readonly content: { readonly digest: string; readonly count: number }
  readonly createdAt: number
}

/** One update, with all that was ever decided about it. */
export interface Update extends Request {
  readonly state: State
  /** Counts the changes of this record; every change is conditioned on it. */
  readonly version: number
  /** The billing month it belongs to: the one it is held in, or was asked in. */
  readonly month: string
  /** It was recorded before anything was held: answered with 202, and begun by the first process that finds it. */
  readonly queued?: true
  readonly requestedAt?: number
  readonly finishedAt?: number
  readonly estimated?: Units
  readonly hold?: Hold
  readonly charged?: Units
  /** Whether it ran, as far as is known, since it ended. */
  readonly ran?: boolean
  readonly overrun?: Units
  /** What the budgets lack for it: an approval grants it, once. */
  readonly short?: readonly Grant[]
  readonly approval?: Approval
  /** Until when it may be approved. */
  readonly approvableUntil?: number
  readonly doubt?: { readonly by: 'sender' | 'sweep'; readonly at: number }
  readonly closedBy?: OutcomeSource
  /** A late answer, or late evidence, has been booked; there is no second one. */
  readonly corrected?: true
  /** What had been granted with the hold, and was taken back because it had cost nothing. */
  readonly takenBack?: readonly Grant[]
  /** The sweep no longer looks for evidence about this update. */
  readonly unwatched?: true
  readonly problem?: Problem
  readonly service?: ServiceAnswer
  readonly history: readonly HistoryLine[]
}

/** Up to how much was agreed to, and what may be granted for it where budgets are short. */
export interface Approval {
  readonly by: string
  readonly at: number
  readonly units: Units
  readonly grants?: readonly Grant[]
}

/** So many units more for one counter. */
export interface Grant {
  readonly budget: string
  readonly window: WindowKind
  readonly units: Units
}

/** The units set aside, and the fence: only the process that created it may send `run`. */
export interface Hold {
  readonly units: Units
  /** The delivery that holds. */
  readonly attempt: string
  readonly at: number
  /** From then on the sweep may say that the sender has died. */
  readonly leaseUntil: number
  /** From then on the sender's process is certainly gone. */
  readonly senderUntil: number
  /** The counters that were moved, and that settling moves back: day, and the chain of budgets. The month is the update's. */
  readonly day: string
  readonly budgets: readonly string[]
  /** Where an ancestor of the project's owner pays: the owner, and the budgets between the two. */
  readonly owners?: readonly string[]
  /** What was granted with it, once, to budgets that were short. */
  readonly grants?: readonly Grant[]
  /** Dates around the fence that the service had before; absent where they could not be read. */
  readonly datesBefore?: readonly string[]
  /** The updates that held the work before this one; older versions name one. */
  readonly previous?: string | readonly string[]
  /**
   * The work items that it took; what closes it writes these, since names may be listed and removed later. Absent: the
   * item of the project as written, alone. A record of one kilobyte costs one write unit.
   */
  readonly works?: readonly string[]
}

export type OutcomeSource = 'sender' | 'evidence' | 'time' | 'person'

export interface Problem {
  readonly slug: string
  readonly detail: string
  readonly members: Readonly<Record<string, Value>>
}

export interface ServiceAnswer {
  readonly status: number
  readonly contentType: string | null
  readonly body: string
  readonly truncated: boolean
}

export interface HistoryLine {
  readonly state: State
  readonly at: number
  readonly by: string
  readonly note?: string
  /** What this line moved in the book: an update's own entries. */
  readonly move?: Move
}

/** The record after one more line of history. */
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

/**
 * Approvals and the queue may keep an update for seven days and an hour until it is held, in a month that may be another one by
 * then: whatever belongs to a month was created within this time of it.
 */
export const createdAroundMs = 8 * dayMs

/** The first state of a new record. */
export function begin(
  request: Request,
  state: 'awaiting-approval' | 'requested' | 'refused' | 'running',
  fields: Partial<Update> & Pick<Update, 'month'>,
  line: { at: number; by: string; note?: string; move?: Move },
): Update {
  return { ...request, ...fields, state, version: 1, history: [{ state, ...line }] }
}
