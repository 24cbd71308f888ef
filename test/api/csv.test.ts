import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { budgetColumns } from '../../shared/api/budgets.ts'
import { showUpdate } from '../../shared/api/to-json.ts'
import { updateColumnsAt } from '../../shared/api/updates.ts'
import { type State, states, type Update } from '../../shared/ledger/updates/update.ts'
import { figuresOverLimits, statementFigures } from '../../shared/platform/words.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { startProduct } from '../support/product.ts'
import { at, holdOf, u, updateOf } from '../support/records.ts'
import { expectedStatement, nonZero, rowsOf } from '../support/reports/expected.ts'
import { localDay, monthSeeds, type RandomMonth, startRandomMonth } from '../support/reports/random-month.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// CSV opens safely in a spreadsheet, and programs read it unchanged.

const reasons = [
  '=HYPERLINK("http://evil.example")',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  'two\r\nlines',
  'a "b", c',
  'café',
]
const cells = [
  `"'=HYPERLINK(""http://evil.example"")"`,
  "'+1",
  "'-1",
  "'@SUM(A1)",
  "'\t=1",
  '"two\r\nlines"',
  '"a ""b"", c"',
  'café',
]

async function start() {
  const product = await startProduct({ store: createMemoryStore() })
  // Writes into the ledger directly, because older reasons may contain what requests now refuse.
  for (const [each, reason] of reasons.entries())
    await product.guard.ledger.enter({
      id: `ent_${each}`,
      type: 'grant',
      budget: 'account',
      units: each + 1,
      window: 'month',
      reason,
      by: 'ada',
      content: '',
      wholeChain: false,
    })
  await product.update({ kind: 'ranking', project: 'café', reason: '=1' })
  return product
}

test('CSV escapes formulas and quotes separators and line breaks', async () => {
  const product = await start()
  const { text } = await product.call('GET', '/budgets/account/entries', { headers: { accept: 'text/csv' } })
  expect(text.startsWith('id,at,type,budget,units,window,by,reason,to,corrects,changed\r\n')).toBe(true)
  for (const [each, cell] of cells.entries())
    expect(text).toContain(`,grant,account,${each + 1},month:2026-11-01,ada,${cell},,,\r\n`)
})

test.each([
  ['text/csv', 'text/csv; charset=utf-8'],
  ['text/csv;q=0.9, application/json;q=0.1', 'text/csv; charset=utf-8'],
  ['text/csv;q=0.1, application/json;q=0.9', 'application/json'],
  ['text/csv;q=0', 'application/json'],
  ['*/*', 'application/json'],
])('Accept: %s is answered with %s', async (accept, type) => {
  const product = await start()
  const { headers } = await product.call('GET', '/updates', { headers: { accept } })
  expect(headers.get('content-type')).toBe(type)
})

test('a CSV download has a byte order mark, a CSV answer of the API does not', async () => {
  const product = await start()
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const download = await product.dashboard.request('/dashboard/updates.csv', { headers: { cookie } })
  const answer = await product.api.request('/updates', {
    headers: { accept: 'text/csv', authorization: `Bearer ${await product.signed({ sub: 'rita', scope: 'read' })}` },
  })
  const beginning = async (response: Response) =>
    Buffer.from(await response.arrayBuffer())
      .subarray(0, 5)
      .toString('hex')
  expect(await beginning(download)).toBe(`efbbbf${Buffer.from('id').toString('hex')}`)
  expect(await beginning(answer)).toBe(Buffer.from('id,cr').toString('hex'))
})

const cellsOf = <Row>(columns: Readonly<Record<string, (row: Row) => string | number>>, row: Row) =>
  Object.fromEntries(Object.entries(columns).map(([name, cell]) => [name, cell(row)]))

const openStates: readonly State[] = ['awaiting-approval', 'requested', 'running', 'in-doubt']

test.each(states)(
  'the CSV of an update that is %s says what the JSON says, and nothing where that is not known',
  (state) => {
    const problem = { slug: 'over-budget', detail: 'seo has 0 left.', members: {} } as const
    const full = {
      plan: 'night',
      reason: 'report',
      tags: { client: 'acme' },
      problem,
      estimated: u(0),
      charged: u(0),
      hold: holdOf(),
      finishedAt: at('2026-11-20T09:02:00Z'),
    }
    for (const members of [{}, full] as readonly Partial<Update>[]) {
      const update = updateOf({ state, ...members })
      const now = at('2026-11-20T10:00:00Z')
      const { units, problem: said, ...json } = showUpdate(update, now)
      const isOpen = openStates.includes(state)
      expect(units.charged).toBe(members.charged ?? (isOpen ? null : 0))
      expect(cellsOf(updateColumnsAt(now), update)).toEqual({
        id: json.id,
        createdAt: json.createdAt,
        finishedAt: json.finishedAt ?? '',
        state,
        kind: json.kind,
        project: json.project,
        budget: json.budget,
        window: json.window,
        caller: json.caller,
        via: json.via,
        plan: json.plan ?? '',
        reason: json.reason ?? '',
        tags: json.tags ? JSON.stringify(json.tags) : '',
        estimated: units.estimated ?? '',
        held: units.held,
        charged: units.charged ?? '',
        problem: said?.type.replace('/problems/', '') ?? '',
        detail: said?.detail ?? '',
        wouldHaveRefused: '',
        delivery: json.delivery ?? '',
        projectName: json.project,
      })
    }
  },
)

test('the CSV of budgets says nothing about units of an unlimited budget, and 0 of a used one', () => {
  const budget = (available: number | null, more: object = {}) =>
    ({
      name: 'seo',
      parent: null,
      windows: [
        { window: 'day', available: 7 },
        { window: 'month', available },
      ],
      ...more,
    }) as never
  const next = { kind: null, budget: null, units: null, updates: null, sentence: 'Nothing stops it.' }
  const empty = { nextKind: '', nextBudget: '', nextUnits: '', nextUpdates: '' }
  expect(cellsOf(budgetColumns, budget(null, { next }))).toMatchObject({ left: '', ...empty, next: next.sentence })
  const stopped = { ...next, kind: 'ranking', budget: 'account', units: 0, updates: 0 }
  expect(cellsOf(budgetColumns, budget(0, { next: stopped, status: 'stopped' }))).toEqual({
    name: 'seo',
    parent: '',
    status: 'stopped',
    left: 0,
    next: next.sentence,
    nextKind: 'ranking',
    nextBudget: 'account',
    nextUnits: 0,
    nextUpdates: 0,
  })
})

test('CSV continues after a page on which the filter leaves one row or none', async () => {
  const product = await startProduct({ store: createMemoryStore() })
  const { call, clock, update } = product
  await call('PUT', '/budgets/none', { body: { limits: [{ window: 'month', units: 0 }] } })
  const refuse = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      const projects = Array.from({ length: 20 }, (_, number) => `p-${clock.now()}-${number}`)
      await update({ kind: 'ranking', projects, budget: 'none' })
      clock.advance(1_000)
    }
  }
  for (const project of ['oldest', 'middle', 'newest']) {
    await update({ kind: 'ranking', project })
    clock.advance(1_000)
    await refuse(project === 'newest' ? 1 : 16)
  }
  const { text } = await call('GET', '/updates?state=settled', { headers: { accept: 'text/csv' } })
  const rows = parse(text, { columns: true }) as { project: string }[]
  expect(rows.map(({ project }) => project)).toEqual(['newest', 'middle', 'oldest'])
})

describe('the CSV of a month by chance', () => {
  const iso = (instant: number) => new Date(instant).toISOString()
  const tagsIn = (tags: Record<string, string>) => JSON.stringify(Object.fromEntries(Object.entries(tags).toSorted()))
  const ended = ['refused', 'cancelled', 'expired', 'rejected', 'released', 'settled']

  /** One line of the CSV of updates, from the record alone. */
  const lineOf = (update: Update) => ({
    id: update.id,
    createdAt: iso(update.createdAt),
    finishedAt: update.finishedAt === undefined ? '' : iso(update.finishedAt),
    state: update.state,
    kind: update.kind,
    project: update.project,
    budget: update.budget,
    window: update.month,
    caller: update.caller,
    via: update.via,
    plan: update.plan ?? '',
    estimated: String(update.estimated ?? ''),
    held: String(update.hold?.units ?? 0),
    // What is in doubt may have cost units.
    charged: String(update.charged ?? (ended.includes(update.state) ? 0 : '')),
    reason: update.reason ?? '',
    problem: update.problem?.slug ?? '',
    detail: update.problem?.detail ?? '',
    tags: update.tags ? tagsIn(update.tags) : '',
    wouldHaveRefused: (update.wouldHaveRefused ?? [])
      .map(({ budget, window, units }) => `${budget} ${window} ${units}`)
      .join('; '),
    projectName: update.listed?.name ?? update.project,
  })

  async function startCsv(seed: number) {
    const month = await startRandomMonth(seed)
    for (let step = 0; step < 120; step++) await month.step()
    const { zone, renewal, unitPrices } = month
    const product = await startProduct({
      store: createMemoryStore(month.product.items),
      stream: false,
      clock: month.product.clock,
      env: {
        ACCOUNT_UNITS_PER_MONTH: '5000',
        ACCOUNT_TIME_ZONE: zone,
        CURRENCY: unitPrices.currency,
        ACCOUNT_RENEWAL_DAY: String(renewal.day),
        ACCOUNT_RENEWAL_TIME: renewal.time,
        PRICE_PER_UNIT: unitPrices.prices
          .map(({ from, perUnit }) => `${(Number(perUnit) / 1_000_000).toFixed(6)}@${from}`)
          .join(','),
      },
    })
    let readers = 0
    const csv = async (path: string): Promise<readonly Record<string, string>[]> => {
      // The expensive reads of one reader are limited.
      const token = product.signed({ sub: `reader-${++readers}`, scope: 'read' })
      const { status, text } = await product.call('GET', path, { token, headers: { accept: 'text/csv' } })
      expect([path, status]).toEqual([path, 200])
      return parse(text, { columns: true })
    }
    return { month, csv }
  }

  /** The prices of a caller's row: each price of a day on which one of its updates held units, the earliest first. */
  function pricesOf({ unitPrices: { prices }, zone }: RandomMonth, updates: readonly Update[]): string {
    const used = updates.flatMap(({ charged = 0, hold }) => {
      const day = localDay(hold?.at ?? 0, zone)
      return charged > 0 ? (prices.findLast(({ from = '' }) => from <= day) ?? []) : []
    })
    const inOrder = prices.filter((price) => used.includes(price))
    return inOrder.map(({ perUnit }) => Number(perUnit) / 1_000_000).join(' ')
  }

  /** The key of a line of a statement, and its figures that are not 0. */
  function figuresIn(line: Record<string, string>, by: string) {
    const figures = [...statementFigures, ...figuresOverLimits].map((name) => [name, Number(line[name])] as const)
    return [line[by] || null, nonZero(Object.fromEntries(figures))] as const
  }

  test.each(monthSeeds)('the CSV has each update, entry and row of a statement: seed %i', async (seed) => {
    const { month, csv } = await startCsv(seed)
    const updates = await month.updates()
    const shown = (await csv('/updates')).map(({ delivery: _delivery, ...line }) => line)
    expect(shown).toEqual(updates.map(lineOf))
    for (const window of month.windows.keys()) {
      const rows = await rowsOf(month, window)
      const entries = await csv(`/budgets/account/entries?window=${window}`)
      const ofAccount = rows.entries.filter(({ budget, moves }) =>
        [budget, ...moves.map((each) => each.budget)].includes('account'),
      )
      expect(
        entries.map(({ id, at, type, budget, units, corrects }) => [id, at, type, budget, units, corrects]),
      ).toEqual(
        ofAccount.map(({ id, at, type, budget, units, corrects = '' }) => [
          id,
          iso(at),
          type,
          budget,
          `${units}`,
          corrects,
        ]),
      )
      for (const by of ['budget', 'project', 'caller', 'tag:client'] as const) {
        const lines = await csv(`/statements?window=${window}&by=${by}`)
        const figures = lines.map((line) => figuresIn(line, by)).filter(([, sums]) => Object.keys(sums).length > 0)
        expect([by, new Map(figures)]).toEqual([by, expectedStatement(rows, window, by)])
        if (by !== 'caller') continue
        for (const { caller, prices } of lines.filter((line) => line.caller)) {
          const own = updates.filter((update) => update.month === window && update.caller === caller)
          expect([caller, prices]).toEqual([caller, pricesOf(month, own)])
        }
      }
    }
  })
})
