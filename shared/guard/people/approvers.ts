import {
  type Budget,
  budgetNamed,
  callerNamed,
  chainOf,
  type Definitions,
  namesOf,
  noRevision,
  ownerOf,
  personOf,
  rootBudget,
} from '../../ledger/definitions/definitions.ts'
import type { Grant, Problem, UpdateRequest } from '../../ledger/updates/update.ts'
import { problem } from '../problems.ts'
import { wantsUnownedApproval } from '../rules/approvals.ts'
import { few, units as inUnits, list, shownCaller } from '../sentences.ts'
import { mayStillApprove, type Permissions } from './permissions.ts'

export type Decider = Pick<Permissions, 'caller' | 'person'> & Partial<Pick<Permissions, 'isAdmin'>>

type Payment = Pick<UpdateRequest, 'project' | 'budget'>

/** An update or a request that needs an approval. `short`: what the approval would grant. */
export type Approvable = Payment & Pick<UpdateRequest, 'caller' | 'token'> & { readonly short?: readonly Grant[] }

export function whyNotAmongApprovers(
  definitions: Definitions,
  payment: Payment,
  approver: Decider,
  grants: readonly Grant[] = [],
): Problem | null {
  for (const name of decidingBudgets(definitions, payment)) {
    const why = notApproverReason(definitions, name, approver)
    if (why !== null) return problem('forbidden', `${why}.`)
  }
  for (const { budget: granted, units } of grants) {
    const why = budgetNamed(definitions, granted) ? notApproverReason(definitions, granted, approver) : null
    if (why === null) continue
    return problem('forbidden', `${why}, and the approval would grant ${granted} ${inUnits(units)}.`)
  }
  return null
}

/** An approval by one of the account's approvers also satisfies the payer's rules. */
const decidingBudgets = (definitions: Definitions, { project, budget }: Payment): readonly string[] =>
  wantsUnownedApproval(definitions, project) ? [rootBudget] : [ownerOf(definitions, project)?.name ?? budget, budget]

/** The nearest budget that names approvers decides. If no budget names approvers, any approver may approve. */
export function notApproverReason(
  definitions: Definitions,
  budget: string,
  { caller, person }: Decider,
): string | null {
  const deciding = decidingFor(definitions, budget)
  if (!deciding) return null
  const { name: decider, approvers } = deciding
  if (namesOf(definitions, caller, person).some((name) => approvers?.includes(name))) return null
  return `You are not among the approvers of ${decider}${decider === budget ? '' : `, which decides for ${budget}`}`
}

const decidingFor = (definitions: Definitions, budget: string): Budget | undefined =>
  chainOf(definitions, budget).find(({ approvers = [] }) => approvers.length > 0)

/** Whether the approver made the request, also under another name (four eyes). */
export function isOwnRequest(definitions: Definitions, by: Decider, { caller, token }: Approvable): boolean {
  const asker = personOf(definitions, caller, token?.person)
  return comparable(asker) === comparable(personOf(definitions, by.caller, by.person))
}

/** Issuers write e-mail addresses in lower case. The list of callers has the addresses as people typed them. */
const comparable = (person: string): string => (person.includes('@') ? person.toLowerCase() : person)

/** The named approvers who may approve it now. `null`: no budget names approvers, so any caller with the scope may. */
export function approversNow(definitions: Definitions, update: Approvable): readonly string[] | null {
  const lists = approverLists(definitions, update)
  if (lists.length === 0) return null
  const able = candidatesIn(definitions, lists).filter(
    (caller) =>
      unableReason(definitions, update, caller) === null &&
      whyNotAmongApprovers(definitions, update, { caller }, update.short) === null,
  )
  return [...new Set(able.map((caller) => shownCaller(definitions, caller)))]
}

interface NoApprover {
  /** The budget that needs another approver. */
  readonly of: string
  readonly why: string
}

/** `null`: an approver may approve it, or a token that the list of callers does not know may. */
function noApprover(definitions: Definitions, update: Approvable): NoApprover | null {
  // A narrowed reader does not see the list of callers.
  if (definitions.revision === noRevision || approversNow(definitions, update)?.length !== 0) return null
  const lists = approverLists(definitions, update)
  for (const each of lists) {
    const reasons = candidatesIn(definitions, [each]).map((caller) => unableReason(definitions, update, caller))
    if (!reasons.includes(null)) return { of: each.name, why: few([...new Set(reasons.filter((why) => why !== null))]) }
  }
  const [first = '', ...others] = lists.map(({ name }) => name)
  return { of: first, why: `none of them is an approver of ${list(others)}, too` }
}

const texts = {
  now: 'can approve it now',
  // A record keeps its text, also if an approver is named later.
  recorded: 'could approve it when it was asked for',
}

/** The clause for the reason why an update needs approval. `null`: someone can approve it. */
export function noApproverClause(definitions: Definitions, update: Approvable, at: keyof typeof texts): string | null {
  const no = noApprover(definitions, update)
  return no && `no approver of ${no.of} ${texts[at]}: ${no.why}`
}

/** Says that no one can approve the update now, why, and what to do. `null`: someone can. */
export function noApproverNow(definitions: Definitions, update: Approvable): string | null {
  const no = noApprover(definitions, update)
  if (no === null) return null
  return `No approver of ${no.of} ${texts.now}: ${no.why}. An administrator names another approver (PUT /budgets/${no.of}).`
}

/** The budgets whose approvers decide about the update, each once. */
function approverLists(definitions: Definitions, update: Approvable): readonly Budget[] {
  const granted = (update.short ?? []).map(({ budget }) => budget)
  const names = [...decidingBudgets(definitions, update), ...granted]
  const lists = names.flatMap((name) => (budgetNamed(definitions, name) ? (decidingFor(definitions, name) ?? []) : []))
  return [...new Set(lists)]
}

/** The listed names, and the listed callers of these persons. */
function candidatesIn(definitions: Definitions, lists: readonly Budget[]): readonly string[] {
  const names = new Set(lists.flatMap(({ approvers = [] }) => approvers))
  const listed = Object.keys(definitions.callers ?? {})
  return [...names, ...listed.filter((caller) => namesOf(definitions, caller).some((name) => names.has(name)))]
}

/** A clause. `null`: the list of callers allows it, although the caller's token, which is not known, may not. */
function unableReason(definitions: Definitions, update: Approvable, caller: string): string | null {
  const shown = shownCaller(definitions, caller)
  if (isOwnRequest(definitions, { caller }, update)) return `${shown} is the requester`
  if (callerNamed(definitions, caller)) return unableListedReason(definitions, caller)
  const own = Object.keys(definitions.callers ?? {}).filter((each) => personOf(definitions, each) === caller)
  const reasons = own.flatMap((each) => unableListedReason(definitions, each) ?? [])
  // A person with Slack alone may have a token of that name.
  const isKnown = own.some((each) => !each.startsWith('slack:'))
  if (isKnown && reasons.length === own.length) return reasons[0] ?? null
  return mayStillApprove(definitions, caller) ? null : `${shown} lacks the scope approve`
}

function unableListedReason(definitions: Definitions, caller: string): string | null {
  const shown = shownCaller(definitions, caller)
  if (callerNamed(definitions, caller)?.disabled) return `${shown} is disabled`
  return mayStillApprove(definitions, caller) ? null : `${shown} lacks the scope approve`
}
