import type { Book } from '../../ledger/book/book.ts'
import { budgetNamed } from '../../ledger/book/definitions.ts'
import { ifUnavailable } from '../../ledger/errors.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Occurrence } from '../../ledger/updates/tasks.ts'
import { hasTags, type Update } from '../../ledger/updates/update.ts'
import { runsIn, type SeenWork } from '../../ledger/updates/work.ts'
import type { Page } from '../../ledger/views/pages.ts'
import type { Prices, ProjectChange } from '../../ledger/views/projects.ts'
import { emptySummary, isComplete, type Summaries, type Summary } from '../../ledger/views/summary.ts'
import type { View, ViewResult } from '../../ledger/views/views.ts'
import type { GuardParts } from '../options.ts'
import { spendersOf } from '../reports/day-of-budgets.ts'
import { believed, brought } from '../reports/summary.ts'
import { seenEntry, seenOccurrence, seenRow, seenTags, seenUpdate, seesEntry, updateNamedIn } from './records.ts'
import { seesProject, seesUpdate } from './sees.ts'
import { createSights, picked, type Reader, type Sight, seenBook } from './sight.ts'

type Parts = Pick<GuardParts, 'ledger' | 'plans' | 'log'>

/** Reads the ledger as one caller sees it. Nothing is written through it. */
export function createNarrowedLedger(parts: Parts, reader: Reader): Ledger {
  const { ledger } = parts
  const sightNow = createSights(parts, reader)
  const look: Ledger['view'] = async (queries) => {
    const view = await ledger.view(queries)
    return seenView(ledger, await sightNow(view), view)
  }
  const narrowed: Ledger = {
    ...writes,
    view: look,
    lastSeen: () => null,
    bookNamed: async (month) => {
      const book = await ledger.bookNamed(month)
      return book && seenBook(await sightNow(), book)
    },
    update: async (id) => (await narrowed.updatesNamed([id]))[0] ?? null,
    updatesNamed: async (ids) => {
      const updates = await ledger.updatesNamed(ids)
      return seenUpdates(ledger, await sightNow(), updates)
    },
    ...createNarrowedLists(ledger, sightNow),
    audit: refused,
    lastAudit: async () => null,
    // A face keeps its own protocol here; it shows none of it.
    slackEvents: ledger.slackEvents,
    logins: ledger.logins,
    issuerKeys: ledger.issuerKeys,
    noteProjectChange: ledger.noteProjectChange,
    occurrences: seenOccurrences(ledger, sightNow),
    reruns: {
      ...refusedQueue,
      get: async (id) => {
        const rerun = await ledger.reruns.get(id)
        return rerun && (await sightNow()).plans.some(({ name }) => name === rerun.plan) ? rerun : null
      },
    },
    summaries: seenSummaries(parts, sightNow, () => narrowed),
    prices: seenPrices(ledger, sightNow),
  }
  return narrowed
}

export const refused = (): never => {
  throw new Error('a narrowed ledger is only read')
}

const refusedQueue = { add: refused, get: refused, change: refused, open: refused, round: refused, latest: refused }

const writes = {
  ...{ hold: refused, record: refused, settle: refused, change: refused, faultsOfChange: refused },
  ...{
    enter: refused,
    entry: refused,
    newsFrom: refused,
    previewEntry: refused,
    openRound: refused,
    keepAudit: refused,
  },
  announcements: refusedQueue,
  knownDates: { read: refused, write: refused },
  deliveries: { add: refused, get: refused, change: refused, due: refused, waiting: refused, dead: refused },
  eventTargets: { read: refused, note: refused },
} satisfies Partial<Record<keyof Ledger, unknown>>

type SightNow = () => Promise<Sight>

/** One more reading tells which of the updates that problems name the reader sees. */
export async function seenUpdates(
  ledger: Pick<Ledger, 'updatesNamed'>,
  sight: Sight,
  updates: readonly (Update | null)[],
): Promise<(Update | null)[]> {
  const own = updates.map((update) => (update && seesUpdate(sight.whole, sight.reads, update) ? update : null))
  const isSeen = await seenAmong(
    ledger,
    sight,
    own.flatMap((update) => updateNamedIn(update?.problem)),
  )
  return own.map((update) => update && seenUpdate(sight, update, isSeen))
}

export async function seenAmong(
  ledger: Pick<Ledger, 'updatesNamed'>,
  { whole, reads }: Sight,
  ids: readonly string[],
): Promise<(id: string) => boolean> {
  // Something may have run before, so a failure here must not say that nothing was sent: no name is shown.
  const named = ids.length > 0 ? await ledger.updatesNamed([...new Set(ids)]).catch(ifUnavailable([])) : []
  const seen = new Set(named.flatMap((update) => (update && seesUpdate(whole, reads, update) ? update.id : [])))
  return (id) => seen.has(id)
}

async function seenView(ledger: Ledger, sight: Sight, view: View): Promise<View> {
  const results = await Promise.all(view.results.map((result) => seenResult(ledger, sight, result)))
  const none: Book = { ...view.book, counters: { month: {}, day: {} } }
  return {
    ...view,
    definitions: sight.definitions,
    stored: view.stored && seenBook(sight, view.stored),
    book: seenBook(sight, view.book) ?? none,
    results,
  }
}

async function seenResult(ledger: Ledger, sight: Sight, { update, works, records }: ViewResult): Promise<ViewResult> {
  const known = [...records.values()]
  const [own = null, ...others] = await seenUpdates(ledger, sight, [update, ...known])
  const seen = new Map(others.flatMap((each) => (each ? [[each.id, each] as const] : [])))
  const isSeen = ({ work }: SeenWork) =>
    work !== null && [work.update, ...runsIn(work).map((run) => run.update)].every((id) => seen.has(id))
  return { update: own, works: works.map((each) => (isSeen(each) ? each : { ...each, work: null })), records: seen }
}

function createNarrowedLists(ledger: Ledger, sightNow: SightNow) {
  const sees =
    ({ whole, reads }: Sight) =>
    (update: Update) =>
      seesUpdate(whole, reads, update)
  const shown = async (sight: Sight, { rows, next }: Page<Update>): Promise<Page<Update>> => ({
    rows: (await seenUpdates(ledger, sight, rows)).filter((update) => update !== null),
    ...(next !== undefined && { next }),
  })
  return {
    updates: async (filter, limit, cursor) => {
      const sight = await sightNow()
      const { tag = [] } = filter
      // A tag that is not shown must not be found.
      const isFound = (update: Update) =>
        sees(sight)(update) && hasTags(seenTags(sight, update.caller, update.tags ?? {}), tag)
      return shown(sight, await ledger.updates(filter, limit, cursor, isFound))
    },
    updatesFrom: async (span, limit, cursor) => {
      const sight = await sightNow()
      return shown(sight, await ledger.updatesFrom(span, limit, cursor, sees(sight)))
    },
    open: async (as, limit, cursor) => {
      const sight = await sightNow()
      return shown(sight, await ledger.open(as, limit, cursor, sees(sight)))
    },
    oldestOpen: async (as, limit) => {
      const sight = await sightNow()
      return shown(sight, await ledger.oldestOpen(as, limit, sees(sight)))
    },
    // The index does not tell whose an update is.
    countOpen: async (as, max) => (await ledger.open(as, max, undefined, sees(await sightNow()))).rows.length,
    entries: async (filter, limit, cursor) => {
      const sight = await sightNow()
      if (filter.budget !== undefined && !sight.seesCounter(filter.budget)) return { rows: [] }
      const page = await ledger.entries(filter, limit, cursor, (entry) => seesEntry(sight, entry))
      return { ...page, rows: page.rows.map((entry) => seenEntry(sight, entry)) }
    },
    projectChanges: async (limit, cursor) => {
      const { whole, reads } = await sightNow()
      const seesChange = ({ project }: ProjectChange) => seesProject(whole, reads, project)
      return ledger.projectChanges(limit, cursor, seesChange)
    },
  } satisfies Partial<Ledger>
}

function seenOccurrences({ occurrences }: Ledger, sightNow: SightNow): Ledger['occurrences'] {
  const seen = async (rows: readonly (Occurrence | null)[]) => {
    const sight = await sightNow()
    return rows.flatMap((row) => (row && seenOccurrence(sight, row)) ?? [])
  }
  return {
    ...refusedQueue,
    get: async (id) => (await seen([await occurrences.get(id)]))[0] ?? null,
    latest: async (partition, limit) => seen(await occurrences.latest(partition, limit)),
  }
}

function seenPrices({ prices }: Ledger, sightNow: SightNow): Prices {
  return {
    write: refused,
    read: async (of) => {
      const [{ plans }, found] = await Promise.all([sightNow(), prices.read(of)])
      const names = new Set(plans.flatMap(({ projects }) => projects))
      return found.map((price) => (price && names.has(price.project) ? price : null))
    },
  }
}

/** Rows are filtered exactly. What the sums of a day cannot tell apart is counted from the records. */
function seenSummaries({ ledger, log }: Parts, sightNow: SightNow, narrowed: () => Ledger): Summaries {
  const read: Summaries['read'] = async (days) => {
    const [sight, stored] = await Promise.all([sightNow(), ledger.summaries.read(days)])
    const view = await narrowed().view()
    return Promise.all(
      stored.map(async (each) => {
        const seen = seenSummary(sight, believed(each, view.now))
        if (isComplete(seen) && seen.open.length === 0) return seen
        const round = { ledger: narrowed(), log, view, pageSize: 100, left: Number.POSITIVE_INFINITY }
        const { news: _news, ...now } = await brought(round, seen)
        return { ...now, mark: 'narrowed' }
      }),
    )
  }
  return {
    read,
    write: refused,
    spoil: async () => undefined,
    unfinished: refused,
    place: refused,
    movePlace: refused,
  }
}

function seenSummary(sight: Sight, summary: Summary): Summary {
  const { day, at, until, open, used, planned } = summary
  const known = { ...emptySummary(day), at, used: picked(used, sight.seesBudget) }
  // No one knows whose a deleted budget's row is, except by the records.
  const isUnclear = summary.rows.some(({ budget }) => !budgetNamed(sight.whole, budget))
  if (summary.mark === null || isUnclear) return known
  const rows = summary.rows.flatMap((row) => seenRow(sight, row) ?? [])
  return {
    ...known,
    ...{ mark: 'narrowed', until, open, rows },
    ...(planned && { planned: picked(planned, sight.seesBudget) }),
    lastRuns: picked(summary.lastRuns, sight.seesBudget),
    shortSince: picked(summary.shortSince, sight.seesBudget),
    spenders: spendersOf(rows, day),
    duplicates: rows.reduce((sum, { duplicates = 0 }) => sum + duplicates, 0),
    saved: rows.reduce((sum, { saved = 0 }) => sum + saved, 0),
  }
}
