import { describe, expect, test } from 'vitest'
import type { Guard } from '../../../shared/guard/guard.ts'
import type { Decider } from '../../../shared/guard/people/approvers.ts'
import { only, startGuard, unknown } from '../../support/guard.ts'
import { at, u } from '../../support/records.ts'

const now = at('2026-11-20T10:00:00Z')
const [eve, joe, bob] = ['eve', 'joe', 'bob'].map((caller) => ({ caller })) as [Decider, Decider, Decider]

/** One update of 40 units that awaits approval, since `seo` has 30. */
async function awaiting(key = {}) {
  const product = await startGuard()
  await product.budget('seo', { limits: [{ window: 'month', units: u(30) }] })
  const asked = await product.ask({ budget: 'seo', whenShort: 'ask' }, { key: 'k', ...key })
  return { ...product, update: only(asked), id: only(asked).id }
}

/** One update that is in doubt, with 40 units. */
async function doubted() {
  const product = await startGuard()
  product.service.run = async () => unknown
  const { id } = only(await product.ask())
  return { ...product, id }
}

const unknownId = { kind: 'problem', problem: { slug: 'not-found', detail: 'There is no update upd_0.', members: {} } }

test('a waiting update says its deadline and its missing units', async () => {
  const { update } = await awaiting()
  expect(update).toMatchObject({
    state: 'awaiting-approval',
    estimated: 40,
    approvableUntil: at('2026-11-21T10:00:00Z'),
    short: [{ budget: 'seo', window: 'month', units: 10 }],
    version: 1,
    history: [
      {
        state: 'awaiting-approval',
        at: now,
        by: 'guard',
        note: 'it needs 40 units, and seo has 30 of 30 units left this month; approving it may put seo up to 40 units above its limit of the month in which it starts; now it lacks 10',
      },
    ],
  })
})

test('a waiting update names each budget that lacks units', async () => {
  const { ask, budget } = await startGuard()
  await budget('acme', { limits: [{ window: 'month', units: u(30) }] })
  await budget('seo', { parent: 'acme', limits: [{ window: 'month', units: u(20) }] })
  const [asked] = only(await ask({ budget: 'seo', whenShort: 'ask' })).history
  expect(asked?.note).toBe(
    'it needs 40 units, and seo has 20 of 20 units left this month and acme has 30 of 30 units left this month; approving it may put seo and acme up to 40 units above their limits of the month in which it starts; now it lacks 20',
  )
})

test('an approval of a record of an older version grants what it lacks at the cap', async () => {
  const { guard, update, clock } = await awaiting()
  const { mayExceed: _newer, ...older } = { ...update, id: 'upd_older', approvableUntil: clock.now() + 1 }
  await guard.ledger.record(older, null)
  expect(await guard.decide('approve', older.id, eve, { units: u(55) })).toMatchObject({
    update: { approval: { units: 55, grants: [{ budget: 'seo', window: 'month', units: 25 }] } },
  })
})

describe('approving an update', () => {
  test('an approval records who, when, how much and which grants, and starts nothing itself', async () => {
    const { guard, id, update, sent, clock } = await awaiting()
    clock.advance(1000)
    const later = now + 1000
    const { short, approvableUntil } = update
    expect(await guard.decide('approve', id, eve, { reason: 'go' })).toEqual({
      kind: 'done',
      update: {
        ...update,
        short,
        approvableUntil,
        state: 'requested',
        version: 2,
        queued: true,
        requestedAt: later,
        approval: {
          by: 'eve',
          at: later,
          units: 40,
          covers: {
            month: 'month:2026-11-01',
            day: 'day:2026-11-20',
            limits: [{ budget: 'seo', window: 'month', limit: 30, granted: 0 }],
          },
        },
        history: [...update.history, { state: 'requested', at: later, by: 'eve', note: 'go' }],
      },
    })
    expect(sent).toEqual([])
  })

  test('an approval without a reason is noted as approved, without a reply', async () => {
    const { guard, id } = await awaiting()
    const decided = await guard.decide('approve', id, eve)
    expect(decided).toMatchObject({ update: { history: [{}, { note: 'approved' }] } })
    expect(decided).not.toHaveProperty('update.replyTo')
  })

  test('an approval of an update with enough units grants nothing', async () => {
    const { guard, ask } = await startGuard()
    const { id } = only(await ask({}, { token: { scopes: new Set(['propose']), budgets: '*' } }))
    const decided = await guard.decide('approve', id, eve)
    expect(decided).toMatchObject({ kind: 'done', update: { approval: { by: 'eve', at: now, units: 40 } } })
    expect(decided).not.toHaveProperty('update.approval.grants')
  })

  test('an approval from Slack adds its event to the events that are answered with the outcome', async () => {
    const { guard, id } = await awaiting({ replyTo: 'evt_1' })
    expect(await guard.decide('approve', id, eve, { replyTo: 'evt_2' })).toMatchObject({
      update: { replyTo: ['evt_1', 'evt_2'] },
    })
    const other = await awaiting()
    expect(await other.guard.decide('approve', other.id, eve, { replyTo: 'evt_2' })).toMatchObject({
      update: { replyTo: ['evt_2'] },
    })
  })

  test('a repeated press after the estimate grew is answered once, and ends', async () => {
    const product = await startGuard()
    await product.budget('account', { approvalAbove: u(10) })
    const { id } = only(await product.ask({}, { key: 'k' }))
    const { guard, service, clock } = product
    await guard.decide('approve', id, eve, { replyTo: 'prs_1' })
    service.estimate = async () => ({ kind: 'units', units: u(400), source: 'x' })
    expect(await guard.start(id, clock.now() + 60_000)).toMatchObject({
      state: 'awaiting-approval',
      replyTo: ['prs_1'],
    })
    expect(await guard.decide('approve', id, eve, { replyTo: 'prs_1' })).toMatchObject({
      update: { replyTo: ['prs_1'] },
    })
    expect(await guard.start(id, clock.now() + 60_000)).toMatchObject({ state: 'settled' })
  })

  test.each<[string, Parameters<Guard['decide']>[3], 'done' | 'problem', 'done' | 'problem']>([
    ['the shown price', { shown: u(40) }, 'done', 'problem'],
    ['less than it needs', { shown: u(39) }, 'problem', 'problem'],
    ['an unknown price', { shown: null }, 'done', 'problem'],
    ['any number of units', {}, 'done', 'done'],
    ['a cap between the two prices', { units: u(300), shown: u(40) }, 'done', 'problem'],
    ['a cap below the estimate', { units: u(39) }, 'problem', 'problem'],
  ])('an approval of %s, at first and after the update returned for approval', async (_name, how, first, again) => {
    const { guard, ask, budget, service, clock, sent } = await startGuard()
    await budget('account', { approvalAbove: u(10) })
    const { id } = only(await ask({}, { key: 'k' }))
    expect((await guard.decide('approve', id, eve, how)).kind).toBe(first)
    if (first === 'problem') await guard.decide('approve', id, eve)
    service.estimate = async () => ({ kind: 'units', units: u(400), source: 'x' })
    expect(await guard.start(id, clock.now() + 60_000)).toMatchObject({ state: 'awaiting-approval', estimated: 400 })
    expect((await guard.decide('approve', id, eve, how)).kind).toBe(again)
    expect(sent).toEqual([])
  })

  /** Updates above 10 units need approval: an update of 40 waits, and the test sets the later estimate. */
  async function strict() {
    const product = await startGuard()
    const { guard, ask, budget, service, clock, other } = product
    await budget('account', { approvalAbove: u(10) })
    const { id } = only(await ask({}, { key: 'k' }))
    return {
      ...product,
      id,
      costs: (units: number) => {
        service.estimate = async () => ({ kind: 'units', units: u(units), source: 'x' })
      },
      start: () => guard.start(id, clock.now() + 60_000),
      announced: async () => {
        const { rows } = await other.announcements.open(10)
        return rows.flatMap(({ about }) => (about.kind === 'approval-wanted' ? [about.update] : []))
      },
    }
  }

  test('an update above its cap waits again with a new deadline and a new announcement, but no hold', async () => {
    const { guard, id, costs, start, announced, clock, counts, sent } = await strict()
    await guard.decide('approve', id, eve, { units: u(120) })
    clock.advance(1800_000)
    costs(160)
    const again = await start()
    expect(again).toMatchObject({
      state: 'awaiting-approval',
      estimated: 160,
      approvedBefore: 120,
      version: 3,
      approvableUntil: clock.now() + 24 * 3600_000,
      history: [{}, { state: 'requested' }, { by: 'guard', note: 'approved up to 120, it now needs 160' }],
    })
    expect(again).not.toHaveProperty('approval')
    expect(await announced()).toEqual([id, id])
    expect([sent, await counts()]).toEqual([[], { available: 1000, held: 0, inDoubt: 0, spent: 0 }])
    const approved = await guard.decide('approve', id, joe)
    expect(approved).toMatchObject({ update: { approval: { by: 'joe', units: 160 } } })
    expect(approved).not.toHaveProperty('update.approvedBefore')
    expect(await start()).toMatchObject({ state: 'settled', charged: 160 })
  })

  test('an update needs a new approval each time that its price exceeds the cap', async () => {
    const { guard, id, costs, start, sent } = await strict()
    for (const [cap, price] of [
      [40, 41],
      [50, 60],
      [60, 61],
    ] as const) {
      expect(await guard.decide('approve', id, eve, { units: u(cap) })).toMatchObject({ kind: 'done' })
      costs(price)
      expect(await start()).toMatchObject({ state: 'awaiting-approval', estimated: price })
      // Neither the stream nor the sweep starts the update.
      expect(await start()).toMatchObject({ state: 'awaiting-approval' })
      await (await guard.jobs()).sweep(Number.POSITIVE_INFINITY)
      expect(sent).toEqual([])
    }
  })

  test('the sweep starts an approved update up to its cap if the process died', async () => {
    const { guard, id, costs, clock, sweep, other, counts } = await strict()
    await guard.decide('approve', id, eve, { units: u(120) })
    clock.advance(120_000)
    costs(121)
    await sweep()
    expect(await other.update(id)).toMatchObject({ state: 'awaiting-approval', approvedBefore: 120 })
    await guard.decide('approve', id, eve, { units: u(130) })
    clock.advance(120_000)
    await sweep()
    expect(await counts()).toMatchObject({ held: 0, spent: 121 })
  })

  test('of two approvals with different caps the first wins, and the second reads its approver and cap', async () => {
    const { guard, elsewhere, before, id, other } = await strict()
    before.push(async () => elsewhere.decide('approve', id, joe, { units: u(50) }))
    expect(await guard.decide('approve', id, eve, { units: u(500) })).toMatchObject({
      problem: {
        slug: 'wrong-state',
        detail:
          'The ranking update of shop cannot be approved: it has been requested since 20 Nov 2026 10:00 UTC (joe); joe approved it up to 50 units.',
      },
    })
    expect(await other.update(id)).toMatchObject({ approval: { by: 'joe', units: 50 } })
  })

  test('a cap overrides no other rule: freezes, limits of one update, the caller’s limits, four eyes', async () => {
    const { guard, id, costs, start, budget, ask, clock, before } = await strict()
    expect(await guard.decide('approve', id, bob, { units: u(999) })).toMatchObject({
      problem: { slug: 'forbidden' },
    })
    const others = ['a', 'b'].map(async (key) => only(await ask({ projects: [key], maxUnits: u(50) }, { key })).id)
    const [strictest, allowed] = await Promise.all(others)
    for (const each of [id, strictest, allowed]) await guard.decide('approve', each ?? '', eve, { units: u(999) })
    costs(60)
    expect(await guard.start(allowed ?? '', clock.now() + 60_000)).toMatchObject({
      problem: { slug: 'over-max-units' },
    })
    await budget('account', { approvalAbove: u(10), perUpdate: u(45) })
    costs(46)
    expect(await guard.start(strictest ?? '', clock.now() + 60_000)).toMatchObject({
      problem: { slug: 'over-update-limit' },
    })
    before.push(() => budget('account', { frozen: { by: 'ada', at: now, reason: 'stop' } }))
    costs(40)
    expect(await start()).toMatchObject({ state: 'refused', problem: { slug: 'budget-frozen' } })
  })

  test('an update that returns for approval again and again can be approved for two days in all', async () => {
    const { guard, ask, budget, service, clock } = await startGuard()
    await budget('account', { approvalAbove: u(10) })
    const { id } = only(await ask({}, { key: 'k' }))
    const until: string[] = []
    for (const units of [80, 160, 320]) {
      clock.advance(20 * 3600_000)
      service.estimate = async () => ({ kind: 'units', units: u(units), source: 'x' })
      if ((await guard.decide('approve', id, eve)).kind !== 'done') break
      const begun = await guard.start(id, clock.now() + 60_000)
      until.push(new Date(begun?.approvableUntil ?? 0).toISOString())
    }
    expect(until).toEqual(['2026-11-22T06:00:00.000Z', '2026-11-22T10:00:00.000Z'])
    expect(await guard.decide('approve', id, eve)).toMatchObject({
      kind: 'problem',
      problem: { slug: 'wrong-state' },
    })
  })

  test('an approved update starts once, with the grant and the hold in one transaction', async () => {
    const { guard, id, counts, clock } = await awaiting()
    await guard.decide('approve', id, eve)
    const begun = await guard.start(id, clock.now() + 60_000)
    expect(begun).toMatchObject({ state: 'settled', charged: 40, hold: { grants: [{ budget: 'seo', units: 10 }] } })
    expect(await counts('seo')).toEqual({ available: 0, held: 0, inDoubt: 0, spent: 40 })
  })

  test('an approval of a forbidden or unknown update is refused and writes nothing', async () => {
    const { guard, id, other } = await awaiting()
    expect(await guard.decide('approve', 'upd_0', eve)).toEqual(unknownId)
    expect(await guard.decide('approve', id, bob)).toMatchObject({
      kind: 'problem',
      problem: { slug: 'forbidden' },
    })
    expect(await other.update(id)).toMatchObject({ version: 1 })
  })
})

describe('rejecting, cancelling and expiring', () => {
  type Guarded = Awaited<ReturnType<typeof awaiting>>

  test.each<[string, object, (of: Guarded) => Promise<unknown>]>([
    ['rejected', { by: 'eve', note: 'dear' }, ({ guard, id }) => guard.decide('reject', id, eve, { reason: 'dear' })],
    ['rejected', { by: 'eve' }, ({ guard, id }) => guard.decide('reject', id, eve)],
    ['cancelled', { by: 'bob', note: 'dear' }, ({ guard, id }) => guard.decide('cancel', id, bob, { reason: 'dear' })],
    ['cancelled', { by: 'bob' }, ({ guard, id }) => guard.decide('cancel', id, bob)],
    ['expired', { by: 'sweep', note: 'late' }, ({ guard, update }) => guard.expire(update, 'late')],
  ])('an update is %s finally, with who and why', async (state, line, decide) => {
    const product = await awaiting()
    const { update, other, guard, id } = product
    const update2 = { ...update, state, version: 2, finishedAt: now }
    const ended = { ...update2, history: [...update.history, { state, at: now, ...line }] }
    expect(await decide(product)).toEqual({ kind: 'done', update: ended })
    expect(await other.update(id)).toEqual(ended)
    expect((await other.update(id))?.history.at(-1)).toStrictEqual({ state, at: now, ...line })
    for (const again of [
      guard.decide('reject', id, eve),
      guard.decide('cancel', id, bob),
      guard.expire({ id, version: 2 }, ''),
      guard.decide('approve', id, eve),
    ])
      expect(await again).toMatchObject({ kind: 'problem', problem: { slug: 'wrong-state' } })
  })

  test('a queued update can be cancelled and expire, but not be rejected', async () => {
    const { guard, ask } = await startGuard()
    const queue = async (key: string) => only(await ask({ projects: [key] }, { key }, { respondAsync: true })).id
    expect(await guard.decide('cancel', await queue('a'), bob)).toMatchObject({ update: { state: 'cancelled' } })
    expect(await guard.expire({ id: await queue('b'), version: 1 }, 'late')).toMatchObject({
      update: { state: 'expired' },
    })
    expect(await guard.decide('reject', await queue('c'), eve)).toMatchObject({
      problem: { slug: 'wrong-state' },
    })
  })

  test('a running update or one in doubt does not expire', async () => {
    const { guard, id } = await doubted()
    expect(await guard.expire({ id, version: 2 }, 'late')).toMatchObject({
      kind: 'problem',
      problem: {
        detail: `The ranking update of shop cannot be expired: it has been in-doubt since 20 Nov 2026 10:00 UTC (service).`,
      },
    })
  })

  test('a decision about an unknown update is not found', async () => {
    const { guard } = await startGuard()
    expect(await guard.decide('reject', 'upd_0', eve)).toEqual(unknownId)
    expect(await guard.decide('cancel', 'upd_0', bob)).toEqual(unknownId)
    expect(await guard.expire({ id: 'upd_0', version: 1 }, '')).toEqual(unknownId)
    expect(await guard.decide('ran', 'upd_0', eve, { reason: '' })).toEqual(unknownId)
  })
})

describe('two decisions at once', () => {
  test('a decision gives up after the record has changed eight times', async () => {
    const { guard, before, id, other } = await awaiting()
    let rounds = 0
    before.push(async () => {
      rounds += 1
      const seen = await other.update(id)
      if (seen) await other.record({ ...seen, version: seen.version + 1 }, seen)
      return false
    })
    await expect(guard.decide('approve', id, eve)).rejects.toThrow(`the record ${id} keeps changing`)
    expect(rounds).toBe(8)
  })
})

describe('the resolution of a doubt', () => {
  test.each([
    [undefined, 40, undefined],
    [25, 25, undefined],
    [55, 55, 15],
  ])('a person says that an update ran and cost %s: it is charged %d', async (units, charged, overrun) => {
    const { guard, id, counts } = await doubted()
    const said = { reason: 'seen', ...(units !== undefined && { units: u(units) }) } as const
    const decided = await guard.decide('ran', id, eve, said)
    expect(decided).toMatchObject({ kind: 'done', update: { state: 'settled', charged, closedBy: 'person' } })
    if (decided.kind === 'done') {
      expect(decided.update.overrun).toBe(overrun)
      expect(decided.update.history.at(-1)).toMatchObject({ by: 'eve', note: 'seen' })
    }
    expect(await counts()).toEqual({ available: 1000 - charged, held: 0, inDoubt: 0, spent: charged })
  })

  test('a person may say that an update did not run when nothing is in flight any more, and its units return', async () => {
    const { guard, id, clock, counts } = await doubted()
    const said = { reason: 'not seen' }
    clock.advance(299_999)
    expect(await guard.decide('did-not-run', id, eve, said)).toMatchObject({
      kind: 'problem',
      problem: { slug: 'wrong-state', members: { retryAt: '2026-11-20T10:05:00.000Z' } },
    })
    expect(await counts()).toEqual({ available: 960, held: 0, inDoubt: 40, spent: 0 })
    clock.advance(1)
    expect(await guard.decide('did-not-run', id, eve, said)).toMatchObject({
      kind: 'done',
      update: { state: 'released', charged: 0, closedBy: 'person' },
    })
    expect(await counts()).toEqual({ available: 1000, held: 0, inDoubt: 0, spent: 0 })
  })

  test('the second of two simultaneous resolutions is refused with the first one’s outcome', async () => {
    const { guard, elsewhere, before, id, counts } = await doubted()
    before.push(async () => elsewhere.decide('ran', id, joe, { units: u(20), reason: 'first' }))
    expect(await guard.decide('ran', id, eve, { units: u(30), reason: 'second' })).toEqual({
      kind: 'problem',
      problem: {
        slug: 'wrong-state',
        detail: `The ranking update of shop cannot be resolved: it has been settled since 20 Nov 2026 10:00 UTC (joe).`,
        members: { update: id, state: 'settled' },
      },
    })
    expect(await counts()).toEqual({ available: 980, held: 0, inDoubt: 0, spent: 20 })
  })
})
