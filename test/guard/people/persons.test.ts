import { describe, expect, test } from 'vitest'
import { personOf } from '../../../shared/ledger/book/definitions.ts'
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
    'of what %s asked for, %s',
    async (asker, approver) => {
      const { ask, guard } = await startPersons()
      const { id } = only(await ask({}, { caller: asker }))
      const decided = await guard.approve(id, approver)
      expect(decided.kind).toBe(approver === 'eve' ? 'done' : 'problem')
      if (decided.kind === 'problem') expect(decided.problem.slug).toBe('forbidden')
    },
  )

  test('hold for an administrator who names a payer above the owner', async () => {
    const { ask, budget, guard } = await startPersons()
    await budget('acme', { projects: [{ name: 'shop' }] })
    const token = { scopes: new Set(['run', 'admin'] as const), budgets: '*' } as const
    const { id } = only(await ask({ budget: 'account' }, { caller: 'ada', token }))
    expect(await guard.approve(id, 'ci-bot')).toMatchObject({ problem: { slug: 'forbidden' } })
    expect(await guard.reject(id, 'slack:U1')).toMatchObject({ problem: { slug: 'forbidden' } })
  })

  test('an approver may be listed by any name of the chain', async () => {
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
      expect([listed, by, (await guard.approve(id, by)).kind]).toEqual([listed, by, kind])
    }
  })
})

describe('persons who stand for each other in a circle', () => {
  const by = { caller: 'root' }

  test('refuses a circle of persons when it is written, and names them', async () => {
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

  test('accepts a caller who stands for themselves, and a long chain', async () => {
    const { guard } = await startPersons()
    expect(await guard.putCaller('ada.lovelace', { person: 'ada.lovelace' }, by)).toMatchObject({ kind: 'changed' })
    expect(await guard.putCaller('cron', { person: 'ci-bot' }, by)).toMatchObject({ kind: 'changed' })
  })

  test('treats a stored circle of persons as one person, and allows every other change', async () => {
    const { ask, budget, caller, guard, other } = await startPersons()
    await caller('x', { person: 'y' })
    await caller('y', { person: 'z' })
    await caller('z', { person: 'y' })
    const { definitions } = await other.view()
    expect(['x', 'y', 'z'].map((name) => personOf(definitions, name))).toEqual(['y', 'y', 'y'])
    const { id } = only(await ask({}, { caller: 'x' }))
    expect(await guard.approve(id, 'z')).toMatchObject({ problem: { slug: 'forbidden' } })
    await budget('seo', {})
    expect(await guard.freeze('seo', { caller: 'root', reason: 'stop' })).toMatchObject({ kind: 'changed' })
    expect(await guard.putCaller('z', { person: 'zoe' }, by)).toMatchObject({ kind: 'changed' })
  })
})
