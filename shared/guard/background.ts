import { productKinds } from '../tracking/kinds.ts'
import { createAnsweredDoubts } from './inbox/answered-doubts.ts'
import { createCloseDelivery } from './inbox/close-delivery.ts'
import { createCloseMonth } from './inbox/close-month.ts'
import { createInbox } from './inbox/inbox.ts'
import { createReconcile } from './inbox/reconcile.ts'
import type { PlannedParts } from './options.ts'
import type { Approvals } from './people/decisions.ts'
import { createOccurrences } from './plans/occurrences.ts'
import { createPlayer } from './plans/player.ts'
import { createPrices } from './plans/prices.ts'
import type { WaitUntil } from './plans/service-wait.ts'
import { createPlanStatuses } from './plans/statuses.ts'
import { createAlerts, createMetrics, createTokenExpiry } from './sweep/alerts.ts'
import { createRunsOutside } from './sweep/runs-outside.ts'
import { createSweep } from './sweep/sweep.ts'
import type { Resume } from './update/resume.ts'

export type Background = ReturnType<typeof createBackground>

/** What a report is made of. A narrowed reader's ledger has only this reader's budgets. */
export type ReportParts = Awaited<ReturnType<Background['reportParts']>>

export function createBackground(parts: PlannedParts & { approvals: Approvals; resume: Resume; waitUntil: WaitUntil }) {
  const { ledger, log, plans, resume, kinds = productKinds, unitPrices = null } = parts
  const occurrences = createOccurrences({ ...parts, begin: resume.begin })
  const alerts = createAlerts(parts)
  const sweep = createSweep({ ...parts, start: resume.start, alerts, ...occurrences })
  const { prices, readPrices } = createPrices(parts)
  const { playPlans, forget } = createPlayer({ ...parts, prices })
  return {
    ...occurrences,
    ...sweep,
    ...createPlanStatuses(parts),
    readPrices: (endsAt: number) => readPrices(endsAt).finally(forget),
    checkThresholds: alerts.checkThresholds,
    ...createInbox(parts),
    ...createAnsweredDoubts(parts),
    ...createCloseDelivery(parts),
    ...createReconcile(parts),
    ...createCloseMonth(parts),
    ...createRunsOutside(parts),
    ...createTokenExpiry(parts),
    ...createMetrics(parts),
    reportParts: async () => ({ ledger, log, plans, kinds, unitPrices, prices, playPlans, announce: alerts.announce }),
  }
}
