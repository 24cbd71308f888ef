import type { View } from '../../ledger/book/view.ts'
import { budgetNamed, callerNamed, chainOf, type Definitions, pauseOf } from '../../ledger/definitions/definitions.ts'
import type { Problem, UpdateRequest } from '../../ledger/updates/update.ts'
import type { GuardOptions } from '../options.ts'
import { permissionsNow, whyNotCharge, whyNotSubmit } from '../people/permissions.ts'
import { invalidRequest, problem } from '../problems.ts'
import { isNeverGranted, mayBeGranted } from '../rules/approvals.ts'
import { countersOf, enforced } from '../rules/counters.ts'
import { ruledOutBy } from '../rules/early.ts'
import { nearNameReason, ruledBy, spellingFaults, whyNotPaid, whyNotUnowned } from '../rules/projects.ts'
import { shownCaller, when, zoneOf } from '../sentences.ts'
import { duplicateOf, mayBeLost } from './duplicate-work.ts'
import { overBudget, withNothingLeft } from './over-budget.ts'
import type { DecisionInput } from './quote.ts'

/** The checks run in this order. The first problem is the answer, and `explain` shows every row. */
export const earlyChecks = {
  'same-work': duplicateOf,
  restored: mayBeLost,
  caller: whyStopped,
  name: whyUnclear,
  permission: whyNotListed,
  payer: (known) => whyNotPaid(known.view.definitions, known.request, mayChargeAncestors(known)),
  unowned: ({ view, request }) => whyNotUnowned(view.definitions, request.project),
  reserve: ({ view, request }) => leavesToNoBudget(view.definitions, request),
  rules: whyRuledOut,
  'used-up': whyUsedUp,
} satisfies Readonly<Record<string, (known: DecisionInput, options: GuardOptions) => Problem | null>>

/** Refuses a name that could mean another project, or a deleted budget. */
function whyUnclear({ view: { definitions }, asked, request }: DecisionInput, options: GuardOptions): Problem | null {
  const { project, target, plan, budget } = request
  // Since the request or the plan was made, a budget may have listed a similar name.
  const near = (asked.update || plan !== undefined) && nearNameReason(definitions, project)
  if (near) return problem('wrong-state', near)
  const faults = spellingFaults(definitions, [{ project, segment: target?.segment }], options.separator)
  if (faults.length > 0) return invalidRequest(faults)
  if (budgetNamed(definitions, budget)) return null
  return problem('not-found', `The budget ${budget} was deleted before the update could begin.`)
}

function whyRuledOut({ view, request }: DecisionInput): Problem | null {
  const asked = { kind: request.kind, day: view.day.name }
  const found = ruledOutBy(ruledBy(view.definitions, request), asked)
  if (!found) return null
  const { budget, rule } = found
  const refusal = `${budget.name} ${rule.says(budget, asked, view)}.`
  return problem(rule.slug, rule.advice === undefined ? refusal : `${refusal} ${rule.advice}`, { budget: budget.name })
}

/** Refuses reserves for unknown budgets: a misspelt reserve would protect no one. */
export function leavesToNoBudget(
  definitions: Definitions,
  { leave, plan }: Pick<UpdateRequest, 'leave' | 'plan'>,
): Problem | null {
  const names = typeof leave === 'object' ? Object.keys(leave) : []
  const missing = names.find((name) => !budgetNamed(definitions, name))
  if (missing === undefined) return null
  const detail = `The plan ${plan} leaves units of the budget ${missing} to others, and there is no such budget: correct the plans file, or create the budget.`
  return problem('not-found', detail)
}

/** Refuses if a limit that no approval can raise has nothing left. */
function whyUsedUp({ view, request }: DecisionInput): Problem | null {
  const counters = countersOf(view, chainOf(view.definitions, request.budget), request)
  const empty = enforced(view, counters).filter(({ available }) => available <= 0)
  const isRefused = empty.some(({ budget }) => isNeverGranted(budget) || !mayBeGranted(request))
  return isRefused ? overBudget(empty.map(withNothingLeft), null, zoneOf(view)) : null
}

const mayChargeAncestors = (known: DecisionInput): boolean =>
  (known.request.plan === undefined ? allowedNow(known) : known.plan)?.mayChargeAncestors ?? false

export const allowedNow = ({ view, request, token = request.token }: DecisionInput) =>
  permissionsNow(view.definitions, { ...request, ...(token && { token }) })

export const askerIn = ({ view, request: { caller, token } }: DecisionInput): string =>
  shownCaller(view.definitions, caller, token?.person)

/** The list of callers may have changed since the request was accepted. */
function whyNotListed(known: DecisionInput): Problem | null {
  const { request, token } = known
  const { force, budget } = request
  const caller = askerIn(known)
  if (token === null) {
    const detail = `${caller} asked with a token of the issuer ${request.token?.issuer?.name}, which is not trusted any more.`
    return problem('forbidden', detail)
  }
  const allowed = allowedNow(known)
  if (!allowed) return null
  return whyNotSubmit(caller, allowed) ?? whyNotCharge({ ...request, caller }, allowed, { force, budgets: [budget] })
}

function whyStopped(known: DecisionInput): Problem | null {
  const { view, request, plan } = known
  if (callerNamed(view.definitions, request.caller)?.disabled) {
    return problem('forbidden', `${askerIn(known)} is disabled; ask an administrator.`)
  }
  return request.plan === undefined ? null : stoppedPlan(view, request.plan, plan)
}

function stoppedPlan(view: View, plan: string, inFile: { readonly enabled: boolean } | undefined): Problem | null {
  if (!inFile?.enabled) {
    const detail = `The plan ${plan} is not enabled in the plans file, so it cannot run.`
    return problem('wrong-state', detail, { plan })
  }
  const pause = pauseOf(view.definitions, plan)
  if (!pause) return null
  const detail = `The plan ${plan} was paused by ${shownCaller(view.definitions, pause.by)} on ${when(pause.at, zoneOf(view))}: ${pause.reason}. Resume it, then run what was not sent.`
  return problem('plan-paused', detail, { plan })
}
