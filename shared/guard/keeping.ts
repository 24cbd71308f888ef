import type { Closing } from './closing.ts'
import type { Deciding } from './deciding.ts'
import { createDigesting } from './digest.ts'
import { createForeignData } from './foreign-data.ts'
import type { GuardParts } from './guard.ts'
import { createMeasuring } from './measuring.ts'
import { createOccurrences } from './occurrences.ts'
import { createPicturing } from './picturing.ts'
import type { Plan } from './plan.ts'
import { createPlanning } from './planning.ts'
import { createPricing } from './pricing.ts'
import type { Starting } from './starting.ts'
import { createStatements } from './statements.ts'
import { createSweeping } from './sweeping.ts'
import { createTallying } from './tallying.ts'
import { createTokenExpiry } from './token-expiry.ts'
import { createWatching } from './watching.ts'

export type Keeping = ReturnType<typeof createKeeping>

/** What no caller waits for, or few ask for: plans and what they will cost, the sweep, what is told, measured and drawn. */
export function createKeeping(
  parts: Omit<GuardParts, 'plans'> & {
    plans: readonly Plan[]
    closing: Closing
    deciding: Deciding
    starting: Starting
  },
) {
  const { ledger, starting } = parts
  const occurrences = createOccurrences({ ...parts, begin: starting.begin })
  const watching = createWatching(parts)
  const sweeping = createSweeping({ ...parts, start: starting.start, watching, advance: occurrences.advance })
  const { prices, readPrices } = createPricing(parts)
  const planning = createPlanning({ ...parts, prices })
  return {
    ...occurrences,
    ...sweeping,
    ...planning,
    readPrices,
    watchThresholds: watching.watchThresholds,
    ...createDigesting({ ledger, prices, foresee: planning.foresee }),
    ...createForeignData(parts),
    ...createTokenExpiry(parts),
    ...createMeasuring(parts),
    ...createPicturing(parts),
    ...createTallying(parts),
    ...createStatements(parts),
  }
}
