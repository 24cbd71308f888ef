import type { EntryType } from '../ledger/book/entry.ts'
import { isTerminal, states, type Update } from '../ledger/updates/update.ts'
import { newsEventTypes } from './news.ts'

/** The types as targets name them. In an event, they begin with `unit-guard.`. */
export const eventTypes = [
  ...states.map((state) => `update.${state}` as const),
  'update.corrected',
  'budget.changed',
  'budget.frozen',
  'budget.unfrozen',
  'plan.paused',
  'plan.resumed',
  ...newsEventTypes,
] as const

export type EventType = (typeof eventTypes)[number]

/**
 * `null`: the version does not exist, or its line changed only the sweep's own notes.
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

/** The event for each subject of an entry. Other entries have no event: updates report them, or they concern no budget or plan. */
export const typesOfEntries: Partial<Record<EntryType, EventType>> = {
  limit: 'budget.changed',
  'budget-created': 'budget.changed',
  'budget-deleted': 'budget.changed',
  freeze: 'budget.frozen',
  restore: 'budget.frozen',
  unfreeze: 'budget.unfrozen',
  pause: 'plan.paused',
  resume: 'plan.resumed',
}

/** @param filters types, or `update.*`. */
export const passes = (filters: readonly string[], type: EventType): boolean =>
  filters.some((filter) => (filter.endsWith('.*') ? type.startsWith(filter.slice(0, -1)) : filter === type))

/** The type as targets name it. */
export const filterTypeOf = (type: `unit-guard.${EventType | 'test'}`): EventType =>
  type.slice('unit-guard.'.length) as EventType
