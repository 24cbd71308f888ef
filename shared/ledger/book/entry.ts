import { digest } from '../../platform/ids.ts'
import type { Item, Value, Write } from '../store/store.ts'
import {
  expiryOf,
  instant,
  keptForDays,
  list,
  oneOf,
  optional,
  readItem,
  record,
  sortKeyOf,
  text,
  textOf,
  whole,
} from '../stored.ts'
import type { Grant, Hold } from '../updates/update.ts'
import { type CounterMove, storedCounterMove } from './book.ts'
import { type WindowKind, windowKinds } from './definitions.ts'
import { type Difference, storedDifference } from './difference.ts'

/** A change of a book that no update made. */
export interface Entry {
  readonly id: string
  readonly type: EntryType
  /** As requested; `moves` has all counters. */
  readonly budget: string
  /** Granted, spent outside, or the new limit; 0 if none move. */
  readonly units: number
  readonly month: string
  readonly day: string
  readonly reason: string
  readonly by: string
  readonly at: number
  readonly moves: readonly CounterMove[]
  readonly changed?: readonly Difference[]
  /** The budgets or the plan that events tell of, in the open month's entry of a change alone. */
  readonly subjects?: readonly string[]
  /** Of the definitions, beside `subjects`. */
  readonly revision?: number
  readonly to?: string
  /** The entry that should have said `units`. */
  readonly corrects?: string
  /** What one unit of the first entry did to each counter. */
  readonly signs?: readonly CounterMove[]
  /** Must have the units, and keeps them. */
  readonly giver?: { readonly budget: string; readonly window: WindowKind }
  /** The tightest counter above the budget. Absent: all are unlimited. */
  readonly binds?: { readonly budget: string; readonly window: WindowKind; readonly available: number }
  readonly content?: string
  /** Of a reconciliation: when the vendor's figure was read. Absent: at `at`. */
  readonly asOf?: number
}

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

export const openingId = `ent_${digest('opening')}`

export const grantEntryId = ({ attempt }: Hold, { budget, window }: Pick<Grant, 'budget' | 'window'>): string =>
  `ent_${digest('granted-with', attempt, window, budget)}`

export const entryKey = (id: string) => ({ pk: `entry#${id}`, sk: 'entry' })
export const entriesListedIn = (month: string) => `entries#${month}`

/** One correction at most. */
export const correctionMarkKey = (id: string) => ({ pk: `righted#${id}`, sk: 'righted' })

export const toEntryItem = (entry: Entry): Item => ({
  ...entryKey(entry.id),
  ...(entry as unknown as Record<string, Value>),
  listedIn: entriesListedIn(entry.month),
  listedAt: sortKeyOf(entry.at, entry.id),
  ...expiryOf(entry.at, keptForDays),
})

export const entryWrites = (entry: Entry): Write[] => [
  { kind: 'put', item: toEntryItem(entry), when: [{ kind: 'absent-item' }] },
  ...(entry.corrects === undefined
    ? []
    : [
        {
          kind: 'put',
          item: { ...correctionMarkKey(entry.corrects), by: entry.id },
          when: [{ kind: 'absent-item' }],
        } as const,
      ]),
]

const storedEntry = record<Entry>({
  id: text,
  type: textOf(),
  budget: text,
  units: whole,
  month: text,
  day: text,
  reason: text,
  by: text,
  at: instant,
  moves: list(storedCounterMove),
  changed: optional(list(storedDifference)),
  subjects: optional(list(text)),
  revision: optional(whole),
  to: optional(text),
  corrects: optional(text),
  signs: optional(list(storedCounterMove)),
  giver: optional(record<NonNullable<Entry['giver']>>({ budget: text, window: oneOf(windowKinds) })),
  binds: optional(record<NonNullable<Entry['binds']>>({ budget: text, window: oneOf(windowKinds), available: whole })),
  content: optional(text),
  asOf: optional(instant),
})

export const fromEntryItem = (item: Item): Entry => readItem(item, storedEntry, ({ id }) => entryKey(id))

const storedMark = record<{ readonly by: string }>({ by: text })

export const fromCorrectionMark = (item: Item): string => readItem(item, storedMark).by

/** Every chain ends at a top, so the tops count each entry once. */
export const movedOnTops = (tops: readonly string[], { moves }: Entry, what: 'spent' | 'granted'): number =>
  moves
    .filter(({ budget, window }) => tops.includes(budget) && window === 'month')
    .reduce((units, { move }) => units + (move[what] ?? 0), 0)
