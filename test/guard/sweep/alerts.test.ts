import { describe, expect, test } from 'vitest'
import { hours, minutes } from '../../support/clock.ts'
import { json, type Product, startProduct } from '../../support/product.ts'
import { gate } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { createStore } from '../../support/store/stores.ts'

type Options = NonNullable<Parameters<typeof startProduct>[0]>

const night = { name: 'night', kind: 'ranking', projects: [] as string[], schedule: 'cron(0 10 * * ? *)' }

async function startWatched(options: Options = {}) {
  const product: Product = await startProduct({ store: createMemoryStore(), slack: true, ...options })
  let asked = 0
  const limit = (units: number, more: object = {}, budget = 'account') =>
    product.call('PUT', `/budgets/${budget}`, { body: { limits: [{ window: 'month', units }], ...more } })
  return {
    product,
    limit,
    spend: (body: object = {}) => product.update({ kind: 'ranking', project: `p${++asked}`, ...body }),
    refuse: (times: number, sub = 'bob', body: object = {}) =>
      Promise.all(
        Array.from({ length: times }, () =>
          product.update(
            { kind: 'ranking', project: `p${++asked}`, maxUnits: 1, ...body },
            { token: product.signed({ sub, scope: 'run', budgets: '*' }) },
          ),
        ),
      ),
    sweep: () => product.triggers.sweep(product.endsAt()),
    /** The announcements in the channel so far. */
    told: async () => {
      await product.deliver()
      return product.slack.posted().map(({ text }) => text)
    },
  }
}

describe('thresholds', () => {
  test('thresholds of 80 and 100 % are announced once each, with what is left and until when', async () => {
    const { product, limit, spend, told, sweep } = await startWatched()
    await limit(120)
    await spend()
    expect(await told()).toEqual([])
    await spend({ project: 'x', kind: 'keyword-difficulty' })
    // 80 of 120 are 66 %.
    expect(await told()).toEqual([])
    await limit(100)
    const eighty = "account has used 80 % of this month's units: 80 of 100. 20 are left until 1 Dec 2026 00:00 UTC."
    expect(await told()).toEqual([eighty])
    await sweep()
    await limit(110)
    await limit(100)
    await product.startProcess().triggers.sweep(product.endsAt())
    expect(await told()).toEqual([eighty])
    await limit(120)
    await spend()
    const hundred =
      "account has used 100 % of this month's units: 120 of 120. Nothing is left until 1 Dec 2026 00:00 UTC."
    expect(await told()).toEqual([eighty, hundred])
    product.clock.set('2026-11-21T10:30:00Z')
    await sweep()
    expect(await told()).toEqual([eighty, hundred])
    expect(await product.audit()).toBe(true)
  })

  test('a threshold’s announcement shows the present use, not the threshold', async () => {
    const { limit, spend, told } = await startWatched()
    await limit(41)
    await spend()
    expect(await told()).toEqual([
      "account has used 98 % of this month's units: 40 of 41. 1 is left until 1 Dec 2026 00:00 UTC.",
    ])
  })

  test('a jump over both thresholds announces the higher one, and the next month starts again', async () => {
    const { product, limit, spend, told } = await startWatched()
    await limit(40)
    await spend()
    expect(await told()).toEqual([
      "account has used 100 % of this month's units: 40 of 40. Nothing is left until 1 Dec 2026 00:00 UTC.",
    ])
    product.clock.set('2026-12-01T00:00:00Z')
    await spend()
    expect((await told())[1]).toBe(
      "account has used 100 % of this month's units: 40 of 40. Nothing is left until 1 Jan 2027 00:00 UTC.",
    )
  })

  test('thresholds of the day are announced each day, for every budget on the chain', async () => {
    const { product, spend, told } = await startWatched()
    const limits = [
      { window: 'month', units: 5_000 },
      { window: 'day', units: 50 },
    ]
    await product.call('PUT', '/budgets/seo', { body: { limits } })
    await spend({ budget: 'seo' })
    expect(await told()).toEqual([
      "seo has used 80 % of today's units: 40 of 50. 10 are left until 21 Nov 2026 00:00 UTC.",
    ])
    product.clock.set('2026-11-21T00:00:00Z')
    await spend({ budget: 'seo' })
    expect(await told()).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })

  test('a budget may set its own thresholds or none', async () => {
    const { product, limit, spend, told } = await startWatched()
    await limit(1_000, { thresholds: [4] })
    await limit(40, { thresholds: [] }, 'seo')
    await spend({ budget: 'seo' })
    expect(await told()).toEqual([
      "account has used 4 % of this month's units: 40 of 1,000. 960 are left until 1 Dec 2026 00:00 UTC.",
    ])
    expect((await product.call('GET', '/budgets/account')).body.thresholds).toEqual([4])
  })

  test('for a threshold, units in doubt count as used and granted units as usable', async () => {
    const { product, limit, spend, told } = await startWatched({
      service: ({ url }) => (url.includes('/run') ? { status: 503 } : undefined),
    })
    await limit(40)
    const grant = { type: 'grant', units: 10, reason: 'for the launch' }
    await product.call('POST', '/budgets/account/entries', { body: grant })
    await spend()
    const texts = await told()
    expect(texts.filter((text) => text.startsWith('account'))).toEqual([
      "account has used 80 % of this month's units: 40 of 50. 10 are left until 1 Dec 2026 00:00 UTC.",
    ])
    expect(texts).toHaveLength(2)
  })

  test('held units count as used for a threshold', async () => {
    const { opened, open } = gate()
    const { product, limit, spend, told } = await startWatched({
      service: ({ url }) => (url.includes('/run') ? { ...json({ keyword_units: 40 }), once: opened } : undefined),
    })
    await limit(50)
    const spent = spend()
    while (product.seen('run').length === 0) await new Promise(setImmediate)
    expect(await told()).toEqual([
      "account has used 80 % of this month's units: 40 of 50. 10 are left until 1 Dec 2026 00:00 UTC.",
    ])
    open()
    expect((await spent).status).toBe(201)
  })

  test('a threshold that two processes and the stream find at once is announced once', async () => {
    const { product, limit, spend, told } = await startWatched({ store: await createStore() })
    await limit(40)
    await spend()
    const processes = [product, product.startProcess(), product.startProcess()]
    await Promise.all(processes.map(({ triggers }) => triggers.sweep(product.endsAt())))
    expect(await told()).toHaveLength(1)
  })

  test('the sweep announces a threshold that the stream missed', async () => {
    const { product, limit, spend, sweep } = await startWatched({ stream: false })
    await limit(40)
    await spend()
    await sweep()
    expect(product.slack.posted()).toEqual([])
    product.clock.advance(minutes(2))
    await sweep()
    await sweep()
    expect(product.slack.posted()).toHaveLength(1)
  })

  test('an unlimited budget and a budget of 0 units have no thresholds', async () => {
    const { product, limit, spend, told } = await startWatched()
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 'unlimited' }] } })
    await limit(0, {}, 'ads')
    await spend({ budget: 'seo' })
    await spend({ budget: 'ads' })
    expect(await told()).toEqual([])
  })
})

describe('a burst of refusals', () => {
  const burst = (caller: string, count: number) =>
    `${caller} was refused ${count} times on account within 10 minutes. Nothing was spent.`

  test('ten refusals are announced once within the hour, and nine are not', async () => {
    const { product, refuse, sweep, told } = await startWatched()
    await refuse(9)
    await sweep()
    expect(await told()).toEqual([])
    await refuse(1)
    await sweep()
    expect(await told()).toEqual([burst('bob', 10)])
    await refuse(5)
    await sweep()
    await product.startProcess().triggers.sweep(product.endsAt())
    expect(await told()).toEqual([burst('bob', 10)])
  })

  test('refusals are counted for each caller', async () => {
    const { refuse, sweep, told } = await startWatched()
    await Promise.all([refuse(10, 'bob'), refuse(11, 'eve'), refuse(9, 'joe')])
    await sweep()
    expect((await told()).sort()).toEqual([burst('bob', 10), burst('eve', 11)])
  })

  test('a burst on several budgets names the latest budget and counts the others', async () => {
    const { product, limit, refuse, sweep, told } = await startWatched()
    await limit(500, {}, 'blog')
    await limit(500, {}, 'seo')
    await refuse(5, 'bob', { budget: 'blog' })
    await refuse(4, 'bob', { budget: 'seo' })
    product.clock.advance(1)
    await refuse(1)
    await sweep()
    expect(await told()).toEqual([
      'bob was refused 10 times on account and 2 other budgets within 10 minutes. Nothing was spent.',
    ])
  })

  test('a burst is not announced again at the turn of the hour, but a later one is', async () => {
    const { product, refuse, sweep, told } = await startWatched()
    product.clock.set('2026-11-20T10:55:00Z')
    await refuse(10)
    await sweep()
    product.clock.set('2026-11-20T11:01:00Z')
    await sweep()
    await refuse(10)
    product.clock.set('2026-11-20T11:54:59Z')
    await refuse(10)
    await sweep()
    expect(await told()).toHaveLength(1)
    product.clock.set('2026-11-20T11:55:00Z')
    await sweep()
    product.clock.advance(minutes(4))
    await sweep()
    expect(await told()).toEqual([burst('bob', 10), burst('bob', 10)])
  })

  test('refusals over more than ten minutes are no burst', async () => {
    const { product, refuse, sweep, told } = await startWatched()
    await refuse(5)
    product.clock.advance(minutes(10) + 1)
    await refuse(5)
    await sweep()
    expect(await told()).toEqual([])
  })

  test('a plan’s refusals are announced with its occurrence, and up-to-date work is no refusal', async () => {
    const projects = Array.from({ length: 12 }, (_, index) => `q${index}`)
    const { product, limit, spend, sweep, told } = await startWatched({ plans: [{ ...night, projects }] })
    await spend({ project: 'same' })
    for (let count = 0; count < 12; count++) {
      expect((await spend({ project: 'same' })).status).toBe(200)
    }
    await limit(0)
    await product.triggers.fire('night', product.clock.now(), product.endsAt())
    await sweep()
    expect(await told()).toEqual([
      '🗓️ The plan night of 20 Nov 2026 10:00 UTC is finished. ⛔ 12 projects refused. Nothing was spent.',
    ])
  })
})

test('a refusal because the same work is in doubt raises no alert', async () => {
  const { spend, sweep, told } = await startWatched({
    service: ({ url }) => (url.includes('/run') ? { status: 503 } : undefined),
  })
  await spend({ project: 'same' })
  for (let count = 0; count < 10; count++) expect((await spend({ project: 'same' })).status).toBe(409)
  await sweep()
  expect((await told()).filter((text) => text.includes('was refused'))).toEqual([])
})

describe('reminders of an approval', () => {
  const awaiting = async () => {
    const watched = await startWatched()
    await watched.limit(500, { approvalAbove: 39 }, 'seo')
    const { body } = await watched.spend({ budget: 'seo', project: 'acme' })
    const reminders = async () => (await watched.told()).filter((text) => text.startsWith('Reminder'))
    return { ...watched, id: body.updates[0].id, reminders }
  }

  test('the reminder of an approval is sent once at half of its time, by any process', async () => {
    const { product, sweep, reminders } = await awaiting()
    product.clock.advance(hours(12) - 1)
    await sweep()
    expect(await reminders()).toEqual([])
    product.clock.advance(1)
    await Promise.all([sweep(), product.startProcess().triggers.sweep(product.endsAt())])
    const reminder = expect.stringContaining('by 21 Nov 2026 10:00 UTC')
    expect(await reminders()).toEqual([reminder])
    product.clock.advance(hours(6))
    await sweep()
    expect(await reminders()).toEqual([reminder])
    product.clock.advance(hours(6))
    await sweep()
    expect(await reminders()).toEqual([reminder])
    expect((await product.call('GET', '/updates?state=expired')).body.updates).toHaveLength(1)
    expect(await product.audit()).toBe(true)
  })

  test('a second reminder is sent at half of the rest of an approval’s two days', async () => {
    const { product, id, sweep, reminders } = await awaiting()
    const token = product.signed({
      sub: 'bob',
      scope: 'approve',
      exp: Math.floor(product.clock.now() / 1000) + 3 * 86_400,
    })
    for (const units of [80, 160]) {
      product.clock.advance(hours(22))
      product.service.script('/on-demand/acme/estimate', json({ keyword_units: units }))
      expect((await product.call('POST', `/updates/${id}/approve`, { token })).status).toBe(202)
      await product.deliver()
    }
    const before = (await reminders()).length
    // Four hours are left of the two days.
    product.clock.advance(hours(2) - 1)
    await sweep()
    expect(await reminders()).toHaveLength(before)
    product.clock.advance(1)
    await sweep()
    expect(await reminders()).toHaveLength(before + 1)
  })

  test('a reminder is not sent if no sweep ran before the end', async () => {
    const { product, sweep, reminders } = await awaiting()
    product.clock.advance(hours(24))
    await sweep()
    expect(await reminders()).toEqual([])
  })

  test('a reminder is not sent after a decision', async () => {
    const { product, id, sweep, reminders } = await awaiting()
    const token = product.signed({ sub: 'bob', scope: 'approve' })
    expect((await product.call('POST', `/updates/${id}/reject`, { token })).status).toBe(200)
    product.clock.advance(hours(13))
    await sweep()
    expect(await reminders()).toEqual([])
  })
})
