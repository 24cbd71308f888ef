import { counterOf } from '../../ledger/book/book.ts'
import { budgetNamed, chainOf, type Definitions, listingsOf } from '../../ledger/book/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { type SummaryRow, summaryDays } from '../../ledger/views/summary.ts'
import type { View } from '../../ledger/views/views.ts'
import { shownCaller } from '../sentences.ts'
import type { Spender } from './spenders.ts'
import { believed, gapsIn, heldIn, rowOf } from './summary.ts'

export type Spent = Omit<Spender, 'kind'> & { readonly kind: Spender['kind'] | 'project' }

/** With the budgets below it, the greatest first. */
export interface SpentOn {
  readonly projects: readonly Spent[]
  readonly callers: readonly Spent[]
  /** Ended updates of the month that the budget's limits would have refused, if it had not been observed. */
  readonly wouldHaveRefused: { readonly updates: number; readonly units: number }
}

/** The latest updates, of which no summary knows. */
const maxRead = 200

export const createSpentOn = ({ ledger }: { ledger: Ledger }) => ({
  /** What is not found within a bounded number of requests counts as `others`. */
  async spentOn(view: View, budget: string): Promise<SpentOn> {
    const { definitions, month, now } = view
    const days = summaryDays(definitions.calendar, { since: month.start, until: now })
    const summaries = (await ledger.summaries.read(days)).map((each) => believed(each, now))
    const since = gapsIn(summaries).at(-1)?.since ?? now
    const latest = since < now ? (await ledger.updates({ since }, maxRead)).rows : []
    const rows = [
      ...summaries.flatMap(({ rows, day }) => rows.filter((row) => (row.month ?? day.month) === month.name)),
      ...latest
        .filter((update) => update.month === month.name)
        .map((update) => rowOf(update, { month: month.name, name: '' })),
    ].filter((row) => isWithin(definitions, row.budget, budget))
    const all = counterOf(view.book, 'month', budget)?.spent ?? 0
    const over = rows.filter(({ wouldHaveRefused }) => wouldHaveRefused?.includes(budget))
    return {
      wouldHaveRefused: {
        updates: over.reduce((sum, row) => sum + heldIn(row), 0),
        units: over.reduce((sum, { charged = 0 }) => sum + charged, 0),
      },
      projects: shares(rows, all, ({ project }) => ({
        kind: 'project',
        name: listingsOf(definitions, project)[0]?.project.name ?? project,
      })),
      callers: shares(rows, all, ({ caller, plan, ...row }) => {
        if (plan !== undefined) return { kind: 'plan', name: plan }
        const person = shownCaller(definitions, caller, row.person)
        return { kind: person === caller ? 'caller' : 'person', name: person }
      }),
    }
  },
})

const isWithin = (definitions: Definitions, budget: string, ancestor: string): boolean =>
  budgetNamed(definitions, budget) !== undefined && chainOf(definitions, budget).some(({ name }) => name === ancestor)

function shares(
  rows: readonly SummaryRow[],
  all: number,
  keyOf: (row: SummaryRow) => Pick<Spent, 'kind' | 'name'>,
): readonly Spent[] {
  const found = new Map<string, Omit<Spent, 'share'>>()
  const add = (of: Pick<Spent, 'kind' | 'name'>, units: number) => {
    const key = `${of.kind} ${of.name}`
    found.set(key, { ...of, units: (found.get(key)?.units ?? 0) + units })
  }
  for (const row of rows) add(keyOf(row), row.charged ?? 0)
  const sum = [...found.values()].reduce((total, { units }) => total + units, 0)
  add({ kind: 'others', name: null }, Math.max(0, all - sum))
  return [...found.values()]
    .filter(({ units }) => units !== 0)
    .map((each) => ({ ...each, share: all > 0 ? each.units / all : 0 }))
    .toSorted((a, b) => b.units - a.units)
}
