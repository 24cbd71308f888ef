import type { Clock } from '../platform/clock.ts'
import { digest, systemIds } from '../platform/ids.ts'
import { once } from '../platform/parallel.ts'
import { type AuditedCounter, createAudit, createLastAudit, type LastAudit } from './book/audit.ts'
import type { Book } from './book/book.ts'
import { type ChangeOutcome, createChanges, type Fault, type MakeChange } from './book/changes.ts'
import type { Account, Definitions } from './book/definitions.ts'
import { createEntering, type EnterOutcome, type EntryPreview } from './book/enter.ts'
import type { Entry } from './book/entry.ts'
import type { EntryRequest } from './book/entry-request.ts'
import { createHolding, createTurns, type HoldBasis } from './book/hold.ts'
import type { RunOutcome } from './book/outcome.ts'
import { createSettle, type SettleOutcome } from './book/settle.ts'
import { newCalendar } from './book/windows.ts'
import { type ExpectedLedger, epochFaults, WrongLedger } from './identity.ts'
import { createLogins, type Logins } from './login.ts'
import { setUp } from './setup.ts'
import type { Store } from './store/store.ts'
import { createQueue, createRotation, type Queue, type Round } from './updates/queue.ts'
import {
  type Announcement,
  announcements,
  type Occurrence,
  occurrences,
  type SlackEvent,
  slackEvents,
} from './updates/tasks.ts'
import type { Update } from './updates/update.ts'
import { fromUpdateItem, type OpenAs } from './updates/update-item.ts'
import { createLists, type EntryFilter, type Page, type Span, type UpdateFilter } from './views/lists.ts'
import {
  createKnownDates,
  createPrices,
  type KnownDatesStore,
  type Prices,
  type ProjectChange,
  toProjectChangeItem,
} from './views/projects.ts'
import { createSummaries, type Summaries } from './views/summary.ts'
import { createViews, readUpdates, type View, type ViewQuery } from './views/views.ts'

/**
 * The unit ledger: definitions, books, work, updates and entries in one table. Every promise about units is kept by
 * the conditions of its transactions; nothing outside this room writes the table.
 *
 * Every function may throw `LedgerUnavailable`: the database did not answer.
 */
export interface Ledger {
  /** The definitions and the current book, and what is known about these updates and their work, read consistently. */
  view(queries?: readonly ViewQuery[]): Promise<View>
  /** The definitions as this process saw them last, and when; nothing is read. */
  lastSeen(): { readonly definitions: Definitions; readonly at: number } | null
  /** The book of a month as it is stored; `null`: nothing was ever counted in it. */
  bookNamed(month: string): Promise<Book | null>
  update(id: string): Promise<Update | null>
  /** In the order of the ids. */
  updatesNamed(ids: readonly string[]): Promise<readonly (Update | null)[]>

  /**
   * The hold and the fence: moves the units of `update.hold`, creates the record as `running` and takes the work, in
   * one transaction. `moved`: something that was decided on has changed, or it could not be sent until then; look again
   * and decide again.
   */
  hold(view: View, basis: HoldBasis, update: Update, until?: number): Promise<'held' | 'moved'>
  /** Writes a record that moves no units. `moved` as above. */
  record(update: Update, seen: Update | null): Promise<'recorded' | 'moved'>
  /** Settles, releases, doubts or corrects: whatever the outcome means for the update as it is now. */
  settle(update: Update, outcome: RunOutcome): Promise<SettleOutcome>

  /** Changes the definitions as one revision, and the books with them. */
  change(by: string, make: MakeChange): Promise<ChangeOutcome>
  /** Why `change` would refuse these definitions; nothing is written. */
  faultsOfChange(now: View, definitions: Definitions): Promise<readonly Fault[]>
  /** Books a grant, a transfer, outside spending, a correction, or the difference to the vendor's figure. */
  enter(request: EntryRequest): Promise<EnterOutcome>
  /** What `enter` would do now; nothing is written. */
  previewEntry(request: EntryRequest): Promise<EntryPreview>

  updates(filter: UpdateFilter, limit: number, cursor?: string): Promise<Page<Update>>
  /** What was created between two instants, both inclusive, the oldest first. */
  updatesFrom(span: Span, limit: number, cursor?: string): Promise<Page<Update>>
  open(as: OpenAs, limit: number, cursor?: string): Promise<Page<Update>>
  /** Hands over what is open, each in its turn: for the sweep, whose time may end before the list does. */
  openRound(as: OpenAs, ...how: Parameters<Round<Update>>): Promise<void>
  entries(filter: EntryFilter, limit: number, cursor?: string): Promise<Page<Entry>>
  /** Notes a create or an update of a project: before it is sent, and again with its answer. */
  noteProjectChange(change: ProjectChange): Promise<void>
  projectChanges(limit: number, cursor?: string): Promise<Page<ProjectChange>>
  /** The current, the previous and the next book, each against the sum of its entries. */
  audit(): Promise<readonly AuditedCounter[]>
  /** The result of the latest audit; `null`: none was made yet. */
  lastAudit(): Promise<LastAudit | null>
  /** Keeps the result of an audit. */
  keepAudit(made: Pick<LastAudit, 'at' | 'by'>, audited: readonly AuditedCounter[]): Promise<void>

  readonly announcements: Queue<Announcement>
  readonly slackEvents: Queue<SlackEvent>
  readonly occurrences: Queue<Occurrence>
  readonly summaries: Summaries
  readonly prices: Prices
  readonly knownDates: KnownDatesStore
  readonly logins: Logins
}

/**
 * @param options.account what a new ledger begins with.
 * @param options.expected what this process was told about the ledger, which the first call compares; nothing where it is absent.
 * @param options.begins whether a ledger begins here where there is none; on AWS only an operator begins one.
 * @throws LedgerUnavailable from every function; `WrongLedger` where the ledger is another one than expected.
 */
export function createLedger(options: {
  store: Store
  clock: Clock
  account: Account
  expected?: ExpectedLedger
  begins?: boolean
}): Ledger {
  const { store, clock, account, expected = null, begins = true } = options
  const views = createViews({ store, clock, calendar: newCalendar(account.renewal) })
  const { books, bookNamed, lastSeen } = views
  const turns = createTurns()
  const changes = createChanges({ store, turns, look, books })
  let epoch: number | null = null
  const ready = once(async () => {
    epoch = await setUp({ store, clock, account, expected, begins, look: views.look })
  })

  /** Every reading for a decision shows whether another table has taken over since this process began. */
  async function look(queries: readonly ViewQuery[] = []): Promise<View> {
    const view = await views.look(queries)
    const faults = expected && epoch !== null ? epochFaults(view.definitions, epoch) : []
    if (faults.length > 0) throw new WrongLedger(faults)
    return view
  }

  async function view(queries: readonly ViewQuery[] = []): Promise<View> {
    await ready()
    return look(queries)
  }

  const createdAt = once(async () => (await view()).definitions.createdAt)
  const lists = createLists({ store, clock, createdAt })
  const rotation = createRotation({ store, lists, clock })

  return {
    view,
    update: async (id) => (await readUpdates(store, [id]))[0] ?? null,
    updatesNamed: (ids) => readUpdates(store, ids),
    ...createHolding({ store, turns, clock }),
    ...createSettle({ store, clock, calendarAt: views.calendarAt }),
    bookNamed,
    lastSeen,
    ...createEntering({ store, view, books, bookNamed }),
    ...createAudit({ view, books, bookNamed, lists, clock }),
    ...createLastAudit({ store }),
    ...lists,
    openRound: (name, ...how) => rotation.round({ name, read: fromUpdateItem }, ...how),
    announcements: createQueue(announcements, { store, lists, rotation }),
    slackEvents: createQueue(slackEvents, { store, lists, rotation }),
    occurrences: createQueue(occurrences, { store, lists, rotation }),
    summaries: createSummaries({ store, lists }),
    prices: createPrices({ store }),
    knownDates: createKnownDates({ store }),
    logins: createLogins({ store, ids: systemIds }),
    noteProjectChange: async (change) => {
      const isNew = { kind: change.status === null ? 'absent-item' : 'present-item' } as const
      const writes = [{ kind: 'put', item: toProjectChangeItem(change), when: [isNew] }] as const
      await store.transact(writes, digest('project-change', JSON.stringify(change)))
    },
    change: async (by, make) => {
      await ready()
      return changes.change(by, make)
    },
    faultsOfChange: changes.faultsOfChange,
  }
}
