import { describe, expect, test } from 'vitest'
import { createGuard } from '../../../shared/guard/guard.ts'
import { createApprovals } from '../../../shared/guard/inbox/approvals.ts'
import { occurrences } from '../../../shared/guard/plans/stored-occurrence.ts'
import { createAlerts } from '../../../shared/guard/sweep/alerts.ts'
import { createSweep } from '../../../shared/guard/sweep/sweep.ts'
import { LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import { days, hours, minutes } from '../../support/clock.ts'
import { makes, only, ran, startGuard, unknown } from '../../support/guard.ts'
import { at, u } from '../../support/records.ts'

const nothing = { doubted: [], proven: [], settledByTime: [], begun: [], expired: [], failed: [] }
const refused = { kind: 'did-not-run', reason: 'status 404', status: 404, answer: null } as const
type Started = Awaited<ReturnType<typeof startGuard>>

const dates = (product: Started, ...known: readonly string[]) => {
  product.service.dates = async () => ({ kind: 'dates', dates: known })
}

async function doubted(before: readonly string[] = ['2026-11-13']) {
  const product = await startGuard()
  dates(product, ...before)
  product.service.run = async () => unknown
  const { id } = only(await product.ask())
  product.lines.length = 0
  return { ...product, id }
}

/** A sweep that acts between its reading of the open updates and its next write. */
async function sweepWith({ parts, guard: { ledger }, clock }: Started, state: string, between: () => Promise<void>) {
  let isLate = false
  const openRound: typeof ledger.openRound = (as, hasTime, handle, onDamage) => {
    const late: typeof handle = async (...row) => {
      if (as === state && !isLate) await between()
      isLate ||= as === state
      return handle(...row)
    }
    return ledger.openRound(as, hasTime, late, onDamage)
  }
  const { sweep } = await createGuard({ ...parts, ledger: { ...ledger, openRound } }).jobs()
  return sweep(clock.now() + minutes(10))
}

/** The process with the hold dies before it records the outcome. */
async function orphaned() {
  const product = await startGuard()
  product.before.push(async (writes) => {
    if (makes('settled')(writes)) throw new Error('dead')
    return false
  })
  const { id } = only(await product.ask())
  product.before.length = 0
  product.lines.length = 0
  return { ...product, id }
}

test('a sweep of an empty ledger does and logs nothing', async () => {
  const { sweep, lines } = await startGuard()
  expect(await sweep()).toEqual(nothing)
  expect(lines).toEqual([])
})

describe('the sweep of a running update', () => {
  test('settle: process dies: a sweep puts the running update in doubt after its lease, keeps its units counted, and logs the doubt', async () => {
    const { sweep, clock, id, other, lines, counts } = await orphaned()
    clock.advance(16_999)
    expect(await sweep()).toEqual(nothing)
    clock.advance(1)
    expect(await sweep()).toEqual({ ...nothing, doubted: [id] })
    expect(lines).toMatchObject([{ event: 'in-doubt' }, { level: 'info', event: 'swept', ...nothing, doubted: [id] }])
    const update = await other.update(id)
    expect(update).toMatchObject({ state: 'in-doubt', doubt: { by: 'sweep', at: at('2026-11-20T10:00:17Z') } })
    expect(update?.history.at(-1)).toMatchObject({
      by: 'sweep',
      note: 'its sender has not reported; it may have run',
    })
    expect(await counts()).toEqual({ available: 960, held: 0, inDoubt: 40, spent: 0 })
    expect(await sweep()).toEqual(nothing)
  })

  test('a sweep does not count an update as doubted if it was closed at the same moment', async () => {
    const { sweep, clock, id, other, before } = await orphaned()
    clock.advance(20_000)
    before.push(async () => {
      const update = await other.update(id)
      const said = { from: 'sender', by: 'service', note: 'ran' } as const
      if (update) await other.settle(update, { kind: 'ran', units: u(40), ...said })
      return true
    })
    expect(await sweep()).toEqual(nothing)
  })
})

describe('the sweep of an update in doubt', () => {
  test('a sweep settles a doubt at the hold if a new date appears and nothing is in flight', async () => {
    const product = await doubted()
    const { sweep, clock, id, other } = product
    dates(product, '2026-11-13', '2026-11-20')
    clock.advance(299_999)
    expect(await sweep()).toEqual(nothing)
    clock.advance(1)
    expect(await sweep()).toEqual({ ...nothing, proven: [id] })
    const update = await other.update(id)
    expect(update).toMatchObject({ state: 'settled', charged: 40, closedBy: 'evidence' })
    expect(update?.history.at(-1)).toMatchObject({
      by: 'sweep',
      note: 'the service has data of 2026-11-20 that it did not have before',
    })
  })

  test.each([
    ['the day before', '2026-11-19', true],
    ['the day after', '2026-11-21', true],
    ['two days before', '2026-11-18', false],
    ['two days after', '2026-11-22', false],
    ['there before', '2026-11-13', false],
  ])('a date of %s proves a run or not', async (_name, date, isProof) => {
    const product = await doubted()
    product.clock.advance(days(2))
    dates(product, '2026-11-13', date)
    expect((await product.sweep()).proven).toEqual(isProof ? [product.id] : [])
  })

  test('sweep: malformed: dates that existed before, or could not be read, prove nothing', async () => {
    const there = await doubted(['2026-11-19', '2026-11-21'])
    there.clock.advance(hours(1))
    expect(await there.sweep()).toEqual(nothing)
    there.service.dates = async () => ({ kind: 'unreadable', reason: 'HTML' })
    expect(await there.sweep()).toEqual(nothing)
    const never = await startGuard()
    never.service.dates = async () => ({ kind: 'unreadable', reason: 'HTML' })
    never.service.run = async () => unknown
    await never.ask()
    expect(never.lines).toContainEqual({ level: 'info', event: 'no-dates', project: 'shop', reason: 'HTML' })
    dates(never, '2026-11-20')
    never.clock.advance(hours(1))
    expect(await never.sweep()).toEqual(nothing)
  })

  test('a sweep reads no dates for keyword difficulty, which leaves no dates', async () => {
    const product = await startGuard()
    product.service.dates = () => Promise.reject(new Error('the service must not be asked'))
    product.service.run = async () => unknown
    await product.ask({ kind: 'keyword-difficulty' })
    product.clock.advance(hours(1))
    expect(await product.sweep()).toEqual(nothing)
  })

  test('a sweep settles a doubt at the hold exactly after seven days without evidence', async () => {
    const { sweep, clock, id, other, counts } = await doubted()
    clock.advance(days(7) - 1)
    expect(await sweep()).toEqual(nothing)
    clock.advance(1)
    expect(await sweep()).toEqual({ ...nothing, settledByTime: [id] })
    const update = await other.update(id)
    expect(update).toMatchObject({ state: 'settled', charged: 40, closedBy: 'time' })
    expect(update?.history.at(-1)).toMatchObject({
      by: 'sweep',
      note: 'no evidence within seven days; charged as held, because it may have run',
    })
    expect(await counts()).toEqual({ available: 960, held: 0, inDoubt: 0, spent: 40 })
  })

  test('a sweep counts the seven days from the doubt, not from the hold', async () => {
    const { sweep, clock, id } = await orphaned()
    clock.advance(days(3))
    expect(await sweep()).toEqual({ ...nothing, doubted: [id] })
    clock.advance(days(7) - 1)
    expect(await sweep()).toEqual(nothing)
    clock.advance(1)
    expect(await sweep()).toEqual({ ...nothing, settledByTime: [id] })
  })

  test.each([
    ['with evidence', hours(1)],
    ['by time', days(7)],
  ])('a sweep does not count a doubt that a person closes at the same moment, %s', async (_name, passed) => {
    const product = await doubted()
    const { sweep, clock, id, before, elsewhere } = product
    dates(product, ...(passed === hours(1) ? ['2026-11-20'] : []))
    clock.advance(passed)
    before.push(async () => elsewhere.decide('ran', id, { caller: 'eve' }, { reason: 'seen' }))
    expect(await sweep()).toEqual(nothing)
  })
})

describe('a date that another update of the work may have made', () => {
  /** The project may be updated again some days after the doubt. */
  async function followed(how: { after: number; run?: Started['service']['run']; known?: readonly string[] }) {
    const product = await doubted()
    product.clock.advance(how.after)
    product.service.run = how.run ?? (async () => ran)
    if (how.known) dates(product, ...how.known)
    const next = only(await product.ask())
    return { ...product, next }
  }
  const proves = async (product: Started & { id: string }, ...known: readonly string[]) => {
    dates(product, '2026-11-13', ...known)
    product.clock.advance(hours(1))
    const { proven, failed } = await product.sweep()
    expect(failed).toEqual([])
    return proven.includes(product.id)
  }

  test('a date proves a run only if no other update can have made it', async () => {
    expect(await proves(await followed({ after: days(1) }), '2026-11-20')).toBe(false)
    expect(await proves(await followed({ after: days(1) }), '2026-11-21')).toBe(false)
    expect(await proves(await followed({ after: days(1) }), '2026-11-19')).toBe(true)
    expect(await proves(await followed({ after: days(1) }), '2026-11-21', '2026-11-19')).toBe(true)
    expect(await proves(await followed({ after: days(3) }), '2026-11-21')).toBe(true)
  })

  test('an update that its sender reports as not run does not compete for a date', async () => {
    expect(await proves(await followed({ after: days(1), run: async () => refused }), '2026-11-20')).toBe(true)
  })

  test('a date from before the other update is not shared', async () => {
    const known = ['2026-11-13', '2026-11-20']
    expect(await proves(await followed({ after: days(1), known }), '2026-11-20')).toBe(true)
  })

  test('an update that only a person reports as not run competes for a date', async () => {
    const product = await followed({ after: days(1), run: async () => unknown })
    product.clock.advance(hours(1))
    await product.guard.decide('did-not-run', product.next.id, { caller: 'eve' }, { reason: 'guess' })
    expect(await proves(product, '2026-11-20')).toBe(false)
  })

  test('an earlier update competes for a date, too', async () => {
    const product = await startGuard()
    dates(product, '2026-11-13')
    await product.ask()
    product.clock.advance(days(1))
    product.service.run = async () => unknown
    const { id } = only(await product.ask())
    expect(await proves({ ...product, id }, '2026-11-21')).toBe(false)
    expect(await proves({ ...product, id }, '2026-11-22')).toBe(true)
  })

  test('an update under another name that the project had at the hold competes for a date', async () => {
    const product = await startGuard()
    const { ask, budget, clock, service } = product
    await budget('seo', { projects: [{ name: 'shop', id: '7' }] })
    dates(product, '2026-11-13')
    service.run = async () => unknown
    const { id } = only(await ask())
    await budget('seo', { projects: [] })
    clock.advance(days(1))
    service.run = async () => ran
    expect(only(await ask({ projects: ['7'] }))).toMatchObject({ state: 'settled' })
    expect(await proves({ ...product, id }, '2026-11-20')).toBe(false)
    expect(await proves({ ...product, id }, '2026-11-20', '2026-11-19')).toBe(true)
  })

  test.each([
    [49, days(1), true],
    [50, days(1), false],
    [50, days(4), true],
  ])('a search with %d competitors ends at fifty, unless they were long before: %d', async (others, after, isProof) => {
    const product = await startGuard()
    const { clock, ask, service } = product
    dates(product, '2026-11-13')
    clock.set('2026-11-17T10:00:00Z')
    const fail = async () => {
      service.run = async () => refused
      for (let n = 0; n < others; n++) await ask()
    }
    if (after === days(4)) await fail()
    clock.set('2026-11-21T10:00:00Z')
    service.run = async () => unknown
    const { id } = only(await ask())
    clock.set('2026-11-22T10:00:00Z')
    if (after === days(1)) await fail()
    expect(await proves({ ...product, id }, '2026-11-20')).toBe(isProof)
  })

  test('an update without a record does not compete for a date', async () => {
    const product = await startGuard()
    dates(product, '2026-11-13')
    const { id: gone } = only(await product.ask())
    product.clock.advance(days(1))
    product.service.run = async () => unknown
    const { id } = only(await product.ask())
    product.items.delete(JSON.stringify([`update#${gone}`, 'update']))
    expect(await product.other.update(gone)).toBeNull()
    expect(await proves({ ...product, id }, '2026-11-21')).toBe(true)
  })

  test('an update with unknown earlier dates competes for a date', async () => {
    const product = await doubted()
    product.clock.advance(days(1))
    product.service.run = async () => ran
    product.service.dates = async () => ({ kind: 'unreadable', reason: 'HTML' })
    await product.ask()
    expect(await proves(product, '2026-11-20')).toBe(false)
    expect(await proves(product, '2026-11-19')).toBe(true)
  })
})

describe('the sweep of an update that a person released', () => {
  async function released() {
    const product = await doubted()
    product.clock.advance(minutes(5))
    await product.guard.decide('did-not-run', product.id, { caller: 'eve' }, { reason: 'not seen' })
    product.lines.length = 0
    return product
  }

  test('a sweep charges a released update once if evidence appears', async () => {
    const product = await released()
    const { sweep, id, other, counts } = product
    expect(await sweep()).toEqual(nothing)
    dates(product, '2026-11-13', '2026-11-20')
    expect(await sweep()).toEqual({ ...nothing, proven: [id] })
    const update = await other.update(id)
    expect(update).toMatchObject({ state: 'released', charged: 40, corrected: true })
    expect(update?.history.at(-1)).toMatchObject({
      by: 'sweep',
      note: 'it did run: the service has data of 2026-11-20 that it did not have before',
    })
    expect(await counts()).toEqual({ available: 960, held: 0, inDoubt: 0, spent: 40 })
    expect(await sweep()).toEqual(nothing)
  })

  test('a sweep watches a released update for seven days, and records the end', async () => {
    const product = await released()
    const { sweep, id, other, clock } = product
    clock.advance(days(7) - 1)
    expect(await sweep()).toEqual(nothing)
    expect(await other.update(id)).not.toHaveProperty('unwatched')
    clock.advance(1)
    expect(await sweep()).toEqual(nothing)
    const update = await other.update(id)
    expect(update).toMatchObject({ state: 'released', unwatched: true, charged: 0 })
    expect(update?.history.at(-1)).toEqual({
      state: 'released',
      at: clock.now(),
      by: 'sweep',
      note: 'no evidence to the contrary within seven days',
    })
    dates(product, '2026-11-13', '2026-11-20')
    expect(await sweep()).toEqual(nothing)
  })

  test('a sweep does not count the sender’s correction at the same moment as proven', async () => {
    const product = await released()
    const { sweep, id, other, before, counts } = product
    dates(product, '2026-11-20')
    before.push(async () => {
      const update = await other.update(id)
      const said = { from: 'sender', by: 'service', note: 'ran' } as const
      if (update) await other.settle(update, { kind: 'ran', units: u(30), ...said })
      return true
    })
    expect(await sweep()).toEqual(nothing)
    expect(await counts()).toEqual({ available: 970, held: 0, inDoubt: 0, spent: 30 })
  })
})

describe('the sweep of an update that awaits approval', () => {
  const awaiting = async () => {
    const product = await startGuard()
    const { id } = only(await product.ask({}, { token: { scopes: new Set(['propose']), budgets: '*' } }))
    return { ...product, id }
  }

  test('a sweep expires an update that awaits approval after a day', async () => {
    const { sweep, clock, id, other } = await awaiting()
    clock.advance(days(1) - 1)
    expect(await sweep()).toEqual(nothing)
    clock.advance(1)
    expect(await sweep()).toEqual({ ...nothing, expired: [id] })
    const update = await other.update(id)
    expect(update).toMatchObject({ state: 'expired', finishedAt: clock.now() })
    expect(update?.history.at(-1)).toMatchObject({ by: 'sweep', note: 'not approved in time' })
  })

  test('a sweep reminds people of an approval after half of the time', async () => {
    const { sweep, clock, id, other } = await awaiting()
    const reminders = async () =>
      (await other.announcements.open(10)).rows.filter(({ about }) => about.kind === 'approval-reminder')
    clock.advance(hours(12) - 1)
    await sweep()
    expect(await reminders()).toEqual([])
    clock.advance(1)
    await sweep()
    expect(await reminders()).toMatchObject([{ about: { update: id } }])
  })

  test('a sweep that comes late does not expire an update that was approved in time', async () => {
    const product = await awaiting()
    const { clock, id, elsewhere, other } = product
    clock.advance(days(1) - 1000)
    const swept = await sweepWith(product, 'awaiting-approval', async () => {
      expect(await elsewhere.decide('approve', id, { caller: 'eve' })).toMatchObject({ kind: 'done' })
      clock.advance(2000)
    })
    expect(swept).toEqual(nothing)
    expect(await other.update(id)).toMatchObject({ state: 'requested', version: 2, approval: { by: 'eve' } })
  })

  test('a sweep does not count an update as expired if it is rejected at the same moment', async () => {
    const { sweep, clock, id, before, elsewhere } = await awaiting()
    clock.advance(days(1))
    before.push(async () => elsewhere.decide('reject', id, { caller: 'eve' }))
    expect(await sweep()).toEqual(nothing)
  })
})

describe('the sweep of a requested update', () => {
  const queued = async () => {
    const product = await startGuard()
    const { id } = only(await product.ask({}, {}, { respondAsync: true }))
    return { ...product, id }
  }

  test('a sweep starts a requested update after two minutes', async () => {
    const { sweep, clock, id, sent } = await queued()
    clock.advance(minutes(2) - 1)
    expect([await sweep(), sent.length]).toEqual([nothing, 0])
    clock.advance(1)
    expect([await sweep(), sent.length]).toEqual([{ ...nothing, begun: [id] }, 1])
  })

  test('a sweep counts a requested update’s time from the approval, not from the request', async () => {
    const product = await startGuard()
    const { sweep, clock, guard, sent } = product
    const { id } = only(await product.ask({}, { token: { scopes: new Set(['propose']), budgets: '*' } }))
    clock.advance(hours(5))
    await guard.decide('approve', id, { caller: 'eve' })
    clock.advance(minutes(2) - 1)
    expect([await sweep(), sent.length]).toEqual([nothing, 0])
    clock.advance(1)
    expect(await sweep()).toEqual({ ...nothing, begun: [id] })
  })

  test('a sweep leaves an update queued if it cannot start, and expires it after one hour', async () => {
    const { sweep, clock, id, service, other, lines } = await queued()
    service.estimate = async () => ({ kind: 'refused', status: 500 })
    clock.advance(minutes(2))
    expect(await sweep()).toEqual(nothing)
    expect(await other.update(id)).toMatchObject({ state: 'requested', version: 1 })
    expect(lines).toContainEqual({ level: 'info', event: 'stays-queued', update: id, problem: 'service-refused' })
    clock.advance(minutes(58) - 1)
    expect(await sweep()).toEqual(nothing)
    clock.advance(1)
    expect(await sweep()).toEqual({ ...nothing, expired: [id] })
    expect((await other.update(id))?.history.at(-1)).toMatchObject({ note: 'could not begin within an hour' })
  })

  test('a sweep does not expire an update that returned for approval meanwhile', async () => {
    const product = await startGuard()
    const { clock, guard, service, elsewhere, other } = product
    await product.budget('account', { approvalAbove: u(10) })
    const { id } = only(await product.ask())
    await guard.decide('approve', id, { caller: 'eve' })
    service.estimate = async () => ({ kind: 'units', units: u(80), source: 'x' })
    clock.advance(minutes(59))
    const swept = await sweepWith(product, 'requested', async () => {
      await elsewhere.start(id, clock.now() + minutes(1))
      clock.advance(minutes(2))
    })
    expect(swept).toEqual(nothing)
    const update = await other.update(id)
    expect(update).toMatchObject({ state: 'awaiting-approval', version: 3, estimated: 80 })
    expect(update?.history.at(-1)?.note).toBe('approved up to 40, it now needs 80')
  })

  test('a sweep does not count an update as expired if it is cancelled at the same moment', async () => {
    const { sweep, clock, id, before, elsewhere } = await queued()
    clock.advance(hours(1))
    before.push(async () => elsewhere.decide('cancel', id, { caller: 'bob', isAdmin: false }))
    expect(await sweep()).toEqual(nothing)
  })

  test('a sweep starts an update with the time that is left', async () => {
    const { guard, clock, sent, id } = await queued()
    clock.advance(minutes(2))
    expect(await (await guard.jobs()).sweep(clock.now() + 16_999)).toEqual(nothing)
    expect(sent).toEqual([])
    expect(await (await guard.jobs()).sweep(clock.now() + 17_000)).toEqual({ ...nothing, begun: [id] })
  })
})

describe('a hanging service', () => {
  const hangsFor = 20_000
  const projects = (from: number) => Array.from({ length: 20 }, (_, index) => `p${from + index}`)

  test('a hanging service takes a quarter of a sweep for doubts, and the later lists keep their time', async () => {
    const product = await startGuard({ units: 10_000 })
    const { guard, service, clock, ask } = product
    service.run = async () => unknown
    await ask({ projects: projects(0), whenShort: 'fit' })
    service.run = async () => ran
    clock.advance(minutes(10))
    const { id } = only(await ask({ kind: 'keyword-difficulty' }, {}, { respondAsync: true }))
    clock.advance(minutes(10))
    let asked = 0
    service.dates = async () => {
      asked++
      clock.advance(hangsFor)
      return { kind: 'unreadable', reason: 'no whole answer before the deadline' }
    }
    expect(await (await guard.jobs()).sweep(clock.now() + minutes(10))).toEqual({ ...nothing, begun: [id] })
    expect(asked).toBe(8)
    clock.advance(days(7))
    expect((await (await guard.jobs()).sweep(clock.now() + minutes(10))).settledByTime).toHaveLength(20)
  })

  test('a hanging service takes a third of a sweep for released updates, and the sweep gives up none of them', async () => {
    const { guard, service, clock, ask, other } = await startGuard({ units: 10_000 })
    service.run = async () => unknown
    const { updates } = await ask({ projects: projects(0), whenShort: 'fit' })
    clock.advance(minutes(10))
    for (const { id } of updates) await guard.decide('did-not-run', id, { caller: 'eve' }, { reason: 'not seen' })
    clock.advance(days(8))
    let asked = 0
    service.dates = async () => {
      asked++
      clock.advance(hangsFor)
      return { kind: 'unreadable', reason: 'no whole answer before the deadline' }
    }
    expect(await (await guard.jobs()).sweep(clock.now() + minutes(10))).toEqual(nothing)
    expect([asked, (await other.open('watched', 50)).rows.length]).toEqual([10, 10])
  })

  test('a hanging service takes half of a sweep for requested updates, and old ones still expire', async () => {
    const { guard, service, clock, ask, parts } = await startGuard()
    const { ledger } = parts
    const { updates: old } = await ask({ projects: projects(0) }, {}, { respondAsync: true })
    clock.advance(minutes(30))
    await ask({ projects: projects(20) }, {}, { respondAsync: true })
    clock.advance(minutes(30))
    let asked = 0
    service.estimate = async () => {
      asked++
      clock.advance(hangsFor)
      return { kind: 'unreachable', reason: 'no whole answer before the deadline', status: null }
    }
    const { expired, begun } = await (await guard.jobs()).sweep(clock.now() + minutes(10))
    expect([asked, begun, expired.toSorted()]).toEqual([15, [], old.map(({ id }) => id).toSorted()])
    expect((await ledger.open('requested', 50)).rows).toHaveLength(20)
  })
})

describe('an index that lags', () => {
  test.each<[string, () => Promise<Started & { id: string }>]>([
    ['running', orphaned],
    ['in doubt', doubted],
  ])('a sweep does nothing for a settled update that a lagging index shows as %s', async (_name, start) => {
    const product = await start()
    const { sweep, clock, id, other, elsewhere, lines, service, lag } = product
    await sweep()
    lag()
    const update = await other.update(id)
    const said = { from: 'sender', by: 'service', note: 'ran' } as const
    if (update?.state === 'running') await other.settle(update, { kind: 'ran', units: u(40), ...said })
    else await elsewhere.decide('ran', id, { caller: 'eve' }, { reason: 'seen' })
    const settled = await other.update(id)
    clock.advance(days(8))
    service.dates = () => Promise.reject(new Error('the service must not be asked'))
    lines.length = 0
    expect([await sweep(), lines, await other.update(id)]).toEqual([nothing, [], settled])
  })
})

describe('the sweep of occurrences', () => {
  test('a sweep continues each occurrence that is due, even if one fails', async () => {
    const { parts, clock, other, lines } = await startGuard()
    const time = clock.now()
    const add = (plan: string, nextAt: number) =>
      other.queue(occurrences).add({
        id: `${plan}#1`,
        version: 1,
        createdAt: time,
        plan,
        time,
        state: 'running',
        startedAt: time,
        round: 0,
        nextAt,
      })
    const names = Array.from({ length: 60 }, (_, index) => `plan-${index}`)
    for (const name of names) await add(name, time)
    await add('later', time + 1)
    const advanced: [string, number][] = []
    const { advanceOccurrences } = createSweep({
      ...parts,
      approvals: createApprovals(parts),
      start: async () => null,
      alerts: createAlerts(parts),
      runAsked: async () => null,
      advance: async (id, endsAt) => {
        advanced.push([id, endsAt])
        if (id === 'plan-7#1') throw new Error('no such plan')
        return id === 'plan-8#1' ? null : other.queue(occurrences).get(id)
      },
    })
    const gone = await advanceOccurrences(time + 5000)
    expect(advanced.toSorted()).toEqual(names.map((name) => [`${name}#1`, time + 5000]).toSorted())
    expect(gone.map(({ plan }) => plan).toSorted()).toEqual(
      names.filter((name) => name !== 'plan-7' && name !== 'plan-8').toSorted(),
    )
    expect(lines).toMatchObject([
      { level: 'error', event: 'occurrence-failed', occurrence: 'plan-7#1', cause: { message: 'no such plan' } },
    ])
  })
})

describe('the sweep of an update that fails', () => {
  test('a sweep names an update that fails, and sweeps all others', async () => {
    const { sweep, clock, ask, before, lines, other } = await startGuard()
    const projects = Array.from({ length: 60 }, (_, index) => `p-${index}`)
    const updates = [
      ...(await ask({ projects: projects.slice(0, 20) }, {}, { respondAsync: true })).updates,
      ...(await ask({ projects: projects.slice(20, 40) }, {}, { respondAsync: true })).updates,
      ...(await ask({ projects: projects.slice(40) }, {}, { respondAsync: true })).updates,
    ]
    const bad = updates[3]?.id
    clock.advance(hours(1))
    before.push(async (writes) => {
      if (writes.some((write) => write.kind === 'put' && write.item.id === bad)) throw new LedgerUnavailable('away')
      return false
    })
    const swept = await sweep()
    expect([swept.expired.length, swept.failed]).toEqual([59, [bad]])
    expect(lines.filter(({ event }) => event === 'not-swept')).toMatchObject([
      { level: 'error', update: bad, cause: { message: 'away' } },
    ])
    expect((await other.open('requested', 100)).rows.map(({ id }) => id)).toEqual([bad])
  })
})
