import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { GuardOptions } from '../../shared/guard/options.ts'
import { type Decision, decide } from '../../shared/guard/update/decide.ts'
import { type Check, checksInWords, explain } from '../../shared/guard/update/explain.ts'
import type { DecisionInput, Quote, QuoteResult } from '../../shared/guard/update/quote.ts'
import type { Budget, Caller } from '../../shared/ledger/definitions/definitions.ts'
import type { Update, UpdateRequest } from '../../shared/ledger/updates/update.ts'
import { maxUnits } from '../../shared/platform/words.ts'
import { minutes } from '../support/clock.ts'
import { at, holdOf, readingOf, u, updateOf } from '../support/records.ts'

const options: GuardOptions = {
  serviceTimeoutMs: 20_000,
  serviceFlightMs: minutes(5),
  cooldown: { ranking: 'day', 'keyword-difficulty': '7d' },
}

type Reading = Parameters<typeof readingOf>[0]

function known(
  how: Reading & { request?: Partial<UpdateRequest>; update?: Update | null; holder?: Update | null } = {},
): DecisionInput {
  const { update = null, holder = null } = how
  const work = holder && { kind: holder.kind, project: holder.project, update: holder.id, version: 1 }
  const records = new Map(holder ? [[holder.id, holder]] : [])
  const request: UpdateRequest = {
    id: 'upd_2',
    kind: 'ranking',
    project: 'shop',
    budget: 'seo',
    caller: 'bob',
    via: 'http',
    content: { digest: 'd', count: 1 },
    createdAt: at('2026-11-20T10:00:00Z'),
    ...how.request,
  }
  const plan = request.plan === undefined ? {} : { plan: { enabled: request.plan === 'on', mayChargeAncestors: true } }
  return { view: readingOf(how), asked: { update, works: [{ key: 'work#1', work }], records }, request, ...plan }
}

const quoteOf = (units: number, dates: Quote['dates'] = []): QuoteResult => ({
  kind: 'quote',
  units: u(units),
  dates,
  at: 0,
})

const rowsOf = (how: Parameters<typeof known>[0] = {}, quoted: QuoteResult = quoteOf(40)) =>
  checksInWords(explain(known(how), quoted, options)).map(({ check, verdict, figure }) => [check, verdict, figure])

const rowOf = (check: Check['check'], ...of: Parameters<typeof rowsOf>) =>
  rowsOf(...of).filter(([name]) => name === check)

const month = (units: number): Pick<Budget, 'limits'> => ({ limits: [{ window: 'month', units: u(units) }] })

describe('the checks of a decision', () => {
  test('the checks have a fixed order, each with the facts that it compared', () => {
    const budgets = { account: { parent: null, ...month(500) }, acme: { approvalAbove: u(100), ...month(200) } }
    expect(rowsOf({ budgets, spent: { month: { acme: 50 } } })).toEqual([
      ['same-work', 'passes', 'no such update runs or is in doubt, and none ran today'],
      ['caller', 'passes', 'bob is not disabled'],
      ['name', 'passes', 'listed by: none'],
      ['payer', 'passes', 'paid by: seo'],
      ['rules', 'passes', 'not frozen, and open to this kind of update: seo, acme and account'],
      ['used-up', 'passes', 'every limit that can refuse it has something left'],
      ['estimate', 'passes', '40 units'],
      ['one-update', 'passes', 'limits: none'],
      ['fresh', 'passes', 'the service shows no ranking data of today'],
      ['counter', 'passes', 'seo is unlimited this month'],
      ['counter', 'passes', 'acme has 150 of 200 units left this month, this needs 40'],
      ['counter', 'passes', 'account has 500 of 500 units left this month, this needs 40'],
      ['approval', 'passes', 'needed above: acme 100'],
    ])
  })

  test('the checks continue after a check that refuses', () => {
    const frozen = { reason: 'overrun', by: 'guard', at: at('2026-11-19T10:00:00Z') }
    const budgets = { acme: { frozen, ...month(30) }, seo: { perUpdate: u(10), enforce: false as const, ...month(5) } }
    const rows = rowsOf({ budgets, callers: { bob: { disabled: true, ...month(60) } } })
    expect(rows.filter(([, verdict]) => verdict !== 'passes')).toEqual([
      ['caller', 'refuses', 'bob is disabled; ask an administrator.'],
      [
        'rules',
        'refuses',
        'acme was frozen by guard on 19 Nov 2026 11:00 Europe/Berlin: overrun. Ask an administrator to unfreeze it.',
      ],
      ['one-update', 'refuses', 'This update needs 40 units, and seo allows at most 10 for one update.'],
      ['counter', 'would-refuse', 'seo has 5 of 5 units left this month, this needs 40'],
      ['counter', 'refuses', 'acme has 30 of 30 units left this month, this needs 40'],
    ])
    expect(rows).toContainEqual(['counter', 'passes', 'bob has 60 of 60 units left this month, this needs 40'])
  })

  test('the checks show the figures of counters if the service gives no estimate', () => {
    const problem = { slug: 'service-unreachable', detail: 'No answer.', members: {} }
    expect(rowsOf({ budgets: { acme: month(30) } }, { kind: 'problem', problem }).slice(-4)).toEqual([
      ['estimate', 'refuses', 'No answer.'],
      ['counter', 'passes', 'seo is unlimited this month'],
      ['counter', 'unknown', 'acme has 30 of 30 units left this month'],
      ['counter', 'passes', 'account is unlimited this month'],
    ])
  })

  test('the checks show the figures of counters if the estimate is impossibly large', () => {
    const rows = rowsOf({ budgets: { acme: month(30) } }, quoteOf(maxUnits + 1))
    expect(rows.filter(([, verdict]) => verdict !== 'passes').map(([check, verdict]) => [check, verdict])).toEqual([
      ['size', 'refuses'],
      ['counter', 'unknown'],
    ])
  })

  test('the checks name the limits of rules, the scopes of the caller, and the limits of the request', () => {
    const token = (...scopes: ('run' | 'propose')[]) => ({ token: { scopes, budgets: '*' as const } })
    const asks = { ...token('propose'), maxUnits: u(90), kind: 'keyword-difficulty', whenShort: 'ask' } as const
    const how = {
      budgets: { seo: { perUpdate: u(50), ...month(0) }, acme: { projects: [{ name: 'shop' }], perUpdate: u(70) } },
      callers: { bob: { perUpdate: u(60) } },
      request: { ...asks, budget: 'acme' },
    }
    const rows = rowsOf(how, quoteOf(40, null))
    expect(rows).toEqual(
      expect.arrayContaining([
        ['same-work', 'passes', 'no such update runs or is in doubt, and none ran within the cool-down of 7 days'],
        ['name', 'passes', 'listed by: acme'],
        ['permission', 'passes', 'the scope propose, and a budget that the caller may charge'],
        ['used-up', 'passes', 'every limit that can refuse it has something left, or an approver may grant it'],
        ['max-units', 'passes', 'the request allows at most 90 for each update'],
        ['one-update', 'passes', 'limits: acme 70 and bob 60'],
        ['fresh', 'passes', 'the dates of its data are not known'],
        ['approval', 'asks', 'callers with only the propose scope need approval'],
      ]),
    )
    expect(rowOf('permission', { request: token('run') })).toEqual([
      ['permission', 'passes', 'the scope run, and a budget that the caller may charge'],
    ])
    expect(rowOf('counter', { budgets: { seo: month(0) }, request: { whenShort: 'ask' } })[0]).toEqual([
      'counter',
      'asks',
      'seo has 0 of 0 units left this month, this needs 40',
    ])
  })
})

test('a counter shows its limit, or only "a budget above" if it refuses or asks and the reader may not see it', () => {
  const account = { parent: null, ...month(0) }
  const budgets = { account, acme: month(30), seo: { enforce: false as const, ...month(5) } }
  const countersOf = (how: Parameters<typeof known>[0], isHidden: boolean) => {
    const checks = explain(known({ budgets, ...how }), quoteOf(40), options)
    const seen = checks.map(({ figures, ...rest }) => (isHidden || !figures ? rest : { ...rest, figures }))
    return checksInWords(seen).filter(({ check }) => check === 'counter')
  }
  const check = 'counter'
  expect(countersOf({ budgets: { acme: month(90) } }, false).slice(0, 2)).toEqual([
    {
      check,
      verdict: 'passes',
      figure: 'seo is unlimited this month',
      budget: 'seo',
      window: 'month',
      limit: 'unlimited',
      available: null,
      needed: 40,
    },
    {
      check,
      verdict: 'passes',
      figure: 'acme has 90 of 90 units left this month, this needs 40',
      budget: 'acme',
      window: 'month',
      limit: 90,
      available: 90,
      needed: 40,
    },
  ])
  expect(countersOf({}, true)).toEqual([
    { check, verdict: 'refuses', figure: 'a budget above is 10 units short' },
    { check, verdict: 'refuses', figure: 'a budget above has nothing left' },
  ])
  expect(countersOf({ request: { whenShort: 'ask' } }, true)).toEqual([
    { check, verdict: 'asks', figure: 'a budget above wants approval' },
    { check, verdict: 'refuses', figure: 'a budget above has nothing left' },
  ])
})

test('the checks say if the caller’s token is unknown', () => {
  const [, caller] = checksInWords(explain(known(), quoteOf(40), options, true))
  expect(caller?.figure).toBe('bob is not disabled; its token is not known here, so only the list of callers counts')
})

/** `absent`: how often in ten the value is missing. */
const some = <T>(value: fc.Arbitrary<T>, absent = 5): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: absent, arbitrary: fc.constant(undefined) }, { weight: 10 - absent, arbitrary: value })
const unitsUpTo = (max: number) => fc.integer({ min: 0, max }).map(u)
const stop = { reason: 'dear', by: 'ada', at: at('2026-11-19T10:00:00Z') }

const limits = fc
  .record({ month: some(unitsUpTo(120)), day: some(unitsUpTo(120), 8) })
  .map(({ month, day }) => [
    ...(month === undefined ? [] : [{ window: 'month' as const, units: month }]),
    ...(day === undefined ? [] : [{ window: 'day' as const, units: day }]),
  ])

const withoutAbsent = <T extends object>(record: T): T =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T

const rules = fc
  .record({
    limits,
    perUpdate: some(unitsUpTo(120), 9),
    approvalAbove: some(unitsUpTo(120), 8),
    approvalIfGrown: some(fc.integer({ min: 0, max: 50 }), 8),
    enforce: some(fc.constant(false as const), 8),
    frozen: some(fc.constant(stop), 9),
    kinds: some(fc.constantFrom(['ranking'], ['keyword-difficulty']), 9),
  })
  .map((each) => withoutAbsent(each) as Partial<Budget>)

const spent = fc.record({ seo: unitsUpTo(30), acme: unitsUpTo(30), account: unitsUpTo(30) })

const holders: readonly (Update | null)[] = [
  ...Array.from({ length: 12 }, () => null),
  updateOf({ state: 'running' }),
  updateOf({ state: 'in-doubt', hold: holdOf() }),
  updateOf({ state: 'settled', closedBy: 'sender', charged: u(30), finishedAt: at('2026-11-18T09:30:00Z') }),
  updateOf({ state: 'settled', closedBy: 'sender', charged: u(30), finishedAt: at('2026-11-20T09:30:00Z') }),
]

const requests = fc
  .record({
    budget: fc.constantFrom('seo', 'seo', 'acme'),
    maxUnits: some(unitsUpTo(120), 8),
    force: some(fc.constant(true as const), 8),
    whenShort: some(fc.constant('ask' as const)),
    plan: some(fc.constantFrom('on', 'on', 'off'), 7),
    token: some(
      fc.record({
        scopes: fc.constantFrom<('run' | 'propose')[]>(['run'], ['run'], ['run', 'propose'], ['propose'], []),
        budgets: fc.constantFrom('*' as const, '*' as const, ['seo', 'acme'], ['seo']),
      }),
    ),
    proposed: some(fc.constant(true as const), 8),
  })
  .map((each) => withoutAbsent(each) as Partial<UpdateRequest>)

const approvals = some(
  fc.record({
    by: fc.constantFrom('ada', 'eve'),
    at: fc.constant(0),
    units: unitsUpTo(120),
    grants: fc.constantFrom([], [{ budget: 'seo', window: 'month' as const, units: u(60) }]),
  }),
  7,
)

const inputs = fc
  .record({
    seo: rules,
    acme: rules,
    month: spent,
    day: spent,
    request: requests,
    approval: approvals,
    account: fc.record({ limits }),
    lists: some(fc.constantFrom('seo', 'acme')),
    isRestored: fc.integer({ min: 0, max: 19 }),
    holder: fc.constantFrom(...holders),
    unowned: some(fc.constantFrom('approve' as const, 'refuse' as const), 8),
    bob: fc
      .record({ limits, disabled: some(fc.constant(true as const), 9), perUpdate: some(unitsUpTo(120), 9) })
      .map(withoutAbsent) as fc.Arbitrary<Caller>,
  })
  .map(({ seo, acme, account, lists, unowned, bob, isRestored, approval, month, day, ...rest }) => {
    const listed = (name: string) => (lists === name ? { projects: [{ name: 'shop' }] } : {})
    return known({
      budgets: {
        account: { parent: null, ...account, ...(unowned && { unowned }) },
        acme: { ...acme, ...listed('acme') },
        seo: { parent: 'acme', ...seo, ...listed('seo') },
      },
      callers: { bob, eve: { disabled: true } },
      ...rest,
      spent: { month, day },
      ...(isRestored === 0 && { restored: { at: at('2026-11-20T09:00:00Z') } }),
      update: approval ? updateOf({ id: 'upd_2', state: 'requested', budget: 'seo', approval }) : null,
    })
  })

const quotes = fc.record({
  units: fc.oneof({ weight: 5, arbitrary: unitsUpTo(120) }, { weight: 1, arbitrary: fc.constant(u(maxUnits + 1)) }),
  dates: fc.constantFrom(null, [], [], ['2026-11-19'], ['2026-11-20']),
})

function mustAgree(decision: Decision, checks: readonly Check[]): void {
  const first = checks.find(({ verdict }) => verdict === 'refuses')
  if (decision.kind === 'refuse') {
    const { problem } = decision
    const { budget, window } = first?.figures ?? {}
    if (first?.check === 'counter')
      expect(problem.members.budgets).toContainEqual(expect.objectContaining({ budget, window }))
    else expect(first?.problem).toEqual(problem)
    return
  }
  expect(first).toBeUndefined()
  expect(checks.some(({ verdict }) => verdict === 'asks')).toBe(decision.kind === 'ask')
  if (decision.kind === 'ask') return
  const observed = checks.filter(({ verdict }) => verdict === 'would-refuse').map(({ figures }) => figures?.budget)
  expect(observed).toEqual(decision.wouldHaveRefused.map(({ budget }) => budget))
}

describe('for any budgets, callers, requests and estimates', () => {
  test('for any budgets, callers and requests, the first check that refuses has the decision’s problem, and a check asks exactly if the decision asks', () => {
    const outcomes = new Set<string>()
    fc.assert(
      fc.property(inputs, quotes, (input, quote) => {
        const decision = decide(input, quote, options)
        const checks = explain(input, { kind: 'quote', at: 0, ...quote }, options)
        outcomes.add(checks.find(({ verdict }) => verdict === 'refuses')?.check ?? decision.kind)
        mustAgree(decision, checks)
      }),
      { numRuns: 1_500 },
    )
    // Each outcome must occur, so that the property tests each of them.
    expect([...outcomes].toSorted()).toEqual(
      [
        'ask',
        'hold',
        'same-work',
        'restored',
        'caller',
        'permission',
        'payer',
        'unowned',
        'rules',
        'used-up',
        'price',
        'max-units',
        'one-update',
        'fresh',
        'size',
        'counter',
      ].toSorted(),
    )
  })
})
