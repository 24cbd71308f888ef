import { isTerminal, states, type Update } from '../ledger/updates/update.ts'

/** As targets name them. In an event `unit-guard.` stands before the name. */
export const eventTypes = [
  ...states.map((state) => `update.${state}` as const),
  'update.corrected',
  ...(['changed', 'frozen', 'unfrozen', 'threshold', 'will-run-out'] as const).map((what) => `budget.${what}` as const),
  ...(['finished', 'paused', 'resumed', 'missed'] as const).map((what) => `plan.${what}` as const),
  'audit.failed',
] as const

export type EventType = (typeof eventTypes)[number]

/**
 * `null`: the line changed only what the sweep remembers, or the version is not there.
 *
 * @param version counts from 1.
 */
export function typeOfVersion({ history }: Pick<Update, 'history'>, version: number): EventType | null {
  const line = history[version - 1]
  if (!line) return null
  const before = history[version - 2]
  if (before?.state !== line.state || !isTerminal(line.state)) return `update.${line.state}`
  return line.move === undefined ? null : 'update.corrected'
}

/** @param filters types, or `update.*`. */
export const passes = (filters: readonly string[], type: EventType): boolean =>
  filters.some((filter) => (filter.endsWith('.*') ? type.startsWith(filter.slice(0, -1)) : filter === type))

/** As targets name it. */
export const filterTypeOf = (type: `unit-guard.${EventType | 'test'}`): EventType =>
  type.slice('unit-guard.'.length) as EventType
