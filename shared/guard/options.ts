import type { Ledger } from '../ledger/ledger.ts'
import { type Clock, dayMs, hourMs, minuteMs } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Kind, Kinds } from '../tracking/kinds.ts'
import type { Tracking } from '../tracking/tracking.ts'
import type { Plan } from './plans/plans-file.ts'

/** How long a settled update answers for the same work: to the end of the account's day, or a number of ms. */
export type Cooldown = 'day' | number

/** The configuration of the protocol. Times are milliseconds. */
export interface GuardOptions {
  /** The deadline of one call of the service. */
  readonly serviceTimeoutMs: number
  /** How long a request may still take effect after it was given up. */
  readonly serviceFlightMs: number
  readonly cooldown: Readonly<Record<Kind, Cooldown>>
  /** What stands between several projects in one path segment; absent: unknown. */
  readonly separator?: string
}

/** What one guard is built from. */
export interface GuardParts {
  ledger: Ledger
  tracking: Tracking
  /** The service's token as it is now. */
  serviceToken: () => Promise<string>
  clock: Clock
  ids: Ids
  log: Log
  options: GuardOptions
  kinds?: Kinds
  /** What schedules ask for, in order of priority; read on request. */
  plans: () => Promise<readonly Plan[]>
}

/** Kept back before `run` is sent, so that its outcome can still be written: four tries of three seconds. */
export const settleMarginMs = 12_000
export const approvalLastsMs = dayMs
/** `4h`, `90m`, `2d`: how long an approval may be given. `null`: it is not 15 minutes to 7 days. */
export function approvalMsOf(text: string): number | null {
  const [, count, unit] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  const ms = Number(count) * (unit === 'm' ? minuteMs : unit === 'h' ? hourMs : dayMs)
  return ms >= 15 * minuteMs && ms <= 7 * dayMs ? ms : null
}

/** However often it is asked about again; a longer approval of one time is not cut. */
export const approvableForMs = 2 * approvalLastsMs
export const requestLastsMs = hourMs
/** An approved update whose estimate has grown by more than this share is asked about again. */
export const approvedMayGrowBy = 0.1
/** In doubt, work is blocked until the account's day ends, but at least as long. */
export const doubtBlocksMs = hourMs
/** With less time, `run` is never sent: it would be given up before the service can answer. */
export const minRunMs = 2_000
/** An older estimate admits no update: it is asked for again when its hold is about to be sent. */
export const estimateLastsMs = 30_000
/** Before a decision is made again because what it was made on has moved; the first pauses are shorter. */
export const maxDecisionPauseMs = 400
/** How often a person's decision is made again because its record has changed. */
export const maxDecisions = 8
/** How many updates of one request are estimated, or run, at the same time. */
export const runsAtOnce = 5
/** The stream begins what is requested; the sweep begins what is older than this. */
export const beginLateAfterMs = 2 * minuteMs
/** One project of a plan takes two reads and a run, and the time to write down how it ended. */
export const planStepMs = ({ serviceTimeoutMs }: GuardOptions): number => 2 * serviceTimeoutMs + settleMarginMs
/** Refusals that are so close to each other may be a burst. */
export const refusalsWithinMs = 10 * minuteMs
/** Per cent of a window; told where a budget sets none of its own. */
export const usualThresholds: readonly number[] = [80, 100]
