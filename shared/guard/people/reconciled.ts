import type { Entry } from '../../ledger/book/entry.ts'
import type { View } from '../../ledger/book/view.ts'
import { monthAt } from '../../ledger/definitions/windows.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { pagesOf } from '../../ledger/store/pages.ts'
import type { Problem } from '../../ledger/updates/update.ts'
import { problem } from '../problems.ts'
import { when, zoneOf } from '../sentences.ts'

const rowsAtATime = 100

/** Keeps a restore's freeze until a reconciliation with a figure that includes all runs before the restore. */
export async function notReconciled(
  ledger: Pick<Ledger, 'entries'>,
  view: View,
  { budget, flightMs }: { budget: string; flightMs: number },
): Promise<Problem | null> {
  const { identity, calendar, budgets } = view.definitions
  const restored = identity?.restored
  if (!restored || budgets[budget]?.frozen?.at !== restored.at) return null
  const from = restored.at + flightMs
  const isEnough = ({ type, at, asOf = at }: Entry) => type === 'reconcile' && asOf >= from
  for (const month of new Set([monthAt(calendar, restored.at).name, view.month.name])) {
    const pages = pagesOf((cursor) => ledger.entries({ month, budget, since: from }, rowsAtATime, cursor))
    for await (const { rows } of pages) if (rows.some(isEnough)) return null
  }
  return problem(
    'wrong-state',
    `${budget} was frozen by a restore, and its book lacks updates that ran since. First reconcile it with the vendor's figure of ${when(from, zoneOf(view))} or later (POST /budgets/${budget}/reconcile).`,
  )
}
