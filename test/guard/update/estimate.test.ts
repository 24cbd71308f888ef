import { describe, expect, test } from 'vitest'
import { workKey } from '../../../shared/ledger/updates/work.ts'
import type { EstimateReading } from '../../../shared/tracking/tracking.ts'
import { only, startGuard } from '../../support/guard.ts'
import { at, u } from '../../support/records.ts'

const month = (units: number) => ({ limits: [{ window: 'month', units: u(units) }] }) as const
const bob = { caller: 'bob', via: 'http' } as const
const prices = { a: 30, b: 50 } as Record<string, number>

async function priced(how: Parameters<typeof startGuard>[0] = {}) {
  const product = await startGuard(how)
  product.service.estimate = async ({ segment }) => ({ kind: 'units', units: u(prices[segment] ?? 40), source: 'u' })
  const estimate = (projects: readonly string[], budget?: string, caller = 'bob') =>
    product.guard.estimate(
      { kind: 'ranking', projects, ...(budget !== undefined && { budget }) },
      { caller, via: 'http' },
    )
  return { ...product, estimate }
}

describe('an estimate', () => {
  test('an estimate adds up, names every counter once and records nothing', async () => {
    const { estimate, budget, other, sent } = await priced()
    await budget('seo', { ...month(100), projects: [{ name: 'b' }] })
    const bounds = { start: at('2026-11-01T00:00:00Z'), end: at('2026-12-01T00:00:00Z') }
    const today = { start: at('2026-11-20T00:00:00Z'), end: at('2026-11-21T00:00:00Z') }
    const empty = { granted: 0, held: 0, inDoubt: 0, spent: 0 }
    expect(await estimate(['a', 'b'])).toStrictEqual({
      kind: 'ranking',
      units: 80,
      allowed: true,
      problem: null,
      approval: null,
      lacks: 0,
      budgets: ['account', 'seo'],
      wouldHaveRefused: [],
      unowned: { a: 'pay', b: null },
      payers: { a: { budget: 'account', owner: null }, b: { budget: 'seo', owner: 'seo' } },
      works: { a: [workKey('ranking', 'a').pk], b: [workKey('ranking', 'b').pk] },
      projects: [
        { project: 'a', units: 30 },
        { project: 'b', units: 50 },
      ],
      figures: [
        { ...empty, ...bounds, budget: 'account', window: 'month', limit: 1000, available: 1000 },
        { ...empty, ...today, budget: 'account', window: 'day', limit: 'unlimited', available: 0 },
        { ...empty, ...bounds, budget: 'seo', window: 'month', limit: 100, available: 100 },
        { ...empty, ...today, budget: 'seo', window: 'day', limit: 'unlimited', available: 0 },
      ],
    })
    expect([sent, (await other.updates({}, 10)).rows]).toEqual([[], []])
  })

  test('an estimate says the refusal of the first update, or of all together', async () => {
    const { estimate, budget } = await priced()
    await budget('seo', { ...month(79), perUpdate: u(40) })
    expect(await estimate(['a', 'b'], 'seo')).toMatchObject({
      allowed: false,
      problem: { slug: 'over-update-limit', members: { units: 50 } },
    })
    await budget('seo', { perUpdate: u(50) })
    expect(await estimate(['a', 'b'], 'seo')).toMatchObject({
      allowed: false,
      problem: {
        slug: 'over-budget',
        detail:
          'seo has 79 of 79 units left this month and these 2 updates need 80; resets 1 Dec 2026 00:00 UTC; ask for 1 more.',
      },
    })
    expect(await estimate(['b'], 'seo')).toMatchObject({ allowed: true, problem: null })
  })

  test('an estimate says for each project why it would not pass alone, also without a price', async () => {
    const { estimate, budget, service } = await priced()
    service.estimate = async ({ segment }) =>
      segment === 'typo'
        ? { kind: 'refused', status: 404 }
        : { kind: 'units', units: u(prices[segment] ?? 40), source: 'u' }
    await budget('seo', { perUpdate: u(35) })
    expect(await estimate(['a', 'b', 'typo', 'c'], 'seo')).toMatchObject({
      units: 120,
      allowed: false,
      problem: { slug: 'over-update-limit', members: { units: 50 } },
      projects: [
        { project: 'a', units: 30 },
        { project: 'b', units: 50, problem: { slug: 'over-update-limit', members: { units: 50 } } },
        { project: 'typo', units: null, problem: { slug: 'service-refused', members: { serviceStatus: 404 } } },
        { project: 'c', units: 40, problem: { slug: 'over-update-limit', members: { units: 40 } } },
      ],
    })
    expect(await estimate(['a'], 'seo')).toMatchObject({ projects: [{ project: 'a', units: 30 }], problem: null })
    expect(await estimate(['typo'], 'seo')).toMatchObject({ slug: 'service-refused' })
  })

  test('an estimate says why approval would be needed, and counts as allowed', async () => {
    const { estimate, budget } = await priced()
    await budget('seo', { approvalAbove: u(20) })
    expect(await estimate(['a', 'b'], 'seo')).toMatchObject({
      allowed: true,
      problem: null,
      approval: 'it needs 30 units, and seo wants approval above 20',
    })
  })

  test('an estimate with ask says the most that an approval would grant a budget', async () => {
    const { guard, budget } = await priced()
    await budget('seo', month(20))
    const wanted = { kind: 'ranking', projects: ['a', 'b'], budget: 'seo' } as const
    expect(await guard.estimate({ ...wanted, whenShort: 'ask' }, bob)).toMatchObject({
      allowed: true,
      problem: null,
      lacks: 30,
      approval: expect.stringMatching(
        /^it needs 30 units, and seo has 20 of 20 units left this month; approving it may put seo up to 30/,
      ),
    })
    expect(await guard.estimate(wanted, bob)).toMatchObject({ allowed: false, approval: null, lacks: 0 })
  })

  test('an estimate includes the caller’s limits and says if the work was done', async () => {
    const { estimate, caller, ask } = await priced()
    await caller('eve', month(29))
    const limited = await estimate(['a'], undefined, 'eve')
    expect(limited).toMatchObject({ allowed: false, problem: { members: { short: 1 } } })
    expect(limited).toMatchObject({ figures: [{}, {}, { budget: 'caller:eve', window: 'month', available: 29 }, {}] })
    await ask({ projects: ['a'] })
    const done = { project: 'a', units: 30, problem: { slug: 'already-updated' } }
    expect(await estimate(['a'])).toMatchObject({ units: 30, allowed: false, problem: { slug: 'already-updated' } })
    const mixed = { units: 50, allowed: true, problem: null, projects: [done, { project: 'b', units: 50 }] }
    expect(await estimate(['a', 'b'])).toMatchObject(mixed)
    expect(await ask({ projects: ['a', 'b'] })).toMatchObject({ status: 201 })
  })

  test('an estimate checks the rights of a caller who may request updates, and otherwise only units', async () => {
    const { guard, budget } = await priced()
    await budget('seo', { projects: [{ name: 'a' }] })
    const as = (scope: 'run' | 'read') =>
      guard.estimate({ kind: 'ranking', projects: ['a'] }, { ...bob, token: { scopes: new Set([scope]), budgets: [] } })
    expect(await as('run')).toMatchObject({ units: 30, allowed: false, problem: { slug: 'forbidden' } })
    expect(await as('read')).toMatchObject({ units: 30, allowed: true, problem: null })
  })

  test('an estimate for a budget that cannot be charged sends nothing to the service', async () => {
    const { estimate, budget, service } = await priced()
    await budget('seo', { projects: [{ name: 'a' }, { name: 'b' }] })
    await budget('other', {})
    service.estimate = () => Promise.reject(new Error('the service must not be asked'))
    expect(await estimate(['a', 'b'], 'other')).toEqual({
      slug: 'invalid-request',
      detail:
        'a belongs to seo, so it is charged there or to a parent of it, not to other. b belongs to seo, so it is charged there or to a parent of it, not to other.',
      members: {
        errors: ['a', 'b'].map((name) => ({
          path: 'budget',
          message: `${name} belongs to seo, so it is charged there or to a parent of it, not to other.`,
        })),
      },
    })
  })
})

describe('unreadable estimates', () => {
  const cases: [EstimateReading & object, string, string, object, string][] = [
    [
      { kind: 'unreadable', reason: 'the body is empty', shape: '{}' },
      'estimate-unreadable',
      'The estimate of the ranking update of shop could not be read (the body is empty), so nothing was run and nothing spent.',
      { shape: '{}' },
      'estimate-unreadable',
    ],
    [
      { kind: 'refused', status: 404 },
      'service-refused',
      'The estimate of the ranking update of shop was refused by the service with status 404, so nothing was run and nothing spent. It does not seem to know that project: check the name.',
      { serviceStatus: 404 },
      'no-such-project',
    ],
    [
      { kind: 'refused', status: 401 },
      'service-refused',
      'The estimate of the ranking update of shop was refused by the service with status 401, so nothing was run and nothing spent. It does not accept our token: an operator of the guard has to put in a valid one.',
      { serviceStatus: 401 },
      'no-estimate',
    ],
    [
      { kind: 'refused', status: 418 },
      'service-refused',
      'The estimate of the ranking update of shop was refused by the service with status 418, so nothing was run and nothing spent.',
      { serviceStatus: 418 },
      'no-estimate',
    ],
    [
      { kind: 'unreachable', reason: 'status 500', status: 500 },
      'service-unreachable',
      'The estimate of the ranking update of shop could not be fetched: status 500. Nothing was run and nothing spent; the same request may be sent again.',
      { serviceStatus: 500 },
      'no-estimate',
    ],
  ]
  test.each(cases)('an unreadable estimate says so: %o', async (reading, slug, detail, members, event) => {
    const { guard, ask, service, lines } = await startGuard()
    service.estimate = async () => reading
    const problem = { slug, detail, members }
    expect(await guard.estimate({ kind: 'ranking', projects: ['shop'] }, bob)).toEqual(problem)
    expect(await ask()).toMatchObject({ status: 502, problem, updates: [], notRecorded: [] })
    const { kind: found, ...fields } = reading
    const level = event === 'estimate-unreadable' ? 'error' : 'info'
    const line = { level, event, project: 'shop', updateKind: 'ranking', found, ...fields }
    expect(lines).toEqual([line, line])
  })

  test('an unreadable estimate of keywords names the other pointer', async () => {
    const { guard, service } = await startGuard()
    service.estimate = async () => ({ kind: 'unreadable', reason: 'r', shape: 's', pointerHelps: true })
    expect(await guard.estimate({ kind: 'keyword-difficulty', projects: ['7'] }, bob)).toMatchObject({
      detail:
        'The estimate of the keyword-difficulty update of 7 could not be read (r), so nothing was run and nothing spent. If the figure is in there, set ESTIMATE_POINTER_DIFFICULTY to where it is.',
    })
  })

  test('a queued update without an estimate stays requested', async () => {
    const { guard, ask, service, clock } = await startGuard()
    const { id } = only(await ask({}, {}, { respondAsync: true }))
    service.estimate = async () => ({ kind: 'unreachable', reason: 'reset', status: null })
    expect(await guard.start(id, clock.now() + 60_000)).toMatchObject({ state: 'requested', version: 1 })
  })
})

describe('dates of a project', () => {
  test('missing dates do not stop an update, and are logged', async () => {
    const { ask, service, lines } = await startGuard()
    service.dates = () => Promise.reject(new RangeError('no such thing'))
    const update = only(await ask())
    expect(update).toMatchObject({ state: 'settled' })
    expect(update.hold).not.toHaveProperty('datesBefore')
    expect(lines[0]).toEqual({ level: 'info', event: 'no-dates', project: 'shop', reason: 'RangeError' })
  })

  test('dates from a day before the fence to three days after it are stored', async () => {
    const { ask, service } = await startGuard()
    const dates = ['2026-11-18', '2026-11-19', '2026-11-21', '2026-11-23', '2026-11-24']
    service.dates = async () => ({ kind: 'dates', dates })
    expect(only(await ask()).hold?.datesBefore).toEqual(['2026-11-19', '2026-11-21', '2026-11-23'])
  })

  test('no dates are read for keywords', async () => {
    const { ask, service, lines } = await startGuard()
    service.dates = () => Promise.reject(new Error('the service must not be asked'))
    expect(only(await ask({ kind: 'keyword-difficulty' })).hold).not.toHaveProperty('datesBefore')
    expect(lines.map(({ event }) => event)).toEqual(['hold', 'run'])
  })

  test('data of today makes a new ranking pointless', async () => {
    const { ask, service, sent } = await startGuard()
    service.dates = async () => ({ kind: 'dates', dates: ['2026-11-20'] })
    expect([(await ask()).problem?.slug, sent]).toEqual(['already-fresh', []])
  })
})

test('the request, the estimate and the run name the same work: the gateway’s bytes, or project and query', async () => {
  const asked: unknown[] = []
  const { ask, guard, service, sent } = await startGuard()
  service.estimate = async (target) => {
    asked.push(target)
    return { kind: 'units', units: u(40), source: 'u' }
  }
  const target = { segment: 'sh%6fp', search: 'b=1&a=2' }
  await ask({ target, query: { a: '2' } })
  await ask({ projects: ['a b'], query: { depth: '20' } })
  const both = [
    { kind: 'ranking', ...target },
    { kind: 'ranking', segment: 'a%20b', search: 'depth=20' },
  ]
  expect([asked, sent.map((request) => request.target)]).toEqual([both, both])
  await guard.estimate({ kind: 'ranking', projects: ['a b'], query: { depth: '20' } }, bob)
  expect(asked[2]).toEqual(both[1])
})

test('a hold names the sign of failure that its estimate has beside the figure', async () => {
  const { ask, service } = await startGuard()
  const sign = { text: 'success false at /success', family: 'success', condition: '/success=false' } as const
  service.estimate = async () => ({ kind: 'units', units: u(40), source: '/needed', sign })
  const [held] = only(await ask({})).history
  expect(held?.note).toBe('40 units held on account; the estimate has success false at /success')
})

test('a hold says its end, its counters, and the previous update of the same work', async () => {
  const { ask, clock, budget } = await startGuard()
  await budget('seo', { parent: 'account' })
  const first = only(await ask({ budget: 'seo' }))
  expect(first.history).toEqual([
    {
      state: 'running',
      at: at('2026-11-20T10:00:00Z'),
      by: 'guard',
      move: { held: 40 },
      note: '40 units held on seo and account',
    },
    expect.anything(),
  ])
  expect(first.hold).not.toHaveProperty('previous')
  expect(first.hold).not.toHaveProperty('grants')
  clock.set('2026-11-21T00:00:00Z')
  const second = only(await ask({ budget: 'seo' }))
  expect(second.hold).toEqual({
    units: 40,
    attempt: expect.any(String),
    at: clock.now(),
    leaseUntil: clock.now() + 17_000,
    senderUntil: clock.now() + 60_000,
    day: 'day:2026-11-21',
    budgets: ['seo', 'account'],
    datesBefore: [],
    previous: [first.id],
  })
})

test('an estimate for another caller uses the list of callers, and does not check the unknown token', async () => {
  const { guard, caller } = await priced()
  await caller('bob', { scopes: ['propose'], budgets: [] })
  await caller('mia', { readsBudgets: [] })
  const ada = { caller: 'ada', via: 'http' } as const
  const problemOf = async (as: string) => {
    const answer = await guard.estimate({ kind: 'ranking', projects: ['a'], explain: true, as }, ada)
    return 'slug' in answer ? answer.detail : (answer.problem?.detail ?? answer.approval)
  }
  expect(await Promise.all(['bob', 'eve', 'slack:U1', 'mia'].map(problemOf))).toEqual([
    'bob may not charge the budget account; the list of callers names the budgets that it may.',
    null,
    'slack:U1 needs the scope run or propose for this.',
    'mia is told: There is no project a in the budgets that you read.',
  ])
})
