import { isFinal, isKnownToHaveRun, type Problem, type Run, runOf, type Update } from '../ledger/update.ts'
import type { AskedView, View } from '../ledger/views.ts'
import { dayAt } from '../ledger/windows.ts'
import { runsIn } from '../ledger/work.ts'
import type { Known } from './decide.ts'
import { landedBy } from './landing.ts'
import { doubtBlocksMs, type GuardOptions } from './options.ts'
import { problem } from './problems.ts'
import { when, zoneOf } from './sentences.ts'

/** Why the same work is not done again: it is running, in doubt, or was done a short while ago. `null`: it may be done. */
export function duplicateOf({ view, asked, request }: Known, options: GuardOptions): Problem | null {
  const same = `The ${request.kind} update of ${request.project}`
  const holders = holdersOf(asked)
  const running = holders.find(({ state }) => state === 'running')
  if (running)
    return problem('duplicate-work', `${same} is already running as ${running.id}; ask again when it has ended.`, {
      update: running.id,
    })
  for (const holder of holders.filter(({ state }) => state === 'in-doubt')) {
    const until = doubtBlocksUntil(view, holder, options)
    if (view.now < until)
      return problem(
        'duplicate-work',
        `${same} is in doubt as ${holder.id}: it may have run. A person can resolve it; without that, the project may go on from ${when(until, zoneOf(view))}.`,
        { update: holder.id },
      )
  }
  const [ran] = runsOf(asked)
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

function holdersOf({ works, records }: AskedView): readonly Update[] {
  const ids = new Set(works.flatMap(({ work }) => (work ? [work.update] : [])))
  return [...ids].flatMap((id) => records.get(id) ?? [])
}

/**
 * The runs of the work that are known, the latest first, up to the first that nothing can take back: that one answers for
 * longer than those before it. A remembered run is judged by its record; where that is gone, it counts as it was noted.
 */
export function runsOf(asked: AskedView): readonly Run[] {
  const { works, records } = asked
  const runs = new Map(holdersOf(asked).map((holder) => [holder.id, runOf(holder)]))
  for (const noted of works.flatMap(({ work }) => (work ? runsIn(work) : []))) {
    const record = records.get(noted.update)
    runs.set(noted.update, record ? runOf(record) : noted)
  }
  const known = [...runs.values()]
    .filter(({ update }) => isKnown(records.get(update)))
    .toSorted((one, other) => other.at - one.at)
  const last = known.findIndex(({ update }) => isCertain(records.get(update)))
  return last < 0 ? known : known.slice(0, last + 1)
}

const isKnown = (record: Update | undefined): boolean => !record || isKnownToHaveRun(record)
const isCertain = (record: Update | undefined): boolean => !record || isFinal(record)

function cooldownUntil(view: View, at: number, cooldown: GuardOptions['cooldown']['ranking']): number {
  return cooldown === 'day' ? dayAt(view.definitions.calendar, at).end : at + cooldown
}

function doubtBlocksUntil(view: View, update: Update, options: GuardOptions): number {
  const at = update.hold?.at ?? update.createdAt
  // Never beside a request that may still take effect, however long the service may take.
  return Math.max(dayAt(view.definitions.calendar, at).end, at + doubtBlocksMs, landedBy(update, options))
}
