import type { Ledger } from '../../shared/ledger/ledger.ts'
import { summaryDayAt } from '../../shared/ledger/updates/summary-days.ts'
import { daySummaries, type Summary } from '../../shared/reports/stored-summary.ts'

export async function summaryOf(ledger: Ledger, instant: string | number): Promise<Summary> {
  const { definitions } = await ledger.view()
  const at = typeof instant === 'number' ? instant : Date.parse(instant)
  const [summary] = await ledger.item(daySummaries).read([summaryDayAt(definitions.calendar, at)])
  if (!summary) throw new Error('the day has no summary')
  return summary
}
