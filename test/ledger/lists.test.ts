import { beforeAll, describe, expect, test } from 'vitest'
import type { EntryRequest } from '../../shared/ledger/book/entry-request.ts'
import { unseenBudget } from '../../shared/ledger/definitions/definitions.ts'
import { BadCursor } from '../../shared/ledger/errors.ts'
import { createLedger, type Ledger } from '../../shared/ledger/ledger.ts'
import { all } from '../../shared/ledger/store/pages.ts'
import type { Key, Store } from '../../shared/ledger/store/store.ts'
import { announcement } from '../../shared/ledger/updates/tasks.ts'
import { begin, next, type State, type Update } from '../../shared/ledger/updates/update.ts'
import { type EntryFilter, matches, meets, type UpdateFilter } from '../../shared/ledger/views/lists.ts'
import type { Sees } from '../../shared/ledger/views/seen-lists.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { createTestClock, hours, type TestClock } from '../support/clock.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { stores } from '../support/store/stores.ts'

const account = {
  unitsPerMonth: toUnits(50_000),
  usedAtStart: toUnits(0),
  renewal: { day: 12, time: '00:00', zone: 'UTC' },
}

const cycle = <T>(values: readonly [T, ...T[]], index: number): T => values[index % values.length] ?? values[0]

const endings: readonly [State, ...State[]] = [
  'settled',
  'refused',
  'released',
  'settled',
  'in-doubt',
  'cancelled',
  'awaiting-approval',
]

/** The index does not say who may see an update, so the list reads its item. */
const seeing = (sees: (update: Update) => boolean): Sees => ({
  budget: () => null,
  update: sees,
  entry: () => true,
  matches,
})

/** 120 updates, eleven hours apart, from 27 September to 20 November. */
function recordOf(index: number): Update {
  const createdAt = Date.parse('2026-09-27T00:30:00Z') + index * hours(11)
  const request = {
    id: `upd_${String(index).padStart(3, '0')}`,
    kind: cycle(['ranking', 'keyword-difficulty'] as const, index),
    project: cycle(['acme', 'globex', 'initech'], index),
    budget: cycle(['account', 'seo', 'seo', 'blog'], index),
    caller: cycle(['ada', 'bob', 'schedule:nightly'], index),
    via: cycle(['http', 'gateway', 'schedule', 'slack', 'http'] as const, index),
    ...(index % 3 === 2 && { plan: 'nightly' }),
    content: { digest: 'd', count: 1 },
    createdAt,
  }
  const started = begin(request, 'requested', { month: 'month:2026-11-12' }, { at: createdAt, by: 'ada' })
  return next(started, cycle(endings, index), {}, { at: createdAt + 1000, by: 'guard' })
}

const records = Array.from({ length: 120 }, (_, index) => recordOf(index))
const newestFirst = records.toReversed()

/** Tests that do not depend on the store come last in each group, and run in memory only. */
describe.each(stores)('lists: %s', (name, create) => {
  let clock: TestClock
  let ledger: Ledger
  /** The time of the first entry. */
  let start: number

  beforeAll(async () => {
    clock = createTestClock('2026-09-26T10:00:00Z')
    ledger = createLedger({ store: await create(), clock, account })
    await ledger.view()
    await Promise.all(records.map((record) => ledger.record(record, null)))
    clock.set('2026-11-20T23:00:00Z')
    await makeEntries()
  })

  async function makeEntries() {
    start = clock.now()
    const limits = [{ window: 'month', units: toUnits(1_000) } as const]
    await ledger.change('ada', ({ definitions }) => ({
      definitions: {
        ...definitions,
        budgets: {
          ...definitions.budgets,
          seo: { name: 'seo', parent: 'account', limits, projects: [{ name: 'Acme Ltd', id: 'acme' }] },
        },
      },
      note: { type: 'budget-created', budget: 'seo', units: 1_000, reason: 'the team asked' },
    }))
    for (let index = 0; index < 12; index++) {
      clock.advance(1000)
      const what = {
        id: `ent_${index}`,
        content: 'c',
        window: 'month',
        wholeChain: false,
        reason: `reason ${index}`,
        by: 'ada',
      } as const
      await ledger.enter({
        ...what,
        type: index % 3 === 0 ? 'external-spend' : 'grant',
        budget: index % 2 === 0 ? 'seo' : 'account',
        units: index + 1,
      } as EntryRequest)
    }
    await ledger.enter({
      id: 'ent_next',
      content: 'c',
      type: 'grant',
      window: 'next-month',
      wholeChain: false,
      budget: 'seo',
      units: 5,
      reason: 'r',
      by: 'ada',
    })
  }

  const list = async (filter: UpdateFilter, limit = 200) => (await ledger.updates(filter, limit)).rows

  /** Reads all pages, one after the other. */
  async function pages<Row>(read: (cursor?: string) => Promise<{ rows: readonly Row[]; next?: string }>) {
    const found: (readonly Row[])[] = []
    let cursor: string | undefined
    do {
      const page = await read(cursor)
      found.push(page.rows)
      cursor = page.next
    } while (cursor !== undefined)
    return found
  }

  test('updates between two instants are listed across months, oldest first', async () => {
    const first = records[3]?.createdAt ?? 0
    const last = records[100]?.createdAt ?? 0
    const between = await pages((cursor) => ledger.updatesFrom({ since: first, until: last }, 30, cursor))
    expect(between.flat()).toEqual(records.slice(3, 101))
    expect(between.map(({ length }) => length)).toEqual([30, 30, 30, 8])
    const full = await pages((cursor) => ledger.updatesFrom({ since: first, until: last }, 49, cursor))
    expect(full.flat()).toEqual(between.flat())
    expect(await ledger.updatesFrom({ since: first + 1, until: first + 2 }, 30)).toEqual({ rows: [] })
    const of = await ledger.updatesFrom({ since: first, until: last }, 30)
    await expect(ledger.updatesFrom({ since: last, until: last }, 30, of.next)).rejects.toThrow(BadCursor)
  })

  describe('updates', () => {
    const october = { since: Date.parse('2026-10-01T00:00:00Z'), until: Date.parse('2026-10-31T23:59:59.999Z') }

    const one = records[50]?.createdAt ?? 0

    test('updates are listed across months, newest first, each once', async () => {
      const page = await ledger.updates({}, 200)
      expect(page.rows).toEqual(newestFirst)
      expect(page).not.toHaveProperty('next')
      expect(await ledger.updates({}, 120)).toEqual(page)
    })

    test.each([7, 40, 100, 119, 120])('all pages of %i updates equal the whole list', async (limit) => {
      const found = await pages((cursor) => ledger.updates({}, limit, cursor))
      expect(found.flat()).toEqual(newestFirst)
      expect(Math.max(...found.map((rows) => rows.length))).toBe(limit)
    })

    test('open updates are listed newest first, until they end', async () => {
      const own = createLedger({ store: await create(), clock, account })
      await own.view()
      await Promise.all(records.map((record) => own.record(record, null)))
      const open = await own.open('in-doubt', 5)
      expect(open.rows.map(({ id }) => id)).toEqual(['upd_116', 'upd_109', 'upd_102', 'upd_095', 'upd_088'])
      expect((await pages((cursor) => own.open('in-doubt', 5, cursor))).flat()).toHaveLength(17)
      expect((await own.oldestOpen('in-doubt', 2)).rows.map(({ id }) => id)).toEqual(
        records
          .filter(({ state }) => state === 'in-doubt')
          .slice(0, 2)
          .map(({ id }) => id),
      )
      const [first] = open.rows
      if (!first) throw new Error('nothing is open')
      const released = next(first, 'released', { closedBy: 'person' }, { at: clock.now(), by: 'ada' })
      await own.record(released, first)
      expect((await own.updates({ state: 'in-doubt' }, 200)).rows.map(({ id }) => id)).not.toContain('upd_116')
      expect((await own.open('watched', 5)).rows).toEqual([released])
    })

    if (name !== 'memory') return

    test('all pages of a filtered list equal the whole list', async () => {
      const found = await pages((cursor) => ledger.updates({ project: 'acme' }, 7, cursor))
      expect(found.flat()).toEqual(newestFirst.filter(({ project }) => project === 'acme'))
      expect(found.flat()).toHaveLength(40)
    })

    test.each<[string, UpdateFilter, (update: Update) => boolean, number]>([
      ['state', { state: 'settled' }, ({ state }) => state === 'settled', 35],
      ['an open state', { state: 'in-doubt' }, ({ state }) => state === 'in-doubt', 17],
      ['another open state', { state: 'awaiting-approval' }, ({ state }) => state === 'awaiting-approval', 17],
      ['a part of the name', { search: 'OBE' }, ({ project }) => project === 'globex', 40],
      ['no part of any name', { search: 'obx' }, () => false, 0],
      ['the name that a budget lists for an id', { project: 'Acme Ltd' }, ({ project }) => project === 'acme', 40],
      ['a part of that name', { search: 'ltd' }, ({ project }) => project === 'acme', 40],
      ['a state without updates', { state: 'running' }, () => false, 0],
      ['kind', { kind: 'keyword-difficulty' }, ({ kind }) => kind === 'keyword-difficulty', 60],
      ['project', { project: 'globex' }, ({ project }) => project === 'globex', 40],
      ['budget', { budget: 'seo' }, ({ budget }) => budget === 'seo', 60],
      ['caller', { caller: 'schedule:nightly' }, ({ caller }) => caller === 'schedule:nightly', 40],
      ['via', { via: 'http' }, ({ via }) => via === 'http', 48],
      ['plan', { plan: 'nightly' }, ({ plan }) => plan === 'nightly', 40],
      ['a month', october, ({ createdAt }) => new Date(createdAt).toISOString().startsWith('2026-10'), 68],
      ['since, inclusive', { since: one }, ({ createdAt }) => createdAt >= one, 70],
      ['since, a moment later', { since: one + 1 }, ({ createdAt }) => createdAt > one, 69],
      ['until, inclusive', { until: one }, ({ createdAt }) => createdAt <= one, 51],
      ['until, a moment earlier', { until: one - 1 }, ({ createdAt }) => createdAt < one, 50],
      ['until, far in the future', { until: Date.parse('2031-01-01T00:00:00Z') }, () => true, 120],
      ['one instant', { since: one, until: one }, ({ createdAt }) => createdAt === one, 1],
      [
        'an open state in a month',
        { state: 'in-doubt', ...october },
        (update) => update.state === 'in-doubt' && new Date(update.createdAt).toISOString().startsWith('2026-10'),
        10,
      ],
      [
        'several at once',
        { kind: 'ranking', project: 'acme', via: 'http' },
        ({ kind, project, via }) => kind === 'ranking' && project === 'acme' && via === 'http',
        8,
      ],
      ['since after until', { since: one, until: one - 1 }, () => false, 0],
      ['the future', { since: Date.parse('2027-03-01T00:00:00Z') }, () => false, 0],
      ['a time before the ledger', { until: Date.parse('2026-01-01T00:00:00Z') }, () => false, 0],
    ])('updates are filtered by %s', async (_what, filter, matches, count) => {
      const found = await list(filter)
      expect(found).toEqual(newestFirst.filter(matches))
      expect(found).toHaveLength(count)
    })
  })

  describe('entries', () => {
    const month = 'month:2026-11-12'

    test('the entries of a month are listed newest first, page by page', async () => {
      const expected = [...Array.from({ length: 12 }, (_, index) => index + 1).reverse(), 1_000]
      const { rows, next: more } = await ledger.entries({ month }, 200)
      expect(rows.map(({ units }) => units)).toEqual(expected)
      expect(more).toBeUndefined()
      expect((await pages((cursor) => ledger.entries({ month }, 5, cursor))).map((page) => page.length)).toEqual([
        5, 5, 3,
      ])
      expect((await pages((cursor) => ledger.entries({ month }, 5, cursor))).flat()).toEqual(rows)
    })

    if (name !== 'memory') return

    test('the entries of a budget include entries of its descendants that changed its figures', async () => {
      const unitsOf = async (budget: string) =>
        (await ledger.entries({ month, budget }, 200)).rows.map(({ units }) => units)
      expect(await unitsOf('seo')).toEqual([11, 9, 7, 5, 3, 1, 1_000])
      expect(await unitsOf('account')).toEqual([12, 10, 8, 7, 6, 4, 2, 1])
      expect(await unitsOf('missing')).toEqual([])
    })

    test('entries are listed from an instant on, inclusive', async () => {
      const { rows } = await ledger.entries({ month, since: start + 10_000 }, 200)
      expect(rows.map(({ units }) => units)).toEqual([12, 11, 10])
    })

    test('entries are filtered by person and by type, and each is found by its id', async () => {
      const listed = async (filter: Partial<EntryFilter>) => (await ledger.entries({ month, ...filter }, 200)).rows
      expect(await listed({ by: ['ada', 'bob'] })).toEqual(await listed({}))
      expect(await listed({ by: ['bob'] })).toEqual([])
      const [created, ...others] = await listed({ types: ['budget-created'] })
      expect([created, others]).toEqual([expect.objectContaining({ units: 1_000, reason: 'the team asked' }), []])
      expect((await listed({ types: ['budget-created', 'external-spend'] })).map(({ units }) => units)).toEqual([
        10, 7, 4, 1, 1_000,
      ])
      expect(await ledger.entry(created?.id ?? '')).toEqual(created)
      expect(await ledger.entry('ent_missing')).toBeNull()
    })

    test('the entry of a change that moves no units is listed for each changed budget', async () => {
      const own = createLedger({ store: createMemoryStore(), clock, account })
      const limits = [{ window: 'month', units: toUnits(100) } as const]
      await own.view()
      for (const [reason, names, rules] of [
        ['made', ['seo', 'blog', 'old'], {}],
        ['ruled', ['seo', 'blog'], { perUpdate: toUnits(9) }],
      ] as const)
        await own.change('ada', ({ definitions }) => {
          const budgets = { ...definitions.budgets }
          for (const name of names) budgets[name] = { name, parent: 'account', limits, projects: [], ...rules }
          return { definitions: { ...definitions, budgets }, note: { type: 'limit', budget: 'account', reason } }
        })
      const reasonsOf = async (budget: string) =>
        (await own.entries({ month, budget }, 9)).rows.map(({ reason }) => reason).toSorted()
      expect([await reasonsOf('blog'), await reasonsOf('seo')]).toEqual([
        ['made', 'ruled'],
        ['made', 'ruled'],
      ])
      expect([await reasonsOf('old'), await reasonsOf('ada')]).toEqual([['made'], []])
    })

    test('the entries of the next month are listed', async () => {
      const { rows } = await ledger.entries({ month: 'month:2026-12-12' }, 200)
      expect(rows).toMatchObject([{ id: 'ent_next', month: 'month:2026-12-12', day: 'day:2026-12-12' }])
    })
  })

  if (name !== 'memory') return

  test('a list continues after an empty page if older months may have updates', async () => {
    const early = createTestClock('2024-12-03T10:00:00Z')
    const old = createLedger({ store: await create(), clock: early, account })
    await old.view()
    const record = { ...recordOf(0), createdAt: early.now() }
    await old.record(record, null)
    early.set('2026-11-20T10:00:00Z')
    const first = await old.updates({}, 50)
    expect(first.rows).toEqual([])
    const second = await old.updates({}, 50, first.next)
    expect(second.rows).toEqual([record])
    expect(second.next).toBeUndefined()
  })

  test('no cursor names an update hidden from the reader, and the pages contain each update that the reader sees', async () => {
    const sees = ({ id }: Update) => Number(id.slice(-3)) % 7 === 0
    const lists = ledger.listsAs(seeing(sees))
    const found: string[] = []
    let cursor: string | undefined
    do {
      const page = await lists.updates({}, 3, cursor)
      found.push(...page.rows.map(({ id }) => id))
      cursor = page.next
      const named = /upd_\d{3}/.exec(Buffer.from(cursor ?? '', 'base64url').toString())?.[0]
      expect(named).toBe(cursor === undefined ? undefined : found.at(-1))
    } while (cursor !== undefined)
    const whole = await all((next) => ledger.updates({}, 50, next))
    expect(found).toEqual(whole.filter(sees).map(({ id }) => id))
  })

  test('the pages for the reader of one budget contain all its updates in both orders, and no cursor names a budget', async () => {
    const sees = ({ budget }: Update) => budget === 'blog'
    const known = { ...seeing(sees), budget: (name: string) => name === 'blog' }
    const lists = ledger.listsAs(known)
    const span = { since: records[0]?.createdAt ?? 0, until: clock.now() }
    const orders = [
      [newestFirst, (cursor?: string) => lists.updates({}, 3, cursor)],
      [records, (cursor?: string) => lists.updatesFrom(span, 3, cursor)],
    ] as const
    for (const [whole, read] of orders) {
      const found: Update[] = []
      let cursor: string | undefined
      do {
        const page = await read(cursor)
        found.push(...page.rows)
        cursor = page.next
        const named = Buffer.from(cursor ?? '', 'base64url').toString()
        expect(named).not.toMatch(/blog|seo|account/)
        if (named !== '') expect(named).toContain(found.at(-1)?.id)
      } while (cursor !== undefined)
      expect(found).toEqual(whole.filter(sees))
    }
    expect(await lists.countOpen('in-doubt', 100)).toBe(
      records.filter((record) => sees(record) && record.state === 'in-doubt').length,
    )
  })

  test('the next page starts after the last row of a full page, also between months', async () => {
    const first = await ledger.updates({ until: Date.parse('2026-10-01T12:00:00Z') }, 2)
    expect(first.rows.map(({ id }) => id)).toEqual(['upd_009', 'upd_008'])
    const second = await ledger.updates({ until: Date.parse('2026-10-01T12:00:00Z') }, 2, first.next)
    expect(second.rows.map(({ id }) => id)).toEqual(['upd_007', 'upd_006'])
  })

  test('a list skips index rows without an item', async () => {
    const store = await create()
    const lagging = {
      ...store,
      get: async (keys: readonly Key[]) =>
        (await store.get(keys)).map((item) => (item?.pk === 'update#upd_001' ? undefined : item)),
    }
    const early = createTestClock('2026-09-26T10:00:00Z')
    const old = createLedger({ store: lagging, clock: early, account })
    await old.view()
    for (const record of records.slice(0, 3)) await old.record(record, null)
    early.set('2026-09-29T00:00:00Z')
    expect((await old.updates({}, 10)).rows.map(({ id }) => id)).toEqual(['upd_002', 'upd_000'])
  })

  test('each list of a new ledger is one empty page', async () => {
    const fresh = createLedger({ store: await create(), clock, account })
    expect(await fresh.updates({}, 50)).toEqual({ rows: [] })
    expect(await fresh.updates({ state: 'running' }, 50)).toEqual({ rows: [] })
    expect(await fresh.entries({ month: 'month:2026-11-12' }, 50)).toEqual({ rows: [] })
  })

  test('all() returns the rows of all pages, or stops after the page with enough rows', async () => {
    const acme = (cursor?: string) => ledger.updates({ project: 'acme' }, 7, cursor)
    expect(await all(acme)).toHaveLength(40)
    expect(await all(acme, 13)).toHaveLength(14)
    expect(await all(acme, 14)).toHaveLength(14)
  })

  test('announcements for other systems are listed by time, oldest first', async () => {
    const own = createLedger({ store: await create(), clock, account })
    const at = clock.now()
    const jump = {
      kind: 'price-jumped',
      update: 'upd_1',
      budget: 'seo',
      project: 'acme',
      units: 300,
      before: 40,
    } as const
    for (const [id, about] of [
      ['second', jump],
      ['first', jump],
      ['of people', { kind: 'digest', until: at }],
    ] as const)
      await own.announcements.add(announcement(id, at + (id === 'second' ? 1 : 0), about))
    const listed = async (since: number, until: number) =>
      (await own.newsFrom({ since, until }, 9)).rows.map(({ id, about }) => `${id}: ${about.kind}`)
    expect(await listed(at, at + 1)).toEqual(['first: price-jumped', 'second: price-jumped'])
    expect(await listed(at + 1, at + 1)).toEqual(['second: price-jumped'])
  })

  describe('a cursor', () => {
    const cursor = (place: unknown) => Buffer.from(JSON.stringify(place)).toString('base64url')
    const after = { pk: 'update#upd_005', sk: 'update', sort: '2026-10-01T00:00:00.000Z#upd_005' }
    const october = { partition: 'updates#2026-10', after }

    test('a list continues with the next row after a cursor whose row is missing', async () => {
      const { rows } = await ledger.updates({}, 5, cursor(october))
      expect(rows.map(({ id }) => id)).toEqual(['upd_008', 'upd_007', 'upd_006', 'upd_005', 'upd_004'])
    })

    test.each<[string, string]>([
      ['empty', ''],
      ['no base64', '%%%'],
      ['no JSON', Buffer.from('{').toString('base64url')],
      ['null', cursor(null)],
      ['a number', cursor(7)],
      ['a text', cursor('updates#2026-10')],
      ['without a partition', cursor({ after })],
      ['with an empty partition', cursor({ partition: '' })],
      ['with a partition that is no text', cursor({ partition: { toString: 'updates#2026-10' } })],
      ['of entries', cursor({ partition: 'entries#month:2026-11-12' })],
      ['of another index', cursor({ partition: 'in-doubt' })],
      ['of no month', cursor({ partition: 'updates#2026-1x' })],
      ['of a future month', cursor({ partition: 'updates#2027-01' })],
      ['of a month before the ledger', cursor({ partition: 'updates#2025-10' })],
      ['of a longer name', cursor({ partition: 'updates#2026-10-01' })],
      ['after null', cursor({ partition: 'updates#2026-10', after: null })],
      ['after nothing', cursor({ partition: 'updates#2026-10', after: {} })],
      ['after half a key', cursor({ partition: 'updates#2026-10', after: { pk: after.pk, sort: after.sort } })],
      ['after an empty key', cursor({ partition: 'updates#2026-10', after: { ...after, pk: '' } })],
      ['after a key of numbers', cursor({ partition: 'updates#2026-10', after: { pk: 1, sk: 2, sort: 3 } })],
      ['after an endless key', cursor({ partition: 'updates#2026-10', after: { ...after, pk: 'x'.repeat(3_000) } })],
      ['after a row outside the list', cursor({ partition: 'updates#2026-10', after: { ...after, sort: '2030' } })],
      [
        'after a row before the list',
        cursor({ partition: 'updates#2026-09', after: { ...after, sort: '2026-09-01' } }),
      ],
      ['cut off', cursor(october).slice(0, -9)],
    ])('a list refuses a bad cursor: %s', async (_name, bad) => {
      await expect(ledger.updates({}, 5, bad)).rejects.toThrow(BadCursor)
      await expect(ledger.updates({}, 5, bad)).rejects.toThrow('not a cursor of this list')
      await expect(ledger.updates({ state: 'settled', project: 'acme' }, 5, bad)).rejects.toThrow(BadCursor)
    })

    test.each(['updates#2026-09', 'updates#2026-12'])(
      'a list of October and November refuses a cursor of %s',
      async (partition) => {
        const span = { since: Date.parse('2026-10-01T00:00:00Z'), until: Date.parse('2026-11-20T00:00:00Z') }
        await expect(ledger.updatesFrom(span, 5, cursor({ partition }))).rejects.toThrow(BadCursor)
        expect((await ledger.updatesFrom(span, 5, cursor({ partition: 'updates#2026-11' }))).rows).toHaveLength(5)
      },
    )

    test('a list refuses a cursor of another list', async () => {
      const ofUpdates = (await ledger.updates({}, 5)).next
      const ofOpen = (await ledger.updates({ state: 'in-doubt' }, 5)).next
      const ofEntries = (await ledger.entries({ month: 'month:2026-11-12' }, 5)).next
      for (const mine of [ofUpdates, ofOpen, ofEntries]) expect(mine).toEqual(expect.any(String))
      await expect(ledger.updates({ state: 'in-doubt' }, 5, ofUpdates)).rejects.toThrow(BadCursor)
      await expect(ledger.updates({}, 5, ofEntries)).rejects.toThrow(BadCursor)
      await expect(ledger.updates({}, 5, ofOpen)).rejects.toThrow(BadCursor)
      await expect(ledger.open('running', 5, ofOpen)).rejects.toThrow(BadCursor)
      await expect(ledger.entries({ month: 'month:2026-11-12' }, 5, ofUpdates)).rejects.toThrow(BadCursor)
      await expect(ledger.entries({ month: 'month:2026-12-12' }, 5, ofEntries)).rejects.toThrow(BadCursor)
      const since = Date.parse('2026-11-20T12:00:00Z')
      await expect(ledger.updates({ until: since - hours(24 * 10) }, 5, ofUpdates)).rejects.toThrow(BadCursor)
    })
  })
})

/** 1,300 updates of one day: more than a list reads for one page. */
async function busyMonth(store: Store, clock: TestClock, paidBy: (index: number) => Partial<Update> = () => ({})) {
  const ledger = createLedger({ store, clock, account })
  await ledger.view()
  for (let index = 0; index < 1_300; index++) {
    const id = `upd_${String(index).padStart(6, '0')}`
    await ledger.record({ ...recordOf(0), ...paidBy(index), id, createdAt: clock.now() - hours(20) + index }, null)
  }
  return ledger
}

test('a page of rare updates reads twelve batches at most, and the first batch is the size of the page', async () => {
  const clock = createTestClock('2026-11-20T10:00:00Z')
  const real = createMemoryStore()
  const limits: number[] = []
  const batches: number[] = []
  const counted: Store = {
    ...real,
    get: (keys) => {
      batches.push(keys.length)
      return real.get(keys)
    },
    list: (query) => {
      limits.push(query.limit)
      return real.list(query)
    },
  }
  const ledger = await busyMonth(counted, clock)
  const found = async (limit: number) => {
    limits.length = 0
    expect((await ledger.updates({ project: 'missing' }, limit)).rows).toEqual([])
    return [...limits]
  }
  expect(await found(5)).toEqual([5, ...Array.from({ length: 11 }, () => 100)])
  expect(await found(200)).toEqual(Array.from({ length: 12 }, () => 100))
  batches.length = 0
  expect(await ledger.open('running', 5)).toEqual({ rows: [] })
  expect(batches).toEqual([])
})

test('a list for the reader of one budget reads only updates of this budget and one page of the index', async () => {
  const clock = createTestClock('2026-11-20T10:00:00Z')
  const real = createMemoryStore()
  const read = { items: 0, pages: 0 }
  const counted: Store = {
    ...real,
    get: (keys) => {
      read.items += keys.length
      return real.get(keys)
    },
    list: (query) => {
      read.pages++
      return real.list(query)
    },
  }
  const ledger = await busyMonth(counted, clock, (index) =>
    index === 7 ? { budget: 'account', owner: 'acme' } : { budget: index === 4 ? 'acme' : 'zenith' },
  )
  const lists = ledger.listsAs({ ...seeing(() => true), budget: (name) => name === 'acme' })
  Object.assign(read, { items: 0, pages: 0 })
  const found = await lists.updatesFrom({ since: clock.now() - hours(24), until: clock.now() }, 50)
  expect(found.rows.map(({ id }) => id)).toEqual(['upd_000004', 'upd_000007'])
  expect(read).toEqual({ items: 2, pages: 1 })
})

test('a list finds the only update of a busy month that its reader sees', async () => {
  const clock = createTestClock('2026-11-20T10:00:00Z')
  const ledger = await busyMonth(createMemoryStore(), clock)
  const lists = ledger.listsAs(seeing(({ id }) => id === 'upd_000000'))
  expect((await ledger.updates({}, 1)).next).toBeDefined()
  const page = await lists.updates({}, 2)
  expect(page.rows.map(({ id }) => id)).toEqual(['upd_000000'])
  expect(Buffer.from(page.next ?? '', 'base64url').toString()).not.toContain('upd_')
})

test.each([
  [{ budget: 'seo', owner: null }, undefined, true],
  [{ budget: 'seo', owner: null }, 'seo', true],
  [{ budget: 'seo', owner: 'blog' }, 'blog', false],
  [{ budget: unseenBudget, owner: 'blog' }, 'blog', true],
  [{ budget: unseenBudget, owner: 'blog' }, 'seo', false],
])('an update of %j is found under the budget %s: %s', (update, budget, isFound) => {
  const record = { ...update, project: 'acme', tags: {}, state: 'settled' }
  expect(meets(record, { ...(budget && { budget }) }, { budgets: {} })).toBe(isFound)
  expect(meets(record, { ...(budget && { budget }), state: undefined } as object, { budgets: {} })).toBe(isFound)
  expect(meets(record, { state: 'refused' }, { budgets: {} })).toBe(false)
})
