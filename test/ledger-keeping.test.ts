import { describe, expect, test } from 'vitest'
import { announcement } from '../shared/ledger/announcement.ts'
import type { AuditedCounter } from '../shared/ledger/audit.ts'
import { createLedger } from '../shared/ledger/ledger.ts'
import { createMemoryStore } from '../shared/ledger/memory-store.ts'
import { type Occurrence, occurrenceId, occurrencesOf } from '../shared/ledger/occurrence.ts'
import type { ProjectChange } from '../shared/ledger/project-change.ts'
import type { Item } from '../shared/ledger/store.ts'
import { spoilTally, sumOf, type Tally } from '../shared/ledger/tally.ts'
import { begin } from '../shared/ledger/update.ts'
import { toUnits } from '../shared/platform/words.ts'
import { createTestClock, days } from './support/clock.ts'

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
  /** The items of one sort of key, as they are stored. */
  const stored = (sk: string) => [...items.values()].filter((item) => item.sk === sk)
  /** What is stored, changed by hand. */
  const damage = (sk: string, by: object) => {
    for (const [key, item] of items) if (item.sk === sk) items.set(key, { ...item, ...by })
  }
  return { ledger, store, clock, stored, damage }
}

describe('a code to log in with', () => {
  test('lets its caller in, once', async () => {
    const { ledger } = open()
    const code = await ledger.logins.issue('slack:U1', at)
    expect(code).toMatch(/^[0-9a-z]{26}$/)
    expect(await ledger.logins.redeem(code, at)).toBe('slack:U1')
    expect(await ledger.logins.redeem(code, at)).toBeNull()
  })

  test('lets one of two in who come at once', async () => {
    const { ledger } = open()
    const code = await ledger.logins.issue('slack:U1', at)
    const came = await Promise.all([ledger.logins.redeem(code, at), ledger.logins.redeem(code, at)])
    expect(came.toSorted()).toEqual([null, 'slack:U1'].toSorted())
  })

  test.each([
    [299_999, 'slack:U1'],
    [300_000, null],
  ])('after %i ms lets in %s', async (ms, caller) => {
    const { ledger } = open()
    const code = await ledger.logins.issue('slack:U1', at)
    expect(await ledger.logins.redeem(code, at + ms)).toBe(caller)
  })

  test('is stored as its digest, and deleted after a day', async () => {
    const { ledger, stored } = open()
    const code = await ledger.logins.issue('slack:U1', at)
    await ledger.logins.issue('slack:U1', at)
    const [item, other] = stored('login')
    expect(JSON.stringify(item)).not.toContain(code)
    expect(item?.pk).toMatch(/^login#/)
    expect(item?.pk).not.toBe(other?.pk)
    expect(item?.expiresAt).toBe((at + days(1)) / 1000)
  })

  test('of another shape is not even looked for, and one that was never issued lets nobody in', async () => {
    const { ledger, damage } = open()
    const code = await ledger.logins.issue('slack:U1', at)
    for (const bad of [`${code}x`, `x${code}`, code.slice(1), code.toUpperCase(), '', 'a'.repeat(26)])
      expect(await ledger.logins.redeem(bad, at)).toBeNull()
    damage('login', { caller: 7 })
    expect(await ledger.logins.redeem(code, at)).toBeNull()
  })
})

describe('the price of a project', () => {
  const acme = { kind: 'ranking', project: 'acme' } as const

  test('is read in the order of what is asked for, with the one before it', async () => {
    const { ledger, stored } = open()
    await ledger.prices.write({ ...acme, units: toUnits(40), at })
    await ledger.prices.write({ kind: 'keyword-difficulty', project: 'acme', units: toUnits(7), at })
    expect(await ledger.prices.read([{ kind: 'ranking', project: 'globex' }, acme])).toEqual([
      null,
      { ...acme, units: 40, at },
    ])
    await ledger.prices.write({ ...acme, units: toUnits(55), at: at + days(1) })
    expect(await ledger.prices.read([acme])).toEqual([{ ...acme, units: 55, at: at + days(1), before: 40 }])
    expect(stored('price').map(({ expiresAt }) => expiresAt)).toEqual([(at + days(61)) / 1000, (at + days(60)) / 1000])
    expect(stored('price')[0]?.pk).toMatch(/^price#ranking#/)
  })

  test("of two who write at once the first one's counts", async () => {
    const { ledger } = open()
    await Promise.all([40, 41].map((units) => ledger.prices.write({ ...acme, units: toUnits(units), at })))
    expect(await ledger.prices.read([acme])).toEqual([{ ...acme, units: 40, at }])
    await Promise.all([50, 51].map((units) => ledger.prices.write({ ...acme, units: toUnits(units), at: at + units })))
    expect(await ledger.prices.read([acme])).toEqual([{ ...acme, units: 50, at: at + 50, before: 40 }])
  })

  test('is read for more projects than one batch takes', async () => {
    const { ledger } = open()
    const projects = Array.from({ length: 101 }, (_, index) => ({ kind: 'ranking' as const, project: `p${index}` }))
    await ledger.prices.write({ kind: 'ranking', project: 'p100', units: toUnits(9), at })
    const found = await ledger.prices.read(projects)
    expect(found).toHaveLength(101)
    expect(found.map((price) => price?.units).filter(Boolean)).toEqual([9])
    expect(found[100]?.project).toBe('p100')
  })
})

describe('the dates that a project was seen with', () => {
  const seen = { project: 'acme', dates: ['2026-11-19', '2026-11-20'], at }

  test('are read in the order of the projects', async () => {
    const { ledger, stored } = open()
    await ledger.sightings.write(seen, null)
    expect(await ledger.sightings.read(['globex', 'acme'])).toEqual([null, seen])
    expect(stored('sighting')).toMatchObject([
      { pk: expect.stringMatching(/^sighting#./), expiresAt: (at + days(400)) / 1000 },
    ])
    const names = Array.from({ length: 101 }, (_, index) => (index === 100 ? 'acme' : `p${index}`))
    const found = await ledger.sightings.read(names)
    expect([found.length, found[100]]).toEqual([101, seen])
  })

  test("are replaced as they were seen, and else the first one's count", async () => {
    const { ledger } = open()
    const later = { ...seen, dates: ['2026-11-21'], at: at + days(1) }
    await ledger.sightings.write(seen, null)
    await ledger.sightings.write(later, null)
    await ledger.sightings.write(later, { ...seen, at: at - 1 })
    expect(await ledger.sightings.read(['acme'])).toEqual([seen])
    await ledger.sightings.write(later, seen)
    expect(await ledger.sightings.read(['acme'])).toEqual([later])
  })

  test('are the latest 400', async () => {
    const { ledger, damage } = open()
    const dates = Array.from({ length: 401 }, (_, index) => `day ${1000 + index}`)
    await ledger.sightings.write({ ...seen, dates }, null)
    const [kept] = await ledger.sightings.read(['acme'])
    expect([kept?.dates.length, kept?.dates[0]]).toEqual([400, 'day 1001'])
    damage('sighting', { dates: 'none' })
    await expect(ledger.sightings.read(['acme'])).rejects.toThrow('the sighting of acme is damaged')
  })
})

describe('the picture of a month', () => {
  const picture = {
    month: 'month:2026-11-01',
    ends: [at],
    used: { account: [40] },
    saved: { updates: 1, units: 40, until: at },
  }

  test('is replaced as it was seen', async () => {
    const { ledger, stored, damage } = open()
    expect(await ledger.pictures.read(picture.month)).toBeNull()
    await ledger.pictures.write(picture, null)
    expect(await ledger.pictures.read(picture.month)).toEqual(picture)
    expect(stored('month:2026-11-01').filter(({ pk }) => pk === 'picture')).toMatchObject([
      { expiresAt: (at + days(100)) / 1000 },
    ])
    const next = { ...picture, ends: [at, at + 1], saved: { updates: 2, units: 80, until: at + 5 } }
    await ledger.pictures.write(next, null)
    await ledger.pictures.write(next, { ...picture, ends: [] })
    await ledger.pictures.write(next, { ...picture, saved: { ...picture.saved, until: at - 1 } })
    expect(await ledger.pictures.read(picture.month)).toEqual(picture)
    await ledger.pictures.write(next, picture)
    expect(await ledger.pictures.read(picture.month)).toEqual(next)
    damage('month:2026-11-01', { ends: null })
    await expect(ledger.pictures.read(picture.month)).rejects.toThrow('the picture of month:2026-11-01 is damaged')
  })
})

describe('the tally of a month', () => {
  const month = 'month:2026-11-01'
  const sum = { budget: 'seo', project: 'acme', caller: 'ada', updates: 2, charged: 80, refused: 1 }
  const tally: Tally = { month, until: at, at: at + 1, sums: [sum], open: ['upd_9'] }

  async function kept() {
    const product = open()
    expect(await product.ledger.tallies.write(tally, null)).toBe('written')
    const seen = await product.ledger.tallies.read(month)
    if (!seen) throw new Error('nothing was kept')
    return { ...product, seen }
  }

  test('is kept, and replaced as it was seen', async () => {
    expect(await open().ledger.tallies.read(month)).toBeNull()
    const { ledger, seen, stored } = await kept()
    expect(seen).toEqual({ mark: expect.stringMatching(/./), kind: 'tally', tally })
    expect(stored(month)).toMatchObject([{ pk: 'tally', expiresAt: (at + days(780)) / 1000 }])
    const more = { ...tally, sums: [sum, { ...sum, budget: 'ads' }], open: [] }
    expect(await ledger.tallies.write(more, null)).toBe('moved')
    expect(await ledger.tallies.write(more, { ...seen, mark: 'another' })).toBe('moved')
    expect(await ledger.tallies.read(month)).toEqual(seen)
    expect(await ledger.tallies.write(more, seen)).toBe('written')
    expect(await ledger.tallies.read(month)).toMatchObject({ kind: 'tally', tally: more })
  })

  test('has another mark after every write, also of the same', async () => {
    const { ledger, seen } = await kept()
    await ledger.tallies.write({ ...tally, at: at + 2 }, seen)
    const second = await ledger.tallies.read(month)
    await ledger.tallies.write(tally, second)
    const third = await ledger.tallies.read(month)
    expect(new Set([seen.mark, second?.mark, third?.mark]).size).toBe(3)
  })

  test('that proved wrong is spoilt, but not what has changed since', async () => {
    const { ledger, seen, stored } = await kept()
    await ledger.tallies.write({ ...tally, at: at + 2 }, seen)
    await ledger.tallies.spoil(tally, seen)
    const changed = await ledger.tallies.read(month)
    expect(changed?.kind).toBe('tally')
    if (changed) await ledger.tallies.spoil(tally, changed)
    const spoilt = await ledger.tallies.read(month)
    expect(spoilt).toEqual({ mark: expect.stringMatching(/./), kind: 'spoilt' })
    expect(spoilt?.mark).not.toBe(changed?.mark)
    expect(stored(month)).toMatchObject([{ expiresAt: (at + days(780)) / 1000 }])
  })

  test('is spoilt by the correction of an update that it counts, whatever it is', async () => {
    const { ledger, store } = await kept()
    const request = { kind: 'ranking', project: 'acme', budget: 'seo', caller: 'ada', via: 'http' } as const
    const corrected = begin(
      { ...request, id: 'upd_1', content: { digest: 'd', count: 1 }, createdAt: at },
      'refused',
      { month },
      { at, by: 'ada' },
    )
    expect(await store.transact([spoilTally(corrected)], 'spoil')).toEqual({ applied: true })
    expect(await ledger.tallies.read(month)).toEqual({ mark: 'upd_1#1', kind: 'spoilt' })
  })

  test('is given up where it is too large', async () => {
    const { ledger, seen, stored } = await kept()
    const large = (length: number) => ({ ...tally, open: ['x'.repeat(length)] })
    const bytes = Buffer.byteLength(JSON.stringify(stored(month)[0])) - 'upd_9'.length
    expect(await ledger.tallies.write(large(200_001 - bytes), null)).toBe('moved')
    expect(await ledger.tallies.write(large(200_000 - bytes), seen)).toBe('written')
    const full = await ledger.tallies.read(month)
    expect(await ledger.tallies.write(large(200_001 - bytes), full)).toBe('too-large')
    expect(await ledger.tallies.read(month)).toEqual({ mark: expect.stringMatching(/./), kind: 'too-large' })
  })

  test.each([
    ['settled', 40, { updates: 1, charged: 40, refused: 0 }],
    ['refused', undefined, { updates: 0, charged: 0, refused: 1 }],
    ['released', 0, { updates: 0, charged: 0, refused: 0 }],
  ] as const)('counts what is %s', (state, charged, sums) => {
    const { updates: _updates, charged: _charged, refused: _refused, ...named } = sum
    const units = charged === undefined ? {} : { charged: toUnits(charged) }
    expect(sumOf({ ...named, state, ...units })).toEqual({ ...named, ...sums })
  })

  test.each(['mark', 'until', 'at', 'sums', 'open'])('is damaged without %s', async (name) => {
    const { ledger, damage } = await kept()
    damage(month, { [name]: null })
    await expect(ledger.tallies.read(month)).rejects.toThrow(`the tally of ${month} is damaged`)
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

  test('is what was found last, what differs first', async () => {
    const { ledger, damage } = open()
    expect(await ledger.lastAudits.read()).toBeNull()
    const free = { ...row('free', true), recorded: { ...counter(7), limit: 'unlimited' } as const }
    const rows = [row('a', true), { ...free, recomputed: free.recorded }, row('b', false), row('c', null)]
    await ledger.lastAudits.write({ at, by: 'ada' }, rows)
    expect(await ledger.lastAudits.read()).toEqual({
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
      await ledger.lastAudits.write({ at, by: 'ada' }, mixed)
      expect((await ledger.lastAudits.read())?.rows.map(({ budget }) => budget)).toEqual(order)
    }
    await ledger.lastAudits.write({ at: at + 1, by: 'digest' }, [])
    expect(await ledger.lastAudits.read()).toMatchObject({ at: at + 1, by: 'digest', counters: 0, rows: [] })
    damage('last', { rows: null })
    await expect(ledger.lastAudits.read()).rejects.toThrow('the last audit is damaged')
  })

  test('has 400 rows at most, and counts them all', async () => {
    const { ledger } = open()
    const many = Array.from({ length: 401 }, (_, index) => row(`b${index}`, index !== 400))
    await ledger.lastAudits.write({ at, by: 'ada' }, many)
    const last = await ledger.lastAudits.read()
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

  test('are noted before they are sent, and once more with the answer', async () => {
    const { ledger, stored, damage } = open()
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
    damage('project-change', { id: 'chg_2' })
    await expect(ledger.projectChanges(10)).rejects.toThrow('the project change project-change#chg_1 is damaged')
  })

  test('are listed over the borders of months, the latest first', async () => {
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

  test('of a new ledger are none, and of one that began last month are found', async () => {
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

  test('is added once, open until it is done, and changed as it was seen', async () => {
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

  test('is written with what belongs to it, or not at all', async () => {
    const { ledger } = open()
    const [first, second] = ['one', 'two'].map((id) => announcement(id, at, { kind: 'digest', until: at }))
    if (!first || !second) throw new Error('there are two')
    const also = { do: 'check', key: { pk: 'x', sk: 'x' }, when: [{ is: 'present-item' }] } as const
    expect(await ledger.announcements.add(first, [also])).toBe(false)
    expect(await ledger.announcements.get('one')).toBeNull()
    await ledger.announcements.add(second)
    expect(await ledger.announcements.change({ ...second, tries: 9 }, second, [also])).toBe(false)
    expect(await ledger.announcements.get('two')).toEqual(second)
  })

  test.each([
    ['of another id', { pk: 'announcement#other' }],
    ['without a version', { version: 'new' }],
  ])('is damaged: %s', async (_name, by) => {
    const { ledger, damage } = open()
    await ledger.announcements.add(task)
    damage('announcement', by)
    await expect(ledger.announcements.get('token#1')).rejects.toThrow(/^the task announcement#.* is damaged$/)
  })

  test('that is listed afterwards is found there, the latest first', async () => {
    const { ledger, stored } = open()
    const times = [at, at + days(1)]
    for (const time of times) {
      const occurrence: Occurrence = {
        ...{ id: occurrenceId('nightly', time), version: 1, createdAt: time, plan: 'nightly', time },
        ...{ state: 'running', startedAt: time, round: 0, nextAt: time },
      }
      expect(await ledger.occurrences.add(occurrence)).toBe(true)
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
      (await ledger.occurrences.latest(occurrencesOf('nightly'), limit)).map(({ time }) => time)
    expect(await latest(10)).toEqual(times.toReversed())
    expect(await latest(1)).toEqual([at + days(1)])
    expect(await ledger.slackEvents.get('nightly')).toBeNull()
  })
})
