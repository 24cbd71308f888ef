import { digest } from '../../platform/ids.ts'
import { storedCounterMove } from '../definitions/counters.ts'
import { windowKinds } from '../definitions/definitions.ts'
import { storedDifference } from '../definitions/difference.ts'
import type { Item, Value, Write } from '../store/store.ts'
import {
  expiryOf,
  instant,
  keptForDays,
  list,
  type Of,
  oneOf,
  optional,
  readItem,
  record,
  sortKeyOf,
  text,
  textOf,
  whole,
} from '../store/stored.ts'
import type { Grant, Hold } from '../updates/update.ts'

export const entryTypes = [
  'opening',
  'grant',
  'external-spend',
  'transfer',
  'correction',
  'reconcile',
  'limit',
  'renewal',
  'adopt',
  'restore',
  'budget-created',
  'budget-deleted',
  'freeze',
  'unfreeze',
  'caller',
  'pause',
  'resume',
] as const
export type EntryType = (typeof entryTypes)[number]

/** A change of a book that does not come from an update. */
const storedEntry = record({
  id: text,
  type: textOf<EntryType>(),
  /** The budget of the request. `moves` has all counters that moved. */
  budget: text,
  /** The units of the request, or the new limit. 0 if the request has neither. */
  units: whole,
  month: text,
  day: text,
  reason: text,
  by: text,
  at: instant,
  moves: list(storedCounterMove),
  changed: optional(list(storedDifference)),
  /** The budgets or the plan that events report. Only the open month's entry of a change has this list. */
  subjects: optional(list(text)),
  /** The revision of the definitions. Present together with `subjects`. */
  revision: optional(whole),
  to: optional(text),
  /** The corrected entry, which should have had `units`, or the update that cost them. */
  corrects: optional(text),
  /** How one unit of the first entry moved each counter. */
  signs: optional(list(storedCounterMove)),
  /** The giver of a transfer to a budget below it. The giver must have the units, but keeps them. */
  giver: optional(record({ budget: text, window: oneOf(windowKinds) })),
  /** The counter with the least left, of the budget and the budgets above. Absent: all are unlimited. */
  binds: optional(record({ budget: text, window: oneOf(windowKinds), available: whole })),
  content: optional(text),
  /** Of a correction after a reconciliation: the units that `account` keeps as spent in all, see `keptFor`. */
  kept: optional(whole),
  /** The correction that left these units to `account`. The vendor's figure already included them. */
  keptFor: optional(text),
  /** Of a reconciliation: when the vendor's figure was read. Absent: at `at`. */
  asOf: optional(instant),
})
export type Entry = Of<typeof storedEntry>

export const openingId = `ent_${digest('opening')}`

export const grantEntryId = ({ attempt }: Hold, { budget, window }: Pick<Grant, 'budget' | 'window'>): string =>
  `ent_${digest('granted-with', attempt, window, budget)}`

export const entryKey = (id: string) => ({ pk: `entry#${id}`, sk: 'entry' })
export const entriesListedIn = (month: string) => `entries#${month}`

/** An update's charge may be corrected again, because the update's version decides which correction comes first. */
export const isOfUpdate = (corrects: string): boolean => corrects.startsWith('upd_')

/** Whether an entry moves one-time units. These go back by themselves, so people do not correct them. */
export const isOnce = (moves: Entry['moves']): boolean => moves.some(({ move }) => move.once !== undefined)

/** An entry has at most one correction. */
export const correctionMarkKey = (id: string) => ({ pk: `righted#${id}`, sk: 'righted' })

export const toEntryItem = (entry: Entry): Item => ({
  ...entryKey(entry.id),
  ...(entry as unknown as Record<string, Value>),
  listedIn: entriesListedIn(entry.month),
  listedAt: sortKeyOf(entry.at, entry.id),
  ...expiryOf(entry.at, keptForDays),
})

/** One line for all counters whose one-time grants go back. `null`: none goes back. @param of says what made units available. */
export function goneBack(
  moves: Entry['moves'],
  of: string,
  { id, month, day, by, at }: Pick<Entry, 'id' | 'month' | 'day' | 'by' | 'at'>,
): Entry | null {
  const [first] = moves
  if (!first) return null
  return {
    id: `ent_${digest('gone-back', id)}`,
    type: 'grant',
    budget: first.budget,
    units: first.move.granted ?? 0,
    moves,
    reason: `one-time units that are not needed any more, because ${of}`,
    month,
    day,
    by,
    at,
  }
}

export const entryWrites = (entry: Entry): Write[] => [
  { kind: 'put', item: toEntryItem(entry), when: [{ kind: 'absent-item' }] },
  ...(entry.corrects === undefined || isOfUpdate(entry.corrects)
    ? []
    : [
        {
          kind: 'put',
          item: { ...correctionMarkKey(entry.corrects), by: entry.id },
          when: [{ kind: 'absent-item' }],
        } as const,
      ]),
]

export const fromEntryItem = (item: Item): Entry => readItem(item, storedEntry, ({ id }) => entryKey(id))

const storedMark = record({ by: text })

export const fromCorrectionMark = (item: Item): string => readItem(item, storedMark).by

/** Every chain ends at a top, so the tops count each entry once. */
export const movedOnTops = (tops: readonly string[], { moves }: Entry, what: 'spent' | 'granted'): number =>
  moves
    .filter(({ budget, window }) => tops.includes(budget) && window === 'month')
    .reduce((units, { move }) => units + (move[what] ?? 0), 0)
