import type { PlannedParts } from './options.ts'
import { createAnsweredDoubts } from './people/answered-doubts.ts'
import type { Approvals } from './people/approvals.ts'
import { createCloseDelivery } from './people/close-delivery.ts'
import { createCloseMonth } from './people/close-month.ts'
import { createInbox } from './people/inbox.ts'
import { createReconcile } from './people/reconcile.ts'
import { createCalendar } from './plans/calendar.ts'
import { createPrices } from './plans/forecast.ts'
import { createOccurrences } from './plans/occurrences.ts'
import { createPlayer } from './plans/player.ts'
import { createDigest } from './reports/digest.ts'
import { createRecent } from './reports/figures.ts'
import { createMonths } from './reports/history.ts'
import { createOutlook } from './reports/outlook.ts'
import { createProfiles } from './reports/profiles.ts'
import { createSpenders } from './reports/spenders.ts'
import { createStatements } from './reports/statements.ts'
import { createSummaries } from './reports/summary.ts'
import { createUnlisted } from './reports/unlisted.ts'
import { createUpdateCounts } from './reports/update-counts.ts'
import { createAlerts, createMetrics, createTokenExpiry } from './sweep/alerts.ts'
import { createRunsOutside } from './sweep/runs-outside.ts'
import { createSweep } from './sweep/sweep.ts'
import type { Resume } from './update/resume.ts'
import type { WaitUntil } from './update/service-wait.ts'

export type Background = ReturnType<typeof createBackground>

export function createBackground(parts: PlannedParts & { approvals: Approvals; resume: Resume; waitUntil: WaitUntil }) {
  const { ledger, resume } = parts
  const occurrences = createOccurrences({ ...parts, begin: resume.begin })
  const alerts = createAlerts(parts)
  const sweep = createSweep({ ...parts, start: resume.start, alerts, ...occurrences })
  const { prices, readPrices } = createPrices(parts)
  const recent = createRecent(parts)
  const { playPlans, forget } = createPlayer({ ...parts, prices })
  const calendar = createCalendar({ ...parts, playPlans, recent })
  const { outlook, callerStops } = createOutlook({ ledger, forecastWith: calendar.forecastWith, recent })
  return {
    ...occurrences,
    ...sweep,
    ...calendar,
    readPrices: (endsAt: number) => readPrices(endsAt).finally(forget),
    checkThresholds: alerts.checkThresholds,
    checkOutlook: async () => alerts.checkOutlook(await outlook(undefined, async () => [])),
    ...createInbox(parts),
    ...createAnsweredDoubts(parts),
    ...createCloseDelivery(parts),
    ...createReconcile(parts),
    ...createCloseMonth(parts),
    ...createDigest({ ledger, prices, outlook, unitPrices: parts.unitPrices ?? null }),
    ...{ outlook, callerStops },
    ...createSpenders({ ledger, recent }),
    ...createProfiles(parts),
    ...createUnlisted({ ...parts, recent }),
    ...createUpdateCounts(parts),
    ...createMonths(parts),
    ...createRunsOutside(parts),
    ...createTokenExpiry(parts),
    ...createMetrics(parts),
    ...createSummaries(parts),
    ...createStatements(parts),
  }
}
