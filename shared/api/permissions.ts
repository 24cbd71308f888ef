import type { Guard } from '../guard/guard.ts'
import type { Permissions } from '../guard/people/permissions.ts'
import { problem } from '../guard/problems.ts'
import type { Scope } from '../platform/words.ts'
import { Refusal } from './refusal.ts'

/** @throws Refusal 403 */
export function mustBeAmong(sub: string, scopes: ReadonlySet<Scope>, any: readonly Scope[]): void {
  if (any.some((scope) => scopes.has(scope))) return
  const held = [...scopes].join(' ') || 'none'
  throw new Refusal(problem('forbidden', `${sub} needs the scope ${any.join(' or ')} for this, and has: ${held}.`))
}

/** @throws Refusal 403 if the caller may not charge a budget of the plan. */
export async function mustBeCovered(
  guard: Pick<Guard, 'background'>,
  plan: string,
  { sub, mayCharge }: { sub: string } & Pick<Permissions, 'mayCharge'>,
): Promise<void> {
  const { budgetsOf } = await guard.background()
  const barred = (await budgetsOf(plan)).find((budget) => !mayCharge(budget))
  if (barred === undefined) return
  const detail = `${sub} may not charge the budget ${barred}, which the plan ${plan} charges.`
  throw new Refusal(problem('forbidden', detail, { budget: barred }))
}
