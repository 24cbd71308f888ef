import { bookAsOf, counterOf } from '../ledger/book.ts'
import type { ChangeOutcome, MakeChange } from '../ledger/changes.ts'
import { type Budget, budgetNamed, childrenOf, type Definitions, rootBudget, type Stop } from '../ledger/definitions.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Problem } from '../ledger/update.ts'
import type { View } from '../ledger/views.ts'
import { problem } from './problems.ts'
import { notReconciled } from './restored.ts'
import { list, when, zoneOf } from './sentences.ts'

/** A budget as somebody wants it; what is set by other means (frozen) stays as it is. */
export type BudgetRequest = Omit<Budget, 'frozen'>

export type Changed =
  | { readonly kind: 'changed'; readonly created: boolean }
  | { readonly kind: 'problem'; readonly problem: Problem }

/** One reading of the ledger, and what it would have shown had the change been made. */
export type Preview =
  | { readonly kind: 'possible'; readonly before: View; readonly after: View }
  | { readonly kind: 'problem'; readonly problem: Problem }

export interface By {
  readonly caller: string
  readonly reason?: string
  /** Only if the definitions still have one of these revisions; or, `any`, if there is such a thing. */
  readonly onlyAt?: readonly number[] | 'any'
}

/** Whoever lets something go on again. */
export interface Lifting extends By {
  readonly reason: string
  /** When they asked for it, if it may be done later, or again: a stop that is younger was not meant. */
  readonly askedAt?: number
}

/** Changes of the definitions, as one revision each, at once also for whoever has already decided. */
export function createBudgeting({ ledger }: { ledger: Ledger }) {
  async function putBudget(wanted: BudgetRequest, by: By): Promise<Changed> {
    let created = false
    const outcome = await ledger.change(by.caller, (view) => {
      created = !budgetNamed(view.definitions, wanted.name)
      return putting(view, wanted, by)
    })
    return toChanged(outcome, () => created)
  }

  /** What `putBudget` would make of the books, or say instead; nothing is written. */
  async function previewBudget(wanted: BudgetRequest, by: By): Promise<Preview> {
    const before = await ledger.view()
    return foretold(ledger, before, putting(before, wanted, by))
  }

  async function deleteBudget(name: string, by: By): Promise<Changed> {
    const change: MakeChange = (view) => {
      const absent = budgetNamed(view.definitions, name) ? null : `budget ${name}`
      const refused = staleness(view.definitions, by, absent) ?? undeletable(view, name)
      if (refused) return { refused }
      const { [name]: _gone, ...budgets } = view.definitions.budgets
      const note = { type: 'budget-deleted', budget: name, reason: by.reason ?? 'no reason given' } as const
      return { definitions: { ...view.definitions, budgets }, note, idle: name }
    }
    return toChanged(await ledger.change(by.caller, change))
  }

  async function freeze(name: string, by: By & { reason: string }): Promise<Changed> {
    const change: MakeChange = ({ definitions, now }) => {
      const budget = budgetNamed(definitions, name)
      if (!budget) return { refused: noBudget(name) }
      const stale = staleness(definitions, by)
      if (stale) return { refused: stale }
      // Who stopped it first, and why, is what matters.
      if (budget.frozen) return { refused: null }
      const frozen = { reason: by.reason, by: by.caller, at: now }
      const note = { type: 'freeze', budget: name, reason: by.reason } as const
      return { definitions: withBudget(definitions, { ...budget, frozen }), note }
    }
    return toChanged(await ledger.change(by.caller, change))
  }

  async function unfreeze(name: string, by: Lifting): Promise<Changed> {
    const early = await notReconciled(ledger, await ledger.view(), name)
    if (early) return toChanged({ kind: 'refused', refused: early })
    const change: MakeChange = (view) => {
      const { definitions } = view
      const budget = budgetNamed(definitions, name)
      if (!budget) return { refused: noBudget(name) }
      const stale = staleness(definitions, by)
      if (stale) return { refused: stale }
      const { frozen, ...rest } = budget
      if (!frozen) return { refused: null }
      const later = laterStop(frozen, view, by, `The budget ${name} was frozen`)
      if (later) return { refused: later }
      const note = { type: 'unfreeze', budget: name, reason: by.reason } as const
      return { definitions: withBudget(definitions, rest), note }
    }
    return toChanged(await ledger.change(by.caller, change))
  }

  return { putBudget, previewBudget, deleteBudget, freeze, unfreeze }
}

/** What the books would be with definitions as they are wanted. */
export async function foretold(
  ledger: Ledger,
  before: View,
  made: { readonly definitions: Omit<Definitions, 'revision'> } | { readonly refused: Problem },
): Promise<Preview> {
  if ('refused' in made) return { kind: 'problem', problem: made.refused }
  const definitions = { ...made.definitions, revision: before.definitions.revision + 1 }
  const faults = await ledger.faultsOfChange(before, definitions)
  if (faults.length > 0) return { kind: 'problem', problem: toProblem(faults) }
  const book = bookAsOf(before.book, definitions, before.month.name, before.day.name)
  return { kind: 'possible', before, after: { ...before, definitions, book } }
}

/** One budget as it is wanted, among the others as they are. */
function putting({ definitions }: View, wanted: BudgetRequest, by: By) {
  const old = budgetNamed(definitions, wanted.name)
  const stale = staleness(definitions, by, old ? null : `budget ${wanted.name}`)
  if (stale) return { refused: stale }
  if ((wanted.name === rootBudget) !== (wanted.parent === null)) return { refused: wrongParent(wanted) }
  const month = wanted.limits.find(({ window }) => window === 'month')
  const note = {
    type: old ? 'limit' : 'budget-created',
    budget: wanted.name,
    units: month?.units === 'unlimited' ? 0 : (month?.units ?? 0),
    reason: by.reason ?? 'no reason given',
  } as const
  return { definitions: withBudget(definitions, { ...wanted, ...(old?.frozen && { frozen: old.frozen }) }), note }
}

export const noBudget = (name: string): Problem => problem('not-found', `There is no budget ${name}.`)

const withBudget = (definitions: Definitions, budget: Budget): Definitions => ({
  ...definitions,
  budgets: { ...definitions.budgets, [budget.name]: budget },
})

/**
 * The answer to `If-Match` where the definitions are not what it asks for.
 *
 * @param absent what is to be changed, where there is no such thing.
 */
export function staleness({ revision }: Definitions, { onlyAt }: By, absent: string | null = null): Problem | null {
  if (onlyAt === undefined || (onlyAt === 'any' ? absent === null : onlyAt.includes(revision))) return null
  const why = onlyAt === 'any' ? `There is no ${absent}` : `The definitions are at revision ${revision}`
  return problem('precondition-failed', `${why}, which is not what If-Match asks for; read them again.`, { revision })
}

/** The answer to whoever would lift a stop that they cannot have known of. */
export function laterStop({ at, by, reason }: Stop, view: View, { askedAt = at }: Lifting, what: string) {
  if (at <= askedAt) return null
  const detail = `${what} by ${by} on ${when(at, zoneOf(view))}, after this was asked for, and stays so: ${reason}.`
  return problem('wrong-state', detail)
}

function wrongParent({ name }: BudgetRequest): Problem {
  const message =
    name === rootBudget ? `${rootBudget} is the root and has no parent.` : 'Every budget but the root has a parent.'
  return problem('invalid-request', message, { errors: [{ path: 'parent', message }] })
}

function undeletable({ definitions, book }: View, name: string): Problem | null {
  if (!budgetNamed(definitions, name)) return noBudget(name)
  const cannot = (why: string) => problem('wrong-state', `${name} cannot be deleted: ${why}.`, { budget: name })
  if (name === rootBudget) return cannot('it is the root of all budgets')
  const children = childrenOf(definitions, name)
  if (children.length > 0) return cannot(`it has the children ${list(children.map((child) => child.name))}`)
  const counter = counterOf(book, 'month', name)
  return counter && counter.held + counter.inDoubt > 0 ? cannot('units of it are held or in doubt') : null
}

/** @param created asked afterwards: what was wanted may have been decided more than once. */
export function toChanged(outcome: ChangeOutcome, created = () => false): Changed {
  switch (outcome.kind) {
    case 'changed':
      return { kind: 'changed', created: created() }
    case 'refused':
      return outcome.refused === null
        ? { kind: 'changed', created: false }
        : { kind: 'problem', problem: outcome.refused as Problem }
    case 'faulty':
      return { kind: 'problem', problem: toProblem(outcome.faults) }
  }
}

export function toProblem(faults: readonly { path: string; message: string }[]): Problem {
  const detail = faults.map(({ message }) => message).join('; ')
  return problem('invalid-request', `${detail}.`, { errors: faults })
}
