import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { GuardOptions } from '../../../shared/guard/options.ts'
import type { NextStop } from '../../../shared/guard/shown-budget.ts'
import { decide } from '../../../shared/guard/update/decide.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import type { Budget, Caller } from '../../../shared/ledger/definitions/definitions.ts'
import type { Problem, UpdateRequest } from '../../../shared/ledger/updates/update.ts'
import { maxUnits } from '../../../shared/platform/words.ts'
import { nextStopOf, nextStopOfCaller } from '../../../shared/reports/next-stop.ts'
import type { LastRefusal } from '../../../shared/reports/stored-summary.ts'
import { namesOf, productKinds } from '../../../shared/tracking/kinds.ts'
import { at, readingOf, u } from '../../support/records.ts'

/** A price of 0 is possible, so that limits are compared with all amounts. */
const options: GuardOptions = {
  serviceTimeoutMs: 20_000,
  serviceFlightMs: 300_000,
  cooldown: { ranking: 'day', 'keyword-difficulty': 1 },
  isZeroFree: true,
}
const kinds = namesOf(productKinds)
const chain = ['seo', 'acme', 'account']
const asOfAda = { reason: 'too dear.', by: 'ada', at: at('2026-11-19T10:00:00Z') }

type Reading = NonNullable<Parameters<typeof readingOf>[0]>
type Wanted = Partial<Pick<UpdateRequest, 'kind' | 'caller' | 'via' | 'token'>>

/** The reason why `decide` refuses an update of this size. `null`: the update is held, or waits for an approval. */
function whyRefused(view: View, units: number, wanted: Wanted = {}): Problem | null {
  const decision = decide(
    {
      view,
      asked: { update: null, works: [{ key: 'work#1', work: null }], records: new Map() },
      request: {
        id: 'upd_2',
        kind: 'ranking',
        project: 'shop',
        budget: 'seo',
        caller: 'bob',
        via: 'http',
        content: { digest: 'd', count: 1 },
        createdAt: view.now,
        ...wanted,
      },
    },
    { units: u(units), dates: [] },
    options,
  )
  return decision.kind === 'refuse' ? decision.problem : null
}

/** The reading after this many more units were spent. */
function spending(how: Reading, units: number, names: readonly string[]): View {
  const more = (spent: Record<string, number> = {}) => ({
    ...spent,
    ...Object.fromEntries(names.map((name) => [name, (spent[name] ?? 0) + units])),
  })
  return readingOf({ ...how, spent: { month: more(how.spent?.month), day: more(how.spent?.day) } })
}

/** Compares the sentence with `decide`. `names`: the counters that an update is charged to. */
function agrees(stop: NextStop, how: Reading, names: readonly string[], wanted: Wanted): void {
  const { kind, units, updates, price } = stop
  const refused = (spent: number, needed: number) => whyRefused(spending(how, spent, names), needed, wanted)
  const isNamed = (problem: Problem | null) =>
    kind === 'limit'
      ? problem?.slug === 'over-budget' && problem.detail.startsWith(`${stop.budget?.replace('caller:', '')} `)
      : problem?.slug === 'over-update-limit' && problem.members.budget === stop.budget?.replace('caller:', '')
  if (kind === 'nothing') {
    for (const needed of [0, 1, price ?? 2, maxUnits]) expect(refused(0, needed)).toBeNull()
    return
  }
  if (units === null) throw new Error('a stop is so many units away')
  if (updates === 0) {
    if (units > 0) expect(refused(0, units)).toBeNull()
    expect(refused(0, units + 1)).not.toBeNull()
    expect(isNamed(refused(0, units === 0 ? 1 : (price ?? 0)))).toBe(true)
    return
  }
  const most = Number(/at most ([\d,]+) units? (?:for one update|\()/.exec(stop.sentence)?.[1]?.replace(',', '') ?? -1)
  if (most >= 0) {
    expect(refused(0, most)).toBeNull()
    expect(refused(0, most + 1)?.slug).toBe('over-update-limit')
  }
  if (kind === 'per-update') {
    expect([units, isNamed(refused(1_000, most + 1))]).toEqual([most, true])
    return
  }
  if (most < 0) {
    expect(refused(0, units)).toBeNull()
    expect(isNamed(refused(0, units + 1))).toBe(true)
  }
  expect(refused(units - 1, 1)).toBeNull()
  expect(isNamed(refused(units, 1))).toBe(true)
  if (updates !== null && price !== null) {
    expect(refused((updates - 1) * price, price)).toBeNull()
    expect(isNamed(refused(updates * price, price))).toBe(true)
  }
}

const amount = fc.integer({ min: 0, max: 300 })
/** Present in one of `oneIn` cases. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>, oneIn = 2) =>
  fc.oneof({ arbitrary, weight: 1 }, { arbitrary: fc.constant(undefined), weight: oneIn - 1 })
const limits = fc
  .record({ month: maybe(amount, 4), day: maybe(amount, 4) })
  .map((by) =>
    Object.entries(by).flatMap(([window, units]) =>
      units === undefined ? [] : [{ window: window as 'month' | 'day', units: u(units) }],
    ),
  )
const present = (members: object) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
const budget = fc
  .record({
    limits,
    perUpdate: maybe(amount.map(u)),
    enforce: maybe(fc.constant(false), 3),
    frozen: maybe(fc.constant(asOfAda), 8),
    kinds: maybe(fc.subarray([...kinds]), 4),
  })
  .map((members) => present(members) as Partial<Budget>)
const spent = (names: readonly string[]) =>
  fc.record({
    month: fc.record(Object.fromEntries(names.map((name) => [name, fc.nat(160)]))),
    day: fc.record(Object.fromEntries(names.map((name) => [name, fc.nat(160)]))),
  })
const price = fc.option(fc.integer({ min: 0, max: 250 }))

const tally = new Map<string, number>()
const counted = ({ kind, updates }: NextStop) => {
  const key = updates === 0 ? `${kind} now` : kind
  tally.set(key, (tally.get(key) ?? 0) + 1)
}

describe('the next stop of a budget', () => {
  test('a budget’s next stop agrees with the decisions of the same revision', () => {
    tally.clear()
    const budgets = fc.record({
      seo: budget,
      acme: budget,
      account: budget.map(({ enforce: _enforce, ...rest }) => rest),
    })
    fc.assert(
      fc.property(budgets, spent(chain), price, (budgets, spent, price) => {
        const how = { budgets, spent }
        const view = readingOf(how)
        const { seo } = view.definitions.budgets
        if (!seo) throw new Error('there is no budget seo')
        const stop = nextStopOf(view, seo, { last: onePrice(price), lastRefused: null })
        counted(stop)
        if (stop.kind === 'freeze' || stop.kind === 'kinds') {
          const slug = stop.kind === 'freeze' ? 'budget-frozen' : 'kind-not-allowed'
          for (const units of [0, 1, 500]) {
            const refused = kinds.map((kind) => whyRefused(view, units, { kind }))
            expect(refused).not.toContain(null)
            expect(refused.map((each) => [each?.slug, each?.members.budget])).toContainEqual([slug, stop.budget])
          }
          return
        }
        const kind = kinds.find((each) => chain.every((name) => budgets[name as 'seo'].kinds?.includes(each) ?? true))
        if (!kind) throw new Error('no kind is allowed')
        agrees(stop, how, chain, { kind })
      }),
      { numRuns: 1_000 },
    )
    const all = ['freeze now', 'kinds now', 'limit', 'limit now', 'nothing', 'per-update', 'per-update now']
    expect([...tally.keys()].toSorted()).toEqual(all)
  })
})

const onePrice = (units: number | null) => (units === null ? undefined : ({ units, onePrice: true } as const))

describe('the next stop of a caller', () => {
  test('a caller’s next stop agrees with the decisions of the same revision', () => {
    tally.clear()
    const caller = fc
      .record({
        limits: maybe(limits),
        perUpdate: maybe(amount.map(u)),
        disabled: maybe(fc.constant(true), 8),
        scopes: maybe(fc.subarray(['read', 'run', 'propose', 'admin']), 4),
        budgets: maybe(fc.constantFrom('*', [], ['acme']), 4),
      })
      .map((members) => present(members) as Caller)
    const subs = fc.constantFrom('bob', 'slack:U2BOB')
    fc.assert(
      fc.property(subs, caller, spent(['caller:bob']), price, (sub, caller, { month, day }, price) => {
        const counter = `caller:${sub}`
        const has = caller.limits !== undefined
        const spentBy = (by: Record<string, number>) => (has ? { [counter]: by['caller:bob'] ?? 0 } : {})
        const how = { callers: { [sub]: caller }, spent: { month: spentBy(month), day: spentBy(day) } }
        const view = readingOf(how)
        const stop = nextStopOfCaller(view, sub, caller, { last: onePrice(price), lastRefused: null })
        counted(stop)
        const token = { scopes: ['run', 'propose', 'admin'], budgets: '*' } as const
        const wanted: Wanted = sub === 'bob' ? { caller: sub, token } : { caller: sub, via: 'slack' }
        if (['disabled', 'scopes', 'budgets'].includes(stop.kind)) {
          expect(whyRefused(view, 0, wanted)?.slug).toBe('forbidden')
          return
        }
        agrees({ ...stop, budget: stop.budget && sub.concat() }, how, has ? [counter] : [], wanted)
      }),
      { numRuns: 1_000 },
    )
    const ruled = ['budgets now', 'disabled now', 'limit', 'limit now', 'nothing', 'per-update', 'per-update now']
    expect([...tally.keys()].toSorted()).toEqual([...ruled, 'scopes now'])
  })
})

const month = (units: number): Pick<Budget, 'limits'> => ({ limits: [{ window: 'month', units: u(units) }] })
const day = (units: number): Pick<Budget, 'limits'> => ({ limits: [{ window: 'day', units: u(units) }] })
const refusal = (members: Partial<LastRefusal>): LastRefusal => ({
  at: at('2026-11-20T09:02:00Z'),
  project: 'initech',
  slug: 'over-budget',
  ...members,
})

describe('the sentence of a budget’s next stop', () => {
  test.each<[string, Reading['budgets'], NonNullable<Reading['spent']>, number | null, string]>([
    ['nothing', {}, {}, 40, 'Nothing stops this: seo, acme and account are unlimited and unfrozen.'],
    [
      'an observed limit alone',
      { seo: { ...month(10), enforce: false } },
      {},
      40,
      'Nothing stops this: no limit of seo, acme and account is enforced, and nothing is frozen.',
    ],
    [
      'a month above',
      { seo: month(5_000), acme: month(2_000) },
      { month: { acme: 760 } },
      620,
      "Next stop: acme's month, 1,240 units away (2 updates at the last price).",
    ],
    ['a day, with no price known', { seo: day(300) }, {}, null, "Next stop: seo's day, 300 units away."],
    [
      'a day with one update left, and a rule for one update',
      { seo: { ...day(300), perUpdate: u(200) } },
      {},
      160,
      "Next stop: seo's day, 300 units away (1 update at the last price). One update may need at most 200 units (seo).",
    ],
    [
      'a rule alone',
      { acme: { perUpdate: u(1) } },
      {},
      null,
      'No limit stops this; acme allows at most 1 unit for one update.',
    ],
    [
      'a rule below the last price',
      { acme: { ...month(2_000), perUpdate: u(500) } },
      {},
      640,
      'Stopped at the last price of 640: acme allows at most 500 units for one update.',
    ],
    [
      'a rule below the last price, where less is left',
      { acme: { ...month(2_000), perUpdate: u(500) } },
      { month: { acme: 1_900 } },
      640,
      'Stopped at the last price of 640: acme allows at most 500 units for one update, and acme has 100 of 2,000 units left this month.',
    ],
    [
      'a day that has too little',
      { seo: day(1_000) },
      { day: { seo: 800 } },
      640,
      'Stopped at the last price of 640: seo has 200 of 1,000 units left today; resets 21 Nov 2026 00:00 Europe/Berlin.',
    ],
    [
      'a month with nothing left',
      { account: month(1_000) },
      { month: { account: 1_000 } },
      null,
      'Stopped now: account has 0 of 1,000 units left this month; resets 1 Dec 2026 00:00 Europe/Berlin.',
    ],
    [
      'a month that is over',
      { account: month(1_000) },
      { month: { account: 1_040 } },
      null,
      'Stopped now: account is 40 over its 1,000 units this month; resets 1 Dec 2026 00:00 Europe/Berlin.',
    ],
    [
      'a freeze above',
      { acme: { frozen: asOfAda }, seo: day(0) },
      {},
      40,
      'Stopped now: acme was frozen by ada on 19 Nov 2026 11:00 Europe/Berlin: too dear.',
    ],
    ['no kind', { seo: { kinds: [] } }, {}, 40, 'Stopped now: seo allows no updates at all.'],
    [
      'kinds that exclude each other',
      { seo: { kinds: ['ranking'] }, acme: { kinds: ['keyword-difficulty'] } },
      {},
      40,
      'Stopped now: acme allows none of the kinds that the budgets below it allow.',
    ],
  ])('%s', (_name, budgets, spent, price, sentence) => {
    const view = readingOf({ ...(budgets && { budgets }), spent })
    const { seo } = view.definitions.budgets
    expect(seo && nextStopOf(view, seo, { last: onePrice(price), lastRefused: null }).sentence).toBe(sentence)
  })

  test.each<[string, Partial<LastRefusal>, string]>([
    [
      'a day',
      { units: 640, decidedBy: { budget: 'globex', window: 'day', had: 200 } },
      "initech needed 640, globex's day had 200",
    ],
    [
      'an empty month',
      { decidedBy: { budget: 'clients', window: 'month', had: 0 } },
      "initech, since clients' month had nothing left",
    ],
    [
      'the month of a caller',
      { units: 9, decidedBy: { budget: 'caller:bob', window: 'month', had: 1 } },
      "initech needed 9, bob's month had 1",
    ],
    ['a budget that is not seen', { units: 640 }, 'initech needed 640, a budget above had too little'],
    [
      'a rule for one update',
      { slug: 'over-update-limit', units: 640, decidedBy: { budget: 'globex', had: 500 } },
      'initech needed 640, globex allows at most 500 for one update',
    ],
    [
      'a rule of a plan',
      { slug: 'over-update-limit', units: 640, decidedBy: { budget: 'schedule:night', had: 500 } },
      'initech needed 640, plan night allows at most 500 for one update',
    ],
    [
      'a rule that is not seen',
      { slug: 'over-update-limit', units: 640 },
      'initech needed 640, a budget above allows less for one update',
    ],
    [
      'more than any account',
      { slug: 'over-update-limit', units: maxUnits + 1 },
      'initech needed 1,000,000,000,001, more than any account has',
    ],
    ['a freeze', { slug: 'budget-frozen', decidedBy: { budget: 'globex' } }, 'initech, since globex was frozen'],
    [
      'a kind',
      { slug: 'kind-not-allowed', decidedBy: { budget: 'globex' } },
      'initech, since globex does not allow that kind of update',
    ],
  ])('the sentence says why the last update was refused: %s', (_name, members, why) => {
    const view = readingOf()
    const { seo } = view.definitions.budgets
    const stop = seo && nextStopOf(view, seo, { last: undefined, lastRefused: refusal(members) })
    expect(stop?.sentence.split('unfrozen. ')[1]).toBe(`Last refused on 20 Nov 2026 10:02 Europe/Berlin: ${why}.`)
  })

  test('the sentence for a reader without account says that budgets above may stop the budget earlier', () => {
    const view = readingOf({ budgets: { acme: { parent: null, ...month(100) } } })
    const { seo } = view.definitions.budgets
    expect(seo && nextStopOf(view, seo, { last: onePrice(40), lastRefused: null }).sentence).toBe(
      "Next stop: acme's month, 100 units away (2 updates at the last price). Budgets above may stop it earlier.",
    )
  })

  test('the next stop has a number of updates only if all runs had one price', () => {
    const view = readingOf({ budgets: { seo: month(100) } })
    const { seo } = view.definitions.budgets
    const stop = (last: { units: number; onePrice?: true }) => seo && nextStopOf(view, seo, { last, lastRefused: null })
    expect(stop({ units: 40, onePrice: true })).toMatchObject({ units: 100, updates: 2, price: 40 })
    expect(stop({ units: 40 })).toMatchObject({ units: 100, updates: null, price: 40 })
    expect(stop({ units: 40 })?.sentence).toBe("Next stop: seo's month, 100 units away.")
    // What the next update lacks is known for any price.
    expect(stop({ units: 101 })).toMatchObject({ units: 100, updates: 0 })
  })
})

describe('the sentence of a caller’s next stop', () => {
  test.each<[string, string, Caller, number | null, string]>([
    ['nothing', 'bob', {}, 40, "Nothing in bob's own entry stops them, but the budgets that they charge may."],
    ['a month', 'bob', month(300), 100, "Next stop: bob's month, 300 units away (3 updates at the last price)."],
    [
      'a month of a person',
      'bob',
      { ...month(300), person: 'robert' },
      null,
      "Next stop: robert's month, 300 units away.",
    ],
    [
      'a rule',
      'bob',
      { perUpdate: u(50) },
      100,
      'Stopped at the last price of 100: bob allows at most 50 units for one update.',
    ],
    ['disabled', 'bob', { disabled: true }, 40, 'Stopped now: bob is disabled; ask an administrator.'],
    ['no scope', 'bob', { scopes: ['read'] }, 40, 'Stopped now: bob needs the scope run or propose for this.'],
    [
      'no budget in Slack',
      'slack:U2',
      { scopes: ['run'] },
      40,
      'Stopped now: slack:U2 may charge no budget; list one for them.',
    ],
    [
      'all unlisted callers',
      '*',
      { perUpdate: u(50) },
      null,
      'No limit stops this; the entry * allows at most 50 units for one update.',
    ],
    [
      'no rule for unlisted callers',
      '*',
      {},
      null,
      'Nothing in the entry * stops them, but the budgets that they charge may.',
    ],
  ])('%s', (_name, sub, caller, price, sentence) => {
    const view = readingOf({ ...(sub !== '*' && { callers: { [sub]: caller } }) })
    expect(nextStopOfCaller(view, sub, caller, { last: onePrice(price), lastRefused: null }).sentence).toBe(sentence)
  })
})
