import { describe, expect, test } from 'vitest'
import { logins } from '../../shared/auth/logins.ts'
import { issuerKeys } from '../../shared/auth/stored-keys.ts'
import {
  type Occurrence,
  occurrenceId,
  occurrences,
  occurrencesOf,
} from '../../shared/guard/plans/stored-occurrence.ts'
import { lastPrices } from '../../shared/guard/plans/stored-price.ts'
import {
  daySummaries,
  emptySummary,
  isComplete,
  type Summary,
  summaryPlace,
} from '../../shared/guard/reports/stored-summary.ts'
import { knownDates } from '../../shared/guard/sweep/known-dates.ts'
import type { AuditedCounter } from '../../shared/ledger/book/audit.ts'
import { newCalendar } from '../../shared/ledger/book/windows.ts'
import { createLedger } from '../../shared/ledger/ledger.ts'
import { itemSize } from '../../shared/ledger/store/item-size.ts'
import type { Item, Value } from '../../shared/ledger/store/store.ts'
import { announcement } from '../../shared/ledger/updates/tasks.ts'
import { begin } from '../../shared/ledger/updates/update.ts'
import type { ProjectChange } from '../../shared/ledger/views/project-changes.ts'
import { spoilSummary, summaryDays } from '../../shared/ledger/views/summary-days.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { slackEvents } from '../../shared/slack/slack-events.ts'
import { createTestClock, days } from '../support/clock.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const account = {
  unitsPerMonth: toUnits(1_000),
  usedAtStart: toUnits(0),
  renewal: { day: 1, time: '00:00', zone: 'UTC' },
}
const at = Date.parse('2026-11-20T10:00:00Z')

function open() {
  const items = new Map<string, Item>()
  const clock = createTestClock()
  const store = createMemoryStore(items)
  const ledger = createLedger({ store, clock, account })
  /** The stored items with this sort key. */
  const stored = (sk: string) => [...items.values()].filter((item) => item.sk === sk)
  /** Changes a stored item by hand. */
  const damage = (sk: string, by: object) => {
    for (const [key, item] of items) if (item.sk === sk) items.set(key, { ...item, ...by })
  }
  return { ledger, store, clock, stored, damage }
}

describe('a code to log in with', () => {
  test('a login code works for its caller once', async () => {
    const { ledger } = open()
    const code = await ledger.item(logins).issue('slack:U1', at)
    expect(code).toMatch(/^[0-9a-z]{26}$/)
    expect(await ledger.item(logins).isOpen(code, at)).toBe(true)
    expect(await ledger.item(logins).redeem(code, at)).toEqual({ caller: 'slack:U1' })
    expect(await ledger.item(logins).redeem(code, at)).toBeNull()
    expect(await ledger.item(logins).isOpen(code, at)).toBe(false)
  })

  test('a login code works for one of two concurrent users', async () => {
    const { ledger } = open()
    const code = await ledger.item(logins).issue('slack:U1', at)
    const came = await Promise.all([ledger.item(logins).redeem(code, at), ledger.item(logins).redeem(code, at)])
    expect(came.map((login) => login?.caller ?? '').toSorted()).toEqual(['', 'slack:U1'])
  })

  test.each([
    [299_999, 'slack:U1'],
    [300_000, null],
  ])('a login code after %i ms works for %s', async (ms, caller) => {
    const { ledger } = open()
    const code = await ledger.item(logins).issue('slack:U1', at)
    expect((await ledger.item(logins).redeem(code, at + ms))?.caller ?? null).toBe(caller)
  })

  test('a login code can carry the rights of a token', async () => {
    const { ledger, damage } = open()
    const token = { scopes: ['read', 'admin'], budgets: '*' } as const
    const login = { caller: 'local-admin', token }
    expect(await ledger.item(logins).redeem(await ledger.item(logins).issue('local-admin', at, token), at)).toEqual(
      login,
    )
    const code = await ledger.item(logins).issue('local-admin', at, token)
    damage('login', { token: { scopes: ['everything'], budgets: '*' } })
    expect(await ledger.item(logins).redeem(code, at)).toBeNull()
  })

  test('a login code is stored as its digest, and deleted after a day', async () => {
    const { ledger, stored } = open()
    const code = await ledger.item(logins).issue('slack:U1', at)
    await ledger.item(logins).issue('slack:U1', at)
    const [item, other] = stored('login')
    expect(JSON.stringify(item)).not.toContain(code)
    expect(item?.pk).toMatch(/^login#/)
    expect(item?.pk).not.toBe(other?.pk)
    expect(item?.expiresAt).toBe((at + days(1)) / 1000)
  })

  test('a malformed or unknown login code works for no one', async () => {
    const { ledger, damage } = open()
    const code = await ledger.item(logins).issue('slack:U1', at)
    for (const bad of [`${code}x`, `x${code}`, code.slice(1), code.toUpperCase(), '', 'a'.repeat(26)])
      expect(await ledger.item(logins).redeem(bad, at)).toBeNull()
    damage('login', { caller: 7 })
    expect(await ledger.item(logins).redeem(code, at)).toBeNull()
  })
})

describe('the price of a project', () => {
  const acme = { kind: 'ranking', project: 'acme' } as const

  test('prices are read in the order of the names, with the previous price', async () => {
    const { ledger, stored } = open()
    await ledger.item(lastPrices).write({ ...acme, units: toUnits(40), at })
    await ledger.item(lastPrices).write({ kind: 'keyword-difficulty', project: 'acme', units: toUnits(7), at })
    expect(await ledger.item(lastPrices).read([{ kind: 'ranking', project: 'globex' }, acme])).toEqual([
      null,
      { ...acme, units: 40, at },
    ])
    await ledger.item(lastPrices).write({ ...acme, units: toUnits(55), at: at + days(1) })
    expect(await ledger.item(lastPrices).read([acme])).toEqual([{ ...acme, units: 55, at: at + days(1), before: 40 }])
    expect(stored('price').map(({ expiresAt }) => expiresAt)).toEqual([(at + days(61)) / 1000, (at + days(60)) / 1000])
    expect(stored('price')[0]?.pk).toMatch(/^price#ranking#/)
  })

  test('the first of two concurrent prices is kept', async () => {
    const { ledger } = open()
    await Promise.all([40, 41].map((units) => ledger.item(lastPrices).write({ ...acme, units: toUnits(units), at })))
    expect(await ledger.item(lastPrices).read([acme])).toEqual([{ ...acme, units: 40, at }])
    await Promise.all(
      [50, 51].map((units) => ledger.item(lastPrices).write({ ...acme, units: toUnits(units), at: at + units })),
    )
    expect(await ledger.item(lastPrices).read([acme])).toEqual([{ ...acme, units: 50, at: at + 50, before: 40 }])
  })

  test('the prices of more projects than one batch takes can be read', async () => {
    const { ledger } = open()
    const projects = Array.from({ length: 101 }, (_, index) => ({ kind: 'ranking' as const, project: `p${index}` }))
    await ledger.item(lastPrices).write({ kind: 'ranking', project: 'p100', units: toUnits(9), at })
    const found = await ledger.item(lastPrices).read(projects)
    expect(found).toHaveLength(101)
    expect(found.map((price) => price?.units).filter(Boolean)).toEqual([9])
    expect(found[100]?.project).toBe('p100')
  })
})

describe('the known dates of a project', () => {
  const seen = { project: 'acme', dates: ['2026-11-19', '2026-11-20'], at }

  test('known dates are read in the order of the projects', async () => {
    const { ledger, stored } = open()
    await ledger.item(knownDates).write(seen, null)
    expect(await ledger.item(knownDates).read(['globex', 'acme'])).toEqual([null, seen])
    expect(stored('sighting')).toMatchObject([
      { pk: expect.stringMatching(/^sighting#./), expiresAt: (at + days(400)) / 1000 },
    ])
    const names = Array.from({ length: 101 }, (_, index) => (index === 100 ? 'acme' : `p${index}`))
    const found = await ledger.item(knownDates).read(names)
    expect([found.length, found[100]]).toEqual([101, seen])
  })

  test('known dates are replaced only if they did not change after they were read', async () => {
    const { ledger } = open()
    const later = { ...seen, dates: ['2026-11-21'], at: at + days(1) }
    await ledger.item(knownDates).write(seen, null)
    await ledger.item(knownDates).write(later, null)
    await ledger.item(knownDates).write(later, { ...seen, at: at - 1 })
    expect(await ledger.item(knownDates).read(['acme'])).toEqual([seen])
    await ledger.item(knownDates).write(later, seen)
    expect(await ledger.item(knownDates).read(['acme'])).toEqual([later])
  })

  test('the latest 400 known dates are kept', async () => {
    const { ledger } = open()
    const dates = Array.from({ length: 401 }, (_, index) => `day ${1000 + index}`)
    await ledger.item(knownDates).write({ ...seen, dates }, null)
    const [kept] = await ledger.item(knownDates).read(['acme'])
    expect([kept?.dates.length, kept?.dates[0]]).toEqual([400, 'day 1001'])
  })
})

describe('the summary of a day', () => {
  const day = {
    ...{ month: 'month:2026-11-01', name: 'day:2026-11-20' },
    ...{ start: Date.parse('2026-11-20T00:00:00Z'), end: Date.parse('2026-11-21T00:00:00Z') },
  }
  const row = { budget: 'seo', project: 'acme', caller: 'ada', kind: 'ranking', via: 'http', settled: 2, charged: 80 }
  const summary: Summary = {
    ...emptySummary(day),
    ...{ until: at, at: at + 1, rows: [row], open: ['upd_9'], used: { seo: { used: 80, limit: 100 } } },
    ...{ duplicates: 1, saved: 40, lastAt: at },
  }

  async function kept(first = summary) {
    const product = open()
    const summaries = product.ledger.item(daySummaries)
    const read = async () => {
      const [found] = await summaries.read([day])
      if (!found) throw new Error('each day has an answer')
      return found
    }
    expect(await summaries.write(first)).toBe('written')
    return { ...product, summaries, read, seen: await read() }
  }

  test('a summary is kept as long as the records, and replaced only if it did not change after it was read', async () => {
    expect(await open().ledger.item(daySummaries).read([day])).toEqual([emptySummary(day)])
    const { summaries, read, seen, stored } = await kept()
    expect(seen).toEqual({ ...summary, mark: expect.stringMatching(/./) })
    expect(stored(day.name)).toMatchObject([
      { pk: 'summary#month:2026-11-01', expiresAt: (day.start + days(780)) / 1000 },
    ])
    const more = { ...summary, rows: [row, { ...row, budget: 'ads' }], open: [] }
    expect(await summaries.write(more)).toBe('moved')
    expect(await summaries.write({ ...more, mark: 'another' })).toBe('moved')
    expect(await read()).toEqual(seen)
    expect(await summaries.write({ ...more, mark: seen.mark })).toBe('written')
    expect(await read()).toEqual({ ...more, mark: expect.stringMatching(/./) })
  })

  test('a summary has a new mark after every write, even of equal figures', async () => {
    const { summaries, read, seen } = await kept()
    await summaries.write({ ...seen, at: at + 2 })
    const second = await read()
    await summaries.write({ ...second, at: at + 1 })
    expect(new Set([seen.mark, second.mark, (await read()).mark]).size).toBe(3)
  })

  test('a wrong summary is invalidated, but no newer summary, and the figures of the book stay', async () => {
    const { summaries, read, seen, stored } = await kept()
    await summaries.write({ ...seen, at: at + 2 })
    await summaries.spoil(seen)
    const changed = await read()
    expect(changed.rows).toEqual([row])
    await summaries.spoil(changed)
    expect(await read()).toEqual({
      ...changed,
      mark: expect.any(String),
      until: day.start - 1,
      rows: [],
      open: [],
      spenders: [],
      unlisted: [],
    })
    expect((await read()).mark).not.toBe(changed.mark)
    expect(stored(day.name)).toMatchObject([{ expiresAt: (day.start + days(780)) / 1000 }])
    await summaries.spoil(emptySummary({ ...day, name: 'day:2026-11-19' }))
    expect(stored('day:2026-11-19')).toEqual([])
  })

  test.each([true, false])(
    'the correction of an update invalidates the summary of its day, stored (%s) or not',
    async (isKept) => {
      const { ledger, store } = isKept ? await kept() : open()
      const request = { kind: 'ranking', project: 'acme', budget: 'seo', caller: 'ada', via: 'http' } as const
      const corrected = begin(
        { ...request, id: 'upd_1', content: { digest: 'd', count: 1 }, createdAt: at },
        'refused',
        { month: day.month },
        { at, by: 'ada' },
      )
      const { calendar } = (await ledger.view()).definitions
      expect(await store.transact([spoilSummary(calendar, corrected)], 'spoil')).toEqual({ applied: true })
      const expected = { mark: 'upd_1#1', until: day.start - 1, rows: [], open: [] }
      expect(await ledger.item(daySummaries).read([day])).toMatchObject([expected])
      expect(await ledger.item(daySummaries).unfinished()).toEqual([day.start])
    },
  )

  test('a summary is unfinished until it is complete and names no update', async () => {
    const { summaries, read } = await kept()
    expect(await summaries.unfinished()).toEqual([day.start])
    await summaries.write({ ...(await read()), until: day.end - 1 })
    expect(await summaries.unfinished()).toEqual([day.start])
    await summaries.write({ ...(await read()), open: [] })
    expect(await summaries.unfinished()).toEqual([])
    await summaries.write({ ...(await read()), until: day.end - 2 })
    expect(await summaries.unfinished()).toEqual([day.start])
  })

  test('a summary with many rows has further items, and counts nothing without them', async () => {
    const rows = Array.from({ length: 300 }, (_, each) => ({ ...row, project: `${each}`.padEnd(400, 'x') }))
    const { summaries, read, seen, stored, damage } = await kept({ ...summary, rows })
    expect(seen.rows).toEqual(rows)
    expect([stored(day.name).length, stored(`${day.name}#1`).length, stored(`${day.name}#2`).length]).toEqual([1, 1, 1])
    const other = { ...day, name: 'day:2026-11-19' }
    await summaries.write({ ...emptySummary(other), rows: [row] })
    const two = await summaries.read([other, day])
    expect(two.map(({ rows }) => rows.length)).toEqual([1, 300])
    const [head] = await summaries.read([day], { withRows: false })
    expect([head?.rows.length, head?.used]).toEqual([20, summary.used])
    damage(`${day.name}#2`, { mark: 'of an earlier write' })
    expect(await read()).toEqual({ ...emptySummary(day), mark: seen.mark })
    damage(day.name, { shards: 3 })
    expect(await read()).toEqual({ ...emptySummary(day), mark: seen.mark })
  })

  test('a day without a summary has no figures, and is complete after its last millisecond', () => {
    const empty = emptySummary(day)
    expect(empty).toMatchObject({ until: day.start - 1, open: [], duplicates: 0, saved: 0, lastAt: 0 })
    const isCompleteAt = (until: number) => isComplete({ ...empty, until })
    expect([day.start - 1, day.end - 2, day.end - 1, day.end].map(isCompleteAt)).toEqual([false, false, true, true])
  })

  test('the summary days of a span include both its ends, and a renewal splits its day', () => {
    const calendar = newCalendar({ day: 12, time: '09:00', zone: 'UTC' })
    const daysBetween = (since: string, until: string) =>
      summaryDays(calendar, { since: Date.parse(since), until: Date.parse(until) }).map(
        ({ month, name, start, end }) => `${month} ${name} ${(end - start) / 3_600_000} h`,
      )
    expect(daysBetween('2026-11-11T23:00:00Z', '2026-11-13T00:00:00Z')).toEqual([
      'month:2026-10-12 day:2026-11-11 24 h',
      'month:2026-10-12 day:2026-11-12 9 h',
      'month:2026-11-12 day:2026-11-12 15 h',
      'month:2026-11-12 day:2026-11-13 24 h',
    ])
    expect(daysBetween('2026-11-20T10:00:00Z', '2026-11-20T10:00:00Z')).toEqual([
      'month:2026-11-12 day:2026-11-20 24 h',
    ])
    expect(daysBetween('2026-11-20T10:00:00Z', '2026-11-19T10:00:00Z')).toEqual([])
  })

  test('a summary that is too large is not written', async () => {
    const { summaries, read, seen } = await kept()
    const rows = (count: number) =>
      Array.from({ length: count }, (_, each) => ({ ...row, project: `${each}`.padEnd(90_000, 'x') }))
    expect(await summaries.write({ ...seen, rows: rows(34) })).toBe('written')
    const large = await read()
    expect(await summaries.write({ ...large, rows: rows(35) })).toBe('too-large')
    expect(await read()).toEqual(large)
  })

  test('a summary has defaults for missing members, and is damaged without a mark', async () => {
    const { summaries, read, damage, store } = await kept()
    const other = { ...day, name: 'day:2026-11-19' }
    const item = { pk: `summary#${day.month}`, sk: other.name, mark: 'm', start: other.start, until: at }
    await store.transact([{ kind: 'put', item, when: [] }], 'put')
    expect(await summaries.read([other])).toEqual([{ ...emptySummary(other), mark: 'm', until: at }])
    damage(day.name, { mark: null })
    await expect(read()).rejects.toThrow('summary#month:2026-11-01 (day:2026-11-20) is damaged: mark must be text')
  })

  test('the position up to which all summaries are written is kept', async () => {
    const reached = open().ledger.item(summaryPlace)
    expect(await reached.read()).toBeNull()
    for (const [index, place] of [day.start, day.end, day.start].entries()) {
      await reached.move(place, at + index)
      expect(await reached.read()).toBe(place)
    }
  })
})

describe('the last audit', () => {
  const counter = (spent: number) => ({
    ...{ limit: toUnits(100), granted: 1, available: 101 - spent - 5, held: 2, inDoubt: 3, spent },
  })
  const row = (budget: string, ok: boolean | null) => ({
    ...{ window: 'month:2026-11-01', budget, ok, recorded: counter(7) },
    recomputed: ok ? counter(7) : counter(8),
  })

  test('the last audit is kept with its differing counters first', async () => {
    const { ledger, damage } = open()
    expect(await ledger.lastAudit()).toBeNull()
    const free = { ...row('free', true), recorded: { ...counter(7), limit: 'unlimited' } as const }
    const rows = [row('a', true), { ...free, recomputed: free.recorded }, row('b', false), row('c', null)]
    await ledger.keepAudit({ at, by: 'ada' }, rows)
    expect(await ledger.lastAudit()).toEqual({
      ...{ at, by: 'ada', counters: 4, wrong: 1, moved: 1 },
      rows: [rows[2], rows[3], rows[0], rows[1]],
    })
    const orders: [AuditedCounter[], string[]][] = [
      [
        [row('a', true), row('c', null)],
        ['c', 'a'],
      ],
      [
        [row('c', null), row('a', true), row('b', false)],
        ['c', 'b', 'a'],
      ],
    ]
    for (const [mixed, order] of orders) {
      await ledger.keepAudit({ at, by: 'ada' }, mixed)
      expect((await ledger.lastAudit())?.rows.map(({ budget }) => budget)).toEqual(order)
    }
    await ledger.keepAudit({ at: at + 1, by: 'digest' }, [])
    expect(await ledger.lastAudit()).toMatchObject({ at: at + 1, by: 'digest', counters: 0, rows: [] })
    damage('latest', { rows: null })
    await expect(ledger.lastAudit()).rejects.toThrow('audit (latest) is damaged: rows must be a list')
  })

  test('at most 400 rows of an audit are kept, but all rows are counted', async () => {
    const { ledger } = open()
    const many = Array.from({ length: 401 }, (_, index) => row(`b${index}`, index !== 400))
    await ledger.keepAudit({ at, by: 'ada' }, many)
    const last = await ledger.lastAudit()
    expect([last?.counters, last?.wrong, last?.rows.length, last?.rows[0]?.budget]).toEqual([401, 1, 400, 'b400'])
  })
})

describe('changes of projects', () => {
  const change: ProjectChange = {
    id: 'chg_1',
    operation: 'create',
    project: 'acme',
    caller: 'ada',
    at,
    added: { keywords: 3 },
    removed: {},
    status: null,
  }

  test('a change of a project is noted before it is sent, and again with the answer', async () => {
    const { ledger, stored } = open()
    await ledger.noteProjectChange({ ...change, id: 'chg_0', status: 200 })
    expect(stored('project-change')).toEqual([])
    await ledger.noteProjectChange(change)
    await ledger.noteProjectChange({ ...change, caller: 'bob' })
    expect((await ledger.projectChanges(10)).rows).toEqual([change])
    await ledger.noteProjectChange({ ...change, status: 201 })
    expect((await ledger.projectChanges(10)).rows).toEqual([{ ...change, status: 201 }])
    expect(stored('project-change')).toMatchObject([
      {
        pk: 'project-change#chg_1',
        listedIn: 'changes#2026-11',
        listedAt: '2026-11-20T10:00:00.000Z#chg_1',
        expiresAt: (at + days(780)) / 1000,
      },
    ])
  })

  test('changes of projects are listed across months, latest first', async () => {
    const { ledger, clock } = open()
    await ledger.view()
    for (const [id, time] of [
      ['a', '2026-11-20T10:00:00Z'],
      ['b', '2026-12-31T23:59:59Z'],
      ['c', '2027-01-01T00:00:00Z'],
    ] as const) {
      clock.set(time)
      await ledger.noteProjectChange({ ...change, id, at: clock.now() })
    }
    const first = await ledger.projectChanges(2)
    expect(first.rows.map(({ id }) => id)).toEqual(['c', 'b'])
    expect((await ledger.projectChanges(2, first.next)).rows.map(({ id }) => id)).toEqual(['a'])
    clock.set('2029-06-01T00:00:00Z')
    expect((await ledger.projectChanges(10)).rows).toEqual([])
  })

  test('a new ledger has no changes of projects, and an older ledger has the changes of last month', async () => {
    const { ledger, clock } = open()
    expect(await ledger.projectChanges(10)).toEqual({ rows: [] })
    const old = open()
    old.clock.set('2026-10-31T23:00:00Z')
    await old.ledger.view()
    await old.ledger.noteProjectChange({ ...change, at: old.clock.now() })
    old.clock.set(new Date(clock.now()).toISOString())
    expect((await old.ledger.projectChanges(10)).rows).toHaveLength(1)
  })
})

describe('a task', () => {
  const task = announcement('token#1', at, { kind: 'digest', until: at })

  test('a task is added once, listed until it is done, and changed only if it did not change after it was read', async () => {
    const { ledger, stored } = open()
    expect(await ledger.announcements.get('token#1')).toBeNull()
    expect(await ledger.announcements.add(task)).toBe(true)
    expect(await ledger.announcements.add({ ...task, tries: 1 })).toBe(false)
    expect(await ledger.announcements.get('token#1')).toEqual({ ...task, version: 1 })
    expect(stored('announcement')).toMatchObject([
      {
        pk: 'announcement#token#1',
        openAs: 'announcement',
        openSince: '2026-11-20T10:00:00.000Z#token#1',
        expiresAt: (at + days(780)) / 1000,
      },
    ])
    expect(stored('announcement')[0]).not.toHaveProperty('listedIn')
    expect(await ledger.announcements.change({ ...task, tries: 1 }, task)).toBe(true)
    expect(await ledger.announcements.change({ ...task, tries: 2 }, task)).toBe(false)
    const seen = { ...task, tries: 1, version: 2 }
    expect((await ledger.announcements.open(10)).rows).toEqual([seen])
    expect(await ledger.announcements.change({ ...seen, doneAt: at }, seen)).toBe(true)
    expect((await ledger.announcements.open(10)).rows).toEqual([])
    expect(await ledger.announcements.get('token#1')).toEqual({ ...seen, version: 3, doneAt: at })
  })

  test('a task is written with its other writes, or not at all', async () => {
    const { ledger } = open()
    const [first, second] = ['one', 'two'].map((id) => announcement(id, at, { kind: 'digest', until: at }))
    if (!first || !second) throw new Error('there are two')
    const also = { kind: 'check', key: { pk: 'x', sk: 'x' }, when: [{ kind: 'present-item' }] } as const
    expect(await ledger.announcements.add(first, [also])).toBe(false)
    expect(await ledger.announcements.get('one')).toBeNull()
    await ledger.announcements.add(second)
    expect(await ledger.announcements.change({ ...second, tries: 9 }, second, [also])).toBe(false)
    expect(await ledger.announcements.get('two')).toEqual(second)
  })

  test('finished tasks of a partition are listed, latest first', async () => {
    const { ledger, stored } = open()
    const times = [at, at + days(1)]
    for (const time of times) {
      const occurrence: Occurrence = {
        ...{ id: occurrenceId('nightly', time), version: 1, createdAt: time, plan: 'nightly', time },
        ...{ state: 'running', startedAt: time, round: 0, nextAt: time },
      }
      expect(await ledger.queue(occurrences).add(occurrence)).toBe(true)
    }
    expect(occurrencesOf('nightly')).toBe('occurrences#nightly')
    expect(stored('occurrence')).toMatchObject([
      {
        pk: 'occurrence#nightly#2026-11-20T10:00:00.000Z',
        listedIn: 'occurrences#nightly',
        listedAt: '2026-11-20T10:00:00.000Z#nightly#2026-11-20T10:00:00.000Z',
      },
      {},
    ])
    const latest = async (limit: number) =>
      (await ledger.queue(occurrences).latest(occurrencesOf('nightly'), limit)).map(({ time }) => time)
    expect(await latest(10)).toEqual(times.toReversed())
    expect(await latest(1)).toEqual([at + days(1)])
    expect(await ledger.queue(slackEvents).get('nightly')).toBeNull()
  })
})

describe('keys of an issuer', () => {
  const keys = { name: 'okta', issuer: 'https://acme.okta.com', jwks: '{"keys":[]}', fetchedAt: at }

  test('keys of an issuer are read as they were stored, with members of later versions', async () => {
    const { ledger, damage } = open()
    expect(await ledger.item(issuerKeys).read('okta')).toBeNull()
    expect(await ledger.item(issuerKeys).keep(keys)).toBe('kept')
    damage('issuer-keys', { later: true })
    expect(await ledger.item(issuerKeys).read('okta')).toMatchObject(keys)
  })

  test('damaged keys of an issuer are not used', async () => {
    const { ledger, damage } = open()
    await ledger.item(issuerKeys).keep(keys)
    damage('issuer-keys', { fetchedAt: 'now' })
    await expect(ledger.item(issuerKeys).read('okta')).rejects.toThrow(
      'issuer-keys#okta (issuer-keys) is damaged: fetchedAt',
    )
  })
})

describe('the size of an item, as DynamoDB counts it', () => {
  test.each([
    [{}, 0],
    [{ ab: 'cde' }, 5],
    [{ é: 'ü' }, 4],
    [{ n: 7 }, 3],
    [{ n: 12 }, 3],
    [{ n: 123 }, 4],
    [{ n: -1234 }, 4],
    [{ n: 1.5 }, 3],
    [{ n: 101_000 }, 4],
    [{ n: 0 }, 2],
    [{ t: true }, 2],
    [{ z: null }, 2],
    [{ u: undefined }, 2],
    [{ l: [] }, 4],
    [{ l: ['ab', 7] }, 10],
    [{ m: {} }, 4],
    [{ m: { ab: 'c' } }, 8],
    [{ a: 'b', m: { l: [{ x: 'yz' }] } }, 19],
  ] as [Readonly<Record<string, Value | undefined>>, number][])('%j takes %i bytes', (members, bytes) => {
    expect(itemSize(members)).toBe(bytes)
  })
})
