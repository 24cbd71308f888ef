import type { Book } from '../../ledger/book/book.ts'
import type { View } from '../../ledger/book/view.ts'
import { type Counter, usedOf } from '../../ledger/definitions/counters.ts'
import {
  type Budget,
  callerNamed,
  callerOfCounter,
  type Definitions,
  listingsOf,
  noRevision,
  personOf,
  type Stop,
  unseenBudget,
} from '../../ledger/definitions/definitions.ts'
import type { GuardParts } from '../options.ts'
import type { Permissions } from '../people/permissions.ts'
import { type Reads, seesProject } from '../people/sees.ts'
import type { Plan } from '../plans-file.ts'
import { createTelling } from './hidden-names.ts'

export type Reader = Pick<Permissions, 'caller' | keyof Reads>

interface Counters {
  seesBudget(name: string): boolean
  /** Counters of seen budgets, and the reader's own counter. */
  seesCounter(name: string): boolean
}

/** What one reader sees of one revision of the definitions. */
export interface Sight extends Reader, Counters {
  readonly whole: Definitions
  /** Only the reader's budgets. A top budget has no parent. */
  readonly definitions: Definitions
  /** Plans with a project or the budget of the reader. Each plan lists only the reader's projects. */
  readonly plans: readonly Plan[]
  /** Whether a text names a budget, project or plan that the reader does not see. */
  isTelling(text: string): boolean
  /** `isTelling` for a text by this caller. False for narrowed callers: hiding would confirm a name that they guess. */
  isTellingBy(by: string, text: string): boolean
}

/** Keeps the sight of the last revision. */
export function createSights({ ledger, plans }: Pick<GuardParts, 'ledger' | 'plans'>, reader: Reader) {
  let last: Sight | null = null
  return async (view?: Pick<View, 'definitions'>): Promise<Sight> => {
    const { definitions } = view ?? ledger.lastSeen() ?? (await ledger.view())
    if (last?.whole !== definitions) last = sightOf(definitions, await plans(), reader)
    return last
  }
}

function sightOf(whole: Definitions, allPlans: readonly Plan[], reader: Reader): Sight {
  const { caller } = reader
  const names = new Set(Object.keys(whole.budgets).filter((name) => reader.mayRead(name)))
  const seesBudget = (name: string) => names.has(name)
  const counters = { seesBudget, seesCounter: (name: string) => seesBudget(name) || callerOfCounter(name) === caller }
  const seenPlans = allPlans.flatMap((plan) => seenPlan(counters, whole, reader, plan) ?? [])
  const isTelling = createTelling(() => {
    const namesIn = (budgets: readonly Budget[], plans: readonly Plan[]) => [
      ...budgets.flatMap(({ name, projects }) => [name, ...projects.flatMap((each) => [each.name, each.id ?? ''])]),
      ...plans.flatMap(({ name, projects }) => [name, ...projects]),
    ]
    const budgets = Object.values(whole.budgets)
    const shown = new Set(
      namesIn(
        budgets.filter(({ name }) => seesBudget(name)),
        seenPlans,
      ),
    )
    return namesIn(budgets, allPlans).filter((name) => !shown.has(name))
  })
  const person = personOf(whole, caller)
  const isTellingBy = (by: string, text: string) =>
    personOf(whole, by) !== person && callerNamed(whole, by)?.readsBudgets === undefined && isTelling(text)
  const plans = seenPlans.map(({ tags, ...plan }) => ({
    ...plan,
    ...(tags && { tags: Object.fromEntries(Object.entries(tags).filter((tag) => !tag.some(isTelling))) }),
  }))
  const { readsBudgets, mayRead } = reader
  const sight = { caller, readsBudgets, mayRead, ...counters, whole, plans, isTelling, isTellingBy }
  return { ...sight, definitions: seenDefinitions(sight, person) }
}

function seenPlan(sight: Counters, whole: Definitions, reads: Reads, plan: Plan): Plan | null {
  const { budget } = plan
  const isOwn = budget !== undefined && sight.seesBudget(budget)
  const projects = plan.projects.filter(
    (project) => seesProject(whole, reads, project) || (isOwn && listingsOf(whole, project).length === 0),
  )
  if (projects.length === 0 && !isOwn) return null
  return { ...pruned(sight, plan), projects, ...(budget !== undefined && !isOwn && { budget: unseenBudget }) }
}

const untold = ['listed', 'token', 'previous', 'lease', 'counts']
/** Members with one or several names of budgets or counters, or objects with a `budget`. */
const named = [
  'owner',
  'to',
  'owners',
  'budgets',
  'grants',
  'short',
  'takenBack',
  'wouldHaveRefused',
  'moves',
  'signs',
  'giver',
  'binds',
  'figures',
  'decidedBy',
]
const keyed = ['leave', 'used', 'planned', 'lastRuns', 'lastRefused']
type Named = string | { readonly budget: string } | null

/** Removes members, list rows and keys that name an unseen budget. */
export function pruned<Of extends object>({ seesCounter }: Counters, record: Of): Of {
  const sees = (each: Named) => each !== null && seesCounter(typeof each === 'string' ? each : each.budget)
  const shown = (name: string, value: unknown): unknown => {
    if (untold.includes(name)) return undefined
    if (keyed.includes(name) && typeof value === 'object') {
      const seen = picked({ ...value }, seesCounter)
      return name === 'leave' && Object.keys(seen).length === 0 ? undefined : seen
    }
    if (!named.includes(name)) return value
    if (Array.isArray(value)) return value.filter(sees)
    return sees(value as Named) ? value : undefined
  }
  const members = Object.entries(record).map(([name, value]) => [name, shown(name, value)] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as Of
}

const picked = <Value>(of: Readonly<Record<string, Value>>, sees: (name: string) => boolean): Record<string, Value> =>
  Object.fromEntries(Object.entries(of).filter(([name]) => sees(name)))

function seenDefinitions(
  { whole, caller, plans, seesBudget, isTellingBy }: Omit<Sight, 'definitions'>,
  person: string,
): Definitions {
  const { identity: _identity, budgets, callers = {}, unlisted, pausedPlans = {}, ...rest } = whole
  const stopped = (stop: Stop): Stop => (isTellingBy(stop.by, stop.reason) ? { ...stop, reason: hiddenReason } : stop)
  const shown = ({ parent, frozen, ...budget }: Budget): Budget => ({
    ...budget,
    parent: parent !== null && seesBudget(parent) ? parent : null,
    ...(frozen && { frozen: stopped(frozen) }),
  })
  const own = Object.entries(callers).flatMap(([name, { budgets: _budgets, readsBudgets: _reads, ...listed }]) => {
    if (personOf(whole, name) !== person) return []
    return [[name, name === caller ? listed : { ...(listed.person !== undefined && { person: listed.person }) }]]
  })
  const paused = picked(pausedPlans, (name) => plans.some((plan) => plan.name === name))
  return {
    ...rest,
    revision: noRevision,
    budgets: Object.fromEntries(
      Object.entries(picked(budgets, seesBudget)).map(([name, budget]) => [name, shown(budget)]),
    ),
    callers: Object.fromEntries(own),
    ...(unlisted && !callerNamed(whole, caller) && { unlisted }),
    pausedPlans: Object.fromEntries(Object.entries(paused).map(([name, stop]) => [name, stopped(stop)])),
  }
}

/** Replaces a reason that contains a hidden name. */
export const hiddenReason = '(not shown to you)'

export const seenBook = ({ seesCounter, whole }: Sight, { counters: { month, day }, ...book }: Book): Book => ({
  ...book,
  revision: book.revision === whole.revision ? noRevision : noRevision - 1,
  counters: { month: picked(month, seesCounter), day: picked(day, seesCounter) },
})

/** `null` if no counter of the reader moved, even if other budgets' updates created the book. */
export function seenStored(sight: Sight, stored: Book | null): Book | null {
  const book = stored && seenBook(sight, stored)
  const isMoved = (counter: Counter) => usedOf(counter) !== 0 || counter.granted !== 0
  return book && Object.values(book.counters.month).some(isMoved) ? book : null
}
