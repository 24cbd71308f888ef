import { isDeepStrictEqual } from 'node:util'
import type { View } from '../../ledger/book/view.ts'
import { type Unowned, unownedRuleOf } from '../../ledger/definitions/definitions.ts'
import { type Problem, type Tags, tagEntries, type UpdateRequest, type Via } from '../../ledger/updates/update.ts'
import { digest } from '../../platform/ids.ts'
import type { Units } from '../../platform/words.ts'
import type { Kind } from '../../tracking/kinds.ts'
import type { GuardOptions } from '../options.ts'
import { type CallerIdentity, keptOf, type Permissions, whyNotCharge } from '../people/permissions.ts'
import { whyNotSeen } from '../people/sees.ts'
import { invalidRequest, problem } from '../problems.ts'
import {
  budgetFor,
  nearNameReason,
  ownedBy,
  type Payer,
  payerOf,
  spellingFaults,
  whyNotPaid,
  wrongBudget,
} from '../rules/projects.ts'
import type { WhenShort } from './batch.ts'
import { isOldKey } from './duplicate-work.ts'
import { type DecisionInput, resultAt } from './quote.ts'

interface Target {
  readonly segment: string
  readonly search: string
}

export interface UpdatesRequest {
  readonly kind: Kind
  readonly projects: readonly string[]
  readonly budget?: string
  readonly reason?: string
  readonly maxUnits?: Units
  readonly force?: boolean
  readonly whenShort: WhenShort
  readonly query?: Readonly<Record<string, string>>
  readonly tags?: Tags
  /** Byte for byte as received. */
  readonly target?: Target
  readonly targets?: readonly Target[]
  /** The payer that the user saw. No other payer is charged. */
  readonly shown?: Payer
  /** Identifies the request's content for its idempotency key. Absent: all members are the content. */
  readonly content?: string
  /** Returns a problem if the caller did not agree to this payer and these works. */
  readonly whyNotAgreed?: (
    project: string,
    charge: Payer & { readonly works: readonly string[]; readonly unowned: Unowned | null },
  ) => Problem | null
}

export interface Asker extends CallerIdentity {
  readonly via: Via
  readonly replyTo?: string
  readonly route: string
  readonly key?: string
  /** Already validated. */
  readonly traceparent?: string | undefined
}

/** The same id for each request with one key. */
export const updateIdOf = (asker: Pick<Asker, 'caller' | 'route'> & { readonly key: string }, position = 0): string =>
  `upd_${digest(asker.caller, asker.route, asker.key, String(position))}`

/** Requests with one key must have the same content. */
export function contentOf({ query, content, tags, ...wanted }: UpdatesRequest): string {
  if (content !== undefined) return content
  return digest(JSON.stringify([wanted, query && Object.entries(query).toSorted(), tagEntries(tags)]))
}

/** A request beside one reading of the ledger. */
export interface ReadRequest {
  readonly view: View
  readonly asker: Asker
  readonly allowed: Permissions
  readonly wanted: UpdatesRequest
}

type Admission = ReadRequest & { readonly options: GuardOptions }

/** The checks before an update is recorded, in this order. */
const admissionChecks: readonly ((request: Admission) => Problem | null)[] = [
  ({ view, allowed, wanted }) => whyNotSeen(view.definitions, allowed, wanted),
  whyResembling,
  whyMisspelt,
  ({ view, wanted }) => wrongBudget(view.definitions, wanted, wanted.projects),
  whyNotCharged,
  whyOtherPayer,
  whyProjectRefused,
]

/** The first problem for which no update of the request is recorded. */
export function whyNotAdmitted(request: Admission): Problem | null {
  for (const check of admissionChecks) {
    const found = check(request)
    if (found) return found
  }
  return null
}

/** Who saw an estimate saw the names in it. */
function whyResembling({ view, wanted }: Admission): Problem | null {
  const { shown, whyNotAgreed, projects } = wanted
  if (shown === undefined && whyNotAgreed === undefined) return null
  const near = projects.map((project) => nearNameReason(view.definitions, project)).find(Boolean)
  return near ? problem('wrong-state', near) : null
}

function whyMisspelt({ view, wanted, options }: Admission): Problem | null {
  const spelled = wanted.projects.map((project, at) => ({ project, segment: targetAt(wanted, at)?.segment }))
  const faults = spellingFaults(view.definitions, spelled, options.separator)
  return faults.length > 0 ? invalidRequest(faults) : null
}

function whyNotCharged(request: Admission): Problem | null {
  const { asker, allowed, wanted } = request
  const budgets = [...new Set(chargesOf(request).map(({ budget }) => budget))]
  return whyNotCharge(asker, allowed, { force: wanted.force, budgets })
}

function whyOtherPayer(request: Admission): Problem | null {
  const { shown } = request.wanted
  if (shown === undefined) return null
  const { definitions } = request.view
  const moved = chargesOf(request).find((charge) => !isDeepStrictEqual(payerOf(definitions, charge), shown))
  if (!moved) return null
  return problem('wrong-state', `The payer or owner of ${moved.project} has changed since it was shown. Ask again.`)
}

function whyProjectRefused(request: Admission): Problem | null {
  const { asker, allowed, wanted } = request
  const { definitions, results } = request.view
  const refusals = chargesOf(request).map((charge, at) => {
    const works = results[at]?.works.map(({ key }) => key) ?? []
    const unowned = unownedRuleOf(definitions, charge.project)
    const changed = wanted.whyNotAgreed?.(charge.project, { ...payerOf(definitions, charge), works, unowned })
    return changed ?? whyNotPaid(definitions, { ...charge, caller: asker.caller }, allowed.mayChargeAncestors)
  })
  return refusals.find((refusal) => refusal !== null) ?? null
}

const chargesOf = ({ view, wanted }: Admission) =>
  wanted.projects.map((project) => ({ project, budget: budgetFor(view.definitions, wanted, project) }))

const targetAt = ({ target, targets }: UpdatesRequest, position: number): Target | undefined =>
  target ?? targets?.[position]

/** What is decided for each project of the request. @param key from which the ids of its updates are made. */
export function decisionsOf(request: ReadRequest, key: string, content: UpdateRequest['content']) {
  const { view, asker, wanted } = request
  return wanted.projects.map((project, position): DecisionInput => {
    const asked = resultAt(view, position)
    const budget = budgetFor(view.definitions, wanted, project)
    const owned = ownedBy(view.definitions, project, wanted.budget === undefined)
    const target = targetAt(wanted, position)
    const named = {
      id: updateIdOf({ ...asker, key }, position),
      project,
      budget,
      ...owned,
      content,
      createdAt: view.now,
    }
    // A recorded update keeps its own token, because its budget may be deleted now.
    const token = asked.update || !asker.token ? null : keptOf(view.definitions, asker.token, budget)
    const placed = { ...named, ...(target && { target }), ...(token && { token }) }
    return { view, asked, isOldKey: isOldKey(view, asker.key), request: toRequest(request, placed) }
  })
}

function toRequest(
  { asker, allowed, wanted }: ReadRequest,
  named: Pick<
    UpdateRequest,
    'id' | 'project' | 'budget' | 'byDefault' | 'owner' | 'content' | 'createdAt' | 'token' | 'target'
  >,
): UpdateRequest {
  return {
    ...named,
    kind: wanted.kind,
    caller: asker.caller,
    via: asker.via,
    ...(wanted.query && { query: wanted.query }),
    ...(tagEntries(wanted.tags).length > 0 && { tags: wanted.tags ?? {} }),
    ...(wanted.reason !== undefined && { reason: wanted.reason }),
    ...(wanted.force && { force: true }),
    ...(!allowed.scopes.has('run') && { proposed: true }),
    ...(wanted.whenShort === 'ask' && { whenShort: 'ask' }),
    ...(asker.replyTo !== undefined && { replyTo: [asker.replyTo] }),
    ...(asker.traceparent !== undefined && { traceparent: asker.traceparent }),
    ...(wanted.maxUnits !== undefined && { maxUnits: wanted.maxUnits }),
  }
}
