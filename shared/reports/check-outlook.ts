import type { ReportParts } from '../guard/background.ts'
import type { Outlook } from './outlook.ts'

/** Skips budgets that are over or stopped, because other announcements report that. */
export async function checkOutlook(announce: ReportParts['announce'], { view, budgets }: Outlook): Promise<void> {
  const { month, now } = view
  for (const { budget, status, reasons, month: forecast } of budgets) {
    const reason = reasons.find(({ kind }) => kind === 'plans-run-out' || kind === 'pace-runs-out')
    if (status !== 'at-risk' || (reason?.kind !== 'plans-run-out' && reason?.kind !== 'pace-runs-out')) continue
    const plan = reason.kind === 'plans-run-out' ? reason.plan : null
    const { at, short, isAtLeast } = reason
    const about = { budget, at, short, left: forecast.available ?? 0, resetsAt: month.end }
    await announce(`will-run-out#${budget}#${month.name}`, now, {
      kind: 'will-run-out',
      ...about,
      ...(plan !== null && { plan }),
      ...(isAtLeast && { isAtLeast }),
    })
  }
}
