import { beforeEach, describe, expect, test } from 'vitest'
import type { RunOutcome } from '../../../shared/ledger/book/outcome.ts'
import { AnswerLost } from '../../../shared/ledger/errors.ts'
import { createLedger, type Ledger } from '../../../shared/ledger/ledger.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import type { Update, UpdateRequest } from '../../../shared/ledger/updates/update.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import type { Kind } from '../../../shared/tracking/kinds.ts'
import { createTestClock, type TestClock } from '../../support/clock.ts'
import { decidedFrom, unknown } from '../../support/records.ts'
import { stores } from '../../support/store/stores.ts'

const account = {
  unitsPerMonth: toUnits(1_000),
  usedAtStart: toUnits(0),
  renewal: { day: 1, time: '00:00', zone: 'Europe/Berlin' },
}
const code26 = 'response_code 26 at /response_code'
const withSign = (sign = code26): RunOutcome => ({
  kind: 'unknown',
  from: 'sender',
  by: 'service',
  note: 'no answer',
  sign,
})

describe.each(stores)('the announcement of doubts with one sign: %s', (_name, create) => {
  let store: Store
  let clock: TestClock
  let ledger: Ledger

  beforeEach(async () => {
    store = await create()
    clock = createTestClock()
    ledger = createLedger({ store, clock, account })
  })

  async function hold(id: string, kind: Kind = 'ranking'): Promise<Update> {
    const content = { digest: 'of the request', count: 1 }
    const request: UpdateRequest = {
      id,
      kind,
      project: `project-${id}`,
      budget: 'account',
      caller: 'ada',
      via: 'http',
      content,
      createdAt: clock.now(),
    }
    const { view, seen, update } = await decidedFrom(ledger, request, { units: 40 })
    expect(await ledger.hold(view, seen, update)).toBe('held')
    return update
  }

  /** The updates that the announcements of doubts name, the oldest first. */
  const announced = async (): Promise<readonly string[]> =>
    (await ledger.announcements.open(100)).rows
      .toReversed()
      .flatMap(({ about }) => (about.kind === 'in-doubt' ? about.update : []))

  const inDoubt = async () => (await ledger.view()).book.counters.month.account?.inDoubt

  test('the second doubt of a sign, day and kind is booked without an announcement of its own', async () => {
    for (const id of ['upd_1', 'upd_2']) {
      const { update, changed } = await ledger.settle(await hold(id), withSign())
      expect([changed, update.state, update.doubt?.sign]).toEqual([true, 'in-doubt', code26])
      clock.advance(1)
    }
    expect([await announced(), await inDoubt()]).toEqual([['upd_1'], 80])
  })

  test('doubts of two signs, or of two kinds, are announced one by one', async () => {
    await ledger.settle(await hold('upd_1'), withSign())
    clock.advance(1)
    await ledger.settle(await hold('upd_2'), withSign('response_code 27 at /response_code'))
    clock.advance(1)
    await ledger.settle(await hold('upd_3', 'keyword-difficulty'), withSign())
    expect(await announced()).toEqual(['upd_1', 'upd_2', 'upd_3'])
  })

  test('doubts without a sign are announced one by one', async () => {
    for (const id of ['upd_1', 'upd_2']) {
      await ledger.settle(await hold(id), unknown())
      clock.advance(1)
    }
    expect(await announced()).toEqual(['upd_1', 'upd_2'])
  })

  test('the first doubt of a sign on the next day of the account is announced', async () => {
    clock.set('2026-11-20T22:59:59Z')
    await ledger.settle(await hold('upd_1'), withSign())
    clock.set('2026-11-20T23:00:00Z')
    await ledger.settle(await hold('upd_2'), withSign())
    expect(await announced()).toEqual(['upd_1', 'upd_2'])
  })

  test('an update that is announced by another process between read and write is booked without an announcement', async () => {
    const [first, second] = [await hold('upd_1'), await hold('upd_2')]
    const written: number[] = []
    const overtaken: Store = {
      ...store,
      transact: async (writes, token) => {
        if (written.length === 0) await ledger.settle(first, withSign())
        written.push(writes.length)
        return store.transact(writes, token)
      },
    }
    const { update } = await createLedger({ store: overtaken, clock, account }).settle(second, withSign())
    expect([update.state, written]).toEqual(['in-doubt', [3, 2]])
    expect([await announced(), await inDoubt()]).toEqual([['upd_1'], 80])
  })

  test('several processes that doubt at once announce one update', async () => {
    const updates = await Promise.all(['upd_1', 'upd_2', 'upd_3', 'upd_4'].map((id) => hold(id)))
    const settled = await Promise.all(
      updates.map((update) => createLedger({ store, clock, account }).settle(update, withSign())),
    )
    expect(settled.map(({ update }) => update.state)).toEqual(['in-doubt', 'in-doubt', 'in-doubt', 'in-doubt'])
    expect([(await announced()).length, await inDoubt()]).toEqual([1, 160])
  })

  test.each([
    ['was applied', true],
    ['was not applied', false],
  ])('answer lost: a doubt that %s is announced once', async (_case, isApplied) => {
    let losses = 1
    const deaf: Store = {
      ...store,
      transact: async (writes, token) => {
        if (losses-- <= 0) return store.transact(writes, token)
        if (isApplied) await store.transact(writes, token)
        throw new AnswerLost('nothing was heard')
      },
    }
    const process = createLedger({ store: deaf, clock, account })
    const update = await hold('upd_1')
    const first = process.settle(update, withSign())
    if (!isApplied) await expect(first).rejects.toThrow(AnswerLost)
    const { update: doubted } = isApplied ? await first : await process.settle(update, withSign())
    expect([doubted.state, doubted.version]).toEqual(['in-doubt', 2])
    expect([await announced(), await inDoubt()]).toEqual([['upd_1'], 40])
  })
})
