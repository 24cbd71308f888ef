import type { ReportParts } from '../guard/background.ts'
import { addAtPrices, atPrice, inMoney, priceOn, type UnitPrices } from '../guard/money.ts'
import { approvableForMs } from '../guard/options.ts'
import type { Price } from '../guard/plans/stored-price.ts'
import { zoneOf } from '../guard/sentences.ts'
import type { View } from '../ledger/book/view.ts'
import { dayAt } from '../ledger/definitions/windows.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { type Update, wasUpToDate } from '../ledger/updates/update.ts'
import { dayMs } from '../platform/clock.ts'
import { happenedAt, summariesOf, uncounted } from './figures.ts'
import type { Outlook } from './outlook.ts'
import { emptySummary, isComplete, type Summary } from './stored-summary.ts'

export type Digest = Awaited<ReturnType<ReturnType<typeof createDigest>['digest']>>

const pageSize = 200
/** If a day has more updates, the digest leaves out the oldest. */
const maxRead = 5_000
const movedByShare = 0.1

export function createDigest(parts: {
  ledger: Ledger
  outlook: (view: Promise<View>) => Promise<Outlook>
  prices: () => Promise<readonly Price[]>
  unitPrices: UnitPrices | null
  announce: ReportParts['announce']
}) {
  const { ledger, outlook, prices, unitPrices, announce } = parts

  async function announceDigest(): Promise<void> {
    const { day, now } = await ledger.view()
    await announce(`digest#${day.name}`, now, { kind: 'digest', until: now })
  }

  async function digest(until: number) {
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
    // The update with the nearest deadline comes first.
    const deadline = ({ approvableUntil = 0 }: Update) => approvableUntil
    const approvals = waiting.rows.toSorted((a, b) => deadline(a) - deadline(b))
    const isRefused = (update: Update) => update.state === 'refused' && !(update.plan && wasUpToDate(update))
    const refused = updates.filter(isRefused).length
    const priceMoves = known.flatMap((price) => moveOf(price, until))
    return {
      // The digest may be sent days later.
      day: dayAt(view.definitions.calendar, until).name.slice('day:'.length),
      zone: zoneOf(view),
      // The budget with the greatest risk comes first.
      budgets: budgets.map(({ budget, figures, status, sentence, month }) => ({
        budget,
        status,
        reason: sentence,
        month: figures,
        projected: month.projected,
        projectedAtPace: month.projectedAtPace,
        isProjectedAtLeast: month.unpriced > 0,
        ...spentToday(budget, updates, unitPrices),
      })),
      approvals,
      refused,
      inDoubt,
      priceMoves,
      nothingHappened: [updates, inDoubt, approvals, priceMoves].every(({ length }) => length === 0),
    }
  }

  /** Reads older requests too, because an approval may take days. */
  async function updatesOf(until: number, view: View): Promise<readonly Update[]> {
    const since = Math.max(until - dayMs - approvableForMs, view.definitions.createdAt - dayMs)
    const summaries = await summariesOf(ledger, view, { since, until }, { withRows: false })
    const isOver = (summary: Summary) =>
      isComplete(summary) && summary.open.length === 0 && summary.lastAt <= until - dayMs
    const days = summaries.map((each) => (isOver(each) ? each : emptySummary(each.day)))
    const found = await uncounted(ledger, days, { until, max: maxRead })
    return found.filter((update) => happenedAt(update) > until - dayMs && happenedAt(update) <= until)
  }

  return { announceDigest, digest }
}

/** `costToday`: as `23.04 EUR`; `null`: no unit has a price. `wouldHaveRefused`: by limits that are only observed. */
function spentToday(budget: string, updates: readonly Update[], unitPrices: UnitPrices | null) {
  const paid = updates.filter(({ hold }) => hold?.budgets.includes(budget))
  const over = updates.filter(({ wouldHaveRefused }) => wouldHaveRefused?.some((each) => each.budget === budget))
  const sum = (of: readonly Update[], units: (update: Update) => number) =>
    of.reduce((total, update) => total + units(update), 0)
  const atPrices = paid
    .map(({ hold, charged = 0 }) => atPrice(priceOn(unitPrices, hold?.day ?? ''), charged))
    .reduce(addAtPrices, new Map())
  return {
    spentToday: sum(paid, ({ charged = 0 }) => charged),
    costToday: unitPrices && inMoney(atPrices, unitPrices.currency),
    ...(over.length > 0 && {
      wouldHaveRefused: { updates: over.length, units: sum(over, ({ charged, hold }) => charged ?? hold?.units ?? 0) },
    }),
  }
}

function moveOf({ kind, project, units, before, at }: Price, until: number) {
  if (before === undefined || at < until - dayMs || at > until) return []
  const hasMoved = Math.abs(units - before) > before * movedByShare
  return hasMoved ? [{ project, kind, before, now: units }] : []
}
