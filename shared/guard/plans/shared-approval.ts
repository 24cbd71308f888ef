import type { Definitions } from '../../ledger/book/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { wantsUnownedApproval } from '../update/unowned.ts'
import { attemptsOf, type ProjectAttempts } from './attempts.ts'
import type { Plan } from './plans-file.ts'

/** One approval is enough for all projects of an occurrence that no budget lists. */

/** A grant, and a price that has grown since an approval, are approved by themselves. */
const isShared = (definitions: Definitions, { project, state, short, approvedBefore }: Update): boolean =>
  state === 'awaiting-approval' &&
  short === undefined &&
  approvedBefore === undefined &&
  wantsUnownedApproval(definitions, project)

/** The updates that this approval is enough for. */
export async function approvedWith(
  { ledger, plans }: { readonly ledger: Ledger; readonly plans: () => Promise<readonly Plan[]> },
  { id, plan: name, scheduledAt, project }: Update,
): Promise<readonly Update[]> {
  if (name === undefined || scheduledAt === undefined) return []
  const [{ definitions }, all] = await Promise.all([ledger.view(), plans()])
  const plan = all.find((each) => each.name === name)
  if (!plan || !wantsUnownedApproval(definitions, project)) return []
  const tried = await attemptsOf(ledger, plan, { time: scheduledAt })
  return tried
    .flatMap(({ updates }) => updates.at(-1) ?? [])
    .filter((update) => update.id !== id && isShared(definitions, update))
}

/** The update whose approval is enough for this one, which had no decision yet when that was given. */
export async function approvedBefore(
  ledger: Ledger,
  tried: readonly ProjectAttempts[],
  update: Update,
): Promise<Update | null> {
  const { definitions } = await ledger.view()
  if (!isShared(definitions, update)) return null
  const ids = tried.flatMap(({ updates }) => updates.at(-1)?.id ?? []).filter((id) => id !== update.id)
  const others = await ledger.updatesNamed(ids)
  return others.find((other) => other?.approval && wantsUnownedApproval(definitions, other.project)) ?? null
}
