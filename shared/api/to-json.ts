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

/** Times are RFC 3339 in UTC. Unknown figures are `null`, never 0. */

/** RFC 9457, section 3. */
export function showProblem({ slug, detail, members }: Problem) {
  const { status, title } = describe(slug)
  return { type: `/problems/${slug}`, title, status, detail, ...members }
}

const showNotRecorded = (row: Answer['notRecorded'][number]) => ({
  project: row.project,
  problem: showProblem(row.problem),
})

type ShownAnswer = Pick<Answer, 'updates' | 'notRecorded' | 'problem'>

export const showAnswer = ({ updates, notRecorded, problem }: ShownAnswer) => ({
  updates: updates.map((update) => (problem ? showBeside(problem, update) : showUpdate(update))),
  ...(notRecorded.length > 0 && { notRecorded: notRecorded.map(showNotRecorded) }),
})

/** `null`: a budget that the reader does not see. */
export const seenName = (budget: string = unseenBudget): string | null => (budget === unseenBudget ? null : budget)

export const showTags = (tags: Tags | undefined) => {
  const entries = tagEntries(tags)
  return entries.length > 0 && { tags: Object.fromEntries(entries) }
}

/** @param now by default the time of its last change, as events and replays show it. */
export function showUpdate(update: Update, now = update.history.at(-1)?.at ?? update.createdAt) {
  const { id, kind, project, budget, caller, via, plan, reason, force, maxUnits, query, state, month } = update
  const { hold, overrun, wouldHaveRefused, finishedAt, approval, problem, service } = update
  const delivery = deliveryOf(update, now)
  return {
    id,
    version: update.version,
    kind,
    project,
    budget: seenName(budget),
    caller,
    via,
    ...(plan !== undefined && { plan }),
    ...(reason !== undefined && { reason }),
    ...(force && { force }),
    ...(maxUnits !== undefined && { maxUnits }),
    ...(query && { query }),
    ...showTags(update.tags),
    state,
    window: month,
    units: {
      estimated: update.estimated ?? null,
      held: hold?.units ?? 0,
      charged: update.charged ?? (isTerminal(state) ? 0 : null),
    },
    ...(overrun !== undefined && { overrun }),
    ...(wouldHaveRefused?.length && { wouldHaveRefused: showLacked(wouldHaveRefused) }),
    ...(delivery !== null && { delivery }),
    createdAt: toRfc3339(update.createdAt),
    ...(finishedAt !== undefined && { finishedAt: toRfc3339(finishedAt) }),
    ...(approval && { approvedBy: approval.by, approvedUpTo: approval.units }),
    ...(problem && { problem: showProblem(problem) }),
    ...(service && { service: showService(service) }),
    history: update.history.map(({ state, at, by, note }) => ({
      state,
      at: toRfc3339(at),
      by,
      ...(note !== undefined && { note }),
    })),
  }
}

/** Leaves out the problem and the notes that repeat the problem of the answer. */
function showBeside(answered: Problem, update: Update) {
  const { problem, history, ...shown } = showUpdate(update)
  const isSame = update.state === 'refused' && isDeepStrictEqual(update.problem, answered)
  return {
    ...shown,
    ...(problem && !isSame && { problem }),
    history: history.map(({ note, ...line }) => (note && note !== problem?.detail ? { ...line, note } : line)),
  }
}

const showLacked = (lacked: readonly Grant[]) =>
  lacked.map(({ budget, window, units }) => ({ budget, window, short: units }))

const showService = ({ status, body, truncated }: NonNullable<Update['service']>) => ({
  status,
  body,
  ...(truncated && { truncated }),
})

/** @param outlook of the open month. */
export function showBudget(view: View, budget: Budget, kindNames: readonly Kind[], outlook?: BudgetExtra) {
  const { name, parent, kinds, frozen, approvers, freezeOnOverrun, ...others } = budget
  const isOpen = view.month.start <= view.now && view.now < view.month.end
  const windows = windowKinds.filter(
    (window) => window === 'month' || (isOpen && limitOf(budget, window) !== 'unlimited'),
  )
  return {
    name,
    parent,
    ...others,
    kinds: kinds ?? kindNames,
    frozen: frozen ? { ...frozen, at: toRfc3339(frozen.at) } : false,
    approvers: approvers ?? [],
    ...(freezeOnOverrun && { freezeOnOverrun }),
    ...(name === rootBudget && { unowned: budget.unowned ?? 'pay' }),
    ...(outlook && { status: outlook.status }),
    ...(outlook?.sentence && { reason: outlook.sentence }),
    ...(outlook?.next && { next: showNextStop(outlook.next) }),
    windows: windows.map((window) => ({
      ...showFigures(figuresOf(view, budget, window)),
      ...showChildren(view, budget, window),
    })),
  }
}

export const showNextStop = ({ kind, budget, window, units, updates, price, lastRefused, sentence }: NextStop) => ({
  kind,
  budget,
  window,
  units,
  updates,
  price,
  lastRefusedAt: lastRefused && toRfc3339(lastRefused.at),
  sentence,
})

/** The children's sum may exceed the limit, because every hold checks all ancestors. */
function showChildren({ definitions }: View, { name }: Budget, window: WindowKind) {
  const limits = childrenOf(definitions, name).map((child) => limitOf(child, window))
  if (limits.length === 0) return {}
  const sum = limits.reduce<number>((total, limit) => total + asNumber(limit), 0)
  return { childrenLimit: limits.includes('unlimited') ? 'unlimited' : sum }
}

export function showFigures({ window, start, end, limit, granted, available, held, inDoubt, spent }: Figures) {
  const times = { start: toRfc3339(start), end: toRfc3339(end), resetsAt: toRfc3339(end) }
  const left = limit === 'unlimited' ? null : available
  return { window, ...times, limit, granted, available: left, held, inDoubt, spent }
}

export const showEstimate = ({
  kind,
  units,
  projects,
  allowed,
  problem,
  approval,
  wouldHaveRefused,
  figures,
}: Estimate) => ({
  kind,
  units,
  projects: projects.map(({ project, units, problem, checks }) => ({
    project,
    units,
    ...(problem && { problem: showProblem(problem) }),
    ...(checks && { checks: checksInWords(checks) }),
  })),
  allowed,
  ...(problem && { problem: showProblem(problem) }),
  ...(approval !== null && { approval }),
  ...(wouldHaveRefused.length > 0 && { wouldHaveRefused: showLacked(wouldHaveRefused) }),
  budgets: figures.filter(isShown).map((each) => ({ budget: each.budget, ...showFigures(each) })),
})

export function showEntry(entry: Entry) {
  const { id, type, budget, units, to, corrects, month, day, reason, by, at, moves, binds, changed, asOf } = entry
  return {
    id,
    type,
    budget: seenName(budget),
    units,
    ...(to !== undefined && { to }),
    ...(corrects !== undefined && { corrects }),
    window: moves.length > 0 && moves.every((move) => move.window === 'day') ? day : month,
    budgets: [...new Set(moves.map((move) => move.budget))],
    reason,
    by,
    at: toRfc3339(at),
    ...(asOf !== undefined && { asOf: toRfc3339(asOf) }),
    ...(binds && { binds }),
    ...(changed && { changed }),
  }
}

export function showReconciliation(parts: Reconciliation) {
  const { asOf, unitsLeft, available, since, held, inDoubt, difference, expected, after, open, doubts, young } = parts
  const { before } = parts
  return {
    asOf: asOf === null ? null : toRfc3339(asOf),
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
    ...(young.until !== null && { again: toRfc3339(young.until) }),
    monthBefore: { held: before.held, inDoubt: before.inDoubt, open: before.ids },
  }
}

export function showAudit(rows: readonly AuditedCounter[]) {
  const books = rows.map(({ window, budget, recorded, recomputed }) => ({
    window,
    budget,
    recorded: showCounter(recorded),
    recomputed: showCounter(recomputed),
  }))
  return { ok: areOk(rows), books }
}

/** A restored ledger lacks runs after the time `to`. An operator must book those runs from the log. */
export function showRestored(identity: Definitions['identity']) {
  const { at, to } = identity?.restored ?? {}
  return at === undefined ? {} : { restored: { at: toRfc3339(at), ...(to !== undefined && { to: toRfc3339(to) }) } }
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

export const showProjectChange = ({ id, operation, project, caller, at, added, removed, status }: ProjectChange) => ({
  id,
  operation,
  project,
  caller,
  at: toRfc3339(at),
  added,
  removed,
  serviceStatus: status,
})

export const showAnsweredDoubts = ({ proposals, leftOut, note }: AnsweredDoubts) => ({
  updates: proposals.map(({ update: { id, project }, outcome, units, because, retryAt }) => {
    const shown = { id, project, outcome, units, because }
    return retryAt === undefined ? shown : { ...shown, retryAt: toRfc3339(retryAt) }
  }),
  leftOut,
  note,
})
