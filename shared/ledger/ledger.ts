import type { Clock } from '../platform/clock.ts'
import { digest, systemIds } from '../platform/ids.ts'
import { once } from '../platform/once.ts'
import { type Announcement, announcements } from './announcement.ts'
import { type AuditedCounter, createAudit } from './audit.ts'
import type { Book } from './book.ts'
import { type ChangeOutcome, createChanges, type Fault, type MakeChange } from './changes.ts'
import { type CloseOutcome, createClosing } from './closing.ts'
import type { Definitions } from './definitions.ts'
import { createEntering, type EnterOutcome, type EntryPreview } from './entering.ts'
import type { Entry } from './entry.ts'
import type { EntryRequest } from './entry-booking.ts'
import type { Finding } from './finding.ts'
import { createHolding, type Seen } from './holding.ts'
import { type Account, type Expected, epochFaults, WrongLedger } from './identity.ts'
import { createLastAudits, type LastAudits } from './last-audit.ts'
import { createLists, type EntryFilter, type Page, type Span, type UpdateFilter } from './lists.ts'
import { createLogins, type Logins } from './login.ts'
import { type Occurrence, occurrences } from './occurrence.ts'
import { createPictures, type Pictures } from './picture.ts'
import { createPrices, type Prices } from './price.ts'
import { type ProjectChange, toProjectChangeItem } from './project-change.ts'
import { createQueue, type Queue } from './queue.ts'
import { createRotation, type Round } from './rotation.ts'
import { setUp } from './setup.ts'
import { createSightings, type Sightings } from './sighting.ts'
import { type SlackEvent, slackEvents } from './slack-event.ts'
import type { Store } from './store.ts'
import { createTallies, type Tallies } from './tally.ts'
import { createTurns } from './turns.ts'
import type { Update } from './update.ts'
import { fromUpdateItem, type OpenAs } from './update-item.ts'
import { type Ask, createViews, readUpdates, type View } from './views.ts'
import { newCalendar } from './windows.ts'

/**
 * The unit ledger: definitions, books, work, updates and entries in one table. Every promise about units is kept by
 * the conditions of its transactions; nothing outside this room writes the table.
 *
 * Every function may throw `LedgerUnavailable`: the database did not answer.
 */
export interface Ledger {
  /** The definitions and the current book, and what is known about these updates and their work, read consistently. */
  view(asks?: readonly Ask[]): Promise<View>
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
  hold(view: View, seen: Seen, update: Update, until?: number): Promise<'held' | 'moved'>
  /** Writes a record that moves no units. `moved` as above. */
  record(update: Update, seen: Update | null): Promise<'recorded' | 'moved'>
  /** Settles, releases, doubts or corrects: whatever the finding means for the update as it is by then. */
  close(update: Update, finding: Finding): Promise<CloseOutcome>

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

  readonly announcements: Queue<Announcement>
  readonly slackEvents: Queue<SlackEvent>
  readonly occurrences: Queue<Occurrence>
  readonly pictures: Pictures
  readonly tallies: Tallies
  readonly lastAudits: LastAudits
  readonly prices: Prices
  readonly sightings: Sightings
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
  expected?: Expected
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
  async function look(asks: readonly Ask[] = []): Promise<View> {
    const view = await views.look(asks)
    const faults = expected && epoch !== null ? epochFaults(view.definitions, epoch) : []
    if (faults.length > 0) throw new WrongLedger(faults)
    return view
  }

  async function view(asks: readonly Ask[] = []): Promise<View> {
    await ready()
    return look(asks)
  }

  const createdAt = once(async () => (await view()).definitions.createdAt)
  const lists = createLists({ store, clock, createdAt })
  const rotation = createRotation({ store, lists, clock })

  return {
    view,
    update: async (id) => (await readUpdates(store, [id]))[0] ?? null,
    updatesNamed: (ids) => readUpdates(store, ids),
    ...createHolding({ store, turns, clock }),
    ...createClosing({ store, clock }),
    bookNamed,
    lastSeen,
    ...createEntering({ store, view, books, bookNamed }),
    ...createAudit({ view, books, bookNamed, lists, clock }),
    ...lists,
    openRound: (name, ...how) => rotation.round({ name, read: fromUpdateItem }, ...how),
    announcements: createQueue(announcements, { store, lists, rotation }),
    slackEvents: createQueue(slackEvents, { store, lists, rotation }),
    occurrences: createQueue(occurrences, { store, lists, rotation }),
    pictures: createPictures({ store }),
    tallies: createTallies({ store }),
    lastAudits: createLastAudits({ store }),
    prices: createPrices({ store }),
    sightings: createSightings({ store }),
    logins: createLogins({ store, ids: systemIds }),
    noteProjectChange: async (change) => {
      const isNew = { is: change.status === null ? 'absent-item' : 'present-item' } as const
      const writes = [{ do: 'put', item: toProjectChangeItem(change), when: [isNew] }] as const
      await store.transact(writes, digest('project-change', JSON.stringify(change)))
    },
    change: async (by, make) => {
      await ready()
      return changes.change(by, make)
    },
    faultsOfChange: changes.faultsOfChange,
  }
}
