import type { Guard } from '../guard/guard.ts'
import type { Permissions } from '../guard/people/permissions.ts'
import { problem } from '../guard/problems.ts'
import type { Scope } from '../platform/words.ts'
import { Refusal } from './refusal.ts'

/** @throws Refusal 403 */
export function mustBeAmong(sub: string, scopes: ReadonlySet<Scope>, anyOf: readonly Scope[]): void {
  if (anyOf.some((scope) => scopes.has(scope))) return
  const heldScopes = [...scopes].join(' ') || 'none'
  throw new Refusal(
    problem('forbidden', `${sub} needs the scope ${anyOf.join(' or ')} for this, and has: ${heldScopes}.`),
  )
}

/** @throws Refusal 403 if the caller may not charge a budget of the plan. */
export async function mustBeCovered(
  guard: Pick<Guard, 'background'>,
  plan: string,
  { sub, mayCharge }: { sub: string } & Pick<Permissions, 'mayCharge'>,
): Promise<void> {
  const { budgetsOf } = await guard.background()
  const forbiddenBudget = (await budgetsOf(plan)).find((budget) => !mayCharge(budget))
  if (forbiddenBudget === undefined) return
  const detail = `${sub} may not charge the budget ${forbiddenBudget}, which the plan ${plan} charges.`
  throw new Refusal(problem('forbidden', detail, { budget: forbiddenBudget }))
}
