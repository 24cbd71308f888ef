import { invalid } from '../../shared/api/refusal.ts'
import { reason } from '../../shared/api/schemas.ts'
import type { ChangeResult } from '../../shared/guard/people/budgets.ts'
import { Contention } from '../../shared/ledger/errors.ts'
import type { Problem } from '../../shared/ledger/updates/update.ts'
import type { Flash } from './flash.ts'

/** A change is filled in, looked at in a preview, and confirmed; or filled in once more. */
const steps = ['preview', 'confirm', 'edit'] as const
type Step = (typeof steps)[number]

/** @throws Refusal when none of our buttons was pressed. */
export function stepOf(form: URLSearchParams): Step {
  const step = steps.find((each) => each === form.get('step'))
  if (step) return step
  throw invalid([{ path: 'step', message: 'takes one of the buttons' }])
}

/** @throws Refusal when it is too long. */
export function reasonOf(form: URLSearchParams): string | undefined {
  const given = form.get('reason')?.trim() ?? ''
  if (given === '') return undefined
  const parsed = reason.safeParse(given)
  if (parsed.success) return parsed.data
  throw invalid([{ path: 'reason', message: parsed.error.issues[0]?.message ?? '' }])
}

const maxRounds = 8

/** Of two changes at one moment, one finds that the definitions have moved: it looks, and decides, once more. */
export async function onNewest(decide: () => Promise<ChangeResult>): Promise<ChangeResult> {
  for (let round = 1; ; round++) {
    const changed = await decide()
    if (!isOvertaken(changed) || round === maxRounds) return changed
  }
}

export const isOvertaken = (changed: { kind: string; problem?: Problem }): boolean =>
  changed.problem?.slug === 'precondition-failed'

/** @param answer `null`: another user was faster, so that it has to be looked at again. @throws Contention */
export async function untilAnswered(answer: () => Promise<Response | null>): Promise<Response> {
  for (let round = 1; round <= maxRounds; round++) {
    const answered = await answer()
    if (answered !== null) return answered
  }
  throw new Contention('the definitions keep changing')
}

/** What came of it, for the page that is shown after it. */
export function flashOf(changed: ChangeResult, done: string): Flash {
  if (changed.kind === 'changed') return { done: [done], failed: [] }
  const failed = isOvertaken(changed)
    ? 'Something was changed since you saw the page, so nothing was done. Look once more.'
    : changed.problem.detail
  return { done: [], failed: [failed] }
}
