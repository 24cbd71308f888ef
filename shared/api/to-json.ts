import { isDeepStrictEqual } from 'node:util'
import type { AnsweredDoubts } from '../guard/inbox/answered-doubts.ts'
import { describe } from '../guard/problem-types.ts'
import { differenceToVendor, type Figures, figuresOf } from '../guard/sentences.ts'
import type { BudgetExtra, NextStop } from '../guard/shown-budget.ts'
import type { Answer } from '../guard/update/answer.ts'
import type { Estimate } from '../guard/update/estimate.ts'
import { checksInWords, isShown } from '../guard/update/explain.ts'
import type { Entry } from '../ledger/book/entry.ts'
import type { Reconciliation } from '../ledger/book/figure.ts'
import type { View } from '../ledger/book/view.ts'
import { asNumber, type Counter } from '../ledger/definitions/counters.ts'
import {
  type Budget,
  childrenOf,
  type Definitions,
  limitOf,
  rootBudget,
  unseenBudget,
  type WindowKind,
  windowKinds,
} from '../ledger/definitions/definitions.ts'
import { deliveryOf } from '../ledger/updates/delivery.ts'
import { type Grant, isTerminal, type Problem, type Tags, tagEntries, type Update } from '../ledger/updates/update.ts'
import type { AuditedCounter } from '../ledger/views/audit.ts'
import type { ProjectChange } from '../ledger/views/project-changes.ts'
import { toRfc3339 } from '../platform/clock.ts'
import type { Kind } from '../tracking/kinds.ts'
import { defined, type Shown } from './shown.ts'

/** Times are RFC 3339 in UTC. Unknown figures are `null`, never 0. */

/** RFC 9457, section 3. */
export function showProblem({ slug, detail, members }: Problem): Shown<'Problem'> {
  const { status, title } = describe(slug)
  return { type: `/problems/${slug}`, title, status, detail, ...members }
}

const showNotRecorded = (row: Answer['notRecorded'][number]): Shown<'NotRecorded'> => ({
  project: row.project,
  problem: showProblem(row.problem),
})

type ShownAnswer = Pick<Answer, 'updates' | 'notRecorded' | 'problem'>

export const showAnswer = ({ updates, notRecorded, problem }: ShownAnswer): Shown<'Updates'> =>
  defined({
    updates: updates.map((update) => (problem ? showBeside(problem, update) : showUpdate(update))),
    notRecorded: ifAny(notRecorded.map(showNotRecorded)),
  })

const ifAny = <Row>(rows: readonly Row[]): readonly Row[] | undefined => (rows.length > 0 ? rows : undefined)

/** `null`: a budget that the reader does not see. */
export const seenName = (budget: string = unseenBudget): string | null => (budget === unseenBudget ? null : budget)

export const showTags = (tags: Tags | undefined): Tags | undefined => {
  const entries = ifAny(tagEntries(tags))
  return entries && Object.fromEntries(entries)
}

type MaybeTime = number | null | undefined

export const timeOrNull = (at: MaybeTime): string | null => (at == null ? null : toRfc3339(at))

/** For a member that is absent without a time. */
export const timeIfAny = (at: MaybeTime): string | undefined => timeOrNull(at) ?? undefined

/** @param now by default the time of its last change, as events and replays show it. */
export function showUpdate(update: Update, now = update.history.at(-1)?.at ?? update.createdAt): Shown<'Update'> {
  const { id, version, kind, project, caller, via, plan, reason, force, maxUnits, query, state, overrun } = update
  const { approval, problem, service } = update
  return defined({
    id,
    version,
    kind,
    project,
    budget: seenName(update.budget),
    caller,
    via,
    plan,
    reason,
    force,
    maxUnits,
    query,
    tags: showTags(update.tags),
    state,
    window: update.month,
    units: {
      estimated: update.estimated ?? null,
      held: update.hold?.units ?? 0,
      charged: update.charged ?? (isTerminal(state) ? 0 : null),
    },
    overrun,
    wouldHaveRefused: showLacked(update.wouldHaveRefused),
    delivery: deliveryOf(update, now) ?? undefined,
    createdAt: toRfc3339(update.createdAt),
    finishedAt: timeIfAny(update.finishedAt),
    approvedBy: approval?.by,
    approvedUpTo: approval?.units,
    problem: problem && showProblem(problem),
    service:
      service && defined({ status: service.status, body: service.body, truncated: service.truncated || undefined }),
    history: update.history.map(({ state, at, by, note }) => defined({ state, at: toRfc3339(at), by, note })),
  })
}

/** Leaves out the problem and the notes that repeat the problem of the answer. */
function showBeside(answered: Problem, update: Update): Shown<'Update'> {
  const { problem, history, ...shown } = showUpdate(update)
  const isSame = update.state === 'refused' && isDeepStrictEqual(update.problem, answered)
  return defined({
    ...shown,
    problem: isSame ? undefined : problem,
    history: history.map(({ note, ...line }) => (note && note !== problem?.detail ? { ...line, note } : line)),
  })
}

const showLacked = (lacked: readonly Grant[] = []) =>
  ifAny(lacked.map(({ budget, window, units }) => ({ budget, window, short: units })))

/** @param outlook of the open month. */
export function showBudget(
  view: View,
  budget: Budget,
  kindNames: readonly Kind[],
  outlook?: BudgetExtra,
): Shown<'Budget'> {
  const { name, parent, kinds, frozen, approvers, freezeOnOverrun, unowned, ...others } = budget
  const isOpen = view.month.start <= view.now && view.now < view.month.end
  const windows = windowKinds.filter(
    (window) => window === 'month' || (isOpen && limitOf(budget, window) !== 'unlimited'),
  )
  return defined({
    name,
    parent,
    ...others,
    kinds: kinds ?? kindNames,
    frozen: frozen ? { ...frozen, at: toRfc3339(frozen.at) } : false,
    approvers: approvers ?? [],
    freezeOnOverrun: freezeOnOverrun || undefined,
    unowned: name === rootBudget ? (unowned ?? 'pay') : unowned,
    status: outlook?.status,
    reason: outlook?.sentence ?? undefined,
    next: showNextStop(outlook?.next ?? undefined),
    windows: windows.map((window) =>
      defined({
        ...showFigures(figuresOf(view, budget, window)),
        childrenLimit: childrenLimitOf(view, budget, window),
      }),
    ),
  })
}

export function showNextStop(next: NextStop | undefined): Shown<'Budget'>['next'] {
  if (!next) return undefined
  const { lastRefused, ...shown } = next
  return { ...shown, lastRefusedAt: timeOrNull(lastRefused?.at) }
}

type ShownWindow = Shown<'Budget'>['windows'][number]

/** The children's sum may exceed the limit, because every hold checks all ancestors. */
function childrenLimitOf({ definitions }: View, { name }: Budget, window: WindowKind): ShownWindow['childrenLimit'] {
  const limits = childrenOf(definitions, name).map((child) => limitOf(child, window))
  if (limits.length === 0) return undefined
  if (limits.includes('unlimited')) return 'unlimited'
  return limits.reduce<number>((total, limit) => total + asNumber(limit), 0)
}

export function showFigures(figures: Figures) {
  const { window, start, end } = figures
  return { window, start: toRfc3339(start), end: toRfc3339(end), resetsAt: toRfc3339(end), ...showCounter(figures) }
}

export const showEstimate = (estimate: Estimate): Shown<'Estimate'> =>
  defined({
    kind: estimate.kind,
    units: estimate.units,
    projects: estimate.projects.map(({ project, units, problem, checks }) =>
      defined({
        project,
        units,
        problem: problem && showProblem(problem),
        checks: checks && checksInWords(checks),
      }),
    ),
    allowed: estimate.allowed,
    problem: estimate.problem ? showProblem(estimate.problem) : undefined,
    approval: estimate.approval ?? undefined,
    wouldHaveRefused: showLacked(estimate.wouldHaveRefused),
    budgets: estimate.figures.filter(isShown).map((each) => ({ budget: each.budget, ...showFigures(each) })),
  })

/** @param preview before a reconciliation is booked. */
export function showEntry(entry: Entry, preview?: Reconciliation): Shown<'Entry'> {
  const { id, type, units, to, corrects, month, day, reason, by, moves, binds, changed } = entry
  return defined({
    id,
    type,
    budget: seenName(entry.budget),
    units,
    to,
    corrects,
    window: moves.length > 0 && moves.every((move) => move.window === 'day') ? day : month,
    budgets: [...new Set(moves.map((move) => move.budget))],
    reason,
    by,
    at: toRfc3339(entry.at),
    asOf: timeIfAny(entry.asOf),
    preview: preview && showReconciliation(preview),
    binds,
    changed,
  })
}

function showReconciliation(parts: Reconciliation): Shown<'Entry'>['preview'] & object {
  const { unitsLeft, available, since, held, inDoubt, difference, expected, after, open, doubts, young, before } = parts
  return defined({
    asOf: timeOrNull(parts.asOf),
    unitsLeft,
    available,
    since,
    held,
    inDoubt,
    expected,
    difference,
    after,
    sentence: differenceToVendor(parts),
    open,
    doubts,
    young: young.ids,
    again: timeIfAny(young.until),
    monthBefore: { held: before.held, inDoubt: before.inDoubt, open: before.ids },
  })
}

export const showAudit = (rows: readonly AuditedCounter[], identity?: Definitions['identity']): Shown<'Audit'> =>
  defined({
    ok: areOk(rows),
    books: rows.map(({ window, budget, recorded, recomputed }) => ({
      window,
      budget,
      recorded: showCounter(recorded),
      recomputed: showCounter(recomputed),
    })),
    restored: showRestored(identity),
  })

/** A restored ledger lacks runs after the time `to`. An operator must book those runs from the log. */
export function showRestored(identity: Definitions['identity']): Shown<'Status'>['restored'] {
  const { at, to } = identity?.restored ?? {}
  return at === undefined ? undefined : defined({ at: toRfc3339(at), to: timeIfAny(to) })
}

function areOk(rows: readonly AuditedCounter[]): boolean | null {
  if (rows.some(({ ok }) => ok === false)) return false
  return rows.some(({ ok }) => ok === null) ? null : true
}

const showCounter = ({ limit, granted, available, held, inDoubt, spent }: Counter) => ({
  limit,
  granted,
  available: limit === 'unlimited' ? null : available,
  held,
  inDoubt,
  spent,
})

type ShownChange = Shown<'ChangeList'>['changes'][number]

export const showProjectChange = ({ at, status, ...change }: ProjectChange): ShownChange => ({
  id: change.id,
  operation: change.operation,
  project: change.project,
  caller: change.caller,
  at: toRfc3339(at),
  added: change.added,
  removed: change.removed,
  serviceStatus: status,
})

type ShownProposals = Extract<Shown<'Resolved'>, { readonly leftOut: object }>

export const showAnsweredDoubts = ({ proposals, leftOut, note }: AnsweredDoubts): ShownProposals =>
  defined({
    updates: proposals.map(({ update: { id, project }, outcome, units, because, retryAt }) =>
      defined({ id, project, outcome, units, because, retryAt: timeIfAny(retryAt) }),
    ),
    leftOut,
    note,
  })
