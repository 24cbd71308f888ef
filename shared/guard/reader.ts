import type { Entry } from '../ledger/book/entry.ts'
import type { View, ViewResult } from '../ledger/book/view.ts'
import { ifUnavailable } from '../ledger/errors.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { ItemKind } from '../ledger/store/item-kind.ts'
import type { Queue, Task, TaskKind } from '../ledger/updates/queue.ts'
import { runsIn, type SeenWork } from '../ledger/updates/work.ts'
import { type Lists, matches } from '../ledger/views/lists.ts'
import { once } from '../platform/parallel.ts'
import { type Background, createBackground } from './background.ts'
import { noUpdate } from './inbox/approvals.ts'
import type { GuardParts } from './options.ts'
import type { DecisionOutcome } from './people/decisions.ts'
import { ReadsNarrowed, seesUpdate } from './people/sees.ts'
import type { NarrowedKind, NarrowedLedger } from './reads/narrowed-kind.ts'
import * as records from './reads/records.ts'
import { createSights, type Reader, seenBook, seenStored } from './reads/sight.ts'
import { type Guard, late } from './whole-guard.ts'

/**
 * The guard for a caller who reads only some budgets (`Permissions.readsBudgets`). `guard.permissions(named)` returns
 * it, and faces use it in place of the guard. All other methods throw `ReadsNarrowed`. Reports read the narrowed
 * ledger, which has only the reader's budgets: `account` is missing, and there may be no root or several.
 */
export function createReader(
  whole: Guard,
  given: GuardParts,
  reader: Reader,
  kinds: readonly NarrowedKind<object>[],
): Guard {
  // Reads the plans file once for each reader.
  const parts = { ...given, plans: once(given.plans) }
  const narrow = createNarrowing(parts, reader)
  const ledger = createNarrowedLedger(parts, narrow, kinds)
  const decided = async (id: string, decide: () => Promise<DecisionOutcome>): Promise<DecisionOutcome> => {
    const isSeen = (await ledger.update(id)) !== null
    const outcome = isSeen && (await narrow.seen(await decide()))
    const isNamed = outcome && (outcome.kind === 'problem' || outcome.update !== null)
    return isNamed ? outcome : { kind: 'problem', problem: noUpdate(id) }
  }
  const decide: Guard['decide'] = (decision, id, ...how) => decided(id, () => whole.decide(decision, id, ...how))
  const background = once(async () => {
    const { plans } = await narrow.sight()
    return createBackground({
      ...parts,
      plans,
      ledger,
      approvals: { decide, expire: notOffered },
      resume: { start: notOffered, begin: notOffered },
      waitUntil: () => 0,
    })
  })
  return only<Guard>(whole, {
    ledger,
    ...late(background, reads),
    submit: whole.submit,
    estimate: whole.estimate,
    permissions: whole.permissions,
    rateOf: whole.rateOf,
    decide,
    closeDelivery: (outcome, id, ...how) => decided(id, () => whole.closeDelivery(outcome, id, ...how)),
    start: async (id, endsAt) => (await ledger.update(id)) && narrow.seen(await whole.start(id, endsAt)),
  })
}

const reads = [
  'inbox',
  'answeredDoubts',
  'resolveByAnswer',
  'planStatuses',
  'budgetsOf',
  'report',
  'reportParts',
] as const satisfies readonly (keyof Background)[]

async function notOffered(): Promise<never> {
  throw new ReadsNarrowed()
}

/** Throws `ReadsNarrowed` for members of `all` that are not offered. */
const only = <T extends object>(all: object, offered: Partial<T>): T =>
  new Proxy(offered, {
    get: (target, name) => Reflect.get(target, name) ?? (Reflect.has(all, name) ? notOffered : undefined),
  }) as T

type Narrow = ReturnType<typeof createNarrowing>

function createNarrowing(parts: GuardParts, reader: Reader) {
  const { ledger } = parts
  const sight = createSights(parts, reader)

  /** Reads the updates that problems name, because only the ledger shows whether the reader sees them. */
  async function seen<Of>(answer: Of, typed: readonly string[] = [], view?: View): Promise<Of> {
    const now = await sight(view)
    const ids = new Set<string>()
    const asUnseen = (id: string) => {
      ids.add(id)
      return false
    }
    const shown = records.seenIn(now, answer, { typed, isSeen: asUnseen }) as Of
    // An update may have run already, and an error would say that nothing was sent. So a failed read hides the ids.
    const named = ids.size > 0 ? await ledger.updatesNamed([...ids]).catch(ifUnavailable([])) : []
    const own = new Set(named.flatMap((one) => (one && seesUpdate(now.whole, now, one) ? one.id : [])))
    return own.size === 0 ? shown : (records.seenIn(now, answer, { typed, isSeen: (id) => own.has(id) }) as Of)
  }

  return { sight, seen }
}

/** Reads the ledger as one caller sees it. */
function createNarrowedLedger(
  parts: GuardParts,
  { sight, seen }: Narrow,
  kinds: readonly NarrowedKind<object>[],
): Ledger {
  const { ledger } = parts
  const view: Ledger['view'] = async (queries) => {
    const whole = await ledger.view(queries)
    const now = await sight(whole)
    const results = whole.results.map(async ({ records: known, ...result }): Promise<ViewResult> => {
      const { rows, update } = await seen({ rows: [...known.values()], update: result.update }, [], whole)
      const shown = new Map(rows.map((each) => [each.id, each]))
      const isSeen = ({ work }: SeenWork) =>
        work !== null && [work.update, ...runsIn(work).map((run) => run.update)].every((id) => shown.has(id))
      const works = result.works.map((each) => (isSeen(each) ? each : { ...each, work: null }))
      return { update, works, records: shown }
    })
    return {
      ...whole,
      definitions: now.definitions,
      results: await Promise.all(results),
      stored: seenStored(now, whole.stored),
      book: seenBook(now, whole.book),
      ...(whole.nextStored !== undefined && { nextStored: seenStored(now, whole.nextStored) }),
    }
  }
  const updatesNamed: Ledger['updatesNamed'] = async (ids) => {
    const found = new Map((await seen(await ledger.updatesNamed(ids))).map((update) => [update?.id, update]))
    return ids.map((id) => found.get(id) ?? null)
  }
  const kindNamed = (name: string) => kinds.find(({ kind }) => kind.name === name)
  const narrowed: Ledger = only<Ledger>(ledger, {
    view,
    updatesNamed,
    update: async (id) => (await updatesNamed([id]))[0] ?? null,
    lastSeen: () => null,
    bookNamed: async (month) => seenStored(await sight(), await ledger.bookNamed(month)),
    ...narrowedLists(parts, { sight, seen }),
    lastAudit: async () => null,
    queue: (kind) => narrowedQueue(ledger.queue(kind), kind, seen),
    item: (kind) =>
      narrowedItem(ledger.item(kind), kind, kindNamed(kind.name), { ledger: narrowed, log: parts.log, sight }),
  })
  return narrowed
}

/** Narrows what the named reads return. A kind that declares nothing offers nothing. */
function narrowedQueue<T extends Task>(
  queue: Queue<T>,
  { narrowed = [] }: TaskKind<T>,
  seen: Narrow['seen'],
): Queue<T> {
  if (narrowed === 'own') return queue
  const reads: Pick<Queue<T>, 'get' | 'latest'> = {
    get: async (id) => seen(await queue.get(id)),
    latest: async (...of) => seen(await queue.latest(...of)),
  }
  return only<Queue<T>>(queue, membersOf(reads, narrowed))
}

/** What the named reads return, or what the kind's feature makes of them for this reader. */
function narrowedItem<Functions extends object>(
  functions: Functions,
  { narrowed = [] }: Pick<ItemKind<Functions, unknown, unknown>, 'narrowed'>,
  own: NarrowedKind<Functions> | undefined,
  reader: NarrowedLedger,
): Functions {
  if (narrowed === 'own') return functions
  return only<Functions>(functions, own ? own.narrow(functions, reader) : membersOf(functions, narrowed))
}

const membersOf = <T extends object>(all: T, names: readonly (keyof T)[]): Partial<T> =>
  Object.fromEntries(names.map((name) => [name, all[name]])) as Partial<T>

function narrowedLists({ ledger }: GuardParts, { sight, seen }: Narrow): Partial<Ledger> {
  const unnamed = { isSeen: () => false }
  async function lists(): Promise<Lists> {
    const now = await sight()
    return ledger.listsAs({
      budget: (name) => (Object.hasOwn(now.whole.budgets, name) ? now.seesBudget(name) : null),
      update: (update) => seesUpdate(now.whole, now, update),
      entry: (entry) => records.seesEntry(now, entry),
      matches: (update, filter, at) => {
        const shown = records.seenUpdate(now, update, unnamed)
        return shown !== null && matches(shown, filter, { now: at.now, definitions: now.definitions })
      },
    })
  }
  async function entry(id: string): Promise<Entry | null> {
    const found = await ledger.entry(id)
    if (!found || !records.seesEntry(await sight(), found)) return null
    const { rows } = await seen({ rows: [found] })
    return rows[0] ?? null
  }
  return {
    updates: async (...of) => seen(await (await lists()).updates(...of)),
    updatesFrom: async (...of) => seen(await (await lists()).updatesFrom(...of)),
    open: async (...of) => seen(await (await lists()).open(...of)),
    oldestOpen: async (...of) => seen(await (await lists()).oldestOpen(...of)),
    countOpen: async (...of) => (await lists()).countOpen(...of),
    entry,
    correctionOf: async (id) => ((await entry(id)) ? ledger.correctionOf(id) : null),
    entries: async (filter, ...page) => {
      if (filter.budget !== undefined && !(await sight()).seesCounter(filter.budget)) return { rows: [] }
      return seen(await (await lists()).entries(filter, ...page))
    },
  }
}

/** The names that the request itself contains. */
export type Typed = { readonly projects: readonly string[]; readonly budget?: string }

/** The answer to a request of a narrowed reader. */
export const seenAnswer = <Of>(parts: GuardParts, reader: Reader, wanted: Typed, answer: Of): Promise<Of> =>
  createNarrowing(parts, reader).seen(answer, [...wanted.projects, ...(wanted.budget ? [wanted.budget] : [])])
