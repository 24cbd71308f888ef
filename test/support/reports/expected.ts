import type { Entry } from '../../../shared/ledger/book/entry.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import type { Definitions } from '../../../shared/ledger/definitions/definitions.ts'
import type { Window } from '../../../shared/ledger/definitions/windows.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { days } from '../clock.ts'
import { localDay, type RandomMonth } from './random-month.ts'

// What reports must say, by slow sums over all records and entries of a month by chance.

export interface Rows {
  readonly view: View
  readonly updates: readonly Update[]
  readonly entries: readonly Entry[]
}

export async function rowsOf({ product, updates, entries }: RandomMonth, window?: string): Promise<Rows> {
  const view = await product.other.view()
  return { view, updates: await updates(), entries: await entries(window ?? view.month.name) }
}

const unitsOf = ({ charged = 0 }: { charged?: number }): number => charged

const sum = <Of>(rows: readonly Of[], unitsOf: (row: Of) => number): number =>
  rows.reduce((units, row) => units + unitsOf(row), 0)

/** The budget and all above it, the root last. */
export function chainOf({ budgets }: Definitions, name: string): readonly string[] {
  const parent = budgets[name]?.parent ?? null
  return [name, ...(parent === null ? [] : chainOf({ budgets } as Definitions, parent))]
}

const chargedIn = ({ updates }: Rows, window: string) =>
  updates.filter(({ month, charged = 0 }) => month === window && charged > 0)

/** The units of an entry that a budget's month counts as spent. */
const spentOn = ({ moves }: Entry, name: string): number =>
  sum(moves, ({ budget, window, move }) => (budget === name && window === 'month' ? (move.spent ?? 0) : 0))

interface Named {
  readonly kind: string
  readonly name: string | null
  readonly units: number
}

function personOf({ callers = {} }: Definitions, caller: string, claimed?: string): string {
  const first = callers[caller]?.person ?? claimed ?? caller
  return callers[first]?.person ?? first
}

/** A person has a caller of another name, by the list of callers or by the token of one of these updates. */
function spenderOf(definitions: Definitions, { caller, token, plan }: Update, among: readonly Update[]) {
  if (plan !== undefined) return { kind: 'plan', name: plan }
  const name = personOf(definitions, caller, token?.person)
  const isListed = Object.values(definitions.callers ?? {}).some(({ person }) => person === name)
  const isClaimed = among.some(
    (other) =>
      other.plan === undefined &&
      other.caller !== name &&
      personOf(definitions, other.caller, other.token?.person) === name,
  )
  return { kind: isListed || isClaimed ? 'person' : 'caller', name }
}

/** The listed name of a project, also if a request wrote its id. */
function projectOf({ budgets }: Definitions, { project }: Update): string {
  const all = Object.values(budgets).flatMap(({ projects }) => projects)
  return all.find(({ name, id }) => name === project || id === project)?.name ?? project
}

/** Sums of one name of one kind, the greatest first. */
function inOrder(rows: readonly Named[]): readonly Named[] {
  const names = [...new Map(rows.map((row) => [JSON.stringify([row.kind, row.name]), row])).values()]
  return names
    .map(({ kind, name }) => ({
      kind,
      name,
      units: sum(rows, (row) => (row.kind === kind && row.name === name ? row.units : 0)),
    }))
    .filter(({ units }) => units !== 0)
    .toSorted(byUnits)
}

/** Equal units are ordered by name, and equal names by kind, because reports leave that order open. */
export const byUnits = (a: Named, b: Named): number =>
  b.units - a.units ||
  Number((a.name ?? '') > (b.name ?? '')) - Number((a.name ?? '') < (b.name ?? '')) ||
  (a.kind < b.kind ? -1 : 1)

export interface SpentRows {
  readonly callers: readonly Named[]
  readonly projects: readonly Named[]
}

type Month = Pick<Window, 'name' | 'start'>

/**
 * Who spent the units of a budget and of the budgets below it, and on which projects. Reports do not look for the name
 * of an update that was requested before the month.
 */
export function expectedSpenders(rows: Rows, { name: window, start }: Month, budget: string): SpentRows {
  const { definitions } = rows.view
  const all = chargedIn(rows, window).filter((update) => chainOf(definitions, update.budget).includes(budget))
  const charged = all.filter(({ createdAt }) => createdAt >= start)
  const unnamed = [
    { kind: 'outside', name: null, units: sum(rows.entries, (entry) => spentOn(entry, budget)) },
    { kind: 'others', name: null, units: sum(all, unitsOf) - sum(charged, unitsOf) },
  ]
  const callers = charged.map((each) => ({ ...spenderOf(definitions, each, charged), units: unitsOf(each) }))
  const projects = charged.map((each) => ({
    kind: 'project',
    name: projectOf(definitions, each),
    units: unitsOf(each),
  }))
  return { callers: inOrder([...callers, ...unnamed]), projects: inOrder([...projects, ...unnamed]) }
}

/** The ended updates of a budget's month that its own limits would have refused. */
export function expectedOverLimits(rows: Rows, { name: window, start }: Month, budget: string) {
  const over = rows.updates.filter(
    ({ month, createdAt, state, wouldHaveRefused = [] }) =>
      month === window &&
      createdAt >= start &&
      ['settled', 'released'].includes(state) &&
      wouldHaveRefused.some((each) => each.budget === budget),
  )
  return { updates: over.length, units: sum(over, unitsOf) }
}

/** Where an update is on the time line: at its hold, else at its end, else at its request. */
const happenedAt = ({ hold, finishedAt, createdAt }: Update): number => hold?.at ?? finishedAt ?? createdAt

/** Spending, refusals and waiting decisions of the 24 hours before `until`. */
export function expectedDigest(rows: Rows, { unitPrices: { prices }, zone }: RandomMonth, until: number) {
  const { definitions } = rows.view
  const recent = rows.updates.filter((update) => happenedAt(update) > until - days(1) && happenedAt(update) <= until)
  const priceOn = (day: string) => prices.filter(({ from = '' }) => from <= day).at(-1)?.perUnit ?? 0n
  const budgets = Object.keys(definitions.budgets).map((budget) => {
    const paid = recent.filter(({ hold }) => hold?.budgets.includes(budget))
    const over = recent.filter(({ wouldHaveRefused = [] }) => wouldHaveRefused.some((each) => each.budget === budget))
    const cost = paid.reduce(
      (all, { hold, charged = 0 }) => all + BigInt(charged) * priceOn(localDay(hold?.at ?? 0, zone)),
      0n,
    )
    return {
      budget,
      spentToday: sum(paid, unitsOf),
      cents: Number((cost + 5_000n) / 10_000n),
      over: { updates: over.length, units: sum(over, ({ charged, hold }) => charged ?? hold?.units ?? 0) },
    }
  })
  const refused = recent.filter(
    ({ state, plan, problem }) => state === 'refused' && (plan === undefined || problem?.slug !== 'already-updated'),
  )
  const waiting = rows.updates.filter(({ state }) => state === 'awaiting-approval')
  return {
    budgets: budgets.toSorted((a, b) => (a.budget < b.budget ? -1 : 1)),
    refused: refused.length,
    inDoubt: rows.updates.flatMap(({ state, id }) => (state === 'in-doubt' ? id : [])).toSorted(),
    deadlines: waiting.map(({ approvableUntil = 0 }) => approvableUntil).toSorted((a, b) => a - b),
    isQuiet: recent.length === 0,
  }
}

/** The last run and the last refusal by a limit or rule, of each budget with those below it and of each listed caller. */
export function expectedLasts({ view: { definitions }, updates }: Rows) {
  const partiesOf = ({ budget, caller }: Update): readonly string[] => [
    ...chainOf(definitions, budget),
    ...(definitions.callers?.[caller] ? [`caller:${caller}`] : []),
  ]
  const parties = [...new Set(updates.flatMap(partiesOf))]
  const isLater = (a: Update, b: Update, tieOf: (update: Update) => string | number) =>
    happenedAt(a) > happenedAt(b) || (happenedAt(a) === happenedAt(b) && tieOf(a) > tieOf(b))
  const lastOf = (of: readonly Update[], tieOf: (update: Update) => string | number) =>
    of.find((each) => !of.some((other) => isLater(other, each, tieOf)))
  return new Map(
    parties.map((party) => {
      const own = updates.filter((update) => partiesOf(update).includes(party))
      const runs = own.filter(hasRun)
      const run = lastOf(runs, unitsOf)
      const refused = lastOf(own.filter(isRefusedByLimits), ({ project }) => project)
      return [
        party,
        {
          price: run?.charged ?? null,
          ranAt: run ? happenedAt(run) : 0,
          isOnePrice: new Set(runs.map(unitsOf)).size === 1,
          refused: refused ? { at: happenedAt(refused), project: refused.project } : null,
        },
      ] as const
    }),
  )
}

const ofLimits = ['over-budget', 'budget-frozen', 'kind-not-allowed', 'over-update-limit']

const isRefusedByLimits = ({ state, problem }: Update): boolean =>
  state === 'refused' && ofLimits.includes(problem?.slug ?? '')

/** A released update ran if a late answer said so; a settled one did not, if a late answer said so. */
function hasRun({ state, ran, corrected, charged }: Update): boolean {
  if (state !== 'settled' && state !== 'released') return false
  return ran ?? (corrected ? Number(charged) > 0 : state === 'settled')
}

/** What each row of a statement sums up, by the key of its rows. */
export function expectedStatement(rows: Rows, window: string, by: StatementKey) {
  const { definitions } = rows.view
  const keyOf = (update: Update): string | null =>
    ({
      budget: update.budget,
      project: projectOf(definitions, update),
      caller: update.caller,
      'tag:client': update.tags?.client ?? null,
    })[by]
  const found = new Map<string | null, Record<string, number>>()
  const add = (key: string | null, figures: Record<string, number>) => {
    const before = found.get(key) ?? {}
    for (const [name, units] of Object.entries(figures)) before[name] = (before[name] ?? 0) + units
    found.set(key, before)
  }
  for (const update of rows.updates.filter(({ month }) => month === window)) {
    const { state, hold, charged = 0, plan, problem, wouldHaveRefused = [] } = update
    const isUpToDate = plan !== undefined && problem?.slug === 'already-updated'
    add(keyOf(update), {
      updates: Number(state === 'settled'),
      charged,
      refused: Number(state === 'refused' && !isUpToDate),
      held: state === 'running' ? (hold?.units ?? 0) : 0,
      inDoubt: state === 'in-doubt' ? (hold?.units ?? 0) : 0,
    })
    const budgets = [...new Set(wouldHaveRefused.map(({ budget }) => budget))]
    const isCounted = hold !== undefined && budgets.length > 0
    const over = { wouldHaveRefused: 1, wouldHaveRefusedUnits: charged }
    if (isCounted) for (const key of by === 'budget' ? budgets : [keyOf(update)]) add(key, over)
  }
  for (const entry of rows.entries) {
    const spent = spentOn(entry, 'account')
    if (spent !== 0) add(by === 'budget' ? firstOf(entry, rows.entries).budget : null, { external: spent })
    if (by !== 'budget') continue
    for (const { budget, window, move } of entry.moves)
      if (window === 'month' && move.granted) add(budget, { granted: move.granted })
  }
  return new Map([...found].filter(([, row]) => !isEmpty(row)).map(([key, row]) => [key, nonZero(row)]))
}

export type StatementKey = 'budget' | 'project' | 'caller' | 'tag:client'

function firstOf(entry: Entry, all: readonly Entry[]): Entry {
  const corrected = all.find(({ id }) => id === entry.corrects)
  return corrected ? firstOf(corrected, all) : entry
}

export const nonZero = (figures: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(figures).filter(([, units]) => units !== 0))

const isEmpty = (figures: Readonly<Record<string, number>>): boolean =>
  Object.values(figures).every((units) => units === 0)
