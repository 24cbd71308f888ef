import type { View } from '../../ledger/book/view.ts'
import { chainOf } from '../../ledger/definitions/definitions.ts'
import { Contention, ifUnavailable } from '../../ledger/errors.ts'
import { next, type Problem, type State, type Update } from '../../ledger/updates/update.ts'
import { toUnits } from '../../platform/words.ts'
import { type GuardParts, maxDecisions, withParts } from '../options.ts'
import type { Decider } from '../people/approvers.ts'
import {
  type Approvals,
  type Decision,
  type DecisionDetails,
  type DecisionOutcome,
  decisions,
  isResolution,
  outgrown,
  type Resolution,
  whyNotUpTo,
  wrongState,
} from '../people/decisions.ts'
import { approvedWith } from '../plans/attempts.ts'
import { problem, refused } from '../problems.ts'
import { isNeverGranted } from '../rules/approvals.ts'
import { countersOf, enforced } from '../rules/counters.ts'
import { settle } from '../update/settle.ts'

type ApprovalsParts = Pick<GuardParts, 'ledger' | 'log' | 'options' | 'plans'>

/** Each decision is one conditional write, so one of two concurrent decisions wins. */
export const createApprovals = (parts: ApprovalsParts): Approvals => withParts(parts, { decide, expire })

async function decide(
  parts: ApprovalsParts,
  decision: Decision,
  id: string,
  by: Decider,
  how: DecisionDetails = {},
): Promise<DecisionOutcome> {
  if (isResolution(decision)) return resolve(parts, decision, id, by, how)
  const outcome = await decideOne(parts, decision, id, by, how)
  if (decision !== 'approve' || outcome.kind === 'problem') return outcome
  const shared = { reason: `approved with ${outcome.update.project}` }
  // An update that cannot be approved here still waits for an approval of its own.
  const others = await approvedWith(parts, outcome.update).catch(ifUnavailable([]))
  for (const other of others) await decideOne(parts, decision, other.id, by, shared).catch(ifUnavailable(null))
  return outcome
}

function decideOne(
  parts: ApprovalsParts,
  decision: Exclude<Decision, Resolution>,
  id: string,
  by: Decider,
  how: DecisionDetails,
): Promise<DecisionOutcome> {
  const { becomes, whyNot } = decisions[decision]
  return decideOn(parts, id, (update, view) => {
    const refusal = whyNot(update, view, by, parts.options)
    if (refusal) return refusal
    return decision === 'approve'
      ? approved(update, view, by, how)
      : end(update, becomes, view.now, by.caller, how.reason)
  })
}

function approved(
  update: Update,
  view: View,
  { caller: by, person }: Decider,
  { reason, units, shown, replyTo: told }: DecisionDetails,
): Update | Problem {
  const whyNotCovered = units === undefined ? outgrown(update, shown) : whyNotUpTo(update, units)
  if (whyNotCovered) return whyNotCovered
  const { approvedBefore: _, ...waiting } = update
  const { short, mayExceed, estimated = toUnits(0), replyTo = [] } = waiting
  const { now } = view
  const cap = units ?? estimated
  // A message of an older version said how much is granted.
  const grants = short?.map((grant) => ({ ...grant, units: toUnits(grant.units + cap - estimated) }))
  const approval = {
    by,
    ...(person !== undefined && { person }),
    at: now,
    units: cap,
    ...(mayExceed === undefined ? grants && { grants } : { covers: coveredBy(view, update) }),
  }
  const answered = told === undefined ? {} : { replyTo: [...new Set([...replyTo, told])] }
  const line = { at: now, by, note: reason ?? decisions.approve.done }
  return next(waiting, 'requested', { approval, requestedAt: now, queued: true, ...answered }, line)
}

/** The limits that the approver relies on. A limit that is lowered later needs another approval. */
function coveredBy(view: View, { budget, caller }: Update) {
  const counters = countersOf(view, chainOf(view.definitions, budget), { caller })
  const limits = enforced(view, counters).flatMap(({ budget, window, limit, granted, once = 0 }) =>
    limit === 'unlimited' || isNeverGranted(budget) ? [] : [{ budget, window, limit, granted: granted - once }],
  )
  return { month: view.month.name, day: view.day.name, limits }
}

const expire = (
  parts: ApprovalsParts,
  { id, version }: Pick<Update, 'id' | 'version'>,
  note: string,
  becomes: 'expired' | 'cancelled' = 'expired',
): Promise<DecisionOutcome> =>
  decideOn(parts, id, (update, view) => {
    if (update.version !== version) return wrongState(view, update, becomes)
    if (update.state !== 'awaiting-approval' && update.state !== 'requested') return wrongState(view, update, becomes)
    return end(update, becomes, view.now, 'sweep', note)
  })

/** Refuses "did not run" while a request is in flight. Later evidence becomes a correction. */
async function resolve(
  parts: ApprovalsParts,
  decision: Resolution,
  id: string,
  by: Decider,
  { reason = '', units }: DecisionDetails,
): Promise<DecisionOutcome> {
  const { ledger, options } = parts
  const view = await ledger.view([{ id }])
  const found = view.results[0]?.update
  if (!found) return refused(noUpdate(id))
  const refusal = decisions[decision].whyNot(found, view, by, options)
  if (refusal || !found.hold) return refused(refusal ?? wrongState(view, found, 'resolved'))
  const said = { from: 'person', by: by.caller, note: reason } as const
  const outcome =
    decision === 'ran' ? { kind: decision, units: units ?? found.hold.units, ...said } : { kind: decision, ...said }
  const { update, changed } = await settle(parts, found, outcome)
  return changed ? { kind: 'done', update } : refused(wrongState(view, update, 'resolved'))
}

/** Reads and decides again if the record has changed. */
export async function decideOn(
  { ledger }: Pick<GuardParts, 'ledger'>,
  id: string,
  change: (update: Update, view: View) => Update | Problem,
): Promise<DecisionOutcome> {
  for (let round = 0; round < maxDecisions; round++) {
    const view = await ledger.view([{ id }])
    const seen = view.results[0]?.update
    if (!seen) return refused(noUpdate(id))
    const changed = change(seen, view)
    if ('slug' in changed) return refused(changed)
    if ((await ledger.record(changed, seen)) === 'recorded') return { kind: 'done', update: changed }
  }
  throw new Contention(`the record ${id} keeps changing`)
}

export const noUpdate = (id: string): Problem => problem('not-found', `There is no update ${id}.`)

const end = (update: Update, state: State, at: number, by: string, note?: string): Update =>
  next(update, state, { finishedAt: at }, { at, by, ...(note !== undefined && { note }) })
