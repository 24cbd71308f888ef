import type { Units } from '../../platform/words.ts'
import type { Budget, Limit, OwnedProject, Unowned, WindowKind, WindowLimit } from '../../records/budget.ts'
import type { Caller, CallerDefaults } from '../../records/caller.ts'
import type { Stop } from '../../records/record.ts'
import { instant, type Of, optional, orNull, record, text, units, whole } from '../store/stored.ts'
import { type Calendar, storedRenewal } from './windows.ts'

export { unownedRules, windowKinds } from '../../records/budget.ts'
export type { Budget, Caller, CallerDefaults, Limit, OwnedProject, Stop, Unowned, WindowKind, WindowLimit }

export interface Definitions {
  readonly revision: number
  readonly createdAt: number
  /** Absent: an older version wrote the ledger, and no operator has adopted the ledger. */
  readonly identity?: Identity
  readonly calendar: Calendar
  readonly budgets: Readonly<Record<string, Budget>>
  /** An unlisted caller may do what its token says. */
  readonly callers?: Readonly<Record<string, Caller>>
  /** The limits of each unlisted caller. In the API they are the caller `*`. */
  readonly unlisted?: CallerDefaults
  readonly pausedPlans?: Readonly<Record<string, Stop>>
}

export type ListOfCallers = Pick<Definitions, 'callers'>

/** Stands for all callers that are not listed. */
export const unlistedCallers = '*'

export const rootBudget = 'account'

/** Stands for a budget that the reader may not see, usually one above the reader's own. No budget can have this name. */
export const unseenBudget = 'a budget above'

/** The revision in definitions that are narrowed for a reader of some budgets. */
export const noRevision = 0

export const maxDepth = 8

export interface CounterOwner {
  readonly name: string
  readonly limits: readonly WindowLimit[]
  /** `false`: the budget is only observed. */
  readonly enforce?: false
  /** Units of each window that only plans may use. */
  readonly keep?: Units
}

export const isEnforced = ({ enforce }: Pick<CounterOwner, 'enforce'>): boolean => enforce !== false

/** No budget can have this name. */
export const callerCounter = (caller: string): string => `caller:${caller}`

export const callerOfCounter = (name: string): string | null =>
  name.startsWith('caller:') ? name.slice('caller:'.length) : null

export const counterOwnersIn = (definitions: Definitions): readonly CounterOwner[] => [
  ...Object.values(definitions.budgets),
  ...Object.keys(definitions.callers ?? {}).flatMap((caller) => limitsOfCaller(definitions, caller)),
]

export function limitsOfCaller(definitions: Definitions, caller: string): readonly CounterOwner[] {
  const limits = callerNamed(definitions, caller)?.limits
  return limits ? [{ name: callerCounter(caller), limits }] : []
}

export function counterOwnerNamed(definitions: Definitions, name: string): CounterOwner | undefined {
  const caller = callerOfCounter(name)
  return caller === null ? budgetNamed(definitions, name) : limitsOfCaller(definitions, caller)[0]
}

export const limitOf = ({ limits }: CounterOwner, window: WindowKind): Limit =>
  limits.find((limit) => limit.window === window)?.units ?? 'unlimited'

/** All budgets that an update of this budget is charged to, the root last. */
export function chainOf(definitions: Definitions, name: string): readonly Budget[] {
  const chain: Budget[] = []
  for (let next: string | null = name; next !== null; ) {
    const budget: Budget | undefined = budgetNamed(definitions, next)
    // A missing parent or a circle would leave part of the chain uncounted.
    if (!budget || chain.length === maxDepth) throw new Error(`the chain of budget ${name} is broken at ${next}`)
    chain.push(budget)
    next = budget.parent
  }
  return chain
}

/** True if units that the budget pays count in `above`, too. False for a deleted budget. */
export const isWithin = (definitions: Definitions, name: string, above: string): boolean =>
  budgetNamed(definitions, name) !== undefined && chainOf(definitions, name).some((budget) => budget.name === above)

export function frozenAbove(definitions: Definitions, name: string): string | null {
  const above = budgetNamed(definitions, name) ? chainOf(definitions, name).slice(1) : []
  return above.find(({ frozen }) => frozen !== undefined)?.name ?? null
}

/** Own members only: `constructor` is not a budget. */
export const budgetNamed = (definitions: Definitions, name: string): Budget | undefined =>
  Object.hasOwn(definitions.budgets, name) ? definitions.budgets[name] : undefined

export const isObserved = (definitions: Definitions, name: string): boolean =>
  budgetNamed(definitions, name)?.enforce === false

export const callerNamed = ({ callers = {} }: ListOfCallers, name: string): Caller | undefined =>
  Object.hasOwn(callers, name) ? callers[name] : undefined

const ofPlan = 'schedule:'

/** A plan is a caller, too. */
export const callerOfPlan = (plan: string): string => `${ofPlan}${plan}`

/** `null`: the caller is not a plan. */
export const planOfCaller = (caller: string): string | null =>
  caller.startsWith(ofPlan) ? caller.slice(ofPlan.length) : null

/** A listed caller follows only its own entry. A plan has no defaults: people review it, and budgets limit it. */
export const rulesOfCaller = (definitions: Definitions, caller: string): CallerDefaults | undefined =>
  callerNamed(definitions, caller) ?? (planOfCaller(caller) === null ? definitions.unlisted : undefined)

/** The caller's name, then the `person` listed for each name before. The last name is the person's. */
export function namesOf(definitions: ListOfCallers, caller: string, claimed?: string): readonly string[] {
  const names: string[] = []
  const personListed = (name: string) => callerNamed(definitions, name)?.person
  const first = personListed(caller) ?? claimed
  for (let next: string | undefined = caller; next !== undefined; next = next === caller ? first : personListed(next)) {
    if (next === names.at(-1)) break
    const earlier = names.indexOf(next)
    // Changes refuse new circles. All names of a circle from before that rule are one person.
    if (earlier >= 0) return [...names, names.slice(earlier).toSorted()[0] ?? next]
    names.push(next)
  }
  return names
}

export const personOf = (definitions: ListOfCallers, caller: string, claimed?: string): string =>
  namesOf(definitions, caller, claimed).at(-1) ?? caller

export const pauseOf = ({ pausedPlans = {} }: Definitions, plan: string): Stop | undefined =>
  Object.hasOwn(pausedPlans, plan) ? pausedPlans[plan] : undefined

export const childrenOf = (definitions: Definitions, name: string): readonly Budget[] =>
  Object.values(definitions.budgets).filter((budget) => budget.parent === name)

/** The root. In definitions that are narrowed for a reader: each budget whose parent the reader does not see. */
export const topsOf = (definitions: Definitions): readonly string[] =>
  Object.values(definitions.budgets).flatMap(({ name, parent }) => (parent === null ? name : []))

export interface Listing {
  readonly budget: Budget
  readonly project: OwnedProject
}

/** Finds a project by any spelling of its name or id. */
export const listingsOf = (definitions: Pick<Definitions, 'budgets'>, project: string): readonly Listing[] =>
  listingsIn(definitions).get(folded(project)) ?? []

/** The owner's name for the project, also if `project` is its id. */
export const listedName = (definitions: Pick<Definitions, 'budgets'>, project: string): string =>
  listingsOf(definitions, project)[0]?.project.name ?? project

/** How a budget listed a project at the time of a request. Absent `name`: as the request wrote it. */
export const storedListing = record({ name: optional(text), id: optional(text) })

/** A project as the request wrote it. `listed` is absent if no budget listed it, or listed just this name. */
export interface RequestedProject {
  readonly project: string
  readonly listed?: Of<typeof storedListing>
}

export const nameWhenRequested = ({ project, listed }: RequestedProject): string => listed?.name ?? project

/** The one name that people see, and the id beside it: as a budget lists the project now, else as one listed it last. */
export function shownProject(definitions: Pick<Definitions, 'budgets'>, requested: RequestedProject) {
  const { project, listed } = requested
  const last = { name: nameWhenRequested(requested), id: listed?.id }
  const names = [project, last.id ?? last.name]
  return names.flatMap((name) => listingsOf(definitions, name))[0]?.project ?? last
}

export const projectName = (definitions: Pick<Definitions, 'budgets'>, requested: RequestedProject): string =>
  shownProject(definitions, requested).name

/** For a record that is written now. */
export function listedNow(
  definitions: Pick<Definitions, 'budgets'>,
  project: string,
): Pick<RequestedProject, 'listed'> {
  const listing = listingsOf(definitions, project)[0]?.project
  if (!listing || (listing.name === project && listing.id === undefined)) return {}
  const { name, id } = listing
  return { listed: { ...(name !== project && { name }), ...(id !== undefined && { id }) } }
}

export const ownerOf = (definitions: Definitions, project: string): Budget | undefined =>
  listingsOf(definitions, project)[0]?.budget

/** `null`: a budget lists the project. */
export const unownedRuleOf = (definitions: Definitions, project: string): Unowned | null =>
  listingsOf(definitions, project).length > 0 ? null : (budgetNamed(definitions, rootBudget)?.unowned ?? 'pay')

const listed = new WeakMap<object, ReadonlyMap<string, readonly Listing[]>>()

/** Cached, because thousands of projects may be listed. */
function listingsIn({ budgets }: Pick<Definitions, 'budgets'>): ReadonlyMap<string, readonly Listing[]> {
  const known = listed.get(budgets)
  if (known) return known
  const listings = new Map<string, Listing[]>()
  for (const budget of Object.values(budgets)) {
    for (const project of budget.projects) {
      for (const key of new Set([folded(project.name), folded(project.id ?? project.name)])) {
        listings.set(key, [...(listings.get(key) ?? []), { budget, project }])
      }
    }
  }
  listed.set(budgets, listings)
  return listings
}

/**
 * One form for all spellings that the service may read as one project. If two projects share a form, the guard refuses
 * an update at worst. If one project had two forms, it could be paid twice.
 */
export function folded(name: string): string {
  if (/^[!-@[-~]+$/.test(name)) return name // most names
  const visible = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')
  // Makes ß the same as ss, and the two forms of sigma the same.
  const lower = visible.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC')
  return lower.replace(/\s+/g, ' ').trim()
}

/** The account's settings when the ledger began. */
const storedAccount = record({ unitsPerMonth: units, usedAtStart: units, renewal: storedRenewal })
export type Account = Of<typeof storedAccount>

export const storedIdentity = record({
  ledger: text,
  /** `sandbox`, or a normalised address. `null`: not known when the ledger began. */
  service: orNull(text),
  began: storedAccount,
  /** The table's id. A copy of the table still has the id of the original here. */
  table: optional(text),
  /** Raised by each restore. Absent: 0. */
  epoch: optional(whole),
  restored: optional(record({ at: instant, to: optional(instant) })),
  replacedBy: optional(text),
})
export type Identity = Of<typeof storedIdentity>
