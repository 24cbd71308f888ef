import { describe, expect, test } from 'vitest'
import { passTime } from '../../shared/ledger/store/running-time.ts'
import { createSqliteFile, openSqlite } from '../../shared/ledger/store/sqlite-file.ts'
import { createSqliteStore } from '../../shared/ledger/store/sqlite-store.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { days, minutes } from '../support/clock.ts'

const item = (number: number, more: object = {}) => ({ pk: `item#${number}`, sk: 'item', ...more })

describe('expiry of items and tokens', () => {
  /** A store in a file, with functions that set its clock and let time pass. */
  async function openTimed() {
    let now = Date.parse('2026-11-20T10:00:00Z')
    const clock = { ...systemClock, now: () => now }
    const file = createSqliteFile({ db: openSqlite(':memory:'), clock, ids: systemIds })
    const store = createSqliteStore(file, { clock })
    let token = 0
    const pass = () => file.write(() => passTime(file.db, now))
    await pass()
    return {
      store,
      set: (ms: number) => {
        now += ms
        return pass()
      },
      /** Passes time as a running process, which checks each minute. */
      run: async (ms: number) => {
        for (const end = now + ms; now < end; now += minutes(1)) await pass()
        await pass()
      },
      put: (number: number, more: object = {}) =>
        store.transact([{ kind: 'put', item: item(number, more), when: [] }], `token-${token++}`),
      inDays: (count: number) => (now + days(count)) / 1_000,
      left: () =>
        (file.db.prepare('SELECT pk FROM items ORDER BY pk').raw().all() as [string][]).map(([pk]) => pk.slice(5)),
    }
  }

  test('items expire after a process has run for their time, and not before', async () => {
    const { put, run, inDays, left } = await openTimed()
    await put(1, { expiresAt: inDays(1) })
    await put(2, { expiresAt: inDays(2) })
    await put(3)
    await run(days(1) - minutes(1))
    expect(left()).toEqual(['1', '2', '3'])
    await run(minutes(3))
    expect(left()).toEqual(['2', '3'])
    await run(days(1))
    expect(left()).toEqual(['3'])
  })

  test.each([
    ['forward by a week and back', [days(7), -days(7)]],
    ['back by a week and forward', [-days(7), days(7)]],
    ['forward by a week, as after a week without power', [days(7)]],
    ['forward by a day, again and again', Array.from({ length: 7 }, () => days(1))],
    ['forward by a week, back by two, and forward', [days(7), -days(14), days(7)]],
  ])(
    'items do not expire because the clock is set %s; they expire after their time has passed',
    async (_name, jumps) => {
      const { put, run, set, inDays, left } = await openTimed()
      await put(1, { expiresAt: inDays(1) })
      await run(minutes(30))
      for (const jump of jumps) {
        await set(jump)
        await run(minutes(10))
      }
      expect(left()).toEqual(['1'])
      await run(days(1) - minutes(40 + 10 * jumps.length))
      expect(left()).toEqual(['1'])
      await run(minutes(50 + 10 * jumps.length))
      expect(left()).toEqual([])
    },
  )

  test('items that are written while the clock is wrong keep their time', async () => {
    const { put, run, set, inDays, left } = await openTimed()
    const expiresAt = inDays(1)
    await put(1, { expiresAt })
    await put(2, { expiresAt })
    await put(3, { expiresAt })
    await set(days(7))
    await put(1, { expiresAt, state: 'other' })
    await put(2)
    await put(4, { expiresAt: inDays(1) })
    await run(minutes(10))
    expect(left()).toEqual(['1', '2', '3', '4'])
    await set(-days(7))
    await run(days(1) + minutes(2))
    expect(left()).toEqual(['2'])
  })

  test('a token is valid for at least ten minutes while the clock is set forward by a week and back', async () => {
    const { store, run, set } = await openTimed()
    const add = () =>
      store.transact([{ kind: 'update', key: item(1), set: [], add: [[['n'], 1]], when: [] }], 'the-token')
    await store.transact([{ kind: 'put', item: item(1, { n: 0 }), when: [] }], 'first')
    await add()
    await set(days(7))
    await run(minutes(5))
    await set(-days(7))
    await run(minutes(5))
    await add()
    expect(await store.get([item(1)])).toMatchObject([{ n: 1 }])
    await run(minutes(70))
    await add()
    expect(await store.get([item(1)])).toMatchObject([{ n: 2 }])
  })
})
