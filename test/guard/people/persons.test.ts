import { describe, expect, test } from 'vitest'
import { personOf } from '../../../shared/ledger/definitions/definitions.ts'
import type { KeptToken } from '../../../shared/ledger/updates/update.ts'
import { only, startGuard } from '../../support/guard.ts'
import { u } from '../../support/records.ts'

/** `ci-bot` stands for `ada`, who stands for `ada.lovelace`, as does `slack:U1`; `eve` stands for herself. */
async function startPersons() {
  const product = await startGuard()
  await product.caller('ci-bot', { person: 'ada' })
  await product.caller('ada', { person: 'ada.lovelace' })
  await product.caller('slack:U1', { scopes: ['run', 'approve'], person: 'ada.lovelace' })
  await product.budget('account', { parent: null, approvalAbove: u(10) })
  return product
}

describe('four eyes', () => {
  const names = ['ci-bot', 'ada', 'ada.lovelace', 'slack:U1']
  test.each(names.flatMap((asker) => [...names, 'eve'].map((approver) => [asker, approver] as const)))(
    'four eyes: %s asks and %s approves',
    async (asker, approver) => {
      const { ask, guard } = await startPersons()
      const { id } = only(await ask({}, { caller: asker }))
      const decided = await guard.decide('approve', id, { caller: approver })
      expect(decided.kind).toBe(approver === 'eve' ? 'done' : 'problem')
      if (decided.kind === 'problem') expect(decided.problem.slug).toBe('forbidden')
    },
  )

  test('four eyes apply to an administrator who names a payer above the owner', async () => {
    const { ask, budget, guard } = await startPersons()
    await budget('acme', { projects: [{ name: 'shop' }] })
    const token = { scopes: new Set(['run', 'admin'] as const), budgets: '*' } as const
    const { id } = only(await ask({ budget: 'account' }, { caller: 'ada', token }))
    expect(await guard.decide('approve', id, { caller: 'ci-bot' })).toMatchObject({ problem: { slug: 'forbidden' } })
    expect(await guard.decide('reject', id, { caller: 'slack:U1' })).toMatchObject({ problem: { slug: 'forbidden' } })
  })

  test.each<[string, { caller: string; person?: string; by: string; byPerson?: string }, string]>([
    [
      'a person of one issuer under two names',
      { caller: 'okta:1', person: 'a@x.io', by: 'okta:2', byPerson: 'a@x.io' },
      'problem',
    ],
    ['a person of an issuer and in Slack', { caller: 'okta:1', person: 'ada.lovelace', by: 'slack:U1' }, 'problem'],
    ['a person in Slack and of an issuer', { caller: 'slack:U1', by: 'okta:1', byPerson: 'ada.lovelace' }, 'problem'],
    ['a person of an issuer and a token', { caller: 'okta:1', person: 'ada', by: 'ci-bot' }, 'problem'],
    ['an address in other letters', { caller: 'okta:1', person: 'eve@x.io', by: 'joe' }, 'problem'],
    ['the list against the claim', { caller: 'ci-bot', person: 'eve', by: 'eve' }, 'done'],
    ['another person', { caller: 'okta:1', person: 'a@x.io', by: 'okta:2', byPerson: 'b@x.io' }, 'done'],
  ])('four eyes compare claims too: %s', async (_, { caller, person, by, byPerson }, kind) => {
    const { ask, caller: list, guard } = await startPersons()
    await list('joe', { person: 'Eve@X.io' })
    const token = { scopes: new Set(['run'] as const), budgets: '*', ...(person && { person }) } as const
    const asker = caller.startsWith('slack:') ? { caller } : { caller, token }
    const { id } = only(await ask({}, asker))
    const decider = { caller: by, ...(byPerson && { person: byPerson }) }
    expect((await guard.decide('reject', id, decider)).kind).toBe(kind)
    if (kind === 'problem') expect((await guard.decide('approve', id, decider)).kind).toBe(kind)
  })

  test('an approver may be listed by the person of a claim, and still counts when the update starts', async () => {
    const { ask, budget, guard } = await startPersons()
    await budget('account', { approvers: ['eve@x.io'] })
    const { id } = only(await ask({}, { caller: 'ada' }))
    expect((await guard.decide('approve', id, { caller: 'okta:1', person: 'ada@x.io' })).kind).toBe('problem')
    expect((await guard.decide('approve', id, { caller: 'okta:1', person: 'eve@x.io' })).kind).toBe('done')
    expect((await guard.start(id, Number.MAX_SAFE_INTEGER))?.state).toBe('settled')
  })

  test('an approver may be listed by any later name of their chain of persons', async () => {
    for (const [listed, by, kind] of [
      ['ada', 'ci-bot', 'done'],
      ['ada.lovelace', 'ci-bot', 'done'],
      ['ci-bot', 'ci-bot', 'done'],
      ['ci-bot', 'ada', 'problem'],
      ['ada', 'slack:U1', 'problem'],
    ] as const) {
      const { ask, budget, guard } = await startPersons()
      await budget('account', { approvers: [listed] })
      const { id } = only(await ask({}, { caller: 'eve' }))
      expect([listed, by, (await guard.decide('approve', id, { caller: by })).kind]).toEqual([listed, by, kind])
    }
  })
})

describe('the file of issuers', () => {
  const issuer = { name: 'okta', claims: { groups: ['seo'] } }
  const asked = { scopes: new Set(['run'] as const), budgets: '*', issuer } as const

  test.each<[string, KeptToken | null | 'no issuers', string | null]>([
    ['its groups still allow it', { scopes: ['run'], budgets: '*' }, null],
    [
      'its groups allow nothing any more',
      { scopes: [], budgets: '*' },
      'okta:ada needs the scope run or propose for this.',
    ],
    [
      'its groups allow other budgets',
      { scopes: ['run'], budgets: ['beta'] },
      'okta:ada may not charge the budget acme; its token names the budgets that it may.',
    ],
    ['the issuer is gone', null, 'okta:ada asked with a token of the issuer okta, which is not trusted any more.'],
    [
      'no issuer is trusted',
      'no issuers',
      'okta:ada asked with a token of the issuer okta, which is not trusted any more.',
    ],
  ])('a decision about a waiting update uses the present file of issuers: %s', async (_, mapped, detail) => {
    for (const isApproved of [false, true]) {
      const parts = mapped === 'no issuers' ? {} : { mapToken: async () => mapped }
      const { ask, budget, counts, guard } = await startGuard({ parts })
      await budget('beta', {})
      await budget('acme', { projects: [{ name: 'shop' }], ...(isApproved && { approvalAbove: u(10) }) })
      const { id } = only(await ask({}, { caller: 'okta:ada', token: asked }, { respondAsync: !isApproved }))
      if (isApproved) await guard.decide('approve', id, { caller: 'eve' })
      const update = await guard.start(id, Number.MAX_SAFE_INTEGER)
      expect([update?.state, update?.problem?.slug, update?.problem?.detail ?? null]).toEqual(
        detail === null ? ['settled', undefined, null] : ['refused', 'forbidden', detail],
      )
      expect((await counts()).spent).toBe(detail === null ? 40 : 0)
    }
  })
})

describe('persons who stand for each other in a circle', () => {
  const by = { caller: 'root' }

  test('a circle of persons is refused with its names when it is written', async () => {
    const { guard, other } = await startPersons()
    expect(await guard.putCaller('ada.lovelace', { person: 'ci-bot' }, by)).toEqual({
      kind: 'problem',
      problem: {
        slug: 'invalid-request',
        detail:
          'The persons of ada.lovelace lead in a circle: ada.lovelace, ci-bot, ada. Name the person at the end of the chain.',
        members: {
          errors: [
            {
              path: 'person',
              message:
                'The persons of ada.lovelace lead in a circle: ada.lovelace, ci-bot, ada. Name the person at the end of the chain.',
            },
          ],
        },
      },
    })
    expect((await other.view()).definitions.callers).not.toHaveProperty('ada.lovelace')
    expect(await guard.previewCaller('ada.lovelace', { person: 'ci-bot' }, by)).toMatchObject({ kind: 'problem' })
  })

  test('a caller may be their own person, and may be at the end of a long chain', async () => {
    const { guard } = await startPersons()
    expect(await guard.putCaller('ada.lovelace', { person: 'ada.lovelace' }, by)).toMatchObject({ kind: 'changed' })
    expect(await guard.putCaller('cron', { person: 'ci-bot' }, by)).toMatchObject({ kind: 'changed' })
  })

  test('a stored circle of persons is one person, and blocks no other change', async () => {
    const { ask, budget, caller, guard, other } = await startPersons()
    await caller('x', { person: 'y' })
    await caller('y', { person: 'z' })
    await caller('z', { person: 'y' })
    const { definitions } = await other.view()
    expect(['x', 'y', 'z'].map((name) => personOf(definitions, name))).toEqual(['y', 'y', 'y'])
    const { id } = only(await ask({}, { caller: 'x' }))
    expect(await guard.decide('approve', id, { caller: 'z' })).toMatchObject({ problem: { slug: 'forbidden' } })
    await budget('seo', {})
    expect(await guard.freeze('seo', { caller: 'root', reason: 'stop' })).toMatchObject({ kind: 'changed' })
    expect(await guard.putCaller('z', { person: 'zoe' }, by)).toMatchObject({ kind: 'changed' })
  })
})
