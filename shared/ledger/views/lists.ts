import { type Clock, dayMs, toRfc3339 } from '../../platform/clock.ts'
import type { Kind } from '../../tracking/kinds.ts'
import {
  correctionMarkKey,
  type Entry,
  type EntryType,
  entriesListedIn,
  entryKey,
  fromCorrectionMark,
  fromEntryItem,
} from '../book/entry.ts'
import {
  type Definitions,
  nameWhenRequested,
  projectName,
  shownProject,
  unseenBudget,
} from '../definitions/definitions.ts'
import { type Page, walk } from '../store/pages.ts'
import type { Item, Store } from '../store/store.ts'
import { type DeliveryState, deliveryOf } from '../updates/delivery.ts'
import { fromTaskItem } from '../updates/queue.ts'
import { announcements, newsListedIn } from '../updates/tasks.ts'
import { hasTags, isTerminal, type State, type Update, type Via } from '../updates/update.ts'
import { fromUpdateItem, listedIn, type OpenAs } from '../updates/update-keys.ts'
import { changesListedIn, fromProjectChangeItem, type ProjectChange } from './project-changes.ts'

export interface UpdateFilter {
  readonly state?: State
  readonly kind?: Kind
  /** Any spelling of the project's name or id, or a name that a budget listed at the time of the request. */
  readonly project?: string
  /** A part of the project's name or id, in upper or lower case. */
  readonly search?: string
  readonly budget?: string
  readonly caller?: string
  readonly via?: Via
  readonly plan?: string
  /** An update must have all these tags, each as `key:value`. */
  readonly tag?: readonly string[]
  readonly delivery?: DeliveryState
  /** Both inclusive. */
  readonly since?: number
  readonly until?: number
}

export interface Span {
  readonly since: number
  readonly until: number
}

export interface EntryFilter {
  /** `month:2026-11-12` */
  readonly month: string
  readonly budget?: string
  readonly since?: number
  readonly by?: readonly string[]
  readonly types?: readonly EntryType[]
}

type Paging = [limit: number, cursor?: string]
const pageOf = ([limit, cursor]: Paging) => ({ limit, cursor })

/** Updates are kept for 26 months. */
const oldestMs = 27 * 31 * dayMs

export interface ListsParts {
  store: Store
  clock: Clock
  createdAt: () => Promise<number>
  definitions: () => Promise<Definitions>
  isWanted?: typeof matches
}

export function createLists({ store, clock, createdAt, definitions, isWanted = matches }: ListsParts) {
  async function updates(filter: UpdateFilter, ...paging: Paging): Promise<Page<Update>> {
    const page = pageOf(paging)
    const now = clock.now()
    const namedBy = filter.project === undefined && !filter.search ? noBudgets : await definitions()
    const keep = (update: Update) => isWanted(update, filter, { now, definitions: namedBy })
    const first = openListOf(filter)
    if (first) return walk(store, { index: 'open', first, ...page, read: fromUpdateItem, keep })
    const newest = Math.min(filter.until ?? clock.now(), clock.now() + dayMs)
    const oldest = Math.max(filter.since ?? 0, clock.now() - oldestMs, (await createdAt()) - dayMs)
    if (oldest > newest) return { rows: [] }
    const bounds = { from: toRfc3339(oldest), to: `${toRfc3339(newest)}~` }
    return walk(store, {
      index: 'by-time',
      ...months(newest, -1, oldest, listedIn),
      bounds,
      ...page,
      read: fromUpdateItem,
      keep,
    })
  }

  const updatesFrom = listFrom(store, listedIn, fromUpdateItem)
  const newsFrom = listFrom(store, newsListedIn, (item) => fromTaskItem(announcements, item))

  const open = (as: OpenAs, ...paging: Paging): Promise<Page<Update>> =>
    walk(store, { index: 'open', first: as, ...pageOf(paging), read: fromUpdateItem })

  const countOpen = async (as: OpenAs, max: number): Promise<number> =>
    (await store.list({ index: 'open', partition: as, newestFirst: true, limit: max })).positions.length

  const oldestOpen = (as: OpenAs, limit: number): Promise<Page<Update>> =>
    walk(store, { index: 'open', oldestFirst: true, first: as, limit, read: fromUpdateItem })

  const entries = (filter: EntryFilter, ...paging: Paging): Promise<Page<Entry>> =>
    walk(store, {
      index: 'by-time',
      first: entriesListedIn(filter.month),
      bounds: { from: toRfc3339(filter.since ?? 0), to: '~' },
      ...pageOf(paging),
      read: fromEntryItem,
      keep: (entry) => isEntryWanted(entry, filter),
    })

  async function entry(id: string): Promise<Entry | null> {
    const [item] = await store.get([entryKey(id)])
    return item ? fromEntryItem(item) : null
  }

  async function correctionOf(id: string): Promise<string | null> {
    const [mark] = await store.get([correctionMarkKey(id)])
    return mark ? fromCorrectionMark(mark) : null
  }

  const projectChanges = async (...paging: Paging): Promise<Page<ProjectChange>> => {
    const newest = clock.now() + dayMs
    const oldest = Math.max(clock.now() - oldestMs, (await createdAt()) - dayMs)
    return walk(store, {
      index: 'by-time',
      ...months(newest, -1, oldest, changesListedIn),
      ...pageOf(paging),
      read: fromProjectChangeItem,
    })
  }

  return { updates, updatesFrom, newsFrom, open, oldestOpen, countOpen, entry, correctionOf, entries, projectChanges }
}

/** The oldest first. */
const listFrom =
  <Row>(store: Store, named: (month: string) => string, read: (item: Item) => Row) =>
  ({ since, until }: Span, ...paging: Paging): Promise<Page<Row>> =>
    walk(store, {
      index: 'by-time',
      oldestFirst: true,
      ...months(since, 1, until, named),
      bounds: { from: toRfc3339(since), to: `${toRfc3339(until)}~` },
      ...pageOf(paging),
      read,
    })

export type Lists = ReturnType<typeof createLists>

const isEntryWanted = (entry: Entry, { budget, by, types }: EntryFilter): boolean =>
  (budget === undefined || concerns(entry, budget)) &&
  (by?.includes(entry.by) ?? true) &&
  (types?.includes(entry.type) ?? true)

const concerns = ({ budget, moves, changed = [] }: Entry, name: string) =>
  budget === name ||
  moves.some((move) => move.budget === name) ||
  changed.some((difference) => difference.kind === 'budget' && difference.name === name)

const monthOf = (instant: number) => toRfc3339(instant).slice(0, 7)

function months(from: number, step: -1 | 1, to: number, named: (month: string) => string) {
  const last = monthOf(to)
  return {
    first: named(monthOf(from)),
    last: named(last),
    following: (partition: string) => {
      const month = partition.slice(-7)
      if (step < 0 ? month <= last : month >= last) return null
      const [year = 0, number = 1] = month.split('-').map(Number)
      return named(monthOf(Date.UTC(year, number - 1 + step)))
    },
  }
}

/** If the reader may not see the payer, a filter for the owner finds the update. */
const isOf = ({ budget, owner }: { budget: string; owner?: string | null }, wanted: string | undefined): boolean =>
  wanted === undefined || budget === wanted || (budget === unseenBudget && owner === wanted)

/** Updates whose data did not come are few, so they are listed however old they are. */
function openListOf({ state, delivery }: UpdateFilter): OpenAs | null {
  if (state && !isTerminal(state)) return state as OpenAs
  return delivery === 'late' ? 'undelivered' : null
}

/** `definitions`: needed only by filters of the project. */
export interface MatchedAt {
  readonly now: number
  readonly definitions: Pick<Definitions, 'budgets'>
}

const noBudgets = { budgets: {} }

export function matches(update: Update, filter: UpdateFilter, { now, definitions }: MatchedAt): boolean {
  const { since = 0, until = Number.POSITIVE_INFINITY, delivery, ...criteria } = filter
  if (delivery !== undefined && deliveryOf(update, now) !== delivery) return false
  return update.createdAt >= since && update.createdAt <= until && meets(update, criteria, definitions)
}

/** Applies to updates and to rows of figures. */
export function meets<Of extends Pick<Update, 'budget' | 'owner' | 'project' | 'listed' | 'tags'>>(
  record: Of,
  { search = '', tag = [], budget, project, ...same }: Omit<UpdateFilter, 'since' | 'until' | 'delivery'>,
  definitions: MatchedAt['definitions'],
): boolean {
  if (!isOf(record, budget) || !hasTags(record.tags, tag)) return false
  if (project !== undefined && !isProject(record, project, definitions)) return false
  if (search !== '' && !isLike(record, search, definitions)) return false
  return Object.entries(same).every(([name, value]) => value === undefined || record[name as keyof Of] === value)
}

type Named = Pick<Update, 'project' | 'listed'>

const isProject = (record: Named, asked: string, definitions: MatchedAt['definitions']): boolean =>
  projectName(definitions, record) === projectName(definitions, { project: asked }) ||
  nameWhenRequested(record) === asked

function isLike(record: Named, search: string, definitions: MatchedAt['definitions']): boolean {
  const { name, id = '' } = shownProject(definitions, record)
  return [record.project, name, id].some((each) => each.toLowerCase().includes(search.toLowerCase()))
}
