import type { View } from '../../ledger/book/view.ts'
import { budgetNamed, unseenBudget } from '../../ledger/definitions/definitions.ts'
import type { HistoryLine, Problem, State, Update } from '../../ledger/updates/update.ts'
import { toRfc3339 } from '../../platform/clock.ts'
import type { Scope, Units } from '../../platform/words.ts'
import { type GuardOptions, inFlightUntil } from '../options.ts'
import { problem, type Refused } from '../problems.ts'
import { nearNameReason, whyNotPaid, whyNotUnowned } from '../rules/projects.ts'
import { count, units as inUnits, shownIn, when, zoneOf } from '../sentences.ts'
import { type Decider, isOwnRequest, noApproverNow, whyNotAmongApprovers } from './approvers.ts'

export type Decision = 'approve' | 'reject' | 'cancel' | 'ran' | 'did-not-run'

export type DecisionOutcome = { readonly kind: 'done'; readonly update: Update } | Refused

export interface DecisionDetails {
  /** A resolution needs a reason. */
  readonly reason?: string | undefined
  /** For `approve`: the most units; default the estimate. For `ran`: the cost; default the held units. */
  readonly units?: Units | undefined
  /** The price that the approver saw. `null`: unknown, so the estimate may not exceed an earlier approval. Absent: no check. */
  readonly shown?: Units | null | undefined
  /** The Slack event that the outcome answers. */
  readonly replyTo?: string | undefined
}

export interface Approvals {
  decide(decision: Decision, id: string, by: Decider, how?: DecisionDetails): Promise<DecisionOutcome>
  /** Conditional on the version that the sweep checked. */
  expire(
    update: Pick<Update, 'id' | 'version'>,
    note: string,
    becomes?: 'expired' | 'cancelled',
  ): Promise<DecisionOutcome>
}

interface DecisionRules {
  /** The person needs one of these scopes. */
  readonly scopes: readonly Scope[]
  /** The states that allow the decision. */
  readonly states: readonly State[]
  readonly becomes: State
  /** Completes “The update is …”. */
  readonly done: string
  /** `null`: the guard accepts the decision. Pure, so that buttons and writes follow the same rule. */
  whyNot(update: Update, view: View, by: Decider, options: GuardOptions): Problem | null
}

/** The decisions of people about an update. The guard, the API, the pages and Slack read this table. */
export const decisions: Readonly<Record<Decision, DecisionRules>> = {
  approve: {
    scopes: ['approve'],
    states: ['awaiting-approval'],
    becomes: 'requested',
    done: 'approved',
    whyNot: whyNotApprove,
  },
  reject: {
    scopes: ['approve'],
    states: ['awaiting-approval'],
    becomes: 'rejected',
    done: 'rejected',
    whyNot: whyNotReject,
  },
  cancel: {
    scopes: ['run', 'propose', 'admin'],
    states: ['awaiting-approval', 'requested'],
    becomes: 'cancelled',
    done: 'cancelled',
    whyNot: whyNotCancel,
  },
  ran: {
    scopes: ['approve'],
    states: ['in-doubt'],
    becomes: 'settled',
    done: 'found to have run',
    whyNot: (update, view, _by, options) => whyNotResolve(update, view, 'ran', options),
  },
  'did-not-run': {
    scopes: ['approve'],
    states: ['in-doubt'],
    becomes: 'released',
    done: 'found not to have run',
    whyNot: (update, view, _by, options) => whyNotResolve(update, view, 'did-not-run', options),
  },
}

export const allDecisions = Object.keys(decisions) as readonly Decision[]

/** Needs the line before this line, because an approved update only becomes `requested`. */
export const decisionOf = ({ state }: HistoryLine, before: HistoryLine | undefined): Decision | undefined =>
  allDecisions.find(
    (each) => before && decisions[each].becomes === state && decisions[each].states.includes(before.state),
  )

export type Resolution = Extract<Decision, 'ran' | 'did-not-run'>

export const isResolution = (decision: Decision): decision is Resolution =>
  decision === 'ran' || decision === 'did-not-run'

export function whyNotApprove(update: Update, view: View, by: Decider): Problem | null {
  const { id, state, budget } = update
  if (state !== 'awaiting-approval') return alreadyDecided(view, update, 'approved')
  if (isFromBeforeRestore(view, update)) {
    const why = `it is from before the restore of the ledger, and may have been approved and run since. The next sweep cancels it; ask for it again.`
    return stuck(update, `${cannotBe('approved', update)}: ${why}`)
  }
  if (update.approvableUntil !== undefined && update.approvableUntil <= view.now) {
    const until = when(update.approvableUntil, zoneOf(view))
    return stuck(update, `${nameOf(update, 'The')} could be approved until ${until}; ask for it again.`)
  }
  if (budget !== unseenBudget && !budgetNamed(view.definitions, budget)) {
    const why = `its budget ${budget} was deleted; create ${budget} again, or reject the update.`
    return stuck(update, `${cannotBe('approved', update)}: ${why}`)
  }
  const own = ownRequest(by, update, view)
  if (own) return withoutApprover(view, update, `${own}, so someone else has to approve it.`, { update: id })
  // A narrowed reader does not see the budget. The whole guard checks the budget when this reader decides.
  if (budget === unseenBudget) return null
  const moved = whyNotPaid(view.definitions, update, true) ?? whyNotUnowned(view.definitions, update.project)
  const why = nearNameReason(view.definitions, update.project) ?? moved?.detail
  if (why !== undefined) return stuck(update, `${cannotBe('approved', update)}: ${why}`)
  const notAmong = whyNotAmongApprovers(view.definitions, update, by, update.short)
  return notAmong && withoutApprover(view, update, notAmong.detail, notAmong.members)
}

/** The lost part of the ledger may have approved and run such an update, and an update runs once. */
export function isFromBeforeRestore({ definitions }: View, { createdAt }: Pick<Update, 'createdAt'>): boolean {
  const { restored } = definitions.identity ?? {}
  return restored !== undefined && createdAt < restored.at
}

/** Says if no other person can approve it either. */
function withoutApprover({ definitions }: View, update: Update, detail: string, members: Problem['members']): Problem {
  const no = noApproverNow(definitions, update)
  return problem('forbidden', no === null ? detail : `${detail} ${no}`, members)
}

export function outgrown(update: Update, shown: Units | null | undefined): Problem | null {
  const { estimated, approvedBefore } = update
  const agreed = shown === null ? approvedBefore : shown
  if (agreed === undefined || estimated === undefined || estimated <= agreed) return null
  const detail = `${nameOf(update, 'The')} needs ${inUnits(estimated)} now, and you were shown ${count(agreed)}, so it was not approved. Nothing was spent; look at it again.`
  return stuck(update, detail, { units: estimated })
}

export function whyNotUpTo(update: Update, cap: Units): Problem | null {
  const { estimated } = update
  if (estimated === undefined || estimated <= cap) return null
  const detail = `${cannotBe('approved', update)} up to ${inUnits(cap)}: it needs ${inUnits(estimated)}. Nothing was spent; approve at least ${count(estimated)}, or reject it.`
  return stuck(update, detail, { units: estimated })
}

export function whyNotReject(update: Update, view: View, by: Decider): Problem | null {
  if (update.state !== 'awaiting-approval') return alreadyDecided(view, update, 'rejected')
  const own = ownRequest(by, update, view)
  return own ? problem('forbidden', `${own}; cancel it instead.`, { update: update.id }) : null
}

export function whyNotCancel(update: Update, view: View, by: Decider): Problem | null {
  const { id, caller, state } = update
  if (caller !== by.caller && !by.isAdmin) {
    const asker = shownIn(view.definitions, update, caller)
    const detail = `${asker} asked for ${nameOf(update)}; only they or an administrator may cancel it.`
    return problem('forbidden', detail, { update: id })
  }
  return state === 'awaiting-approval' || state === 'requested' ? null : wrongState(view, update, 'cancelled')
}

export function whyNotResolve(
  update: Update,
  view: View,
  outcome: 'ran' | 'did-not-run',
  options: GuardOptions,
): Problem | null {
  if (update.state !== 'in-doubt' || !update.hold)
    return wrongState(view, update, 'resolved', outcome === 'ran' ? afterWrongRelease(update) : '')
  const retryAt = inFlightUntil(update, options)
  if (outcome === 'ran' || view.now >= retryAt) return null
  const detail = `${nameOf(update, 'The')} may still take effect until ${when(retryAt, zoneOf(view))}. Until then you can only say that it ran.`
  return stuck(update, detail, { retryAt: toRfc3339(retryAt) })
}

/** Completes the refusal of "ran" if a person said "did not run" before. */
function afterWrongRelease({ state, closedBy, corrected, unwatched, hold }: Update): string {
  if (state !== 'released' || closedBy !== 'person' || corrected) return ''
  const book = 'an administrator can book its units as an external spend'
  return hold?.datesBefore && !unwatched
    ? `. If new data show within seven days that it ran, the sweep charges it; else ${book}`
    : `. If it ran, ${book}`
}

function alreadyDecided(view: View, update: Update, wanted: 'approved' | 'rejected'): Problem {
  const { approval } = update
  const approver = approval && shownIn(view.definitions, update, approval.by)
  return wrongState(view, update, wanted, approval && `; ${approver} approved it up to ${inUnits(approval.units)}`)
}

export function wrongState(view: View, update: Update, wanted: string, more = ''): Problem {
  const last = update.history.at(-1)
  const since = last ? ` since ${when(last.at, zoneOf(view))} (${shownIn(view.definitions, update, last.by)})` : ''
  return stuck(update, `${cannotBe(wanted, update)}: it has been ${update.state}${since}${more}.`)
}

export const stuck = ({ id, state }: Update, detail: string, more: Problem['members'] = {}): Problem =>
  problem('wrong-state', detail, { update: id, state, ...more })

export const nameOf = ({ kind, project }: Update, the = 'the') => `${the} ${kind} update of ${project}`
const cannotBe = (wanted: string, update: Update) => `${nameOf(update, 'The')} cannot be ${wanted}`

/** The start of the refusal if the approver made the request. */
function ownRequest(by: Decider, update: Update, { definitions }: View): string | null {
  const { caller } = update
  if (!isOwnRequest(definitions, by, update)) return null
  return `You asked for ${nameOf(update)}${caller === by.caller ? '' : ` as ${caller}`}`
}
