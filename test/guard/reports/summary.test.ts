import { describe, expect, test } from 'vitest'
import type { RunOutcome } from '../../../shared/ledger/book/outcome.ts'
import { monthBefore } from '../../../shared/ledger/definitions/windows.ts'
import { AnswerLost } from '../../../shared/ledger/errors.ts'
import type { Ledger } from '../../../shared/ledger/ledger.ts'
import type { Item, Store } from '../../../shared/ledger/store/store.ts'
import { type SummaryDay, summaryDays } from '../../../shared/ledger/updates/summary-days.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { createStatements } from '../../../shared/reports/statements/statements.ts'
import { daySummaries, emptySummary, summaryPlace } from '../../../shared/reports/stored-summary.ts'
import { createSummaries } from '../../../shared/reports/summary.ts'
import { chanceOf, one } from '../../simulation/workloads/chance.ts'
import { createTestClock, days, hours, minutes } from '../../support/clock.ts'
import { startGuard, unknown } from '../../support/guard.ts'
import { type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { stores } from '../../support/store/stores.ts'
import { summaryOf } from '../../support/summary.ts'

// The sweep writes a summary of each day, so that a statement needs as many reads for 100,000 updates as for ten.

const november = 'month:2026-11-01'
const december = 'month:2026-12-01'
const late: RunOutcome = {
  kind: 'ran',
  units: toUnits(40),
  from: 'sender',
  by: 'service',
  note: 'its answer came late',
}

/** Updates of `lost` are in doubt, and updates of `dear` exceed the budget. */
async function start(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({
    store: createMemoryStore(),
    stream: false,
    clock: createTestClock('2026-11-10T10:00:00Z'),
    units: { dear: 90_000 },
    service: ({ url }) => (/lost\/run/.test(url) ? { status: 500 } : undefined),
    ...options,
  })
  await product.guard.ledger.view()
  return product
}

const ask = async (product: Product, ...projects: string[]): Promise<string[]> =>
  (await product.update({ kind: 'ranking', projects, whenShort: 'fit' })).body.updates.map(
    ({ id }: { id: string }) => id,
  )

const tenth = (product: Product) => summaryOf(product.guard.ledger, '2026-11-10T12:00:00Z')

const sweepAt = async (product: Product, rfc3339: string): Promise<void> => {
  product.clock.set(rfc3339)
  await (await reportsOf(product.guard)).keepSummaries()
}

const statementOf = async (product: Product, query = '') =>
  (await product.call('GET', `/statements?by=project${query}`)).body

const row = (project: string, figures: object = {}) => ({
  budget: 'account',
  project,
  caller: 'ada',
  kind: 'ranking',
  via: 'http',
  ...figures,
})

async function settleLate(product: Product, id: string): Promise<void> {
  const update = await product.guard.ledger.update(id)
  if (!update) throw new Error('the update is gone')
  await product.guard.ledger.settle(update, late)
}

const sayItDidNotRun = (product: Product, id: string) =>
  product.call('POST', `/updates/${id}/resolve`, { body: { outcome: 'did-not-run', reason: 'nothing there' } })

/** A store that counts reads and written summaries, and lets another write come before the next write. */
function watched(inner: Store = createMemoryStore()) {
  const counts = { reads: 0 }
  const written: string[] = []
  let between: (() => Promise<unknown>) | undefined
  const store: Store = {
    get: async (keys) => {
      counts.reads++
      return inner.get(keys)
    },
    list: async (query) => {
      counts.reads++
      return inner.list(query)
    },
    transact: async (writes, token) => {
      const [first] = writes
      if (first?.kind === 'put' && first.item.pk.startsWith('summary#')) {
        const now = between
        between = undefined
        await now?.()
        written.push(first.item.sk)
      }
      return inner.transact(writes, token)
    },
  }
  const beforeNextWrite = (act: () => Promise<unknown>) => {
    between = act
  }
  return { store, counts, written, beforeNextWrite }
}

describe.each(stores)('the summary of a day: %s', (_name, create) => {
  test('a summary counts ended updates half an hour after the day, and names the others until they end', async () => {
    const product = await start({ store: await create() })
    const [, , lost] = await ask(product, 'one', 'dear', 'lost')
    await ask(product, 'one')
    const before = await statementOf(product)
    await sweepAt(product, '2026-11-11T00:30:00Z')
    const summary = await tenth(product)
    expect(summary).toMatchObject({
      until: Date.parse('2026-11-11T00:00:00Z') - 1,
      open: [lost],
      used: { account: { used: 80, limit: 50_000 } },
      duplicates: 1,
      saved: 40,
      lastAt: Date.parse('2026-11-10T10:00:00Z'),
    })
    expect(summary.rows.toSorted((a, b) => (a.project < b.project ? -1 : 1))).toEqual([
      row('dear', { refused: 1 }),
      row('one', { settled: 1, charged: 40, price: 40, upToDate: 1, duplicates: 1, saved: 40 }),
    ])
    expect(await statementOf(product)).toEqual(before)

    await product.call('POST', `/updates/${lost}/resolve`, { body: { outcome: 'ran', units: 30, reason: 'seen' } })
    await sweepAt(product, '2026-11-11T02:00:00Z')
    expect((await tenth(product)).open).toEqual([])
    expect((await tenth(product)).rows).toContainEqual(row('lost', { settled: 1, charged: 30, price: 30 }))
    expect(await statementOf(product)).toMatchObject({
      rows: [{ project: 'dear' }, { project: 'lost' }, { project: 'one' }],
      total: { updates: 2, charged: 70, refused: 2, inDoubt: 0 },
      book: { spent: 70, addsUp: true },
    })
  })

  test('a correction invalidates a summary in the same transaction, and the next sweep counts the day again', async () => {
    const product = await start({ store: await create() })
    const [id = ''] = await ask(product, 'lost', 'one')
    product.clock.advance(hours(1))
    await sayItDidNotRun(product, id)
    await sweepAt(product, '2026-11-12T10:00:00Z')
    expect((await tenth(product)).rows).toContainEqual(row('lost', { released: 1 }))
    await settleLate(product, id)
    const spoilt = { rows: [], until: Date.parse('2026-11-10T00:00:00Z') - 1 }
    expect(await tenth(product)).toMatchObject(spoilt)
    const expected = { total: { updates: 1, charged: 80 }, book: { spent: 80, addsUp: true } }
    expect(await statementOf(product)).toMatchObject(expected)
    await (await reportsOf(product.guard)).keepSummaries()
    expect((await tenth(product)).rows).toContainEqual(row('lost', { released: 1, charged: 40, price: 40 }))
    expect(await statementOf(product)).toMatchObject(expected)
  })
})

describe('concurrent counts', () => {
  test('only one of two simultaneous sweeps counts an update', async () => {
    const product = await start()
    await ask(product, 'one')
    product.clock.set('2026-11-11T01:00:00Z')
    await Promise.all([
      (await reportsOf(product.guard)).keepSummaries(),
      (await reportsOf(product.guard)).keepSummaries(),
    ])
    await (await reportsOf(product.guard)).keepSummaries()
    expect((await tenth(product)).rows).toEqual([row('one', { settled: 1, charged: 40, price: 40 })])
  })

  test('a sweep that counted before a correction does not write after the correction', async () => {
    const { store, beforeNextWrite } = watched()
    const product = await start({ store })
    const [id = ''] = await ask(product, 'lost', 'one')
    await sweepAt(product, '2026-11-12T01:00:00Z')
    expect((await tenth(product)).open).toEqual([id])
    await sayItDidNotRun(product, id)
    beforeNextWrite(() => settleLate(product, id))
    await (await reportsOf(product.guard)).keepSummaries()
    expect((await tenth(product)).rows).toEqual([])
    expect(await statementOf(product)).toMatchObject({ book: { spent: 80, addsUp: true } })
    await (await reportsOf(product.guard)).keepSummaries()
    expect((await tenth(product)).rows).toContainEqual(row('lost', { released: 1, charged: 40, price: 40 }))
  })

  test('the next sweep sees a write with a lost answer, applied or not', async () => {
    for (const isApplied of [true, false]) {
      const inner = createMemoryStore()
      let losses = 1
      const store: Store = {
        ...inner,
        transact: async (writes, token) => {
          const [first] = writes
          const isLost = first?.kind === 'put' && first.item.sk === 'day:2026-11-10' && losses-- > 0
          if (!isLost || isApplied) await inner.transact(writes, token)
          if (isLost) throw new AnswerLost('lost')
          return { applied: true }
        },
      }
      const product = await start({ store })
      await ask(product, 'one')
      await expect(sweepAt(product, '2026-11-11T01:00:00Z')).rejects.toThrow(AnswerLost)
      await (await reportsOf(product.guard)).keepSummaries()
      expect((await tenth(product)).rows).toEqual([row('one', { settled: 1, charged: 40, price: 40 })])
    }
  })

  test('an update that is requested in one month and held in the next counts in the next', async () => {
    const product = await start({ clock: createTestClock('2026-11-30T20:00:00Z') })
    const thirtieth = () => summaryOf(product.guard.ledger, '2026-11-30T20:00:00Z')
    await product.call('PUT', '/budgets/slow', {
      body: { limits: [{ window: 'month', units: 1_000 }], approvalAbove: 1 },
    })
    const asked = await product.update({ kind: 'ranking', project: 'one', budget: 'slow' })
    const [{ id }] = asked.body.updates
    await sweepAt(product, '2026-12-01T02:00:00Z')
    expect((await thirtieth()).open).toEqual([id])
    product.clock.set('2026-12-01T09:00:00Z')
    const token = product.signed({ sub: 'bob', scope: 'read approve' })
    await product.call('POST', `/updates/${id}/approve`, { body: {}, token })
    await product.guard.start(id, product.endsAt())
    expect((await product.guard.ledger.update(id))?.state).toBe('settled')
    await sweepAt(product, '2026-12-10T09:00:00Z')
    expect(await thirtieth()).toMatchObject({ rows: [{ budget: 'slow', month: december, charged: 40 }], open: [] })
    expect(await statementOf(product)).toMatchObject({ total: { charged: 40 }, book: { addsUp: true } })
    expect(await statementOf(product, `&window=${november}`)).toMatchObject({ rows: [], book: { addsUp: true } })
  })

  test('an update that appears half an hour late is counted', async () => {
    const product = await startGuard({ units: 10_000 })
    const { guard, clock, elsewhere } = product
    clock.set('2026-11-20T23:45:00Z')
    const estimate = product.service.estimate
    product.service.estimate = async (target) => {
      product.service.estimate = estimate
      clock.set('2026-11-21T00:14:59Z')
      await (await reportsOf(elsewhere)).keepSummaries()
      return estimate(target)
    }
    await product.ask({}, {}, { endsAt: clock.now() + hours(1) })
    clock.set('2026-11-21T00:30:00Z')
    await (await reportsOf(guard)).keepSummaries()
    expect((await summaryOf(guard.ledger, '2026-11-20T12:00:00Z')).rows).toMatchObject([{ settled: 1, charged: 40 }])
  })

  test('a summary from a wrong clock is ignored, and the next sweep counts again', async () => {
    const product = await start()
    await ask(product, 'one')
    product.clock.advance(days(3))
    await (await reportsOf(product.guard)).keepSummaries()
    product.clock.advance(days(-3))
    // This update is refused, so the sum of units would not show that it is missing.
    await ask(product, 'dear')
    const expected = { total: { updates: 1, charged: 40, refused: 1 }, book: { spent: 40, addsUp: true } }
    expect(await statementOf(product)).toMatchObject(expected)
    await sweepAt(product, '2026-11-11T00:30:00Z')
    expect((await tenth(product)).rows).toHaveLength(2)
    expect(await statementOf(product)).toMatchObject(expected)
    await sweepAt(product, '2026-11-20T00:00:00Z')
    expect(await product.guard.ledger.item(summaryPlace).read()).toBe(Date.parse('2026-11-19T00:00:00Z'))
    expect(await statementOf(product)).toMatchObject(expected)
  })

  test('a wrong summary is found by all updates, logged, and counted again', async () => {
    const product = await start()
    await ask(product, 'one')
    await sweepAt(product, '2026-11-11T01:00:00Z')
    await product.guard.ledger.item(daySummaries).write({ ...(await tenth(product)), rows: [] })
    const expected = { total: { updates: 1, charged: 40 }, book: { spent: 40, addsUp: true } }
    expect(await statementOf(product)).toMatchObject(expected)
    expect((await tenth(product)).until).toBe(Date.parse('2026-11-10T00:00:00Z') - 1)
    const wrong = product.logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'summary-not-ok')
    expect(wrong).toMatchObject([{ level: 'error', month: november }])
    await (await reportsOf(product.guard)).keepSummaries()
    expect((await tenth(product)).rows).toEqual([row('one', { settled: 1, charged: 40, price: 40 })])
  })
})

/** Compares each statement from the summaries with a statement from all updates, after each step of some weeks. */
describe('a summary after random events', () => {
  test.each([
    [2, { ACCOUNT_TIME_ZONE: 'Asia/Tokyo', ACCOUNT_RENEWAL_DAY: '22', ACCOUNT_RENEWAL_TIME: '09:30' }],
    [3, { ACCOUNT_TIME_ZONE: 'America/St_Johns', ACCOUNT_RENEWAL_DAY: '31' }],
  ])('a summary equals the sum of all updates: seed %i', async (seed, env) => {
    const chance = chanceOf(seed)
    const product = await start({ clock: createTestClock('2026-11-18T10:00:00Z'), env })
    const { guard, clock } = product
    const { ledger } = guard
    const summaries = ledger.item(daySummaries)
    const unread = { ...summaries, read: async (asked: readonly SummaryDay[]) => asked.map(emptySummary) }
    const unsummed = createStatements({
      ledger: { ...ledger, item: (kind) => (kind.name === 'summary' ? (unread as never) : ledger.item(kind)) },
      log: product.services.log,
    })
    const limits = [{ window: 'month', units: 400 }]
    await product.call('PUT', '/budgets/slow', { body: { limits, approvalAbove: 1 } })
    await product.call('PUT', '/budgets/acme', { body: { limits, projects: [{ name: 'one', id: '77' }] } })
    const bob = { token: product.signed({ sub: 'bob', scope: 'run approve', budgets: '*', exp: 1_800_000_000 }) }
    const all = async () => (await ledger.updates({}, 200)).rows
    const oneIn = async (...states: readonly string[]) => {
      const found = (await all()).filter(({ state }) => states.includes(state))
      return found.length > 0 ? one(chance, found) : undefined
    }
    const steps: readonly (() => Promise<unknown>)[] = [
      () => product.update({ kind: 'ranking', project: one(chance, ['two', 'lost', 'lost more', 'dear']) }),
      () => product.update({ kind: 'keyword-difficulty', project: one(chance, ['one', '77']) }, bob),
      () => product.update({ kind: 'ranking', project: one(chance, ['two', 'lost']), budget: 'slow' }),
      async () => {
        const id = (await oneIn('awaiting-approval'))?.id
        if (id) await product.call('POST', `/updates/${id}/${one(chance, ['approve', 'reject'])}`, { body: {}, ...bob })
        for (const update of await all())
          if (update.state === 'requested') await guard.start(update.id, product.endsAt())
      },
      async () => {
        const id = (await oneIn('in-doubt'))?.id
        const body = { outcome: one(chance, ['ran', 'did-not-run']), reason: 'as the screen says' }
        if (id) await product.call('POST', `/updates/${id}/resolve`, { body })
      },
      async () => {
        const update = await oneIn('released', 'settled')
        if (update) await ledger.settle(update, late)
      },
      async () => clock.advance(one(chance, [minutes(10), minutes(40), hours(2), hours(7), days(1), days(2)])),
      async () => (await reportsOf(guard)).keepSummaries(),
      async () => (await guard.jobs()).sweep(product.endsAt()),
    ]
    let counted = 0
    for (let step = 0; step < 60; step++) {
      await one(chance, steps)()
      const { definitions, month } = await ledger.view()
      for (const window of [month.name, monthBefore(definitions.calendar, month).name]) {
        const statement = await (await reportsOf(guard)).statement(window, 'project')
        expect([step, statement]).toEqual([step, await unsummed.statement(window, 'project')])
        expect(statement?.addsUp ?? true).toBe(true)
      }
      const kept = await summaries.read(summaryDays(definitions.calendar, { since: month.start, until: clock.now() }))
      counted += kept.reduce((sum, { rows }) => sum + rows.length, 0)
    }
    expect(counted).toBeGreaterThan(50)
    expect(product.logged.filter((line) => line.includes('summary-not-ok'))).toEqual([])
  })
})

describe('the time at which a summary is written', () => {
  test('a summary is written at a budget’s first run, at the end of its day, and once half an hour later', async () => {
    const { store, written } = watched()
    const product = await start({ store })
    await (await reportsOf(product.guard)).keepSummaries()
    written.length = 0
    const sweeps = async (from: string, hoursLong: number) => {
      product.clock.set(from)
      for (let round = 0; round < hoursLong * 12; round++) {
        product.clock.advance(minutes(5))
        await (await reportsOf(product.guard)).keepSummaries()
      }
      return written.splice(0)
    }
    await ask(product, 'one')
    expect(await sweeps('2026-11-10T10:00:00Z', 13)).toEqual(['day:2026-11-10'])
    expect(await sweeps('2026-11-10T23:00:00Z', 3)).toEqual(['day:2026-11-10', 'day:2026-11-10'])
    expect(await sweeps('2026-11-11T02:00:00Z', 20)).toEqual([])
  })

  test('a summary is written earlier for a hundred updates, but not for 99', async () => {
    const { guard, clock, ask, before } = await startGuard({ units: 10_000 })
    await ask({ projects: ['the first run of the day'] })
    await (await reportsOf(guard)).keepSummaries()
    const written: string[] = []
    before.push(async ([first]) => {
      if (first?.kind === 'put' && first.item.pk.startsWith('summary#')) written.push(first.item.sk)
      return false
    })
    await ask({ projects: Array.from({ length: 98 }, (_, each) => `p${each}`) })
    clock.advance(minutes(31))
    await (await reportsOf(guard)).keepSummaries()
    await ask({ projects: ['one more'] })
    clock.advance(minutes(29))
    await (await reportsOf(guard)).keepSummaries()
    expect(written).toEqual([])
    clock.advance(minutes(1))
    await (await reportsOf(guard)).keepSummaries()
    expect(written).toEqual(['day:2026-11-20'])
    const until = Date.parse('2026-11-20T10:31:00Z')
    expect(await summaryOf(guard.ledger, until)).toMatchObject({ until, open: [] })
    expect(await (await reportsOf(guard)).statement(null, 'budget')).toMatchObject({
      total: { updates: 100 },
      addsUp: true,
    })
  })

  test('a summary is written within the day if duplicates were refused', async () => {
    const { store, written } = watched()
    const product = await start({ store })
    await (await reportsOf(product.guard)).keepSummaries()
    written.length = 0
    await ask(product, 'one')
    await ask(product, 'one')
    product.clock.advance(minutes(5))
    await (await reportsOf(product.guard)).keepSummaries()
    await (await reportsOf(product.guard)).keepSummaries()
    expect(written).toEqual(['day:2026-11-10'])
    expect(await tenth(product)).toMatchObject({ rows: [], duplicates: 1, saved: 40 })
  })

  test('the day on which the month turns at noon has two summaries, one for each month', async () => {
    const env = { ACCOUNT_RENEWAL_DAY: '12', ACCOUNT_RENEWAL_TIME: '12:00', ACCOUNT_TIME_ZONE: 'Europe/Berlin' }
    const product = await start({ clock: createTestClock('2026-11-12T10:00:00Z'), env })
    await ask(product, 'one')
    product.clock.set('2026-11-12T12:00:00Z')
    await ask(product, 'two')
    await sweepAt(product, '2026-11-13T10:00:00Z')
    const { ledger } = product.guard
    expect(await summaryOf(ledger, '2026-11-12T10:00:00Z')).toMatchObject({
      day: { month: 'month:2026-10-12', name: 'day:2026-11-12', end: Date.parse('2026-11-12T11:00:00Z') },
      rows: [{ project: 'one' }],
    })
    expect(await summaryOf(ledger, '2026-11-12T12:00:00Z')).toMatchObject({
      day: { month: 'month:2026-11-12', name: 'day:2026-11-12', end: Date.parse('2026-11-12T23:00:00Z') },
      rows: [{ project: 'two' }],
    })
  })
})

describe('the cost of a summary', () => {
  test('an ended month is read from its days alone, and always costs the same', async () => {
    const { store, counts, written } = watched()
    const product = await start({ store, clock: createTestClock('2026-11-29T10:00:00Z') })
    await ask(product, 'one', 'lost')
    for (const at of ['2026-12-08T00:00:00Z', '2026-12-09T00:31:00Z']) {
      product.clock.set(at)
      await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    }
    written.length = 0
    const ofNovember = async () => {
      counts.reads = 0
      const statement = await statementOf(product, `&window=${november}`)
      return [counts.reads, statement]
    }
    const [reads, statement] = await ofNovember()
    expect([reads, statement.status, statement.total.charged]).toEqual([5, 'final', 80])
    product.clock.set('2027-05-20T10:00:00Z')
    await ask(product, 'more')
    await ofNovember()
    expect(await ofNovember()).toEqual([5, statement])
    expect(written).toEqual([])
  })

  test('a day that exceeds a transaction has no summary, which is logged once', async () => {
    const items = new Map<string, Item>()
    const product = await start({ store: createMemoryStore(items) })
    await ask(product, 'one')
    const template = [...items.values()].find(({ sk }) => sk === 'update')
    if (!template) throw new Error('there is no update')
    const copies = Array.from({ length: 900 }, (_, each): Item => {
      const id = `upd_copy${each}`
      const project = 'x'.repeat(4_000 + each)
      return { ...template, pk: `update#${id}`, id, listedAt: `${template.listedAt}${each}`, project, charged: 0 }
    })
    await product.store.transact(
      copies.map((item) => ({ kind: 'put', item, when: [] })),
      'copies',
    )
    const before = await statementOf(product)
    product.clock.set('2026-11-11T01:00:00Z')
    for (let round = 0; round < 3; round++) await (await reportsOf(product.guard)).keepSummaries()
    expect(await tenth(product)).toMatchObject({ rows: [], until: Date.parse('2026-11-10T00:00:00Z') - 1 })
    const told = product.logged.filter((line) => line.includes('summary-too-large')).map((line) => JSON.parse(line))
    expect(told).toMatchObject([{ level: 'info', day: 'day:2026-11-10', rows: 901 }])
    expect(await statementOf(product)).toEqual(before)
    expect(before.total.updates).toBe(901)
  })
})

test('a ledger without summaries is right at once, and each sweep writes a month of them, the oldest first', async () => {
  const { guard, clock, ask, reads, before } = await startGuard({ units: 10_000 })
  const written: string[] = []
  before.push(async ([first]) => {
    if (first?.kind === 'put' && first.item.pk.startsWith('summary#')) written.push(first.item.sk)
    return false
  })
  for (let day = 0; day < 80; day++) {
    await ask({ projects: [`p${day}`] })
    clock.advance(days(1))
  }
  const expected = { total: { updates: 7, charged: 280, refused: 0 }, addsUp: true }
  expect(await (await reportsOf(guard)).statement(null, 'budget')).toMatchObject(expected)
  expect(await (await reportsOf(guard)).outlook()).toMatchObject({
    budgets: [{ history: { nights: [] } }],
    saved: null,
  })
  const sizes: number[] = []
  for (let sweep = 0; sweep < 4; sweep++) {
    await (await reportsOf(guard)).keepSummaries()
    sizes.push(written.splice(0).length)
    expect(await (await reportsOf(guard)).statement(null, 'budget')).toMatchObject(expected)
  }
  expect(sizes).toEqual([32, 31, 18, 0])
  expect(await summaryOf(guard.ledger, '2026-11-20T12:00:00Z')).toMatchObject({ rows: [{ project: 'p0' }] })
  const readsOfSweep = async () => {
    reads.length = 0
    await (await reportsOf(guard)).keepSummaries()
    return reads.length
  }
  const few = await readsOfSweep()
  clock.advance(days(600))
  for (let sweep = 0; sweep < 25; sweep++) await (await reportsOf(guard)).keepSummaries()
  expect(await readsOfSweep()).toBe(few)
})

/** A guard whose sweep reads four updates, two at a time. */
async function startSmall() {
  const product = await startGuard({ units: 10_000 })
  const { guard, clock, parts, ask } = product
  const { updatesFrom } = guard.ledger
  const read: number[] = []
  const ledger: Ledger = {
    ...guard.ledger,
    updatesFrom: async (...asked) => {
      const page = await updatesFrom(...asked)
      read.push(page.rows.length)
      return page
    },
  }
  const { keepSummaries } = createSummaries({ ...parts, ledger, pageSize: 2, maxRead: 4 })
  const begin = clock.now()
  await (await reportsOf(guard)).keepSummaries()
  return {
    ...product,
    /** Creates one update of 40 units in each of these milliseconds. */
    create: async (...numbers: readonly number[]) => {
      for (const [index, number] of numbers.entries()) {
        await ask({ projects: Array.from({ length: number }, (_, each) => `p${index}-${each}`) })
        clock.advance(1)
      }
      clock.set('2026-11-21T10:00:00Z')
    },
    /** The pages that the next sweep reads, and the updates counted then. `until`: milliseconds from the beginning. */
    sweep: async () => {
      read.length = 0
      await keepSummaries()
      const { until, rows } = await summaryOf(guard.ledger, begin)
      return { read: [...read], until: until - begin, counted: rows.reduce((all, { settled = 0 }) => all + settled, 0) }
    },
  }
}

describe('a sweep with more updates than it may read', () => {
  /** The end of the day. */
  const end = hours(14) - 1

  test('a sweep stops before the last millisecond that it has read, and the next sweep continues there', async () => {
    const { create, sweep } = await startSmall()
    await create(1, 2, 1, 3, 2)
    expect(await sweep()).toEqual({ read: [2, 2], until: 1, counted: 3 })
    expect(await sweep()).toEqual({ read: [2, 2], until: 2, counted: 4 })
    expect(await sweep()).toEqual({ read: [2, 2], until: 3, counted: 7 })
    expect(await sweep()).toEqual({ read: [2, 0], until: end, counted: 9 })
  })

  test('a sweep loses no update of a millisecond on two pages', async () => {
    const { create, sweep, guard } = await startSmall()
    await create(3, 3)
    expect(await sweep()).toEqual({ read: [2, 2], until: 0, counted: 3 })
    expect(await sweep()).toEqual({ read: [2, 1, 0], until: end, counted: 6 })
    expect(await (await reportsOf(guard)).statement(null, 'budget')).toMatchObject({
      total: { updates: 6 },
      spent: 240,
      addsUp: true,
    })
  })

  test('a sweep reads the whole day if the rest fits, and leaves the next day to the next sweep', async () => {
    const { create, sweep } = await startSmall()
    await create(2, 2)
    expect(await sweep()).toEqual({ read: [2, 2], until: end, counted: 4 })
    expect(await sweep()).toEqual({ read: [0], until: end, counted: 4 })
  })

  test('a sweep reads no list of an ended day, though one of its updates is in doubt', async () => {
    const { create, sweep, service, clock } = await startSmall()
    service.run = async () => unknown
    await create(1)
    expect(await sweep()).toEqual({ read: [1, 0], until: end, counted: 0 })
    clock.advance(hours(1))
    expect((await sweep()).read).toEqual([0])
  })
})
