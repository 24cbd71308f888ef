import { dayMs } from '../platform/clock.ts'
import { assertNever, type Units } from '../platform/words.ts'
import type { Move } from './book.ts'
import { type Closer, type Hold, isFinal, next, type Problem, type ServiceAnswer, type Update } from './update.ts'

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
        ran: true,
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
  if (isFinal(update)) return null
  const actual = finding.kind === 'ran' ? finding.units : (0 as Units)
  const spent = actual - (update.charged ?? 0)
  if (finding.from === 'evidence' && (update.state !== 'released' || spent <= 0)) return null
  const move = spent === 0 ? {} : { spent }
  const { overrun: _before, ...rest } = update
  const over = actual - (update.hold?.units ?? 0)
  const changes = {
    charged: actual,
    ...(over > 0 && { overrun: over as Units }),
    corrected: true as const,
    ran: finding.kind === 'ran',
    ...(finding.service && { service: finding.service }),
  }
  return { update: next(rest, update.state, changes, { by: finding.by, note: finding.note, at, move }), move }
}

/** A person's "did not run" is watched for this long, and an update in doubt is settled at its hold after it. */
export const doubtLastsMs = 7 * dayMs
