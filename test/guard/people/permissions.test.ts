import { describe, expect, test } from 'vitest'
import { createGuard } from '../../../shared/guard/guard.ts'
import type { GuardOptions } from '../../../shared/guard/options.ts'
import {
  outgrown,
  whyNotApprove,
  whyNotCancel,
  whyNotReject,
  whyNotResolve,
  whyNotUpTo,
} from '../../../shared/guard/people/decisions.ts'
import { keptOf, mayStillApprove, permissionsOf } from '../../../shared/guard/people/permissions.ts'
import { soughtDates } from '../../../shared/guard/sweep/sweep.ts'
import type { Caller } from '../../../shared/ledger/definitions/definitions.ts'
import { usualAccount } from '../../../shared/ledger/identity.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { type State, states, type Update } from '../../../shared/ledger/updates/update.ts'
import { minutes } from '../../support/clock.ts'
import { startGuard } from '../../support/guard.ts'
import { at, holdOf, readingOf, u, updateOf } from '../../support/records.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const now = '2026-11-20T10:00:00Z'
const options: GuardOptions = {
  serviceTimeoutMs: 20_000,
  serviceFlightMs: minutes(5),
  cooldown: { ranking: 'day', 'keyword-difficulty': 'day' },
}
const history = [{ state: 'running', at: at('2026-11-20T09:00:00Z'), by: 'guard' }] as const
const wrong = (state: State, wanted: string) => ({
  slug: 'wrong-state',
  detail: `The ranking update of shop cannot be ${wanted}: it has been ${state} since 20 Nov 2026 10:00 Europe/Berlin (guard).`,
  members: { update: 'upd_1', state },
})
const forbidden = (detail: string, update?: string) => ({
  slug: 'forbidden',
  detail,
  members: update === undefined ? {} : { update },
})
const otherThan = (allowed: readonly State[]) => states.filter((state) => !allowed.includes(state))

describe('the right to approve an update', () => {
  const awaiting = (changes: Partial<Update> = {}) =>
    updateOf({ state: 'awaiting-approval', approvableUntil: at(now) + 1, ...changes })
  const barred = (
    update: Update,
    by: string,
    acme: readonly string[] | null = null,
    seo: readonly string[] | null = null,
  ) =>
    whyNotApprove(
      update,
      readingOf({
        now,
        budgets: { acme: acme ? { approvers: acme } : {}, seo: seo ? { approvers: seo } : {} },
        callers: { ada: { person: 'Ada' }, 'slack:U1': { person: 'Ada' }, 'slack:U2': { person: 'eve' } },
      }),
      { caller: by },
    )

  test('everyone but the caller may approve in time if no budget names approvers', () => {
    expect(barred(awaiting(), 'eve')).toBeNull()
    expect(barred(awaiting(), 'eve', [], [])).toBeNull()
  })

  test.each(otherThan(['awaiting-approval']))('refuses to approve an update that is %s', (state) => {
    expect(barred(updateOf({ state, history }), 'eve')).toEqual(wrong(state, 'approved'))
  })

  test('an approval is refused from the end of its time on, with that time', () => {
    for (const [minutesAgo, until] of [
      [0, '11:00'],
      [90, '09:30'],
    ] as const)
      expect(barred(awaiting({ approvableUntil: at(now) - minutes(minutesAgo) }), 'eve')).toEqual({
        slug: 'wrong-state',
        detail: `The ranking update of shop could be approved until 20 Nov 2026 ${until} Europe/Berlin; ask for it again.`,
        members: { update: 'upd_1', state: 'awaiting-approval' },
      })
    const { approvableUntil: _none, ...endless } = awaiting()
    expect(barred(endless, 'eve')).toBeNull()
  })

  test('an update of a deleted budget cannot be approved', () => {
    expect(barred(awaiting({ budget: 'gone' }), 'eve')).toEqual({
      slug: 'wrong-state',
      detail:
        'The ranking update of shop cannot be approved: its budget gone was deleted; create gone again, or reject the update.',
      members: { update: 'upd_1', state: 'awaiting-approval' },
    })
  })

  test('callers cannot approve their own update under any of their names', () => {
    expect(barred(awaiting(), 'ada')).toEqual(
      forbidden('You asked for the ranking update of shop, so someone else has to approve it.', 'upd_1'),
    )
    expect(barred(awaiting(), 'slack:U1')).toEqual(
      forbidden('You asked for the ranking update of shop as ada, so someone else has to approve it.', 'upd_1'),
    )
  })

  test('the approvers of the nearest budget that names any may approve, by name or by person', () => {
    const outsider = forbidden('You are not among the approvers of acme, which decides for seo.')
    expect(barred(awaiting(), 'bob', ['eve'])).toEqual(outsider)
    expect(barred(awaiting(), 'bob', ['eve'], [])).toEqual(outsider)
    expect(barred(awaiting(), 'bob', ['bob'], ['eve'])).toEqual(forbidden('You are not among the approvers of seo.'))
    expect(barred(awaiting(), 'bob', ['eve'], ['bob'])).toBeNull()
    expect(barred(awaiting(), 'eve', ['eve'])).toBeNull()
    expect(barred(awaiting(), 'slack:U2', ['eve'])).toBeNull()
    expect(barred(awaiting(), 'slack:U2', ['slack:U2'])).toBeNull()
  })

  test('the approvers of a budget that the approval would grant units may approve, too', () => {
    const short = [{ budget: 'acme', window: 'month', units: u(5) }] as const
    expect(barred(awaiting({ short }), 'bob', ['eve'], ['bob'])).toEqual(
      forbidden(
        'You are not among the approvers of acme, and the approval would grant acme 5 units. No approver of seo can approve it now: none of them is an approver of acme, too. An administrator names another approver (PUT /budgets/seo).',
      ),
    )
    expect(barred(awaiting({ short }), 'bob', ['bob'], ['bob'])).toBeNull()
  })

  test('an approval is compared with the estimate if the record has one', () => {
    const estimated = (units?: number) => awaiting(units === undefined ? {} : { estimated: u(units) })
    expect([outgrown(estimated(), u(40)), whyNotUpTo(estimated(), u(40))]).toEqual([null, null])
    expect([outgrown(estimated(40), u(40)), whyNotUpTo(estimated(40), u(40))]).toEqual([null, null])
    const refused = (detail: string) => ({
      slug: 'wrong-state',
      members: { update: 'upd_1', state: 'awaiting-approval', units: 41 },
      detail: `The ranking update of shop ${detail}`,
    })
    expect([outgrown(estimated(41), u(40)), whyNotUpTo(estimated(41), u(40))]).toEqual([
      refused(
        'needs 41 units now, and you were shown 40, so it was not approved. Nothing was spent; look at it again.',
      ),
      refused(
        'cannot be approved up to 40 units: it needs 41 units. Nothing was spent; approve at least 41, or reject it.',
      ),
    ])
  })

  test.each<[string, string, Caller | null, boolean]>([
    ['an unlisted caller', 'eve', null, true],
    ['a listed caller without scopes', 'eve', {}, true],
    ['a listed caller without the scope approve', 'eve', { scopes: ['run', 'admin'] }, false],
    ['a disabled caller', 'eve', { scopes: ['approve'], disabled: true }, false],
    ['an unlisted Slack user', 'slack:U3', null, false],
    ['a Slack user who is listed with approve', 'slack:U3', { scopes: ['approve'] }, true],
    ['a Slack user who is listed without approve', 'slack:U3', { scopes: ['run'] }, false],
  ])('the approval given by %s counts, or no longer counts', (_title, by, listed, isKept) => {
    const { definitions } = readingOf({ now, ...(listed && { callers: { [by]: listed } }) })
    expect(mayStillApprove(definitions, by)).toBe(isKept)
  })
})

describe('the permissions of a person without a token', () => {
  test.each<[string, Caller | null, { scopes: string[]; mayCharge: boolean }]>([
    ['none, if nothing lists them', null, { scopes: [], mayCharge: false }],
    ['none, if they are listed without scopes', {}, { scopes: [], mayCharge: false }],
    ['no budget, if they are listed without budgets', { scopes: ['run'] }, { scopes: ['run'], mayCharge: false }],
    ['every budget, if they are listed so', { scopes: ['run'], budgets: '*' }, { scopes: ['run'], mayCharge: true }],
    ['every budget, for an administrator', { scopes: ['admin'] }, { scopes: ['admin'], mayCharge: true }],
    ['the listed budgets', { scopes: ['run'], budgets: ['seo'] }, { scopes: ['run'], mayCharge: true }],
    ['only the listed budgets', { scopes: ['admin'], budgets: ['ads'] }, { scopes: ['admin'], mayCharge: false }],
  ])('a person without a token may: %s', (_title, listed, expected) => {
    const budgets = { seo: {}, ads: {} }
    const { definitions } = readingOf({ now, budgets, ...(listed && { callers: { 'slack:U3': listed } }) })
    const { scopes, isListed, mayCharge } = permissionsOf(definitions, { caller: 'slack:U3' })
    expect([isListed, { scopes: [...scopes], mayCharge: mayCharge('seo') }]).toEqual([listed !== null, expected])
  })
})

describe('the budgets that a caller may charge', () => {
  const all = ['account', 'acme', 'seo', 'ads']
  test.each<[string, '*' | readonly string[], Caller['budgets'], readonly string[]]>([
    ['all budgets', '*', undefined, all],
    ['all budgets, with account and its descendants', ['account'], undefined, all],
    ['the budgets of the token, with their descendants', ['acme'], undefined, ['acme', 'seo']],
    ['no parent of the budgets of the token', ['seo'], undefined, ['seo']],
    ['the listed budgets', '*', ['ads'], ['ads']],
    ['the budgets that both token and list allow', ['acme'], ['seo', 'ads'], ['seo']],
    ['no budget with a * in a list', ['*'], undefined, []],
    ['no budget that does not exist', ['gone', 'constructor', '__proto__'], undefined, []],
    ['no budget if none is named', [], undefined, []],
  ])('a caller may charge %s', (_title, named, listed, expected) => {
    const { definitions } = readingOf({
      now,
      budgets: { ads: {} },
      callers: listed ? { bob: { budgets: listed } } : {},
    })
    for (const scope of ['run', 'admin'] as const) {
      const token = { scopes: new Set([scope]), budgets: named }
      expect(all.filter(permissionsOf(definitions, { caller: 'bob', token }).mayCharge)).toEqual(expected)
    }
  })
})

describe('the budgets that a caller may read', () => {
  test.each<[string, readonly string[] | undefined, readonly string[] | undefined, '*' | string[], string[]]>([
    ['all budgets if nothing narrows them', undefined, undefined, '*', ['account', 'acme', 'seo', 'gone']],
    ['all budgets, with account and its descendants', ['account'], undefined, '*', ['account', 'acme', 'seo']],
    ['the budgets of the token, with their descendants', ['acme'], undefined, ['acme'], ['acme', 'seo']],
    ['the listed budgets', undefined, ['seo'], ['seo'], ['seo']],
    ['the budgets that both token and list allow', ['acme'], ['seo'], ['seo'], ['seo']],
    ['no budget that only one of token and list allows', ['seo'], ['ads'], [], []],
    ['no budget that was deleted', ['gone', 'seo'], undefined, ['seo'], ['seo']],
    ['no budget if none is named', [], undefined, [], []],
  ])('a caller may read %s', (_title, ofToken, ofListing, shown, readable) => {
    const callers = { eve: { ...(ofListing && { readsBudgets: ofListing }) } }
    const { definitions } = readingOf({ now, budgets: { ads: {} }, callers })
    const held = new Set(['read', 'admin'] as const)
    const token = { scopes: held, budgets: '*', ...(ofToken && { readsBudgets: ofToken }) } as const
    const { readsBudgets, mayRead, scopes } = permissionsOf(definitions, { caller: 'eve', token })
    expect(readsBudgets).toEqual(shown)
    expect(['account', 'acme', 'seo', 'gone'].filter(mayRead)).toEqual(readable)
    // The scope admin needs a reader of all budgets, because administration shows every budget.
    expect([...scopes]).toEqual(readable.includes('account') ? ['read', 'admin'] : ['read'])
  })
})

test('a record keeps the rights of a token that its update may need, and the budgets of its chain', () => {
  const { definitions } = readingOf({ now })
  const token = { scopes: new Set(['run', 'read', 'admin'] as const), budgets: ['seo', 'ads'] }
  const kept = { scopes: ['run', 'admin'], budgets: ['seo'] }
  expect(keptOf(definitions, token, 'seo')).toStrictEqual(kept)
  expect(keptOf(definitions, { ...token, person: 'Ada' }, 'seo')).toStrictEqual({ ...kept, person: 'Ada' })
  expect(keptOf(definitions, { ...token, budgets: '*' }, 'seo')).toStrictEqual({ ...kept, budgets: '*' })
})

describe('cached definitions', () => {
  const named = { caller: 'bob', token: { scopes: new Set(['run'] as const), budgets: '*' } } as const

  test('definitions are cached for two seconds, except for spending and changes', async () => {
    const { guard, caller, clock } = await startGuard()
    const isDisabled = async (atOnce: boolean) => (await guard.permissions(named, { atOnce })).isDisabled
    await caller('bob', { disabled: true, ratePerMinute: 7 })
    clock.advance(2_000)
    expect([guard.rateOf('bob'), await isDisabled(false)]).toEqual([undefined, false])
    clock.advance(1)
    expect([await isDisabled(false), guard.rateOf('bob')]).toEqual([true, 7])
    await caller('bob', {})
    expect([await isDisabled(false), await isDisabled(true)]).toEqual([true, false])
  })

  test('definitions are read if none are cached', async () => {
    const { caller, clock, items, parts } = await startGuard()
    await caller('bob', { disabled: true })
    const ledger = createLedger({ store: createMemoryStore(items), clock, account: usualAccount })
    const { permissions, rateOf } = createGuard({ ...parts, ledger })
    expect(rateOf('bob')).toBeUndefined()
    expect((await permissions(named, { atOnce: false })).isDisabled).toBe(true)
  })
})

describe('the right to reject an update', () => {
  const barred = (update: Update, by: string) =>
    whyNotReject(update, readingOf({ now, callers: { ada: { person: 'Ada' }, 'slack:U1': { person: 'Ada' } } }), {
      caller: by,
    })

  test('anyone but the caller may reject an update', () => {
    const awaiting = updateOf({ state: 'awaiting-approval' })
    expect(barred(awaiting, 'eve')).toBeNull()
    expect(barred(awaiting, 'ada')).toEqual(
      forbidden('You asked for the ranking update of shop; cancel it instead.', 'upd_1'),
    )
    expect(barred(awaiting, 'slack:U1')).toEqual(
      forbidden('You asked for the ranking update of shop as ada; cancel it instead.', 'upd_1'),
    )
  })

  test.each(otherThan(['awaiting-approval']))('refuses to reject an update that is %s', (state) => {
    expect(barred(updateOf({ state, history }), 'eve')).toEqual(wrong(state, 'rejected'))
  })
})

describe('the right to cancel an update', () => {
  const barred = (update: Update, caller: string, isAdmin = false) =>
    whyNotCancel(update, readingOf({ now }), { caller, isAdmin })

  test('only the caller and administrators may cancel an update', () => {
    const awaiting = updateOf({ state: 'awaiting-approval' })
    expect(barred(awaiting, 'ada')).toBeNull()
    expect(barred(updateOf({ state: 'requested' }), 'ada')).toBeNull()
    expect(barred(awaiting, 'eve', true)).toBeNull()
    expect(barred(awaiting, 'eve')).toEqual(
      forbidden('ada asked for the ranking update of shop; only they or an administrator may cancel it.', 'upd_1'),
    )
  })

  test.each(otherThan(['awaiting-approval', 'requested']))('refuses to cancel an update that is %s', (state) => {
    expect(barred(updateOf({ state, history }), 'ada')).toEqual(wrong(state, 'cancelled'))
  })
})

describe('the right to resolve a doubt', () => {
  const barred = (update: Update, outcome: 'ran' | 'did-not-run', time = now) =>
    whyNotResolve(update, readingOf({ now: time }), outcome, options)
  const hold = holdOf({ senderUntil: at('2026-11-20T10:00:00Z') })

  test('a doubt can be resolved as ran at once, and as not run as soon as nothing is in flight', () => {
    const doubted = updateOf({ state: 'in-doubt', hold, doubt: { by: 'sweep', at: at('2026-11-20T09:30:00Z') } })
    expect(barred(doubted, 'ran')).toBeNull()
    expect(barred(doubted, 'did-not-run', '2026-11-20T10:05:00Z')).toBeNull()
    expect(barred(doubted, 'did-not-run', '2026-11-20T10:04:59.999Z')).toEqual({
      slug: 'wrong-state',
      detail:
        'The ranking update of shop may still take effect until 20 Nov 2026 11:05 Europe/Berlin. Until then you can only say that it ran.',
      members: { update: 'upd_1', state: 'in-doubt', retryAt: '2026-11-20T10:05:00.000Z' },
    })
  })

  test('a doubt that the sender itself reported counts its flight from the doubt', () => {
    const doubted = updateOf({ state: 'in-doubt', hold, doubt: { by: 'sender', at: at('2026-11-20T09:30:00Z') } })
    expect(barred(doubted, 'did-not-run', '2026-11-20T09:35:00Z')).toBeNull()
    expect(barred(doubted, 'did-not-run', '2026-11-20T09:34:59Z')).not.toBeNull()
  })

  test.each(otherThan(['in-doubt']))('refuses to resolve an update that is %s', (state) => {
    expect(barred(updateOf({ state, hold, history }), 'ran')).toEqual(wrong(state, 'resolved'))
  })

  test('the refusal of "ran" after a wrong "did not run" says what happens if it ran', () => {
    const released = (changes: Partial<Update> = {}) =>
      barred(updateOf({ state: 'released', hold: { ...hold, datesBefore: [] }, closedBy: 'person', ...changes }), 'ran')
        ?.detail
    const is = 'The ranking update of shop cannot be resolved: it has been released.'
    const book = 'an administrator can book its units as an external spend.'
    const watched = `${is} If new data show within seven days that it ran, the sweep charges it; else ${book}`
    expect(released()).toBe(watched)
    expect(released({ unwatched: true })).toBe(`${is} If it ran, ${book}`)
    expect(released({ hold })).toBe(`${is} If it ran, ${book}`)
    for (const changes of [{ closedBy: 'sender' }, { corrected: true }] as const) expect(released(changes)).toBe(is)
  })

  test('the refusal to resolve a record without history names only its state', () => {
    expect(barred(updateOf({ state: 'running' }), 'ran')?.detail).toBe(
      'The ranking update of shop cannot be resolved: it has been running.',
    )
  })
})

test('a run is proven by new dates around its fence, by the account’s day', () => {
  const hold = holdOf({ at: at('2026-11-19T23:30:00Z'), datesBefore: ['2026-11-19', '2026-11-13'] })
  const sought = (changes: Partial<Update>) => soughtDates(readingOf({ now }), updateOf({ hold, ...changes }))
  expect(sought({})).toEqual(['2026-11-20', '2026-11-21'])
  expect(sought({ hold: holdOf() })).toBeNull()
  expect(soughtDates(readingOf({ now }), updateOf())).toBeNull()
})
