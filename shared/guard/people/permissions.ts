import type { Caller } from '../../auth/tokens.ts'
import type { View } from '../../ledger/book/view.ts'
import {
  budgetNamed,
  callerNamed,
  chainOf,
  type Definitions,
  type Caller as ListedCaller,
  rootBudget,
  rulesOfCaller,
} from '../../ledger/definitions/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Problem, UpdateRequest } from '../../ledger/updates/update.ts'
import type { Clock } from '../../platform/clock.ts'
import { scopes as anyScope, type Scope } from '../../platform/words.ts'
import { problem } from '../problems.ts'
import { covers } from '../rules/projects.ts'

/** People in Slack have no token. */
export interface CallerIdentity {
  readonly caller: string
  readonly token?: Pick<Caller, 'scopes' | 'budgets' | 'person' | 'readsBudgets' | 'issuer'>
}

/** A caller's rights according to one revision of the definitions. Computed for each request. */
export interface Permissions {
  readonly caller: string
  /** The person behind the caller, from a claim. */
  readonly person?: string
  readonly isListed: boolean
  readonly scopes: ReadonlySet<Scope>
  /** The scopes that the list of callers allows. The token may have fewer. */
  readonly listedScopes: readonly Scope[]
  readonly isAdmin: boolean
  readonly mayForce: boolean
  readonly mayChargeAncestors: boolean
  readonly isDisabled: boolean
  mayCharge(budget: string): boolean
  /** Whether the list of callers allows the budget, whatever the token allows. */
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
  // Refusals for an administrator name budgets that a narrowed caller may not read.
  const isHeld = (scope: Scope) => !isDisabled && may(scope) && !(isNarrowed && scope === 'admin')
  const scopes = new Set([...given.scopes].filter(isHeld))
  const isListedFor = (budget: string) => covers(definitions, listed?.budgets ?? '*', budget)
  const isAdmin = scopes.has('admin')
  return {
    caller,
    isListed: listed !== undefined,
    scopes,
    isAdmin,
    isDisabled,
    listedScopes: listed?.scopes ?? [],
    ...(given.person !== undefined && { person: given.person }),
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

/** The most that the list of callers allows. The token, which is not stored, may allow less. */
export function permissionsAtMost(definitions: Definitions, caller: string): Permissions {
  const token = { scopes: new Set(anyScope), budgets: '*' } as const
  return permissionsOf(definitions, caller.startsWith('slack:') ? { caller } : { caller, token })
}

/** Whether the approval still counts. Only the list of callers can revoke it, because the token is not stored. */
export const mayStillApprove = (definitions: Definitions, by: string): boolean =>
  permissionsAtMost(definitions, by).scopes.has('approve')

export function whyNotSubmit(caller: string, { isDisabled, scopes, listedScopes }: Permissions): Problem | null {
  if (isDisabled) return problem('forbidden', `${caller} is disabled; ask an administrator.`)
  if (scopes.has('run') || scopes.has('propose')) return null
  const listed = listedScopes.filter((scope) => scope === 'run' || scope === 'propose').join(' or ')
  const why = listed && '; the list of callers allows it, but the token lacks it'
  return problem('forbidden', `${caller} needs the scope ${listed || 'run or propose'} for this${why}.`)
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

/** @param most the rate of a caller without an own rate. The rate of unlisted callers can only lower `most`. */
export function rateOf(ledger: Ledger, caller: string, most?: number): number | undefined {
  const seen = ledger.lastSeen()
  if (!seen) return most
  const rate = rulesOfCaller(seen.definitions, caller)?.ratePerMinute
  if (rate === undefined || callerNamed(seen.definitions, caller)) return rate ?? most
  return Math.min(rate, most ?? rate)
}

/** @returns the definitions, and the view that was read for them. `null`: nothing was read. */
export async function definitionsNow(
  { ledger, clock }: { ledger: Ledger; clock: Clock },
  { atOnce }: { atOnce: boolean },
): Promise<{ readonly definitions: Definitions; readonly view: View | null }> {
  const seen = ledger.lastSeen()
  const isBelieved = !atOnce && seen !== null && clock.now() - seen.at <= believedForMs
  if (isBelieved) return { definitions: seen.definitions, view: null }
  const view = await ledger.view()
  return { definitions: view.definitions, view }
}
