import { dayAt } from '../../ledger/book/windows.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { announcement } from '../../ledger/updates/tasks.ts'
import { type Update, wasUpToDate } from '../../ledger/updates/update.ts'
import { all } from '../../ledger/views/pages.ts'
import type { Price } from '../../ledger/views/projects.ts'
import { emptySummary, isComplete, type Summary, summaryDays } from '../../ledger/views/summary.ts'
import type { View } from '../../ledger/views/views.ts'
import { dayMs } from '../../platform/clock.ts'
import type { Units } from '../../platform/words.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { addAtPrices, atPrice, inMoney, priceOn, type UnitPrices, type UnitsAtPrices } from '../money.ts'
import { approvableForMs } from '../options.ts'
import { type Figures, zoneOf } from '../sentences.ts'
import { happenedAt } from './day-of-budgets.ts'
import type { Outlook, Status } from './outlook.ts'
import { believed, gapsIn } from './summary.ts'

export interface Digest {
  readonly day: string
  readonly zone: string
  /** The greatest risk first. */
  readonly budgets: readonly DigestRow[]
  /** The first deadline first. */
  readonly approvals: readonly Update[]
  readonly refused: number
  readonly inDoubt: readonly Update[]
  readonly priceMoves: readonly PriceMove[]
  readonly nothingHappened: boolean
}

interface DigestRow {
  readonly budget: string
  readonly spentToday: number
  /** As `23.04 EUR`. `null`: nothing is at a price. */
  readonly costToday: string | null
  readonly month: Figures
  readonly status: Status
  readonly reason: string | null
  readonly projected: number
  /** `null`: too little history. */
  readonly projectedAtPace: number | null
  /** What its limits would have refused, if it had not been observed. */
  readonly wouldHaveRefused?: { readonly updates: number; readonly units: number }
}

interface PriceMove {
  readonly project: string
  readonly kind: Kind
  readonly before: Units
  readonly now: Units
}

const pageSize = 200
/** On a day with more updates only the latest count. */
const maxRead = 5_000
const movedByShare = 0.1

export function createDigest(parts: {
  ledger: Ledger
  outlook: (view: Promise<View>) => Promise<Outlook>
  prices: () => Promise<readonly Price[]>
  unitPrices: UnitPrices | null
}) {
  const { ledger, outlook, prices, unitPrices } = parts

  async function announceDigest(): Promise<void> {
    const { day, now } = await ledger.view()
    await ledger.announcements.add(announcement(`digest#${day.name}`, now, { kind: 'digest', until: now }))
  }

  async function digest(until: number): Promise<Digest> {
    const looked = ledger.view()
    const [view, updates, { budgets }, known, doubts, waiting] = await Promise.all([
      looked,
      looked.then((view) => updatesOf(until, view)),
      outlook(looked),
      prices(),
      ledger.open('in-doubt', pageSize),
      ledger.open('awaiting-approval', pageSize),
    ])
    const inDoubt = doubts.rows
    const deadline = ({ approvableUntil = 0 }: Update) => approvableUntil
    const approvals = waiting.rows.toSorted((a, b) => deadline(a) - deadline(b))
    const isRefused = (update: Update) => update.state === 'refused' && !(update.plan && wasUpToDate(update))
    const refused = updates.filter(isRefused).length
    const priceMoves = known.flatMap((price) => moveOf(price, until))
    return {
      // The digest may be sent days later.
      day: dayAt(view.definitions.calendar, until).name.slice('day:'.length),
      zone: zoneOf(view),
      budgets: budgets.map(({ budget, figures, status, sentence, month }) => ({
        ...{ budget, status, reason: sentence, month: figures },
        spentToday: spentBy(budget, updates),
        costToday: costBy(budget, updates, unitPrices),
        projected: month.projected,
        projectedAtPace: month.projectedAtPace,
        ...overLimits(budget, updates),
      })),
      approvals,
      refused,
      inDoubt,
      priceMoves,
      nothingHappened: [updates, inDoubt, approvals, priceMoves].every(({ length }) => length === 0),
    }
  }

  /** A request may be older, by as long as approvals last. */
  async function updatesOf(until: number, { definitions, now }: View): Promise<Update[]> {
    const since = Math.max(until - dayMs - approvableForMs, definitions.createdAt - dayMs)
    const days = summaryDays(definitions.calendar, { since, until })
    const summaries = await ledger.summaries.read(days, { withRows: false })
    const isOver = (summary: Summary) =>
      isComplete(summary) && summary.open.length === 0 && summary.lastAt <= until - dayMs
    const gaps = gapsIn(summaries.map((each) => (isOver(believed(each, now)) ? each : emptySummary(each.day))))
    const found: Update[] = []
    for (const { since, until: last } of gaps.toReversed()) {
      const span = { since, until: Math.min(last, until) }
      found.push(...(await all((cursor) => ledger.updates(span, pageSize, cursor), maxRead - found.length)))
    }
    return found.filter((update) => happenedAt(update) > until - dayMs && happenedAt(update) <= until)
  }

  return { announceDigest, digest }
}

const paidBy = (budget: string, updates: readonly Update[]): readonly Update[] =>
  updates.filter(({ hold }) => hold?.budgets.includes(budget))

const spentBy = (budget: string, updates: readonly Update[]): number =>
  paidBy(budget, updates).reduce((sum, { charged }) => sum + (charged ?? 0), 0)

function costBy(budget: string, updates: readonly Update[], unitPrices: UnitPrices | null): string | null {
  if (!unitPrices) return null
  const atPrices = paidBy(budget, updates).reduce<UnitsAtPrices>(
    (sum, { hold, charged = 0 }) => addAtPrices(sum, atPrice(priceOn(unitPrices, hold?.day ?? ''), charged)),
    new Map(),
  )
  return inMoney(atPrices, unitPrices.currency)
}

function overLimits(budget: string, updates: readonly Update[]): Pick<DigestRow, 'wouldHaveRefused'> {
  const over = updates.filter(({ wouldHaveRefused }) => wouldHaveRefused?.some((each) => each.budget === budget))
  if (over.length === 0) return {}
  const units = over.reduce((sum, { charged, hold }) => sum + (charged ?? hold?.units ?? 0), 0)
  return { wouldHaveRefused: { updates: over.length, units } }
}

function moveOf({ kind, project, units, before, at }: Price, until: number): PriceMove[] {
  if (before === undefined || at < until - dayMs || at > until) return []
  const hasMoved = Math.abs(units - before) > before * movedByShare
  return hasMoved ? [{ project, kind, before, now: units }] : []
}
