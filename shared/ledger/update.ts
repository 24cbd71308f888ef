import type { Kind, Units } from '../platform/words.ts'
import { assertNever } from '../platform/words.ts'
import type { Move } from './book.ts'
import type { Item, Value } from './store.ts'

export type State =
  | 'awaiting-approval'
  | 'requested'
  | 'running'
  | 'in-doubt'
  | 'settled'
  | 'released'
  | 'refused'
  | 'rejected'
  | 'cancelled'
  | 'expired'

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
] as const satisfies readonly State[]

export const isTerminal = (state: State): boolean =>
  !['awaiting-approval', 'requested', 'running', 'in-doubt'].includes(state)

export type Via = 'http' | 'gateway' | 'schedule' | 'slack'
export const vias = ['http', 'gateway', 'schedule', 'slack'] as const satisfies readonly Via[]

/** What somebody asked for: everything about an update that never changes. */
export interface Request {
  readonly id: string
  readonly kind: Kind
  readonly project: string
  /** Sent with `estimate` and with `run`, the same both times. */
  readonly query?: Readonly<Record<string, string>>
  /** Path segment and query exactly as the gateway's caller wrote them; they go on so. */
  readonly target?: { readonly segment: string; readonly search: string }
  readonly budget: string
  readonly caller: string
  readonly via: Via
  readonly plan?: string
  readonly reason?: string
  readonly force?: true
  /** Whoever asks may only propose: a person has to agree. */
  readonly proposed?: true
  readonly maxUnits?: Units
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
  /** It was recorded before anything was held: answered with 202, and begun by whoever is first. */
  readonly queued?: true
  readonly requestedAt?: number
  readonly finishedAt?: number
  readonly estimated?: Units
  readonly hold?: Hold
  readonly charged?: Units
  readonly overrun?: Units
  readonly approval?: { readonly by: string; readonly at: number; readonly units: Units }
  /** Until when somebody may approve. */
  readonly approvableUntil?: number
  readonly doubt?: { readonly by: 'sender' | 'sweep'; readonly at: number }
  readonly closedBy?: Closer
  /** A late answer, or late evidence, has been booked; there is no second one. */
  readonly corrected?: true
  /** Nobody looks for evidence about this update any more. */
  readonly unwatched?: true
  readonly problem?: Problem
  readonly service?: ServiceAnswer
  readonly history: readonly HistoryLine[]
}

/** The units set aside, and the fence: whoever created it, and nobody else, may send `run`. */
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
  /** Dates around the fence that the service had before; absent where they could not be read. */
  readonly datesBefore?: readonly string[]
  /** The update of the same work that was held before this one. */
  readonly previous?: string
}

type Closer = 'sender' | 'evidence' | 'time' | 'person'

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

interface HistoryLine {
  readonly state: State
  readonly at: number
  readonly by: string
  readonly note?: string
  /** What this line moved in the book: an update's own entries. */
  readonly move?: Move
}

/** What has come to light about a `run`, and who says so. */
export type Finding =
  | {
      readonly kind: 'ran'
      readonly units: Units
      readonly from: Closer
      readonly by: string
      readonly note: string
      readonly service?: ServiceAnswer
    }
  | {
      readonly kind: 'did-not-run'
      readonly from: 'sender' | 'person'
      readonly by: string
      readonly note: string
      readonly problem?: Problem
      readonly service?: ServiceAnswer
    }
  | {
      readonly kind: 'unknown'
      readonly from: 'sender' | 'sweep'
      readonly by: string
      readonly note: string
      readonly problem?: Problem
      readonly service?: ServiceAnswer
    }

export interface Closing {
  readonly update: Update
  readonly move: Move
}

/**
 * The drawn edges out of `running` and `in-doubt`, and the one correction of what was closed without the sender.
 * `null`: the finding changes nothing.
 */
export function close(update: Update, finding: Finding, at: number): Closing | null {
  const { hold } = update
  if (!hold) return null
  if (finding.from === 'person' && update.state !== 'in-doubt') return null
  switch (update.state) {
    case 'running':
    case 'in-doubt':
      return closeOpen(update, hold, finding, at)
    case 'settled':
    case 'released':
      return correct(update, finding, at)
    default:
      return null
  }
}

function closeOpen(update: Update, hold: Hold, finding: Finding, at: number): Closing | null {
  // 0 − 0 is 0, but −0 is not the 0 that a database gives back.
  const back: Move = update.state === 'running' ? { held: 0 - hold.units } : { inDoubt: 0 - hold.units }
  const said = { by: finding.by, note: finding.note, at }
  const heard = finding.service === undefined ? {} : { service: finding.service }
  switch (finding.kind) {
    case 'unknown': {
      if (update.state === 'in-doubt') return null
      const move = { ...back, inDoubt: hold.units }
      const doubt = { by: finding.from, at }
      const problem = finding.problem && { problem: finding.problem }
      return { update: next(update, 'in-doubt', { ...heard, ...problem, doubt }, { ...said, move }), move }
    }
    case 'ran': {
      const overrun = finding.units - hold.units
      const move = { ...back, spent: finding.units }
      const { problem: _solved, ...rest } = update
      const settled = {
        ...heard,
        charged: finding.units,
        ...(overrun > 0 && { overrun: overrun as Units }),
        closedBy: finding.from,
        finishedAt: at,
      }
      return { update: next(rest, 'settled', settled, { ...said, move }), move }
    }
    case 'did-not-run': {
      const problem = finding.problem && { problem: finding.problem }
      const released = { ...heard, ...problem, charged: 0 as Units, closedBy: finding.from, finishedAt: at }
      return { update: next(update, 'released', released, { ...said, move: back }), move: back }
    }
    default:
      return assertNever(finding)
  }
}

/** The state stays; the difference between what is now known and what was charged is booked, once. */
function correct(update: Update, finding: Finding, at: number): Closing | null {
  if (finding.kind === 'unknown' || finding.from === 'time') return null
  if (update.closedBy === 'sender' || update.corrected) return null
  const actual = finding.kind === 'ran' ? finding.units : (0 as Units)
  const spent = actual - (update.charged ?? 0)
  if (finding.from === 'evidence' && (update.state !== 'released' || spent <= 0)) return null
  const move = spent === 0 ? {} : { spent }
  const changes = { charged: actual, corrected: true as const, ...(finding.service && { service: finding.service }) }
  return { update: next(update, update.state, changes, { by: finding.by, note: finding.note, at, move }), move }
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

/** The first state of a new record. */
export function begin(
  request: Request,
  state: 'awaiting-approval' | 'requested' | 'refused' | 'running',
  fields: Partial<Update> & Pick<Update, 'month'>,
  line: { at: number; by: string; note?: string; move?: Move },
): Update {
  return { ...request, ...fields, state, version: 1, history: [{ state, ...line }] }
}

// How a record is stored, and where it is listed.

export const updateKey = (id: string) => ({ pk: `update#${id}`, sk: 'update' })

/** Updates are listed by the calendar month (UTC) of their creation: a partition that does not grow for ever. */
export const listedIn = (month: string) => `updates#${month}`

const keptForSeconds = 780 * 24 * 3600

/** A person's "did not run" is watched for this long, and an update in doubt is settled at its hold after it. */
export const doubtLastsMs = 7 * 24 * 3600_000

export function toUpdateItem(update: Update): Item {
  const created = new Date(update.createdAt).toISOString()
  const openAs = openAsOf(update)
  return {
    ...updateKey(update.id),
    ...(update as unknown as Record<string, Value>),
    listedIn: listedIn(created.slice(0, 7)),
    listedAt: `${created}#${update.id}`,
    ...(openAs && {
      openAs,
      openSince: `${new Date(update.history.at(-1)?.at ?? update.createdAt).toISOString()}#${update.id}`,
    }),
    expiresAt: Math.floor(update.createdAt / 1000) + keptForSeconds,
  }
}

/** What the sweep still has to look at: everything unfinished, and what a person released without proof. */
export type OpenAs = 'awaiting-approval' | 'requested' | 'running' | 'in-doubt' | 'watched'

function openAsOf(update: Update): OpenAs | null {
  switch (update.state) {
    case 'awaiting-approval':
    case 'requested':
    case 'running':
    case 'in-doubt':
      return update.state
    case 'released':
      return update.closedBy === 'person' && !update.corrected && !update.unwatched ? 'watched' : null
    default:
      return null
  }
}

export function fromUpdateItem(item: Item): Update {
  const {
    pk,
    sk: _sk,
    listedIn: _in,
    listedAt: _at,
    openAs: _as,
    openSince: _since,
    expiresAt: _until,
    ...update
  } = item
  const { id, version, state, history } = update
  const sound = pk === `update#${id}` && Number.isSafeInteger(version) && Array.isArray(history)
  if (!sound || !states.includes(state as State)) throw new Error(`the record ${pk} is damaged`)
  return update as unknown as Update
}
