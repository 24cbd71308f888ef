import type { Finding } from '../ledger/finding.ts'
import type { Hold, Update } from '../ledger/update.ts'
import { toRfc3339 } from '../platform/clock.ts'
import type { RunResult } from '../tracking/tracking.ts'
import type { HoldFields, RunFields } from './log-lines.ts'

/** All that a ledger restored to before this hold must know of it: written before `run` is sent (docs/log.md). */
export const holdFields = (update: Update, hold: Hold): HoldFields => ({
  update: update.id,
  kind: update.kind,
  project: update.project,
  budget: update.budget,
  budgets: hold.budgets,
  owners: hold.owners,
  month: update.month,
  day: hold.day,
  caller: update.caller,
  via: update.via,
  plan: update.plan,
  held: hold.units,
  heldAt: toRfc3339(hold.at),
  grants: hold.grants,
})

/** The same with what became of it; written before the ledger is told, so that it stands where the ledger does not answer. */
export const runFields = (
  update: Update,
  hold: Hold,
  { finding, result, ms }: { finding: Finding; result: RunResult | null; ms: number },
): RunFields => ({
  ...holdFields(update, hold),
  found: finding.kind,
  charged: finding.kind === 'ran' ? finding.units : finding.kind === 'did-not-run' ? 0 : null,
  stated: result?.kind === 'ran' ? result.stated?.units : undefined,
  status: (result?.kind === 'ran' ? result.answer.status : result?.status) ?? undefined,
  note: finding.note,
  ms,
})
