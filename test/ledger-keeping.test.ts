import { describe, expect, test } from 'vitest'
import { announcement } from '../shared/ledger/announcement.ts'
import { createLedger } from '../shared/ledger/ledger.ts'
import { createMemoryStore } from '../shared/ledger/memory-store.ts'
import { type Occurrence, occurrenceId, occurrencesOf } from '../shared/ledger/occurrence.ts'
import type { ProjectChange } from '../shared/ledger/project-change.ts'
import type { Item } from '../shared/ledger/store.ts'
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
  const ledger = createLedger({ store: createMemoryStore(items), clock, account })
  /** The items of one sort of key, as they are stored. */
  const stored = (sk: string) => [...items.values()].filter((item) => item.sk === sk)
  /** What is stored, changed by hand. */
  const damage = (sk: string, by: object) => {
    for (const [key, item] of items) if (item.sk === sk) items.set(key, { ...item, ...by })
  }
  return { ledger, clock, stored, damage }
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
