import { describe, expect, test } from 'vitest'
import { figuresOverLimits, statementFigures } from '../../../shared/platform/words.ts'
import type { BudgetOutlook } from '../../../shared/reports/outlook.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { hours } from '../../support/clock.ts'
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
import { expectedReasons, placeOf } from '../../support/reports/expected-outlook.ts'
import { monthSeeds, type RandomMonth, startRandomMonth } from '../../support/reports/random-month.ts'

const reasonKinds = [
  'ancestor-binds',
  'cannot-pay',
  'cannot-pay-today',
  'exhausted',
  'frozen',
  'pace-runs-out',
  'plan-paused',
  'plans-run-out',
  'reconcile-overdue',
  'threshold',
]

// Each report of a month by chance equals slow sums over its records and entries.

const statementKeys = ['budget', 'project', 'caller', 'tag:client'] as const

async function checkStatements(month: RandomMonth, step: number): Promise<void> {
  for (const window of month.windows.keys()) {
    const rows = await rowsOf(month, window)
    for (const by of statementKeys) {
      const statement = await (await reportsOf(month.guard)).statement(window, by)
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
  const all = expectedSpenders(rows, open, 'account').callers
  expect([step, (await (await reportsOf(guard)).whoSpent(view)).map(units).toSorted(byUnits)]).toEqual([step, all])
  const persons = all.filter(({ kind }) => kind === 'person' || kind === 'caller')
  expect([step, new Map(await (await reportsOf(guard)).spentByPerson(view, Promise.resolve([])))]).toEqual([
    step,
    new Map(persons.map(({ name, units }) => [name, units])),
  ])
  for (const budget of Object.keys(view.definitions.budgets)) {
    const { callers, projects, wouldHaveRefused } = await (await reportsOf(guard)).spentOn(view, budget)
    const expected = expectedSpenders(rows, open, budget)
    expect([step, budget, callers.map(units).toSorted(byUnits)]).toEqual([step, budget, expected.callers])
    expect([step, budget, projects.map(units).toSorted(byUnits)]).toEqual([step, budget, expected.projects])
    expect([step, budget, wouldHaveRefused]).toEqual([step, budget, expectedOverLimits(rows, open, budget)])
  }
  const [before] = [...windows.keys()].filter((name) => name < open.name)
  if (before === undefined) return
  const past = await (await reportsOf(guard)).statement(before, 'budget')
  if (!past) return
  const { view: ended } = await (await reportsOf(guard)).pastMonth(view, past.window)
  const then = expectedSpenders(await rowsOf(month, before), past.window, 'account').callers
  expect([step, before, (await (await reportsOf(guard)).whoSpent(ended)).map(units).toSorted(byUnits)]).toEqual([
    step,
    before,
    then,
  ])
}

/** A digest may be sent hours later. */
async function checkDigest(month: RandomMonth, step: number, late = 0): Promise<void> {
  const { guard, product } = month
  const until = product.clock.now() - late
  const found = await (await reportsOf(guard)).digest(until)
  const expected = expectedDigest(await rowsOf(month), month, until)
  const cents = (cost: string | null) => Math.round(Number(cost?.split(' ')[0] ?? 0) * 100)
  const none = { updates: 0, units: 0 }
  const budgets = found.budgets.map(({ budget, spentToday, costToday, wouldHaveRefused = none }) => {
    return { budget, spentToday, cents: cents(costToday), over: wouldHaveRefused }
  })
  expect([step, budgets.toSorted((a, b) => (a.budget < b.budget ? -1 : 1))]).toEqual([step, expected.budgets])
  expect([step, found.refused, found.inDoubt.map(({ id }) => id).toSorted()]).toEqual([
    step,
    expected.refused,
    expected.inDoubt,
  ])
  expect(found.approvals.map(({ approvableUntil }) => approvableUntil)).toEqual(expected.deadlines)
}

/** The last price and the last refusal, which are part of each next stop. */
async function checkNextStops(month: RandomMonth, step: number): Promise<void> {
  const { guard } = month
  const rows = await rowsOf(month)
  const lasts = expectedLasts(rows)
  const { budgets } = await (await reportsOf(guard)).outlook(rows.view)
  const stops = [
    ...budgets.map(({ budget, next }) => [budget, next] as const),
    ...[...(await (await reportsOf(guard)).callerStops(rows.view))].map(
      ([caller, stop]) => [`caller:${caller}`, stop] as const,
    ),
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

/** A reason with its figures. */
function reasonInWords(reason: BudgetOutlook['reasons'][number]): string {
  const { sentence: _sentence, remedy: _remedy, ...rest } = reason
  switch (rest.kind) {
    case 'frozen':
      return `frozen ${rest.budget}`
    case 'exhausted':
      return `exhausted ${rest.window} ${rest.of} ${rest.over ?? ''}`
    case 'cannot-pay':
    case 'cannot-pay-today':
      return `${rest.kind} ${rest.budget} ${rest.price} ${rest.left} ${rest.refusedAt}`
    case 'plans-run-out':
      return `plans-run-out ${rest.at} ${rest.plan} ${rest.needed} ${rest.left} ${rest.short}`
    case 'pace-runs-out':
      return `pace-runs-out ${rest.at} ${rest.perDay} ${rest.short}`
    case 'ancestor-binds':
      return `ancestor-binds ${rest.budget} ${rest.left} ${rest.needed}`
    case 'threshold':
      return `threshold ${rest.used} ${rest.of}`
    case 'plan-paused':
      return `plan-paused ${rest.plan}`
    case 'reconcile-overdue':
      return rest.kind
  }
}

async function checkOutlook(month: RandomMonth, step: number, seen: Set<string>): Promise<void> {
  const { guard, windows } = month
  const rows = await rowsOf(month)
  const booked = (await Promise.all([...windows.keys()].map((window) => month.entries(window)))).flat()
  const past = { lasts: expectedLasts(rows), booked }
  const { budgets } = await (await reportsOf(guard)).outlook(rows.view)
  for (const row of budgets) {
    const shown = row.reasons.map((reason) => [reasonInWords(reason), reason.remedy])
    expect([step, row.budget, shown]).toEqual([step, row.budget, expectedReasons(rows, month, row, past)])
    for (const { kind } of row.reasons) seen.add(kind)
  }
  const places = budgets.map(placeOf)
  expect(places).toEqual(
    places.toSorted(([a, b, c], [x, y, z]) => a - x || (b < y ? -1 : Number(b > y)) || (c < z ? -1 : 1)),
  )
}

describe('the reports of a month by chance', () => {
  const seen = new Set<string>()

  test.each(monthSeeds)('reports equal the sums of records and entries: seed %i', async (seed) => {
    const month = await startRandomMonth(seed)
    for (let step = 0; step < 120; step++) {
      await month.step()
      if (step % 20 !== 19) continue
      await checkStatements(month, step)
      await checkDigest(month, step)
      await checkDigest(month, step, hours(5))
      // A day's limit binds until the day turns.
      await checkOutlook(month, step, seen)
      await month.turnDay()
      await checkSpenders(month, step)
      await checkDigest(month, step)
      await checkNextStops(month, step)
      await checkOutlook(month, step, seen)
    }
  })

  test('the months by chance have each reason why a budget is not on track', () => {
    if (monthSeeds.length < 3) return
    expect([...seen].toSorted()).toEqual(reasonKinds)
  })
})
