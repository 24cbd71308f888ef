import type { View } from '../../ledger/book/view.ts'
import { usedOf } from '../../ledger/definitions/counters.ts'
import { budgetNamed } from '../../ledger/definitions/definitions.ts'
import { usualThresholds } from '../options.ts'
import type { Figures } from '../sentences.ts'

export const totalOf = ({ limit, granted }: Figures): number => (limit === 'unlimited' ? 0 : limit + granted)

/** `passed`: the budget's thresholds that the counter has reached. */
export function thresholdsOf({ definitions }: View, figures: Figures) {
  const [of, used] = [totalOf(figures), usedOf(figures)]
  const thresholds = budgetNamed(definitions, figures.budget)?.thresholds ?? usualThresholds
  return { of, used, passed: thresholds.filter((each) => of > 0 && used * 100 >= of * each) }
}
