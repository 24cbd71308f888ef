import type { Page } from '../../ledger/store/pages.ts'
import { announcement } from '../../ledger/updates/tasks.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { hourMs, minuteMs } from '../../platform/clock.ts'
import type { GuardParts } from '../options.ts'

/** Repeats are replays of a key and refused duplicates. */
const repeatsToTell = 50
const repeatsWithinMs = 10 * minuteMs
const maxCallers = 1_000

/** Notices callers that repeat themselves. Replays write nothing, so they are counted in this process. */
export function createRepeats({ ledger, clock, log }: Pick<GuardParts, 'ledger' | 'clock' | 'log'>) {
  const callers = new Map<string, { times: number[]; toldAt?: number }>()

  /** Writes only when the number of repeats is reached. A failed write does not fail the answer. */
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

export type Repeats = ReturnType<typeof createRepeats>

/** The last update of an answer that did nothing new: a replay, or refused duplicates alone. */
export function repeatedIn({ replayed, updates }: { readonly replayed: boolean; readonly updates: readonly Update[] }) {
  const isDuplicate = ({ state, problem }: Update) =>
    state === 'refused' && (problem?.slug === 'already-updated' || problem?.slug === 'duplicate-work')
  return replayed || updates.every(isDuplicate) ? updates.at(-1) : undefined
}

/** `since`: the time of the first request. */
export interface Repeated {
  readonly update: Update
  readonly count: number
  readonly since: number
}

/** Folds equal refusals in a row into one, because a loop makes many. @param updates the newest first. */
export function foldRefusals(updates: readonly Update[]): readonly Repeated[] {
  const folded: Repeated[] = []
  for (const update of updates) {
    const last = folded.at(-1)
    const isRepeat = last !== undefined && isSameRefusal(last.update, update)
    const first = isRepeat ? folded.pop() : undefined
    folded.push({ update: first?.update ?? update, count: (first?.count ?? 0) + 1, since: update.createdAt })
  }
  return folded
}

const isSameRefusal = (a: Update, b: Update): boolean =>
  [a, b].every(({ state, plan }) => state === 'refused' && plan === undefined) &&
  (['caller', 'kind', 'project', 'budget'] as const).every((name) => a[name] === b[name]) &&
  a.problem?.slug === b.problem?.slug

const maxPages = 5

/** Reads further pages while folding leaves fewer rows than `wanted`. */
export async function foldedPage(
  read: (cursor: string | undefined) => Promise<Page<Update>>,
  { cursor, wanted }: { readonly cursor?: string | undefined; readonly wanted: number },
): Promise<Page<Repeated>> {
  const found: Update[] = []
  let next = cursor
  for (let pages = 1; ; pages++) {
    const page = await read(next)
    found.push(...page.rows)
    next = page.next
    const rows = foldRefusals(found)
    // A short page with a cursor means that a search finds little. More pages would take long.
    if (next === undefined || pages === maxPages || rows.length >= wanted || page.rows.length < wanted)
      return { rows, ...(next !== undefined && { next }) }
  }
}
