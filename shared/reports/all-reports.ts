import type { ReportParts } from '../guard/background.ts'
import { checkOutlook } from './check-outlook.ts'
import { createDigest } from './digest.ts'
import { createRecent } from './figures.ts'
import { createMonths } from './history.ts'
import { createOutlook } from './outlook.ts'
import { createCalendar } from './plans/calendar.ts'
import { createProfiles } from './profiles.ts'
import { createSpenders } from './spenders.ts'
import { createStatements } from './statements/statements.ts'
import { createSummaries } from './summary.ts'
import { createUnlisted } from './unlisted.ts'
import { createUpdateCounts } from './update-counts.ts'

export type Reports = ReturnType<typeof createReports>

export function createReports(parts: ReportParts) {
  const { ledger, prices, announce, unitPrices = null } = parts
  const recent = createRecent(parts)
  const calendar = createCalendar({ ...parts, recent })
  const { outlook, callerStops } = createOutlook({ ledger, forecastWith: calendar.forecastWith, recent })
  return {
    ...calendar,
    outlook,
    callerStops,
    checkOutlook: async () => checkOutlook(announce, await outlook(undefined, async () => [])),
    ...createDigest({ ledger, prices, outlook, unitPrices, announce }),
    ...createSpenders({ ledger, recent }),
    ...createProfiles(parts),
    ...createUnlisted({ ...parts, recent }),
    ...createUpdateCounts(parts),
    ...createMonths(parts),
    ...createSummaries(parts),
    ...createStatements(parts),
  }
}
