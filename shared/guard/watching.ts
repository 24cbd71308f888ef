import { announcement } from '../ledger/announcement.ts'
import { usedOf } from '../ledger/book.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Update } from '../ledger/update.ts'
import { type Clock, hourMs } from '../platform/clock.ts'
import { figuresOfChain } from './figures.ts'
import { refusalsWithinMs, usualThresholds } from './options.ts'

export type Watching = ReturnType<typeof createWatching>

/** So many refusals of one caller within that time are a burst, and told once an hour. */
const burst = 10
const readAtMost = 200

/**
 * What people should hear of without being asked: each thing is announced under an id of its own, so that it is told
 * once, whoever finds it and however often. All of it is off the way of any update.
 */
export function createWatching({ ledger, clock }: { ledger: Ledger; clock: Clock }) {
  // Ids that are known to be written: a busy book is looked at after each of its changes.
  const known = new Set<string>()

  async function tellOnce(...of: Parameters<typeof announcement>): Promise<void> {
    const [id] = of
    if (known.has(id)) return
    await ledger.announcements.add(announcement(...of))
    if (known.size > 1_000) known.clear()
    known.add(id)
  }

  /** Every budget that has used more of a window than one of its thresholds: once for each window. */
  async function watchThresholds(): Promise<void> {
    const view = await ledger.view()
    const budgets = Object.values(view.definitions.budgets)
    for (const figures of figuresOfChain(view, budgets)) {
      const { budget, window, limit, end } = figures
      const of = limit === 'unlimited' ? 0 : limit + figures.granted
      const used = usedOf(figures)
      const thresholds = view.definitions.budgets[budget]?.thresholds ?? usualThresholds
      const passed = thresholds.filter((percent) => of > 0 && used * 100 >= of * percent)
      if (passed.length === 0) continue
      const name = window === 'month' ? view.month.name : view.day.name
      // Whoever jumps over two thresholds at once is told of the higher one.
      const percent = Math.max(...passed)
      const about = { kind: 'threshold', budget, window, percent, used, of, resetsAt: end } as const
      await tellOnce(`threshold#${budget}#${name}#${percent}`, view.now, about)
    }
  }

  /** A caller that is refused again and again is likely to be a loop. */
  async function watchRefusals(): Promise<void> {
    const now = clock.now()
    const since = now - refusalsWithinMs
    const { rows } = await ledger.updates({ since, state: 'refused' }, readAtMost)
    const refused = rows.filter(isOfPolicy)
    for (const caller of new Set(refused.map((update) => update.caller))) {
      const updates = refused.filter((update) => update.caller === caller)
      const [latest] = updates
      if (updates.length < burst || !latest || (await wasToldOf(caller, now))) continue
      const about = {
        kind: 'refusals',
        caller,
        since,
        count: updates.length,
        budget: latest.budget,
        otherBudgets: new Set(updates.map(({ budget }) => budget)).size - 1,
        detail: latest.problem?.detail ?? '',
      } as const
      await tellOnce(refusalsId(caller, now), now, about)
    }
  }

  /** Within the hour, which need not be the clock's. */
  async function wasToldOf(caller: string, now: number): Promise<boolean> {
    const told = await ledger.announcements.get(refusalsId(caller, now - hourMs))
    return told !== null && now - told.createdAt < hourMs
  }

  /** Half of the time to approve is over, and nobody has. It is shorter for what was asked about before. */
  async function remind(update: Update): Promise<void> {
    const { id, version, createdAt, history, approvableUntil = 0 } = update
    const now = clock.now()
    const askedAt = history.at(-1)?.at ?? createdAt
    if (now < (askedAt + approvableUntil) / 2) return
    await tellOnce(`${id}#approval-reminder#${version}`, now, { kind: 'approval-reminder', update: id })
  }

  return { watchThresholds, watchRefusals, remind }
}

const refusalsId = (caller: string, now: number): string => `refusals#${caller}#${Math.floor(now / hourMs)}`

/** That the work was done already, or is under way, is an answer and no refusal to worry about. */
const isOfPolicy = ({ problem, plan }: Update): boolean =>
  plan === undefined && problem?.slug !== 'already-updated' && problem?.slug !== 'duplicate-work'
