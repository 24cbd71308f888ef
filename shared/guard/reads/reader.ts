import { ifUnavailable } from '../../ledger/errors.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Problem, Update } from '../../ledger/updates/update.ts'
import { runsIn, type SeenWork } from '../../ledger/updates/work.ts'
import { type Lists, matches } from '../../ledger/views/lists.ts'
import type { Page } from '../../ledger/views/pages.ts'
import { isComplete, type Summary } from '../../ledger/views/summary.ts'
import type { View, ViewResult } from '../../ledger/views/views.ts'
import { once } from '../../platform/parallel.ts'
import { type Background, createBackground } from '../background.ts'
import type { GuardParts } from '../options.ts'
import { type DecisionOutcome, noUpdate } from '../people/approvals.ts'
import { spendersOf } from '../reports/day-of-budgets.ts'
import { believed, brought } from '../reports/summary.ts'
import type { Answer } from '../update/answer.ts'
import type { Estimate } from '../update/estimate.ts'
import type { Guard } from '../whole-guard.ts'
import * as records from './records.ts'
import { ReadsNarrowed, seesUpdate } from './sees.ts'
import { createSights, picked, type Reader, type Sight, seenBook, seenStored } from './sight.ts'

type Whole = Omit<Guard, 'readAs'>
type SightNow = (view?: Pick<View, 'definitions'>) => Promise<Sight>

/**
 * The guard for a caller whose reads are narrowed (`Permissions.readsBudgets`). A face gets it from
 * `guard.readAs(caller, permissions)` and uses it in place of the guard for all that the caller reads and decides. What
 * is not offered here throws `ReadsNarrowed`, whatever its arguments. Reports are made above the narrowed ledger, which
 * knows the reader's budgets alone: each top has `parent: null`, there may be several tops, or none, and no `account`.
 */
export function createReader(whole: Whole, given: GuardParts, reader: Reader): Guard {
  // The file is read once for each reader.
  const parts = { ...given, plans: once(given.plans) }
  const sightNow = createSights(parts, reader)
  const ledger = createNarrowedLedger(parts, sightNow)
  const decided = async (id: string, decide: () => Promise<DecisionOutcome>): Promise<DecisionOutcome> => {
    if (!(await ledger.update(id))) return { kind: 'problem', problem: noUpdate(id) }
    return seenOutcome(parts, await sightNow(), await decide())
  }
  const guard: Guard = only<Guard>(whole, {
    ledger,
    background: once(async () => {
      const resume = { start: barred, begin: barred }
      const own = createBackground({ ...parts, plans: (await sightNow()).plans, ledger, approvals: whole, resume })
      return only<Background>(own, Object.fromEntries(reports.map((name) => [name, own[name]])))
    }),
    submit: whole.submit,
    estimate: whole.estimate,
    permissions: whole.permissions,
    rateOf: whole.rateOf,
    approve: (id, ...how) => decided(id, () => whole.approve(id, ...how)),
    reject: (id, ...how) => decided(id, () => whole.reject(id, ...how)),
    cancel: (id, ...how) => decided(id, () => whole.cancel(id, ...how)),
    resolve: (id, ...how) => decided(id, () => whole.resolve(id, ...how)),
    start: async (id, endsAt) => {
      const update = (await ledger.update(id)) && (await whole.start(id, endsAt))
      return update ? ((await seenUpdates(parts, await sightNow(), [update]))[0] ?? null) : null
    },
    readAs: async () => guard,
  })
  return guard
}

const reports = [
  ...([
    'outlook',
    'forecast',
    'whoSpent',
    'spentOn',
    'spentCosts',
    'usedLastMonth',
    'pastMonth',
    'lastMonths',
  ] as const),
  ...(['statement', 'countUpdates', 'inbox', 'unlistedProjects'] as const),
  ...(['planStatuses', 'upcoming', 'budgetsOf', 'report'] as const),
] satisfies readonly (keyof Background)[]

async function barred(): Promise<never> {
  throw new ReadsNarrowed()
}

/** Whatever `all` has besides is refused. */
const only = <T extends object>(all: object, offered: Partial<T>): T =>
  new Proxy(offered, {
    get: (target, name) => Reflect.get(target, name) ?? (Reflect.has(all, name) ? barred : undefined),
  }) as T

/** Reads the ledger as one caller sees it. */
function createNarrowedLedger(parts: GuardParts, sightNow: SightNow): Ledger {
  const { ledger } = parts
  const view: Ledger['view'] = async (queries) => {
    const whole = await ledger.view(queries)
    return seenView(parts, await sightNow(whole), whole)
  }
  const updatesNamed: Ledger['updatesNamed'] = async (ids) => {
    const updates = await ledger.updatesNamed(ids)
    return seenUpdates(parts, await sightNow(), updates)
  }
  const { get, latest } = ledger.occurrences
  const narrowed = only<Ledger>(ledger, {
    view,
    updatesNamed,
    update: async (id) => (await updatesNamed([id]))[0] ?? null,
    lastSeen: () => null,
    bookNamed: async (month) => seenStored(await sightNow(), await ledger.bookNamed(month)),
    ...narrowedLists(parts, sightNow),
    lastAudit: async () => null,
    // A face keeps its own protocol here; it shows none of it.
    slackEvents: ledger.slackEvents,
    logins: ledger.logins,
    issuerKeys: ledger.issuerKeys,
    occurrences: only<Ledger['occurrences']>(ledger.occurrences, {
      get: async (id) => {
        const [occurrence, sight] = [await get(id), await sightNow()]
        return occurrence && records.seenOccurrence(sight, occurrence)
      },
      latest: async (...of) => {
        const [rows, sight] = [await latest(...of), await sightNow()]
        return rows.flatMap((row) => records.seenOccurrence(sight, row) ?? [])
      },
    }),
    reruns: only<Ledger['reruns']>(ledger.reruns, {
      get: async (id) => {
        const [rerun, { plans }] = [await ledger.reruns.get(id), await sightNow()]
        return rerun && plans.some(({ name }) => name === rerun.plan) ? rerun : null
      },
    }),
    prices: only<Ledger['prices']>(ledger.prices, { read: ledger.prices.read }),
    summaries: only<Ledger['summaries']>(ledger.summaries, {
      spoil: async () => undefined,
      /** The stored rows of seen budgets, and the later records of these alone. */
      read: async (days) => {
        const [stored, seen] = [await ledger.summaries.read(days), await view()]
        const sight = await sightNow()
        const round = { ledger: narrowed, log: parts.log, view: seen, pageSize: 100, left: Number.POSITIVE_INFINITY }
        const summed = stored.map((summary) => seenSummary(sight, believed(summary, seen.now)))
        return Promise.all(
          summed.map(async (each) => {
            if (isComplete(each) && each.open.length === 0) return each
            const { news: _news, ...now } = await brought(round, each)
            return now
          }),
        )
      },
    }),
  })
  return narrowed
}

function narrowedLists(parts: GuardParts, sightNow: SightNow): Partial<Ledger> {
  const listsOf = ({ ledger }: GuardParts, sight: Sight): Lists =>
    ledger.listsAs({
      budget: (name) => (Object.hasOwn(sight.whole.budgets, name) ? sight.seesBudget(name) : null),
      update: (update) => seesUpdate(sight.whole, sight.reads, update),
      entry: (entry) => records.seesEntry(sight, entry),
      matches: (update, filter) => matches(records.placedUpdate(sight, update), filter),
    })
  const shown = async (read: (lists: Lists) => Promise<Page<Update>>): Promise<Page<Update>> => {
    const sight = await sightNow()
    const { rows, ...page } = await read(listsOf(parts, sight))
    return { ...page, rows: (await seenUpdates(parts, sight, rows)).filter((update) => update !== null) }
  }
  return {
    updates: (...of) => shown(({ updates }) => updates(...of)),
    updatesFrom: (...of) => shown(({ updatesFrom }) => updatesFrom(...of)),
    open: (...of) => shown(({ open }) => open(...of)),
    oldestOpen: (...of) => shown(({ oldestOpen }) => oldestOpen(...of)),
    countOpen: async (...of) => listsOf(parts, await sightNow()).countOpen(...of),
    entries: async (filter, ...page) => {
      const sight = await sightNow()
      if (filter.budget !== undefined && !sight.seesCounter(filter.budget)) return { rows: [] }
      const { rows, ...more } = await listsOf(parts, sight).entries(filter, ...page)
      return { ...more, rows: rows.map((entry) => records.seenEntry(sight, entry)) }
    },
  }
}

/** One more reading tells which of the updates that problems name the reader sees. */
async function seenUpdates(
  parts: GuardParts,
  sight: Sight,
  updates: readonly (Update | null)[],
): Promise<(Update | null)[]> {
  const own = updates.map((update) => (update && seesUpdate(sight.whole, sight.reads, update) ? update : null))
  const isSeen = await seenAmong(
    parts,
    sight,
    own.flatMap((update) => update?.problem ?? []),
  )
  return own.map((update) => update && records.seenUpdate(sight, update, isSeen))
}

async function seenAmong(
  { ledger }: GuardParts,
  { whole, reads }: Sight,
  problems: readonly Problem[],
): Promise<(id: string) => boolean> {
  const ids = [...new Set(problems.flatMap(records.updateNamedIn))]
  // Something may have run before, so a failure here must not say that nothing was sent: no name is shown.
  const named = ids.length > 0 ? await ledger.updatesNamed(ids).catch(ifUnavailable([])) : []
  const seen = new Set(named.flatMap((update) => (update && seesUpdate(whole, reads, update) ? update.id : [])))
  return (id) => seen.has(id)
}

async function seenView(parts: GuardParts, sight: Sight, view: View): Promise<View> {
  const seenResult = async ({ update, works, records: known }: ViewResult): Promise<ViewResult> => {
    const [own = null, ...others] = await seenUpdates(parts, sight, [update, ...known.values()])
    const seen = new Map(others.flatMap((each) => (each ? [[each.id, each] as const] : [])))
    const isSeen = ({ work }: SeenWork) =>
      work !== null && [work.update, ...runsIn(work).map((run) => run.update)].every((id) => seen.has(id))
    return { update: own, works: works.map((each) => (isSeen(each) ? each : { ...each, work: null })), records: seen }
  }
  return {
    ...view,
    definitions: sight.definitions,
    stored: seenStored(sight, view.stored),
    book: seenBook(sight, view.book),
    results: await Promise.all(view.results.map(seenResult)),
  }
}

function seenSummary(sight: Sight, { planned, ...summary }: Summary): Summary {
  const rows = summary.rows.flatMap((row) => records.seenRow(sight, row) ?? [])
  const sum = (of: 'duplicates' | 'saved') => rows.reduce((total, row) => total + (row[of] ?? 0), 0)
  return {
    ...{ ...summary, mark: 'narrowed', rows },
    used: picked(summary.used, sight.seesBudget),
    ...(planned && { planned: picked(planned, sight.seesBudget) }),
    lastRuns: picked(summary.lastRuns, sight.seesBudget),
    shortSince: picked(summary.shortSince, sight.seesBudget),
    ...{ spenders: spendersOf(rows, summary.day), unlisted: [], duplicates: sum('duplicates'), saved: sum('saved') },
  }
}

async function seenOutcome(parts: GuardParts, sight: Sight, outcome: DecisionOutcome): Promise<DecisionOutcome> {
  if (outcome.kind === 'problem') {
    const isSeen = await seenAmong(parts, sight, [outcome.problem])
    return { kind: 'problem', problem: records.seenProblem(sight, outcome.problem, isSeen) }
  }
  const [update] = await seenUpdates(parts, sight, [outcome.update])
  return update ? { kind: 'done', update } : { kind: 'problem', problem: noUpdate(outcome.update.id) }
}

/** The names that a request wrote itself. */
type Typed = { readonly projects: readonly string[]; readonly budget?: string }
const typedIn = ({ projects, budget }: Typed): readonly string[] => [...projects, ...(budget ? [budget] : [])]

/** What a request of a narrowed reader is answered. */
export async function seenAnswer(parts: GuardParts, reader: Reader, wanted: Typed, answer: Answer): Promise<Answer> {
  const sight = await createSights(parts, reader)()
  const { problem, notRecorded } = answer
  const isSeen = await seenAmong(parts, sight, [
    ...(problem ? [problem] : []),
    ...notRecorded.map((row) => row.problem),
  ])
  const shown = (one: Problem) => records.seenProblem(sight, one, isSeen, typedIn(wanted))
  const updates = (await seenUpdates(parts, sight, answer.updates)).filter((update) => update !== null)
  return {
    ...answer,
    updates,
    problem: problem && shown(problem),
    notRecorded: notRecorded.map((row) => ({ ...row, problem: shown(row.problem) })),
    earlier: answer.earlier.filter((id) => updates.some((update) => update.id === id)),
  }
}

export async function seenEstimate(
  parts: GuardParts,
  reader: Reader,
  wanted: Typed,
  estimate: Estimate | Problem,
): Promise<Estimate | Problem> {
  const sight = await createSights(parts, reader)()
  const all = 'slug' in estimate ? [estimate] : [estimate, ...estimate.projects].flatMap(({ problem }) => problem ?? [])
  const isSeen = await seenAmong(parts, sight, all)
  const shown = (one: Problem) => records.seenProblem(sight, one, isSeen, typedIn(wanted))
  if ('slug' in estimate) return shown(estimate)
  const { approval, problem } = estimate
  return {
    ...estimate,
    projects: estimate.projects.map(({ problem: own, ...each }) => ({ ...each, ...(own && { problem: shown(own) }) })),
    problem: problem && shown(problem),
    approval: approval !== null && sight.isTelling(approval) ? records.wantsApproval : approval,
    wouldHaveRefused: estimate.wouldHaveRefused.filter(({ budget }) => sight.seesCounter(budget)),
    figures: estimate.figures.filter(({ budget }) => sight.seesCounter(budget)),
  }
}
