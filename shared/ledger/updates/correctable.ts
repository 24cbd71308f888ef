import { dayMs } from '../../platform/clock.ts'
import { budgetNamed, type Definitions, rootBudget } from '../definitions/definitions.ts'
import { dayAt, monthNamed } from '../definitions/windows.ts'
import type { Update } from './update.ts'

const correctableDays = 60

/** If the payer was deleted, only `account` can take the entry. */
export const payerOf = ({ budget }: Update, { definitions }: { readonly definitions: Definitions }): string =>
  budgetNamed(definitions, budget) ? budget : rootBudget

/** `null`: the charge may be corrected now. */
export function whyNotCorrected(
  update: Update,
  { definitions, now }: { readonly definitions: Definitions; readonly now: number },
): string | null {
  const { id, state, budget, month } = update
  if (state === 'in-doubt') return `${id} is in doubt: resolve it instead, with the units that it cost.`
  if (state === 'running') return `${id} is running: wait until it ends.`
  if (state === 'released' && !update.corrected) {
    return `${id} did not run, so nothing was charged. If it did run, book its units on ${budget} as an external-spend.`
  }
  if (state !== 'settled' && state !== 'released') return `${id} is ${state.replace('-', ' ')}, so nothing was charged.`
  const { calendar } = definitions
  const end = monthNamed(calendar, month)?.end ?? 0
  const until = end + correctableDays * dayMs
  if (now < until) return null
  const [, last] = dayAt(calendar, until - 1).name.split(':')
  return `The charge of ${id} could be corrected until ${last}, ${correctableDays} days after its month. Book a grant or an external-spend in the open month instead.`
}
