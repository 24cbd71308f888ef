import { describe, expect, test } from 'vitest'
import { showAudit } from '../../shared/api/to-json.ts'
import {
  type Occurrence,
  occurrenceId,
  occurrences,
  occurrencesOf,
} from '../../shared/guard/plans/stored-occurrence.ts'
import { itemSize } from '../../shared/ledger/store/item-size.ts'
import type { Value } from '../../shared/ledger/store/store.ts'
import { announcement } from '../../shared/ledger/updates/tasks.ts'
import type { AuditedCounter } from '../../shared/ledger/views/audit.ts'
import type { ProjectChange } from '../../shared/ledger/views/project-changes.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { slackEvents } from '../../shared/slack/slack-events.ts'
import { days } from '../support/clock.ts'
import { sequencesOf } from '../support/inputs/orders.ts'
import { at, openInMemory } from '../support/store/open-small.ts'

describe('the last audit', () => {
  const counter = (spent: number) => ({
    limit: toUnits(100),
    granted: 1,
    available: 101 - spent - 5,
    held: 2,
    inDoubt: 3,
    spent,
  })
  const row = (budget: string, ok: boolean | null) => ({
    window: 'month:2026-11-01',
    budget,
    ok,
    recorded: counter(7),
    recomputed: ok ? counter(7) : counter(8),
  })

  test('the last audit is kept with its differing counters first', async () => {
    const { ledger, damage } = openInMemory()
    expect(await ledger.lastAudit()).toBeNull()
    const free = { ...row('free', true), recorded: { ...counter(7), limit: 'unlimited' } as const }
    const rows = [row('a', true), { ...free, recomputed: free.recorded }, row('b', false), row('c', null)]
    await ledger.keepAudit({ at, by: 'ada' }, rows)
    expect(await ledger.lastAudit()).toEqual({
      at,
      by: 'ada',
      counters: 4,
      wrong: 1,
      moved: 1,
      rows: [rows[2], rows[3], rows[0], rows[1]],
    })
    const orders: [AuditedCounter[], string[]][] = [
      [
        [row('a', true), row('c', null)],
        ['c', 'a'],
      ],
      [
        [row('c', null), row('a', true), row('b', false)],
        ['b', 'c', 'a'],
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
    const { ledger } = openInMemory()
    const many = Array.from({ length: 401 }, (_, index) => row(`b${index}`, index !== 400))
    await ledger.keepAudit({ at, by: 'ada' }, many)
    const last = await ledger.lastAudit()
    expect([last?.counters, last?.wrong, last?.rows.length, last?.rows[0]?.budget]).toEqual([401, 1, 400, 'b400'])
  })

  test('counters that moved during an audit do not displace a wrong one', async () => {
    const { ledger } = openInMemory()
    const many = Array.from({ length: 401 }, (_, index) => row(`b${index}`, index === 400 ? false : null))
    await ledger.keepAudit({ at, by: 'ada' }, many)
    const { wrong, moved, rows = [] } = (await ledger.lastAudit()) ?? {}
    expect([wrong, moved, rows.length, rows[0]?.budget]).toEqual([1, 400, 400, 'b400'])
  })

  test('the figures of an audit are ok, undecided if one moved, and not ok if one is wrong, in any order', () => {
    const all = sequencesOf([true, null, false], 3)
    expect(all).toHaveLength(40)
    for (const each of all) {
      const { ok } = showAudit(each.map((found, index) => row(`b${index}`, found)))
      expect([each, ok]).toEqual([each, each.includes(false) ? false : each.includes(null) ? null : true])
    }
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
    const { ledger, stored } = openInMemory()
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
    const { ledger, clock } = openInMemory()
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
    const { ledger, clock } = openInMemory()
    expect(await ledger.projectChanges(10)).toEqual({ rows: [] })
    const old = openInMemory()
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
    const { ledger, stored } = openInMemory()
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
    const { ledger } = openInMemory()
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
    const { ledger, stored } = openInMemory()
    const times = [at, at + days(1)]
    for (const time of times) {
      const occurrence: Occurrence = {
        id: occurrenceId('nightly', time),
        version: 1,
        createdAt: time,
        plan: 'nightly',
        time,
        state: 'running',
        startedAt: time,
        round: 0,
        nextAt: time,
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
