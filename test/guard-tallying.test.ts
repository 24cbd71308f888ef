import { describe, expect, test } from 'vitest'
import { createStatements } from '../shared/guard/statements.ts'
import { createTallying } from '../shared/guard/tallying.ts'
import type { Finding } from '../shared/ledger/finding.ts'
import type { Ledger } from '../shared/ledger/ledger.ts'
import { createMemoryStore } from '../shared/ledger/memory-store.ts'
import type { Item, Store } from '../shared/ledger/store.ts'
import type { Tally } from '../shared/ledger/tally.ts'
import { toUnits } from '../shared/platform/words.ts'
import { chanceOf, one } from './simulation/chance.ts'
import { createTestClock, days, hours, minutes } from './support/clock.ts'
import { only, ran, startGuard, unknown } from './support/guard.ts'
import { type Product, startProduct } from './support/product.ts'
import { stores } from './support/stores.ts'

// What the sweep counts of a month, so that a statement reads as much whether there were ten updates or 100,000.

const november = 'month:2026-11-01'
const december = 'month:2026-12-01'
const late: Finding = { kind: 'ran', units: toUnits(40), from: 'sender', by: 'service', note: 'its answer came late' }

/** Updates of `lost` are in doubt, and those of `dear` cost more than there is. */
async function start(options: Parameters<typeof startProduct>[0] = {}) {
  return startProduct({
    store: createMemoryStore(),
    stream: false,
    clock: createTestClock('2026-11-10T10:00:00Z'),
    units: { dear: 90_000 },
    service: ({ url }) => (/lost\/run/.test(url) ? { status: 500 } : undefined),
    ...options,
  })
}

const ask = async (product: Product, ...projects: string[]): Promise<string[]> =>
  (await product.update({ kind: 'ranking', projects, whenShort: 'fit' })).body.updates.map(
    ({ id }: { id: string }) => id,
  )

async function tallyOf(product: Product, month = november): Promise<Tally | null> {
  const kept = await product.guard.ledger.tallies.read(month)
  return kept?.kind === 'tally' ? kept.tally : null
}

const statementOf = async (product: Product, query = '') =>
  (await product.call('GET', `/statements?by=project${query}`)).body

const sum = (project: string, figures: { updates?: number; charged?: number; refused?: number } = {}) => ({
  ...{ budget: 'account', project, caller: 'ada' },
  ...{ updates: 0, charged: 0, refused: 0, ...figures },
})

/** A store that counts what is read, and lets somebody come between what a sweep has counted and its write. */
function watched(inner: Store = createMemoryStore()) {
  const counts = { reads: 0, writes: 0 }
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
      if (writes[0]?.do === 'put' && writes[0].item.pk === 'tally') {
        counts.writes++
        const now = between
        between = undefined
        await now?.()
      }
      return inner.transact(writes, token)
    },
  }
  const beforeNextWrite = (act: () => Promise<unknown>) => {
    between = act
  }
  return { store, counts, beforeNextWrite }
}

describe.each(stores)('a tally: %s', (_name, create) => {
  test('adds up what has ended, half an hour later, and names the rest until it has', async () => {
    const product = await start({ store: await create() })
    const [, , lost] = await ask(product, 'one', 'dear', 'lost')
    await ask(product, 'one')
    product.clock.advance(minutes(31))
    const [young] = await ask(product, 'young')
    const before = await statementOf(product)
    await product.guard.keepTallies()
    const tally = await tallyOf(product)
    expect(tally).toMatchObject({ until: Date.parse('2026-11-10T10:01:00Z'), open: [lost] })
    expect(tally?.sums).toHaveLength(2)
    expect(tally?.sums).toEqual(
      expect.arrayContaining([sum('one', { updates: 1, charged: 40 }), sum('dear', { refused: 1 })]),
    )
    expect(await statementOf(product)).toEqual(before)

    await product.call('POST', `/updates/${lost}/resolve`, { body: { outcome: 'ran', units: 30, reason: 'seen' } })
    product.clock.advance(hours(1))
    await product.guard.keepTallies()
    expect((await tallyOf(product))?.open).toEqual([])
    expect((await tallyOf(product))?.sums).toContainEqual(sum('lost', { updates: 1, charged: 30 }))
    expect(await statementOf(product)).toMatchObject({
      rows: [{ project: 'dear' }, { project: 'lost' }, { project: 'one' }, { project: 'young', charged: 40 }],
      total: { updates: 3, charged: 110, refused: 1, inDoubt: 0 },
      book: { spent: 110, addsUp: true },
    })
    expect((await product.guard.ledger.update(young ?? ''))?.state).toBe('settled')
  })

  test('a correction spoils it in its own transaction, and the next sweep counts anew', async () => {
    const product = await start({ store: await create() })
    const [id = ''] = await ask(product, 'lost', 'one')
    product.clock.advance(hours(1))
    const said = { outcome: 'did-not-run', reason: 'nothing there' }
    await product.call('POST', `/updates/${id}/resolve`, { body: said })
    await product.guard.keepTallies()
    expect((await tallyOf(product))?.sums).toContainEqual(sum('lost'))
    const update = await product.guard.ledger.update(id)
    if (!update) throw new Error('it was there')
    await product.guard.ledger.close(update, late)
    expect(await product.guard.ledger.tallies.read(november)).toMatchObject({ kind: 'spoilt' })
    const expected = { total: { updates: 1, charged: 80 }, book: { spent: 80, addsUp: true } }
    expect(await statementOf(product)).toMatchObject(expected)
    await product.guard.keepTallies()
    expect((await tallyOf(product))?.sums).toContainEqual(sum('lost', { charged: 40 }))
    expect(await statementOf(product)).toMatchObject(expected)
  })
})

describe('nothing is counted twice, or forgotten', () => {
  test('of two sweeps at once one counts', async () => {
    const product = await start()
    await ask(product, 'one')
    product.clock.advance(hours(1))
    await Promise.all([product.guard.keepTallies(), product.guard.keepTallies()])
    await product.guard.keepTallies()
    expect((await tallyOf(product))?.sums).toEqual([sum('one', { updates: 1, charged: 40 })])
  })

  test('a sweep that has counted before a correction does not write after it', async () => {
    const { store, beforeNextWrite } = watched()
    const product = await start({ store })
    const [id = ''] = await ask(product, 'lost', 'one')
    product.clock.advance(hours(1))
    await product.guard.keepTallies()
    expect((await tallyOf(product))?.open).toEqual([id])
    await product.call('POST', `/updates/${id}/resolve`, { body: { outcome: 'did-not-run', reason: 'nothing there' } })
    product.clock.advance(hours(1))
    const update = await product.guard.ledger.update(id)
    if (!update) throw new Error('it was there')
    beforeNextWrite(() => product.guard.ledger.close(update, late))
    await product.guard.keepTallies()
    expect(await product.guard.ledger.tallies.read(november)).toMatchObject({ kind: 'spoilt' })
    expect(await statementOf(product)).toMatchObject({ book: { spent: 80, addsUp: true } })
  })

  test('what is asked for in one month and held in the next is in the next', async () => {
    const product = await start({ clock: createTestClock('2026-11-30T20:00:00Z') })
    await product.call('PUT', '/budgets/slow', {
      body: { limits: [{ window: 'month', units: 1_000 }], approvalAbove: 1 },
    })
    const asked = await product.update({ kind: 'ranking', project: 'one', budget: 'slow' })
    const [{ id }] = asked.body.updates
    product.clock.advance(hours(2))
    await product.guard.keepTallies()
    expect((await tallyOf(product))?.open).toEqual([id])
    product.clock.set('2026-12-01T09:00:00Z')
    await product.guard.keepTallies()
    expect((await tallyOf(product, december))?.open).toEqual([id])
    const token = product.signed({ sub: 'bob', scope: 'read approve' })
    await product.call('POST', `/updates/${id}/approve`, { body: {}, token })
    await product.guard.start(id, product.endsAt())
    expect((await product.guard.ledger.update(id))?.state).toBe('settled')
    product.clock.set('2026-12-10T09:00:00Z')
    await product.guard.keepTallies()
    expect(await tallyOf(product)).toMatchObject({ sums: [], open: [] })
    expect((await tallyOf(product, december))?.sums).toMatchObject([{ budget: 'slow', charged: 40 }])
    expect(await statementOf(product)).toMatchObject({ total: { charged: 40 }, book: { addsUp: true } })
    expect(await statementOf(product, `&window=${november}`)).toMatchObject({ rows: [], book: { addsUp: true } })
  })

  test('a sweep as of another time is not believed, and the next one counts anew', async () => {
    const product = await start()
    await ask(product, 'one')
    product.clock.advance(days(3))
    await product.guard.keepTallies()
    product.clock.advance(days(-3))
    // Refused: whether the units add up would not tell that one is missing.
    await ask(product, 'dear')
    const expected = { total: { updates: 1, charged: 40, refused: 1 }, book: { spent: 40, addsUp: true } }
    expect(await statementOf(product)).toMatchObject(expected)
    product.clock.advance(hours(1))
    await product.guard.keepTallies()
    expect((await tallyOf(product))?.sums).toHaveLength(2)
    expect(await statementOf(product)).toMatchObject(expected)
  })

  test('a tally that does not add up is proved wrong by all updates, told of, and counted anew', async () => {
    const product = await start()
    await ask(product, 'one')
    product.clock.advance(hours(2))
    const { tallies } = product.guard.ledger
    const at = product.clock.now()
    await tallies.write({ month: november, until: at - minutes(30), at, sums: [], open: [] }, null)
    const expected = { total: { updates: 1, charged: 40 }, book: { spent: 40, addsUp: true } }
    expect(await statementOf(product)).toMatchObject(expected)
    expect(await tallies.read(november)).toMatchObject({ kind: 'spoilt' })
    expect(product.logged.filter((line) => line.includes('tally-not-ok'))).toHaveLength(1)
    await product.guard.keepTallies()
    expect((await tallyOf(product))?.sums).toEqual([sum('one', { updates: 1, charged: 40 })])
  })
})

/** Every statement from the tally against the one from all updates, after each step of some weeks. */
describe('whatever happens, in whatever order', () => {
  test.each([1, 2, 3])('it says what all updates together say: seed %i', async (seed) => {
    const chance = chanceOf(seed)
    const product = await start({ clock: createTestClock('2026-11-18T10:00:00Z') })
    const { guard, clock } = product
    const { ledger } = guard
    const { tallies } = ledger
    const untallied = createStatements({
      ledger: { ...ledger, tallies: { ...tallies, read: async () => null } },
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
        if (update) await ledger.close(update, late)
      },
      async () => clock.advance(one(chance, [minutes(10), minutes(40), hours(2), days(1), days(2)])),
      () => guard.keepTallies(),
      () => guard.sweep(product.endsAt()),
    ]
    let counted = 0
    for (let step = 0; step < 60; step++) {
      await one(chance, steps)()
      for (const window of [november, december]) {
        const statement = await guard.statement(window, 'project')
        expect([step, statement]).toEqual([step, await untallied.statement(window, 'project')])
        expect(statement?.addsUp ?? true).toBe(true)
        counted += (await tallyOf(product, window))?.sums.length ?? 0
      }
    }
    expect(counted).toBeGreaterThan(50)
    expect(product.logged.filter((line) => line.includes('tally-not-ok'))).toEqual([])
  })
})

describe('what it costs', () => {
  test('it is written once an hour where there is news, at a hundred updates, and else never', async () => {
    const { store, counts } = watched()
    const product = await start({ store })
    const sweeps = async (hoursLong: number) => {
      for (let round = 0; round < hoursLong * 12; round++) {
        product.clock.advance(minutes(5))
        await product.guard.keepTallies()
      }
      return counts.writes
    }
    expect(await sweeps(2)).toBe(0)
    await ask(product, 'one')
    expect(await sweeps(3)).toBe(1)
    for (let batch = 0; batch < 5; batch++)
      await ask(product, ...Array.from({ length: 20 }, (_, each) => `p${batch}-${each}`))
    expect(await sweeps(0.4)).toBe(1)
    expect(await sweeps(0.25)).toBe(2)
    await ask(product, 'two')
    expect(await sweeps(0.75)).toBe(2)
    expect(await sweeps(24)).toBe(3)
  })

  test('a month that is over is counted to its end, also what was in doubt, and costs the same for ever', async () => {
    const { store, counts } = watched()
    const product = await start({ store, clock: createTestClock('2026-11-29T10:00:00Z') })
    await ask(product, 'one', 'lost')
    for (const at of ['2026-12-10T00:00:00Z', '2026-12-11T10:01:00Z', '2026-12-11T11:30:00Z']) {
      product.clock.set(at)
      await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    }
    expect(await tallyOf(product)).toMatchObject({ until: Date.parse('2026-12-09T00:00:00Z'), open: [] })
    const writes = counts.writes
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
    expect(counts.writes).toBe(writes)
  })

  test('a month of more than an item takes is not counted, which is said once', async () => {
    const items = new Map<string, Item>()
    const product = await start({ store: createMemoryStore(items) })
    await ask(product, 'one')
    const template = [...items.values()].find(({ sk }) => sk === 'update')
    if (!template) throw new Error('there is no update')
    const copies = Array.from({ length: 600 }, (_, each): Item => {
      const id = `upd_copy${each}`
      return {
        ...template,
        pk: `update#${id}`,
        id,
        listedAt: `${template.listedAt}${each}`,
        project: 'x'.repeat(400 + each),
        charged: 0,
      }
    })
    await product.store.transact(
      copies.map((item) => ({ do: 'put', item, when: [] })),
      'copies',
    )
    product.clock.advance(hours(1))
    const before = await statementOf(product)
    for (let round = 0; round < 3; round++) await product.guard.keepTallies()
    expect(await product.guard.ledger.tallies.read(november)).toMatchObject({ kind: 'too-large' })
    const told = product.logged.filter((line) => line.includes('tally-too-large')).map((line) => JSON.parse(line))
    expect(told).toMatchObject([{ level: 'info', month: november, sums: 601 }])
    expect(await statementOf(product)).toEqual(before)
    expect(before.total.updates).toBe(601)
  })
})

/** A guard with a tally from 11:00:00, in which one update is in doubt; each write of a tally is noted with its month. */
async function startCounted() {
  const product = await startGuard({ units: 100_000 })
  const { guard, clock, service, ask, before } = product
  const writes: string[] = []
  before.push(async ([first]) => {
    if (first?.do === 'put' && first.item.pk === 'tally') writes.push(first.item.sk)
    return false
  })
  service.run = async () => unknown
  const { id } = only(await ask({ projects: ['lost'] }))
  service.run = async () => ran
  await ask({ projects: ['one'] })
  const sweepAt = async (rfc3339: string) => {
    clock.set(rfc3339)
    await guard.keepTallies()
    return writes.splice(0)
  }
  expect(await sweepAt('2026-11-20T11:00:00Z')).toEqual([november])
  return {
    ...product,
    sweepAt,
    resolve: () => guard.resolve(id, 'eve', { outcome: 'ran', units: toUnits(30), reason: 'seen' }),
    askAt: (rfc3339: string, number: number) => {
      clock.set(rfc3339)
      return ask({ projects: Array.from({ length: number }, (_, each) => `${rfc3339}-${each}`) })
    },
    tally: async () => {
      const kept = await guard.ledger.tallies.read(november)
      return kept?.kind === 'tally' ? kept.tally : null
    },
  }
}

describe('when it is written', () => {
  test('at a hundred updates that are new or have ended since, and not at 99', async () => {
    const { sweepAt, askAt, resolve, tally } = await startCounted()
    await askAt('2026-11-20T11:05:00Z', 99)
    expect(await sweepAt('2026-11-20T11:35:00Z')).toEqual([])
    await resolve()
    expect(await sweepAt('2026-11-20T11:36:00Z')).toEqual([november])
    expect(await tally()).toMatchObject({ open: [], until: Date.parse('2026-11-20T11:06:00Z') })
    expect((await tally())?.sums).toHaveLength(101)
  })

  test('after an hour where one has come or ended, and not a millisecond before', async () => {
    const { sweepAt, askAt, resolve, lines } = await startCounted()
    await askAt('2026-11-20T11:05:00Z', 1)
    expect(await sweepAt('2026-11-20T11:59:59.999Z')).toEqual([])
    expect(await sweepAt('2026-11-20T12:00:00Z')).toEqual([november])
    expect(await sweepAt('2026-11-20T14:00:00Z')).toEqual([])
    await resolve()
    expect(await sweepAt('2026-11-20T14:00:01Z')).toEqual([november])
    expect(lines).not.toContainEqual(expect.objectContaining({ event: 'tally-too-large' }))
  })

  test('once when the month cannot have more, though nothing has come, and then only for what ends', async () => {
    const { sweepAt, resolve, tally } = await startCounted()
    expect(await sweepAt('2026-12-09T00:29:59.999Z')).toEqual([])
    expect(await sweepAt('2026-12-09T00:30:00Z')).toEqual([november])
    expect(await tally()).toMatchObject({ until: Date.parse('2026-12-09T00:00:00Z'), open: [expect.any(String)] })
    expect(await sweepAt('2026-12-10T00:00:00Z')).toEqual([])
    await resolve()
    expect(await sweepAt('2026-12-10T00:00:01Z')).toEqual([november])
    expect(await tally()).toMatchObject({ open: [], sums: [{ project: 'one' }, { project: 'lost', charged: 30 }] })
    expect(await sweepAt('2026-12-11T00:00:00Z')).toEqual([])
  })

  test('of no month that was over when the ledger began', async () => {
    const product = await start({ clock: createTestClock('2026-11-01T00:00:00Z') })
    await product.guard.ledger.view()
    product.clock.set('2026-11-10T00:00:00Z')
    await product.guard.keepTallies()
    expect(await product.guard.ledger.tallies.read('month:2026-10-01')).toBeNull()
  })

  test('anew where it is from more than a minute ahead: clocks of two processes differ by less', async () => {
    const { sweepAt, tally } = await startCounted()
    expect(await sweepAt('2026-11-20T10:59:00Z')).toEqual([])
    expect(await sweepAt('2026-11-20T10:58:59.999Z')).toEqual([november])
    expect(await tally()).toMatchObject({ at: Date.parse('2026-11-20T10:58:59.999Z') })
  })
})

/** A guard whose sweep takes in four updates, two at a time. */
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
  const { keepTallies } = createTallying({ ...parts, ledger, pageSize: 2, mostTaken: 4 })
  const begin = clock.now()
  return {
    ...product,
    /** So many updates in each of the following milliseconds; they cost 40 units each. */
    create: async (...numbers: readonly number[]) => {
      for (const [index, number] of numbers.entries()) {
        await ask({ projects: Array.from({ length: number }, (_, each) => `p${index}-${each}`) })
        clock.advance(1)
      }
    },
    /** What the next sweep has read, page by page, and what is counted then; `until`: in milliseconds from the beginning. */
    sweep: async () => {
      read.length = 0
      clock.advance(hours(1))
      await keepTallies()
      const kept = await guard.ledger.tallies.read(november)
      if (kept?.kind !== 'tally') throw new Error('nothing was counted')
      const { until, sums } = kept.tally
      return { read: [...read], until: until - begin, counted: sums.reduce((all, { updates }) => all + updates, 0) }
    },
  }
}

describe('a sweep that has more before it than it takes in', () => {
  test('ends before the last millisecond that it has read, and the next one goes on there', async () => {
    const { create, sweep } = await startSmall()
    await create(1, 2, 1, 3, 2)
    expect(await sweep()).toEqual({ read: [2, 2], until: 1, counted: 3 })
    expect(await sweep()).toEqual({ read: [2, 2], until: 2, counted: 4 })
    expect(await sweep()).toEqual({ read: [2, 2], until: 3, counted: 7 })
    expect(await sweep()).toEqual({ read: [2], until: hours(4) + 5 - minutes(30), counted: 9 })
  })

  test('loses none of a millisecond that a page divides', async () => {
    const { create, sweep, guard } = await startSmall()
    await create(3, 3)
    expect(await sweep()).toEqual({ read: [2, 2], until: 0, counted: 3 })
    expect(await sweep()).toEqual({ read: [2, 1], until: hours(2) + 2 - minutes(30), counted: 6 })
    expect(await guard.statement(null, 'budget')).toMatchObject({ total: { updates: 6 }, spent: 240, addsUp: true })
  })

  test('reads no list of a month that cannot have more, though one of it is in doubt', async () => {
    const { create, sweep, clock, service } = await startSmall()
    service.run = async () => unknown
    await create(1)
    clock.set('2026-12-10T00:00:00Z')
    expect((await sweep()).read).toEqual([1, 0])
    // December's.
    expect((await sweep()).read).toEqual([0])
  })

  test('takes in all where just so many are left', async () => {
    const { create, sweep } = await startSmall()
    await create(2, 2)
    expect(await sweep()).toEqual({ read: [2, 2], until: hours(1) + 2 - minutes(30), counted: 4 })
  })
})
