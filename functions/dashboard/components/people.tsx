import { type Definitions, personOf, planOfCaller } from '../../../shared/ledger/book/definitions.ts'
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
  if (plan !== undefined) return <PlanName name={plan} />
  const person = personOf(definitions, caller)
  return (
    <span title={person === caller ? undefined : caller}>
      {person}
      {via === 'http' ? null : <span class="note">via {via}</span>}
    </span>
  )
}

export const PlanName = ({ name }: { name: string }) => (
  <>
    plan <a href={planAddress(name)}>{name}</a>
  </>
)

/** `morning` for `plan morning` and `schedule:morning`. `null`: the words name no plan. */
export const planIn = (words: string): string | null => /^(?:plan |schedule:)\s*(\S+)$/i.exec(words)?.[1] ?? null

/** A caller as it is written, or the plan. */
export function Who({ name }: { name: string }) {
  const plan = planOfCaller(name)
  return plan === null ? name : <PlanName name={plan} />
}
