import { describe, expect, test } from 'vitest'
import { parsePlans } from '../../../shared/guard/plans-file.ts'
import { createExecution } from '../../../shared/guard/update/execute.ts'
import { createQuotes } from '../../../shared/guard/update/quote.ts'
import { createResume } from '../../../shared/guard/update/resume.ts'
import type { UpdateRequest } from '../../../shared/ledger/updates/update.ts'
import { hours, minutes } from '../../support/clock.ts'
import { only, startGuard } from '../../support/guard.ts'
import { at, u } from '../../support/records.ts'

describe('starting a queued update', () => {
  test('a start changes nothing about an unknown or ended update', async () => {
    const { guard, ask, clock, sent } = await startGuard()
    expect(await guard.start('upd_0', clock.now() + 60_000)).toBeNull()
    const update = only(await ask())
    expect(await guard.start(update.id, clock.now() + 60_000)).toEqual(update)
    expect(sent).toHaveLength(1)
  })

  test('expires a queued update exactly after one hour', async () => {
    for (const [passed, state] of [
      [hours(1) - 1, 'settled'],
      [hours(1), 'requested'],
    ] as const) {
      const { guard, ask, clock } = await startGuard()
      const { id } = only(await ask({}, {}, { respondAsync: true }))
      clock.advance(passed)
      expect(await guard.start(id, clock.now() + 60_000)).toMatchObject({ state })
    }
  })

  test('a queued update stays queued without the secret', async () => {
    let isThere = true
    const serviceToken = async () => {
      if (!isThere) throw new Error('no secret')
      return 't'
    }
    const { guard, ask, clock, other, service } = await startGuard({ parts: { serviceToken } })
    const { id } = only(await ask({}, {}, { respondAsync: true }))
    isThere = false
    service.estimate = () => Promise.reject(new Error('the service must not be asked'))
    await expect(guard.start(id, clock.now() + 60_000)).rejects.toThrow('no secret')
    expect(await other.update(id)).toMatchObject({ state: 'requested', version: 1 })
  })

  test('a queued update is refused without a request to the service if no estimate is needed', async () => {
    const { guard, ask, budget, clock, service } = await startGuard()
    await budget('seo', {})
    const { id } = only(await ask({ budget: 'seo' }, {}, { respondAsync: true }))
    await budget('seo', { frozen: { reason: 'stop', by: 'ada', at: 0 } })
    service.estimate = () => Promise.reject(new Error('the service must not be asked'))
    expect(await guard.start(id, clock.now() + 60_000)).toMatchObject({
      state: 'refused',
      version: 2,
      problem: { slug: 'budget-frozen' },
      queued: true,
    })
  })
})

describe('starting an update of an occurrence', () => {
  const request: UpdateRequest = {
    id: 'upd_1',
    kind: 'ranking',
    project: 'shop',
    budget: 'account',
    caller: 'schedule:nightly',
    via: 'schedule',
    plan: 'nightly',
    content: { digest: 'd', count: 1 },
    createdAt: at('2026-11-20T10:00:00Z'),
  }

  const nightly = { name: 'nightly', kind: 'ranking', projects: ['shop'], schedule: 'rate(1 day)' }

  async function beginning() {
    const product = await startGuard({ parts: { plans: async () => parsePlans(JSON.stringify([nightly])) } })
    const { parts } = product
    const execution = createExecution(parts)
    const { begin } = createResume({ ...parts, execution, quotes: createQuotes(parts) })
    return { ...product, begin: () => begin(request, product.clock.now() + 60_000) }
  }

  test('an update of an occurrence runs once, even if it is started several times', async () => {
    const { begin, sent, service } = await beginning()
    const first = await begin()
    expect(first.update).toMatchObject({ state: 'settled', plan: 'nightly', caller: 'schedule:nightly' })
    service.estimate = () => Promise.reject(new Error('the service must not be asked'))
    expect([await begin(), sent.length]).toEqual([first, 1])
  })

  test('an update without an estimate is recorded for its occurrence, not for the stream', async () => {
    const { begin, guard, clock, service, sent } = await beginning()
    service.estimate = async () => ({ kind: 'refused', status: 500 })
    const { update, failure } = await begin()
    expect(failure).toMatchObject({ slug: 'service-refused', members: { serviceStatus: 500 } })
    expect(update).toMatchObject({ state: 'requested', queued: true, requestedAt: clock.now() })
    expect(update.history).toEqual([
      { state: 'requested', at: clock.now(), by: 'schedule:nightly', note: failure?.detail },
    ])
    service.estimate = async () => ({ kind: 'units', units: u(40), source: 'u' })
    expect([await guard.start('upd_1', clock.now() + 60_000), sent]).toEqual([update, []])
    clock.advance(minutes(59))
    expect((await begin()).update).toMatchObject({ state: 'settled' })
  })

  test('an approved update of a plan starts like any other update, without a request to the service before', async () => {
    const { begin, guard, budget, clock, service } = await beginning()
    await budget('account', { parent: null, approvalAbove: u(10) })
    expect((await begin()).update).toMatchObject({ state: 'awaiting-approval' })
    const { estimate } = service
    service.estimate = () => Promise.reject(new Error('the service must not be asked'))
    expect((await begin()).update).toMatchObject({ state: 'awaiting-approval', version: 1 })
    service.estimate = estimate
    await guard.decide('approve', 'upd_1', { caller: 'eve' })
    expect(await guard.start('upd_1', clock.now() + 60_000)).toMatchObject({ state: 'settled' })
  })
})
