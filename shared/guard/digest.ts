import { announcement } from '../ledger/announcement.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { all } from '../ledger/lists.ts'
import type { Price } from '../ledger/price.ts'
import { type Update, wasUpToDate } from '../ledger/update.ts'
import type { View } from '../ledger/views.ts'
import { dayAt } from '../ledger/windows.ts'
import { dayMs } from '../platform/clock.ts'
import type { Kind, Units } from '../platform/words.ts'
import { type Figures, figuresOf } from './figures.ts'
import type { Forecast } from './forecast.ts'
import { approvableForMs } from './options.ts'
import { zoneOf } from './sentences.ts'

/** What happened in the 24 hours before an instant, and where the budgets stand. */
export interface Digest {
  readonly day: string
  readonly zone: string
  readonly budgets: readonly DigestRow[]
  readonly refused: number
  readonly inDoubt: readonly Update[]
  readonly priceMoves: readonly PriceMove[]
  readonly nothingHappened: boolean
}

interface DigestRow {
  readonly budget: string
  readonly spentToday: number
  readonly month: Figures
  readonly projected: number | null
  readonly exhaustedAt: number | null
}

interface PriceMove {
  readonly project: string
  readonly kind: Kind
  readonly before: Units
  readonly now: Units
}

const pageSize = 200
/** A day with more updates than this is summed up from its latest. */
const mostRead = 5_000
const movedByShare = 0.1

export function createDigesting(parts: {
  ledger: Ledger
  foresee: (view: Promise<View>) => Promise<readonly Forecast[]>
  prices: () => Promise<readonly Price[]>
}) {
  const { ledger, foresee, prices } = parts

  /** Has the digest of this day told, once. */
  async function announceDigest(): Promise<void> {
    const { day, now } = await ledger.view()
    await ledger.announcements.add(announcement(`digest#${day.name}`, now, { kind: 'digest', until: now }))
  }

  async function digest(until: number): Promise<Digest> {
    const looked = ledger.view()
    const [view, updates, forecast, known] = await Promise.all([looked, updatesOf(until), foresee(looked), prices()])
    const inDoubt = (await ledger.open('in-doubt', pageSize)).rows
    const refused = updates.filter((update) => update.state === 'refused' && !wasUpToDate(update)).length
    const priceMoves = known.flatMap((price) => moveOf(price, until))
    return {
      // It may be told when that day is long over.
      day: dayAt(view.definitions.calendar, until).name.slice('day:'.length),
      zone: zoneOf(view),
      budgets: Object.values(view.definitions.budgets).map((budget) => {
        const foreseen = forecast.find((row) => row.budget === budget.name && row.window === 'month')
        return {
          budget: budget.name,
          spentToday: spentBy(budget.name, updates),
          month: figuresOf(view, budget, 'month'),
          projected: foreseen?.projected ?? null,
          exhaustedAt: foreseen?.exhaustedAt ?? null,
        }
      }),
      refused,
      inDoubt,
      priceMoves,
      nothingHappened: updates.length === 0 && inDoubt.length === 0 && priceMoves.length === 0,
    }
  }

  /** What came to count, or was decided, on that day: it may have been asked for as long before as people may take to agree. */
  async function updatesOf(until: number): Promise<Update[]> {
    const filter = { since: until - dayMs - approvableForMs, until }
    const found = await all((cursor) => ledger.updates(filter, pageSize, cursor), mostRead)
    return found.filter((update) => happenedAt(update) > until - dayMs && happenedAt(update) <= until)
  }

  return { announceDigest, digest }
}

const happenedAt = ({ hold, finishedAt, createdAt }: Update): number => hold?.at ?? finishedAt ?? createdAt

const spentBy = (budget: string, updates: readonly Update[]): number =>
  updates.filter(({ hold }) => hold?.budgets.includes(budget)).reduce((sum, { charged }) => sum + (charged ?? 0), 0)

/** A price of last night that is off the one before by more than a tenth; one of a later night is another day's news. */
function moveOf({ kind, project, units, before, at }: Price, until: number): PriceMove[] {
  if (before === undefined || at < until - dayMs || at > until) return []
  const hasMoved = Math.abs(units - before) > before * movedByShare
  return hasMoved ? [{ project, kind, before, now: units }] : []
}
