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

/** Neither has it ended nor does it wait for a person or for evidence. */
export const isUnderWay = (state: State): boolean => state === 'requested' || state === 'running'

/** A run may cost nothing, so `ran` decides; in older records without it, the charge. */
export const isKnownToHaveRun = ({ ran, state, corrected, charged }: Update): boolean =>
  ran ?? (corrected ? (charged ?? 0) > 0 : state === 'settled')

/** Only the sender ends an update when it ran; otherwise the hold's time counts. */
const ranAt = ({ closedBy, finishedAt, hold, createdAt }: Update): number =>
  (closedBy === 'sender' ? finishedAt : hold?.at) ?? createdAt

export type Run = { readonly update: string; readonly at: number; readonly units: number }

export const runOf = (update: Update): Run => ({ update: update.id, at: ranAt(update), units: update.charged ?? 0 })

export const isFinal = ({ closedBy, corrected }: Update): boolean => closedBy === 'sender' || corrected === true

/** To a plan, fresh data count as its own update. */
export const wasUpToDate = ({ state, plan, problem }: Pick<Update, 'state' | 'plan' | 'problem'>): boolean =>
  state === 'refused' &&
  (problem?.slug === 'already-updated' || (plan !== undefined && problem?.slug === 'already-fresh'))

export const vias = ['http', 'gateway', 'schedule', 'slack', 'mcp'] as const
export type Via = (typeof vias)[number]

/** Units that stay for others, in every counter or by budget. */
export type Leave = Units | { readonly [budget: string]: Units }

export function leftOf({ leave = 0 as Units }: Pick<UpdateRequest, 'leave'>, budget: string): Units {
  if (typeof leave === 'number') return leave
  return (Object.hasOwn(leave, budget) ? leave[budget] : undefined) ?? (0 as Units)
}

/** What a caller's token allowed when it asked. */
export interface KeptToken {
  readonly scopes: readonly Scope[]
  readonly budgets: '*' | readonly string[]
  /** The person behind the caller, from a claim. */
  readonly person?: string
  /** The issuer's entry maps the claims again at each decision. Absent: a token of Unit Guard itself. */
  readonly issuer?: { readonly name: string; readonly claims: { readonly [claim: string]: readonly string[] } }
}

/** A few words of the caller's own, such as a client or a ticket. */
export type Tags = { readonly [key: string]: string }

/** In one order, because neither callers nor the database keep theirs. */
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
export interface UpdateRequest {
  readonly id: string
  readonly kind: Kind
  readonly project: string
  readonly query?: Readonly<Record<string, string>>
  /** As the gateway's caller wrote it. */
  readonly target?: { readonly segment: string; readonly search: string }
  readonly budget: string
  /** This owner pays, never a later one. */
  readonly byDefault?: true
  /** The owner when it was asked for. `null`: no budget listed it. Absent: an older record that names no payer. */
  readonly owner?: string | null
  readonly caller: string
  readonly via: Via
  /** Absent: the list of callers decides alone. */
  readonly token?: KeptToken
  readonly plan?: string
  /** The time of the plan's occurrence. Older records lack it. */
  readonly scheduledAt?: number
  /** A plan's retry, or a late run that a person asked for. */
  readonly again?: true
  readonly leave?: Leave
  readonly reason?: string
  readonly force?: true
  /** A person has to approve. */
  readonly proposed?: true
  readonly maxUnits?: Units
  readonly whenShort?: 'ask'
  readonly tags?: Tags
  /** Of the request that asked for it, as W3C Trace Context writes it. */
  readonly traceparent?: string
  /** Slack events that wait for the outcome. */
  readonly replyTo?: readonly string[]
  /** Of the whole request. */
  readonly content: { readonly digest: string; readonly count: number }
  readonly createdAt: number
}

export interface Update extends UpdateRequest {
  readonly state: State
  /** A condition of every change. */
  readonly version: number
  /** The billing month. */
  readonly month: string
  /** Answered with 202; the first process that finds it runs it. */
  readonly queued?: true
  readonly requestedAt?: number
  readonly finishedAt?: number
  readonly estimated?: Units
  readonly hold?: Hold
  readonly charged?: Units
  readonly ran?: boolean
  readonly overrun?: Units
  /** An approval grants these units once. */
  readonly short?: readonly Grant[]
  /** What budgets that are only observed lacked when it was held. */
  readonly wouldHaveRefused?: readonly Grant[]
  /** What the work cost before, if this hold is far above it. */
  readonly priceBefore?: number
  readonly approval?: Approval
  /** Of an approval that no longer counts, because the price grew or the approver lost the right. */
  readonly approvedBefore?: Units
  readonly approvableUntil?: number
  readonly doubt?: { readonly by: 'sender' | 'sweep'; readonly at: number }
  readonly closedBy?: OutcomeSource
  /** By late evidence or a late answer, once. */
  readonly corrected?: true
  readonly takenBack?: readonly Grant[]
  /** The search for evidence has ended. */
  readonly unwatched?: true
  readonly problem?: Problem
  readonly service?: ServiceAnswer
  readonly history: readonly HistoryLine[]
}

export interface Approval {
  readonly by: string
  /** The person behind the approver, from a claim. */
  readonly person?: string
  readonly at: number
  /** The update never holds more. */
  readonly units: Units
  readonly grants?: readonly Grant[]
}

export interface Grant {
  readonly budget: string
  readonly window: WindowKind
  readonly units: Units
}

/** The hold is also the fence: only the process that created it may send `run`. */
export interface Hold {
  readonly units: Units
  readonly attempt: string
  readonly at: number
  /** After this the sweep may declare the sender dead. */
  readonly leaseUntil: number
  /** After this the sender's process is certainly gone. */
  readonly senderUntil: number
  /** Settling moves back the counters of this day and these budgets. */
  readonly day: string
  readonly budgets: readonly string[]
  /** If an ancestor pays: the owner, and those up to the ancestor. */
  readonly owners?: readonly string[]
  readonly grants?: readonly Grant[]
  /** Absent if they could not be read. */
  readonly datesBefore?: readonly string[]
  /** The earlier holders of the work. */
  readonly previous?: readonly string[]
  /** Settling writes these work items, because names may change meanwhile. Absent: the item of the project's own name. */
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
  readonly move?: Move
}

/** An approved update is requested again, so its line alone does not tell. */
export const isApproval = ({ state }: HistoryLine, before: HistoryLine | undefined): boolean =>
  before?.state === 'awaiting-approval' && state === 'requested'

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

/** An approval and the queue may delay a hold by seven days and an hour, into another month. */
export const createdAroundMs = 8 * dayMs

export function begin(
  request: UpdateRequest,
  state: 'awaiting-approval' | 'requested' | 'refused' | 'running',
  fields: Partial<Update> & Pick<Update, 'month'>,
  line: { at: number; by: string; note?: string; move?: Move },
): Update {
  return { ...request, ...fields, state, version: 1, history: [{ state, ...line }] }
}
