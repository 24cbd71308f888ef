import type { Ledger } from '../ledger/ledger.ts'
import { pagesOf } from '../ledger/lists.ts'
import type { Problem } from '../ledger/update.ts'
import type { View } from '../ledger/views.ts'
import { dayAt, monthAt } from '../ledger/windows.ts'
import { toRfc3339 } from '../platform/clock.ts'
import type { Kind } from '../platform/words.ts'
import type { Known } from './decide.ts'
import { runsOf } from './duplicate-work.ts'
import { doubtBlocksMs, type GuardOptions } from './options.ts'
import { problem } from './problems.ts'
import { when, zoneOf } from './sentences.ts'

const rowsAtATime = 100

/**
 * Why work is not done whose last update may have been lost with the table of before. `force` does it all the same, but only of
 * a request that cannot be from before: nobody can say whether an older key was answered already.
 */
export function mayBeLost({ view, asked, request, isOldKey }: Known, options: GuardOptions): Problem | null {
  const restored = view.definitions.identity?.restored
  if (!restored) return null
  const until = lostUntil(view, restored.at, request.kind, options)
  const [ran] = runsOf(asked)
  const isKnown = ran !== undefined && ran.at >= restored.at
  if (view.now >= until || isKnown) return null
  const isNew = request.createdAt >= restored.at
  if (request.force && isNew && !isOldKey) return null
  const zone = zoneOf(view)
  const from = restored.to === undefined ? '' : `between ${when(restored.to, zone)} and `
  const prefix = keyPrefix(view)
  const how = request.force
    ? `use an Idempotency-Key that begins with ${prefix}, since an older key may have been answered before`
    : `look at the service, and force it with a reason (an Idempotency-Key must then begin with ${prefix})`
  return problem(
    'ledger-restored',
    `The ledger was restored, so nobody knows whether ${request.project} was updated ${from}${when(restored.at, zone)}; until ${when(until, zone)}, ${how}.`,
    { until: toRfc3339(until) },
  )
}

/** A key of before the restore cannot begin so: it names the epoch that the restore began. */
const keyPrefix = ({ definitions }: View): string => `restored-${definitions.identity?.epoch ?? 0}-`

/** Whether a key may be of a request that the table of before has answered. */
export const isOldKey = (view: View, key: string | undefined): boolean =>
  view.definitions.identity?.restored !== undefined && key !== undefined && !key.startsWith(keyPrefix(view))

/** What was lost is out of its cool-down, out of doubt and out of flight by then. */
function lostUntil(view: View, at: number, kind: Kind, { cooldown, serviceFlightMs }: GuardOptions): number {
  const rest = cooldown[kind] === 'day' ? 0 : cooldown[kind]
  return Math.max(dayAt(view.definitions.calendar, at).end, at + Math.max(doubtBlocksMs, serviceFlightMs, rest))
}

/** Why the freeze of a restore is not lifted yet: the book lacks what ran since. */
export async function notReconciled(
  ledger: Pick<Ledger, 'entries'>,
  view: View,
  budget: string,
): Promise<Problem | null> {
  const { identity, calendar, budgets } = view.definitions
  const restored = identity?.restored
  if (!restored || budgets[budget]?.frozen?.at !== restored.at) return null
  for (const month of new Set([monthAt(calendar, restored.at).name, view.month.name])) {
    const pages = pagesOf((cursor) => ledger.entries({ month, budget, since: restored.at }, rowsAtATime, cursor))
    for await (const { rows } of pages) if (rows.some(({ type }) => type === 'reconcile')) return null
  }
  return problem(
    'wrong-state',
    `${budget} was frozen by a restore, and its book lacks what ran since: reconcile it with the vendor's figure first (POST /budgets/${budget}/reconcile).`,
  )
}
