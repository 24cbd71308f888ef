import { describe, expect, test } from 'vitest'
import { parsePlans } from '../../../shared/guard/plans-file.ts'
import type { Budget, Caller } from '../../../shared/ledger/definitions/definitions.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { only, startGuard } from '../../support/guard.ts'
import { u } from '../../support/records.ts'
import { summaryOf } from '../../support/summary.ts'

type Started = Awaited<ReturnType<typeof startClients>>
type Scope = 'run' | 'propose' | 'admin' | 'approve'

const month = (units: number) => [{ window: 'month', units: u(units) }] as const
const shop = { projects: [{ name: 'shop' }] }

/** `account` is the parent of `clients`, which is the parent of `acme`, which owns `shop`. An update costs 40. */
async function startClients(how: Parameters<typeof startGuard>[0] = {}) {
  const product = await startGuard(how)
  await product.budget('clients', {})
  await product.budget('acme', { parent: 'clients', ...shop })
  const endsAt = () => product.clock.now() + 60_000
  return { ...product, start: (id: string) => product.guard.start(id, endsAt()), endsAt }
}

const bob = (...scopes: Scope[]) => ({ token: { scopes: new Set(scopes), budgets: '*' } }) as const
const admin = bob('run', 'admin')
const queued = { respondAsync: true }
const frozen = { frozen: { reason: 'unpaid', by: 'eve', at: 0 } }

/** The outcome of the only update, or why nothing was recorded. */
const outcomeOf = ({ updates: [update], problem }: Awaited<ReturnType<Started['ask']>>) =>
  update ? [update.state, update.problem?.slug ?? null] : ['not recorded', problem?.slug ?? null]

describe('the right to charge an ancestor of the owner', () => {
  test.each<[string, Scope[], Caller | null, boolean]>([
    ['a token with run does not have it', ['run'], null, false],
    ['a token with admin has it', ['run', 'admin'], null, true],
    ['a caller who is listed with it has it', ['run'], { mayChargeAncestors: true }, true],
    ['a caller who is listed without it does not have it', ['run'], { scopes: ['run'] }, false],
    [
      'an administrator from whom the list takes admin away does not have it',
      ['run', 'admin'],
      { scopes: ['run'] },
      false,
    ],
  ])('the right to charge an ancestor: %s', async (_title, scopes, listed, may) => {
    const { ask, caller, counts, sent } = await startClients()
    if (listed) await caller('bob', listed)
    const expected = may ? ['settled', null] : ['not recorded', 'forbidden']
    for (const [kind, budget] of [
      ['ranking', 'clients'],
      ['keyword-difficulty', 'account'],
    ] as const)
      expect(outcomeOf(await ask({ kind, budget }, bob(...scopes)))).toEqual(expected)
    expect([sent.length, await counts('account')]).toMatchObject([may ? 2 : 0, { spent: may ? 80 : 0 }])
  })

  test('the right to charge an ancestor is not needed if the owner pays or no budget owns the project', async () => {
    const { ask } = await startClients()
    expect(outcomeOf(await ask({ budget: 'acme' }))).toEqual(['settled', null])
    expect(outcomeOf(await ask({ kind: 'keyword-difficulty' }))).toEqual(['settled', null])
    expect(outcomeOf(await ask({ projects: ['other'], budget: 'clients' }))).toEqual(['settled', null])
  })

  test('a refusal to charge an ancestor names the owner, the right and the possible payers', async () => {
    const { ask } = await startClients()
    expect((await ask({ budget: 'account' })).problem).toEqual({
      slug: 'forbidden',
      detail:
        'bob may not charge account for shop, which belongs to acme; that needs the scope admin or mayChargeAncestors. Without a budget, acme pays.',
      members: { budget: 'account' },
    })
  })

  test('the right to charge an ancestor is needed for each project of a request', async () => {
    const { ask, other } = await startClients()
    const { status, problem } = await ask({ projects: ['free', 'shop'], budget: 'account' })
    expect([status, problem?.slug, (await other.updates({}, 10)).rows]).toEqual([403, 'forbidden', []])
  })

  test('the right to charge an ancestor is checked again when a queued update starts', async () => {
    const { ask, caller, start, sent } = await startClients()
    await caller('bob', { mayChargeAncestors: true })
    const { id } = only(await ask({ budget: 'account' }, {}, queued))
    await caller('bob', {})
    expect(await start(id)).toMatchObject({ state: 'refused', problem: { slug: 'forbidden' } })
    expect(sent).toEqual([])
  })

  test('the right to charge an ancestor is checked again between the estimate and the hold', async () => {
    const { ask, caller, before, sent } = await startClients()
    await caller('bob', { mayChargeAncestors: true })
    before.push(async () => caller('bob', {}))
    expect(outcomeOf(await ask({ budget: 'account' }))).toEqual(['refused', 'forbidden'])
    expect(sent).toEqual([])
  })
})

describe('an ancestor that pays', () => {
  const rules: [string, Partial<Budget>, string][] = [
    ['frozen', frozen, 'budget-frozen'],
    ['kinds', { kinds: ['keyword-difficulty'] }, 'kind-not-allowed'],
    ['perUpdate', { perUpdate: u(39) }, 'over-update-limit'],
    ['approvalAbove', { approvalAbove: u(39) }, 'awaiting-approval'],
    ['approvalIfGrown', { approvalIfGrown: 10 }, 'awaiting-approval'],
  ]
  test.each(['acme', 'clients'].flatMap((budget) => rules.map((rule) => [budget, ...rule] as const)))(
    'a charge to an ancestor obeys a rule of %s: %s',
    async (name, _rule, changes, expected) => {
      const { ask, budget, clock, service, sent } = await startClients()
      service.estimate = async () => ({ kind: 'units', units: u(30), source: 'units' })
      await ask()
      clock.advance(24 * 3600_000)
      service.estimate = async () => ({ kind: 'units', units: u(40), source: 'units' })
      await budget(name, changes)
      const [state, slug] = outcomeOf(await ask({ budget: 'account' }, admin))
      expect(slug ?? state).toBe(expected)
      expect(sent).toHaveLength(1)
    },
  )

  test.each(['acme', 'clients'])('an overrun freezes %s', async (name) => {
    const { ask, budget, other, service } = await startClients()
    await budget(name, { freezeOnOverrun: true })
    const answer = { status: 200, contentType: null, body: '', truncated: false }
    service.run = async () => ({ kind: 'ran', stated: { units: u(50), source: 'units', by: 'estimate' }, answer })
    await ask({ budget: 'account' }, admin)
    const { definitions } = await other.view()
    const stopped = Object.values(definitions.budgets).filter((budget) => budget.frozen)
    expect(stopped.map((budget) => budget.name)).toEqual([name])
  })

  test('a charge to an ancestor skips the limits below it and does not move their counters', async () => {
    const { ask, budget, counts } = await startClients()
    await budget('acme', { limits: month(0) })
    await budget('clients', { limits: month(10) })
    const update = only(await ask({ budget: 'account' }, admin))
    expect(update).toMatchObject({ state: 'settled', hold: { budgets: ['account'], owners: ['acme', 'clients'] } })
    expect(update.history[0]?.note).toBe('40 units held on account, for acme')
    expect([await counts('acme'), await counts('clients')]).toEqual([
      { available: 0, held: 0, inDoubt: 0, spent: 0 },
      { available: 10, held: 0, inDoubt: 0, spent: 0 },
    ])
    expect(await counts('account')).toMatchObject({ spent: 40 })
  })
})

describe('a request with a payer that a person has seen', () => {
  test.each<[string, string, string | null, boolean]>([
    ['the payer and the owner', 'acme', 'acme', true],
    ['another payer', 'clients', 'acme', false],
    ['another owner', 'acme', 'clients', false],
    ['no owner', 'acme', null, false],
  ])('a request charges only the payer and owner that a person has seen: %s', async (_title, budget, owner, isSame) => {
    const { ask, sent } = await startClients()
    const answer = await ask({ shown: { budget, owner } })
    expect(outcomeOf(answer)).toEqual(isSame ? ['settled', null] : ['not recorded', 'wrong-state'])
    if (!isSame)
      expect(answer.problem?.detail).toBe('The payer or owner of shop has changed since it was shown. Ask again.')
    expect(sent).toHaveLength(isSame ? 1 : 0)
  })
})

describe('a charge without a named payer', () => {
  const move = async ({ budget }: Started) => {
    await budget('acme', { projects: [] })
    await budget('globex', shop)
  }
  const detail = 'shop belongs to globex now, and this was to be charged to acme. Ask for the update again.'

  test('a queued charge without a named payer is refused after the project moved to another budget', async () => {
    const product = await startClients()
    const { id } = only(await product.ask({}, admin, queued))
    await move(product)
    expect(await product.start(id)).toMatchObject({ state: 'refused', problem: { slug: 'wrong-state', detail } })
    expect(product.sent).toEqual([])
  })

  test('an approval of a charge without a named payer lapses after the project moved to another budget', async () => {
    const product = await startClients()
    await product.budget('acme', { approvalAbove: u(10) })
    const awaiting = only(await product.ask({}, admin))
    const approved = only(await product.ask({ kind: 'keyword-difficulty' }, admin))
    await product.guard.decide('approve', approved.id, { caller: 'eve' })
    await move(product)
    expect(await product.guard.decide('approve', awaiting.id, { caller: 'eve' })).toEqual({
      kind: 'problem',
      problem: {
        slug: 'wrong-state',
        detail: `The ranking update of ${awaiting.project} cannot be approved: ${detail}`,
        members: { update: awaiting.id, state: 'awaiting-approval' },
      },
    })
    expect(await product.start(approved.id)).toMatchObject({
      state: 'refused',
      problem: { slug: 'wrong-state', detail },
    })
    expect(product.sent).toEqual([])
  })

  test('a queued charge to account is refused after the project got an owner, even for an administrator', async () => {
    const { ask, budget, start, sent } = await startClients()
    const { id } = only(await ask({ projects: ['new'] }, admin, queued))
    await budget('acme', { projects: [{ name: 'shop' }, { name: 'new' }] })
    expect(await start(id)).toMatchObject({ state: 'refused', problem: { slug: 'wrong-state' } })
    expect(sent).toEqual([])
  })

  test('a project that moves during its estimate is refused, and one that stays runs', async () => {
    const product = await startClients()
    product.before.push(async () => {
      await product.budget('globex', { projects: [{ name: 'new' }] })
      return true
    })
    expect(outcomeOf(await product.ask({ projects: ['new'] }, admin))).toEqual(['refused', 'wrong-state'])
    expect(outcomeOf(await product.ask({}, admin))).toEqual(['settled', null])
  })

  test('an update that named an ancestor keeps its owner, and is refused under another owner', async () => {
    for (const [parent, changes] of [
      ['account', {}],
      ['account', frozen],
      ['clients', {}],
    ] as const) {
      const { ask, budget, start, sent } = await startClients()
      const { id } = only(await ask({ budget: 'account' }, admin, queued))
      await budget('acme', { projects: [] })
      await budget('globex', { parent, ...shop, ...changes })
      expect(await start(id)).toMatchObject({ state: 'refused', problem: { slug: 'wrong-state' } })
      expect(sent).toEqual([])
    }
  })

  test('an update is refused if its payer is not above the new owner', async () => {
    const product = await startClients()
    const { id } = only(await product.ask({ budget: 'clients' }, admin, queued))
    await move(product)
    expect(await product.start(id)).toMatchObject({ state: 'refused', problem: { slug: 'wrong-state' } })
    expect(product.sent).toEqual([])
  })
})

describe('an approval of a charge to an ancestor', () => {
  test.each<[string, Partial<Budget>, Partial<Budget>, Partial<Budget>, string | null]>([
    ['the owner names the approver', { approvers: ['eve'] }, {}, {}, null],
    ['the owner names other approvers', { approvers: ['mia'] }, {}, {}, 'You are not among the approvers of acme.'],
    [
      'a budget between names other approvers',
      {},
      { approvers: ['mia'] },
      {},
      'You are not among the approvers of clients, which decides for acme.',
    ],
    [
      'the payer names other approvers',
      { approvers: ['eve'] },
      {},
      { approvers: ['mia'] },
      'You are not among the approvers of account. No approver of acme can approve it now: none of them is an approver of account, too. An administrator names another approver (PUT /budgets/acme).',
    ],
    ['both name the approver', { approvers: ['eve'] }, { approvers: ['mia'] }, { approvers: ['eve'] }, null],
  ])('an approval of a charge to an ancestor: %s', async (_title, acme, clients, account, expected) => {
    const { ask, budget, guard } = await startClients()
    await budget('acme', { approvalAbove: u(10), ...acme })
    await budget('clients', clients)
    await budget('account', { parent: null, ...account })
    const { id } = only(await ask({ budget: 'account' }, admin))
    const decided = await guard.decide('approve', id, { caller: 'eve' })
    expect(decided.kind === 'problem' ? decided.problem.detail : null).toBe(expected)
  })

  test('an approval is requested again if the owner names other approvers meanwhile', async () => {
    const { ask, budget, guard, start, sent } = await startClients()
    await budget('acme', { approvalAbove: u(10) })
    const { id } = only(await ask({ budget: 'account' }, admin))
    await guard.decide('approve', id, { caller: 'eve' })
    await budget('acme', { approvalAbove: u(10), approvers: ['mia'] })
    const again = await start(id)
    expect([again?.state, again?.history.at(-1)?.note]).toEqual([
      'awaiting-approval',
      'eve approved it, and may not approve it any more; it needs 40 units, and acme wants approval above 10',
    ])
    expect(await guard.decide('approve', id, { caller: 'eve' })).toMatchObject({ problem: { slug: 'forbidden' } })
    expect(sent).toEqual([])
    expect(await guard.decide('approve', id, { caller: 'mia' })).toMatchObject({ kind: 'done' })
    expect(await start(id)).toMatchObject({ state: 'settled' })
  })

  test('an approval does not count after its approver is disabled or loses the scope', async () => {
    for (const listed of [{ disabled: true }, { scopes: ['read'] }] as const) {
      const { ask, budget, caller, guard, start, sent } = await startClients()
      await budget('acme', { approvalAbove: u(10) })
      const { id } = only(await ask())
      await guard.decide('approve', id, { caller: 'eve' })
      await caller('eve', listed)
      expect(await start(id)).toMatchObject({ state: 'awaiting-approval' })
      expect(sent).toEqual([])
    }
  })

  test('only an approver of both the budget and the owner may grant the budget units', async () => {
    const none =
      'No approver of acme can approve it now: none of them is an approver of clients, too. An administrator names another approver (PUT /budgets/acme).'
    for (const [clients, by, expected] of [
      [
        ['mia'],
        'eve',
        `You are not among the approvers of clients, and the approval would grant clients 10 units. ${none}`,
      ],
      [['mia'], 'mia', `You are not among the approvers of acme. ${none}`],
      [['mia', 'eve'], 'eve', null],
      [[], 'eve', null],
    ] as const) {
      const { ask, budget, counts, guard, start } = await startClients()
      await budget('clients', { limits: month(30), approvers: clients })
      await budget('acme', { approvers: ['eve'] })
      const { id } = only(await ask({ whenShort: 'ask' }))
      const decided = await guard.decide('approve', id, { caller: by })
      expect(decided.kind === 'problem' ? decided.problem.detail : null).toBe(expected)
      if (expected !== null) continue
      expect(await start(id)).toMatchObject({ state: 'settled' })
      expect(await counts('clients')).toMatchObject({ available: 0, spent: 40 })
    }
  })

  test('an approval grants nothing after its approver may not approve for the short budget', async () => {
    const { ask, budget, counts, guard, start } = await startClients()
    await budget('clients', { limits: month(30) })
    const { id } = only(await ask({ whenShort: 'ask' }))
    await guard.decide('approve', id, { caller: 'eve' })
    await budget('clients', { approvers: ['mia'] })
    expect(await start(id)).toMatchObject({ state: 'awaiting-approval' })
    expect(await counts('clients')).toMatchObject({ available: 30, spent: 0 })
  })
})

describe('a plan that names an ancestor of the owner', () => {
  const time = Date.parse('2026-11-20T09:00:00Z')
  const night = { name: 'night', kind: 'ranking', projects: ['shop', 'other'], schedule: 'cron(0 9 * * ? *)' }
  const plansOf = (more: object) =>
    parsePlans(
      JSON.stringify([
        { ...night, name: 'another', budget: 'account', enabled: false },
        { ...night, budget: 'account', ...more },
      ]),
    )
  const fire = async ({ guard, clock, endsAt }: Started) => {
    clock.set('2026-11-20T09:00:10Z')
    const fired = await (await guard.jobs()).fire('night', time, endsAt())
    if (fired.kind === 'problem') throw new Error(fired.problem.detail)
    return guard.report(fired.occurrence)
  }

  test('a plan on an ancestor without mayChargeAncestors is refused the owned project and runs the rest', async () => {
    const product = await startClients({ parts: { plans: async () => plansOf({}) } })
    const { counts, refusals } = await fire(product)
    expect(counts).toMatchObject({ settled: 1, refused: 1 })
    expect(refusals).toMatchObject([
      {
        project: 'shop',
        problem: {
          slug: 'forbidden',
          detail:
            'plan night may not charge account for shop, which belongs to acme; that needs mayChargeAncestors in the plan. Without a budget, acme pays.',
        },
      },
    ])
    expect(product.sent.map(({ target }) => target.segment)).toEqual(['other'])
  })

  test('a plan on an ancestor with mayChargeAncestors runs under the owner’s rules', async () => {
    for (const [changes, expected] of [
      [{}, { settled: 2, refused: 0 }],
      [frozen, { settled: 1, refused: 1 }],
    ] as const) {
      const plans = async () => plansOf({ mayChargeAncestors: true })
      const product = await startClients({ parts: { plans } })
      await product.budget('acme', changes)
      expect((await fire(product)).counts).toMatchObject(expected)
    }
  })

  test('an approved update of the plan is refused after its file removes the right', async () => {
    let more = { mayChargeAncestors: true }
    const product = await startClients({ parts: { plans: async () => plansOf(more) } })
    await product.budget('acme', { approvalAbove: u(10) })
    const { rows } = await fire(product)
    const id = rows[0]?.update?.id ?? ''
    await product.guard.decide('approve', id, { caller: 'eve' })
    more = { mayChargeAncestors: false }
    expect(await product.start(id)).toMatchObject({ state: 'refused', problem: { slug: 'forbidden' } })
  })

  test('a plan is refused a project whose owner is not below its budget', async () => {
    const product = await startClients({
      parts: { plans: async () => plansOf({ budget: 'globex', mayChargeAncestors: true }) },
    })
    await product.budget('globex', {})
    const { counts, refusals } = await fire(product)
    expect([counts, refusals]).toMatchObject([{ settled: 1, refused: 1 }, [{ problem: { slug: 'invalid-request' } }]])
  })

  test('the forecast counts nothing for a project that will be refused', async () => {
    for (const [more, committed] of [
      [{}, 0],
      [{ mayChargeAncestors: true }, 400],
    ] as const) {
      const plans = async () => plansOf({ projects: ['shop'], ...more })
      const product = await startClients({ parts: { plans } })
      await (await product.guard.jobs()).readPrices(product.endsAt())
      const rows = await (await reportsOf(product.guard)).forecast()
      const account = rows.find(({ budget, window }) => budget === 'account' && window === 'month')
      expect(account?.committed).toBe(committed)
    }
  })
})

describe('an estimate', () => {
  test.each<[string, Scope[], Caller | null, string | null]>([
    ['with run alone would be refused', ['run'], null, 'forbidden'],
    ['with admin would pass', ['run', 'admin'], null, null],
    ['of a caller who is listed with mayChargeAncestors would pass', ['run'], { mayChargeAncestors: true }, null],
    ['of a reader would be refused', [], null, 'forbidden'],
  ])('an estimate that names an ancestor of the owner, %s', async (_title, scopes, listed, expected) => {
    const { guard, caller } = await startClients()
    if (listed) await caller('bob', listed)
    const wanted = { kind: 'ranking', projects: ['shop'], budget: 'account' } as const
    const estimate = await guard.estimate(wanted, { caller: 'bob', via: 'http', ...bob(...scopes) })
    if ('slug' in estimate) throw new Error(estimate.detail)
    expect([estimate.allowed, estimate.problem?.slug ?? null]).toEqual([expected === null, expected])
    expect(estimate.payers).toEqual({ shop: { budget: 'account', owner: 'acme' } })
  })

  test('an estimate names the owner’s rule that would refuse the update', async () => {
    const { guard, budget } = await startClients()
    await budget('acme', frozen)
    const wanted = { kind: 'ranking', projects: ['shop'], budget: 'account' } as const
    expect(await guard.estimate(wanted, { caller: 'bob', via: 'http', ...admin })).toMatchObject({
      allowed: false,
      problem: { slug: 'budget-frozen' },
    })
  })
})

describe('the statement of the owner', () => {
  const rowsOf = async ({ guard }: Started) =>
    (await (await reportsOf(guard)).statement(null, 'budget'))?.rows.map(({ key, charged, paidElsewhere }) => [
      key,
      charged,
      paidElsewhere,
    ])

  test('the owner’s statement shows, outside totals, what other budgets paid for the owner, and follows a correction', async () => {
    const product = await startClients()
    const { ask, guard, service, clock } = product
    service.run = async () => ({ kind: 'unknown', reason: 'reset', status: null, answer: null })
    const { id } = only(await ask({ budget: 'account' }, admin))
    expect(await rowsOf(product)).toEqual([['account', 0, 0]])
    clock.advance(3600_000)
    await guard.decide('ran', id, { caller: 'eve' }, { units: u(25), reason: 'seen' })
    expect(await rowsOf(product)).toEqual([
      ['account', 25, 0],
      ['acme', 0, 25],
    ])
    const statement = await (await reportsOf(guard)).statement(null, 'budget')
    expect(statement).toMatchObject({ total: { charged: 25 }, spent: 25, addsUp: true })
    expect(statement?.total).not.toHaveProperty('paidElsewhere')
    const answer = { status: 200, contentType: null, body: '', truncated: false }
    const late = { kind: 'ran', units: u(40), from: 'sender', by: 'service', note: 'late', service: answer } as const
    const update = await product.other.update(id)
    if (!update) throw new Error('the update is gone')
    await product.other.settle(update, late)
    expect(await rowsOf(product)).toEqual([
      ['account', 40, 0],
      ['acme', 0, 40],
    ])
  })

  test('the owner’s statement is the same from the day’s summary', async () => {
    const product = await startClients()
    await product.ask({ budget: 'account' }, admin)
    const before = await rowsOf(product)
    const at = product.clock.now()
    product.clock.advance(24 * 3600_000)
    await (await reportsOf(product.guard)).keepSummaries()
    expect((await summaryOf(product.other, at)).rows).toMatchObject([{ budget: 'account', owner: 'acme', charged: 40 }])
    expect([before, await rowsOf(product)]).toEqual([
      [
        ['account', 40, 0],
        ['acme', 0, 40],
      ],
      before,
    ])
  })

  test('the owner’s statement uses the owner at the hold, although another budget owns the project later', async () => {
    const product = await startClients()
    await product.ask({ budget: 'account' }, admin)
    await product.budget('acme', { projects: [] })
    await product.budget('globex', shop)
    expect(await rowsOf(product)).toEqual([
      ['account', 40, 0],
      ['acme', 0, 40],
    ])
  })
})
