import { once } from '../platform/parallel.ts'
import type { Book } from './book/book.ts'
import { type ChangeOutcome, createChanges, type MakeChange } from './book/changes.ts'
import { type EnterOutcome, type EntryPreview, enter, previewEntry } from './book/enter.ts'
import type { Entry } from './book/entry.ts'
import type { EntryRequest } from './book/entry-request.ts'
import { createHolds, createTurns, type HoldBasis } from './book/hold.ts'
import type { Fault } from './book/name-faults.ts'
import type { RunOutcome } from './book/outcome.ts'
import { createSettle, type SettleOutcome } from './book/settle.ts'
import { readUpdates, type View, type ViewQuery } from './book/view.ts'
import type { Definitions } from './definitions/definitions.ts'
import type { ItemKind } from './store/item-kind.ts'
import { createItems } from './store/items.ts'
import { all, type Page } from './store/pages.ts'
import { createQueue, createRotation, type Queue, type Round, type Task, type TaskKind } from './updates/queue.ts'
import { defaultFlightMs } from './updates/shown.ts'
import { type Announcement, announcements } from './updates/tasks.ts'
import type { Update } from './updates/update.ts'
import { fromUpdateItem, type OpenAs } from './updates/update-keys.ts'
import { createVerifiedViews, type LedgerParts } from './verified-views.ts'
import type { AuditedCounter, LastAudit } from './views/audit.ts'
import { createLists, type EntryFilter, type Lists, type Span, type UpdateFilter } from './views/lists.ts'
import { noteProjectChange, type ProjectChange } from './views/project-changes.ts'
import { type Sees, seenStore } from './views/seen-lists.ts'

/**
 * The conditions of its transactions keep every promise about units. Nothing outside this room writes the table. Every
 * function may throw `LedgerUnavailable`.
 */
export interface Ledger {
  /** Reads consistently. */
  view(queries?: readonly ViewQuery[]): Promise<View>
  /** The definitions that this process read last. `null`: none yet. */
  lastSeen(): { readonly definitions: Definitions; readonly at: number } | null
  /** `null`: nothing was counted in that month. */
  bookNamed(month: string): Promise<Book | null>
  update(id: string): Promise<Update | null>
  updatesNamed(ids: readonly string[]): Promise<readonly (Update | null)[]>

  /** Writes the hold and the fence. `moved`: the basis has changed, or `until` has passed. Look and decide again. */
  hold(view: View, basis: HoldBasis, update: Update, until?: number): Promise<'held' | 'moved'>
  /** Writes an update without moving units. */
  record(update: Update, seen: Update | null): Promise<'recorded' | 'moved'>
  settle(update: Update, outcome: RunOutcome): Promise<SettleOutcome>

  /** Writes a new revision of the definitions, together with the books. */
  change(by: string, make: MakeChange): Promise<ChangeOutcome>
  faultsOfChange(now: View, definitions: Definitions): Promise<readonly Fault[]>
  enter(request: EntryRequest): Promise<EnterOutcome>
  previewEntry(request: EntryRequest): Promise<EntryPreview>

  updates(filter: UpdateFilter, limit: number, cursor?: string): Promise<Page<Update>>
  /** The oldest first. Both ends of the span are inclusive. */
  updatesFrom(span: Span, limit: number, cursor?: string): Promise<Page<Update>>
  /** The announcements that other systems receive, the oldest first. Both ends of the span are inclusive. */
  newsFrom(span: Span, limit: number, cursor?: string): Promise<Page<Announcement>>
  open(as: OpenAs, limit: number, cursor?: string): Promise<Page<Update>>
  oldestOpen(as: OpenAs, limit: number): Promise<Page<Update>>
  /** Counts in the index, which lags. */
  countOpen(as: OpenAs, max: number): Promise<number>
  /** Continues after the last row of the previous round, because a sweep may run out of time. */
  openRound(as: OpenAs, ...how: Parameters<Round<Update>>): Promise<void>
  entry(id: string): Promise<Entry | null>
  /** The id of the entry that corrects this entry. */
  correctionOf(id: string): Promise<string | null>
  entries(filter: EntryFilter, limit: number, cursor?: string): Promise<Page<Entry>>
  /** Called before the request is sent, and again with the answer. */
  noteProjectChange(change: ProjectChange): Promise<void>
  projectChanges(limit: number, cursor?: string): Promise<Page<ProjectChange>>
  /** The lists of updates and entries, with only the rows that this reader may see. */
  listsAs(sees: Sees): Lists
  /** Audits the books of the previous, current and next month. */
  audit(): Promise<readonly AuditedCounter[]>
  lastAudit(): Promise<LastAudit | null>
  keepAudit(made: Pick<LastAudit, 'at' | 'by'>, audited: readonly AuditedCounter[]): Promise<void>

  /** The tasks of a kind. The room that uses them describes the kind. */
  queue<T extends Task>(kind: TaskKind<T>): Queue<T>
  /** What a feature does with its items of a kind. */
  item<Functions extends object, Content, Id>(kind: ItemKind<Functions, Content, Id>): Functions
  readonly announcements: Queue<Announcement>
}

const rowsAtATime = 100
/** The promises about units rest on these items, so only this room writes them. */
const ownNames = ['update', 'work', 'entry', 'righted', 'project-change']

function ofFeature<Kind extends { readonly name: string }>(kind: Kind): Kind {
  if (ownNames.includes(kind.name)) throw new Error(`items named ${kind.name} belong to the ledger`)
  return kind
}

/** @throws WrongLedger from every function. */
export function createLedger(options: LedgerParts): Ledger {
  const { store, clock } = options
  const { ready, look, view, books, bookNamed, calendarAt, lastSeen } = createVerifiedViews(options)
  const turns = createTurns()
  const parts = { store, view, books, bookNamed }
  const { flightMs = defaultFlightMs } = options
  const definitions = async () => (await view()).definitions
  const createdAt = once(async () => (await definitions()).createdAt)
  const lists = createLists({ store, clock, createdAt, definitions })
  const unsettled = async () =>
    (
      await Promise.all(
        (['running', 'in-doubt'] as const).map((as) => all((next) => lists.open(as, rowsAtATime, next))),
      )
    ).flat()
  const changes = createChanges({ store, turns, look, books, unsettled })
  const rotation = createRotation({ store, clock })
  // Audits are rare, so their code loads with the first one.
  const auditing = once(async () => (await import('./views/audit.ts')).createAudit({ ...parts, lists, clock }))

  const readMonth = async (now: View) => (await auditing()).readMonth(now)
  const entering = { ...parts, clock, flightMs, readMonth }

  return {
    view,
    update: async (id) => (await readUpdates(store, [id]))[0] ?? null,
    updatesNamed: (ids) => readUpdates(store, ids),
    ...createHolds({ store, turns, clock }),
    ...createSettle({ store, clock, calendarAt, flightMs }),
    bookNamed,
    lastSeen,
    enter: (request) => enter(entering, request),
    previewEntry: (request) => previewEntry(entering, request),
    audit: async () => (await auditing()).audit(),
    lastAudit: async () => (await auditing()).lastAudit(),
    keepAudit: async (made, audited) => (await auditing()).keepAudit(made, audited),
    ...lists,
    listsAs: (sees) =>
      createLists({ store: seenStore(store, sees), clock, createdAt, definitions, isWanted: sees.matches }),
    openRound: (name, ...how) => rotation.round({ name, read: fromUpdateItem }, ...how),
    queue: (kind) => createQueue(ofFeature(kind), { store, rotation }),
    announcements: createQueue(announcements, { store, rotation }),
    item: (kind) => kind.functions(createItems(ofFeature(kind), { store })),
    noteProjectChange: (change) => noteProjectChange(store, change),
    change: async (by, make) => {
      await ready()
      return changes.change(by, make)
    },
    faultsOfChange: changes.faultsOfChange,
  }
}
