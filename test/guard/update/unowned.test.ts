import { describe, expect, test } from 'vitest'
import { parsePlans } from '../../../shared/guard/plans-file.ts'
import { type Budget, type Unowned, unownedRules } from '../../../shared/ledger/definitions/definitions.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { only, startGuard } from '../../support/guard.ts'
import { u } from '../../support/records.ts'

type Started = Awaited<ReturnType<typeof start>>

const time = Date.parse('2026-11-20T09:00:00Z')
const night = { name: 'night', kind: 'ranking', projects: ['new', 'shop'], schedule: 'cron(0 9 * * ? *)' }

/** `acme` owns `shop`, no budget lists `new`. `eve` approves for `account`, `mia` for `clients`. An update costs 40. */
async function start(plan: object = {}) {
  const plans = async () => parsePlans(JSON.stringify([{ ...night, ...plan }]))
  const product = await startGuard({ parts: { plans } })
  const { budget, guard, clock } = product
  await budget('clients', { approvers: ['mia'] })
  await budget('acme', { parent: 'clients', projects: [{ name: 'shop' }] })
  const endsAt = () => clock.now() + 60_000
  const set = (unowned: Unowned, more: Partial<Budget> = {}) =>
    budget('account', { parent: null, approvers: ['eve'], unowned, ...more })
  const fire = async () => {
    clock.set('2026-11-20T09:00:10Z')
    const fired = await (await guard.jobs()).fire('night', time, endsAt())
    if (fired.kind === 'problem') throw new Error(fired.problem.detail)
    return guard.report(fired.occurrence)
  }
  return { ...product, set, fire, begin: (id: string) => guard.start(id, endsAt()) }
}

const of = (update: Update | null | undefined) => update?.problem?.slug ?? update?.state
const admin = { token: { scopes: new Set(['run', 'admin'] as const), budgets: '*' } } as const
const reason = 'no budget lists new, and account wants approval for such projects'
const refusal = {
  slug: 'project-unowned',
  detail:
    'No budget lists new, and account refuses such projects (unowned: refuse). Check the name, or ask an administrator to list it in a budget.',
  members: { project: 'new' },
}

const outcomes = { pay: 'settled', approve: 'awaiting-approval', refuse: 'project-unowned' } as const

const requests: [string, object, object][] = [
  ['without a budget', {}, {}],
  ['that names account', { budget: 'account' }, {}],
  ['that names another budget', { budget: 'clients' }, {}],
  ['that names the budget of another project', { budget: 'acme' }, {}],
  ['of an administrator', {}, admin],
  ['with force', { force: true, reason: 'again' }, admin],
  ['with whenShort fit', { whenShort: 'fit' }, {}],
]

describe.each(unownedRules)('with the rule %s for projects that no budget lists', (rule) => {
  test.each(requests)('a request %s follows the rule for unowned projects', async (_what, wanted, asker) => {
    const { ask, set, sent } = await start()
    await set(rule)
    expect(of(only(await ask({ projects: ['new'], ...wanted }, asker)))).toBe(outcomes[rule])
    expect(sent).toHaveLength(rule === 'pay' ? 1 : 0)
    expect(of(only(await ask({ projects: ['shop'] }, asker)))).toBe('settled')
  })

  test.each(requests)('a queued request %s follows the rule for unowned projects', async (_what, wanted, asker) => {
    for (const before of unownedRules.filter((each) => each !== 'refuse')) {
      const { ask, begin, set } = await start()
      await set(before)
      const { id } = only(await ask({ projects: ['new'], ...wanted }, asker, { respondAsync: true }))
      await set(rule)
      expect(of(await begin(id))).toBe(outcomes[rule])
    }
  })

  test('a rule for unowned projects that is set between the estimate and the hold decides', async () => {
    const { ask, before, set } = await start()
    before.push(async () => set(rule))
    expect(of(only(await ask({ projects: ['new'] })))).toBe(outcomes[rule])
  })

  test('an approved update of an unowned project starts unless the rule is now refuse', async () => {
    const { ask, begin, guard, set } = await start()
    await set('approve')
    const { id } = only(await ask({ projects: ['new'] }))
    await guard.decide('approve', id, { caller: 'eve' })
    await set(rule)
    expect(of(await begin(id))).toBe(rule === 'refuse' ? 'project-unowned' : 'settled')
  })

  test('an estimate of an unowned project says the outcome', async () => {
    const { guard, set } = await start()
    await set(rule)
    const wanted = { kind: 'ranking', projects: ['new'], budget: 'clients' } as const
    expect(await guard.estimate(wanted, { caller: 'bob', via: 'http', ...admin })).toMatchObject({
      allowed: rule !== 'refuse',
      approval: rule === 'approve' ? reason : null,
      problem: rule === 'refuse' ? refusal : null,
    })
  })

  test('an occurrence of a plan follows the rule for unowned projects', async () => {
    for (const plan of [{}, { budget: 'account', mayChargeAncestors: true }]) {
      const { fire, set } = await start(plan)
      await set(rule)
      const { rows } = await fire()
      expect(rows.map(({ update }) => of(update))).toEqual([outcomes[rule], 'settled'])
    }
  })

  test('the cool-down comes before the rule for unowned projects', async () => {
    const { ask, set } = await start()
    await ask({ projects: ['new'] })
    await set(rule)
    expect(only(await ask({ projects: ['new'] }))).toMatchObject({ state: 'settled' })
  })

  test('an update of an unowned project can be approved unless the rule is now refuse', async () => {
    const { ask, guard, set } = await start()
    await set('approve')
    const { id } = only(await ask({ projects: ['new'] }))
    await set(rule)
    const decided = await guard.decide('approve', id, { caller: 'eve' })
    expect(decided.kind === 'problem' ? decided.problem.detail : null).toBe(
      rule === 'refuse' ? `The ranking update of new cannot be approved: ${refusal.detail}` : null,
    )
    if (rule === 'refuse') expect(await guard.decide('reject', id, { caller: 'eve' })).toMatchObject({ kind: 'done' })
  })
})

describe('an approval of an update of a project that no budget lists', () => {
  test.each<[string, string, string | null]>([
    ['an approver of account', 'eve', null],
    ['the approver of the payer alone', 'mia', 'You are not among the approvers of account.'],
    ['the caller', 'bob', 'You asked for the ranking update of new, so someone else has to approve it.'],
  ])('%s may or may not approve an update of an unowned project', async (_who, by, expected) => {
    const { ask, begin, guard, set } = await start()
    await set('approve', { approvers: ['eve', 'bob'] })
    const { id } = only(await ask({ projects: ['new'], budget: 'clients' }))
    const decided = await guard.decide('approve', id, { caller: by })
    expect(decided.kind === 'problem' ? decided.problem.detail : null).toBe(expected)
    if (expected === null) expect(of(await begin(id))).toBe('settled')
  })

  test('one approval of an unowned project also satisfies the rules of the payer', async () => {
    const { ask, begin, budget, guard, set } = await start()
    await set('approve')
    await budget('clients', { approvalAbove: u(10) })
    const { id, history } = only(await ask({ projects: ['new'], budget: 'clients' }))
    expect(history.at(-1)?.note).toBe(reason)
    await guard.decide('approve', id, { caller: 'eve' })
    expect(of(await begin(id))).toBe('settled')
  })

  test('an approval of an unowned project does not count after the rule names another approver', async () => {
    const { ask, begin, budget, guard, set } = await start()
    await budget('clients', { approvalAbove: u(10) })
    const { id } = only(await ask({ projects: ['new'], budget: 'clients' }))
    await guard.decide('approve', id, { caller: 'mia' })
    await set('approve')
    const again = await begin(id)
    expect([again?.state, again?.history.at(-1)?.note]).toEqual([
      'awaiting-approval',
      `mia approved it, and may not approve it any more; ${reason}`,
    ])
  })

  test('an estimate of 0 starts no unowned project', async () => {
    const { ask, service, set } = await start()
    service.estimate = async () => ({ kind: 'units', units: u(0), source: 'units' })
    await set('approve')
    const { problem } = await ask({ projects: ['new'] })
    expect(problem?.slug).toBe('no-price')
  })
})

describe('one approval in one run of a plan', () => {
  const four = { projects: ['new', 'newer', 'shop', 'newest'] }
  const states = ({ rows }: Awaited<ReturnType<Started['fire']>>) => rows.map(({ update }) => of(update))
  const idOf = ({ rows }: Awaited<ReturnType<Started['fire']>>, at = 0) => rows[at]?.update?.id ?? ''
  const beginAll = async ({ begin, guard }: Started) => {
    const { rows } = await guard.ledger.updates({ plan: 'night' }, 10)
    for (const { id } of rows) await begin(id)
  }
  const settled = async ({ guard }: Started) =>
    (await guard.ledger.updates({ plan: 'night' }, 20)).rows.filter(({ state }) => state === 'settled').length

  test('one approval in a run of a plan covers all its unowned projects', async () => {
    const product = await start(four)
    await product.set('approve')
    const report = await product.fire()
    expect(states(report)).toEqual(['awaiting-approval', 'awaiting-approval', 'settled', 'awaiting-approval'])
    await product.guard.decide('approve', idOf(report, 1), { caller: 'eve', person: 'eve@agency' })
    await beginAll(product)
    expect(await settled(product)).toBe(4)
    const other = await product.other.update(idOf(report))
    expect(other).toMatchObject({ approval: { by: 'eve', person: 'eve@agency', units: 40 } })
    expect(other?.history.find(({ by }) => by === 'eve')?.note).toBe('approved with newer')
  })

  test('one approval in a run of a plan covers later decisions of that run only', async () => {
    const product = await start(four)
    const { before, clock, guard, set } = product
    await set('approve')
    // Approves while the run still decides.
    const approved: string[] = []
    before.push(async () => {
      const [waiting] = (await product.other.open('awaiting-approval', 10)).rows
      if (!waiting) return false
      approved.push(waiting.id)
      return (await product.elsewhere.decide('approve', waiting.id, { caller: 'eve' })).kind === 'done'
    })
    expect((await product.fire()).rows.map(({ update }) => update?.approval?.by)).toEqual([
      'eve',
      'eve',
      undefined,
      'eve',
    ])
    expect(approved).toHaveLength(1)
    await beginAll(product)
    expect(await settled(product)).toBe(4)
    clock.set('2026-11-21T09:00:10Z')
    const next = await (await guard.jobs()).fire('night', time + 24 * 3600_000, clock.now() + 60_000)
    if (next.kind === 'problem') throw new Error(next.problem.detail)
    const { rows } = await guard.report(next.occurrence)
    expect(rows.map(({ update }) => of(update))).toEqual([
      'awaiting-approval',
      'awaiting-approval',
      'settled',
      'awaiting-approval',
    ])
  })

  test('a grant, a grown price and a listed project need their own approval in a run of a plan', async () => {
    const product = await start({ projects: ['new', 'shop', 'newest'], whenShort: 'ask' })
    const { budget, guard, set } = product
    await set('approve')
    await budget('acme', { approvalAbove: u(10) })
    const report = await product.fire()
    await guard.decide('approve', idOf(report), { caller: 'eve' })
    expect(await product.other.update(idOf(report, 1))).toMatchObject({ state: 'awaiting-approval' })
    expect(await product.other.update(idOf(report, 2))).toMatchObject({ approval: { by: 'eve' } })
    product.service.estimate = async () => ({ kind: 'units', units: u(50), source: 'units' })
    expect(of(await product.begin(idOf(report, 2)))).toBe('awaiting-approval')
    await guard.decide('approve', idOf(report, 1), { caller: 'mia' })
    expect(await product.other.update(idOf(report, 2))).toMatchObject({
      state: 'awaiting-approval',
      approvedBefore: 40,
    })
  })

  test('one approval in a run of a plan grants only what its approver was shown', async () => {
    const product = await start({ projects: ['new', 'newest'], budget: 'clients', whenShort: 'ask' })
    await product.set('approve')
    await product.budget('clients', { approvers: ['eve'], limits: [{ window: 'month', units: u(10) }] })
    const report = await product.fire()
    await product.guard.decide('approve', idOf(report), { caller: 'eve' })
    await product.begin(idOf(report))
    expect(await product.other.update(idOf(report, 1))).toMatchObject({ state: 'awaiting-approval' })
  })
})
