import { describe, expect, test } from 'vitest'
import { figuresOverLimits, statementFigures } from '../../../shared/platform/words.ts'
import {
  byUnits,
  expectedDigest,
  expectedLasts,
  expectedOverLimits,
  expectedSpenders,
  expectedStatement,
  nonZero,
  rowsOf,
  type StatementKey,
} from '../../support/reports/expected.ts'
import { monthSeeds, type RandomMonth, startRandomMonth } from '../../support/reports/random-month.ts'

// Each report of a month by chance equals slow sums over its records and entries.

const statementKeys = ['budget', 'project', 'caller', 'tag:client'] as const

async function checkStatements(month: RandomMonth, step: number): Promise<void> {
  for (const window of month.windows.keys()) {
    const rows = await rowsOf(month, window)
    for (const by of statementKeys) {
      const statement = await month.guard.statement(window, by)
      const shown = (statement?.rows ?? []).flatMap((row) => {
        const figures = nonZero(
          Object.fromEntries([...statementFigures, ...figuresOverLimits].map((name) => [name, row[name]])),
        )
        return Object.keys(figures).length > 0 ? [[row.key, figures] as const] : []
      })
      expect([step, by, new Map(shown)]).toEqual([step, by, expectedStatement(rows, window, by as StatementKey)])
    }
  }
}

const units = ({ kind, name, units }: { kind: string; name: string | null; units: number }) => ({ kind, name, units })

/** All days before today are summed up. */
async function checkSpenders(month: RandomMonth, step: number): Promise<void> {
  const { guard, windows } = month
  const rows = await rowsOf(month)
  const { view } = rows
  const { month: open } = view
  const all = expectedSpenders(rows, open.name, 'account').callers
  expect([step, (await guard.whoSpent(view)).map(units).toSorted(byUnits)]).toEqual([step, all])
  const persons = all.filter(({ kind }) => kind === 'person' || kind === 'caller')
  expect([step, new Map(await guard.spentByPerson(view, Promise.resolve([])))]).toEqual([
    step,
    new Map(persons.map(({ name, units }) => [name, units])),
  ])
  for (const budget of Object.keys(view.definitions.budgets)) {
    const { callers, projects, wouldHaveRefused } = await guard.spentOn(view, budget)
    const expected = expectedSpenders(rows, open.name, budget)
    expect([step, budget, callers.map(units).toSorted(byUnits)]).toEqual([step, budget, expected.callers])
    expect([step, budget, projects.map(units).toSorted(byUnits)]).toEqual([step, budget, expected.projects])
    expect([step, budget, wouldHaveRefused]).toEqual([step, budget, expectedOverLimits(rows, open.name, budget)])
  }
  const [before] = [...windows.keys()].filter((name) => name < open.name)
  if (before === undefined) return
  const past = await guard.statement(before, 'budget')
  if (!past) return
  const { view: ended } = await guard.pastMonth(view, past.window)
  const then = expectedSpenders(await rowsOf(month, before), before, 'account').callers
  expect([step, before, (await guard.whoSpent(ended)).map(units).toSorted(byUnits)]).toEqual([step, before, then])
}

async function checkDigest(month: RandomMonth, step: number): Promise<void> {
  const { guard, product } = month
  const until = product.clock.now()
  const found = await guard.digest(until)
  const expected = expectedDigest(await rowsOf(month), month, until)
  const cents = (cost: string | null) => Math.round(Number(cost?.split(' ')[0] ?? 0) * 100)
  const none = { updates: 0, units: 0 }
  const budgets = found.budgets.map(({ budget, spentToday, costToday, wouldHaveRefused = none }) => {
    return { budget, spentToday, cents: cents(costToday), over: wouldHaveRefused }
  })
  expect([step, budgets.toSorted((a, b) => (a.budget < b.budget ? -1 : 1))]).toEqual([step, expected.budgets])
  expect([step, found.refused, found.inDoubt.map(({ id }) => id).toSorted()]).toEqual([
    ...[step, expected.refused],
    expected.inDoubt,
  ])
  expect(found.approvals.map(({ approvableUntil }) => approvableUntil)).toEqual(expected.deadlines)
}

/** The last price and the last refusal, which are part of each next stop. */
async function checkNextStops(month: RandomMonth, step: number): Promise<void> {
  const { guard } = month
  const rows = await rowsOf(month)
  const lasts = expectedLasts(rows)
  const { budgets } = await guard.outlook(rows.view)
  const stops = [
    ...budgets.map(({ budget, next }) => [budget, next] as const),
    ...[...(await guard.callerStops(rows.view))].map(([caller, stop]) => [`caller:${caller}`, stop] as const),
  ]
  for (const [party, stop] of stops) {
    const { price = null, refused = null, isOnePrice = false } = lasts.get(party) ?? {}
    const { lastRefused } = stop ?? {}
    const shown = {
      price: stop?.price,
      refused: lastRefused ? { at: lastRefused.at, project: lastRefused.project } : null,
    }
    expect([step, party, shown]).toEqual([step, party, { price, refused }])
    if (stop?.updates) expect([step, party, isOnePrice]).toEqual([step, party, true])
  }
}

describe('the reports of a month by chance', () => {
  test.each(monthSeeds)('reports equal the sums of records and entries: seed %i', async (seed) => {
    const month = await startRandomMonth(seed)
    for (let step = 0; step < 160; step++) {
      await month.step()
      if (step % 20 !== 19) continue
      await checkStatements(month, step)
      await checkDigest(month, step)
      await month.rest()
      await checkSpenders(month, step)
      await checkDigest(month, step)
      await checkNextStops(month, step)
    }
  })
})
