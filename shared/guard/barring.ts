import { budgetNamed, chainOf, type Definitions, namesOf, ownerOf, personOf } from '../ledger/definitions.ts'
import type { Grant, Problem, Update } from '../ledger/update.ts'
import type { View } from '../ledger/views.ts'
import { toRfc3339 } from '../platform/clock.ts'
import type { Units } from '../platform/words.ts'
import { whyNotPaid } from './charging.ts'
import { landedBy } from './landing.ts'
import type { GuardOptions } from './options.ts'
import { problem } from './problems.ts'
import { units as inUnits, when, zoneOf } from './sentences.ts'

/**
 * What keeps a person from deciding about an update, as one reading shows it; `null`: nothing does. Pure: what decides
 * asks before it writes, and what shows buttons asks before it shows them.
 */

export function barredFromApproving(update: Update, view: View, by: string): Problem | null {
  const { id, state, budget } = update
  if (state !== 'awaiting-approval') return wrongState(view, update, 'approved')
  if (isPast(update, view.now)) {
    const detail = `${id} could be approved until ${when(update.approvableUntil ?? view.now, zoneOf(view))}; ask for the update again.`
    return problem('wrong-state', detail, { update: id, state })
  }
  if (!budgetNamed(view.definitions, budget)) {
    const detail = `${id} cannot be approved: its budget ${budget} was deleted; make it again, or reject the update.`
    return problem('wrong-state', detail, { update: id, state })
  }
  const own = ownership(by, update, view)
  if (own) return problem('forbidden', `${own} asked for ${id}, so somebody else has to approve it.`)
  const moved = whyNotPaid(view.definitions, update, true)
  if (moved) {
    const detail = `${id} cannot be approved: ${moved.detail}`
    return problem('wrong-state', detail, { update: id, state })
  }
  return whyNotApprover(view.definitions, update, { by, ...(update.short && { grants: update.short }) })
}

/**
 * Why this person's approval does not count: the project's owner of now, the budget that pays, or a budget that the
 * approval would grant units to, names others. An approval by the payer's own people must not get round the owner's.
 */
export function whyNotApprover(
  definitions: Definitions,
  { project, budget }: Pick<Update, 'project' | 'budget'>,
  { by, grants = [] }: { readonly by: string; readonly grants?: readonly Grant[] },
): Problem | null {
  const owner = ownerOf(definitions, project)?.name ?? budget
  const barring = [owner, budget].find((name) => !isApproverOf(definitions, name, by))
  if (barring !== undefined) return problem('forbidden', `${by} is not among the approvers of ${barring}.`)
  const grant = grants.find(
    (each) => budgetNamed(definitions, each.budget) && !isApproverOf(definitions, each.budget, by),
  )
  if (!grant) return null
  const detail = `${by} is not among the approvers of ${grant.budget}, and the approval would grant ${grant.budget} ${inUnits(grant.units)}.`
  return problem('forbidden', detail)
}

/** The nearest budget that names approvers decides who they are; an empty list names nobody in particular. */
function isApproverOf(definitions: Definitions, budget: string, by: string): boolean {
  const named = chainOf(definitions, budget).find(({ approvers = [] }) => approvers.length > 0)
  return named?.approvers === undefined || namesOf(definitions, by).some((name) => named.approvers?.includes(name))
}

/** What was shown when somebody agreed may have grown since, and been put to people again. */
export function outgrown({ id, state, estimated, approval }: Update, shown: Units | null | undefined): Problem | null {
  const agreed = shown === null ? approval?.units : shown
  if (agreed === undefined || estimated === undefined || estimated <= agreed) return null
  const detail = `${id} cannot be approved so: it needs ${inUnits(estimated)} now, and ${inUnits(agreed)} were shown. Nothing was spent; look at it again.`
  return problem('wrong-state', detail, { update: id, state })
}

export function barredFromRejecting(update: Update, view: View, by: string): Problem | null {
  if (update.state !== 'awaiting-approval') return wrongState(view, update, 'rejected')
  const own = ownership(by, update, view)
  return own ? problem('forbidden', `${own} asked for ${update.id}; cancel it instead.`) : null
}

export function barredFromCancelling(
  update: Update,
  view: View,
  by: { caller: string; isAdmin: boolean },
): Problem | null {
  const { id, caller, state } = update
  if (caller !== by.caller && !by.isAdmin)
    return problem('forbidden', `${id} was asked for by ${caller}; only they or an administrator may cancel it.`)
  return state === 'awaiting-approval' || state === 'requested' ? null : wrongState(view, update, 'cancelled')
}

export function barredFromResolving(
  update: Update,
  view: View,
  outcome: 'ran' | 'did-not-run',
  options: GuardOptions,
): Problem | null {
  const { id, state, hold } = update
  if (state !== 'in-doubt' || !hold) return wrongState(view, update, 'resolved')
  const retryAt = landedBy(update, options)
  if (outcome === 'ran' || view.now >= retryAt) return null
  const detail = `The request for ${id} may still take effect; that it did not run can be said from ${when(retryAt, zoneOf(view))} on. That it ran can be said now.`
  return problem('wrong-state', detail, { update: id, state, retryAt: toRfc3339(retryAt) })
}

export function wrongState(view: View, { id, state, history }: Update, wanted: string): Problem {
  const last = history.at(-1)
  const since = last ? ` since ${when(last.at, zoneOf(view))} (${last.by})` : ''
  return problem('wrong-state', `${id} cannot be ${wanted}: it has been ${state}${since}.`, { update: id, state })
}

const isPast = (update: Update, now: number): boolean =>
  update.approvableUntil !== undefined && update.approvableUntil <= now

/** Four eyes: who asked under another name is the same person. `null`: somebody else asked. */
function ownership(by: string, { caller }: Update, { definitions }: View): string | null {
  if (caller === by) return by
  return personOf(definitions, caller) === personOf(definitions, by) ? `${by}, who is also ${caller},` : null
}
