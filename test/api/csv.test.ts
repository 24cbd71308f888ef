import { expect, test } from 'vitest'
import { budgetColumns } from '../../shared/api/budgets.ts'
import { showUpdate } from '../../shared/api/to-json.ts'
import { updateColumnsAt } from '../../shared/api/updates.ts'
import { type State, states, type Update } from '../../shared/ledger/updates/update.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { startProduct } from '../support/product.ts'
import { at, holdOf, u, updateOf } from '../support/records.ts'
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
  ...["'+1", "'-1", "'@SUM(A1)", "'\t=1"],
  ...['"two\r\nlines"', '"a ""b"", c"', 'café'],
]

async function start() {
  const product = await startProduct({ store: createMemoryStore() })
  // Writes into the ledger directly, because older reasons may contain what requests now refuse.
  for (const [each, reason] of reasons.entries())
    await product.guard.ledger.enter({
      ...{ id: `ent_${each}`, type: 'grant', budget: 'account', units: each + 1, window: 'month', reason, by: 'ada' },
      ...{ content: '', wholeChain: false },
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
      ...{ plan: 'night', reason: 'report', tags: { client: 'acme' }, problem, estimated: u(0), charged: u(0) },
      ...{ hold: holdOf(), finishedAt: at('2026-11-20T09:02:00Z') },
    }
    for (const members of [{}, full] as readonly Partial<Update>[]) {
      const update = updateOf({ state, ...members })
      const now = at('2026-11-20T10:00:00Z')
      const { units, problem: said, ...json } = showUpdate(update, now)
      const isOpen = openStates.includes(state)
      expect(units.charged).toBe(members.charged ?? (isOpen ? null : 0))
      expect(cellsOf(updateColumnsAt(now), update)).toEqual({
        ...{ id: json.id, createdAt: json.createdAt, finishedAt: json.finishedAt ?? '', state, kind: json.kind },
        ...{ project: json.project, budget: json.budget, window: json.window, caller: json.caller, via: json.via },
        ...{ plan: json.plan ?? '', reason: json.reason ?? '', tags: json.tags ? JSON.stringify(json.tags) : '' },
        ...{ estimated: units.estimated ?? '', held: units.held, charged: units.charged ?? '' },
        ...{ problem: said?.type.replace('/problems/', '') ?? '', detail: said?.detail ?? '' },
        ...{ wouldHaveRefused: '', delivery: json.delivery ?? '', projectName: json.project },
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
    ...{ name: 'seo', parent: '', status: 'stopped', left: 0, next: next.sentence },
    ...{ nextKind: 'ranking', nextBudget: 'account', nextUnits: 0, nextUpdates: 0 },
  })
})
