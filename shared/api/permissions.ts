import type { Guard } from '../guard/guard.ts'
import type { Permissions } from '../guard/people/permissions.ts'
import { problem } from '../guard/problems.ts'
import type { Scope } from '../platform/words.ts'
import { Refusal } from './refusal.ts'

/** A claim of a token, and the scopes that each of its values gives. */
interface ScopesFrom {
  readonly claim: string
  readonly map: Readonly<Record<string, readonly Scope[]>>
}

const maxShown = 10

/**
 * @param from the claim of the issuer, if any. The refusal then names the values that would give the scope.
 * @throws Refusal 403
 */
export function mustBeAmong(sub: string, scopes: ReadonlySet<Scope>, anyOf: readonly Scope[], from?: ScopesFrom): void {
  if (anyOf.some((scope) => scopes.has(scope))) return
  const heldScopes = [...scopes].join(' ') || 'none'
  const detail = `${sub} needs the scope ${anyOf.join(' or ')} for this, and has: ${heldScopes}.`
  throw new Refusal(problem('forbidden', `${detail}${from ? helpfulValues(anyOf, from) : ''}`))
}

/** @throws Refusal 403 */
export function mustBePermitted({ caller, isDisabled, scopes }: Permissions, anyOf: readonly Scope[]): void {
  if (isDisabled) throw new Refusal(problem('forbidden', `${caller} is disabled; ask an administrator.`))
  mustBeAmong(caller, scopes, anyOf)
}

function helpfulValues(anyOf: readonly Scope[], { claim, map }: ScopesFrom): string {
  const values = Object.keys(map).filter((value) => anyOf.some((scope) => map[value]?.includes(scope)))
  if (values.length === 0) return ` No value of the claim ${claim} gives it.`
  const more = values.length - maxShown
  return ` It comes with one of these values of the claim ${claim}: ${values.slice(0, maxShown).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

/** @throws Refusal 403 if the caller may read only some budgets. */
export function mustReadAll({ caller, readsBudgets }: Permissions): void {
  if (readsBudgets === '*') return
  throw new Refusal(problem('forbidden', `${caller} reads only some budgets, and this shows all of them.`))
}

/** @throws Refusal 403 if the caller may not charge a budget of the plan. */
export async function mustBeCovered(
  guard: Pick<Guard, 'budgetsOf'>,
  plan: string,
  { caller, mayCharge }: Permissions,
): Promise<void> {
  const forbiddenBudget = (await guard.budgetsOf(plan)).find((budget) => !mayCharge(budget))
  if (forbiddenBudget === undefined) return
  const detail = `${caller} may not charge the budget ${forbiddenBudget}, which the plan ${plan} charges.`
  throw new Refusal(problem('forbidden', detail, { budget: forbiddenBudget }))
}
