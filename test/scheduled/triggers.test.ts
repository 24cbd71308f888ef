import { describe, expect, test } from 'vitest'
import { readTrigger, WrongTrigger } from '../../functions/scheduled/triggers.ts'
import { LedgerUnavailable } from '../../shared/ledger/errors.ts'
import type { Store } from '../../shared/ledger/store/store.ts'
import { WrongFile } from '../../shared/platform/settings-file.ts'
import { minutes } from '../support/clock.ts'
import { type Product, startProduct } from '../support/product.ts'
import { startReceiver, targetAt } from '../support/receiver.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const due = '2026-11-20T10:00:00Z'
const night = { name: 'night', kind: 'ranking', projects: ['a', 'b'], schedule: 'cron(0 10 * * ? *)' }

/** A store that counts its requests, and fails as the test says. */
function watchedStore() {
  const inner = createMemoryStore()
  const asked: string[] = []
  let failing: string | null = null
  const store: Store = {
    get: (keys) => {
      asked.push('get')
      return inner.get(keys)
    },
    list: (query) => {
      asked.push('list')
      return query.partition === failing ? Promise.reject(new LedgerUnavailable('no answer')) : inner.list(query)
    },
    transact: (writes, token) => {
      asked.push('transact')
      return inner.transact(writes, token)
    },
  }
  return {
    store,
    asked,
    failList: (partition: string | null) => {
      failing = partition
    },
  }
}

const httpEvent = {
  version: '2.0',
  routeKey: '$default',
  rawPath: '/updates',
  rawQueryString: '',
  headers: { 'content-type': 'application/json' },
  requestContext: { http: { method: 'POST', path: '/updates' } },
  body: JSON.stringify({ plan: 'night', time: due }),
  isBase64Encoded: false,
}

describe('an event that no rule of ours sends', () => {
  test.each<[string, unknown]>([
    ['a request of HTTP', httpEvent],
    ['a request with a plan among its members', { ...httpEvent, plan: 'night', time: due }],
    ['a record of the stream', { Records: [{ eventSource: 'aws:dynamodb', eventName: 'INSERT', dynamodb: {} }] }],
    ['nothing', undefined],
    ['null', null],
    ['a text', 'sweep'],
    ['a list', [{ plan: 'night', time: due }]],
    ['no members', {}],
    ['a plan without its time', { plan: 'night' }],
    ['a time without its plan', { time: due }],
    ['a plan without a name', { plan: '', time: due }],
    ['a plan that is not a name', { plan: 7, time: due }],
    ['a plan of __proto__', { plan: { __proto__: null }, time: due }],
    ['a name that is too long', { plan: 'n'.repeat(64), time: due }],
    ['both', { plan: 'night', time: due, task: 'sweep' }],
    ['a member too many', { task: 'sweep', at: due }],
    ['another task', { task: 'delete' }],
    ['a task in capitals', { task: 'SWEEP' }],
    ['the event of EventBridge as it is', { source: 'aws.events', 'detail-type': 'Scheduled Event', time: due }],
    ['the name of the rule’s placeholder', { plan: 'night', time: '<time>' }],
    ['a time in milliseconds', { plan: 'night', time: Date.parse(due) }],
    ['a time without a zone', { plan: 'night', time: '2026-11-20T10:00:00' }],
    ['a time of another zone', { plan: 'night', time: '2026-11-20T10:00:00+01:00' }],
    ['the year 10000', { plan: 'night', time: '+010000-01-01T00:00:00Z' }],
    ['an empty time', { plan: 'night', time: '' }],
    ['a day', { plan: 'night', time: '2026-11-20' }],
    ['a time with a blank', { plan: 'night', time: ' 2026-11-20T10:00:00Z' }],
    ['a time with a line break', { plan: 'night', time: '2026-11-20T10:00:00Z\n' }],
    ['30 February', { plan: 'night', time: '2026-02-30T10:00:00Z' }],
    ['29 February of a year without one', { plan: 'night', time: '2027-02-29T10:00:00Z' }],
    ['month 13', { plan: 'night', time: '2026-13-01T10:00:00Z' }],
    ['hour 24', { plan: 'night', time: '2026-11-20T24:00:00Z' }],
    ['minute 60', { plan: 'night', time: '2026-11-20T10:60:00Z' }],
  ])('an event that no rule sends throws: %s', (_what, event) => {
    expect(() => readTrigger(event)).toThrow(WrongTrigger)
  })

  test('the error for an unknown event says the accepted forms without the event, and nothing is changed', async () => {
    const { store, asked } = watchedStore()
    const product = await startProduct({ store, plans: [night] })
    const handled = product.triggers.handle({ plan: 'night', time: 'canary' }, product.endsAt())
    await expect(handled).rejects.toThrow(
      'must be {"plan": "<name>", "time": "<RFC 3339, UTC>"}, {"task": "sweep"} or {"task": "digest"}',
    )
    await expect(product.triggers.handle(httpEvent, product.endsAt())).rejects.toThrow(WrongTrigger)
    expect([asked, product.service.requests, product.secrets.asked]).toEqual([[], [], []])
    expect(product.logged.join()).not.toMatch('canary')
  })
})

describe('an event of a rule', () => {
  test.each<[string, unknown, unknown]>([
    ['the sweep', { task: 'sweep' }, { task: 'sweep' }],
    ['the digest', { task: 'digest' }, { task: 'digest' }],
    ['a plan', { plan: 'night', time: due }, { plan: 'night', time: 1795168800000 }],
    ['with milliseconds', { plan: 'night', time: '2026-11-20T10:00:00.250Z' }, { plan: 'night', time: 1795168800250 }],
    ['without seconds', { plan: 'night', time: '2026-11-20T10:00Z' }, { plan: 'night', time: 1795168800000 }],
    ['a leap day', { plan: 'night', time: '2028-02-29T23:59:59Z' }, { plan: 'night', time: 1835481599000 }],
  ])('an event of a rule is read: %s', (_what, event, trigger) => {
    expect(readTrigger(event)).toEqual(trigger)
  })

  test('an occurrence that is sent three times runs each project once', async () => {
    const product = await startProduct({ store: createMemoryStore(), plans: [night] })
    for (let times = 0; times < 3; times++)
      await product.triggers.handle({ plan: 'night', time: due }, product.endsAt())
    expect(product.seen('run')).toHaveLength(2)
  })

  test.each([
    ['that does not exist', 'day', 'There is no plan day.'],
    ['that is not enabled', 'off', 'The plan off is not enabled in the plans file.'],
  ])('a plan %s is logged as an error, and not thrown, because a retry would not help', async (_what, plan, detail) => {
    const product = await startProduct({
      store: createMemoryStore(),
      plans: [night, { ...night, name: 'off', enabled: false }],
    })
    await expect(product.triggers.handle({ plan, time: due }, product.endsAt())).resolves.toBeUndefined()
    expect(product.service.requests).toEqual([])
    const errors = product.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error')
    expect(errors).toMatchObject([{ plan, detail }])
    expect((await product.call('GET', '/updates')).body).toEqual({ updates: [] })
  })

  test('an error is thrown if the ledger does not answer, and the next delivery does everything', async () => {
    const inner = createMemoryStore()
    let isDown = true
    const product = await startProduct({
      store: { ...inner, get: (keys) => (isDown ? Promise.reject(new LedgerUnavailable('down')) : inner.get(keys)) },
      plans: [night],
    })
    const fire = () => product.triggers.handle({ plan: 'night', time: due }, product.endsAt())
    await expect(fire()).rejects.toThrow(LedgerUnavailable)
    expect(product.service.requests).toEqual([])
    isDown = false
    await fire()
    expect(product.seen('run')).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })
})

describe('the sweep', () => {
  test('sweep: fails before any effect: one failing part does not stop the others, and is thrown at the end', async () => {
    const { store, failList } = watchedStore()
    const down: { until: number } = { until: 0 }
    const product = await startProduct({
      store,
      plans: [night],
      service: () => (product.clock.now() < down.until ? { status: 503 } : undefined),
    })
    down.until = product.clock.now() + minutes(1)
    await product.triggers.handle({ plan: 'night', time: due }, product.endsAt())
    expect(product.seen('run')).toEqual([])
    product.clock.advance(minutes(5))
    failList('running')
    await expect(product.triggers.handle({ task: 'sweep' }, product.endsAt())).rejects.toThrow(LedgerUnavailable)
    expect(product.seen('run')).toHaveLength(2)
    failList(null)
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    expect(product.seen('run')).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })

  test('one occurrence that cannot continue does not block the others', async () => {
    const inner = createMemoryStore()
    let broken: string | null = null
    const product = await startProduct({
      store: {
        ...inner,
        get: (keys) =>
          keys.some(({ pk }) => pk === broken) && keys.length === 1
            ? Promise.reject(new LedgerUnavailable('no answer'))
            : inner.get(keys),
      },
      plans: [night, { ...night, name: 'other', projects: ['c'] }],
      service: () => (product.clock.now() < Date.parse(due) + minutes(1) ? { status: 503 } : undefined),
    })
    for (const plan of ['night', 'other']) await product.triggers.fire(plan, Date.parse(due), product.endsAt())
    product.clock.advance(minutes(5))
    broken = 'occurrence#other#2026-11-20T10:00:00.000Z'
    const { advanced } = await product.triggers.sweep(product.endsAt())
    expect(advanced.map(({ plan, state }) => [plan, state])).toEqual([['night', 'done']])
    broken = null
    product.clock.advance(minutes(2))
    expect((await product.triggers.sweep(product.endsAt())).advanced.map(({ plan }) => plan)).toEqual(['other'])
  })
})

interface Read {
  readonly partition?: string
  readonly newestFirst?: boolean
  readonly pk?: string
}

/** Each part of a sweep, with a read that it alone makes. */
const parts: Readonly<Record<string, (read: Read) => boolean>> = {
  Slack: ({ pk }) => pk === 'sweep#slack-event',
  events: ({ partition }) => partition === 'delivery#warehouse',
  vitals: ({ partition, newestFirst }) => partition === 'requested' && newestFirst === true,
  summaries: ({ partition }) => partition === 'summary',
  outlook: ({ pk }) => pk?.startsWith('price#') ?? false,
  occurrences: ({ partition }) => partition === 'occurrence',
}

/** A sweep that has something to do for each of its parts. */
async function startFullSweep(isFailing: (read: Read) => boolean, own: Parameters<Product['startProcess']>[0] = {}) {
  const inner = createMemoryStore()
  const written: string[] = []
  let isSweeping = false
  const fails = (read: Read) => isSweeping && isFailing(read)
  const store: Store = {
    get: (keys) => (keys.some(fails) ? Promise.reject(new LedgerUnavailable('no answer')) : inner.get(keys)),
    list: (query) => (fails(query) ? Promise.reject(new LedgerUnavailable('no answer')) : inner.list(query)),
    transact: (writes, token) => {
      if (isSweeping) written.push(...writes.map((write) => (write.kind === 'put' ? write.item.pk : write.key.pk)))
      return inner.transact(writes, token)
    },
  }
  const receiver = await startReceiver((response) => response.writeHead(isSweeping ? 200 : 503).end())
  let isDown = false
  const product = await startProduct({
    store,
    plans: [night],
    slack: true,
    targets: [targetAt(receiver.url)],
    env: { ACCOUNT_UNITS_PER_MONTH: '200' },
    service: () => (isDown ? { status: 503 } : undefined),
  })
  const { clock, guard, slack, triggers, endsAt, deliver, logged, seen } = product
  await (await guard.jobs()).readPrices(endsAt())
  slack.answers({ status: 500 }, { status: 200, body: 'ok' })
  await product.call('POST', '/budgets/account/freeze', { body: { reason: 'a test' } })
  await product.call('POST', '/budgets/account/unfreeze', { body: { reason: 'a test' } })
  await product.update({ kind: 'ranking', project: 'x' })
  await deliver()
  isDown = true
  await triggers.handle({ plan: 'night', time: due }, endsAt())
  isDown = false
  clock.advance(minutes(5))
  const before = { posted: slack.posted().length, received: receiver.received.length, runs: seen('run').length }
  isSweeping = true
  const failed = await product
    .startProcess(own)
    .triggers.sweep(endsAt())
    .then(
      () => null,
      (error) => error.name,
    )
  const placeOf = (prefix: string) => written.findIndex((pk) => pk.startsWith(prefix))
  const done = {
    Slack: slack.posted().length > before.posted,
    events: receiver.received.length > before.received,
    vitals: logged.some((line) => line.includes('"vitals"')),
    summaries: placeOf('summary#') >= 0,
    outlook: placeOf('announcement#will-run-out') >= 0,
    occurrences: seen('run').length > before.runs,
  }
  return { done: Object.entries(done).flatMap(([part, isDone]) => (isDone ? part : [])), failed, placeOf }
}

describe('the parts of a sweep', () => {
  test('the parts of a sweep come in the order in which one uses what another has written', async () => {
    const { done, failed, placeOf } = await startFullSweep(() => false)
    expect([done, failed]).toEqual([Object.keys(parts), null])
    const order = ['summary#', 'announcement#will-run-out', 'update#'].map(placeOf)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  })

  test.each(Object.entries(parts))('sweep: fails before any effect: %s fails alone', async (part, isFailing) => {
    const { done, failed } = await startFullSweep(isFailing)
    expect(done).toEqual(Object.keys(parts).filter((each) => each !== part))
    // The next sweep checks the outlook again, and delivers the events of the target.
    expect(failed).toBe(['outlook', 'events'].includes(part) ? null : 'LedgerUnavailable')
  })

  test('a sweep that cannot read the targets of events does all its other parts, and fails afterwards', async () => {
    const { done, failed } = await startFullSweep(() => false, { EVENT_TARGETS: '/nowhere/targets.json' })
    expect([done, failed]).toEqual([Object.keys(parts).filter((part) => part !== 'events'), 'WrongFile'])
  })
})

describe('the digest', () => {
  const told = async (product: Awaited<ReturnType<typeof startProduct>>) => {
    await product.deliver()
    return product.slack.posted().map(({ text }) => text)
  }

  test('the digest is sent even if no price can be read', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      slack: true,
      plans: [night],
      secrets: { 'unit-guard/caller-key': 'canary-caller-key-0123456789abcdefghijklmnop' },
    })
    product.secrets.values['unit-guard/slack'] = undefined
    await product.triggers.handle({ task: 'digest' }, product.endsAt())
    expect(product.service.requests).toEqual([])
    const { rows } = await product.guard.ledger.announcements.open(10)
    expect(rows.map(({ id, about }) => [id, about.kind])).toEqual([['digest#day:2026-11-20', 'digest']])
  })

  test('the digest audits even if the plans cannot be read, and the task fails afterwards', async () => {
    const product = await startProduct({ store: createMemoryStore(), env: { PLANS: '/nowhere/plans.json' } })
    await expect(product.triggers.handle({ task: 'digest' }, product.endsAt())).rejects.toThrow(WrongFile)
    expect(await product.guard.ledger.lastAudit()).toMatchObject({ by: 'digest', wrong: 0 })
    const lines = product.logged.map((line) => JSON.parse(line))
    expect(lines.filter(({ event }) => ['vitals', 'job'].includes(event))).toMatchObject([
      { AuditNotOk: 0 },
      { job: 'digest', failed: true },
    ])
  })

  test('the digest is sent even if the time is over before all prices are read', async () => {
    const projects = Array.from({ length: 100 }, (_, index) => `p${index}`)
    const product = await startProduct({
      store: createMemoryStore(),
      slack: true,
      plans: [{ ...night, projects }],
      env: { SERVICE_TIMEOUT_MS: '5000' },
      service: () => {
        product.clock.advance(1_000)
        return undefined
      },
    })
    const endsAt = product.clock.now() + minutes(1)
    await product.triggers.handle({ task: 'digest' }, endsAt)
    // One call may take 5 s, and the rest of the time is for recording.
    expect(endsAt - product.clock.now()).toBeGreaterThanOrEqual(12_000)
    expect(product.seen('estimate').length).toBeGreaterThan(40)
    expect(await told(product)).toHaveLength(1)
  })
})
