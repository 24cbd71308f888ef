import { describe, expect, test } from 'vitest'
import { occurrences } from '../../../shared/guard/plans/stored-occurrence.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { days, minutes } from '../../support/clock.ts'
import { aboutOccurrence, due, startNight, time } from '../../support/night.ts'
import { json, type Product } from '../../support/product.ts'
import { createStore } from '../../support/store/stores.ts'

const month = (units: number | 'unlimited') => [{ window: 'month', units }]

/** A night with `b` and `c` refused, because the account was frozen while `a` ran. */
async function refusedNight(options: Parameters<typeof startNight>[1] = {}, plan: object = {}) {
  const started = await startNight(plan, {
    ...options,
    on: (asked) => {
      const { project, operation, product } = asked
      const own = options.on?.(asked)
      if (own || project !== 'a' || operation !== 'run') return own
      const body = { reason: 'audit' }
      return { status: 200, once: product.call('POST', '/budgets/account/freeze', { body }) }
    },
  })
  const { product } = started
  await started.fire()
  expect(started.ran()).toEqual(['a'])
  product.clock.advance(minutes(5))
  return {
    ...started,
    unfreeze: () => product.call('POST', '/budgets/account/unfreeze', { body: { reason: 'audited' } }),
    again: (only: string, process: { api: Product['api'] } = product) =>
      product.call('POST', '/plans/night/run', { body: { time: due, only }, process }),
  }
}

describe('a rerun of the refused projects of a plan', () => {
  test('a rerun decides each refused project again under a new id, and runs nothing twice', async () => {
    const { product, unfreeze, again, ran, told, last } = await refusedNight()
    expect((await again('unsent')).body).toMatchObject({ counts: { settled: 1, refused: 2 } })
    await unfreeze()
    // A refusal is final: only a request for a rerun decides again.
    expect((await again('unsent')).body).toMatchObject({ counts: { settled: 1, refused: 2 } })
    expect((await product.call('POST', '/plans/night/run', { body: { time: due } })).body.counts.refused).toBe(2)
    const { status, body } = await again('refused')
    expect([status, body]).toMatchObject([
      200,
      { state: 'done', counts: { settled: 3, refused: 0 }, unitsCharged: 120 },
    ])
    expect(ran()).toEqual(['a', 'b', 'c'])
    product.clock.advance(minutes(1))
    expect((await again('refused')).body).toEqual(body)
    expect(ran()).toEqual(['a', 'b', 'c'])
    const { body: updates } = await product.call('GET', '/updates?plan=night')
    const ids = updates.updates.map(({ id }: { id: string }) => id)
    expect([ids.length, new Set(ids).size]).toEqual([5, 5])
    expect(await last()).toMatchObject({ state: 'done' })
    expect(await told()).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })

  test('a rerun refuses again the projects that are still refused, and may be requested again', async () => {
    const { product, unfreeze, again, ran } = await refusedNight()
    expect((await again('refused')).body).toMatchObject({ state: 'done', counts: { settled: 1, refused: 2 } })
    product.clock.advance(minutes(1))
    await unfreeze()
    expect((await again('refused')).body).toMatchObject({ state: 'done', counts: { settled: 3, refused: 0 } })
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await product.audit()).toBe(true)
  })

  test('a rerun retries in rounds if the service provably did not run a project', async () => {
    let status = 429
    const { product, unfreeze, again, at, ran } = await refusedNight({
      on: ({ project, operation }) => (project === 'b' && operation === 'run' ? { status } : undefined),
    })
    await unfreeze()
    const first = await again('refused')
    expect([first.status, first.body.nextTryAt]).toEqual([202, '2026-11-20T10:10:00.000Z'])
    status = 200
    await at(10)
    expect(ran()).toEqual(['a', 'b', 'c', 'b'])
    expect(await product.audit()).toBe(true)
  })

  test('a rerun counts in the new month after the renewal, as a retry does', async () => {
    const { product, fire, at, ran } = await startNight(
      {},
      {
        env: { ACCOUNT_RENEWAL_DAY: '20', ACCOUNT_RENEWAL_TIME: '10:03' },
        units: { a: 60, b: 50, c: 40 },
        on: ({ project, operation, product }) =>
          project === 'c' && operation === 'estimate' && product.clock.now() < time + minutes(3)
            ? { status: 503 }
            : undefined,
      },
    )
    await product.call('PUT', '/budgets/account', { body: { limits: month(100) } })
    await fire()
    await at(5)
    expect(ran()).toEqual(['a', 'c'])
    const again = await product.call('POST', '/plans/night/run', { body: { time: due, only: 'refused' } })
    expect([again.status, again.body.counts]).toMatchObject([200, { settled: 3, refused: 0 }])
    expect(await product.figures()).toMatchObject({ limit: 100, available: 10, spent: 90 })
    const before = await product.call('GET', '/statements?window=month:2026-10-20&by=project')
    expect(before.body).toMatchObject({ status: 'final', total: { updates: 1, charged: 60, refused: 1 } })
    expect(await product.audit()).toBe(true)
  })

  test('a rerun of refused projects does not run unsent projects, and the reverse', async () => {
    const { product, unfreeze, again, at, ran } = await refusedNight(
      { on: ({ project, operation }) => (project === 'd' && operation === 'estimate' ? { status: 503 } : undefined) },
      { projects: ['d', 'a', 'b', 'c'] },
    )
    await unfreeze()
    // The occurrence is not over: its rounds retry `d`.
    const early = await again('refused')
    expect([early.status, early.body]).toMatchObject([
      409,
      {
        type: '/problems/wrong-state',
        plan: 'night',
        retryAt: '2026-11-20T11:00:00.000Z',
        detail:
          'The run of the plan night of 20 Nov 2026 10:00 UTC is not over; it may retry until 20 Nov 2026 11:00 UTC. When that run is over, run what was refused.',
      },
    ])
    for (const minute of [15, 30, 55, 61]) await at(minute)
    const asked = product.seen('estimate').length
    expect((await again('refused')).body).toMatchObject({
      state: 'done',
      counts: { settled: 3, refused: 0, expired: 1 },
    })
    expect(product.seen('estimate').length - asked).toBe(2)
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await product.audit()).toBe(true)
  })

  test('a rerun answers 409 while unsent projects are running, and the reverse', async () => {
    let isDown = false
    const { unfreeze, again, product } = await refusedNight({
      on: ({ operation }) => (isDown && operation === 'estimate' ? { status: 503 } : undefined),
    })
    await unfreeze()
    isDown = true
    expect((await again('refused')).status).toBe(202)
    product.clock.advance(minutes(1))
    expect((await again('refused')).status).toBe(202)
    const unsent = await again('unsent')
    expect([unsent.status, unsent.body.detail]).toEqual([
      409,
      'The run of the plan night of 20 Nov 2026 10:00 UTC is not over; it may retry until 20 Nov 2026 11:05 UTC. When that run is over, run what was not sent.',
    ])
  })

  test('a rerun skips rejected, cancelled and up-to-date projects', async () => {
    const { product, fire, ran } = await startNight({ whenShort: 'ask', budget: 'seo', projects: ['a', 'b', 'c', 'd'] })
    await product.call('PUT', '/budgets/seo', { body: { limits: month(40) } })
    await product.update({ kind: 'ranking', project: 'd' })
    await fire()
    const { body } = await product.call('GET', '/updates?state=awaiting-approval')
    const [one, other] = body.updates.map(({ id }: { id: string }) => id)
    await product.call('POST', `/updates/${one}/reject`)
    await product.call('POST', `/updates/${other}/cancel`)
    product.clock.advance(minutes(5))
    const again = await product.call('POST', '/plans/night/run', { body: { time: due, only: 'refused' } })
    expect([again.status, again.body.counts]).toMatchObject([200, { settled: 1, refused: 2, upToDate: 1 }])
    expect(ran()).toEqual(['d', 'a'])
    expect((await product.call('GET', '/updates?state=awaiting-approval')).body.updates).toEqual([])
  })

  test('a rerun by three processes at once runs each project once, with one announcement', async () => {
    const { product, unfreeze, again, ran, sweep } = await refusedNight({ store: await createStore() })
    await unfreeze()
    const processes = [product, product.startProcess(), product.startProcess()]
    const answers = await Promise.all([...processes, ...processes].map((process) => again('refused', process)))
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 202)).toEqual([])
    await sweep()
    expect(ran()).toEqual(['a', 'b', 'c'])
    await product.deliver()
    expect(product.slack.posted().filter(({ text }) => aboutOccurrence.test(text))).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })

  test('a rerun requires an occurrence that ran, and a plan that is enabled and not paused', async () => {
    const { product } = await startNight()
    const body = { time: due, only: 'refused' }
    const none = await product.call('POST', '/plans/night/run', { body })
    expect([none.status, none.body.detail]).toEqual([
      409,
      'The plan night has not run at 20 Nov 2026 10:00 UTC, so no update was refused; run what was not sent instead.',
    ])
    expect(await product.guard.ledger.queue(occurrences).open(10)).toEqual({ rows: [] })
    await product.call('POST', '/plans/night/pause', { body: { reason: 'audit' } })
    expect((await product.call('POST', '/plans/night/run', { body })).status).toBe(402)
    expect(product.service.requests).toEqual([])
  })

  test('a rerun counts a paused project as not sent, not as refused', async () => {
    const { product, fire, report } = await startNight(
      {},
      {
        on: ({ project, operation, product }) =>
          project === 'a' && operation === 'run'
            ? { status: 200, once: product.call('POST', '/plans/night/pause', { body: { reason: 'audit' } }) }
            : undefined,
      },
    )
    await fire()
    expect(await report()).toMatchObject({ counts: { settled: 1, refused: 0, unsent: 2 }, refusals: [] })
    product.clock.advance(minutes(1))
    await product.call('POST', '/plans/night/resume', { body: { reason: 'audited' } })
    const again = (only: string) => product.call('POST', '/plans/night/run', { body: { time: due, only } })
    expect((await again('refused')).body).toMatchObject({ state: 'paused', counts: { settled: 1, unsent: 2 } })
    expect((await again('unsent')).body).toMatchObject({ state: 'done', counts: { settled: 3 } })
  })
})

describe('a plan with up-to-date projects', () => {
  test('an up-to-date project is not refused in alarm, message, page, digest and statement', async () => {
    const { product, fire, report, told } = await startNight(
      {},
      {
        on: ({ project, operation }) =>
          project === 'c' && operation === 'dates' ? json({ dates: ['2026-11-20'] }) : undefined,
      },
    )
    for (const project of ['a', 'b']) await product.update({ kind: 'ranking', project })
    await fire()
    expect(await report()).toMatchObject({ counts: { settled: 0, upToDate: 3, refused: 0 }, refusals: [] })
    const lines = product.logged.filter((line) => line.includes('"event":"occurrence"')).map((line) => JSON.parse(line))
    expect(lines.at(-1)).toMatchObject({ state: 'done', refused: 0, unsent: 0 })
    expect(await told()).toEqual([
      '🗓️ The plan night of 20 Nov 2026 10:00 UTC is finished. ☑️ 3 projects up to date already. Nothing was spent.',
    ])
    const { body } = await product.call('POST', '/plans/night/run', { body: { time: due } })
    expect(body.projects.map(({ state }: { state: string }) => state)).toEqual(Array(3).fill('up-to-date'))
    product.clock.advance(minutes(1))
    expect(await (await reportsOf(product.guard)).digest(product.clock.now())).toMatchObject({ refused: 0 })
    const statement = await (await reportsOf(product.guard)).statement(null, 'caller')
    expect(statement?.total).toMatchObject({ updates: 2, refused: 0 })
    const again = await product.call('POST', '/plans/night/run', { body: { time: due, only: 'refused' } })
    expect(again.body.counts).toMatchObject({ upToDate: 3 })
    expect(product.seen('run')).toHaveLength(2)
  })
})

describe('a project with an earlier attempt that ran and a later one that did not', () => {
  test('a project that ran at an earlier attempt shows that attempt, and is not run again', async () => {
    let status = 500
    const { product, fire, unsent, report, ran } = await startNight(
      { projects: ['a'] },
      { on: ({ operation }) => (operation === 'run' ? { status } : undefined) },
    )
    await fire()
    const { body } = await product.call('GET', '/updates?plan=night')
    const [{ id }] = body.updates
    product.clock.advance(days(1))
    await product.call('POST', `/updates/${id}/resolve`, {
      body: { outcome: 'did-not-run', reason: 'not in their log' },
    })
    status = 429
    await unsent()
    expect(await report()).toMatchObject({ counts: { released: 1 } })
    const update = await product.guard.ledger.update(id)
    if (!update) throw new Error('the update is gone')
    await product.guard.ledger.settle(update, {
      kind: 'ran',
      units: toUnits(40),
      from: 'sender',
      by: 'guard',
      note: 'late',
    })
    product.clock.advance(days(1))
    await product.triggers.sweep(product.endsAt())
    expect(await report()).toMatchObject({
      counts: { settled: 1, released: 0, unsent: 0 },
      unitsCharged: 40,
      rows: [{ project: 'a', update: { id } }],
    })
    const runs = ran().length
    status = 200
    for (const only of ['unsent', 'refused']) {
      const again = await product.call('POST', '/plans/night/run', { body: { time: due, only } })
      expect(again.body.counts).toMatchObject({ settled: 1, released: 0 })
    }
    expect(ran()).toHaveLength(runs)
    expect(await product.audit()).toBe(true)
  })
})
