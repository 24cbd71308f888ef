import type { Book } from '../../ledger/book/book.ts'
import { type Definitions, listingsOf, topsOf, unseenBudget } from '../../ledger/book/definitions.ts'
import { type Entry, movedOnTops } from '../../ledger/book/entry.ts'
import { dayAt, type Window } from '../../ledger/book/windows.ts'
import { createdAroundMs, type Tags, tagEntries } from '../../ledger/updates/update.ts'
import type { Summary, SummaryDay, SummaryRow } from '../../ledger/views/summary.ts'

export interface Line extends SummaryRow {
  readonly day: SummaryDay
  /** Not ended. */
  readonly open?: number
  readonly held?: number
  readonly inDoubt?: number
}

export interface MonthLines {
  readonly summaries: readonly Summary[]
  readonly lines: readonly Line[]
  readonly entries: readonly Entry[]
  readonly book: Book | null
  readonly isStill: boolean
}

/** Units that a month was charged. */
export interface Charge {
  /** Whose price they cost. */
  readonly day: string
  /** `null`: a budget that the reader does not see. */
  readonly budget: string | null
  readonly units: number
  readonly start: number
  readonly end: number
  /** `null`: used outside the guard. */
  readonly of: UpdatesCharged | null
  /** Booked after the month's end. */
  readonly isLate: boolean
}

interface UpdatesCharged {
  /** Its name as well if a budget lists both. */
  readonly project: { readonly id: string; readonly name: string | null }
  readonly kind: string
  readonly caller: string
  readonly tags: Tags
  readonly count: number
}

/** They add up to what a statement has as charged and external. */
export const chargesOf = (definitions: Definitions, window: Window, read: MonthLines): readonly Charge[] =>
  [...usage(definitions, window, read.lines), ...outside(definitions, window, read.entries)].toSorted(
    (a, b) => a.start - b.start,
  )

/** One for each day, budget, project, kind, caller and tags. */
function usage(definitions: Definitions, window: Window, lines: readonly Line[]): readonly Charge[] {
  const charges = new Map<string, Charge & { readonly of: UpdatesCharged }>()
  for (const { charged = 0, settled = 0, budget, kind, caller, day, heldOn = day.name, ...line } of lines) {
    if (charged === 0 || budget === unseenBudget) continue
    const tags = Object.fromEntries(tagEntries(line.tags))
    const project = resourceOf(definitions, line.project)
    const key = JSON.stringify([day.start, heldOn, budget, project.id, kind, caller, tags])
    const before = charges.get(key)
    charges.set(key, {
      ...{ day: heldOn, budget, ...spanIn(window, day), isLate: false },
      units: charged + (before?.units ?? 0),
      of: { project, kind, caller, tags, count: settled + (before?.of.count ?? 0) },
    })
  }
  return [...charges.values()]
}

function resourceOf(definitions: Definitions, project: string): UpdatesCharged['project'] {
  const listed = listingsOf(definitions, project)[0]?.project
  if (!listed) return { id: project, name: null }
  return listed.id === undefined ? { id: listed.name, name: null } : { id: listed.id, name: listed.name }
}

/** An update of an earlier day was approved in the month, up to eight days later. */
function spanIn({ start, end }: Window, day: SummaryDay): { readonly start: number; readonly end: number } {
  const isEarlier = day.end <= start
  return { start: Math.max(start, day.start), end: Math.min(end, isEarlier ? day.end + createdAroundMs : day.end) }
}

function outside(definitions: Definitions, window: Window, entries: readonly Entry[]): readonly Charge[] {
  const firstOf = firstEntries(entries)
  return entries.flatMap((entry) => {
    const units = movedOnTops(topsOf(definitions), entry, 'spent')
    if (units === 0) return []
    const { budget, at, day } = firstOf(entry)
    const { start, end } = dayAt(definitions.calendar, at)
    const span = { start: Math.max(start, window.start), end: Math.min(end, window.end) }
    return {
      ...span,
      day,
      units,
      budget: budget === unseenBudget ? null : budget,
      of: null,
      isLate: entry.at >= window.end,
    }
  })
}

/** A correction belongs to the budget and the day of the first entry. */
export function firstEntries(entries: readonly Entry[]): (entry: Entry) => Entry {
  const named = new Map<string | undefined, Entry>(entries.map((entry) => [entry.id, entry]))
  const firstOf = (entry: Entry): Entry => {
    const corrected = named.get(entry.corrects)
    return corrected ? firstOf(corrected) : entry
  }
  return firstOf
}
