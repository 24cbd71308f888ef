import { describe, expect, test } from 'vitest'
import type { GuardOptions } from '../../../shared/guard/options.ts'
import { figuresOf } from '../../../shared/guard/sentences.ts'
import { decide, decideEarly } from '../../../shared/guard/update/decide.ts'
import { isOldKey, runsOf } from '../../../shared/guard/update/duplicate-work.ts'
import { overBudget } from '../../../shared/guard/update/over-budget.ts'
import type { DecisionInput } from '../../../shared/guard/update/quote.ts'
import type { ViewResult } from '../../../shared/ledger/book/view.ts'
import type { Budget } from '../../../shared/ledger/definitions/definitions.ts'
import { changeRenewal, newCalendar, type Renewal } from '../../../shared/ledger/definitions/windows.ts'
import type { Update, UpdateRequest } from '../../../shared/ledger/updates/update.ts'
import type { Work } from '../../../shared/ledger/updates/work.ts'
import { hours, minutes } from '../../support/clock.ts'
import { at, holdOf, readingOf, u, updateOf } from '../../support/records.ts'

const options: GuardOptions = {
  serviceTimeoutMs: 20_000,
  serviceFlightMs: minutes(5),
  cooldown: { ranking: 'day', 'keyword-difficulty': hours(168) },
}

/** The known update, and the one item of its work. */
interface Asked {
  readonly update?: Update
  readonly holder?: Update
  readonly work?: Work
}

function askedView({ update, holder, work }: Asked = {}): ViewResult {
  const item = work ?? (holder ? { kind: holder.kind, project: holder.project, update: holder.id, version: 1 } : null)
  const records = new Map(holder ? [[holder.id, holder]] : [])
  return { update: update ?? null, works: [{ key: 'work#1', work: item }], records }
}

function known(
  how: Parameters<typeof readingOf>[0] &
    Pick<DecisionInput, 'isOldKey' | 'waiting'> & {
      request?: Partial<UpdateRequest>
      asked?: Asked
      /** `null`: the plan is not in the plans file. */
      plan?: DecisionInput['plan'] | null
    } = {},
): DecisionInput {
  return {
    view: readingOf(how),
    asked: askedView(how.asked),
    request: {
      id: 'upd_2',
      kind: 'ranking',
      project: 'shop',
      budget: 'seo',
      caller: 'bob',
      via: 'http',
      content: { digest: 'd', count: 1 },
      createdAt: at('2026-11-20T10:00:00Z'),
      ...how.request,
    },
    ...(how.isOldKey !== undefined && { isOldKey: how.isOldKey }),
    ...(how.waiting && { waiting: how.waiting }),
    ...(how.request?.plan !== undefined &&
      how.plan !== null && { plan: how.plan ?? { enabled: true, mayChargeAncestors: false } }),
  }
}

const say = (how: Parameters<typeof known>[0] = {}, units = 40, dates: readonly string[] | null = []) =>
  decide(known(how), { units: u(units), dates }, options)

const nothing = { held: 0, inDoubt: 0, spent: 0 }

const month = (units: number): Pick<Budget, 'limits'> => ({ limits: [{ window: 'month', units: u(units) }] })

describe('a decision before the estimate', () => {
  test('an update without objections passes, with its budget and the ancestors', () => {
    const early = decideEarly(known(), options)
    expect(early).toMatchObject({ kind: 'pass', chain: [{ name: 'seo' }, { name: 'acme' }, { name: 'account' }] })
    expect(early).toHaveProperty('runs', [])
  })

  test.each<[string, Parameters<typeof known>[0], string, string, object]>([
    [
      'a disabled caller',
      { callers: { bob: { disabled: true } } },
      'forbidden',
      'bob is disabled; ask an administrator.',
      {},
    ],
    [
      'a paused plan',
      {
        pausedPlans: { nightly: { reason: 'too dear', by: 'ada', at: at('2026-11-19T10:00:00Z') } },
        request: { plan: 'nightly' },
      },
      'plan-paused',
      'The plan nightly was paused by ada on 19 Nov 2026 11:00 Europe/Berlin: too dear. Resume it, then run what was not sent.',
      { plan: 'nightly' },
    ],
    ...[null, { enabled: false, mayChargeAncestors: false }].map(
      (plan): [string, Parameters<typeof known>[0], string, string, object] => [
        plan ? 'a plan that is not enabled' : 'a plan that is not in the file',
        { plan, request: { plan: 'nightly' } },
        'wrong-state',
        'The plan nightly is not enabled in the plans file, so it cannot run.',
        { plan: 'nightly' },
      ],
    ),
    [
      'a plan that leaves units to a budget that does not exist',
      { request: { plan: 'nightly', leave: { seo: u(1), soe: u(1) }, caller: 'schedule:nightly' } },
      'not-found',
      'The plan nightly leaves units of the budget soe to others, and there is no such budget: correct the plans file, or create the budget.',
      {},
    ],
    [
      'a budget that is gone',
      { request: { budget: 'gone' } },
      'not-found',
      'The budget gone was deleted before the update could begin.',
      {},
    ],
    [
      'a frozen ancestor',
      { budgets: { acme: { frozen: { reason: 'overrun', by: 'guard', at: at('2026-11-19T10:00:00Z') } } } },
      'budget-frozen',
      'acme was frozen by guard on 19 Nov 2026 11:00 Europe/Berlin: overrun. Ask an administrator to unfreeze it.',
      { budget: 'acme' },
    ],
    [
      'a budget that allows the other kind',
      { budgets: { seo: { kinds: ['keyword-difficulty'] } } },
      'kind-not-allowed',
      'seo allows keyword-difficulty updates only, and this is a ranking update.',
      { budget: 'seo' },
    ],
    [
      'a budget that allows none',
      { budgets: { seo: { kinds: [] } } },
      'kind-not-allowed',
      'seo allows no updates at all, and this is a ranking update.',
      { budget: 'seo' },
    ],
    [
      'the same work, running',
      { asked: { holder: updateOf({ state: 'running' }) }, request: { force: true } },
      'duplicate-work',
      'The ranking update of shop is already running as upd_1; ask again when it has ended.',
      { update: 'upd_1' },
    ],
    [
      'the same work, in doubt',
      { asked: { holder: updateOf({ state: 'in-doubt', hold: holdOf() }) }, request: { force: true } },
      'duplicate-work',
      'The ranking update of shop is in doubt as upd_1: it may have run. A person can resolve it; without that, the project may be updated again from 21 Nov 2026 00:00 Europe/Berlin.',
      { update: 'upd_1' },
    ],
    [
      'the same work, done today',
      {
        asked: { holder: updateOf({ state: 'settled', closedBy: 'sender', finishedAt: at('2026-11-20T09:30:00Z') }) },
      },
      'already-updated',
      'The ranking update of shop was done at 20 Nov 2026 10:30 Europe/Berlin as upd_1; until 21 Nov 2026 00:00 Europe/Berlin that is the answer, and nothing is spent.',
      { update: 'upd_1' },
    ],
  ])('%s is refused', (_name, how, slug, detail, members) => {
    expect(decideEarly(known(how), options)).toEqual({ kind: 'refuse', problem: { slug, detail, members } })
    expect(say(how)).toEqual({ kind: 'refuse', problem: { slug, detail, members } })
  })

  test.each<[string, Parameters<typeof known>[0]]>([
    ['another caller is disabled', { callers: { eve: { disabled: true } } }],
    [
      'another plan is paused',
      { pausedPlans: { weekly: { reason: '', by: 'ada', at: 0 } }, request: { plan: 'nightly' } },
    ],
    ['no plan asks, and one is paused', { pausedPlans: { undefined: { reason: '', by: 'ada', at: 0 } } }],
    ['a plan leaves units to a budget', { request: { plan: 'nightly', leave: { seo: u(1) } } }],
    ['both kinds are allowed', { budgets: { seo: { kinds: ['keyword-difficulty', 'ranking'] } } }],
    ['another budget is frozen', { budgets: { other: { frozen: { reason: '', by: 'ada', at: 0 } } } }],
    [
      'the work was released',
      { asked: { holder: updateOf({ state: 'released', finishedAt: at('2026-11-20T09:00Z') }) } },
    ],
  ])('an update is admitted: %s', (_name, how) => {
    expect(decideEarly(known(how), options).kind).toBe('pass')
  })

  describe('an empty counter of the chain', () => {
    const detail =
      'seo has 0 of 100 units left this month; resets 1 Dec 2026 00:00 Europe/Berlin; ask for more before trying again.'

    test('an empty counter refuses with the known figures and without an estimate', () => {
      expect(decideEarly(known({ budgets: { seo: month(100) }, spent: { month: { seo: 100 } } }), options)).toEqual({
        kind: 'refuse',
        problem: {
          slug: 'over-budget',
          detail,
          members: {
            units: null,
            short: null,
            budgets: [
              {
                budget: 'seo',
                window: 'month',
                limit: 100,
                held: 0,
                inDoubt: 0,
                spent: 100,
                available: 0,
                short: null,
                resetsAt: '2026-11-30T23:00:00.000Z',
              },
            ],
            wouldPass: [
              'a grant of more than 0 to seo for the month (POST /budgets/<name>/entries, scope admin)',
              'the same request after 1 Dec 2026 00:00 Europe/Berlin, if it fits then',
            ],
          },
        },
      })
    })

    test('an overdrawn counter refuses an update; a counter with one unit left lets it pass', () => {
      expect(decideEarly(known({ budgets: { seo: month(100) }, spent: { month: { seo: 101 } } }), options).kind).toBe(
        'refuse',
      )
      expect(decideEarly(known({ budgets: { seo: month(100) }, spent: { month: { seo: 99 } } }), options).kind).toBe(
        'pass',
      )
    })

    test('an empty counter requests approval with ask, except for the account and the caller', () => {
      const asks: Partial<UpdateRequest> = { whenShort: 'ask' }
      expect(decideEarly(known({ budgets: { seo: month(0) }, request: asks }), options).kind).toBe('pass')
      const account = { account: { parent: null, ...month(0) } }
      expect(decideEarly(known({ budgets: account, request: asks }), options).kind).toBe('refuse')
      expect(decideEarly(known({ callers: { bob: month(0) }, request: asks }), options).kind).toBe('refuse')
      expect(decideEarly(known({ budgets: { seo: month(0), ...account }, request: asks }), options).kind).toBe('refuse')
    })
  })
})

describe('units that are held or in doubt', () => {
  const short = (budget: string, held: number, inDoubt: number) => {
    const figures = figuresOf(readingOf({}), { name: budget, limits: [{ window: 'month', units: u(100) }] }, 'month')
    return { figures: { ...figures, held: u(held), inDoubt: u(inDoubt) }, needed: 40, leave: 0 }
  }
  const ends = 'they are charged or come back, in seven days at the latest.'

  test.each<[string, ReturnType<typeof short>[], string | null]>([
    ['no units are held', [short('seo', 0, 0)], null],
    ['units are held', [short('seo', 12, 0)], `seo has 12 units held: ${ends}`],
    ['a unit is in doubt', [short('seo', 0, 1)], `seo has 1 unit in doubt: ${ends}`],
    [
      'the budget above has most',
      [short('seo', 1, 0), short('acme', 12, 26)],
      `acme has 12 units held and 26 in doubt: ${ends}`,
    ],
  ])('a refusal says when held units end: %s', (_name, rows, sentence) => {
    const { detail } = overBudget(rows, 40, 'UTC')
    expect(/(\w+ has [\w ]+(held|in doubt): .*)$/.exec(detail)?.[1] ?? null).toBe(sentence)
  })
})

describe('the same work', () => {
  const doubted = (hold: Parameters<typeof holdOf>[0], doubt?: Update['doubt']) =>
    updateOf({ state: 'in-doubt', hold: holdOf(hold), ...(doubt && { doubt }) })

  test.each<[string, string, Update, string]>([
    ['until the day of its fence ends', '2026-11-20T23:00:00+01:00', doubted({}), '2026-11-21T00:00:00+01:00'],
    [
      'for at least an hour',
      '2026-11-21T00:29:59+01:00',
      doubted({ at: at('2026-11-20T23:30:00+01:00'), senderUntil: 0 }),
      '2026-11-21T00:30:00+01:00',
    ],
    [
      'while the sender lives, and for the flight of its request',
      '2026-11-21T07:04:59+01:00',
      doubted({ senderUntil: at('2026-11-21T07:00:00+01:00') }),
      '2026-11-21T07:05:00+01:00',
    ],
    [
      'only for the flight, if the sender itself reported the doubt',
      '2026-11-21T00:09:59+01:00',
      doubted(
        { at: at('2026-11-20T22:00:00+01:00'), senderUntil: at('2026-11-21T07:00:00+01:00') },
        { by: 'sender', at: at('2026-11-21T00:05:00+01:00') },
      ),
      '2026-11-21T00:10:00+01:00',
    ],
    [
      'as without a report, if the sweep reported the doubt',
      '2026-11-21T07:04:59+01:00',
      doubted({ senderUntil: at('2026-11-21T07:00:00+01:00') }, { by: 'sweep', at: at('2026-11-20T11:00:00+01:00') }),
      '2026-11-21T07:05:00+01:00',
    ],
  ])('the same work in doubt is blocked to the millisecond: %s', (_name, last, holder, first) => {
    const late = (now: string) => decideEarly(known({ now, asked: { holder } }), options).kind
    expect([late(last), late(first)]).toEqual(['refuse', 'pass'])
    expect(late(new Date(at(first) - 1).toISOString())).toBe('refuse')
  })

  const ranking = { kind: 'ranking' } as const
  const difficulty = { kind: 'keyword-difficulty' } as const
  const hold = holdOf({ at: at('2026-11-18T12:00:00+01:00') })
  const settled = (changes: Partial<Update>) => updateOf({ state: 'settled', hold, charged: u(70), ...changes })
  const finishedAt = at('2026-11-19T12:00:00+01:00')
  const week = hours(168)

  test.each<[string, Partial<UpdateRequest>, Asked, number]>([
    [
      'a ranking: the day it was done',
      ranking,
      { holder: settled({ closedBy: 'sender', finishedAt }) },
      at('2026-11-20T00:00:00+01:00'),
    ],
    [
      'a difficulty: seven days',
      difficulty,
      { holder: settled({ closedBy: 'sender', finishedAt }) },
      finishedAt + week,
    ],
    [
      'resolved by a person: from the fence',
      difficulty,
      { holder: settled({ closedBy: 'person', finishedAt }) },
      hold.at + week,
    ],
    [
      'found by evidence: from the fence',
      ranking,
      { holder: settled({ closedBy: 'evidence', finishedAt }) },
      at('2026-11-19T00:00:00+01:00'),
    ],
    [
      'released by a person, and a late answer says that it ran: from the fence',
      difficulty,
      { holder: settled({ state: 'released', closedBy: 'person', finishedAt, corrected: true }) },
      hold.at + week,
    ],
    [
      'the run in the work item, if a late answer says that the later settled update did not run',
      difficulty,
      {
        holder: settled({ closedBy: 'person', finishedAt, corrected: true, charged: u(0) }),
        work: {
          ...difficulty,
          project: 'shop',
          update: 'upd_1',
          version: 1,
          ran: { update: 'upd_0', at: finishedAt, units: 7 },
        },
      },
      finishedAt + week,
    ],
    [
      'the run in the work item, if the later update was released',
      difficulty,
      {
        holder: updateOf({ state: 'released', hold }),
        work: {
          ...difficulty,
          project: 'shop',
          update: 'upd_1',
          version: 1,
          ran: { update: 'upd_0', at: finishedAt, units: 7 },
        },
      },
      finishedAt + week,
    ],
  ])('settled work answers within the cool-down: %s', (_name, request, asked, until) => {
    const late = (now: number, more: Partial<UpdateRequest> = {}) =>
      decideEarly(known({ now: new Date(now).toISOString(), asked, request: { ...request, ...more } }), options)
    expect(late(until - 1)).toMatchObject({ kind: 'refuse', problem: { slug: 'already-updated' } })
    expect(late(until).kind).toBe('pass')
    expect(late(until - 1, { force: true }).kind).toBe('pass')
  })

  test.each<[string, '10d' | '7d' | '1d', string]>([
    ['2026-11-20T09:00:10Z', '7d', '2026-11-26T23:00:00Z'],
    // In Berlin the clocks go back on 25 October and forward on 29 March.
    ['2026-10-23T21:30:00Z', '7d', '2026-10-29T23:00:00Z'],
    ['2026-03-26T22:30:00Z', '7d', '2026-04-01T22:00:00Z'],
    ['2026-11-20T09:00:10Z', '1d', '2026-11-20T23:00:00Z'],
    ['2026-11-20T09:00:10Z', '10d', '2026-11-29T23:00:00Z'],
  ])('after a run at %s, a cool-down of %s ends as a day begins, at %s', (ranAt, days, until) => {
    const daily = { ...options, cooldown: { ranking: days, 'keyword-difficulty': days } }
    const work = { kind: 'ranking', project: 'shop', update: 'upd_1', version: 1 } as const
    const asked = { work: { ...work, ran: { update: 'upd_0', at: at(ranAt), units: 7 } } }
    const early = (now: number) => decideEarly(known({ now: new Date(now).toISOString(), asked }), daily)
    expect(early(at(until) - 1)).toMatchObject({ kind: 'refuse', problem: { slug: 'already-updated' } })
    expect(early(at(until)).kind).toBe('pass')
  })

  test('a new time zone of the account does not end the day of a run early', () => {
    const [tokyo, york] = ['Asia/Tokyo', 'America/New_York'].map((zone) => ({ day: 1, time: '00:00', zone }))
    const ranAt = at('2026-12-01T04:00:00Z')
    const work = { kind: 'ranking', project: 'shop', update: 'upd_1', version: 1 } as const
    const asked = { work: { ...work, ran: { update: 'upd_0', at: ranAt, units: 7 } } }
    const early = (now: string) => {
      const input = known({ now, asked })
      const calendar = changeRenewal(newCalendar(tokyo as Renewal), york as Renewal, at('2026-11-20T00:00:00Z'))
      const view = { ...input.view, definitions: { ...input.view.definitions, calendar } }
      return decideEarly({ ...input, view }, options).kind
    }
    // The day of the run ends at midnight in Tokyo, where it is 15:00 UTC.
    const times = ['2026-12-01T04:59:59Z', '2026-12-01T05:00:00Z', '2026-12-01T14:59:59Z', '2026-12-01T15:00:00Z']
    expect(times.map(early)).toEqual(['refuse', 'refuse', 'refuse', 'pass'])
  })

  test('the work can be updated again if a person settled it and a late answer says that it did not run', () => {
    const now = '2026-11-20T09:00:00Z'
    const holder = settled({ closedBy: 'person', finishedAt, corrected: true, charged: u(0) })
    const early = decideEarly(known({ now, asked: { holder }, request: difficulty }), options)
    expect(early).toMatchObject({ kind: 'pass', runs: [] })
  })

  test('a price is compared with the last run’s cost by its late answer', () => {
    const now = '2026-11-20T09:00:00Z'
    const holder = settled({ closedBy: 'sender', finishedAt })
    expect(decideEarly(known({ now, asked: { holder } }), options)).toHaveProperty('runs', [
      { update: 'upd_1', at: finishedAt, units: 70 },
    ])
  })
})

describe('the runs of a work', () => {
  const [newest, middle, oldest] = [at('2026-11-19T12:00Z'), at('2026-11-18T12:00Z'), at('2026-11-17T12:00Z')]
  const noted = (update: string, time: number) => ({ update, at: time, units: 7 })
  const workOf = (update: string, ran?: Work['ran']): Work => ({
    kind: 'ranking',
    project: 'shop',
    update,
    version: 1,
    ...(ran && { ran }),
  })
  const viewOf = (works: readonly Work[], records: readonly Update[] = []): ViewResult => ({
    update: null,
    works: works.map((work) => ({ key: `work#${work.update}`, work })),
    records: new Map(records.map((record) => [record.id, record])),
  })
  const ran = (id: string, changes: Partial<Update>) => updateOf({ id, state: 'settled', charged: u(40), ...changes })
  const idsOf = (view: ViewResult) => runsOf(view).map(({ update }) => update)

  test('the runs of a work are the latest ones, up to the first that its sender has confirmed', () => {
    const confirmed = ran('upd_2', { closedBy: 'sender', finishedAt: middle })
    const assumed = ran('upd_3', { closedBy: 'time', hold: holdOf({ at: newest }) })
    const works = [workOf('upd_2', noted('upd_0', oldest)), workOf('upd_3')]
    expect(idsOf(viewOf(works, [confirmed, assumed]))).toEqual(['upd_3', 'upd_2'])
  })

  test('without a confirmed run, all runs of a work are listed', () => {
    const assumed = [newest, middle].map((time) => ran(`upd_${time}`, { closedBy: 'time', hold: holdOf({ at: time }) }))
    expect(idsOf(viewOf(assumed.map(({ id }) => workOf(id)).toReversed(), assumed))).toEqual(
      assumed.map(({ id }) => id),
    )
  })

  test('a run without a record counts as confirmed', () => {
    const works = [workOf('gone', noted('upd_0', oldest)), workOf('gone too', noted('upd_1', newest))]
    expect(idsOf(viewOf(works))).toEqual(['upd_1'])
  })
})

describe('work that a restore may have lost', () => {
  const restored = { at: at('2026-11-20T09:30:00Z'), to: at('2026-11-20T09:25:00Z') }
  const late = at('2026-11-20T22:30:00Z')
  const forced = { force: true } as const

  test.each<[string, Parameters<typeof known>[0], string]>([
    [
      'is refused',
      { restored },
      'updated between 20 Nov 2026 10:25 Europe/Berlin and 20 Nov 2026 10:30 Europe/Berlin, the record of that update is lost, and only an entry “recovered upd_…” may count it. Until 21 Nov 2026 00:00 Europe/Berlin, look there and at the service, and an administrator may force it with a reason (an Idempotency-Key must then begin with restored-2-).',
    ],
    [
      'is refused without the time that was restored',
      { restored: { at: restored.at } },
      'updated before 20 Nov 2026 10:30 Europe/Berlin, the record of that update is lost, and only an entry “recovered upd_…” may count it. Until 21 Nov 2026 00:00 Europe/Berlin, look there and at the service, and an administrator may force it with a reason (an Idempotency-Key must then begin with restored-2-).',
    ],
    [
      'is refused with force under a key that the old table may have answered',
      { restored, request: forced, isOldKey: true },
      'updated between 20 Nov 2026 10:25 Europe/Berlin and 20 Nov 2026 10:30 Europe/Berlin, the record of that update is lost, and only an entry “recovered upd_…” may count it. Until 21 Nov 2026 00:00 Europe/Berlin, use an Idempotency-Key that begins with restored-2-, since an older key may have been answered before.',
    ],
  ])('work that a restore may have lost %s', (_name, how, detail) => {
    const members = { until: '2026-11-20T23:00:00.000Z' }
    const problem = {
      slug: 'ledger-restored',
      detail: `The ledger was restored: if shop was ${detail}`,
      members,
    }
    expect(decideEarly(known(how), options)).toEqual({ kind: 'refuse', problem })
  })

  test.each<[string, Partial<GuardOptions>, Partial<UpdateRequest>, number, number]>([
    ['until the day of the restore ends', {}, {}, restored.at, at('2026-11-21T00:00:00+01:00')],
    ['for at least an hour', {}, {}, late, late + hours(1)],
    ['while a request may take effect', { serviceFlightMs: hours(3) }, {}, late, late + hours(3)],
    ['for the cool-down of its kind', {}, { kind: 'keyword-difficulty' }, late, late + hours(168)],
  ])('work that a restore may have lost is refused to the millisecond: %s', (_name, how, request, instant, until) => {
    const decided = (now: number) =>
      decideEarly(known({ now: new Date(now).toISOString(), restored: { at: instant }, request }), {
        ...options,
        ...how,
      })
    expect(decided(until - 1)).toMatchObject({ problem: { slug: 'ledger-restored' } })
    expect(decided(until).kind).toBe('pass')
  })

  test.each<[string, Partial<UpdateRequest>, string]>([
    ['a forced request from after the restore passes', { createdAt: restored.at }, 'pass'],
    ['a forced request from before the restore is refused', { createdAt: restored.at - 1 }, 'refuse'],
  ])('%s', (_name, request, kind) => {
    expect(decideEarly(known({ restored, request: { ...forced, ...request } }), options).kind).toBe(kind)
  })

  test.each([
    ['at the restore', 0, 'pass'],
    ['before the restore', -1, 'refuse'],
  ])('an update with a last run %s (%d ms): %s', (_name, ms, kind) => {
    const ran = { update: 'upd_0', at: restored.at + ms, units: 7 }
    const asked: Asked = { work: { kind: 'ranking', project: 'shop', update: 'upd_1', version: 1, ran } }
    expect(decideEarly(known({ restored, asked, request: forced, isOldKey: true }), options).kind).toBe(kind)
  })

  test('after a restore, a key is new only if it begins with the prefix', () => {
    const { view } = known({ restored })
    expect([isOldKey(view, undefined), isOldKey(view, 'restored-2-a'), isOldKey(view, 'restored-1-a')]).toEqual([
      false,
      false,
      true,
    ])
    expect(isOldKey(view, 'a restored-2-')).toBe(true)
    expect(isOldKey(known().view, 'a')).toBe(false)
  })
})

describe('a decision with the estimate', () => {
  test('an update that fits is held on the whole chain, and on a caller with limits', () => {
    expect(say()).toMatchObject({
      kind: 'hold',
      counters: [{ name: 'seo' }, { name: 'acme' }, { name: 'account' }],
      grants: [],
    })
    expect(say({ callers: { bob: month(40) } })).toMatchObject({
      counters: [{ name: 'seo' }, { name: 'acme' }, { name: 'account' }, { name: 'caller:bob' }],
    })
  })

  test.each<[string, Parameters<typeof known>[0], string, string, object]>([
    [
      'more than the request allows for each update',
      { request: { maxUnits: u(39) } },
      'over-max-units',
      'This update needs 40 units, and the request allows at most 39 for each update (maxUnits).',
      { units: 40, maxUnits: 39 },
    ],
    [
      'more than a budget allows for one update',
      { budgets: { acme: { perUpdate: u(39) } } },
      'over-update-limit',
      'This update needs 40 units, and acme allows at most 39 for one update.',
      { units: 40, budget: 'acme', perUpdate: 39 },
    ],
    [
      'more than the caller may use for one update',
      { callers: { bob: { perUpdate: u(39) } } },
      'over-update-limit',
      'This update needs 40 units, and bob allows at most 39 for one update.',
      { units: 40, budget: 'bob', perUpdate: 39 },
    ],
  ])('%s is refused, and one unit less passes', (_name, how, slug, detail, members) => {
    expect(say(how)).toEqual({ kind: 'refuse', problem: { slug, detail, members } })
    expect(say(how, 39).kind).toBe('hold')
  })

  test('a ranking with data of today, by the account’s day, is refused as already fresh', () => {
    const now = '2026-11-19T23:30:00Z'
    const dates = ['2026-11-18', '2026-11-20']
    expect(say({ now }, 40, dates)).toMatchObject({
      kind: 'refuse',
      problem: {
        slug: 'already-fresh',
        detail:
          'shop already has ranking data of today (2026-11-20), so an update would spend 40 units on nothing new; an administrator may force it with a reason if it is needed anyway.',
        members: { units: 40, date: '2026-11-20' },
      },
    })
    const token = { scopes: ['run', 'admin'], budgets: '*' } as const
    const advice = (via: 'http' | 'mcp') => {
      const decision = say({ now, request: { via, token } }, 40, dates)
      return decision.kind === 'refuse' && decision.problem.detail.split('; ')[1]
    }
    expect(advice('http')).toBe('force it with a reason if it is needed anyway.')
    expect(advice('mcp')).toBe('an administrator may force it with a reason if it is needed anyway.')
    expect(say({ now, request: { force: true } }, 40, dates).kind).toBe('hold')
    expect(say({ now, request: { kind: 'keyword-difficulty' } }, 40, null).kind).toBe('hold')
    expect(say({ now }, 40, ['2026-11-19']).kind).toBe('hold')
    expect(say({ now }, 40, null).kind).toBe('hold')
  })

  test('every short counter is named, the worst first, with the sizes that would pass', () => {
    const how = {
      budgets: {
        account: { parent: null, ...month(1000) },
        acme: {
          limits: [
            { window: 'month' as const, units: u(100) },
            { window: 'day' as const, units: u(50) },
          ],
        },
        seo: month(45),
      },
      callers: { bob: month(30) },
      spent: { month: { acme: 10 } },
    }
    expect(say(how, 90).kind).toBe('refuse')
    expect(say(how, 95)).toEqual({
      kind: 'refuse',
      problem: {
        slug: 'over-budget',
        detail:
          'bob has 30 of 30 units left this month and this needs 95; resets 1 Dec 2026 00:00 Europe/Berlin; ask for 65 more. Also short: seo has 45 of 45 units left this month (resets 1 Dec 2026 00:00 Europe/Berlin), acme has 90 of 100 units left this month (resets 1 Dec 2026 00:00 Europe/Berlin) and acme has 50 of 50 units left today (resets 21 Nov 2026 00:00 Europe/Berlin).',
        members: {
          units: 95,
          short: 65,
          budgets: [
            {
              budget: 'seo',
              window: 'month',
              limit: 45,
              held: 0,
              inDoubt: 0,
              spent: 0,
              available: 45,
              short: 50,
              resetsAt: '2026-11-30T23:00:00.000Z',
            },
            {
              budget: 'acme',
              window: 'month',
              limit: 100,
              held: 0,
              inDoubt: 0,
              spent: 10,
              available: 90,
              short: 5,
              resetsAt: '2026-11-30T23:00:00.000Z',
            },
            {
              budget: 'acme',
              window: 'day',
              limit: 50,
              held: 0,
              inDoubt: 0,
              spent: 0,
              available: 50,
              short: 45,
              resetsAt: '2026-11-20T23:00:00.000Z',
            },
            {
              budget: 'caller:bob',
              window: 'month',
              limit: 30,
              held: 0,
              inDoubt: 0,
              spent: 0,
              available: 30,
              short: 65,
              resetsAt: '2026-11-30T23:00:00.000Z',
            },
          ],
          wouldPass: [
            'updates of at most 30 units together, now',
            'a grant of 50 to seo for the month, 5 to acme for the month and 45 to acme for the day (POST /budgets/<name>/entries, scope admin)',
            'a higher limit for bob (PUT /callers/bob, scope admin)',
            'the same request after 1 Dec 2026 00:00 Europe/Berlin, if it fits then',
          ],
        },
      },
    })
  })

  test('the refusal names the units that the plan leaves to others', () => {
    const how = {
      budgets: { seo: month(100) },
      request: { plan: 'nightly', leave: u(60), caller: 'schedule:nightly' },
    }
    const pass = 'updates of at most 40 units together, now'
    expect(say(how, 40).kind).toBe('hold')
    expect(say(how, 41)).toMatchObject({
      problem: {
        detail:
          'seo has 100 of 100 units left this month and this and the 60 units that the plan nightly leaves to others need 101; resets 1 Dec 2026 00:00 Europe/Berlin; ask for 1 more.',
        members: { units: 41, short: 1, wouldPass: expect.arrayContaining([pass]) },
      },
    })
    // The reserve alone exceeds the units left, so no smaller request would pass.
    expect(say({ ...how, request: { ...how.request, leave: u(100) } }, 40)).toMatchObject({
      problem: {
        members: { wouldPass: [expect.stringMatching(/^a grant of 40 /), expect.stringMatching(/^the same request /)] },
      },
    })
  })

  test.each<[string, Parameters<typeof known>[0], string]>([
    [
      'seo keeps 60 of its month',
      { budgets: { seo: { ...month(100), keep: u(60) } } },
      'seo has 100 of 100 units left this month, 60 of them for plans, and this needs 41; resets 1 Dec 2026 00:00 Europe/Berlin; ask for 1 more.',
    ],
    [
      'the budget above it keeps 60',
      { budgets: { acme: { ...month(100), keep: u(60) } } },
      'acme has 100 of 100 units left this month, 60 of them for plans, and this needs 41; resets 1 Dec 2026 00:00 Europe/Berlin; ask for 1 more.',
    ],
    [
      'seo keeps more than it has left',
      { budgets: { seo: { ...month(100), keep: u(100) } } },
      'seo has 100 of 100 units left this month and keeps 100 for plans, and this needs 41; resets 1 Dec 2026 00:00 Europe/Berlin; ask for 41 more.',
    ],
  ])('only plans may take what a budget keeps: %s', (_name, how, detail) => {
    expect(say(how, 41)).toMatchObject({ kind: 'refuse', problem: { slug: 'over-budget', detail } })
    const ofPlan = { ...how, request: { plan: 'nightly', caller: 'schedule:nightly' } }
    expect(say(ofPlan, 41).kind).toBe('hold')
  })

  test('what a budget keeps for plans is kept in each window that it limits', () => {
    const day = { limits: [{ window: 'day', units: u(100) }], keep: u(60) } as const
    expect(say({ budgets: { seo: day } }, 40).kind).toBe('hold')
    expect(say({ budgets: { seo: day } }, 41)).toMatchObject({
      problem: {
        members: {
          short: 1,
          budgets: [{ window: 'day' }],
          wouldPass: expect.arrayContaining(['updates of at most 40 units together, now']),
        },
      },
    })
    expect(say({ budgets: { seo: { limits: [{ window: 'month', units: 'unlimited' }], keep: u(60) } } }, 41).kind).toBe(
      'hold',
    )
  })

  test('a price of 0 is refused, unless the settings say that it is free', () => {
    const detail = 'The service says 0 units: there is nothing to update, or it does not know the price.'
    expect(say({}, 0)).toEqual({ kind: 'refuse', problem: { slug: 'no-price', detail, members: { units: 0 } } })
    const free = (how: Parameters<typeof known>[0] = {}) =>
      decide(known(how), { units: u(0), dates: [] }, { ...options, isZeroFree: true })
    expect(free().kind).toBe('hold')
    const asked = { kind: 'ask', reason: 'it needs 0 units, and acme wants approval above 39 and for a price of 0' }
    expect(free({ budgets: { acme: { approvalAbove: u(39) } } })).toMatchObject(asked)
  })

  test('a budget of several kinds names each of them', () => {
    const kinds = ['ranking', 'page-speed'] as unknown as readonly ['ranking']
    expect(say({ budgets: { seo: { kinds } }, request: { kind: 'keyword-difficulty' } })).toMatchObject({
      problem: { detail: 'seo allows ranking and page-speed updates only, and this is a keyword-difficulty update.' },
    })
  })

  test('an estimate of more than any account has is refused', () => {
    expect(say({}, 1_000_000_000_000).kind).toBe('hold')
    expect(say({}, 1_000_000_000_001)).toEqual({
      kind: 'refuse',
      problem: {
        slug: 'over-update-limit',
        detail:
          'This update needs 1,000,000,000,001 units, more than any account has; the estimate is wrong, or read from the wrong place.',
        members: { units: 1_000_000_000_001 },
      },
    })
  })

  test('an impossible estimate is refused before any sum, also with ask on an overdrawn budget', () => {
    const overdrawn = {
      budgets: { seo: month(10) },
      spent: { month: { seo: 11 } },
      request: { whenShort: 'ask' },
    } as const
    expect(say(overdrawn, Number.MAX_SAFE_INTEGER)).toMatchObject({
      kind: 'refuse',
      problem: { slug: 'over-update-limit', members: { units: 9_007_199_254_740_991 } },
    })
  })
})

describe('a decision that needs approval', () => {
  const ran = { update: 'upd_0', at: 0, units: 100 }
  const work = { kind: 'ranking', project: 'shop', update: 'upd_0', version: 1, ran } as const

  test.each<[string, Parameters<typeof known>[0], number, number, string]>([
    [
      'above the limit of an ancestor',
      { budgets: { acme: { approvalAbove: u(39) } } },
      40,
      39,
      'it needs 40 units, and acme wants approval above 39',
    ],
    [
      'if its price has grown since the last run',
      { budgets: { acme: { approvalIfGrown: 20 } }, asked: { work } },
      121,
      120,
      'it needs 121 units, the last run cost 100, and acme wants approval if the price grew by more than 20 %',
    ],
  ])('an update needs approval %s', (_name, how, above, upTo, reason) => {
    expect(say(how, above)).toEqual({ kind: 'ask', reason, short: [], lacks: 0 })
    expect(say(how, upTo).kind).toBe('hold')
  })

  test('growth needs no approval without an earlier price or without a rule', () => {
    expect(say({ budgets: { acme: { approvalIfGrown: 20 } } }, 121).kind).toBe('hold')
    expect(say({ asked: { work } }, 121).kind).toBe('hold')
  })

  test('an update that is only proposed requests approval', () => {
    const reason = 'callers with only the propose scope need approval'
    expect(say({ request: { proposed: true } })).toEqual({ kind: 'ask', reason, short: [], lacks: 0 })
  })

  const asks: Partial<UpdateRequest> = { whenShort: 'ask' }

  test('a short update with ask requests approval, and gives both reasons', () => {
    const how = { budgets: { seo: month(30), acme: { approvalAbove: u(39) } } }
    expect(say(how).kind).toBe('refuse')
    expect(say({ ...how, request: asks })).toEqual({
      kind: 'ask',
      reason:
        'it needs 40 units, and acme wants approval above 39; it needs 40 units, and seo has 30 of 30 units left this month; approving it may put seo up to 40 units above its limit of the month in which it starts; now it lacks 10',
      short: [{ budget: 'seo', window: 'month', units: 10 }],
      lacks: 10,
    })
  })

  test('an update requests approval if a plan’s reserve is short, and shows the figures', () => {
    const request = { ...asks, plan: 'nightly', leave: u(100), caller: 'schedule:nightly' }
    expect(say({ budgets: { seo: month(120) }, request }, 40)).toEqual({
      kind: 'ask',
      reason:
        'it needs 40 units, this and the 100 units that the plan nightly leaves to others need 140, and seo has 120 of 120 units left this month; approving it may use the units that must be left, and put seo up to 40 units above its limit of the month in which it starts; now it lacks 0',
      short: [],
      lacks: 20,
    })
  })

  test('an update requests approval for units that a budget keeps for plans', () => {
    expect(say({ budgets: { seo: { ...month(120), keep: u(100) } }, request: asks }, 40)).toEqual({
      kind: 'ask',
      reason:
        'it needs 40 units, and seo has 120 of 120 units left this month, 100 of them for plans; approving it may use the units that must be left, and put seo up to 40 units above its limit of the month in which it starts; now it lacks 0',
      short: [],
      lacks: 20,
    })
  })

  test('the reason names the largest reserve of the short counters', () => {
    const request = { ...asks, plan: 'nightly', leave: { seo: u(100), acme: u(10) }, caller: 'schedule:nightly' }
    expect(say({ budgets: { seo: month(120), acme: month(35) }, request }, 40)).toMatchObject({
      reason: expect.stringContaining('this and the 100 units that the plan nightly leaves to others need 140'),
      short: [{ budget: 'acme', window: 'month', units: 5 }],
      lacks: 20,
    })
  })

  describe('waiting requests before an update', () => {
    const first = (changes: Partial<Update> = {}) =>
      updateOf({ state: 'awaiting-approval', estimated: u(30), ...changes })
    const granted = (units: number, budget = 'seo', window: 'month' | 'day' = 'month') =>
      first({ short: [{ budget, window, units: u(units) }] })
    const { estimated: _none, ...unknown } = first()
    const strict = (budgets: Parameters<typeof readingOf>[0]) => ({
      ...budgets,
      budgets: { other: {}, ...budgets?.budgets, acme: { approvalAbove: u(39), ...budgets?.budgets?.acme } },
    })
    const reason = 'it needs 40 units, and acme wants approval above 39'

    test.each<[string, readonly Update[], number]>([
      ['takes 30', [first()], 20],
      ['takes 11', [first({ estimated: u(11) })], 1],
      ['takes exactly what is left', [first({ estimated: u(10) })], 0],
      ['takes 30 each', [first(), first()], 50],
      ['of a parent', [first({ budget: 'acme' })], 0],
      ['of another budget', [first({ budget: 'other' })], 0],
      ['of a deleted budget', [first({ budget: 'gone' })], 0],
      ['has no estimate', [unknown], 0],
      ['is granted 25 of its 30', [granted(25)], 0],
      ['is granted 10 of its 30', [granted(10)], 10],
      ['is granted more than it needs', [granted(40), first()], 20],
      ['is granted units of another budget', [granted(25, 'acme')], 20],
      ['is granted units of another window', [granted(25, 'seo', 'day')], 20],
    ])('an update is short after a waiting one that %s', (_name, waiting, units) => {
      const decision = say({ ...strict({ budgets: { seo: month(50) } }), waiting, request: asks })
      const short = units === 0 ? [] : [{ budget: 'seo', window: 'month', units }]
      const lacks = `; it needs 40 units, and seo has 50 of 50 units left this month (${units - 40 + 50} for what awaits approval before it)`
      const may =
        '; approving it may put seo up to 40 units above its limit of the month in which it starts; now it lacks 0'
      const then = units === 0 ? may : `${lacks}${may}, and ${units} if what waits before it runs first`
      expect(decision).toEqual({ kind: 'ask', reason: `${reason}${then}`, short, lacks: 0 })
    })

    test('the account, callers and updates without ask are never granted units', () => {
      const nothing = { kind: 'ask', reason, short: [], lacks: 0 }
      const waiting = [first()]
      const account = { account: { parent: null, ...month(50) } }
      expect(say({ ...strict({ budgets: account }), waiting, request: asks })).toEqual(nothing)
      expect(say({ ...strict({ callers: { bob: month(50) } }), waiting, request: asks })).toEqual(nothing)
      expect(say({ ...strict({ budgets: { seo: month(50) } }), waiting })).toEqual(nothing)
    })
  })

  test('a shortage of the account or of a caller never requests approval', () => {
    expect(say({ budgets: { account: { parent: null, ...month(39) } }, request: asks }).kind).toBe('refuse')
    expect(say({ callers: { bob: month(39) }, request: asks }).kind).toBe('refuse')
    expect(say({ budgets: { seo: month(39) }, callers: { bob: month(39) }, request: asks }).kind).toBe('refuse')
  })

  const approvedFor = (units: number, ...grants: readonly (readonly [string, 'month' | 'day', number])[]) => {
    const approval = {
      by: 'eve',
      at: 0,
      units: u(units),
      grants: grants.map(([budget, window, more]) => ({ budget, window, units: u(more) })),
    }
    return { update: updateOf({ state: 'requested', approval }) }
  }

  test('an approved update requests no further approval up to its cap, and always above its cap', () => {
    const asked = approvedFor(120)
    const budgets = { acme: { approvalAbove: u(10) } }
    expect(say({ asked, budgets }, 120).kind).toBe('hold')
    expect(say({ asked, budgets, request: { proposed: true } }, 120).kind).toBe('hold')
    const again = { kind: 'ask', reason: 'approved up to 120, it now needs 121', short: [], lacks: 0 }
    expect(say({ asked, budgets }, 121)).toEqual(again)
    // The cap still applies, although the rule is gone or the approver lost the right.
    expect(say({ asked }, 121)).toEqual(again)
    expect(say({ asked, callers: { eve: { disabled: true } } }, 121)).toEqual(again)
    expect(say({ asked, callers: { eve: { disabled: true } } }, 120).kind).toBe('hold')
  })

  test('a short update above its cap requests approval again with ask, and is refused otherwise', () => {
    const how = { asked: approvedFor(40, ['seo', 'month', 10]), budgets: { seo: month(30) } }
    expect(say({ ...how, request: asks }, 50)).toEqual({
      kind: 'ask',
      reason:
        'approved up to 40, it now needs 50; it needs 50 units, and seo has 30 of 30 units left this month; approving it may put seo up to 50 units above its limit of the month in which it starts; now it lacks 20',
      short: [{ budget: 'seo', window: 'month', units: 20 }],
      lacks: 20,
    })
    expect(say(how, 50).kind).toBe('refuse')
  })

  test.each<[string, Parameters<typeof approvedFor>, string]>([
    ['exactly that', [40, ['seo', 'month', 10]], 'hold'],
    ['more', [40, ['acme', 'month', 5], ['seo', 'month', 11]], 'hold'],
    ['less', [40, ['seo', 'month', 9]], 'ask'],
    ['another window', [40, ['seo', 'day', 10]], 'ask'],
    ['another budget', [40, ['acme', 'month', 10]], 'ask'],
    ['nothing', [40], 'ask'],
  ])(
    'by an approval of an older version, the missing 10 units are granted only if it grants %s',
    (_name, approved, expected) => {
      const decision = say({ asked: approvedFor(...approved), budgets: { seo: month(30) }, request: asks })
      expect(decision.kind).toBe(expected)
      if (decision.kind === 'ask')
        expect(decision.reason).toMatch(/^eve approved it, and granted seo [09] units this month; it needs/)
      if (decision.kind !== 'hold') return
      expect(decision.grants).toEqual([{ budget: 'seo', window: 'month', units: 10 }])
      // A limit that an approval raises is not an observed limit.
      expect(decision.wouldHaveRefused).toEqual([])
    },
  )

  test.each([
    ['fits exactly', 40, 0, []],
    ['is one more than fits', 41, 0, [1]],
    ['fits where one is left', 1, 39, []],
    ['needs one where nothing is left', 1, 40, [1]],
  ])('an update that %s lacks these units of an observed limit', (_what, units, spent, lacked) => {
    const seo = { ...month(40), enforce: false } as const
    expect(say({ budgets: { seo }, spent: { month: { seo: spent } } }, units)).toMatchObject({
      kind: 'hold',
      wouldHaveRefused: lacked.map((short) => ({ budget: 'seo', window: 'month', units: short })),
    })
  })

  describe('an approval of what the update lacks at its hold', () => {
    const covered = (limit: number, granted = 0, more: object = {}) => {
      const limits = [{ budget: 'seo', window: 'month', limit: u(limit), granted }] as const
      const covers = { month: 'month:2026-11-01', day: 'day:2026-11-20', limits, ...more }
      return { update: updateOf({ state: 'requested', approval: { by: 'eve', at: 0, units: u(40), covers } }) }
    }
    const seo = { budgets: { seo: month(30) }, request: asks }

    test.each([
      ['10 units', {}, 10],
      ['all its units', { spent: { month: { seo: 30 } } }, 40],
    ])('it grants %s, whatever was missing when it was given', (_what, how, units) => {
      expect(say({ ...seo, ...how, asked: covered(30) })).toMatchObject({
        kind: 'hold',
        grants: [{ budget: 'seo', window: 'month', units }],
      })
    })

    test('its reason has the approver, the earlier limit and what is missing now', () => {
      expect(say({ ...seo, asked: covered(31) })).toEqual({
        kind: 'ask',
        reason:
          'eve approved it, and seo had 31 units a month then, and has 30 now; it needs 40 units, and seo has 30 of 30 units left this month; approving it may put seo up to 40 units above its limit of the month in which it starts; now it lacks 10',
        short: [{ budget: 'seo', window: 'month', units: 10 }],
        lacks: 10,
      })
    })

    test('each counter is compared with its own limit', () => {
      const limits = [
        { budget: 'acme', window: 'month', limit: u(900), granted: 0 },
        { budget: 'seo', window: 'day', limit: u(900), granted: 0 },
        { budget: 'seo', window: 'month', limit: u(30), granted: 0 },
      ]
      expect(say({ ...seo, asked: covered(30, 0, { limits }) }).kind).toBe('hold')
    })

    test.each([
      ['day:2026-11-20', 'ask'],
      ['day:2026-11-19', 'hold'],
    ])('a grant of the day counts on its day: %s', (day, kind) => {
      const ofDay = { budgets: { seo: { limits: [{ window: 'day', units: u(30) }] as const } }, request: asks }
      const limits = [{ budget: 'seo', window: 'day', limit: u(30), granted: 5 }]
      expect(say({ ...ofDay, asked: covered(30, 0, { limits, day }) }).kind).toBe(kind)
    })

    test.each([
      [7, 0, 'hold'],
      [12, 5, 'hold'],
      [12, 6, 'ask'],
      [6, 0, 'ask'],
    ])(
      'only lasting grants count as the 7 of then: of %i granted, %i serve one update alone',
      (granted, once, kind) => {
        const input = known({ ...seo, asked: covered(30, 7) })
        const { book } = input.view
        const counter = { ...book.counters.month.seo, limit: u(30), granted, once, available: 0 }
        const counters = { ...book.counters, month: { ...book.counters.month, seo: { ...nothing, ...counter } } }
        const view = { ...input.view, book: { ...book, counters } }
        expect(decide({ ...input, view }, { units: u(40), dates: [] }, options).kind).toBe(kind)
      },
    )

    test('the person of the approver may be among the approvers', () => {
      const named = { budgets: { seo: { ...month(30), approvers: ['ben'] } }, request: asks }
      const asked = (person: object) => {
        const { update } = covered(30)
        return { update: { ...update, approval: { ...update.approval, ...person } as NonNullable<Update['approval']> } }
      }
      expect(say({ ...named, asked: asked({ person: 'ben' }) }).kind).toBe('hold')
      expect(say({ ...named, asked: asked({ person: 'eve' }) }).kind).toBe('ask')
      expect(say({ ...named, asked: asked({}) }).kind).toBe('ask')
    })

    test.each<[string, ReturnType<typeof covered>, string]>([
      ['the limit was lowered', covered(31), 'eve approved it, and seo had 31 units a month then, and has 30 now'],
      ['a grant was lowered', covered(30, 5), 'eve approved it, and seo had 35 units a month then, and has 30 now'],
      [
        'there was no limit',
        covered(30, 0, { limits: [] }),
        'eve approved it, and seo had no limit for the month then',
      ],
    ])('it asks again with both figures if %s since', (_why, asked, reason) => {
      expect(say({ ...seo, asked })).toMatchObject({ kind: 'ask', reason: expect.stringContaining(`${reason}; `) })
    })

    test('a new month has its own grants, so only its limit counts', () => {
      expect(say({ ...seo, asked: covered(30, 5, { month: 'month:2026-10-01' }) }).kind).toBe('hold')
      expect(say({ ...seo, asked: covered(31, 0, { month: 'month:2026-10-01' }) }).kind).toBe('ask')
    })

    test('its approver must be among the approvers of the budget that lacks units', () => {
      const acme = {
        budgets: { acme: { ...month(30), approvers: ['bob'] }, seo: { approvers: ['eve'] } },
        request: asks,
      }
      const limits = [{ budget: 'acme', window: 'month', limit: u(30), granted: 0 }]
      expect(say({ ...acme, asked: covered(30, 0, { limits }) })).toMatchObject({
        kind: 'ask',
        reason: expect.stringContaining('eve approved it, and may not grant units of acme'),
      })
    })

    test('it grants nothing of the account or of a caller', () => {
      const account = { budgets: { account: { parent: null, ...month(30) } }, request: asks }
      expect(say({ ...account, asked: covered(30) }).kind).toBe('refuse')
      expect(say({ callers: { bob: month(30) }, request: asks, asked: covered(30) }).kind).toBe('refuse')
    })
  })
})
