import type { Ledger } from '../ledger/ledger.ts'
import { pagesOf } from '../ledger/lists.ts'
import { type CountedTally, type KeptTally, sumOf, type Tally, type TallySum } from '../ledger/tally.ts'
import { createdAroundMs, isTerminal, type Update } from '../ledger/update.ts'
import { monthBefore, type Window } from '../ledger/windows.ts'
import { hourMs, minuteMs } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'

/**
 * An update's `createdAt` is taken before its record first appears: between them lies its estimate, in a function that may
 * live for a quarter of an hour, and then the index lags. What is younger than this may have neighbours yet to appear.
 */
const appearsWithinMs = 30 * minuteMs
/** Clocks of two processes differ by less. */
const clocksDifferMs = minuteMs
/** So many updates are worth writing an item that may be large; fewer wait for the hour. */
const worthWriting = 100

/**
 * Keeps what statements are made of, so that they cost the same however many updates there were.
 *
 * @param parts.mostTaken no sweep takes in more but for the rest of a page: some seconds of reading. The next one goes on.
 */
export function createTallying(parts: { ledger: Ledger; log: Log; pageSize?: number; mostTaken?: number }) {
  const { ledger, log, pageSize = 100, mostTaken = 10_000 } = parts

  /** The open month, and the one before until nothing of it is open: an update may be in doubt for a week. */
  async function keepTallies(): Promise<void> {
    const { definitions, month, now } = await ledger.view()
    for (const window of [monthBefore(definitions.calendar, month), month]) {
      if (window.end > definitions.createdAt) await keepTally(window, now)
    }
  }

  async function keepTally(window: Window, now: number): Promise<void> {
    const kept = await ledger.tallies.read(window.name)
    if (kept?.kind === 'too-large') return
    const tally = believed(kept, now)?.tally ?? beginning(window)
    const last = window.end + createdAroundMs
    const { rows, until } = await createdBetween(tally.until, Math.min(now - appearsWithinMs, last))
    const open = (await ledger.updatesNamed(tally.open)).filter((update) => update !== null).map(counted)
    const closed = open.filter(({ state }) => isTerminal(state))
    const news = rows.length + closed.length
    const isWorthIt = news >= worthWriting || (news > 0 && now - tally.at >= hourMs)
    const reachesTheEnd = until === last && tally.until < last
    if (!isWorthIt && !reachesTheEnd) return
    const next = taken(tally, [...open, ...rows], { until, at: now })
    const outcome = await ledger.tallies.write(next, kept)
    if (outcome === 'too-large') log.info('tally-too-large', { month: window.name, sums: next.sums.length })
  }

  /** What was created after an instant up to another, the oldest first; `until`: how far one sweep gets. */
  async function createdBetween(after: number, to: number): Promise<{ rows: Counted[]; until: number }> {
    if (to <= after) return { rows: [], until: after }
    const rows: Counted[] = []
    const span = { since: after + 1, until: to }
    for await (const page of pagesOf((cursor) => ledger.updatesFrom(span, pageSize, cursor))) {
      rows.push(...page.rows.map(counted))
      if (page.next === undefined) return { rows, until: to }
      if (rows.length >= mostTaken) break
    }
    // The next page may begin with others of the same millisecond.
    const until = (rows.at(-1)?.createdAt ?? to) - 1
    return { rows: rows.filter(({ createdAt }) => createdAt <= until), until }
  }

  return { keepTallies }
}

/**
 * What is kept as far as it can be believed; `null`: there is none. One that was written in the future comes from a sweep as of
 * another time (`npm run sweep -- --at`), and lacks what has appeared since.
 */
export function believed(kept: KeptTally | null, now: number): CountedTally | null {
  if (kept?.kind !== 'tally') return null
  return kept.tally.at <= now + clocksDifferMs ? kept : null
}

/** Without the service's answers, of which thousands would fill the memory. */
interface Counted extends Pick<Update, 'id' | 'createdAt' | 'month' | 'state'> {
  readonly sum: TallySum
}

const counted = (update: Update): Counted => {
  const { id, createdAt, month, state } = update
  return { id, createdAt, month, state, sum: sumOf(update) }
}

/** The tally of a month of which nothing is counted. */
export const beginning = ({ name: month, start }: Window): Tally => ({
  month,
  until: start - createdAroundMs,
  at: 0,
  sums: [],
  open: [],
})

/** Ended updates of the month are added up; what may still become one is named. */
function taken(tally: Tally, updates: readonly Counted[], { until, at }: Pick<Tally, 'until' | 'at'>): Tally {
  const { month } = tally
  const sums = new Map(tally.sums.map((sum) => [keyOf(sum), sum]))
  const ended = updates.filter(({ state }) => isTerminal(state))
  for (const { sum } of ended.filter((update) => update.month === month)) {
    const before = sums.get(keyOf(sum))
    sums.set(keyOf(sum), before ? added(before, sum) : sum)
  }
  // Also of other months: what is not held yet belongs to the month in which it will be.
  const open = updates.filter(({ state }) => !isTerminal(state)).map(({ id }) => id)
  return { month, until, at, sums: [...sums.values()], open }
}

const keyOf = ({ budget, project, caller, owner }: TallySum): string => JSON.stringify([budget, project, caller, owner])

const added = (a: TallySum, b: TallySum): TallySum => ({
  ...a,
  updates: a.updates + b.updates,
  charged: a.charged + b.charged,
  refused: a.refused + b.refused,
})
