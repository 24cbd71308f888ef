import { createHash } from 'node:crypto'
import type { Book, Counter } from '../../ledger/book/book.ts'
import {
  type Budget,
  type Caller,
  callerNamed,
  callerOfCounter,
  type Definitions,
  listingsOf,
  personOf,
  type Stop,
  unseenBudget,
} from '../../ledger/book/definitions.ts'
import type { View } from '../../ledger/views/views.ts'
import type { GuardParts } from '../options.ts'
import type { Plan } from '../plans/plans-file.ts'
import { createTelling } from './hidden-names.ts'
import { type Reads, seesProject } from './sees.ts'

export interface Reader {
  readonly caller: string
  readonly reads: Reads
}

/** What one reader sees of one revision of the definitions. */
export interface Sight extends Reader {
  readonly whole: Definitions
  /** Only the reader's budgets; a top has no parent. */
  readonly definitions: Definitions
  /** Only those with a project or the budget of the reader, with the reader's projects alone. */
  readonly plans: readonly Plan[]
  seesBudget(name: string): boolean
  /** Counters of budgets, and the reader's own. */
  seesCounter(name: string): boolean
  /** Whether a text names a budget, project or plan that the reader does not see. */
  isTelling(text: string): boolean
  /** The same for what a person wrote. What narrowed callers wrote is not judged: they could find out names by it. */
  isTellingBy(by: string, text: string): boolean
}

/** One for each revision that is seen. */
export function createSights({ ledger, plans }: Pick<GuardParts, 'ledger' | 'plans'>, reader: Reader) {
  let last: Sight | null = null
  return async (view?: Pick<View, 'definitions'>): Promise<Sight> => {
    const { definitions } = view ?? ledger.lastSeen() ?? (await ledger.view())
    if (last?.whole !== definitions) last = createSight(definitions, await plans(), reader)
    return last
  }
}

function createSight(whole: Definitions, allPlans: readonly Plan[], reader: Reader): Sight {
  const { caller, reads } = reader
  const names = new Set(Object.keys(whole.budgets).filter((name) => reads.mayRead(name)))
  const seesBudget = (name: string) => names.has(name)
  const seenPlans = allPlans.flatMap((plan) => seenPlan(whole, reads, plan, seesBudget) ?? [])
  const isTelling = createTelling(() => hiddenIn(whole, allPlans, seenPlans, seesBudget))
  const plans = seenPlans.map(({ tags, ...plan }) => ({
    ...plan,
    ...(tags && { tags: Object.fromEntries(Object.entries(tags).filter((tag) => !tag.some(isTelling))) }),
  }))
  const isTellingBy = (by: string, text: string) =>
    by !== caller && callerNamed(whole, by)?.readsBudgets === undefined && isTelling(text)
  const definitions = narrowed(whole, { caller, plans, seesBudget, isTellingBy })
  return {
    ...reader,
    ...{ whole, definitions, plans, seesBudget, isTelling, isTellingBy },
    seesCounter: (name) => seesBudget(name) || callerOfCounter(name) === caller,
  }
}

function hiddenIn(
  { budgets }: Definitions,
  plans: readonly Plan[],
  seen: readonly Plan[],
  seesBudget: (name: string) => boolean,
): readonly string[] {
  const namesIn = ({ name, projects }: Budget) => [
    name,
    ...projects.flatMap((each) => [each.name, each.id ?? each.name]),
  ]
  const own = Object.values(budgets).filter(({ name }) => seesBudget(name))
  const shown = new Set([...own.flatMap(namesIn), ...seen.flatMap(({ name, projects }) => [name, ...projects])])
  return [
    ...Object.values(budgets).flatMap(namesIn),
    ...plans.flatMap(({ name, projects }) => [name, ...projects]),
  ].filter((name) => !shown.has(name))
}

function seenPlan(whole: Definitions, reads: Reads, plan: Plan, seesBudget: (name: string) => boolean): Plan | null {
  const { budget, leave, ...rest } = plan
  const left = typeof leave === 'object' ? picked(leave, seesBudget) : leave
  const isOwn = budget !== undefined && seesBudget(budget)
  const projects = plan.projects.filter(
    (project) => seesProject(whole, reads, project) || (isOwn && listingsOf(whole, project).length === 0),
  )
  if (projects.length === 0 && !isOwn) return null
  return {
    ...rest,
    projects,
    ...(budget !== undefined && { budget: isOwn ? budget : unseenBudget }),
    ...(left !== undefined && (typeof left === 'number' || Object.keys(left).length > 0) && { leave: left }),
  }
}

export const picked = <Value>(
  of: Readonly<Record<string, Value>>,
  sees: (name: string) => boolean,
): Record<string, Value> => Object.fromEntries(Object.entries(of).filter(([name]) => sees(name)))

function narrowed(
  whole: Definitions,
  { caller, plans, seesBudget, isTellingBy }: Pick<Sight, 'caller' | 'plans' | 'seesBudget' | 'isTellingBy'>,
): Definitions {
  const { identity: _identity, budgets, callers = {}, unlisted, pausedPlans = {}, revision: _revision, ...rest } = whole
  const stopped = (stop: Stop): Stop => (isTellingBy(stop.by, stop.reason) ? { ...stop, reason: hiddenReason } : stop)
  const shown = ([name, budget]: [string, Budget]): [string, Budget] => [
    name,
    {
      ...budget,
      parent: budget.parent !== null && seesBudget(budget.parent) ? budget.parent : null,
      ...(budget.frozen && { frozen: stopped(budget.frozen) }),
    },
  ]
  const person = personOf(whole, caller)
  const own = Object.entries(callers)
    .filter(([name]) => personOf(whole, name) === person)
    .map(([name, listed]) => [name, name === caller ? ownListing(listed) : ownPerson(listed)] as const)
  const content = {
    ...rest,
    budgets: Object.fromEntries(
      Object.entries(budgets)
        .filter(([name]) => seesBudget(name))
        .map(shown),
    ),
    callers: Object.fromEntries(own),
    ...(unlisted && !callerNamed(whole, caller) && { unlisted }),
    pausedPlans: Object.fromEntries(
      Object.entries(pausedPlans)
        .filter(([name]) => plans.some((plan) => plan.name === name))
        .map(([name, stop]) => [name, stopped(stop)]),
    ),
  }
  return { ...content, revision: revisionOf(content) }
}

const ownPerson = ({ person }: Caller): Caller => (person === undefined ? {} : { person })

const ownListing = ({ budgets: _budgets, readsBudgets: _reads, ...listed }: Caller): Caller => listed

/** From the content, because the ledger's own revision counts everyone's changes. */
const revisionOf = (content: object): number =>
  createHash('sha256').update(JSON.stringify(content)).digest().readUIntBE(0, 6)

/** In place of a reason that names what the reader does not see. */
export const hiddenReason = '(not shown to you)'

/** `null`: none of the reader's counters. */
export function seenBook({ seesCounter, whole, definitions }: Sight, book: Book): Book | null {
  const counters = {
    month: picked<Counter>(book.counters.month, seesCounter),
    day: picked<Counter>(book.counters.day, seesCounter),
  }
  if (Object.keys(counters.month).length === 0) return null
  return { ...book, revision: book.revision === whole.revision ? definitions.revision : 0, counters }
}
