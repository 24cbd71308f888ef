import { Contention, ifUnavailable } from '../../ledger/errors.ts'
import { next, type Problem, type Update } from '../../ledger/updates/update.ts'
import type { View } from '../../ledger/views/views.ts'
import { toUnits, type Units } from '../../platform/words.ts'
import { type GuardParts, maxDecisions, withParts } from '../options.ts'
import { approvedWith } from '../plans/attempts.ts'
import { problem, type Refused, refused } from '../problems.ts'
import { settle } from '../update/settle.ts'
import {
  outgrown,
  type Permissions,
  whyNotApprove,
  whyNotCancel,
  whyNotReject,
  whyNotResolve,
  whyNotUpTo,
  wrongState,
} from './permissions.ts'

export type DecisionOutcome = { readonly kind: 'done'; readonly update: Update } | Refused

interface ApprovalRequest {
  readonly reason?: string
  readonly replyTo?: string
  /** `null`: unknown, so the estimate may not exceed an earlier approval. Absent: no check. */
  readonly shown?: Units | null
  /** Absent: the estimate. */
  readonly units?: Units
  /** The person behind the approver, from a claim. */
  readonly person?: string
}

interface Resolution {
  readonly outcome: 'ran' | 'did-not-run'
  /** Absent: the held units. */
  readonly units?: Units
  readonly reason: string
}

type Canceller = Pick<Permissions, 'caller' | 'isAdmin'>

type ApprovalsParts = Pick<GuardParts, 'ledger' | 'log' | 'options' | 'plans'>

/** Each decision is one conditional write, so one of two concurrent decisions wins. */
export const createApprovals = (parts: ApprovalsParts) => withParts(parts, { approve, reject, cancel, expire, resolve })

async function approve(
  parts: ApprovalsParts,
  id: string,
  by: string,
  how: ApprovalRequest = {},
): Promise<DecisionOutcome> {
  const outcome = await approveOne(parts, id, by, how)
  if (outcome.kind === 'problem') return outcome
  const { person } = how
  const shared = { reason: `approved with ${outcome.update.project}`, ...(person !== undefined && { person }) }
  // An update that is missed here still waits for an approval of its own.
  const others = await approvedWith(parts, outcome.update).catch(ifUnavailable([]))
  for (const other of others) await approveOne(parts, other.id, by, shared).catch(ifUnavailable(null))
  return outcome
}

const approveOne = (parts: ApprovalsParts, id: string, by: string, how: ApprovalRequest): Promise<DecisionOutcome> =>
  decideOn(parts, id, (update, view) => {
    const { units } = how
    const whyNotCovered = units === undefined ? outgrown(update, how.shown) : whyNotUpTo(update, units)
    const refusal = whyNotApprove(update, view, by, how.person) ?? whyNotCovered
    if (refusal) return refusal
    const { now } = view
    const { approvedBefore: _, ...waiting } = update
    const { short, estimated = toUnits(0), replyTo = [] } = waiting
    const cap = units ?? estimated
    const grants = short?.map((grant) => ({ ...grant, units: toUnits(grant.units + cap - estimated) }))
    const { person } = how
    const approval = { by, ...(person !== undefined && { person }), at: now, units: cap, ...(grants && { grants }) }
    const told = how.replyTo === undefined ? {} : { replyTo: [...new Set([...replyTo, how.replyTo])] }
    const line = { at: now, by, note: how.reason ?? 'approved' }
    return next(waiting, 'requested', { approval, requestedAt: now, queued: true, ...told }, line)
  })

const reject = (
  parts: ApprovalsParts,
  id: string,
  by: string,
  reason?: string,
  person?: string,
): Promise<DecisionOutcome> =>
  decideOn(
    parts,
    id,
    (update, view) => whyNotReject(update, view, by, person) ?? end(update, 'rejected', view.now, by, reason),
  )

const cancel = (parts: ApprovalsParts, id: string, by: Canceller, reason?: string): Promise<DecisionOutcome> =>
  decideOn(
    parts,
    id,
    (update, view) => whyNotCancel(update, view, by) ?? end(update, 'cancelled', view.now, by.caller, reason),
  )

const expire = (
  parts: ApprovalsParts,
  { id, version }: Pick<Update, 'id' | 'version'>,
  note: string,
): Promise<DecisionOutcome> =>
  decideOn(parts, id, (update, view) => {
    if (update.version !== version) return wrongState(view, update, 'expired')
    if (update.state !== 'awaiting-approval' && update.state !== 'requested') return wrongState(view, update, 'expired')
    return end(update, 'expired', view.now, 'sweep', note)
  })

/** Refuses "did not run" while a request is in flight. Later evidence becomes a correction. */
async function resolve(
  parts: ApprovalsParts,
  id: string,
  by: string,
  resolution: Resolution,
): Promise<DecisionOutcome> {
  const { ledger, options } = parts
  const { outcome, reason } = resolution
  const view = await ledger.view([{ id }])
  const found = view.results[0]?.update
  if (!found) return refused(noUpdate(id))
  const refusal = whyNotResolve(found, view, outcome, options)
  if (refusal || !found.hold) return refused(refusal ?? wrongState(view, found, 'resolved'))
  const said = { from: 'person', by, note: reason } as const
  const { update, changed } = await settle(
    parts,
    found,
    outcome === 'ran'
      ? { kind: 'ran', units: resolution.units ?? found.hold.units, ...said }
      : { kind: 'did-not-run', ...said },
  )
  return changed ? { kind: 'done', update } : refused(wrongState(view, update, 'resolved'))
}

async function decideOn(
  { ledger }: ApprovalsParts,
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

export type Approvals = ReturnType<typeof createApprovals>

export const noUpdate = (id: string): Problem => problem('not-found', `There is no update ${id}.`)

const end = (
  update: Update,
  state: 'rejected' | 'cancelled' | 'expired',
  at: number,
  by: string,
  note?: string,
): Update => next(update, state, { finishedAt: at }, { at, by, ...(note !== undefined && { note }) })
