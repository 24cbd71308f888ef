import { type Definitions, personOf } from '../../../shared/ledger/book/definitions.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { planAddress } from './parts.tsx'

/** Who asked: the person behind a caller, or the plan. */
export function CallerName({
  update: { caller, via, plan },
  definitions,
}: {
  update: Pick<Update, 'caller' | 'via' | 'plan'>
  definitions: Definitions
}) {
  if (plan !== undefined)
    return (
      <>
        plan <a href={planAddress(plan)}>{plan}</a>
      </>
    )
  const person = personOf(definitions, caller)
  return (
    <span title={person === caller ? undefined : caller}>
      {person}
      {via === 'http' ? null : <span class="note">via {via}</span>}
    </span>
  )
}
