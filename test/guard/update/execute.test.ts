import { describe, expect, test } from 'vitest'
import { createGuard } from '../../../shared/guard/guard.ts'
import { createExecution } from '../../../shared/guard/update/execute.ts'
import { settle } from '../../../shared/guard/update/settle.ts'
import type { RunOutcome } from '../../../shared/ledger/book/outcome.ts'
import { AnswerLost, LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import type { Ledger } from '../../../shared/ledger/ledger.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { inLogContext, notedCounts } from '../../../shared/platform/log.ts'
import type { RunResult } from '../../../shared/tracking/tracking.ts'
import { hours } from '../../support/clock.ts'
import { makes, ran, startGuard, unknown } from '../../support/guard.ts'
import { at, u } from '../../support/records.ts'

const month = (units: number) => ({ limits: [{ window: 'month', units: u(units) }] }) as const
const frozen = { frozen: { reason: 'stop', by: 'ada', at: 0 } }
const nothing = { available: 1000, held: 0, inDoubt: 0, spent: 0 }
const once = { available: 960, held: 0, inDoubt: 0, spent: 40 }

describe('changes between the estimate and the hold', () => {
  test('an update is refused with the present figures if units were spent after the estimate', async () => {
    const { ask, budget, service, other, sent, counts, slept } = await startGuard()
    await budget('seo', month(100))
    service.estimate = async () => {
      const [id, content, reason, by] = ['e', 'e', 'used elsewhere', 'ada']
      await other.enter({ id, content, budget: 'seo', reason, by, type: 'external-spend', units: 70 })
      return { kind: 'units', units: u(40), source: 'units' }
    }
    const { status, problem, updates } = await ask({ budget: 'seo' })
    expect([status, problem?.detail]).toEqual([
      402,
      'seo has 30 of 100 units left this month and this needs 40; resets 1 Dec 2026 00:00 UTC; ask for 10 more.',
    ])
    expect(updates).toMatchObject([
      { state: 'refused', estimated: 40, version: 1, finishedAt: at('2026-11-20T10:00:00Z') },
    ])
    expect([sent, await counts('seo')]).toEqual([[], { available: 30, held: 0, inDoubt: 0, spent: 70 }])
    expect(slept).toEqual([])
  })

  test('an update is not refused with old figures if units were granted after the estimate', async () => {
    const { ask, budget, service, sent } = await startGuard()
    await budget('seo', month(30))
    service.estimate = async () => {
      await budget('seo', month(40))
      return { kind: 'units', units: u(40), source: 'units' }
    }
    expect((await ask({ budget: 'seo' })).updates).toMatchObject([{ state: 'settled', charged: 40 }])
    expect(sent).toHaveLength(1)
  })

  test('a freeze that comes right before the hold refuses the update', async () => {
    const { ask, budget, before, sent, counts } = await startGuard()
    await budget('seo', {})
    before.push(async (writes) => makes('running')(writes) && budget('seo', frozen))
    const { problem, updates } = await ask({ budget: 'seo' })
    expect([problem?.slug, sent, await counts()]).toEqual(['budget-frozen', [], nothing])
    expect(updates[0]?.history).toEqual([
      { state: 'refused', at: at('2026-11-20T10:00:00Z'), by: 'guard', note: problem?.detail },
    ])
  })

  test('a decision is retried with pauses until the time is over, and then given up', async () => {
    const { ask, budget, before, sent, slept, lines, counts, clock } = await startGuard()
    let holds = 0
    before.push(async (writes) => {
      if (makes('running')(writes)) await budget('seo', { perUpdate: u(1000 + ++holds) })
      return false
    })
    const from = clock.now()
    const { status, problem } = await ask()
    expect([status, problem]).toEqual([
      503,
      {
        slug: 'undecided',
        detail:
          'Other requests changed the same records each time, so this request could not be decided in time. Nothing was sent to the service and nothing was spent. Send the same request again in 5 seconds.',
        members: {},
      },
    ])
    expect([slept.slice(0, 8), sent, await counts()]).toEqual([[5, 10, 20, 40, 80, 160, 200, 200], [], nothing])
    // 5 of the 60 seconds of this request are for the run, and 12 for its settlement.
    expect(clock.now() - from).toBeGreaterThanOrEqual(43_000)
    expect(clock.now() - from).toBeLessThan(43_500)
    expect(lines).toMatchObject([{ level: 'error', event: 'not-admitted', update: expect.stringMatching(/^upd_/) }])
    expect(String(lines[0]?.cause)).toMatch(/^Contention: gave up on upd_\w+ after \d+ decisions$/)
    expect(holds).toBeGreaterThan(200)
  })

  test('a request is answered with the record of a faster delivery, and sends nothing twice', async () => {
    const { ask, elsewhere, before, sent, counts } = await startGuard()
    let first: Awaited<ReturnType<typeof ask>> | undefined
    before.push(async (writes) => {
      if (!makes('running')(writes)) return false
      first = await ask({}, { key: 'k' }, { by: elsewhere })
      return true
    })
    const second = await ask({}, { key: 'k' })
    expect(first?.updates).toMatchObject([{ state: 'settled' }])
    expect(second.updates).toEqual(first?.updates)
    expect([sent.length, await counts()]).toEqual([1, once])
  })

  test.each([
    [50, 10],
    [100, 60],
  ])('an update with a day limit of %d charges the new day if the day turns meanwhile', async (units, available) => {
    const { ask, budget, clock, service, counts } = await startGuard()
    await budget('seo', { limits: [{ window: 'day', units: u(units) }] })
    clock.set('2026-11-20T23:59:59Z')
    await ask({ budget: 'seo', projects: ['first'] })
    service.estimate = async () => {
      clock.set('2026-11-21T00:00:00Z')
      return { kind: 'units', units: u(40), source: 'units' }
    }
    const { updates } = await ask({ budget: 'seo' })
    expect(updates).toMatchObject([{ state: 'settled', hold: { day: 'day:2026-11-21' } }])
    expect(await counts('seo', 'day')).toEqual({ available, held: 0, inDoubt: 0, spent: 40 })
  })

  test('the table is read only one time if no window has turned', async () => {
    const { ask, budget, reads } = await startGuard()
    await budget('seo', frozen)
    await ask()
    reads.length = 0
    await ask({ projects: ['other'] })
    expect(reads.map((keys) => keys.map((key) => key.split('#')[0]))).toEqual([
      ['definitions', 'book', 'update', 'work'],
    ])
    reads.length = 0
    await ask({ budget: 'seo', projects: ['third'] })
    expect(reads).toHaveLength(1)
  })

  test('a decision has the time after the estimate, so that a slow estimate needs no second reading', async () => {
    const { ask, clock, service, reads } = await startGuard()
    await ask({ projects: ['other'] })
    service.estimate = async () => {
      clock.advance(10_000)
      return { kind: 'units', units: u(40), source: 'units' }
    }
    reads.length = 0
    expect((await ask()).updates).toMatchObject([{ state: 'settled' }])
    expect(reads).toHaveLength(1)
  })

  test('a refusal uses present figures, even if no time is left for the run', async () => {
    const { ask, budget, clock, service } = await startGuard()
    await budget('seo', month(100))
    service.estimate = async () => {
      clock.advance(60_000)
      return { kind: 'units', units: u(101), source: 'units' }
    }
    expect(await ask({ budget: 'seo' })).toMatchObject({ status: 402, updates: [{ state: 'refused' }] })
  })

  test('an update without a plan is decided, even if the plans file cannot be read', async () => {
    const { ask, budget, service } = await startGuard({ parts: { plans: () => Promise.reject(new Error('no plans')) } })
    await budget('seo', month(30))
    service.estimate = async () => {
      await budget('seo', month(40))
      return { kind: 'units', units: u(40), source: 'units' }
    }
    expect((await ask({ budget: 'seo' })).updates).toMatchObject([{ state: 'settled' }])
  })
})

describe('the deadline of run', () => {
  test.each([
    ['a request with just enough time for the run and its outcome is settled', 17_000, 'settled', 1],
    ['request: slow: with a millisecond less it is queued, and nothing is held or sent', 16_999, 'requested', 0],
  ])('%s', async (_name, ms, state, sends) => {
    const { ask, clock, sent, lines, counts } = await startGuard()
    const { status, updates } = await ask({}, {}, { endsAt: clock.now() + ms })
    expect([status, updates[0]?.state, sent.length]).toEqual([sends ? 201 : 202, state, sends])
    expect(lines.filter(({ level }) => level === 'error')).toEqual([])
    expect(await counts()).toEqual(sends ? once : nothing)
  })

  test('the deadline of run counts from the decision, not from before the estimate', async () => {
    const { ask, clock, service, sent } = await startGuard()
    service.estimate = async () => {
      clock.advance(60_000)
      return { kind: 'units', units: u(40), source: 'units' }
    }
    const { updates } = await ask({}, {}, { endsAt: clock.now() + 77_000 })
    expect([updates[0]?.state, sent[0]?.timeoutMs, updates[0]?.hold]).toEqual([
      'settled',
      5000,
      {
        units: 40,
        attempt: 'id-2',
        at: at('2026-11-20T10:01:00Z'),
        leaseUntil: at('2026-11-20T10:01:17Z'),
        senderUntil: at('2026-11-20T10:01:17Z'),
        day: 'day:2026-11-20',
        budgets: ['account'],
        datesBefore: [],
      },
    ])
  })

  test('the hold may take a quarter of the run’s deadline, but no longer than the estimate is valid', async () => {
    const { ask, parts, service, clock } = await startGuard()
    const { hold } = parts.ledger
    const leftMs: number[] = []
    parts.ledger.hold = (view, basis, update, until = Number.NaN) => {
      leftMs.push(until - clock.now())
      return hold(view, basis, update, until)
    }
    await ask({ projects: ['other'] })
    service.dates = async () => {
      await new Promise(setImmediate)
      clock.advance(29_500)
      return { kind: 'dates', dates: [] }
    }
    await ask()
    expect(leftMs).toEqual([1250, 500])
  })

  test.each([
    [1, 4999],
    [3000, 2000],
  ])('the deadline of run is shorter by the time of the hold: after %d ms, %d', async (passed, timeoutMs) => {
    const { ask, before, clock, sent } = await startGuard()
    before.push(async (writes) => {
      if (makes('running')(writes)) clock.advance(passed)
    })
    await ask()
    expect(sent).toEqual([{ target: expect.anything(), timeoutMs, token: 'the-token' }])
  })

  test('the deadline of run does not grow if the clock goes back after the hold', async () => {
    const { ask, before, clock, sent } = await startGuard()
    before.push(async (writes) => {
      if (!makes('running')(writes)) return false
      clock.advance(-hours(1))
      return true
    })
    await ask()
    expect(sent.map(({ timeoutMs }) => timeoutMs)).toEqual([5000])
  })

  test.each([3001, 4999, 5000, 60_000])(
    'hold: slow: a hold that left less than two seconds for run is released (it took %d of 5000 ms)',
    async (tookMs) => {
      const { ask, before, clock, sent, counts, lines } = await startGuard()
      before.push(async (writes) => {
        if (makes('running')(writes)) clock.advance(tookMs)
      })
      const { status, problem, updates } = await ask()
      expect([status, problem?.slug, updates[0]?.state, sent]).toEqual([502, 'service-unreachable', 'released', []])
      expect(updates[0]?.history.at(-1)).toMatchObject({ by: 'guard', note: 'the hold left too little time for it' })
      expect(await counts()).toEqual(nothing)
      expect(lines.map(({ event, charged, status }) => [event, charged, status])).toEqual([['run', 0, undefined]])
    },
  )

  test('run is sent with half of a deadline that is shorter than four seconds', async () => {
    const { parts } = await startGuard()
    const options = { ...parts.options, serviceTimeoutMs: 1000 }
    const { ask, before, clock, sent } = await startGuard({ parts: { options } })
    before.push(async (writes) => {
      if (makes('running')(writes)) clock.advance(500)
    })
    await ask()
    expect(sent.map(({ timeoutMs }) => timeoutMs)).toEqual([500])
  })
})

describe('one run', () => {
  test('a run is logged with its outcome', async () => {
    const { ask, lines } = await startGuard()
    const [update] = (await ask()).updates
    expect(lines).toMatchObject([
      { level: 'info', event: 'hold', update: update?.id, held: 40 },
      {
        level: 'info',
        event: 'run',
        update: update?.id,
        found: 'ran',
        note: 'ran; the answer states no units, so the 40 units held were charged',
      },
    ])
  })

  const answer = { status: 201, contentType: null, body: '', truncated: false }
  const stated = { units: 41, source: 'units', by: 'pointer' } as const
  test.each<[RunResult, object]>([
    [
      { kind: 'ran', stated, answer },
      { found: 'ran', charged: 41, stated: 41, status: 201 },
    ],
    [
      { kind: 'ran', stated: null, answer },
      { found: 'ran', charged: 40, stated: undefined, status: 201 },
    ],
    [
      { kind: 'did-not-run', reason: 'unknown project', status: 404, answer },
      { found: 'did-not-run', charged: 0, stated: undefined, status: 404 },
    ],
    [
      { kind: 'did-not-run', reason: 'connection refused', status: null, answer: null },
      { found: 'did-not-run', charged: 0, stated: undefined, status: undefined },
    ],
    [unknown, { found: 'unknown', charged: null, stated: undefined, status: 500 }],
  ])('the log has the service’s answer, the charge and the duration of a run: %o', async (result, fields) => {
    const { ask, lines, service, clock } = await startGuard()
    service.run = async () => {
      clock.advance(123)
      return result
    }
    await ask()
    expect(lines.find(({ event }) => event === 'run')).toEqual(expect.objectContaining({ ...fields, ms: 123 }))
  })

  test.each([
    [1_000_000_000_001, true],
    [-1, true],
    [40, false],
  ])('settle: malformed: stated units of %s raise an alarm: %s', async (units, isAlarm) => {
    const { ask, lines, service, counts } = await startGuard()
    service.run = async () => ({ ...ran, stated: { units, source: '/u', by: 'pointer' } })
    const [update] = (await ask()).updates
    const alarm = { level: 'error', event: 'impossible-units', update: update?.id, stated: units, source: '/u' }
    expect(lines.filter(({ level }) => level === 'error')).toEqual(isAlarm ? [alarm] : [])
    expect(await counts()).toEqual(once)
  })

  test('an update opens one fence', async () => {
    const { parts, other, ask, before, sent } = await startGuard()
    let held: Update | null = null
    before.push(async (writes) => {
      const record = writes.find((write) => write.kind === 'put' && write.item.state === 'settled')
      if (record?.kind === 'put') held = await other.update(String(record.item.pk).replace('update#', ''))
      return held !== null
    })
    await ask()
    const execution = createExecution(parts)
    if (!held) throw new Error('nothing was settled')
    const again: Update = held
    const closed = `the fence of ${again.id} is not open`
    await execution.run(again, 'the-token')
    await expect(execution.run(again, 'the-token')).rejects.toThrow(closed)
    const { hold: _none, ...without } = again
    await expect(execution.run(without, 'the-token')).rejects.toThrow(closed)
    expect(sent).toHaveLength(2)
  })
})

describe('the settlement of a run', () => {
  test('a settlement is retried every half second for twelve seconds, and then the update stays running', async () => {
    const { ask, before, slept, lines, counts } = await startGuard()
    before.push(async (writes) => {
      if (makes('settled')(writes)) throw new LedgerUnavailable('away')
      return false
    })
    const { status, updates } = await ask()
    expect([status, updates[0]?.state]).toEqual([202, 'running'])
    expect(slept).toEqual(Array.from({ length: 24 }, () => 500))
    const failed = lines.filter(({ event }) => event === 'not-settled')
    expect(failed).toHaveLength(25)
    expect(failed[0]).toMatchObject({ level: 'error', update: updates[0]?.id, cause: { message: 'away' } })
    expect(await counts()).toEqual({ available: 960, held: 40, inDoubt: 0, spent: 0 })
  })

  test('settle: slow: the answer is the settlement that is written at the fourth attempt', async () => {
    const { ask, before, slept, counts } = await startGuard()
    before.push(async (writes) => {
      if (makes('settled')(writes) && slept.length < 3) throw new LedgerUnavailable('away')
      return slept.length === 3
    })
    expect((await ask()).updates).toMatchObject([{ state: 'settled' }])
    expect([slept, await counts()]).toEqual([[500, 500, 500], once])
  })

  test('a settlement is not retried after another failure', async () => {
    const { ask, before, slept, lines } = await startGuard()
    before.push(async (writes) => {
      if (makes('settled')(writes)) throw new Error('no permission')
      return false
    })
    expect((await ask()).updates).toMatchObject([{ state: 'running' }])
    expect([slept, lines.filter(({ event }) => event === 'not-settled').length]).toEqual([[], 1])
  })
})

describe('a record that another process wrote meanwhile', () => {
  const key = { key: 'k' }

  test('a record that another process wrote is the answer instead of the refusal', async () => {
    const { ask, elsewhere, budget, before } = await startGuard()
    await budget('seo', frozen)
    before.push(async (writes) => {
      if (!makes('refused')(writes)) return false
      await budget('seo', { frozen: { reason: 'another', by: 'eve', at: 0 } })
      await ask({ budget: 'seo' }, key, { by: elsewhere })
      return true
    })
    expect((await ask({ budget: 'seo' }, key)).problem?.detail).toMatch(/^seo was frozen by eve .*: another\. /)
  })

  test('a record that is neither written nor found is reported as missing', async () => {
    const { ask, parts, budget } = await startGuard()
    await budget('seo', frozen)
    parts.ledger.record = async () => 'moved'
    await expect(ask({ budget: 'seo' }, key)).rejects.toThrow(/^the record upd_\w+ was neither written nor found$/)
  })

  test('a record is read again before a late refusal or request for approval', async () => {
    const { ask, budget, before, guard, elsewhere } = await startGuard()
    await budget('seo', { approvalAbove: u(30) })
    const { updates } = await ask({ budget: 'seo' }, key, { respondAsync: true })
    const id = updates[0]?.id ?? ''
    before.push(async (writes) => {
      if (!makes('awaiting-approval')(writes)) return false
      await elsewhere.decide('cancel', id, { caller: 'bob', isAdmin: false }, { reason: 'no longer needed' })
      return true
    })
    expect(await guard.start(id, at('2026-11-20T11:00:00Z'))).toMatchObject({ state: 'cancelled' })
  })
})

describe('the consequences of a settlement', () => {
  const held = async (found: 'unknown' | 'ran' = 'unknown') => {
    const product = await startGuard()
    await product.budget('seo', { ...month(100), freezeOnOverrun: true })
    if (found === 'unknown') product.service.run = async () => unknown
    const [update] = (await product.ask({ budget: 'seo' })).updates
    if (!update) throw new Error('there is no update')
    const close = (of: Update, outcome: RunOutcome) => settle(product.parts, of, outcome)
    product.lines.length = 0
    return { ...product, update, close }
  }
  const outcome = (units: number, from: 'sender' | 'person' = 'sender'): RunOutcome => ({
    kind: 'ran',
    units: u(units),
    from,
    by: from,
    note: 'ran',
  })

  test('a doubt is logged as an alarm', async () => {
    const { ask, service, lines } = await startGuard()
    service.run = async () => unknown
    const [update] = (await ask()).updates
    expect(lines).toMatchObject([
      { level: 'info', event: 'hold', update: update?.id, held: 40 },
      { level: 'info', event: 'run', update: update?.id, found: 'unknown', note: 'status 500' },
      {
        level: 'error',
        event: 'in-doubt',
        update: update?.id,
        state: 'in-doubt',
        found: 'unknown',
        note: 'status 500',
      },
    ])
  })

  test('a settlement at the hold logs no alarm, and changes nothing the second time', async () => {
    const { update, close, lines } = await held()
    const first = await close(update, outcome(40))
    expect([first.changed, lines]).toEqual([true, []])
    const second = await close(first.update, outcome(55))
    expect([second.changed, second.update]).toEqual([false, first.update])
    expect(lines).toEqual([
      { level: 'info', event: 'nothing-to-close', update: update.id, state: 'settled', found: 'ran' },
    ])
  })

  test('a late answer that contradicts a person logs an alarm', async () => {
    const { update, close, lines, counts } = await held()
    await close(update, outcome(30, 'person'))
    const late = await inLogContext({}, async () => {
      await close(update, outcome(35))
      return notedCounts()
    })
    // The earlier line counted the state; this line counts only the difference of units.
    expect(late).toEqual({ UnitsCharged: 5 })
    expect(lines).toEqual([
      {
        level: 'info',
        event: 'closed',
        update: update.id,
        state: 'settled',
        found: 'ran',
        closedBy: 'person',
        by: 'person',
        charged: 30,
      },
      {
        level: 'error',
        event: 'late-correction',
        update: update.id,
        state: 'settled',
        found: 'ran',
        closedBy: 'person',
        charged: 35,
      },
    ])
    expect(await counts('seo')).toEqual({ available: 65, held: 0, inDoubt: 0, spent: 35 })
  })

  test('an overrun logs an alarm, and freezes the budgets with freezeOnOverrun one time', async () => {
    const { update, close, lines, other } = await held()
    const { update: settled } = await close(update, outcome(1055))
    for (const late of [outcome(1054), outcome(1055, 'person')]) await close(settled, late)
    expect(lines.splice(1).map(({ event }) => event)).toEqual(['nothing-to-close', 'nothing-to-close'])
    expect(lines).toEqual([
      { level: 'error', event: 'overrun', update: update.id, held: 40, charged: 1055, overrun: 1015 },
    ])
    const { definitions } = await other.view()
    expect(definitions.budgets.seo?.frozen).toEqual({
      reason: `${update.id} cost 1,015 more than were held`,
      by: 'guard',
      at: at('2026-11-20T10:00:00Z'),
    })
    expect(definitions.budgets.account?.frozen).toBeUndefined()
    const { rows } = await other.entries({ month: 'month:2026-11-01' }, 10)
    expect(rows.filter(({ type }) => type === 'freeze')).toMatchObject([
      { budget: 'seo', by: 'guard', reason: `${update.id} cost 1,015 more than were held` },
    ])
  })

  test('an overrun that a person states freezes the budget', async () => {
    const { update, close, other } = await held()
    await close(update, outcome(41, 'person'))
    const { definitions } = await other.view()
    expect(definitions.budgets.seo?.frozen?.reason).toBe(`${update.id} cost 1 more than were held`)
  })

  test('an overrun that was booked before its answer was lost freezes the budget', async () => {
    const { service, budget, ask, parts, other, lines } = await startGuard()
    await budget('account', { parent: null, freezeOnOverrun: true })
    service.run = async () => ({ ...ran, stated: { units: u(400), source: 'units', by: 'pointer' } })
    let losses = 1
    const ledger: Ledger = {
      ...parts.ledger,
      settle: async (update, found) => {
        const outcome = await parts.ledger.settle(update, found)
        if (losses-- > 0) throw new AnswerLost('nothing was heard')
        return outcome
      },
    }
    const { updates } = await ask({}, {}, { by: createGuard({ ...parts, ledger }) })
    expect(updates).toMatchObject([{ state: 'settled', charged: 400, overrun: 360 }])
    expect(lines.filter(({ event }) => event === 'overrun')).toHaveLength(1)
    const { definitions } = await other.view()
    expect(definitions.budgets.account?.frozen?.reason).toBe(`${updates[0]?.id} cost 360 more than were held`)
  })

  test('an overrun keeps the reason of a frozen budget, and skips a deleted budget', async () => {
    const { update, close, budget, other } = await held()
    await budget('seo', frozen)
    const { revision } = (await other.view()).definitions
    await close(update, outcome(55))
    const { definitions } = await other.view()
    expect([definitions.revision, definitions.budgets.seo?.frozen?.reason]).toEqual([revision, 'stop'])
  })

  test('a freeze skips a budget that was deleted meanwhile', async () => {
    const { update, close, other, lines } = await held()
    await other.change('ada', ({ definitions }) => {
      const { seo: _gone, ...budgets } = definitions.budgets
      return { definitions: { ...definitions, budgets }, note: { type: 'budget-deleted', budget: 'seo', reason: '' } }
    })
    expect((await close(update, outcome(55))).changed).toBe(true)
    expect(lines.map(({ event }) => event)).toEqual(['overrun'])
  })

  test('an overrun is booked even if the freeze fails, which logs an alarm', async () => {
    const { update, close, before, budget, lines, counts } = await held()
    await budget('account', { parent: null, freezeOnOverrun: true })
    before.push(async (writes) => {
      if (writes.some((write) => write.kind === 'put' && write.item.pk === 'definitions'))
        throw new LedgerUnavailable('away')
      return false
    })
    expect((await close(update, outcome(55))).update).toMatchObject({ state: 'settled', charged: 55, overrun: 15 })
    expect(lines).toMatchObject([
      { event: 'overrun' },
      { level: 'error', event: 'not-frozen', budget: 'seo', cause: { message: 'away' } },
      { level: 'error', event: 'not-frozen', budget: 'account' },
    ])
    expect(await counts('seo')).toEqual({ available: 45, held: 0, inDoubt: 0, spent: 55 })
  })
})
