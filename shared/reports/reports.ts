import type { ReportParts } from '../guard/background.ts'
import type { Guard } from '../guard/guard.ts'
import { once } from '../platform/parallel.ts'
import type { Reports } from './all-reports.ts'

const known = new WeakMap<Pick<Guard, 'reportParts'>, () => Promise<Reports>>()

/** The reports of a guard, as its caller may read them. Their code loads at the first call. */
export function reportsOf(guard: Pick<Guard, 'reportParts'>): Promise<Reports> {
  const reports = known.get(guard) ?? once(() => load(guard.reportParts))
  known.set(guard, reports)
  return reports()
}

async function load(reportParts: () => Promise<ReportParts>): Promise<Reports> {
  const [{ createReports }, parts] = await Promise.all([import('./all-reports.ts'), reportParts()])
  return createReports(parts)
}
