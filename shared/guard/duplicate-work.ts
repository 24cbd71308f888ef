import { isKnownToHaveRun, type Problem, type Update } from '../ledger/update.ts'
import type { AskedView, View } from '../ledger/views.ts'
import { dayAt } from '../ledger/windows.ts'
import type { Work } from '../ledger/work.ts'
import type { Known } from './decide.ts'
import { landedBy } from './landing.ts'
import { doubtBlocksMs, type GuardOptions } from './options.ts'
import { problem } from './problems.ts'
import { when, zoneOf } from './sentences.ts'

/** Why the same work is not done again: it is running, in doubt, or was done a short while ago. `null`: it may be done. */
export function duplicateOf({ view, asked, request }: Known, options: GuardOptions): Problem | null {
  const { holder } = asked
  const same = `The ${request.kind} update of ${request.project}`
  if (holder?.state === 'running')
    return problem('duplicate-work', `${same} is already running as ${holder.id}; ask again when it has ended.`, {
      update: holder.id,
    })
  if (holder?.state === 'in-doubt') {
    const until = doubtBlocksUntil(view, holder, options)
    if (view.now < until)
      return problem(
        'duplicate-work',
        `${same} is in doubt as ${holder.id}: it may have run. A person can resolve it; without that, the project may go on from ${when(until, zoneOf(view))}.`,
        { update: holder.id },
      )
  }
  const ran = lastRunOf(asked)
  if (ran && !request.force) {
    const until = cooldownUntil(view, ran.at, options.cooldown[request.kind])
    if (view.now < until)
      return problem(
        'already-updated',
        `${same} was done at ${when(ran.at, zoneOf(view))} as ${ran.update}; until ${when(until, zoneOf(view))} that is the answer, and nothing is spent.`,
        { update: ran.update },
      )
  }
  return null
}

/** The last update of the work that is known to have run. */
export const lastRunOf = ({ work, holder }: AskedView): Work['ran'] =>
  holder && isKnownToHaveRun(holder) ? { update: holder.id, at: ranAt(holder), units: holder.charged ?? 0 } : work?.ran

/** When the work was done, as well as is known: a resolution long after says nothing about the time of the run. */
const ranAt = (update: Update): number =>
  update.closedBy === 'sender' ? (update.finishedAt ?? update.createdAt) : (update.hold?.at ?? update.createdAt)

function cooldownUntil(view: View, at: number, cooldown: GuardOptions['cooldown']['ranking']): number {
  return cooldown === 'day' ? dayAt(view.definitions.calendar, at).end : at + cooldown
}

function doubtBlocksUntil(view: View, update: Update, options: GuardOptions): number {
  const at = update.hold?.at ?? update.createdAt
  // Never beside a request that may still take effect, however long the service may take.
  return Math.max(dayAt(view.definitions.calendar, at).end, at + doubtBlocksMs, landedBy(update, options))
}
