import type { EntryType } from '../ledger/book/entry.ts'
import { type About, isForSystems, type NewsForSystems, type OccurrenceState } from '../ledger/updates/tasks.ts'
import { isTerminal, states, type Update } from '../ledger/updates/update.ts'

const budgetEvents = ['changed', 'frozen', 'unfrozen', 'threshold', 'will-run-out'] as const

/** The types as targets name them. In an event, they begin with `unit-guard.`. */
export const eventTypes = [
  ...states.map((state) => `update.${state}` as const),
  'update.corrected',
  ...budgetEvents.map((what) => `budget.${what}` as const),
  ...(['finished', 'paused', 'resumed', 'missed'] as const).map((what) => `plan.${what}` as const),
  ...(['project.price-jumped', 'caller.repeats', 'audit.failed'] as const),
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
  ...{ limit: 'budget.changed', 'budget-created': 'budget.changed', 'budget-deleted': 'budget.changed' },
  ...{ freeze: 'budget.frozen', restore: 'budget.frozen', unfreeze: 'budget.unfrozen' },
  ...{ pause: 'plan.paused', resume: 'plan.resumed' },
}

/** `null`: the announcement is only for people, or updates and entries report it. */
export function typeOfNews(about: About): EventType | null {
  if (about.kind === 'occurrence') return (about.state && typesOfOccurrences[about.state]) ?? null
  return isForSystems(about) ? typesOfNews[about.kind] : null
}

const typesOfOccurrences: Partial<Record<OccurrenceState, EventType>> = {
  ...{ done: 'plan.finished', stopped: 'plan.finished' },
  ...{ missed: 'plan.missed', paused: 'plan.missed' },
}

const typesOfNews: Record<Exclude<NewsForSystems['kind'], 'occurrence'>, EventType> = {
  ...{ threshold: 'budget.threshold', 'will-run-out': 'budget.will-run-out' },
  ...{ 'price-jumped': 'project.price-jumped', repeats: 'caller.repeats', 'audit-failed': 'audit.failed' },
}

/** @param filters types, or `update.*`. */
export const passes = (filters: readonly string[], type: EventType): boolean =>
  filters.some((filter) => (filter.endsWith('.*') ? type.startsWith(filter.slice(0, -1)) : filter === type))

/** The type as targets name it. */
export const filterTypeOf = (type: `unit-guard.${EventType | 'test'}`): EventType =>
  type.slice('unit-guard.'.length) as EventType
