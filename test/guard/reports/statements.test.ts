import { describe, expect, test } from 'vitest'
import type { Entry } from '../../../shared/ledger/book/entry.ts'
import type { EntryRequest } from '../../../shared/ledger/book/entry-request.ts'
import type { Ledger } from '../../../shared/ledger/ledger.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { createStatements } from '../../../shared/reports/statements/statements.ts'
import { daySummaries } from '../../../shared/reports/stored-summary.ts'
import { days, minutes } from '../../support/clock.ts'
import { only, ran, startGuard, unknown } from '../../support/guard.ts'
import { at, u } from '../../support/records.ts'
import { summaryOf } from '../../support/summary.ts'

// The rows of a month's statement, and the condition under which they add up to the book.

const november = 'month:2026-11-01'
/** The time at which a guard of these tests begins. */
const asked = '2026-11-20T10:00:00Z'
const none = {
  updates: 0,
  charged: 0,
  external: 0,
  granted: 0,
  held: 0,
  inDoubt: 0,
  refused: 0,
  wouldHaveRefused: 0,
  wouldHaveRefusedUnits: 0,
  atPrices: new Map(),
}
const row = { ...none, paidElsewhere: 0 }

type Started = Awaited<ReturnType<typeof startGuard>>

async function enter({ other, parts }: Started, wanted: object): Promise<Entry> {
  const id = parts.ids.random()
  const request = { id, content: id, reason: 'r', by: 'ada', ...wanted } as EntryRequest
  const preview = await other.previewEntry(request)
  const shown = preview.kind === 'possible' ? preview.entry.units : 0
  const outcome = await other.enter(request.type === 'reconcile' ? { ...request, shown } : request)
  if (outcome.kind !== 'entered') throw new Error(outcome.kind)
  return outcome.entry
}

const spend = (product: Started, budget: string, units: number) =>
  enter(product, { type: 'external-spend', budget, units })

describe('rows', () => {
  test('a statement counts an entry for month and day once, and leaves out a grant for the day', async () => {
    const product = await startGuard()
    const limit = (window: 'month' | 'day', units: number) => ({ window, units: toUnits(units) })
    await product.budget('account', { limits: [limit('month', 1000), limit('day', 500)] })
    await product.budget('acme', { limits: [limit('month', 300), limit('day', 100)] })
    await spend(product, 'acme', 30)
    await enter(product, { type: 'grant', budget: 'acme', units: 7, window: 'day', wholeChain: true })
    await enter(product, { type: 'grant', budget: 'acme', units: 50, window: 'month', wholeChain: true })
    await enter(product, { type: 'grant', budget: 'acme', units: 4, window: 'month', wholeChain: false })
    expect(await (await reportsOf(product.guard)).statement(null, 'budget')).toMatchObject({
      rows: [
        { key: 'account', ...none, granted: 50 },
        { key: 'acme', ...none, external: 30, granted: 54 },
      ],
      total: { key: null, ...none, external: 30, granted: 50 },
      spent: 30,
      addsUp: true,
    })
    expect(await (await reportsOf(product.guard)).statement(null, 'caller')).toMatchObject({
      rows: [{ key: null, ...none, external: 30 }],
      total: { key: null, ...none, external: 30, granted: 50 },
    })
  })

  test('a correction of a correction counts for the first entry’s budget, and an entry without units has no row', async () => {
    const product = await startGuard()
    await product.budget('acme', {})
    await product.budget('globex', {})
    const first = await spend(product, 'acme', 30)
    const second = await enter(product, { type: 'correction', budget: 'account', units: 12, corrects: first.id })
    await enter(product, { type: 'correction', budget: 'account', units: 15, corrects: second.id })
    await spend(product, 'globex', 8)
    const statement = await (await reportsOf(product.guard)).statement(null, 'budget')
    expect(statement?.rows).toEqual([
      { key: 'acme', ...row, external: 15 },
      { key: 'globex', ...row, external: 8 },
    ])
    expect(statement).toMatchObject({ spent: 23, addsUp: true })
  })

  test('a late answer counts once after a reconciliation returned its units, and admits no more than the vendor has', async () => {
    const product = await startGuard({ units: 80 })
    product.service.run = async () => unknown
    const update = only(await product.ask({ kind: 'keyword-difficulty' }))
    await product.guard.decide('ran', update.id, { caller: 'eve' }, { reason: 'r' })
    product.clock.advance(minutes(5))
    await enter(product, { type: 'reconcile', budget: 'account', unitsLeft: 80 })
    const late = { kind: 'did-not-run', from: 'sender', by: 'service', note: 'refused with status 429' } as const
    await product.guard.ledger.settle(update, late)
    expect(await (await reportsOf(product.guard)).statement(null, 'budget')).toMatchObject({
      rows: [{ key: 'account', ...none, updates: 1 }],
      spent: 0,
      addsUp: true,
    })
    product.service.run = async () => ran
    const states: string[] = []
    for (const project of ['a', 'b', 'c']) states.push(only(await product.ask({ projects: [project] })).state)
    expect(states).toEqual(['settled', 'settled', 'refused'])
    expect(await product.counts()).toEqual({ available: 0, held: 0, inDoubt: 0, spent: 80 })
  })

  test('each project of an owner has its own row under its listed name', async () => {
    const product = await startGuard()
    const projects = [{ name: 'site', id: '77' }, { name: 'blog', id: '88' }, { name: 'shop' }]
    await product.budget('acme', { projects })
    await product.budget('globex', { projects: [{ name: 'zoo', id: '99' }] })
    await product.ask({ projects: ['88', 'site', '99', '11', 'shop'] })
    await product.ask({ projects: ['77', 'blog', 'zoo'], kind: 'keyword-difficulty' })
    await spend(product, 'account', 5)
    const settled = (key: string, updates: number) => ({ key, ...row, updates, charged: 40 * updates })
    const statement = await (await reportsOf(product.guard)).statement(null, 'project')
    expect(statement?.rows).toEqual([
      settled('11', 1),
      settled('blog', 2),
      settled('shop', 1),
      settled('site', 2),
      settled('zoo', 2),
      { key: null, ...row, external: 5 },
    ])
    expect(statement?.addsUp).toBe(true)
  })

  test.each([
    [
      ['2', '10'],
      ['10', '2', null],
    ],
    [
      ['zz', 'null', '~', 'ä', '-b', 'B', 'a'],
      ['-b', 'B', 'a', 'null', 'zz', '~', 'ä', null],
    ],
  ])('the row of outside spending is the last, after %j', async (projects, keys) => {
    const product = await startGuard()
    await product.ask({ projects })
    await spend(product, 'account', 5)
    const statement = await (await reportsOf(product.guard)).statement(null, 'project')
    expect(statement?.rows.map(({ key }) => key)).toEqual(keys)
  })
})

describe('updates that have not ended', () => {
  test('a running update is held in its own row, and its month is not final before it ends', async () => {
    const product = await startGuard()
    const { guard, clock, service } = product
    service.estimate = async () => ({ kind: 'units', units: u(25), source: 'units' })
    await product.ask({ projects: ['site'] })
    service.estimate = async () => ({ kind: 'units', units: u(40), source: 'units' })
    const seen: unknown[] = []
    service.run = async () => {
      clock.set('2026-12-01T00:00:00Z')
      seen.push(await (await reportsOf(guard)).statement(november, 'project'))
      return ran
    }
    await product.ask({ projects: ['shop'] }, {}, { endsAt: at('2026-12-01T01:00:00Z') })
    expect(seen).toMatchObject([
      {
        status: 'open',
        notFinal: { isOver: true, updates: [{ project: 'shop', state: 'running' }] },
        rows: [
          { key: 'shop', ...none, held: 40 },
          { key: 'site', ...none, updates: 1, charged: 25 },
        ],
        total: { key: null, ...none, updates: 1, charged: 25, held: 40 },
        spent: 25,
        addsUp: true,
      },
    ])
    expect(await (await reportsOf(guard)).statement(november, 'project')).toMatchObject({
      status: 'final',
      notFinal: { isOver: true, updates: [] },
      total: { ...none, updates: 2, charged: 65 },
      next: 'month:2026-12-01',
    })
  })

  test('an update in doubt counts as in doubt, not as held', async () => {
    const product = await startGuard()
    product.service.run = async () => unknown
    await product.ask({ projects: ['shop', 'site'] })
    const statement = await (await reportsOf(product.guard)).statement(null, 'caller')
    expect(statement?.rows).toEqual([{ key: 'bob', ...row, inDoubt: 80 }])
    expect(statement?.total).toEqual({ key: null, ...none, inDoubt: 80 })
  })

  test('a month is open to its last millisecond, and the next month begins after it', async () => {
    const { guard, clock } = await startGuard()
    clock.set('2026-11-30T23:59:59.999Z')
    const notFinal = { isOver: false, updates: [] }
    expect(await (await reportsOf(guard)).statement(november, 'budget')).toMatchObject({
      status: 'open',
      notFinal,
      next: null,
    })
    expect(await (await reportsOf(guard)).statement('month:2026-12-01', 'budget')).toBeNull()
    clock.set('2026-12-01T00:00:00Z')
    expect(await (await reportsOf(guard)).statement(november, 'budget')).toMatchObject({
      status: 'final',
      next: 'month:2026-12-01',
    })
    expect(await (await reportsOf(guard)).statement('month:2026-12-01', 'budget')).toMatchObject({
      status: 'open',
      next: null,
    })
  })
})

describe('the updates of a statement', () => {
  test('a statement has the updates of its month’s last day, and no update of the next month’s first day', async () => {
    const product = await startGuard()
    product.clock.set('2026-11-30T23:00:00Z')
    await product.ask({ projects: ['late'] })
    product.clock.set('2026-12-01T01:00:00Z')
    await product.ask({ projects: ['early'] })
    expect((await (await reportsOf(product.guard)).statement(november, 'project'))?.rows).toMatchObject([
      { key: 'late' },
    ])
    expect((await (await reportsOf(product.guard)).statement(null, 'project'))?.rows).toMatchObject([{ key: 'early' }])
  })

  test('a statement leaves out an update that a summary names but that no longer exists', async () => {
    const product = await startGuard()
    const { guard, clock } = product
    await product.ask({ projects: ['shop'] })
    clock.advance(days(1))
    await (await reportsOf(guard)).keepSummaries()
    const kept = await summaryOf(guard.ledger, asked)
    await guard.ledger.item(daySummaries).write({ ...kept, open: ['upd_gone'] })
    expect(await (await reportsOf(guard)).statement(null, 'project')).toMatchObject({
      rows: [{ key: 'shop', charged: 40 }],
      addsUp: true,
    })
    clock.advance(days(1))
    await (await reportsOf(guard)).keepSummaries()
    expect(await summaryOf(guard.ledger, asked)).toMatchObject({ rows: kept.rows, open: [] })
  })
})

/** A book that changes after each of the first `times` readings of the entries. */
async function moving({ times, isCounted = false }: { times: number; isCounted?: boolean }) {
  const product = await startGuard()
  const { guard, clock, parts } = product
  await product.ask({ projects: ['shop'] })
  if (isCounted) {
    clock.advance(days(1))
    await (await reportsOf(guard)).keepSummaries()
  }
  let readings = 0
  const entries: Ledger['entries'] = async (...asked) => {
    const page = await guard.ledger.entries(...asked)
    if (readings++ < times) await spend(product, 'account', 1)
    return page
  }
  const { statement } = createStatements({ ...parts, ledger: { ...guard.ledger, entries } })
  return { ...product, statement: await statement(null, 'budget'), readings }
}

describe('a book that moves while it is read', () => {
  test.each([
    [0, 1, { external: 0, spent: 40, addsUp: true }],
    [1, 2, { external: 1, spent: 41, addsUp: true }],
    [2, 3, { external: 2, spent: 42, addsUp: true }],
    [3, 3, { external: 2, spent: 43, addsUp: null }],
    [9, 3, { external: 2, spent: 43, addsUp: null }],
  ])('a book that moves %i times needs %i readings', async (times, rounds, { external, spent, addsUp }) => {
    const { statement, readings } = await moving({ times })
    expect(readings).toBe(rounds)
    expect(statement).toMatchObject({ total: { charged: 40, external }, spent, addsUp })
  })

  test('a book that moves during the reading does not prove a summary wrong', async () => {
    const { statement, readings, guard, lines } = await moving({ times: 9, isCounted: true })
    expect(readings).toBe(3)
    expect(statement).toMatchObject({ total: { charged: 40, external: 2 }, spent: 43, addsUp: null })
    expect((await summaryOf(guard.ledger, asked)).rows).toMatchObject([{ charged: 40 }])
    expect(lines).not.toContainEqual(expect.objectContaining({ event: 'summary-not-ok' }))
  })
})

describe('a book that does not add up', () => {
  /** A person has edited the table by hand. */
  async function tampered(by: number) {
    const product = await startGuard()
    const { guard, clock, items } = product
    await product.ask({ projects: ['shop'] })
    clock.advance(days(1))
    await (await reportsOf(guard)).keepSummaries()
    for (const [name, item] of items) {
      if (item.pk === 'book') items.set(name, JSON.parse(JSON.stringify(item).replaceAll('"s":40', `"s":${40 + by}`)))
    }
    return product
  }

  test.each([-1, 1])('a statement that does not add up does not blame the summaries (%i)', async (by) => {
    const { guard, lines } = await tampered(by)
    expect(await (await reportsOf(guard)).statement(null, 'budget')).toMatchObject({
      rows: [{ key: 'account', charged: 40 }],
      total: { charged: 40, external: 0 },
      spent: 40 + by,
      addsUp: false,
    })
    expect((await summaryOf(guard.ledger, asked)).rows).toMatchObject([{ charged: 40 }])
    expect(lines).not.toContainEqual(expect.objectContaining({ event: 'summary-not-ok' }))
  })
})
