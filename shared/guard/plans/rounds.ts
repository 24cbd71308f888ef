import { hourMs, minuteMs } from '../../platform/clock.ts'
import type { Occurrence } from './stored-occurrence.ts'

type Round = Pick<Occurrence, 'round' | 'lastRoundAt'>
export type NextRound = Round & Pick<Occurrence, 'nextAt'>

/** The times after its start at which an occurrence tries its projects. */
const roundsAtMs = [0, 5, 15, 30, 55].map((minutes) => minutes * minuteMs)
const lastRound = roundsAtMs.length - 1

/** After this time every request that did not start has expired. */
export const overAfterMs = hourMs

/** `null`: all rounds are over. */
export function roundAtOf({ round, startedAt, lastRoundAt }: Round & Pick<Occurrence, 'startedAt'>): number | null {
  const usual = roundsAtMs[round]
  return lastRoundAt ?? (usual === undefined ? null : startedAt + usual)
}

export function nextRound({ round, startedAt }: Pick<Occurrence, 'round' | 'startedAt'>): NextRound {
  return { round: round + 1, nextAt: startedAt + (roundsAtMs[round + 1] ?? overAfterMs) }
}

export function sameRound({ round, lastRoundAt }: Round, nextAt: number): NextRound {
  return lastRoundAt === undefined ? { round, nextAt } : { round, nextAt, lastRoundAt }
}

/** The round that an occurrence continues after a wait. After the last round, that round is repeated. `null`: it is too late. */
export function roundAfterWait(
  { round, startedAt }: Pick<Occurrence, 'round' | 'startedAt'>,
  until: number,
): NextRound | null {
  const afterMs = until - startedAt
  if (afterMs > overAfterMs) return null
  const usual = Math.max(
    round,
    roundsAtMs.findLastIndex((ms) => ms <= afterMs),
  )
  if (usual < lastRound || until === startedAt + (roundsAtMs[lastRound] ?? 0)) return { round: usual, nextAt: until }
  return { round: lastRound, nextAt: until, lastRoundAt: until }
}
