import { describe, expect, test } from 'vitest'
import { isUnsent } from '../../../shared/guard/plans/attempts.ts'
import { occurrences } from '../../../shared/guard/plans/stored-occurrence.ts'
import { parsePlans } from '../../../shared/guard/plans-file.ts'
import { LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import type { Store, Write } from '../../../shared/ledger/store/store.ts'
import { workKey } from '../../../shared/ledger/updates/work.ts'
import type { RunResult } from '../../../shared/tracking/tracking.ts'
import { hours, minutes, type TestClock } from '../../support/clock.ts'
import { ran as didRun, startGuard, unknown } from '../../support/guard.ts'
import { aboutOccurrence, due, night, startNight, time } from '../../support/night.ts'
import { json, type Product, startProduct } from '../../support/product.ts'
import { type Answer, gate } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { createStore } from '../../support/store/stores.ts'

const month = (units: number | 'unlimited') => [{ window: 'month', units }]
const names = (count: number) => Array.from({ length: count }, (_, index) => `p${String(index + 1).padStart(2, '0')}`)

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2))
}

describe('an occurrence that is delivered several times', () => {
  const once = async (store: Store, processes: 1 | 3) => {
    const { product, fire, unsent, ran, told, last } = await startNight({}, { store })
    const others = processes === 1 ? [product, product] : [product.startProcess(), product.startProcess()]
    await Promise.all([fire(), ...others.map((process) => fire(process))])
    await fire()
    expect((await unsent()).status).toBe(200)
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await last()).toEqual({
      time: '2026-11-20T10:00:00.000Z',
      state: 'done',
      finishedAt: '2026-11-20T10:00:00.000Z',
      counts: { settled: 3 },
    })
    expect(await told()).toEqual([
      '🗓️ The plan night of 20 Nov 2026 10:00 UTC is finished. ✅ 3 projects updated. 120 units charged in all.',
    ])
    expect(await product.figures()).toMatchObject({ spent: 120, held: 0, inDoubt: 0 })
    expect(await product.audit()).toBe(true)
  }

  test('an occurrence delivered three times at once to one process runs each project once, with one announcement', () =>
    once(createMemoryStore(), 1))
  test('an occurrence delivered three times at once to three processes runs each project once', async () =>
    once(await createStore(), 3))

  test('an occurrence delivered again after an hour and a day runs nothing twice', async () => {
    const { product, fire, ran, told } = await startNight()
    await fire()
    product.clock.advance(hours(25))
    await fire()
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await told()).toHaveLength(1)
  })
})

describe('the run of an occurrence', () => {
  test('an occurrence in progress shows running updates as requested, and the rest as unsent', async () => {
    const { opened, open } = gate()
    const { product, fire, ran } = await startNight(
      {},
      { on: ({ operation }) => (operation === 'run' ? { ...json({}), once: opened } : undefined) },
    )
    const fired = fire()
    await until(() => ran().length === 1)
    const { status, body } = await product.call('POST', '/plans/night/run', { body: { time: due } })
    expect([status, body.state]).toEqual([202, 'running'])
    expect(body.counts).toMatchObject({ requested: 1, settled: 0, unsent: 2 })
    open()
    await fired
    expect(ran()).toEqual(['a', 'b', 'c'])
  })

  test('an occurrence runs its updates one after another in the order of the plan', async () => {
    let inFlight = 0
    let most = 0
    const { product, fire, ran } = await startNight(
      { projects: ['c', 'a', 'b'] },
      {
        on: ({ operation }) => {
          if (operation === 'run') most = Math.max(most, ++inFlight)
          if (operation === 'estimate' && inFlight > 0) inFlight--
          return undefined
        },
      },
    )
    await fire()
    expect(ran()).toEqual(['c', 'a', 'b'])
    expect(most).toBe(1)
    expect(await product.audit()).toBe(true)
  })

  test('an occurrence records caller, interface and plan, and sends the query with estimate and run', async () => {
    const { product, fire } = await startNight({ projects: ['a'], query: { device: 'mobile' } })
    await fire()
    const { body } = await product.call('GET', '/updates?plan=night')
    expect(body.updates).toMatchObject([
      {
        kind: 'ranking',
        project: 'a',
        budget: 'account',
        state: 'settled',
        caller: 'schedule:night',
        via: 'schedule',
        plan: 'night',
        query: { device: 'mobile' },
        units: { estimated: 40, held: 40, charged: 40 },
      },
    ])
    expect((await product.call('GET', '/updates?via=schedule&caller=schedule:night')).body).toEqual(body)
    expect((await product.call('GET', '/updates?plan=day')).body).toEqual({ updates: [] })
    expect(product.seen('estimate').map(({ url }) => url)).toEqual(['/v3/on-demand/a/estimate?device=mobile'])
    expect(product.seen('run').map(({ url }) => url)).toEqual(['/v3/on-demand/a/run?device=mobile'])
  })

  test('a keyword-difficulty plan asks for keyword-difficulty updates', async () => {
    const { product, fire } = await startNight({ kind: 'keyword-difficulty', projects: ['7'] })
    await fire()
    expect(product.seen('run').map(({ url }) => url)).toEqual(['/v3/keyword-difficulty/7/run'])
    expect(product.seen('dates')).toEqual([])
  })

  test('a plan charges each project to its owner, or to account; with a budget, to that budget', async () => {
    const { product, fire } = await startNight()
    await product.call('PUT', '/budgets/seo', { body: { limits: month(500), projects: [{ name: 'b' }] } })
    await fire()
    expect(await product.figures('seo')).toMatchObject({ spent: 40 })
    expect(await product.figures()).toMatchObject({ spent: 120 })

    const other = await startNight({ budget: 'seo' })
    await other.product.call('PUT', '/budgets/seo', { body: { limits: month(500) } })
    await other.fire()
    expect(await other.product.figures('seo')).toMatchObject({ spent: 120 })
  })
})

describe('a plan that is short of units', () => {
  const short = async (plan: object, available: number, units: Record<string, number>) => {
    const started = await startNight(plan, { units })
    await started.product.call('PUT', '/budgets/account', { body: { limits: month(available) } })
    await started.fire()
    return started
  }
  const refusals = async (product: Product) =>
    (await product.call('GET', '/updates?plan=night&state=refused')).body.updates.map(
      ({ project, problem }: { project: string; problem: { detail: string } }) => `${project}: ${problem.detail}`,
    )

  test('a plan with fit refuses the updates that do not fit, with the figures, and runs later ones that fit', async () => {
    const { product, ran, told, last, report } = await short({}, 100, { a: 60, b: 50, c: 40 })
    expect(ran()).toEqual(['a', 'c'])
    expect((await report())?.refusals).toEqual([
      { project: 'b', problem: expect.objectContaining({ slug: 'over-budget' }) },
    ])
    expect(await refusals(product)).toEqual([
      'b: account has 40 of 100 units left this month and this needs 50; resets 1 Dec 2026 00:00 UTC; ask for 10 more.',
    ])
    expect(await last()).toMatchObject({ state: 'done' })
    expect(await told()).toEqual([
      '🗓️ The plan night of 20 Nov 2026 10:00 UTC is finished. ✅ 2 projects updated, ⛔ 1 project refused. 100 units charged in all.',
    ])
    expect(await product.audit()).toBe(true)
  })

  test('a plan with refuse decides about each project alone, in order', async () => {
    const { product, ran } = await short({ whenShort: 'refuse' }, 100, { a: 60, b: 50, c: 40 })
    expect(ran()).toEqual(['a', 'c'])
    expect(await product.figures()).toMatchObject({ available: 0, spent: 100 })
  })

  test('a plan with ask requests approval for a shortage, and runs the project after the approval', async () => {
    const { product, fire, ran, told, last } = await startNight({ whenShort: 'ask', budget: 'seo' })
    await product.call('PUT', '/budgets/seo', { body: { limits: month(80) } })
    await fire()
    expect(ran()).toEqual(['a', 'b'])
    expect(await last()).toMatchObject({ state: 'done' })
    expect(await told()).toEqual([
      '🗓️ The plan night of 20 Nov 2026 10:00 UTC is finished. ✅ 2 projects updated, ✋ 1 project waiting for approval. 80 units charged in all.',
    ])
    const { body } = await product.call('GET', '/updates?state=awaiting-approval')
    const approved = await product.call('POST', `/updates/${body.updates[0].id}/approve`)
    expect(approved.body).toMatchObject({ project: 'c', state: 'settled', approvedBy: 'ada' })
    expect(await product.figures('seo')).toMatchObject({ limit: 80, granted: 40, available: 0, spent: 120 })
    expect(await product.audit()).toBe(true)
  })

  test('a plan with ask counts a rejected or cancelled project as refused', async () => {
    const { product, fire, unsent } = await startNight({ whenShort: 'ask', budget: 'seo' })
    await product.call('PUT', '/budgets/seo', { body: { limits: month(40) } })
    await fire()
    const { body } = await product.call('GET', '/updates?state=awaiting-approval')
    const [one, other] = body.updates.map(({ id }: { id: string }) => id)
    expect((await product.call('POST', `/updates/${one}/reject`)).status).toBe(200)
    expect((await product.call('POST', `/updates/${other}/cancel`)).status).toBe(200)
    expect((await unsent()).body).toMatchObject({ state: 'done', counts: { settled: 1, refused: 2, unsent: 0 } })
  })

  test('a plan with leave keeps as many units of the month for other plans, and its refusal says so', async () => {
    const { product, ran } = await short({ leave: 30 }, 100, {})
    expect(ran()).toEqual(['a'])
    expect(await refusals(product)).toEqual([
      'c: account has 60 of 100 units left this month and this and the 30 units that the plan night leaves to others need 70; resets 1 Dec 2026 00:00 UTC; ask for 10 more.',
      'b: account has 60 of 100 units left this month and this and the 30 units that the plan night leaves to others need 70; resets 1 Dec 2026 00:00 UTC; ask for 10 more.',
    ])
    expect((await product.update({ kind: 'ranking', project: 'other' })).status).toBe(201)
  })

  test('a plan without units ends normally: its refusals are recorded and announced once', async () => {
    const { product, fire, ran, told, last } = await startNight()
    await product.call('POST', '/budgets/account/freeze', { body: { reason: 'audit' } })
    await expect(fire()).resolves.toBeUndefined()
    expect(ran()).toEqual([])
    expect(product.seen('estimate')).toEqual([])
    expect(await last()).toMatchObject({ state: 'done' })
    expect(await told()).toEqual([
      '🗓️ The plan night of 20 Nov 2026 10:00 UTC is finished. ⛔ 3 projects refused. Nothing was spent.',
    ])
    const { body } = await product.call('GET', '/updates?plan=night')
    expect(body.updates.map(({ problem }: { problem: object }) => problem)).toMatchObject(
      Array(3).fill({ type: '/problems/budget-frozen', status: 402 }),
    )
  })
})

describe('an occurrence that comes late', () => {
  test('an occurrence more than an hour late is recorded as missed and announced, without asking the service', async () => {
    const { product, fire, told, last, unsent, ran } = await startNight()
    product.clock.advance(hours(1) + 1)
    await fire()
    await fire()
    expect(product.service.requests).toEqual([])
    expect(await last()).toEqual({
      time: '2026-11-20T10:00:00.000Z',
      state: 'missed',
      reason: 'it came more than an hour late',
      finishedAt: '2026-11-20T11:00:00.001Z',
    })
    expect(await told()).toEqual([
      '⌛ The plan night of 20 Nov 2026 10:00 UTC was not run: it came more than an hour late. ⏭️ 3 projects no longer asked for. Nothing was spent.',
    ])
    expect((await unsent()).status).toBe(200)
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await last()).toMatchObject({ state: 'done' })
  })

  test('an occurrence exactly an hour late runs', async () => {
    const { product, fire, ran, last } = await startNight()
    product.clock.advance(hours(1))
    await fire()
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await last()).toMatchObject({ state: 'done' })
  })
})

describe('a paused plan', () => {
  const pause = (product: Product) => product.call('POST', '/plans/night/pause', { body: { reason: 'the site moves' } })
  const resume = (product: Product) => product.call('POST', '/plans/night/resume', { body: { reason: 'moved' } })

  test('an occurrence of a paused plan is recorded and announced, and after a resume runs what was not sent', async () => {
    const { product, fire, unsent, ran, last, told } = await startNight()
    await pause(product)
    await fire()
    expect(product.service.requests).toEqual([])
    expect(await last()).toMatchObject({ state: 'paused', reason: 'paused by ada: the site moves' })
    expect((await unsent()).body).toMatchObject({
      type: '/problems/plan-paused',
      detail: 'The plan night was paused by ada: the site moves. Resume it first.',
    })
    await resume(product)
    await fire()
    expect(ran()).toEqual([])
    expect((await unsent()).body).toMatchObject({ state: 'done', counts: { settled: 3 }, unitsCharged: 120 })
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await told()).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })

  test('a plan paused in the middle leaves the rest unsent, and runs only the rest after a resume', async () => {
    let started: Promise<unknown> = Promise.resolve()
    const { product, fire, unsent, ran, last, told, states } = await startNight(
      {},
      {
        on: ({ project, operation, product }) => {
          if (project !== 'a' || operation !== 'run') return undefined
          started = pause(product)
          return { ...json({ keyword_units: 40 }), once: started }
        },
      },
    )
    await fire()
    await started
    expect(ran()).toEqual(['a'])
    expect(await last()).toMatchObject({
      state: 'paused',
      reason:
        'The plan night was paused by ada on 20 Nov 2026 10:00 UTC: the site moves. Resume it, then run what was not sent.',
    })
    expect(await states()).toEqual(['a settled', 'b refused'])
    expect(await told()).toEqual([
      '⏸️ The plan night of 20 Nov 2026 10:00 UTC was paused before its end. “The plan night was paused by ada on 20 Nov 2026 10:00 UTC: the site moves. Resume it, then run what was not sent.” ✅ 1 project updated, ⏭️ 2 projects no longer asked for. 40 units charged in all.',
    ])
    product.clock.advance(minutes(5))
    await resume(product)
    expect((await unsent()).body).toMatchObject({ state: 'done', counts: { settled: 3, refused: 0, unsent: 0 } })
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await told()).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })
})

describe('a paused plan that was resumed while the service is down', () => {
  test('a resumed plan is retried in its rounds', async () => {
    let isDown = false
    const { product, fire, unsent, at, ran, last } = await startNight(
      { projects: names(6) },
      {
        on: ({ project, operation, product }) => {
          if (isDown && operation === 'estimate') return { status: 503 }
          if (operation !== 'run' || product.clock.now() > time) return undefined
          if (project < 'p04') return { status: 429 }
          const body = { reason: 'the site moves' }
          return { ...json({}), once: product.call('POST', '/plans/night/pause', { body }) }
        },
      },
    )
    await fire()
    expect(ran()).toEqual(names(4))
    expect(await last()).toMatchObject({ state: 'paused' })
    product.clock.advance(minutes(1))
    await product.call('POST', '/plans/night/resume', { body: { reason: 'moved' } })
    // The first three get no answer again, so the project that the pause refused is not tried.
    isDown = true
    expect((await unsent()).body).toMatchObject({ state: 'running', nextTryAt: '2026-11-20T10:06:00.000Z' })
    isDown = false
    await at(6)
    expect(ran()).toEqual([...names(4), 'p01', 'p02', 'p03', 'p05', 'p06'])
    expect(await last()).toMatchObject({ state: 'done' })
    expect(await product.audit()).toBe(true)
  })
})

describe('a plan that is disabled', () => {
  test.each([
    ['disabled', { enabled: false }, 'the plan is not enabled any more'],
    ['deleted', { name: 'day' }, 'there is no such plan any more'],
  ])('a plan that is %s after its occurrence began runs nothing more', async (_what, plan, reason) => {
    const { product, fire, last } = await startNight(
      {},
      { on: ({ operation }) => (operation === 'estimate' ? { status: 404 } : undefined) },
    )
    await fire()
    const { store, clock } = product
    const later = await startNight(plan, { store, clock })
    await later.at(5)
    expect(later.product.service.requests).toEqual([])
    expect(await last()).toMatchObject({ state: 'stopped', reason })
    expect((await later.told()).length).toBeLessThanOrEqual(1)
  })

  test('a plan that is deleted after a run does not claim that nothing was spent', async () => {
    const { product, fire } = await startNight(
      {},
      { on: ({ operation, project }) => (operation === 'estimate' && project !== 'a' ? { status: 404 } : undefined) },
    )
    await fire()
    const { store, clock } = product
    const later = await startNight({ name: 'day' }, { store, clock })
    await later.at(5)
    expect(await later.product.figures()).toMatchObject({ spent: 40 })
    expect(await later.told()).toEqual([
      '🛑 The plan night of 20 Nov 2026 10:00 UTC was stopped before its end. “there is no such plan any more” /units updates lists the updates that it ran before.',
    ])
  })

  test('no request runs a disabled plan', async () => {
    const { product, fire, unsent, last } = await startNight({ enabled: false })
    await fire()
    const detail = 'The plan night is not enabled in the plans file.'
    expect((await unsent()).body).toMatchObject({ type: '/problems/wrong-state', detail, plan: 'night' })
    expect(await (await product.guard.jobs()).fire('day', time, product.endsAt())).toEqual({
      kind: 'problem',
      problem: expect.objectContaining({ slug: 'not-found', detail: 'There is no plan day.' }),
    })
    expect((await product.call('POST', '/plans/night/run', { body: { time: due } })).status).toBe(409)
    expect(product.service.requests).toEqual([])
    expect(await last()).toBeNull()
  })
})

describe('a plan with failing estimates', () => {
  test('a project without an estimate is retried after 5, 15, 30 and 55 minutes', async () => {
    const { product, fire, at, estimated, states, last, told, ran } = await startNight(
      { projects: ['a'] },
      { on: ({ operation }) => (operation === 'estimate' ? { status: 502 } : undefined) },
    )
    await fire()
    const perTry = estimated().length
    const tries: number[] = []
    for (const minute of [0, 4.99, 5, 5.01, 14.99, 15, 29.99, 30, 54.99, 55, 59.99]) {
      const before = estimated().length
      await at(minute)
      if (estimated().length > before) tries.push(minute)
      expect(await states()).toEqual(['a requested'])
    }
    expect(tries).toEqual([5, 15, 30, 55])
    expect(estimated()).toHaveLength(5 * perTry)
    expect(await last()).toMatchObject({ state: 'running' })
    await at(60)
    expect(await last()).toMatchObject({ state: 'done' })
    expect(await states()).toEqual(['a expired'])
    expect(ran()).toEqual([])
    expect(await told()).toEqual([
      '🗓️ The plan night of 20 Nov 2026 10:00 UTC is finished. ⏭️ 1 project no longer asked for. Nothing was spent.',
    ])
    expect(await product.audit()).toBe(true)
  })

  test('three projects in a row without an answer end the round, and the others start the next round', async () => {
    const { product, fire, at, ran, estimated } = await startNight(
      { projects: names(5) },
      { on: ({ project, operation }) => (operation === 'estimate' && project < 'p04' ? { status: 502 } : undefined) },
    )
    await fire()
    expect([ran(), [...new Set(estimated())]]).toEqual([[], names(3)])
    await at(5)
    expect(ran()).toEqual(['p04', 'p05'])
    expect(await product.audit()).toBe(true)
  })

  test.each<[string, Answer]>([
    ['that cannot be read', json({ keywords: 'many' })],
    ['that the service refuses', { status: 404 }],
  ])('after three estimates in a row %s, the other projects are still tried', async (_what, answer) => {
    const { product, fire, ran } = await startNight(
      { projects: names(5) },
      { on: ({ project, operation }) => (operation === 'estimate' && project < 'p04' ? answer : undefined) },
    )
    await fire()
    expect(ran()).toEqual(['p04', 'p05'])
    expect(await product.audit()).toBe(true)
  })

  test('a round continues with all projects if a project runs between unanswered projects', async () => {
    const { fire, estimated, ran } = await startNight(
      { projects: names(7) },
      {
        on: ({ project, operation }) =>
          operation === 'estimate' && !['p03', 'p06'].includes(project) ? { status: 502 } : undefined,
      },
    )
    await fire()
    expect([...new Set(estimated())]).toEqual(names(7))
    expect(ran()).toEqual(['p03', 'p06'])
  })

  test('after 20 minutes without the service, all 12 projects run within the hour, with one announcement', async () => {
    const { product, fire, at, ran, told, last } = await startNight(
      { projects: names(12) },
      { on: ({ product }) => (product.clock.now() < time + minutes(20) ? { status: 503 } : undefined) },
    )
    await fire()
    for (const minute of [1, 5, 6, 15, 16]) await at(minute)
    expect(ran()).toEqual([])
    expect(await told()).toEqual([])
    await at(30)
    expect(ran()).toEqual(names(12))
    expect(await last()).toMatchObject({ state: 'done', finishedAt: '2026-11-20T10:30:00.000Z' })
    await at(55)
    expect(await told()).toEqual([
      '🗓️ The plan night of 20 Nov 2026 10:00 UTC is finished. ✅ 12 projects updated. 480 units charged in all.',
    ])
    expect(await product.figures()).toMatchObject({ spent: 480, held: 0, inDoubt: 0 })
    expect(await product.audit()).toBe(true)
  })

  test('only its occurrence starts a queued update, not the stream or the sweep', async () => {
    const { product, fire, at, estimated } = await startNight(
      { projects: ['a'] },
      { on: ({ operation }) => (operation === 'estimate' ? { status: 404 } : undefined) },
    )
    await fire()
    await product.deliver()
    await at(4)
    expect(estimated()).toEqual(['a'])
  })

  test('a plan announces after an hour what was not sent, and `only: unsent` runs it', async () => {
    const { product, fire, at, ran, states, last, told, unsent, report } = await startNight(
      { projects: names(7) },
      {
        on: ({ product, operation }) =>
          operation === 'estimate' && product.clock.now() < time + hours(2) ? { status: 503 } : undefined,
      },
    )
    await fire()
    await at(5)
    expect(await states()).toEqual(names(6).map((name) => `${name} requested`))
    // No sweep comes at 15, 30 and 55 minutes; a late sweep tries the next round one more time.
    await at(60)
    expect(await states()).toEqual([
      'p01 expired',
      'p02 expired',
      'p03 expired',
      'p04 requested',
      'p05 requested',
      'p06 requested',
      'p07 requested',
    ])
    expect(await last()).toMatchObject({ state: 'done' })
    expect((await report())?.rows.filter(({ update }) => isUnsent(update)).map(({ project }) => project)).toEqual(
      names(7),
    )
    // Four updates are still requested, but they expire, because an ended occurrence starts nothing.
    expect(await told()).toEqual([
      '🗓️ The plan night of 20 Nov 2026 10:00 UTC is finished. ⏭️ 7 projects no longer asked for. Nothing was spent.',
    ])
    await at(121)
    expect(ran()).toEqual([])
    expect((await unsent()).body).toMatchObject({ state: 'done', counts: { settled: 7, expired: 0, unsent: 0 } })
    expect(ran()).toEqual(names(7))
    expect(await told()).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })

  test('a sweep exactly an hour late runs what was due', async () => {
    const { fire, at, ran } = await startNight(
      { projects: ['a'] },
      {
        on: ({ operation, product }) =>
          operation === 'run' && product.clock.now() === time ? { status: 429 } : undefined,
      },
    )
    await fire()
    await at(65)
    expect(ran()).toEqual(['a', 'a'])
  })

  test("a sweep more than an hour late does not run a night's plan at noon", async () => {
    const { fire, at, ran, last, told } = await startNight(
      {},
      {
        on: ({ operation, product }) =>
          operation === 'estimate' && product.clock.now() < time + minutes(3) ? { status: 503 } : undefined,
      },
    )
    await fire()
    await at(65.01)
    expect(ran()).toEqual([])
    expect(await last()).toMatchObject({ state: 'stopped', reason: 'no process could resume it for more than an hour' })
    expect(await told()).toEqual([
      '🛑 The plan night of 20 Nov 2026 10:00 UTC was stopped before its end. “no process could resume it for more than an hour” ⏭️ 3 projects no longer asked for. Nothing was spent.',
    ])
  })

  test('a plan that takes over an hour runs to its end while a process works on it', async () => {
    const { product, fire, sweep, ran, last } = await startNight(
      { projects: names(10) },
      {
        on: ({ operation, product }) => {
          if (operation === 'run') product.clock.advance(minutes(10))
          return undefined
        },
      },
    )
    await fire()
    for (let count = 0; count < 5; count++) await sweep()
    expect(ran()).toEqual(names(10))
    expect(await last()).toMatchObject({ state: 'done', finishedAt: '2026-11-20T11:40:00.000Z' })
    expect(await product.audit()).toBe(true)
  })
})

describe('attempts that provably did not run', () => {
  test('each attempt of a project is a new update after the release of the previous update, and only two send `run`', async () => {
    const { product, fire, at, ran, states, last, told } = await startNight(
      { projects: ['a', 'b'] },
      { on: ({ project, operation }) => (operation === 'run' && project === 'a' ? { status: 429 } : undefined) },
    )
    await fire()
    expect(ran()).toEqual(['a', 'b'])
    for (const [minute, tries] of [
      [4.99, 1],
      [5, 2],
      [14, 2],
      [15, 2],
      [55, 2],
      [60, 2],
      [90, 2],
    ] as const) {
      await at(minute)
      expect(ran().filter((project) => project === 'a')).toHaveLength(tries)
    }
    expect(await states()).toEqual(['a released', 'a released', 'b settled'])
    expect(await last()).toMatchObject({ state: 'done' })
    expect(await told()).toEqual([
      '🗓️ The plan night of 20 Nov 2026 10:00 UTC is finished. ✅ 1 project updated, ↩️ 1 project did not run; nothing was spent. 40 units charged in all.',
    ])
    expect(await product.figures()).toMatchObject({ spent: 40, held: 0, inDoubt: 0 })
    expect(await product.audit()).toBe(true)
  })

  test('a round makes each attempt once, also if it takes several sweeps', async () => {
    const { product, fire, at, ran } = await startNight(
      {},
      {
        on: ({ project, operation, product }) => {
          if (product.clock.now() < time + minutes(5)) return operation === 'estimate' ? { status: 503 } : undefined
          if (operation === 'run') product.clock.advance(minutes(1))
          return operation === 'run' && project === 'a' ? { status: 429 } : undefined
        },
      },
    )
    await fire()
    product.clock.advance(minutes(5))
    // Each sweep has time for one step.
    for (let count = 0; count < 5; count++) await product.triggers.sweep(product.clock.now() + 60_000)
    expect(ran()).toEqual(['a', 'b', 'c'])
    await at(15)
    expect(ran()).toEqual(['a', 'b', 'c', 'a'])
  })
})

describe('attempts in doubt', () => {
  test('an update in doubt is never attempted again, and the others continue', async () => {
    const { product, fire, at, ran, last, told } = await startNight(
      {},
      { on: ({ project, operation }) => (operation === 'run' && project === 'b' ? { status: 503 } : undefined) },
    )
    await fire()
    for (const minute of [5, 15, 30, 55, 60]) await at(minute)
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await last()).toMatchObject({ state: 'done', finishedAt: '2026-11-20T10:00:00.000Z' })
    expect(await told()).toEqual([
      '🗓️ The plan night of 20 Nov 2026 10:00 UTC is finished. ✅ 2 projects updated, ❓ 1 project in doubt; the units stay counted. 80 units charged in all.',
    ])
    expect(await product.figures()).toMatchObject({ spent: 80, inDoubt: 40 })
    expect(await product.audit()).toBe(true)
  })

  test('a settled update between two doubts restarts the count', async () => {
    const inDoubt = ['p01', 'p02', 'p04', 'p05']
    const { fire, ran, last } = await startNight(
      { projects: names(6) },
      {
        on: ({ project, operation }) =>
          operation === 'run' && inDoubt.includes(project) ? { status: 500 } : undefined,
      },
    )
    await fire()
    expect(ran()).toEqual(names(6))
    expect(await last()).toMatchObject({ state: 'done' })
  })

  test('a refused update between two doubts does not restart the count', async () => {
    const { fire, ran, last } = await startNight(
      { projects: names(6) },
      {
        units: { p02: 90_000 },
        on: ({ operation }) => (operation === 'run' ? { status: 500 } : undefined),
      },
    )
    await fire()
    expect(ran()).toEqual(['p01', 'p03', 'p04'])
    expect(await last()).toMatchObject({ state: 'stopped' })
  })

  test('three doubts in a row stop an occurrence, and `only: unsent` runs the projects resolved as not run', async () => {
    let isBroken = true
    const { product, fire, at, ran, last, told, unsent, states } = await startNight(
      { projects: names(6) },
      { on: ({ operation }) => (operation === 'run' && isBroken ? { status: 500 } : undefined) },
    )
    await fire()
    expect(ran()).toEqual(names(3))
    expect(await last()).toMatchObject({
      state: 'stopped',
      reason: '3 updates in a row are in doubt; resolve them, then run what was not sent',
    })
    for (const minute of [5, 15]) await at(minute)
    expect(ran()).toEqual(names(3))
    expect(await told()).toEqual([
      '🛑 The plan night of 20 Nov 2026 10:00 UTC was stopped before its end. “3 updates in a row are in doubt; resolve them, then run what was not sent” ❓ 3 projects in doubt; the units stay counted, ⏭️ 3 projects no longer asked for. Nothing is charged yet.',
    ])
    isBroken = false
    const { body } = await product.call('GET', '/updates?state=in-doubt')
    const idOf = (wanted: string) => body.updates.find(({ project }: { project: string }) => project === wanted).id
    const stopped = await last()
    const refusal = await unsent()
    expect([refusal.status, refusal.body]).toEqual([
      409,
      expect.objectContaining({
        type: '/problems/wrong-state',
        plan: 'night',
        doubts: names(3).map((project) => ({ update: idOf(project), project, units: 40 })),
        detail: `The run of the plan night of 20 Nov 2026 10:00 UTC is stopped by 3 updates in a row that are in doubt: ${idOf('p01')} (p01), ${idOf('p02')} (p02) and ${idOf('p03')} (p03). Nothing was sent. Resolve them, then run what was not sent.`,
      }),
    ])
    expect(await last()).toEqual(stopped)
    expect(await told()).toHaveLength(1)
    expect(ran()).toEqual(names(3))

    const resolve = (project: string, outcome: string) =>
      product.call('POST', `/updates/${idOf(project)}/resolve`, { body: { outcome, reason: 'looked it up' } })
    expect((await resolve('p01', 'ran')).status).toBe(200)
    expect((await resolve('p02', 'did-not-run')).status).toBe(200)
    expect((await resolve('p03', 'did-not-run')).status).toBe(200)
    product.clock.advance(minutes(1))
    expect((await unsent()).body).toMatchObject({ state: 'done', counts: { settled: 6 }, unitsCharged: 240 })
    expect(ran()).toEqual([...names(3), 'p02', 'p03', 'p04', 'p05', 'p06'])
    expect(await states()).toEqual([
      'p01 settled',
      'p02 released',
      'p02 settled',
      'p03 released',
      'p03 settled',
      'p04 settled',
      'p05 settled',
      'p06 settled',
    ])
    expect(await product.figures()).toMatchObject({ spent: 240, held: 0, inDoubt: 0 })
    expect(await product.audit()).toBe(true)
  })

  test('a project that a person says did not run is not retried automatically', async () => {
    const { product, fire, at, ran } = await startNight(
      { projects: ['a', 'b'] },
      {
        on: ({ project, operation }) =>
          project === 'a' && operation === 'run'
            ? { status: 500 }
            : operation === 'estimate' && project === 'b'
              ? { status: 404 }
              : undefined,
      },
    )
    await fire()
    await at(6)
    const { body } = await product.call('GET', '/updates?state=in-doubt')
    const outcome = { outcome: 'did-not-run', reason: 'looked it up' }
    expect((await product.call('POST', `/updates/${body.updates[0].id}/resolve`, { body: outcome })).status).toBe(200)
    for (const minute of [15, 30, 55, 60]) await at(minute)
    expect(ran()).toEqual(['a'])
  })
})

describe('running what was not sent', () => {
  test('running what was not sent waits for a round that is due, and reopens an ended occurrence', async () => {
    let isOpen = false
    const { product, fire, at, unsent, ran, estimated, told } = await startNight(
      { projects: ['a', 'b'] },
      {
        on: ({ project, operation }) =>
          operation === 'estimate' && project === 'a' && !isOpen ? { status: 404 } : undefined,
      },
    )
    await fire()
    product.clock.advance(minutes(1))
    expect((await unsent()).body).toMatchObject({ state: 'running', nextTryAt: '2026-11-20T10:05:00.000Z' })
    expect(estimated()).toEqual(['a', 'b'])
    for (const minute of [5, 15, 30, 55, 60]) await at(minute)
    isOpen = true
    expect((await unsent()).body).toMatchObject({ state: 'done', counts: { settled: 2 } })
    expect(ran()).toEqual(['b', 'a'])
    expect(await told()).toHaveLength(2)
    const logged = product.logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'occurrence')
    expect(logged.map(({ state }) => state)).toEqual(['running', 'done', 'done'])
    expect(await product.audit()).toBe(true)
  })

  test('running what was not sent announces the end of a stopped occurrence if nothing is left', async () => {
    const { product, fire, unsent, ran, told } = await startNight(
      {},
      { on: ({ operation }) => (operation === 'run' ? { status: 500 } : undefined) },
    )
    await fire()
    const { body } = await product.call('GET', '/updates?state=in-doubt')
    const ids = body.updates.map(({ id }: { id: string }) => id)
    const outcome = { ids, outcome: 'ran', reason: 'looked it up' }
    expect((await product.call('POST', '/updates/resolve', { body: outcome })).status).toBe(200)
    expect((await unsent()).body).toMatchObject({ state: 'done', counts: { settled: 3 } })
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect((await told()).at(-1)).toBe(
      '🗓️ The plan night of 20 Nov 2026 10:00 UTC is finished. ✅ 3 projects updated. 120 units charged in all.',
    )
  })
})

describe('running what was not sent after a person’s wrong statement', () => {
  const gone: RunResult = { kind: 'did-not-run', reason: 'refused with status 400', status: 400, answer: null }

  /** A project with an update in doubt, while the sender of the update still waits. */
  async function inDoubt(kind: string) {
    const plans = parsePlans(JSON.stringify([{ ...night, kind, projects: ['a'] }]))
    const product = await startGuard({ parts: { plans: async () => plans } })
    const { guard, elsewhere, clock, service, other, sent } = product
    let answer = (_result: RunResult) => {}
    service.run = () => new Promise((resolve) => (answer = resolve))
    const fired = (await guard.jobs()).fire('night', time, time + minutes(1))
    await until(() => sent.length === 1)
    clock.advance(minutes(30))
    await (await elsewhere.jobs()).sweep(clock.now() + minutes(1))
    const [update] = (await other.open('in-doubt', 1)).rows
    if (!update) throw new Error('nothing is in doubt')
    return {
      ...product,
      resolve: (outcome: 'ran' | 'did-not-run') =>
        guard.decide(outcome, update.id, { caller: 'eve' }, { reason: 'looked it up' }),
      /** Gives the sender its answer after all. */
      hear: async (result: RunResult) => {
        answer(result)
        await fired
        service.run = async () => didRun
      },
      /** A day after the end of the occurrence. */
      unsent: async () => {
        clock.advance(hours(24))
        await (await guard.jobs()).advanceOccurrences(clock.now() + minutes(1))
        return (await guard.jobs()).runAgain('night', time, 'unsent', clock.now() + minutes(1))
      },
      now: () => other.update(update.id),
    }
  }

  test('running what was not sent does not repeat a known run', async () => {
    const { resolve, hear, unsent, now, sent, counts } = await inDoubt('keyword-difficulty')
    expect((await resolve('did-not-run')).kind).toBe('done')
    await hear(didRun)
    expect(await now()).toMatchObject({ state: 'released', corrected: true, charged: 40 })
    expect(await unsent()).toMatchObject({ kind: 'fired', occurrence: { state: 'done' } })
    expect([sent.length, (await counts()).spent]).toEqual([1, 40])
  })

  test('running what was not sent does not repeat a ranking that evidence proves, even days later', async () => {
    const { resolve, hear, unsent, now, service, sweep, sent } = await inDoubt('ranking')
    expect((await resolve('did-not-run')).kind).toBe('done')
    service.dates = async () => ({ kind: 'dates', dates: ['2026-11-20'] })
    await sweep()
    expect(await now()).toMatchObject({ state: 'released', corrected: true, charged: 40 })
    await hear(unknown)
    expect((await unsent()).kind).toBe('fired')
    expect(sent).toHaveLength(1)
  })

  test('running what was not sent repeats an update that is known not to have run', async () => {
    const { resolve, hear, unsent, now, sent, counts } = await inDoubt('keyword-difficulty')
    expect((await resolve('ran')).kind).toBe('done')
    await hear(gone)
    expect(await now()).toMatchObject({ state: 'settled', corrected: true, charged: 0 })
    expect((await unsent()).kind).toBe('fired')
    expect([sent.length, (await counts()).spent]).toEqual([2, 40])
  })
})

describe('a project with a crashing attempt', () => {
  test('a project with a crashing attempt does not stop the others or the end of the occurrence', async () => {
    const inner = createMemoryStore()
    const work = workKey('ranking', 'b').pk
    const broken: Store = {
      ...inner,
      get: (keys) => (keys.some(({ pk }) => pk === work) ? Promise.reject(new Error('damaged')) : inner.get(keys)),
    }
    const { product, fire, at, ran, told, last } = await startNight({}, { store: broken })
    await fire()
    expect(ran()).toEqual(['a', 'c'])
    for (const minute of [5, 15, 30, 55, 60]) await at(minute)
    expect(await last()).toMatchObject({ state: 'done', finishedAt: '2026-11-20T11:00:00.000Z' })
    expect(await told()).toEqual([
      '🗓️ The plan night of 20 Nov 2026 10:00 UTC is finished. ✅ 2 projects updated, ⏭️ 1 project no longer asked for. 80 units charged in all.',
    ])
    const waits = product.logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'project-waits')
    expect(waits).toMatchObject(Array(5).fill({ plan: 'night', time, project: 'b' }))
    expect(await product.audit()).toBe(true)
  })
})

describe('a process that dies during an occurrence', () => {
  test('an update is in doubt if its process dies; another process continues after the lease and repeats nothing', async () => {
    const { opened, open } = gate()
    const { product, fire, sweep, ran, told, states, last } = await startNight(
      {},
      {
        on: ({ project, operation }) =>
          project === 'b' && operation === 'run' ? { ...json({}), once: opened } : undefined,
      },
    )
    const dying = fire().catch((error: Error) => error.message)
    await until(() => ran().includes('b'))
    const other = product.startProcess()
    product.clock.advance(150_000)
    await sweep(other)
    expect(ran()).toEqual(['a', 'b'])
    // The lease ends after three steps, each of twice the service's time and twelve seconds.
    product.clock.advance(6_000)
    await sweep(other)
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await states()).toEqual(['a settled', 'b in-doubt', 'c settled'])
    // The first process continues: its late answer settles its own update, and it touches nothing else.
    open()
    expect(await dying).toBe('another process has taken over the occurrence night#2026-11-20T10:00:00.000Z')
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await states()).toEqual(['a settled', 'b settled', 'c settled'])
    expect(await last()).toMatchObject({ state: 'done' })
    expect(await told()).toHaveLength(1)
    expect(await product.audit()).toBe(true)
  })

  test.each([
    ['an hour', 0, ['a', 'b', 'c']],
    ['more than an hour', 1, ['a', 'b']],
  ])('with a lease that ended %s ago plus %d ms, %j have run', async (_long, late, projects) => {
    const { opened, open } = gate()
    const { product, fire, sweep, ran, last } = await startNight(
      {},
      {
        on: ({ project, operation, product }) => {
          if (operation !== 'run') return undefined
          if (project === 'b') return { ...json({}), once: opened }
          if (product.clock.now() === time) product.clock.advance(minutes(10))
          return undefined
        },
      },
    )
    const dying = fire().catch((error: Error) => error.message)
    await until(() => ran().includes('b'))
    // The lease was renewed before b, for three steps of 52 seconds.
    product.clock.set(new Date(time + minutes(70) + 156_000 + late).toISOString())
    await sweep(product.startProcess())
    expect(ran()).toEqual(projects)
    expect(await last()).toMatchObject(
      late === 0 ? { state: 'done' } : { state: 'stopped', reason: 'no process could resume it for more than an hour' },
    )
    open()
    await dying
  })

  test('a repeated delivery does not end an occurrence before the outcome of its last run is known', async () => {
    const { opened, open } = gate()
    const { product, fire, sweep, ran, told, last } = await startNight(
      { projects: ['a'] },
      { on: ({ operation }) => (operation === 'run' ? { ...json({}), once: opened } : undefined) },
    )
    const dying = (await product.guard.jobs()).fire('night', time, product.endsAt())
    await until(() => ran().length === 1)
    product.clock.advance(156_000)
    const other = product.startProcess()
    await fire(other)
    expect(await last()).toMatchObject({ state: 'running', finishedAt: null })
    product.clock.advance(minutes(5))
    await sweep(other)
    expect(await last()).toMatchObject({ state: 'done' })
    open()
    await dying
    expect(ran()).toEqual(['a'])
    expect(await told()).toHaveLength(1)
    expect(await product.audit()).toBe(true)
  })

  test('a long occurrence renews its lease in time, and no sweep takes it over', async () => {
    let inFlight = 0
    let most = 0
    const { product, fire, ran } = await startNight(
      { projects: names(4) },
      {
        on: ({ operation, product }) => {
          if (operation !== 'run') return undefined
          most = Math.max(most, ++inFlight)
          product.clock.advance(52_000)
          const swept = product.startProcess().triggers.sweep(product.endsAt())
          return { ...json({ keyword_units: 40 }), once: swept.then(() => inFlight--) }
        },
      },
    )
    await fire()
    expect(ran()).toEqual(names(4))
    expect(most).toBe(1)
    // The transactions: created, started, renewed before the second, third and fourth step, and closed.
    const [occurrence] = await product.guard.ledger.queue(occurrences).latest('occurrences#night', 1)
    expect(occurrence).toMatchObject({ state: 'done', version: 6 })
  })

  test('a process that returns late leaves the end to the process that took over', async () => {
    const { opened, open } = gate()
    const { product, sweep, ran, told, last } = await startNight(
      { projects: ['a'] },
      { on: ({ operation }) => (operation === 'run' ? { ...json({}), once: opened } : undefined) },
    )
    const dying = (await product.guard.jobs()).fire('night', time, product.endsAt())
    await until(() => ran().length === 1)
    product.clock.advance(160_000)
    await sweep(product.startProcess())
    product.clock.advance(1_000)
    open()
    const fired = await dying
    expect(fired).toMatchObject({ kind: 'fired', occurrence: { state: 'done', doneAt: time + 160_000 } })
    expect(await last()).toMatchObject({ state: 'done', finishedAt: '2026-11-20T10:02:40.000Z' })
    expect(await told()).toHaveLength(1)
    expect(await product.audit()).toBe(true)
  })

  // The process dies at each transaction of an occurrence of three projects in turn, and everything still ends well.
  test('the sweep replaces a process that dies at any write: each project runs once, with one announcement', async () => {
    const whole = failingStore()
    const first = await startNight({}, { store: whole.store })
    await first.product.call('GET', '/plans')
    whole.count()
    await first.fire()
    const writes = whole.count()
    expect(writes).toBeGreaterThanOrEqual(9)

    for (let position = 0; position < writes; position++) {
      for (const kind of ['not-applied', 'applied'] as const) {
        const failing = failingStore()
        const { product, fire, sweep, ran, last, states } = await startNight({}, { store: failing.store })
        await product.call('GET', '/plans')
        failing.failAt(position, kind, product.clock)
        await fire().catch(() => 'dead')
        failing.heal()
        // EventBridge delivers again, and another process sweeps until the hour is over.
        const other = product.startProcess()
        await fire(other)
        for (const minute of [2, 10, 60]) {
          product.clock.set(new Date(time + minutes(minute)).toISOString())
          await sweep(other)
        }
        const at = `${kind} ${position}`
        const all = ran()
        expect([at, new Set(all).size]).toEqual([at, all.length])
        // If the hold was the last write, the run was not sent. No process knows that, so the update is in doubt.
        expect([at, all.length >= 2, (await states()).length]).toEqual([at, true, 3])
        expect([at, (await last()).state]).toEqual([at, 'done'])
        const told = product.slack.posted().filter(({ text }) => aboutOccurrence.test(text))
        expect([at, told.length]).toEqual([at, 1])
        const { held, inDoubt, spent } = await product.figures()
        expect([at, held, inDoubt + spent]).toEqual([at, 0, 120])
        expect([at, await product.audit()]).toEqual([at, true])
      }
    }
  })

  test('an occurrence without enough time continues in order at the next sweep', async () => {
    const { product, ran, sweep, last } = await startNight(
      {},
      {
        on: ({ operation, product }) => {
          if (operation === 'run') product.clock.advance(50_000)
          return undefined
        },
      },
    )
    // A step takes up to 52 s, so there is time for exactly two steps.
    await product.triggers.handle({ plan: 'night', time: due }, product.clock.now() + 102_000)
    expect(ran()).toEqual(['a', 'b'])
    expect(await last()).toMatchObject({ state: 'running', finishedAt: null })
    await sweep()
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await last()).toMatchObject({ state: 'done' })
    expect(await product.audit()).toBe(true)
  })
})

describe('an occurrence with random faults', () => {
  const roundsAt = [0, 5, 15, 30, 55]

  test.each([1, 2])(
    'an hour of random faults, seed %i: nothing runs twice or too early, and all ends with one announcement',
    async (seed) => {
      const chance = chanceOf(seed)
      const runs: { project: string; minute: number; status: number }[] = []
      const { product, fire, last } = await startNight(
        { projects: names(8) },
        {
          on: ({ project, operation, product }) => {
            if (operation === 'estimate')
              return chance([undefined, undefined, undefined, { status: 502 }, { status: 404 }])
            if (operation !== 'run') return undefined
            const status = chance([200, 200, 200, 429, 404, 500])
            runs.push({ project, minute: (product.clock.now() - time) / minutes(1), status })
            return status === 200 ? undefined : { status }
          },
        },
      )
      const processes = [product, product.startProcess(), product.startProcess()]
      await Promise.all(processes.map((process) => fire(process)))
      for (let minute = 1; minute <= 63; minute++) {
        product.clock.advance(minutes(1))
        // In most minutes a process sweeps, sometimes two at once, and some sweeps have time for only one step.
        await Promise.all(
          processes.map(
            (process) =>
              chance([true, false, false]) &&
              process.triggers.sweep(product.clock.now() + chance([30_000, 60_000, minutes(15)])),
          ),
        )
      }
      await product.triggers.sweep(product.endsAt())
      for (const project of names(8)) {
        const own = runs.filter((run) => run.project === project)
        // An attempt follows only a refused attempt, and each round has at most one attempt.
        expect(own.slice(0, -1).filter(({ status }) => status === 200 || status === 500)).toEqual([])
        const rounds = own.map(({ minute }) => roundsAt.findLastIndex((from) => minute >= from))
        expect(rounds).toEqual([...new Set(rounds)])
      }
      const { state } = await last()
      const inDoubt = runs.filter(({ status }) => status === 500).length
      expect(state === 'done' || (state === 'stopped' && inDoubt >= 3)).toBe(true)
      const settled = runs.filter(({ status }) => status === 200).length
      expect(await product.figures()).toMatchObject({ spent: 40 * settled, inDoubt: 40 * inDoubt, held: 0 })
      product.clock.advance(minutes(3))
      await product.triggers.sweep(product.endsAt())
      // Two simultaneous sweeps may both announce the occurrence, with the same text.
      const told = product.slack
        .posted()
        .filter(({ text }) => aboutOccurrence.test(text))
        .map(({ text }) => text)
      expect([...new Set(told)]).toHaveLength(1)
      expect(await product.audit()).toBe(true)
    },
  )

  test('only one of three processes that start a round at once works on the round', async () => {
    const { product, fire, ran, sweep } = await startNight(
      {},
      {
        store: await createStore(),
        on: ({ product }) => (product.clock.now() < time + minutes(5) ? { status: 503 } : undefined),
      },
    )
    await fire()
    product.clock.advance(minutes(5))
    await Promise.all([product, product.startProcess(), product.startProcess()].map((process) => sweep(process)))
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await product.audit()).toBe(true)
  })
})

/** Makes the same choices for the same seed. */
function chanceOf(seed: number) {
  let state = seed
  return <T>(of: readonly T[]): T => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return of[Math.floor((state / 2 ** 32) * of.length)] as T
  }
}

describe('an unreadable token of the service', () => {
  test('a round without a readable token sends and records nothing, and the next round runs all', async () => {
    const { product, fire, at, ran, states } = await startNight()
    const token = product.secrets.values['unit-guard/service-token']
    product.secrets.values['unit-guard/service-token'] = undefined
    await expect(fire()).resolves.toBeUndefined()
    await at(4)
    expect(product.service.requests).toEqual([])
    expect(await states()).toEqual([])
    // Without the token for the first project, the others have none either.
    expect(product.logged.filter((line) => line.includes('"project-waits"'))).toHaveLength(1)
    product.secrets.values['unit-guard/service-token'] = token
    await at(5)
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await product.audit()).toBe(true)
  })
})

/** A store that fails one write and everything after it, as if the process had died. */
function failingStore() {
  const inner = createMemoryStore()
  let writes = 0
  let failing: { at: number; kind: 'not-applied' | 'applied' } | null = null
  let clock: TestClock | undefined
  const gone = () => {
    clock?.advance(3_000) // a refused write takes this long
    return new LedgerUnavailable('no answer')
  }
  const isDead = () => failing !== null && writes > failing.at
  const store: Store = {
    get: async (keys) => {
      if (isDead()) throw gone()
      return inner.get(keys)
    },
    list: (query) => inner.list(query),
    transact: async (all: readonly Write[], token) => {
      if (isDead()) throw gone()
      const position = writes++
      if (failing?.at !== position) return inner.transact(all, token)
      if (failing.kind === 'applied') await inner.transact(all, token)
      throw gone()
    },
  }
  return {
    store,
    /** The number of writes since the last call. */
    count: () => {
      const counted = writes
      writes = 0
      return counted
    },
    failAt: (at: number, kind: 'not-applied' | 'applied', of: TestClock) => {
      clock = of
      writes = 0
      failing = { at, kind }
    },
    heal: () => {
      failing = null
    },
  }
}

describe('an occurrence in the future', () => {
  test('an occurrence in the future is refused everywhere', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      plans: [{ name: 'morning', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 5 * * ? *)' }],
    })
    const time = product.clock.now() + 3 * 60_000
    const tomorrow = { time: new Date(time).toISOString() }
    for (const body of [tomorrow, { ...tomorrow, only: 'unsent' }]) {
      const { status, body: answer } = await product.call('POST', '/plans/morning/run', { body })
      expect([status, answer.plan, answer.detail]).toEqual([
        409,
        'morning',
        '20 Nov 2026 10:03 UTC is still to come; the plan morning runs then, not before.',
      ])
    }
    expect(await product.guard.ledger.queue(occurrences).open(10)).toEqual({ rows: [] })
    expect(product.service.requests).toEqual([])
    product.clock.advance(minutes(1))
    const body = { ...tomorrow, only: 'unsent' }
    expect((await product.call('POST', '/plans/morning/run', { body })).status).toBe(200)
  })
})

test('a weekly plan of keyword difficulty runs every week', async () => {
  const weekly = { kind: 'keyword-difficulty', projects: ['1001'], schedule: 'cron(0 10 ? * FRI *)' }
  const { product, states } = await startNight(weekly)
  for (const friday of ['2026-11-20', '2026-11-27', '2026-12-04', '2026-12-11', '2026-12-18']) {
    product.clock.set(`${friday}T10:00:10Z`)
    await product.triggers.handle({ plan: 'night', time: `${friday}T10:00:00Z` }, product.endsAt())
  }
  expect(await states()).toEqual(Array(5).fill('1001 settled'))
})
