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

/** A run may cost nothing, so `ran` says it. Older records lack it: there the charge tells. */
export const isKnownToHaveRun = ({ ran, state, corrected, charged }: Update): boolean =>
  ran ?? (corrected ? (charged ?? 0) > 0 : state === 'settled')

/** A resolution long afterwards says nothing about the time of the run. */
const ranAt = ({ closedBy, finishedAt, hold, createdAt }: Update): number =>
  (closedBy === 'sender' ? finishedAt : hold?.at) ?? createdAt

/** A run as work items remember it. */
export type Run = { readonly update: string; readonly at: number; readonly units: number }

export const runOf = (update: Update): Run => ({ update: update.id, at: ranAt(update), units: update.charged ?? 0 })

/** Later evidence changes nothing any more. */
export const isFinal = ({ closedBy, corrected }: Update): boolean => closedBy === 'sender' || corrected === true

/** Refused because there was nothing to do. For a plan, fresh data count as its own update. */
export const wasUpToDate = ({ state, plan, problem }: Pick<Update, 'state' | 'plan' | 'problem'>): boolean =>
  state === 'refused' &&
  (problem?.slug === 'already-updated' || (plan !== undefined && problem?.slug === 'already-fresh'))

export const vias = ['http', 'gateway', 'schedule', 'slack'] as const
export type Via = (typeof vias)[number]

/** Units that must stay for others in each window: of every counter, or by budget. */
export type Leave = Units | { readonly [budget: string]: Units }

export function leftOf({ leave = 0 as Units }: Pick<Request, 'leave'>, budget: string): Units {
  if (typeof leave === 'number') return leave
  return (Object.hasOwn(leave, budget) ? leave[budget] : undefined) ?? (0 as Units)
}

/** What a caller asked for. It never changes. */
export interface Request {
  readonly id: string
  readonly kind: Kind
  readonly project: string
  /** Sent with `estimate` and with `run`. */
  readonly query?: Readonly<Record<string, string>>
  /** Path segment and query as the gateway's caller wrote them; sent on unchanged. */
  readonly target?: { readonly segment: string; readonly search: string }
  readonly budget: string
  /** The request named no budget: its owner pays, never a later owner. */
  readonly byDefault?: true
  readonly caller: string
  readonly via: Via
  /** Absent: the list of callers decides alone. */
  readonly token?: { readonly scopes: readonly Scope[]; readonly budgets: '*' | readonly string[] }
  readonly plan?: string
  readonly leave?: Leave
  readonly reason?: string
  readonly force?: true
  /** The caller may only propose, so a person has to approve. */
  readonly proposed?: true
  readonly maxUnits?: Units
  /** Short budgets ask a person instead of refusing. */
  readonly whenShort?: 'ask'
  /** The Slack events that wait for the outcome. */
  readonly replyTo?: readonly string[]
  /** What the idempotency key stands for: the digest of the whole request, and its number of updates. */
  readonly content: { readonly digest: string; readonly count: number }
  readonly createdAt: number
}

export interface Update extends Request {
  readonly state: State
  /** Every change of the record is conditioned on it. */
  readonly version: number
  /** The billing month of the hold, or of the request. */
  readonly month: string
  /** Recorded before a hold and answered with 202; the first process that finds it runs it. */
  readonly queued?: true
  readonly requestedAt?: number
  readonly finishedAt?: number
  readonly estimated?: Units
  readonly hold?: Hold
  readonly charged?: Units
  /** Set once the update has ended. */
  readonly ran?: boolean
  readonly overrun?: Units
  /** What the budgets lack: an approval grants it, once. */
  readonly short?: readonly Grant[]
  readonly approval?: Approval
  readonly approvableUntil?: number
  readonly doubt?: { readonly by: 'sender' | 'sweep'; readonly at: number }
  readonly closedBy?: OutcomeSource
  /** A late answer or late evidence was booked. It happens once. */
  readonly corrected?: true
  /** Grants that were revoked because the update cost nothing. */
  readonly takenBack?: readonly Grant[]
  /** The sweep no longer looks for evidence. */
  readonly unwatched?: true
  readonly problem?: Problem
  readonly service?: ServiceAnswer
  readonly history: readonly HistoryLine[]
}

/** How many units were approved, and what may be granted for them. */
export interface Approval {
  readonly by: string
  readonly at: number
  readonly units: Units
  readonly grants?: readonly Grant[]
}

/** Additional units for one counter. */
export interface Grant {
  readonly budget: string
  readonly window: WindowKind
  readonly units: Units
}

/** The units set aside, and the fence: only the process that created it may send `run`. */
export interface Hold {
  readonly units: Units
  /** Names the delivery that holds. */
  readonly attempt: string
  readonly at: number
  /** After this time the sweep may declare the sender dead. */
  readonly leaseUntil: number
  /** After this time the sender's process is certainly gone. */
  readonly senderUntil: number
  /** The counters that were moved and that settling moves back: this day, and these budgets. */
  readonly day: string
  readonly budgets: readonly string[]
  /** If an ancestor of the owner pays: the owner, and the budgets up to the ancestor. */
  readonly owners?: readonly string[]
  /** One-time grants to short budgets, booked with the hold. */
  readonly grants?: readonly Grant[]
  /** The service's dates before the run; absent if they could not be read. */
  readonly datesBefore?: readonly string[]
  /** The earlier holders of the work. Older versions name one. */
  readonly previous?: string | readonly string[]
  /**
   * The work items that the hold took: settling writes these, because names may change meanwhile. Absent: the item of
   * the project's own name alone.
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
  /** What this line moved in the book. */
  readonly move?: Move
}

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
 * An update may be held up to seven days and an hour after its creation, in another month. All updates of a month were
 * created within this time of it.
 */
export const createdAroundMs = 8 * dayMs

export function begin(
  request: Request,
  state: 'awaiting-approval' | 'requested' | 'refused' | 'running',
  fields: Partial<Update> & Pick<Update, 'month'>,
  line: { at: number; by: string; note?: string; move?: Move },
): Update {
  return { ...request, ...fields, state, version: 1, history: [{ state, ...line }] }
}
