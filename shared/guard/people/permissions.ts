import type { Caller } from '../../auth/tokens.ts'
import {
  budgetNamed,
  callerNamed,
  chainOf,
  type Definitions,
  type Caller as ListedCaller,
  namesOf,
  ownerOf,
  personOf,
  rootBudget,
  rulesOfCaller,
  unseenBudget,
} from '../../ledger/book/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Grant, Problem, Update, UpdateRequest } from '../../ledger/updates/update.ts'
import type { View } from '../../ledger/views/views.ts'
import { type Clock, toRfc3339 } from '../../platform/clock.ts'
import { scopes as anyScope, type Scope, type Units } from '../../platform/words.ts'
import type { GuardOptions } from '../options.ts'
import { problem } from '../problems.ts'
import { count, units as inUnits, shownIn, when, zoneOf } from '../sentences.ts'
import { inFlightUntil } from '../update/duplicate-work.ts'
import { covers, whyNear, whyNotPaid } from '../update/projects.ts'
import { wantsUnownedApproval, whyNotUnowned } from '../update/unowned.ts'

/** These checks are pure, so that buttons and writes follow the same rules. */

/** @param person behind the approver, from a claim. */
export function whyNotApprove(update: Update, view: View, by: string, person?: string): Problem | null {
  const { id, state, budget } = update
  if (state !== 'awaiting-approval') return alreadyDecided(view, update, 'approved')
  if (update.approvableUntil !== undefined && update.approvableUntil <= view.now) {
    const until = when(update.approvableUntil, zoneOf(view))
    return stuck(update, `${nameOf(update, 'The')} could be approved until ${until}; ask for it again.`)
  }
  if (budget !== unseenBudget && !budgetNamed(view.definitions, budget)) {
    const why = `its budget ${budget} was deleted; create ${budget} again, or reject the update.`
    return stuck(update, `${cannotBe('approved', update)}: ${why}`)
  }
  const own = ownRequest({ by, person }, update, view)
  if (own) return problem('forbidden', `${own}, so someone else has to approve it.`, { update: id })
  // The whole guard judges what a narrowed reader does not see.
  if (budget === unseenBudget) return null
  const moved = whyNotPaid(view.definitions, update, true) ?? whyNotUnowned(view.definitions, update.project)
  const why = whyNear(view.definitions, update.project) ?? moved?.detail
  if (why !== undefined) return stuck(update, `${cannotBe('approved', update)}: ${why}`)
  return whyNotAmongApprovers(view.definitions, update, { by, person, ...(update.short && { grants: update.short }) })
}

interface Approver {
  readonly by: string
  /** From a claim. */
  readonly person?: string | undefined
}

export function whyNotAmongApprovers(
  definitions: Definitions,
  { project, budget }: Pick<Update, 'project' | 'budget'>,
  { grants = [], ...approver }: Approver & { readonly grants?: readonly Grant[] },
): Problem | null {
  const owner = ownerOf(definitions, project)?.name ?? budget
  // One of the account's approvers is enough for the payer's rules too.
  const deciding = wantsUnownedApproval(definitions, project) ? [rootBudget] : [owner, budget]
  const barring = deciding.find((name) => !isApproverOf(definitions, name, approver))
  if (barring !== undefined) return problem('forbidden', `You are not among the approvers of ${barring}.`)
  const grant = grants.find(
    (each) => budgetNamed(definitions, each.budget) && !isApproverOf(definitions, each.budget, approver),
  )
  if (!grant) return null
  const detail = `You are not among the approvers of ${grant.budget}, and the approval would grant ${grant.budget} ${inUnits(grant.units)}.`
  return problem('forbidden', detail)
}

/** The nearest budget that names approvers decides; an empty list accepts any approver. */
function isApproverOf(definitions: Definitions, budget: string, { by, person }: Approver): boolean {
  const named = chainOf(definitions, budget).find(({ approvers = [] }) => approvers.length > 0)
  if (named?.approvers === undefined) return true
  return namesOf(definitions, by, person).some((name) => named.approvers?.includes(name))
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

export function whyNotReject(update: Update, view: View, by: string, person?: string): Problem | null {
  if (update.state !== 'awaiting-approval') return alreadyDecided(view, update, 'rejected')
  const own = ownRequest({ by, person }, update, view)
  return own ? problem('forbidden', `${own}; cancel it instead.`, { update: update.id }) : null
}

export function whyNotCancel(update: Update, view: View, by: Pick<Permissions, 'caller' | 'isAdmin'>): Problem | null {
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
  if (update.state !== 'in-doubt' || !update.hold) return wrongState(view, update, 'resolved')
  const retryAt = inFlightUntil(update, options)
  if (outcome === 'ran' || view.now >= retryAt) return null
  const detail = `${nameOf(update, 'The')} may still take effect until ${when(retryAt, zoneOf(view))}. Until then you can only say that it ran.`
  return stuck(update, detail, { retryAt: toRfc3339(retryAt) })
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

const stuck = ({ id, state }: Update, detail: string, more: Problem['members'] = {}): Problem =>
  problem('wrong-state', detail, { update: id, state, ...more })

const nameOf = ({ kind, project }: Update, the = 'the') => `${the} ${kind} update of ${project}`
const cannotBe = (wanted: string, update: Update) => `${nameOf(update, 'The')} cannot be ${wanted}`

/** The start of the refusal if the approver made the request, also under another name (four eyes). */
function ownRequest({ by, person }: Approver, update: Update, { definitions }: View): string | null {
  const { caller, token } = update
  const asker = personOf(definitions, caller, token?.person)
  if (comparable(asker) !== comparable(personOf(definitions, by, person))) return null
  return `You asked for ${nameOf(update)}${caller === by ? '' : ` as ${caller}`}`
}

/** E-mail addresses of issuers come in lower case; those in the list of callers as they were typed. */
const comparable = (person: string): string => (person.includes('@') ? person.toLowerCase() : person)

/** People in Slack have no token. */
export interface CallerIdentity {
  readonly caller: string
  readonly token?: Pick<Caller, 'scopes' | 'budgets' | 'person' | 'readsBudgets' | 'issuer'>
}

/** What a caller may do by one revision of the definitions: asked once for each request, and handed on. */
export interface Permissions {
  readonly caller: string
  readonly isListed: boolean
  readonly scopes: ReadonlySet<Scope>
  readonly isAdmin: boolean
  readonly mayForce: boolean
  readonly mayChargeAncestors: boolean
  readonly isDisabled: boolean
  mayCharge(budget: string): boolean
  /** What the list of callers says; the token may say less. */
  isListedFor(budget: string): boolean
  /** The budgets that reads show, with their descendants; `*`: all. */
  readonly readsBudgets: '*' | readonly string[]
  mayRead(budget: string): boolean
}

/** Without a token the listing alone gives permissions. */
export function permissionsOf(definitions: Definitions, { caller, token }: CallerIdentity): Permissions {
  const listed = callerNamed(definitions, caller)
  const given: CallerIdentity['token'] = token ?? unlisted(listed)
  const isDisabled = listed?.disabled === true
  const may = (scope: Scope) => given.scopes.has(scope) && (listed?.scopes?.includes(scope) ?? true)
  const reads = [given.readsBudgets, listed?.readsBudgets].filter((budgets) => budgets !== undefined)
  const mayRead = (budget: string) =>
    reads.every((budgets) => budgetNamed(definitions, budget) && covers(definitions, budgets, budget))
  const isNarrowed = reads.length > 0 && !mayRead(rootBudget)
  // An administrator's refusals would tell of budgets that the caller does not read.
  const isHeld = (scope: Scope) => !isDisabled && may(scope) && !(isNarrowed && scope === 'admin')
  const scopes = new Set([...given.scopes].filter(isHeld))
  const isListedFor = (budget: string) => covers(definitions, listed?.budgets ?? '*', budget)
  const isAdmin = scopes.has('admin')
  return {
    ...{ caller, isListed: listed !== undefined, scopes, isAdmin, isDisabled },
    mayForce: listed?.mayForce ?? isAdmin,
    mayChargeAncestors: listed?.mayChargeAncestors ?? isAdmin,
    mayCharge: (budget) => covers(definitions, given.budgets, budget) && isListedFor(budget),
    isListedFor,
    readsBudgets: isNarrowed ? [...new Set(reads.flat())].filter(mayRead) : '*',
    mayRead,
  }
}

function unlisted(listed: ListedCaller | undefined): NonNullable<CallerIdentity['token']> {
  const scopes = new Set(listed?.scopes ?? [])
  return { scopes, budgets: listed?.budgets ?? (scopes.has('admin') ? '*' : []) }
}

export function keptOf(
  definitions: Definitions,
  { scopes, budgets, person, issuer }: NonNullable<CallerIdentity['token']>,
  budget: string,
): NonNullable<UpdateRequest['token']> {
  return {
    scopes: (['run', 'propose', 'admin'] as const).filter((scope) => scopes.has(scope)),
    budgets:
      budgets === '*' ? '*' : chainOf(definitions, budget).flatMap(({ name }) => (budgets.includes(name) ? name : [])),
    ...(person !== undefined && { person }),
    ...(issuer && { issuer }),
  }
}

/** `null`: unknown, because schedules and old records have no token. */
export function permissionsNow(definitions: Definitions, { caller, via, token }: UpdateRequest): Permissions | null {
  if (token) return permissionsOf(definitions, { caller, token: { ...token, scopes: new Set(token.scopes) } })
  return via === 'slack' ? permissionsOf(definitions, { caller }) : null
}

/** What the list of callers allows at most: a token is not stored. */
export function permissionsAtMost(definitions: Definitions, caller: string): Permissions {
  const token = { scopes: new Set(anyScope), budgets: '*' } as const
  return permissionsOf(definitions, caller.startsWith('slack:') ? { caller } : { caller, token })
}

/** Only the list of callers can revoke an approval. */
export const mayStillApprove = (definitions: Definitions, by: string): boolean =>
  permissionsAtMost(definitions, by).scopes.has('approve')

export function whyNotSubmit(caller: string, { isDisabled, scopes }: Permissions): Problem | null {
  if (isDisabled) return problem('forbidden', `${caller} is disabled; ask an administrator.`)
  if (scopes.has('run') || scopes.has('propose')) return null
  return problem('forbidden', `${caller} needs the scope run or propose for this.`)
}

export function whyNotCharge(
  { caller, token }: Pick<UpdateRequest, 'caller'> & { token?: unknown },
  allowed: Permissions,
  { force, budgets }: { force: boolean | undefined; budgets: readonly string[] },
): Problem | null {
  if (force && !allowed.mayForce)
    return problem('forbidden', `${caller} may not force updates; that needs the scope admin.`)
  const other = budgets.find((budget) => !allowed.mayCharge(budget))
  if (other === undefined) return null
  const who = token && allowed.isListedFor(other) ? 'its token names' : 'the list of callers names'
  const detail = `${caller} may not charge the budget ${other}; ${who} the budgets that it may.`
  return problem('forbidden', detail, { budget: other })
}

/** The accepted age of definitions for requests that spend and change nothing. */
const believedForMs = 2_000

/** @param most for who has no rate of its own: the rate of unlisted callers can only lower it. */
export function rateOf(ledger: Ledger, caller: string, most?: number): number | undefined {
  const seen = ledger.lastSeen()
  if (!seen) return most
  const rate = rulesOfCaller(seen.definitions, caller)?.ratePerMinute
  if (rate === undefined || callerNamed(seen.definitions, caller)) return rate ?? most
  return Math.min(rate, most ?? rate)
}

export async function definitionsNow(
  { ledger, clock }: { ledger: Ledger; clock: Clock },
  { atOnce }: { atOnce: boolean },
): Promise<Definitions> {
  const seen = ledger.lastSeen()
  const isBelieved = !atOnce && seen !== null && clock.now() - seen.at <= believedForMs
  return isBelieved ? seen.definitions : (await ledger.view()).definitions
}
