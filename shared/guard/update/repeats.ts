import type { Ledger } from '../../ledger/ledger.ts'
import { announcement } from '../../ledger/updates/tasks.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { type Clock, hourMs } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { repeatsToTell, repeatsWithinMs } from '../sweep/unusual.ts'

const maxCallers = 1_000

/** Notices callers that repeat themselves. Replays write nothing, so they are counted in this process. */
export function createRepeats({ ledger, clock, log }: { ledger: Ledger; clock: Clock; log: Log }) {
  const callers = new Map<string, { times: number[]; toldAt?: number }>()

  /** Writes only with the repeat that is one too many. An answer never fails because a notice cannot be written. */
  async function note(
    caller: string,
    { id: update, budget, project }: Pick<Update, 'id' | 'budget' | 'project'>,
  ): Promise<void> {
    const now = clock.now()
    if (callers.size >= maxCallers && !callers.has(caller)) callers.clear()
    const known = callers.get(caller) ?? { times: [] }
    callers.set(caller, known)
    known.times = [...known.times.slice(1 - repeatsToTell), now]
    const [since = now] = known.times
    if (known.times.length < repeatsToTell || now - since > repeatsWithinMs) return
    if (known.toldAt !== undefined && now - known.toldAt < hourMs) return
    known.toldAt = now
    const about = { kind: 'repeats', caller, budget, project, count: repeatsToTell, since } as const
    const id = `repeats#${caller}#${Math.floor(now / repeatsWithinMs)}`
    try {
      await ledger.announcements.add(announcement(id, now, about))
    } catch (cause) {
      log.error('repeats-not-told', { caller, update, cause })
    }
  }

  return { note }
}

export interface Folded {
  /** The latest of them. */
  readonly update: Update
  /** The others, the newest first: refused for the same caller, project and reason, with no other update between. */
  readonly before: readonly Update[]
}

/** A loop of refusals is one row. @param updates the newest first. */
export function foldRefusals(updates: readonly Update[]): readonly Folded[] {
  const rows: { update: Update; before: Update[] }[] = []
  for (const update of updates) {
    const last = rows.at(-1)
    if (last && update.state === 'refused' && loopOf(update) === loopOf(last.update)) last.before.push(update)
    else rows.push({ update, before: [] })
  }
  return rows
}

const loopOf = ({ state, kind, project, budget, caller, problem }: Update): string =>
  JSON.stringify([state, kind, project, budget, caller, problem?.slug])

export type Repeats = ReturnType<typeof createRepeats>

/** The last update of an answer that did nothing new: a replay, or refused duplicates alone. */
export function repeatedIn({ replayed, updates }: { readonly replayed: boolean; readonly updates: readonly Update[] }) {
  const isDuplicate = ({ state, problem }: Update) =>
    state === 'refused' && (problem?.slug === 'already-updated' || problem?.slug === 'duplicate-work')
  return replayed || updates.every(isDuplicate) ? updates.at(-1) : undefined
}
