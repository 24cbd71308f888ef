import type { Units } from '../../platform/words.ts'
import { either, map, type Of, units } from '../store/stored.ts'

/** Units that a plan's update must leave to others: one number for all counters, or a number for each budget. */
export const storedLeave = either(units, map(units))
export type Leave = Of<typeof storedLeave>

interface Leaving {
  readonly plan?: string | undefined
  readonly leave?: Leave | undefined
}

interface Keeping {
  readonly name: string
  readonly keep?: Units | undefined
}

const none = 0 as Units

/** Units of each window of a budget that the update must leave: to others if it is a plan's, else what the budget keeps for plans. */
export function leftOf({ plan, leave = none }: Leaving, { name, keep = none }: Keeping): Units {
  if (plan === undefined) return keep
  if (typeof leave === 'number') return leave
  return (Object.hasOwn(leave, name) ? leave[name] : undefined) ?? none
}
