import { counterOf, usedOf } from '../../ledger/book/book.ts'
import { dayAt } from '../../ledger/book/windows.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { announcement } from '../../ledger/updates/tasks.ts'
import { isComplete, type Summary, summaryDays } from '../../ledger/views/summary.ts'
import type { View } from '../../ledger/views/views.ts'
import { namesOfChain } from '../reports/day-of-budgets.ts'
import { minUnusual, usualIfExceeded, weekdaysBefore } from './unusual.ts'

type Usual = ReadonlyMap<string, readonly number[]>

/** Reads nothing but the book while no budget used much, and the weeks before once a day. */
export function createUnusualDays({ ledger }: { ledger: Ledger }) {
  const told = new Set<string>()
  let known: { readonly day: string; readonly revision: number; readonly usual: Usual } | null = null

  async function checkUnusualDays(): Promise<void> {
    const view = await ledger.view()
    const { name: day } = view.day
    const idOf = (budget: string) => `unusual-day#${budget}#${day}`
    const candidates = Object.keys(view.definitions.budgets)
      .map((budget) => ({ budget, used: usedToday(view, budget) }))
      .filter(({ budget, used }) => used >= minUnusual && !told.has(idOf(budget)))
    if (candidates.length === 0) return
    const { revision } = view.definitions
    if (known?.day !== day || known.revision !== revision) known = { day, revision, usual: await usualOf(ledger, view) }
    for (const { budget, used } of candidates) {
      const usual = usualIfExceeded(used, known.usual.get(budget) ?? [])
      if (usual === null) continue
      await ledger.announcements.add(
        announcement(idOf(budget), view.now, { kind: 'unusual-day', budget, day, used, usual }),
      )
      if (told.size > 1_000) told.clear()
      told.add(idOf(budget))
    }
  }

  return { checkUnusualDays }
}

function usedToday({ book, day }: View, budget: string): number {
  const counter = book.day === day.name ? counterOf(book, 'day', budget) : undefined
  return counter ? usedOf(counter) : 0
}

/** What each budget charged on the same weekday, for each week that is counted in full. */
async function usualOf(ledger: Ledger, view: View): Promise<Usual> {
  const { calendar, createdAt } = view.definitions
  const middle = (view.day.start + view.day.end) / 2
  const weeks = weekdaysBefore(middle).map((at) => summaryDays(calendar, dayAround(view, at)))
  const whole = weeks.filter((days) => days.every(({ start }) => start >= createdAt))
  const summaries = await ledger.summaries.read(whole.flat())
  const usual = new Map<string, number[]>()
  for (const days of whole) {
    const own = days.flatMap((day) => summaries.find((summary) => summary.day === day) ?? [])
    if (!own.every((summary) => summary.mark !== null && isComplete(summary))) continue
    const charged = chargedBy(view, own)
    for (const budget of Object.keys(view.definitions.budgets))
      usual.set(budget, [...(usual.get(budget) ?? []), charged.get(budget) ?? 0])
  }
  return usual
}

function dayAround({ definitions: { calendar } }: View, at: number) {
  const { start, end } = dayAt(calendar, at)
  return { since: start, until: end - 1 }
}

function chargedBy({ definitions }: View, summaries: readonly Summary[]): ReadonlyMap<string, number> {
  const charged = new Map<string, number>()
  for (const row of summaries.flatMap(({ rows }) => rows)) {
    for (const budget of namesOfChain(definitions, row.budget))
      charged.set(budget, (charged.get(budget) ?? 0) + (row.charged ?? 0))
  }
  return charged
}
