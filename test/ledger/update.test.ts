import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rerunId } from '../../shared/guard/plans/stored-occurrence.ts'
import { type RunOutcome, settlementOf } from '../../shared/ledger/book/outcome.ts'
import { leftOf } from '../../shared/ledger/updates/leave.ts'
import { announcedWith, decisionNewsOf } from '../../shared/ledger/updates/tasks.ts'
import {
  begin,
  type Hold,
  hasTags,
  isKnownToHaveRun,
  isTerminal,
  isUnderWay,
  mayHaveBeenSent,
  next,
  runOf,
  type State,
  states,
  type Update,
  type UpdateRequest,
  wasUpToDate,
} from '../../shared/ledger/updates/update.ts'
import {
  budgetsIn,
  fromUpdateItem,
  isUpdateKey,
  toUpdateItem,
  withoutBudgets,
} from '../../shared/ledger/updates/update-keys.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { days } from '../support/clock.ts'
import { didNotRun, ran, unknown, updateOf } from '../support/records.ts'

const at = Date.parse('2026-11-20T10:00:00Z')
const later = at + 60_000

const hold: Hold = {
  units: toUnits(40),
  attempt: 'one',
  at,
  leaseUntil: at + 17_000,
  senderUntil: at + 60_000,
  day: 'day:2026-11-20',
  budgets: ['seo', 'account'],
}

const running = begin(
  {
    id: 'upd_1',
    kind: 'ranking',
    project: 'acme',
    budget: 'seo',
    caller: 'ada',
    via: 'http',
    content: { digest: 'd', count: 1 },
    createdAt: at,
  },
  'running',
  { month: 'month:2026-11-01', hold },
  { at, by: 'guard', move: { held: 40 } },
)

const sources = ['sender', 'evidence', 'time', 'person'] as const

const outcomes: readonly RunOutcome[] = [
  ...sources.flatMap((from) => [0, 25, 40, 55].map((units) => ran(units, from))),
  didNotRun('sender'),
  didNotRun('person'),
  unknown('sender'),
  unknown('sweep'),
]

function closedBy(...outcomes: readonly RunOutcome[]): Update {
  return outcomes.reduce((update, outcome) => {
    const settlement = settlementOf(update, outcome, later)
    if (!settlement) throw new Error('the outcome changes nothing')
    return settlement.update
  }, running)
}

const inDoubt = closedBy(unknown('sender'))

const unreachable = { slug: 'service-unreachable', detail: 'no route', members: {} }
const unsent = { state: 'released', closedBy: 'sender', hold, problem: unreachable } as const

test.each<[isSent: boolean, about: string, changes: object]>([
  [false, 'the sender itself could not reach the service', {}],
  [false, 'nothing was held', { hold: undefined }],
  [true, 'it runs', { state: 'running', closedBy: undefined, problem: undefined }],
  [true, 'a person says that it did not run', { closedBy: 'person' }],
  [true, 'the service answered', { service: { status: 503 } }],
  [true, 'the sender gives another reason', { problem: { ...unreachable, slug: 'service-refused' } }],
  [true, 'the sender gives no reason', { problem: undefined }],
])('run may have been sent: %s, if %s', (isSent, _about, changes) => {
  expect(mayHaveBeenSent(updateOf({ ...unsent, ...changes } as Partial<Update>))).toBe(isSent)
})

const problemOf = (slug: string) => ({ slug, detail: 'why', members: {} })

describe('the transitions from running and in-doubt', () => {
  test.each<[string, Update, RunOutcome, object, object]>([
    [
      'running, ran',
      running,
      ran(40),
      { state: 'settled', charged: 40, ran: true, closedBy: 'sender', finishedAt: later },
      { held: -40, spent: 40 },
    ],
    ['running, ran for less', running, ran(25), { state: 'settled', charged: 25 }, { held: -40, spent: 25 }],
    [
      'running, ran for more',
      running,
      ran(55),
      { state: 'settled', charged: 55, overrun: 15 },
      { held: -40, spent: 55 },
    ],
    [
      'running, did not run',
      running,
      didNotRun('sender'),
      { state: 'released', charged: 0, closedBy: 'sender', finishedAt: later },
      { held: -40 },
    ],
    [
      'running, unknown to the sender',
      running,
      unknown('sender'),
      { state: 'in-doubt', doubt: { by: 'sender', at: later } },
      { held: -40, inDoubt: 40 },
    ],
    [
      'running, unknown to the sweep',
      running,
      unknown('sweep'),
      { state: 'in-doubt', doubt: { by: 'sweep', at: later } },
      { held: -40, inDoubt: 40 },
    ],
    [
      'in doubt, the sender: ran',
      inDoubt,
      ran(30),
      { state: 'settled', charged: 30, closedBy: 'sender' },
      { inDoubt: -40, spent: 30 },
    ],
    [
      'in doubt, the sender: did not run',
      inDoubt,
      didNotRun('sender'),
      { state: 'released', charged: 0, closedBy: 'sender' },
      { inDoubt: -40 },
    ],
    [
      'in doubt, evidence',
      inDoubt,
      ran(40, 'evidence'),
      { state: 'settled', charged: 40, closedBy: 'evidence' },
      { inDoubt: -40, spent: 40 },
    ],
    [
      'in doubt, time',
      inDoubt,
      ran(40, 'time'),
      { state: 'settled', charged: 40, closedBy: 'time' },
      { inDoubt: -40, spent: 40 },
    ],
    [
      'in doubt, a person: ran',
      inDoubt,
      ran(55, 'person'),
      { state: 'settled', charged: 55, overrun: 15, closedBy: 'person' },
      { inDoubt: -40, spent: 55 },
    ],
    [
      'in doubt, a person: did not run',
      inDoubt,
      didNotRun('person'),
      { state: 'released', charged: 0, closedBy: 'person' },
      { inDoubt: -40 },
    ],
  ])('an outcome settles an open update: %s', (_name, update, outcome, record, move) => {
    const settlement = settlementOf(update, outcome, later)
    expect(settlement?.update).toMatchObject(record)
    expect(settlement?.move).toEqual(move)
    expect(settlement?.update.version).toBe(update.version + 1)
    expect(settlement?.update.history.slice(0, -1)).toEqual(update.history)
    expect(settlement?.update.history.at(-1)).toEqual({
      state: settlement?.update.state,
      at: later,
      by: outcome.by,
      note: outcome.note,
      move,
    })
  })

  test.each<[string, Update, RunOutcome]>([
    ['a person says that a running update ran', running, ran(40, 'person')],
    ['a person says that a running update did not run', running, didNotRun('person')],
    ['the sender doubts an update in doubt', inDoubt, unknown('sender')],
    ['the sweep doubts an update in doubt', inDoubt, unknown('sweep')],
  ])('an outcome changes nothing: %s', (_name, update, outcome) => {
    expect(settlementOf(update, outcome, later)).toBeNull()
  })

  test('an update whose doubt is cleared keeps the answer of the service, and drops its problem', () => {
    const problem = { slug: 'service-unreachable', detail: 'It timed out.', members: {} }
    const service = { status: 200, contentType: 'application/json', body: '{}', truncated: false }
    const doubted = closedBy({ ...unknown('sender'), problem } as RunOutcome)
    expect(doubted.problem).toEqual(problem)
    const settled = settlementOf(doubted, { ...ran(40), service } as RunOutcome, later)?.update
    expect(settled).toMatchObject({ state: 'settled', service })
    expect(settled).not.toHaveProperty('problem')
    expect(settlementOf(doubted, didNotRun('person'), later)?.update.problem).toEqual(problem)
    expect(settlementOf(running, { ...didNotRun('sender'), problem } as RunOutcome, later)?.update.problem).toEqual(
      problem,
    )
  })
})

describe('terminal states', () => {
  test('terminal states are settled, released, refused, rejected, cancelled and expired', () => {
    expect(states.filter((state) => isTerminal(state))).toEqual([
      'settled',
      'released',
      'refused',
      'rejected',
      'cancelled',
      'expired',
    ])
  })

  test.each(states.filter((state) => !['running', 'in-doubt', 'settled', 'released'].includes(state)))(
    'no outcome changes an update that is %s',
    (state) => {
      for (const update of [{ ...running, state }, withoutHold({ ...running, state })])
        for (const outcome of outcomes) expect(settlementOf(update, outcome, later)).toBeNull()
    },
  )

  const endings: readonly (readonly RunOutcome[])[] = [
    ...[ran(25), ran(55), didNotRun('sender')].map((outcome) => [outcome]),
    ...outcomes
      .filter((outcome) => settlementOf(inDoubt, outcome, later))
      .map((outcome) => [unknown('sender'), outcome]),
  ]

  test.each(endings.map((path) => [path.map(nameOf).join(', then '), path] as const))(
    'an update closed by %s keeps its state and is corrected at most once',
    (_name, path) => {
      const closed = closedBy(...path)
      expect(isTerminal(closed.state)).toBe(true)
      for (const outcome of outcomes) {
        const corrected = settlementOf(closed, outcome, later)
        if (!corrected) continue
        expect(corrected.update.state).toBe(closed.state)
        expect(corrected.update.corrected).toBe(true)
        expect((corrected.update.charged ?? 0) - (closed.charged ?? 0)).toBe(corrected.move.spent ?? 0)
        expect(Object.keys(corrected.move)).toEqual(corrected.move.spent === undefined ? [] : ['spent'])
        for (const again of outcomes) expect(settlementOf(corrected.update, again, later)).toBeNull()
      }
    },
  )

  test.each<[string, readonly RunOutcome[], RunOutcome, number | null]>([
    ['the sender is believed after time', [unknown('sender'), ran(40, 'time')], ran(25), -15],
    [
      'the sender is believed after time, that it did not run',
      [unknown('sender'), ran(40, 'time')],
      didNotRun('sender'),
      -40,
    ],
    ['the sender is believed after evidence', [unknown('sender'), ran(40, 'evidence')], ran(55), 15],
    ['the sender is believed after a person', [unknown('sender'), didNotRun('person')], ran(40), 40],
    [
      'evidence is believed against a release by a person',
      [unknown('sender'), didNotRun('person')],
      ran(40, 'evidence'),
      40,
    ],
    [
      'evidence is not asked about a release by the sender',
      [unknown('sender'), didNotRun('sender')],
      ran(40, 'evidence'),
      null,
    ],
    [
      'evidence does not change what a person charged',
      [unknown('sender'), ran(10, 'person')],
      ran(40, 'evidence'),
      null,
    ],
    ['evidence of nothing changes nothing', [unknown('sender'), didNotRun('person')], ran(0, 'evidence'), null],
    ['a second sender does not exist', [ran(40)], ran(55), null],
    ['a person does not correct a person', [unknown('sender'), didNotRun('person')], ran(40, 'person'), null],
    ['time corrects no update', [unknown('sender'), didNotRun('person')], ran(40, 'time'), null],
    ['doubt corrects no update', [unknown('sender'), ran(40, 'time')], unknown('sweep'), null],
  ])('an outcome corrects a closed update: %s', (_name, path, outcome, spent) => {
    const corrected = settlementOf(closedBy(...path), outcome, later)
    expect(corrected ? (corrected.move.spent ?? 0) : null).toBe(spent)
  })
})

describe('the overrun after a correction', () => {
  const byTime = closedBy(unknown('sender'), ran(40, 'time'))
  const overrun = closedBy(unknown('sender'), ran(55, 'person'))

  test.each<[string, Update, number, number | undefined]>([
    ['more than was held', byTime, 55, 15],
    ['as much as was held', byTime, 40, undefined],
    ['less than was held', overrun, 25, undefined],
    ['more than was held, by another figure', overrun, 41, 1],
  ])('a correction has the overrun of its units: %s', (_name, update, units, over) => {
    const corrected = settlementOf(update, ran(units), later)
    expect(corrected?.update.charged).toBe(units)
    expect(corrected?.update.overrun).toBe(over)
    expect(Object.hasOwn(corrected?.update ?? {}, 'overrun')).toBe(over !== undefined)
  })

  test('a correction keeps the answer of the service, if there is one', () => {
    const service = { status: 200, contentType: null, body: '', truncated: false }
    expect(settlementOf(byTime, { ...ran(55), service }, later)?.update.service).toEqual(service)
    const known = { ...byTime, service }
    expect(settlementOf(known, ran(55), later)?.update.service).toEqual(service)
    expect(settlementOf(byTime, ran(55), later)?.update).not.toHaveProperty('service')
  })

  test('a correction says whether the update ran', () => {
    const corrected = [ran(0), didNotRun('sender')].map((outcome) => settlementOf(byTime, outcome, later)?.update.ran)
    expect(corrected).toEqual([true, false])
  })

  test('a correction moves nothing if nothing was wrong', () => {
    expect(settlementOf(byTime, ran(40), later)?.move).toEqual({})
  })

  test('a correction to the held units has no overrun', () => {
    expect(closedBy(ran(40))).not.toHaveProperty('overrun')
    expect(closedBy(ran(40))).not.toHaveProperty('service')
  })
})

describe('facts of an update', () => {
  test.each<[string, Partial<Update>, boolean]>([
    ['it ran and cost nothing', { state: 'settled', charged: toUnits(0), ran: true }, true],
    ['it was charged and did not run', { state: 'settled', charged: toUnits(40), ran: false }, false],
    ['an older record settled at no cost', { state: 'settled', charged: toUnits(0) }, true],
    ['an older record was released', { state: 'released', charged: toUnits(0) }, false],
    ['an older record was corrected to units', { state: 'released', charged: toUnits(40), corrected: true }, true],
    ['an older record was corrected to none', { state: 'settled', charged: toUnits(0), corrected: true }, false],
    ['an older record was corrected without a charge', { state: 'settled', corrected: true }, false],
  ])('an update is known to have run, or not: %s', (_name, fields, isKnown) => {
    expect(isKnownToHaveRun(updateOf(fields))).toBe(isKnown)
  })

  test.each<[string, Partial<Update>, number]>([
    ['the end, if the sender closed it', { hold, closedBy: 'sender', finishedAt: later }, later],
    ['the hold, if time closed it', { hold, closedBy: 'time', finishedAt: later + days(7) }, at],
    ['the hold, while it runs', { hold }, at],
    ['the request, without a hold', {}, at - 5],
    ['the request, if an older record names no end', { hold, closedBy: 'sender' }, at - 5],
  ])('a run is dated by %s', (_name, fields, expected) => {
    expect(runOf(updateOf({ createdAt: at - 5, ...fields }))).toEqual({ update: 'upd_1', at: expected, units: 0 })
  })

  test('a run costs what was charged', () => {
    expect(runOf(updateOf({ charged: toUnits(40) })).units).toBe(40)
  })

  test.each<[string, Partial<Update>, boolean]>([
    ['today’s data are there', { state: 'refused', problem: problemOf('already-updated') }, true],
    [
      'the data are fresh, and a plan asked',
      { state: 'refused', plan: 'daily', problem: problemOf('already-fresh') },
      true,
    ],
    ['the data are fresh, and a caller asked', { state: 'refused', problem: problemOf('already-fresh') }, false],
    ['a plan met a limit', { state: 'refused', plan: 'daily', problem: problemOf('budget-exceeded') }, false],
    ['a plan was refused without a problem', { state: 'refused', plan: 'daily' }, false],
    ['it settled', { state: 'settled', plan: 'daily', problem: problemOf('already-updated') }, false],
  ])('a refused update was up to date, or not: %s', (_name, fields, isUpToDate) => {
    expect(wasUpToDate(updateOf(fields))).toBe(isUpToDate)
  })

  test.each<[UpdateRequest['leave'] | undefined, number]>([
    [undefined, 0],
    [toUnits(70), 70],
    [{ seo: toUnits(30) }, 30],
    [{ other: toUnits(30) }, 0],
  ])('a plan that leaves %j leaves %i units in the budget seo', (leave, units) => {
    const plan = { plan: 'night', ...(leave !== undefined && { leave }) }
    expect(leftOf(plan, { name: 'seo', keep: toUnits(7) })).toBe(units)
  })

  test('an update that is not a plan’s leaves what the budget keeps for plans', () => {
    expect(leftOf({}, { name: 'seo', keep: toUnits(7) })).toBe(7)
    expect(leftOf({}, { name: 'seo' })).toBe(0)
  })

  test.each<[readonly string[], boolean]>([
    [[], true],
    [['client:acme'], true],
    [['url:https://a.example:8080'], true],
    [['client:acme', 'url:other'], false],
    [['client:acm'], false],
    [['client'], false],
    [['toString:x'], false],
  ])('an update has the tags %j: %s', (wanted, has) => {
    expect(hasTags({ client: 'acme', url: 'https://a.example:8080' }, wanted)).toBe(has)
    expect(hasTags(undefined, wanted)).toBe(wanted.length === 0)
  })

  test('only requested and running updates end without a person or evidence', () => {
    expect(states.filter(isUnderWay)).toEqual(['requested', 'running'])
  })
})

describe('without a hold', () => {
  test.each(states)('no outcome changes an update without a hold that is %s', (state) => {
    for (const outcome of outcomes) expect(settlementOf(withoutHold({ ...running, state }), outcome, later)).toBeNull()
  })
})

describe('the stored record', () => {
  test('a stored record comes back unchanged', () => {
    const settled = closedBy(unknown('sender'), ran(40))
    for (const update of [running, settled]) expect(fromUpdateItem(toUpdateItem(update))).toEqual(update)
  })

  test.each<[State, string | undefined]>([
    ['awaiting-approval', 'awaiting-approval'],
    ['requested', 'requested'],
    ['running', 'running'],
    ['in-doubt', 'in-doubt'],
    ['settled', undefined],
    ['released', undefined],
    ['refused', undefined],
    ['rejected', undefined],
    ['cancelled', undefined],
    ['expired', undefined],
  ])('a record in state %s is listed among the open records as %s', (state, openAs) => {
    expect(toUpdateItem({ ...running, state }).openAs).toBe(openAs)
  })

  test('a person’s release is watched until it is corrected or the sweep stops', () => {
    const released = closedBy(unknown('sender'), didNotRun('person'))
    expect(toUpdateItem(released)).toMatchObject({
      openAs: 'watched',
      openSince: `${new Date(later).toISOString()}#1#seo`,
    })
    expect(toUpdateItem(closedBy(unknown('sender'), didNotRun('person'), ran(40))).openAs).toBeUndefined()
    const unwatched = next(released, 'released', { unwatched: true }, { at: later, by: 'sweep' })
    expect(toUpdateItem(unwatched).openAs).toBeUndefined()
  })

  test('a stored record of an open update has the time since when it is open', () => {
    expect(toUpdateItem(inDoubt).openSince).toBe('2026-11-20T10:01:00.000Z#1#seo')
    expect(toUpdateItem(running).openSince).toBe('2026-11-20T10:00:00.000Z#1#seo')
    const doubtedAgain = next(inDoubt, 'in-doubt', {}, { at: later + 5, by: 'sweep' })
    expect(toUpdateItem(doubtedAgain).openSince).toBe('2026-11-20T10:01:00.005Z#1#seo')
  })

  test('a record is listed by the calendar month of its creation, and kept for 26 months', () => {
    expect(toUpdateItem(running)).toMatchObject({
      pk: 'update#upd_1',
      sk: 'update',
      listedIn: 'updates#2026-11',
      listedAt: '2026-11-20T10:00:00.000Z#1#seo',
    })
    expect(toUpdateItem(running).expiresAt).toBe(Date.parse('2029-01-08T10:00:00Z') / 1000)
  })
})

describe('announcements that are written with the record', () => {
  const link = 'https://hooks.slack.com/commands/1'
  const asked = begin(
    { ...withoutHold(running), replyTo: [link] },
    'awaiting-approval',
    { month: 'month:2026-11-01' },
    { at, by: 'ada' },
  )
  const settled = closedBy(unknown('sender'), ran(40, 'time'))
  const step = (update: Update, state: State, changes: Partial<Update> = {}) =>
    next(update, state, changes, { at: later, by: 'guard' })

  test.each<[string, Update, Update | null, readonly string[]]>([
    ['it awaits approval from its first line on', asked, null, ['upd_1#approval-wanted#1']],
    [
      'it came to await approval',
      step({ ...asked, state: 'requested' }, 'awaiting-approval'),
      { ...asked, state: 'requested' },
      ['upd_1#approval-wanted#2', `upd_1#outcome#2#${link}`],
    ],
    ['it awaits approval as before', step(asked, 'awaiting-approval'), asked, []],
    ['it runs', running, null, []],
    ['its price jumped', { ...running, priceBefore: 10 }, null, ['upd_1#price-jumped']],
    ['its price had jumped before', { ...running, priceBefore: 10 }, { ...running, priceBefore: 10 }, []],
    ['its price jumped, but nothing is held', { ...withoutHold(running), priceBefore: 10 }, null, []],
    ['it is in doubt', inDoubt, running, ['upd_1#in-doubt#2']],
    ['it is in doubt as before', step(inDoubt, 'in-doubt'), inDoubt, []],
    ['it settled', closedBy(ran(40)), running, []],
    ['it cost more', closedBy(ran(55)), running, ['upd_1#overrun#2']],
    ['it began with an overrun', step({ ...running, overrun: toUnits(1) }, 'settled'), null, ['upd_1#overrun#2']],
    ['it cost more than was known', step(settled, 'settled', { overrun: toUnits(5) }), settled, ['upd_1#overrun#4']],
    ['it cost more, as was known', step(closedBy(ran(55)), 'settled'), closedBy(ran(55)), []],
    [
      'it was corrected to more',
      closedBy(unknown('sender'), ran(40, 'time'), ran(55)),
      settled,
      ['upd_1#overrun#4', 'upd_1#correction#4'],
    ],
    [
      'it was corrected to less',
      closedBy(unknown('sender'), ran(55, 'person'), ran(25)),
      closedBy(unknown('sender'), ran(55, 'person')),
      ['upd_1#correction#4'],
    ],
    ...([60, 41] as const).map((units): [string, Update, Update, readonly string[]] => [
      `it had cost 55 and was corrected to ${units}, more than was held too`,
      closedBy(unknown('sender'), ran(55, 'person'), ran(units)),
      closedBy(unknown('sender'), ran(55, 'person')),
      ['upd_1#overrun#4', 'upd_1#correction#4'],
    ]),
    ['it was corrected from the start', { ...settled, corrected: true }, null, ['upd_1#correction#3']],
    ['it was corrected before', step({ ...settled, corrected: true }, 'settled'), { ...settled, corrected: true }, []],
    ['it was refused at once', { ...asked, state: 'refused' }, null, []],
    ['it was rejected, and a user waits', step(asked, 'rejected'), asked, [`upd_1#outcome#2#${link}`]],
    [
      'it was rejected, and a user waits, listed twice',
      step({ ...asked, replyTo: [link, 'other', link] }, 'rejected'),
      asked,
      [`upd_1#outcome#2#${link}`, 'upd_1#outcome#2#other'],
    ],
    ['it was rejected, and no user waits', step({ ...asked, replyTo: [] }, 'rejected'), asked, []],
    ['it was approved, and a user still waits', step(asked, 'requested'), asked, []],
    [
      'it changed after its end',
      step({ ...asked, state: 'rejected' }, 'rejected'),
      { ...asked, state: 'rejected' },
      [],
    ],
  ])('a record is written with its announcements: %s', (_name, update, seen, ids) => {
    expect(announcedWith(update, seen).map((write) => write.kind === 'put' && write.item.id)).toEqual(ids)
  })

  test('an announcement names the update and the waiting user’s address', () => {
    const doubted = step({ ...running, replyTo: [link] }, 'in-doubt')
    expect(
      announcedWith(doubted, running).map((write) => write.kind === 'put' && [write.item, write.when]),
    ).toMatchObject([
      [
        { id: 'upd_1#in-doubt#2', createdAt: later, tries: 0, about: { kind: 'in-doubt', update: 'upd_1' } },
        [{ kind: 'absent-item' }],
      ],
      [{ createdAt: later, about: { kind: 'outcome', update: 'upd_1', replyTo: link } }, [{ kind: 'absent-item' }]],
    ])
    expect(announcedWith(inDoubt, running)).toMatchObject([{ item: { createdAt: later, version: 1 } }])
    const late = next(inDoubt, 'settled', { overrun: toUnits(1) }, { at: later + 5, by: 'guard' })
    expect(announcedWith(late, inDoubt)).toMatchObject([{ item: { createdAt: later + 5 } }])
    expect(announcedWith(asked, null)).toMatchObject([
      { item: { createdAt: at, about: { kind: 'approval-wanted', update: 'upd_1' } } },
    ])
    expect(announcedWith(closedBy(ran(55)), running)).toMatchObject([{ item: { about: { kind: 'overrun' } } }])
    expect(announcedWith({ ...settled, corrected: true }, settled)).toMatchObject([
      { item: { about: { kind: 'correction' } } },
    ])
  })

  test('a jump of the price is announced with both figures at the time of the hold, for other systems, too', () => {
    const [write] = announcedWith({ ...running, priceBefore: 10, traceparent: '00-1-2-01' }, null)
    const item = write?.kind === 'put' ? write.item : undefined
    const about = { kind: 'price-jumped', update: 'upd_1', budget: 'seo', project: 'acme', units: 40, before: 10 }
    expect(item).toMatchObject({ about, createdAt: at, listedIn: 'announcements#2026-11' })
    const [doubt] = announcedWith({ ...inDoubt, traceparent: '00-1-2-01' }, running)
    expect(doubt).toMatchObject({ item: { traceparent: '00-1-2-01' } })
    expect(doubt).not.toMatchObject({ item: { listedIn: expect.anything() } })
  })

  test('the announcements about a decision have the versions of their lines', () => {
    const waited = step(step(asked, 'requested'), 'awaiting-approval')
    const wanted = ['approval-wanted', 'approval-reminder']
    expect(decisionNewsOf(waited)).toEqual(
      [1, 3].flatMap((version) => wanted.map((kind) => `upd_1#${kind}#${version}`)),
    )
    expect(decisionNewsOf(inDoubt)).toEqual(['upd_1#in-doubt#2'])
  })

  test('doubts of one kind, day and sign have one announcement, also after a decision', () => {
    const sign = 'response_code 26 at /response_code'
    const withSign: Update = { ...inDoubt, doubt: { by: 'sender', at: later, sign } }
    const settled = next(withSign, 'settled', { closedBy: 'person' }, { at: later + 5, by: 'ada' })
    const [id = '', ...others] = decisionNewsOf(withSign)
    expect([others, decisionNewsOf({ ...settled, id: 'upd_2' })]).toEqual([[], [id]])
    expect(id).toMatch(/^in-doubt#ranking#day:2026-11-20#[0-9a-z]{26}$/)
    expect(announcedWith(withSign, running)).toMatchObject([{ item: { id, about: { update: 'upd_1' } } }])
    expect(announcedWith(withSign, running, { isDoubtAnnounced: true })).toEqual([])
    expect(announcedWith(settled, withSign)).toEqual([])
  })

  test('each end of an occurrence has one request to run it again', () => {
    expect(rerunId({ id: 'morning#2026-11-20T05:00:00.000Z', version: 3 })).toBe('morning#2026-11-20T05:00:00.000Z#3')
  })
})

describe('the version of an update', () => {
  const outcome = fc
    .constantFrom(...outcomes)
    .map((each) => (update: Update) => settlementOf(update, each, later)?.update)
  const decision = fc
    .constantFrom(...states)
    .map((state) => (update: Update) => next(update, state, {}, { at: later, by: 'ben' }))

  test('each change adds one line to the history and raises the version by one', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('awaiting-approval', 'requested', 'refused', 'running'),
        fc.array(fc.oneof(outcome, decision), { maxLength: 12 }),
        (state, changes) => {
          const first = begin(running, state, { month: running.month, hold }, { at, by: 'guard' })
          expect([first.version, first.history.length]).toEqual([1, 1])
          changes.reduce((update, change) => {
            const changed = change(update)
            if (!changed) return update
            expect([changed.version, changed.history.length]).toEqual([update.version + 1, changed.version])
            expect(changed.history.slice(0, -1)).toEqual(update.history)
            return changed
          }, first)
        },
      ),
    )
  })
})

function withoutHold({ hold: _hold, ...update }: Update): Update {
  return update
}

const nameOf = (outcome: RunOutcome) =>
  `${outcome.kind}${outcome.kind === 'ran' ? ` ${outcome.units}` : ''} (${outcome.from})`

describe('the place of an update in lists', () => {
  const createdAt = at
  const placeOf = (changes: Partial<Update>) =>
    toUpdateItem(updateOf({ id: 'upd_upd_1', createdAt, history: [], ...changes }))

  test.each([
    [{ budget: 'seo' }, '2026-11-20T10:00:00.000Z#upd_1#seo', ['seo']],
    [{ budget: 'seo', owner: 'seo' }, '2026-11-20T10:00:00.000Z#upd_1#seo', ['seo']],
    [{ budget: 'account', owner: 'seo' }, '2026-11-20T10:00:00.000Z#upd_1#account,seo', ['account', 'seo']],
  ])('the place of %j has the names of its budgets', (changes, place, budgets) => {
    const item = placeOf(changes)
    expect([item.listedAt, budgetsIn(String(item.listedAt))]).toEqual([place, budgets])
  })

  test('an update without history is open since it was created', () => {
    expect(placeOf({ budget: 'seo', state: 'running' }).openSince).toBe('2026-11-20T10:00:00.000Z#upd_1#seo')
  })

  test('an index key without budgets gives no budgets, and a cursor leaves budgets out', () => {
    expect(budgetsIn('2026-11-20T10:00:00.000Z#upd_1')).toEqual([])
    const position = (sort: string) => ({ pk: 'update#upd_1', sk: 'update', sort })
    expect(withoutBudgets(position('at#1#seo'), true).sort).toBe('at#1#')
    expect(withoutBudgets(position('at#1#seo'), false).sort).toBe('at#1#~')
    expect(withoutBudgets(position('at#1'), false).sort).toBe('at#1')
    expect(['update#upd_1', 'entry#ent_1'].map(isUpdateKey)).toEqual([true, false])
  })
})
