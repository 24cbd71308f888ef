import { bookAsOf } from '../../ledger/book/book.ts'
import type { ChangeOutcome, MakeChange } from '../../ledger/book/changes.ts'
import type { Fault } from '../../ledger/book/name-faults.ts'
import { releasedBy } from '../../ledger/book/releases.ts'
import type { View } from '../../ledger/book/view.ts'
import {
  type Budget,
  budgetNamed,
  type Definitions,
  folded,
  rootBudget,
  type Stop,
} from '../../ledger/definitions/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { defaultFlightMs } from '../../ledger/updates/shown.ts'
import type { Problem } from '../../ledger/updates/update.ts'
import type { Tracking } from '../../tracking/tracking.ts'
import type { GuardOptions } from '../options.ts'
import type { Plan } from '../plans-file.ts'
import { noBudget, problem, type Refused, refused } from '../problems.ts'
import { unownedPayer } from '../rules/projects.ts'
import { list, shownCaller, when, zoneOf } from '../sentences.ts'
import { hasHolds, heldProblem, whyNotDeleted } from './held-budget.ts'
import { checkIds, type IdLists, idListsFor } from './listed-ids.ts'
import { moveNotes, moveRows, movesBetween } from './moves.ts'
import { notReconciled } from './reconciled.ts'

export type BudgetRequest = Omit<Budget, 'frozen' | 'enforce'> & Enforcement

/** Stored only if `false`. */
export interface Enforcement {
  readonly enforce?: boolean
}

export const toBudget = <Of extends Enforcement>({ enforce, ...rest }: Of) => ({
  ...rest,
  ...(enforce === false && ({ enforce } as const)),
})

export const rootIsEnforced = `${rootBudget} always enforces its limits; observe budgets below it`

/** `notes` are sentences about ids. */
export type ChangeResult =
  | { readonly kind: 'changed'; readonly created: boolean; readonly notes?: readonly string[] }
  | Refused

export type Preview =
  | { readonly kind: 'possible'; readonly before: View; readonly after: View; readonly notes: readonly string[] }
  | Refused

/** `null`: there is nothing to change. */
type Made =
  | (Exclude<ReturnType<MakeChange>, { refused: unknown }> & Partial<Omit<ChangeResult & { kind: 'changed' }, 'kind'>>)
  | Problem
  | null

export interface Author {
  readonly caller: string
  readonly reason?: string
  /** The revisions that `If-Match` accepts. `any`: the target must exist. */
  readonly onlyAt?: readonly number[] | 'any'
  /** Projects may lose their owner. */
  readonly release?: boolean
  /** Projects of other budgets may move here. `from`: only projects of this owner, as a preview showed. */
  readonly move?: true | { readonly from: string }
  /** Ids of projects may differ from those that the service lists. */
  readonly asWritten?: boolean
}

export interface LiftRequest extends Author {
  readonly reason: string
  /** A freeze or pause that began after this time stays. */
  readonly askedAt?: number
}

interface BudgetsParts {
  readonly ledger: Ledger
  readonly options?: Pick<GuardOptions, 'serviceFlightMs'>
  readonly plans?: () => Promise<readonly Plan[]>
  readonly tracking?: Pick<Tracking, 'projects'>
}

/** Each change is one revision and applies at once, also to updates without a hold. */
export function createBudgets({
  ledger,
  plans = async () => [],
  options = { serviceFlightMs: defaultFlightMs },
  tracking = { projects: async () => null },
}: BudgetsParts) {
  const idLists = async (wanted: BudgetRequest, by: Author): Promise<IdLists> =>
    wanted.projects.length === 0
      ? { lists: null }
      : idListsFor({ ledger, tracking }, (view) => budgetChange(view, wanted, by))

  async function putBudget(wanted: BudgetRequest, by: Author): Promise<ChangeResult> {
    const ids = await idLists(wanted, by)
    return changeAs(ledger, by, (view) => budgetChange(view, wanted, by, ids))
  }

  async function previewBudget(wanted: BudgetRequest, by: Author): Promise<Preview> {
    const ids = await idLists(wanted, by)
    const before = await ledger.view()
    const made = budgetChange(before, wanted, by, ids)
    const preview = await previewOf(ledger, before, made)
    if (preview.kind === 'problem') return preview
    const notes = 'notes' in made ? made.notes : []
    return { ...preview, notes: [...moveNotes(preview, await plans()), ...notes] }
  }

  const deleteBudget = (name: string, by: Author): Promise<ChangeResult> => deleteIn(ledger, name, by)

  const freeze = (name: string, by: Author & { reason: string }): Promise<ChangeResult> =>
    changeAs(ledger, by, ({ definitions, now }) => {
      const budget = budgetNamed(definitions, name)
      if (!budget) return noBudget(name)
      const stale = staleness(definitions, by)
      // A second freeze keeps the first reason.
      if (stale || budget.frozen) return stale
      const frozen = { reason: by.reason, by: by.caller, at: now }
      const note = { type: 'freeze', budget: name, reason: by.reason } as const
      return { definitions: withBudget(definitions, { ...budget, frozen }), note }
    })

  async function unfreeze(name: string, by: LiftRequest): Promise<ChangeResult> {
    const early = await notReconciled(ledger, await ledger.view(), { budget: name, flightMs: options.serviceFlightMs })
    if (early) return refused(early)
    return changeAs(ledger, by, (view) => {
      const { definitions } = view
      const budget = budgetNamed(definitions, name)
      if (!budget) return noBudget(name)
      const { frozen, ...rest } = budget
      const refusal =
        staleness(definitions, by) ?? (frozen ? laterStop(frozen, view, by, `The budget ${name} was frozen`) : null)
      if (refusal || !frozen) return refusal
      const note = { type: 'unfreeze', budget: name, reason: by.reason } as const
      return { definitions: withBudget(definitions, rest), note }
    })
  }

  return { putBudget, previewBudget, deleteBudget, freeze, unfreeze }
}

export async function previewOf(
  ledger: Ledger,
  before: View,
  made: { readonly definitions: Omit<Definitions, 'revision'> } | Problem,
): Promise<Preview> {
  if ('slug' in made) return refused(made)
  const definitions = { ...made.definitions, revision: before.definitions.revision + 1 }
  const faults = await ledger.faultsOfChange(before, definitions)
  if (faults.length > 0) return refused(toProblem(faults))
  const book = bookAsOf(before.book, definitions, before.month.name, before.day.name)
  return { kind: 'possible', before, after: { ...before, definitions, book }, notes: [] }
}

/** @param ids absent: the ids are not checked yet. */
function budgetChange({ definitions }: Pick<View, 'definitions'>, wanted: BudgetRequest, by: Author, ids?: IdLists) {
  const old = budgetNamed(definitions, wanted.name)
  const stale = staleness(definitions, by, old ? null : `budget ${wanted.name}`)
  if (stale) return stale
  if ((wanted.name === rootBudget) !== (wanted.parent === null)) return wrongParent(wanted)
  if (wanted.name === rootBudget && wanted.enforce === false)
    return toProblem([{ path: 'enforce', message: rootIsEnforced }])
  const month = wanted.limits.find(({ window }) => window === 'month')
  const note = {
    type: old ? 'limit' : 'budget-created',
    budget: wanted.name,
    units: month?.units === 'unlimited' ? 0 : (month?.units ?? 0),
    reason: by.reason ?? 'no reason given',
  } as const
  const kept = { ...(old?.frozen && { frozen: old.frozen }), ...(old?.unowned && { unowned: old.unowned }) }
  const put = withBudget(definitions, { ...kept, ...toBudget(wanted) })
  const moved = moveRows(definitions, put.budgets, new Map([[wanted.name, wanted.projects]]), {
    mayMove: by.move !== undefined,
    pathOf: () => 'projects',
  })
  if (moved.faults.length > 0) return toProblem(moved.faults)
  const changed = { ...put, budgets: moved.budgets }
  const refusal = whyNotMoved(definitions, changed, wanted.name, by) ?? whyNotReleased(definitions, changed, by)
  if (refusal) return refusal
  const rows = wanted.projects.map(({ name }) => folded(name))
  const pathOf = (_budget: string, name: string) => `projects.${rows.indexOf(folded(name))}.id`
  const checked = ids ? checkIds(definitions, changed, { ...ids, asWritten: by.asWritten, pathOf }) : { notes: [] }
  return 'slug' in checked ? checked : { definitions: changed, note, created: !old, notes: checked.notes }
}

const withBudget = (definitions: Definitions, budget: Budget): Definitions => ({
  ...definitions,
  budgets: { ...definitions.budgets, [budget.name]: budget },
})

/** @param absent the name of the target, if the target is missing. */
export function staleness({ revision }: Definitions, { onlyAt }: Author, absent: string | null = null): Problem | null {
  if (onlyAt === undefined || (onlyAt === 'any' ? absent === null : onlyAt.includes(revision))) return null
  const why = onlyAt === 'any' ? `There is no ${absent}` : `The definitions are at revision ${revision}`
  return problem('precondition-failed', `${why}, which is not what If-Match asks for; read them again.`, { revision })
}

/** Refuses if the preview showed another owner. */
function whyNotMoved(before: Definitions, after: Definitions, to: string, { move }: Author): Problem | null {
  if (move === undefined || move === true) return null
  const sizeIn = (definitions: Definitions) => budgetNamed(definitions, to)?.projects.length ?? 0
  const [moves, added] = [movesBetween(before, after), sizeIn(after) - sizeIn(before)]
  if (moves.length === added && added > 0 && moves.every(({ from }) => from === move.from)) return null
  const who = added > 1 ? 'Not all of these projects belong' : 'The project does not belong'
  const detail = `${who} to ${move.from} any more, so nothing was moved; look at it again.`
  return problem('precondition-failed', detail, { revision: before.revision })
}

/** Refuses to take a project out of all lists, because the limits of its owner would no longer apply. */
export function whyNotReleased(
  before: Definitions,
  after: Pick<Definitions, 'budgets'>,
  { release = false }: Author,
): Problem | null {
  if (release) return null
  const released = releasedBy(before, after)
  if (released.length === 0) return null
  const texts = released.map(({ text }) => text)
  const names = list(
    released.map(({ project: { name }, text }) => (text === name ? name : `${text} (the id of ${name})`)),
  )
  const them = released.length === 1 ? 'it' : 'them'
  const from = list([...new Set(released.map(({ budget }) => budget.name))])
  const detail = `This takes ${names} out of ${from}, and no budget would list ${them}: from then on ${unownedPayer(after, texts)}. Move ${them} to another budget instead (PUT of that budget with move=true; in a file: apply --move), or add release=true (in a file: --release) if you want that.`
  return problem('wrong-state', detail, { projects: texts })
}

export function laterStop({ at, by, reason }: Stop, view: View, { askedAt = at }: LiftRequest, what: string) {
  if (at <= askedAt) return null
  const detail = `${what} by ${shownCaller(view.definitions, by)} on ${when(at, zoneOf(view))}, after this was asked for, so it was not lifted: ${reason}.`
  return problem('wrong-state', detail)
}

function wrongParent({ name }: BudgetRequest): Problem {
  const message =
    name === rootBudget ? `${rootBudget} is the root and has no parent.` : 'Every budget but the root has a parent.'
  return problem('invalid-request', message, { errors: [{ path: 'parent', message }] })
}

async function deleteIn(ledger: Ledger, name: string, by: Author): Promise<ChangeResult> {
  let held: View | null = null
  const result = await changeAs(ledger, by, (view) => {
    const { [name]: _gone, ...budgets } = view.definitions.budgets
    const stale = staleness(view.definitions, by, budgetNamed(view.definitions, name) ? null : `budget ${name}`)
    const refusal = stale ?? whyNotDeleted(view, name)
    held = refusal === null && hasHolds(view, name) ? view : null
    if (held) return null
    const why = refusal ?? whyNotReleased(view.definitions, { budgets }, by)
    if (why) return why
    const note = { type: 'budget-deleted', budget: name, reason: by.reason ?? 'no reason given' } as const
    return { definitions: { ...view.definitions, budgets }, note, idle: name }
  })
  return held ? refused(await heldProblem(ledger, held, name)) : result
}

/** @param make may run more than once. */
export async function changeAs(
  ledger: Pick<Ledger, 'change'>,
  { caller }: Author,
  make: (view: View) => Made,
): Promise<ChangeResult> {
  let created = false
  let notes: readonly string[] = []
  const outcome = await ledger.change(caller, (view) => {
    const made = make(view)
    if (made === null || 'slug' in made) return { refused: made }
    created = made.created ?? false
    notes = made.notes ?? []
    return made
  })
  const changed = { kind: 'changed', created: outcome.kind === 'changed' && created } as const
  return refusalOf(outcome) ?? (notes.length > 0 ? { ...changed, notes } : changed)
}

export function refusalOf(outcome: ChangeOutcome): Refused | null {
  if (outcome.kind === 'faulty') return refused(toProblem(outcome.faults))
  return outcome.kind === 'changed' || outcome.refused === null ? null : refused(outcome.refused as Problem)
}

export function toProblem(faults: readonly Fault[]): Problem {
  const detail = [...new Set(faults.map(({ message }) => message))].join('; ')
  const [first] = faults
  // The change will be possible as soon as the update has ended.
  if (first?.update !== undefined) return problem('wrong-state', `${detail}.`, { update: first.update })
  return problem('invalid-request', `${detail}.`, { errors: faults.map(({ path, message }) => ({ path, message })) })
}
