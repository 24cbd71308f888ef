import type { Scope, Units } from '../../platform/words.ts'
import type { Kind } from '../../tracking/kinds.ts'
import type { Calendar, Renewal } from './windows.ts'

/** What is allowed: one item, changed as a whole, each change a revision. */
export interface Definitions {
  readonly revision: number
  readonly createdAt: number
  /** Absent: the ledger was written by a version that did not note it, and was not adopted yet. */
  readonly identity?: Identity
  readonly calendar: Calendar
  readonly budgets: Readonly<Record<string, Budget>>
  /** By the name that they ask under. A caller with a token who is not listed may do what the token says. */
  readonly callers?: Readonly<Record<string, Caller>>
  /** By the name of the plan. */
  readonly pausedPlans?: Readonly<Record<string, Stop>>
}

/** What a caller may do at most. An absent member does not narrow a token, and allows nothing to a person in Slack. */
export interface Caller {
  readonly scopes?: readonly Scope[]
  /** The budgets that they may charge, descendants included. */
  readonly budgets?: '*' | readonly string[]
  /** Several callers may be one person, who does not agree with themselves. */
  readonly person?: string
  readonly disabled?: true
  readonly mayForce?: true
  /** May charge an ancestor of the budget that owns a project, as `admin` may. */
  readonly mayChargeAncestors?: true
  /** Counted like a budget's, whatever budget is charged. */
  readonly limits?: readonly WindowLimit[]
  /** More units than this for one update are refused. */
  readonly perUpdate?: Units
  /** More requests than this in a minute are refused by each process. */
  readonly ratePerMinute?: number
}

export interface Budget {
  readonly name: string
  /** `null` for the root alone. */
  readonly parent: string | null
  /** A window that is not named here is counted, but not limited. */
  readonly limits: readonly WindowLimit[]
  readonly projects: readonly OwnedProject[]
  /** More units than this for one update are refused. */
  readonly perUpdate?: Units
  /** More units than this for one update need another person's approval. */
  readonly approvalAbove?: Units
  /** An estimate grown by more than this many per cent against the project's last update needs approval. */
  readonly approvalIfGrown?: number
  /** How long an approval may be given, such as `4h`; absent: as the parent says, at the root a day. */
  readonly approvalExpiresAfter?: string
  /** Absent: both. */
  readonly kinds?: readonly Kind[]
  readonly frozen?: Stop
  readonly approvers?: readonly string[]
  readonly thresholds?: readonly number[]
  readonly freezeOnOverrun?: boolean
}

/** Who has stopped something, and why. */
export interface Stop {
  readonly reason: string
  readonly by: string
  readonly at: number
}

export interface OwnedProject {
  readonly name: string
  /** The identifier that keyword-difficulty paths use for the same project. */
  readonly id?: string
}

export const windowKinds = ['month', 'day'] as const

export type WindowKind = (typeof windowKinds)[number]

export type Limit = Units | 'unlimited'

export interface WindowLimit {
  readonly window: WindowKind
  readonly units: Limit
}

export const rootBudget = 'account'

export const maxDepth = 8

/** Whatever has counters in the book: every budget, and every caller with limits of their own. */
export interface CounterOwner {
  readonly name: string
  readonly limits: readonly WindowLimit[]
}

/** The counter of a caller. No budget can be called so. */
const callerCounter = (caller: string): string => `caller:${caller}`

/** The caller whose counter it is; `null`: it is a budget's. */
export const callerOfCounter = (name: string): string | null =>
  name.startsWith('caller:') ? name.slice('caller:'.length) : null

export const counterOwnersIn = (definitions: Definitions): readonly CounterOwner[] => [
  ...Object.values(definitions.budgets),
  ...Object.keys(definitions.callers ?? {}).flatMap((caller) => limitsOfCaller(definitions, caller)),
]

/** What counts for a caller besides the budgets: nothing, or one counter. */
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

/** The budget and its ancestors, the root last: everything that an update of this budget is charged to. */
export function chainOf(definitions: Definitions, name: string): readonly Budget[] {
  const chain: Budget[] = []
  for (let next: string | null = name; next !== null; ) {
    const budget: Budget | undefined = budgetNamed(definitions, next)
    // A parent that is missing, or a circle, would leave part of the chain uncounted: better no update than that.
    if (!budget || chain.length === maxDepth) throw new Error(`the chain of budget ${name} is broken at ${next}`)
    chain.push(budget)
    next = budget.parent
  }
  return chain
}

/** The nearest budget above this one that is frozen, and this one with it; none above what there is not any more. */
export function frozenAbove(definitions: Definitions, name: string): string | null {
  const above = budgetNamed(definitions, name) ? chainOf(definitions, name).slice(1) : []
  return above.find(({ frozen }) => frozen !== undefined)?.name ?? null
}

/** Own members only, so that `constructor` or `__proto__` names no budget. */
export const budgetNamed = (definitions: Definitions, name: string): Budget | undefined =>
  Object.hasOwn(definitions.budgets, name) ? definitions.budgets[name] : undefined

export const callerNamed = ({ callers = {} }: Definitions, name: string): Caller | undefined =>
  Object.hasOwn(callers, name) ? callers[name] : undefined

/** The caller and the persons that it stands for, the person behind all of them last. */
export function namesOf(definitions: Definitions, caller: string): readonly string[] {
  const names: string[] = []
  for (let next: string | undefined = caller; next !== undefined; next = callerNamed(definitions, next)?.person) {
    if (next === names.at(-1)) break
    const first = names.indexOf(next)
    // A circle is refused when it is written. One that was stored before is one person, whichever name begins it.
    if (first >= 0) return [...names, names.slice(first).toSorted()[0] ?? next]
    names.push(next)
  }
  return names
}

export const personOf = (definitions: Definitions, caller: string): string =>
  namesOf(definitions, caller).at(-1) ?? caller

export const pauseOf = ({ pausedPlans = {} }: Definitions, plan: string): Stop | undefined =>
  Object.hasOwn(pausedPlans, plan) ? pausedPlans[plan] : undefined

export const childrenOf = (definitions: Definitions, name: string): readonly Budget[] =>
  Object.values(definitions.budgets).filter((budget) => budget.parent === name)

/** A project as a budget lists it. */
export interface Listing {
  readonly budget: Budget
  readonly project: OwnedProject
}

/** How budgets list a project, found by any spelling of its name or of its id: at most once, or `doctor` says so. */
export const listingsOf = (definitions: Definitions, project: string): readonly Listing[] =>
  listingsIn(definitions).get(folded(project)) ?? []

/** The budget that owns a project, by any spelling of its name or of its id. */
export const ownerOf = (definitions: Definitions, project: string): Budget | undefined =>
  listingsOf(definitions, project)[0]?.budget

const listed = new WeakMap<object, ReadonlyMap<string, readonly Listing[]>>()

/** By folded name and id, made once for each reading of the definitions: thousands of projects may be listed. */
function listingsIn({ budgets }: Definitions): ReadonlyMap<string, readonly Listing[]> {
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
 * The one form that stands for every spelling that a service may read as the same project: Unicode form (NFKC), case,
 * invisible characters, and blanks do not tell two projects apart. Two that look too much alike count as one, which
 * refuses an update at worst; taking one for two would pay for it twice.
 */
export function folded(name: string): string {
  if (/^[!-@[-~]+$/.test(name)) return name // plain ASCII without capitals and blanks: most names
  const visible = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')
  // Through upper case and back, which makes one of ß and ss, and of the two forms of sigma.
  const lower = visible.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC')
  return lower.replace(/\s+/g, ' ').trim()
}

/** What the root budget begins with in a new ledger, and when its month turns. */
export interface Account {
  readonly unitsPerMonth: Units
  readonly usedAtStart: Units
  readonly renewal: Renewal
}

/** What a ledger is the ledger of. It is stored in the definitions, which every decision reads. */
export interface Identity {
  readonly ledger: string
  /** `sandbox`, or the normalised address of the service; `null`: the process that began the ledger did not know it. */
  readonly service: string | null
  /** The account settings that the ledger began with, or was adopted with. */
  readonly began: Account
  /** The table that it was begun in, adopted in or restored to. A copy says so of another table. */
  readonly table?: string
  /** Raised with each restore; absent: 0. */
  readonly epoch?: number
  /** When a restored table was accepted, and the time that it was restored to, where that was said. */
  readonly restored?: { readonly at: number; readonly to?: number }
  /** Another table has taken over, which only an operator changes. */
  readonly replacedBy?: string
}
