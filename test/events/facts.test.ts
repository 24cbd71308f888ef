import { describe, expect, test } from 'vitest'
import { bookKey } from '../../shared/ledger/book/book-item.ts'
import type { Write } from '../../shared/ledger/store/store.ts'
import { days, hours, minutes } from '../support/clock.ts'
import { type Product, startProduct } from '../support/product.ts'
import { mustBeSigned, startReceiver, targetAt } from '../support/receiver.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const plan = { name: 'morning', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 10 * * ? *)' }
const month = (units: number) => [{ window: 'month', units }]
const time = '2026-11-20T10:00:00.000Z'

async function start({
  types = ['budget.*', 'plan.*', 'audit.*'],
  ...options
}: Parameters<typeof startProduct>[0] & { types?: readonly string[] } = {}) {
  const receiver = await startReceiver()
  const targets = [targetAt(receiver.url, { types })]
  const product = await startProduct({ store: createMemoryStore(), stream: true, targets, plans: [plan], ...options })
  /** The events since the last call. */
  const told = async () => {
    const from = receiver.received.length
    await product.deliver()
    for (const received of receiver.received.slice(from)) mustBeSigned(received)
    return receiver.received.slice(from).map(({ event }) => event)
  }
  await told()
  return { product, told }
}

const sweep = ({ triggers, endsAt }: Product) => triggers.handle({ task: 'sweep' }, endsAt())

describe('an event reports a budget', () => {
  test('an event reports a budget that was created, changed and deleted, with the change', async () => {
    const { product, told } = await start()
    const put = (units: number) =>
      product.call('PUT', '/budgets/seo', { body: { limits: month(units), reason: 'contract 12' } })
    await put(2000)
    const [created, ...others] = await told()
    expect(others).toEqual([])
    expect(created).toMatchObject({
      specversion: '1.0',
      type: 'unit-guard.budget.changed',
      subject: 'seo',
      time,
      recordversion: expect.any(Number),
      id: expect.stringMatching(/^evt_/),
      data: { change: { type: 'budget-created', by: 'ada', reason: 'contract 12' } },
    })
    const { change, ...budget } = created.data
    const { status: _status, reason: _reason, next: _next, ...shown } = (await product.call('GET', '/budgets/seo')).body
    expect(budget).toEqual(shown)
    const { entries } = (await product.call('GET', '/budgets/seo/entries')).body
    expect(entries).toContainEqual(change)
    await put(3000)
    const [changed] = await told()
    const limits = { member: 'limits', from: month(2000), to: month(3000) }
    expect(changed.data.change.changed).toEqual([{ kind: 'budget', name: 'seo', how: 'changed', members: [limits] }])
    expect(changed.recordversion).toBe(created.recordversion + 1)
    await put(3000)
    expect(await told()).toEqual([])
    await product.call('DELETE', '/budgets/seo')
    expect(await told()).toMatchObject([
      {
        type: 'unit-guard.budget.changed',
        data: { name: 'seo', deleted: true, change: { type: 'budget-deleted' } },
      },
    ])
  })

  test('a request that changes several budgets sends one event for each budget, even if the next month has a book', async () => {
    const { product, told } = await start()
    const body = {
      budgets: ['ada', 'ben'].map((name) => ({ name, parent: 'account', limits: month(10) })),
      reason: 'x',
    }
    const next = { units: 1, window: 'next-month', reason: 'early' }
    await product.call('POST', '/budgets/account/grants', { body: next })
    await told()
    const applied = await product.call('PUT', '/budgets', { body })
    expect(applied.status).toBe(200)
    const events = await told()
    expect(events.map(({ type, subject }) => [type, subject])).toEqual([
      ['unit-guard.budget.changed', 'ada'],
      ['unit-guard.budget.changed', 'ben'],
    ])
    expect(new Set(events.map(({ id }) => id)).size).toBe(2)
  })

  test('an event reports a freeze and an unfreeze, without a second event for the change', async () => {
    const { product, told } = await start()
    await product.call('POST', '/budgets/account/freeze', { body: { reason: 'a loop' } })
    expect(await told()).toMatchObject([
      {
        type: 'unit-guard.budget.frozen',
        subject: 'account',
        data: { name: 'account', frozen: { reason: 'a loop', by: 'ada', at: time }, change: { type: 'freeze' } },
      },
    ])
    await product.call('POST', '/budgets/account/unfreeze', { body: { reason: 'mended' } })
    expect(await told()).toMatchObject([
      { type: 'unit-guard.budget.unfrozen', data: { frozen: false, change: { reason: 'mended' } } },
    ])
    await product.call('PUT', '/callers/bot', { body: { scopes: ['run'] } })
    await product.call('POST', '/budgets/account/grants', { body: { units: 5, reason: 'more' } })
    expect(await told()).toEqual([])
  })

  test('an event reports a budget that passed a threshold', async () => {
    const { product, told } = await start()
    await product.call('PUT', '/budgets/seo', { body: { limits: month(50) } })
    await told()
    await product.update({ kind: 'ranking', project: 'acme', budget: 'seo' })
    const [event] = [...(await told()), ...(await told())]
    expect(event).toMatchObject({
      type: 'unit-guard.budget.threshold',
      subject: 'seo',
      data: { name: 'seo', threshold: { window: 'month', percent: 80, used: 40, of: 50 } },
    })
    expect(event.data.threshold.resetsAt).toMatch(/^2026-\d\d-\d\dT/)
  })
})

describe('an event reports a plan', () => {
  test('an event reports a plan that was paused and resumed', async () => {
    const { product, told } = await start()
    await product.call('POST', '/plans/morning/pause', { body: { reason: 'holidays' } })
    const [paused] = await told()
    expect(paused).toMatchObject({
      type: 'unit-guard.plan.paused',
      subject: 'morning',
      data: { change: { by: 'ada' } },
    })
    const { change: _change, ...shown } = paused.data
    expect(shown).toEqual((await product.call('GET', '/plans')).body.plans[0])
    await product.call('POST', '/plans/morning/resume', { body: { reason: 'back' } })
    expect(await told()).toMatchObject([{ type: 'unit-guard.plan.resumed', data: { name: 'morning', paused: false } }])
  })

  test('an event reports a plan that finished, or a plan that did not run at its time', async () => {
    const { product, told } = await start()
    await product.triggers.handle({ plan: 'morning', time }, product.endsAt())
    expect(await told()).toMatchObject([
      {
        type: 'unit-guard.plan.finished',
        subject: 'morning',
        data: { name: 'morning', occurrence: { time, state: 'done', counts: { settled: 1 } } },
      },
    ])
    product.clock.advance(hours(26))
    await product.triggers.handle({ plan: 'morning', time: '2026-11-21T10:00:00Z' }, product.endsAt())
    const missed = await told()
    expect(missed).toMatchObject([{ type: 'unit-guard.plan.missed', data: { occurrence: { state: 'missed' } } }])
  })
})

describe('an event reports price jumps and repeats', () => {
  const types = ['project.*', 'caller.*']

  test('an event reports a price that jumped, with the update and its trace', async () => {
    const units = { acme: 100 }
    const { product, told } = await start({ units, types })
    await product.update({ kind: 'ranking', project: 'acme' })
    expect(await told()).toEqual([])
    product.clock.advance(days(1))
    units.acme = 420
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const { body } = await product.update({ kind: 'ranking', project: 'acme' }, { headers: { traceparent } })
    const [event, ...others] = await told()
    expect(others).toEqual([])
    expect(event).toMatchObject({ type: 'unit-guard.project.price-jumped', subject: 'acme', traceparent })
    const { priceJump, ...update } = event.data
    expect(priceJump).toEqual({ units: 420, before: 100 })
    expect(update).toEqual((await product.call('GET', `/updates/${body.updates[0].id}`)).body)
    await sweep(product)
    expect(await told()).toEqual([])
  })

  test('an event reports a caller that repeats itself, one time', async () => {
    const { product, told } = await start({ types })
    for (let count = 0; count < 55; count++)
      await product.update({ kind: 'ranking', project: 'acme' }, { headers: { 'idempotency-key': 'k' } })
    const repeats = { budget: 'account', project: 'acme', count: 50, since: time }
    const [event, ...others] = await told()
    expect(others).toEqual([])
    expect(event).toMatchObject({ type: 'unit-guard.caller.repeats', subject: 'ada', time })
    expect(event.data).toEqual({ sub: 'ada', repeats })
  })
})

describe('an event reports an audit that failed', () => {
  test('an audit that failed sends one event for each difference, and people are informed, too', async () => {
    const store = createMemoryStore()
    const { product, told } = await start({ store, slack: true })
    await product.update({ kind: 'ranking', project: 'acme' })
    await told()
    const key = bookKey('month:2026-11-01')
    const write: Write = { kind: 'update', key, set: [[['month', 'account', 's'], 45]], add: [], when: [] }
    await store.transact([write], 'changed by hand')
    const audit = async () => (await product.guard.jobs()).audit('ada')
    await audit()
    const [failed, ...others] = (await told()).filter(({ type }) => type === 'unit-guard.audit.failed')
    expect(others).toEqual([])
    const { books } = (await product.call('GET', '/audit')).body
    const differing = books.filter(
      (row: { recorded: object; recomputed: object }) =>
        JSON.stringify(row.recorded) !== JSON.stringify(row.recomputed),
    )
    expect(failed).toMatchObject({ subject: 'ledger', data: { ok: false, books: differing } })
    expect(product.slack.posted().at(-1)?.text).toContain('The audit found')
    product.clock.advance(minutes(1))
    await audit()
    expect(await told()).toEqual([])
  })
})

test('an event that is sent again has the same id and time', async () => {
  const receiver = await startReceiver((response) => response.writeHead(503).end())
  const targets = [targetAt(receiver.url, { types: ['budget.*'] })]
  const product = await startProduct({ store: createMemoryStore(), stream: true, targets })
  await product.call('POST', '/budgets/account/freeze', { body: { reason: 'a loop' } })
  await product.deliver()
  receiver.answers((response) => response.end())
  product.clock.advance(minutes(30))
  await sweep(product)
  const [first, second, ...others] = receiver.received.map(({ event }) => event)
  expect(others).toEqual([])
  expect(second).toEqual(first)
})
