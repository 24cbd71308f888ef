import { describe, expect, test } from 'vitest'
import type { BudgetChange } from '../../../shared/guard/people/apply-budgets.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { type RemovableMember, removableMembers } from '../../../shared/records/budget.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const limit = (window: 'month' | 'day', units: number) => ({ window, units: toUnits(units) })
const acme = {
  limits: [limit('month', 900), limit('day', 90)],
  projects: [{ name: 'a.example', id: '1' }, { name: 'b.example', id: '2' }, { name: 'c.example' }],
  perUpdate: 50,
  approvers: ['bob'],
  kinds: ['ranking'],
}

async function withAcme() {
  const product = await startProduct({ store: createMemoryStore() })
  const { status, text } = await product.call('PUT', '/budgets/acme', { body: { ...acme, parent: 'account' } })
  expect(status, text).toBe(201)
  await product.call('POST', '/budgets/acme/freeze', { body: { reason: 'audit' } })
  const apply = (
    change: Omit<BudgetChange, 'name'>,
    how: { prune?: readonly RemovableMember[]; dryRun?: boolean } = {},
  ) =>
    product.guard.applyBudgets(
      [{ name: 'acme', ...change }],
      { caller: 'ada', release: true },
      { dryRun: false, ...how },
    )
  const read = async () => (await product.call('GET', '/budgets/acme')).body
  return { product, apply, read }
}

describe('budgets from a file', () => {
  test('a file with one project of a budget keeps the budget’s other projects', async () => {
    const { product, apply, read } = await withAcme()
    const outcome = await apply({ projects: [{ name: 'd.example', id: '4' }] })
    expect(outcome).toMatchObject({ kind: 'applied', differences: [{ members: [{ member: 'projects' }] }] })
    expect((await read()).projects).toEqual([...acme.projects, { name: 'd.example', id: '4' }])
    expect(await product.audit()).toBe(true)
  })

  test('a row with an id adds it to the listed project, in any spelling, and a row without an id keeps the id', async () => {
    const { apply, read } = await withAcme()
    await apply({ projects: [{ name: 'C.example ', id: '3' }, { name: 'a.example' }] })
    expect((await read()).projects).toEqual([
      { name: 'a.example', id: '1' },
      { name: 'b.example', id: '2' },
      { name: 'C.example ', id: '3' },
    ])
    await apply({ projects: [{ name: 'b.example', id: '22' }] })
    expect((await read()).projects[1]).toEqual({ name: 'b.example', id: '22' })
  })

  test('a file with the month limit keeps the day limit and all other rules', async () => {
    const { apply, read } = await withAcme()
    await apply({ limits: [limit('month', 1_000)] })
    expect(await read()).toMatchObject({ ...acme, limits: [limit('month', 1_000), limit('day', 90)] })
  })

  test('prune removes the members that the file does not have, and shows the difference', async () => {
    const { product, apply, read } = await withAcme()
    await product.call('PUT', '/budgets/globex', { body: { limits: [limit('month', 5)], projects: [{ name: 'g' }] } })
    const change = { limits: [limit('month', 900)], projects: [{ name: 'a.example' }], perUpdate: toUnits(50) }
    const members = [
      { member: 'limits', from: acme.limits, to: [limit('month', 900)] },
      { member: 'projects', from: acme.projects, to: [{ name: 'a.example', id: '1' }] },
      { member: 'approvers', from: ['bob'], to: null },
      { member: 'kinds', from: ['ranking'], to: null },
    ]
    for (const dryRun of [true, false]) {
      const outcome = await apply(change, { prune: removableMembers, dryRun })
      if (outcome.kind !== 'applied') throw new Error(outcome.problem.detail)
      expect(outcome.differences).toHaveLength(1)
      expect(outcome.differences[0]?.members).toHaveLength(4)
      expect(outcome.differences[0]?.members).toEqual(expect.arrayContaining(members))
    }
    const { parent, frozen, limits, projects, perUpdate, approvers, kinds } = await read()
    expect({ parent, limits, projects, perUpdate, approvers }).toEqual({
      parent: 'account',
      limits: [limit('month', 900)],
      projects: [{ name: 'a.example', id: '1' }],
      perUpdate: 50,
      approvers: [],
    })
    expect([frozen.reason, kinds]).toEqual(['audit', ['ranking', 'keyword-difficulty']])
    // A budget that the file does not name does not change.
    expect((await product.call('GET', '/budgets/globex')).body.projects).toEqual([{ name: 'g' }])
    expect(await product.audit()).toBe(true)
  })

  test('prune of some members keeps the other members', async () => {
    const { apply, read } = await withAcme()
    await apply({ projects: [{ name: 'b.example' }] }, { prune: ['projects', 'perUpdate'] })
    expect(await read()).toMatchObject({
      projects: [{ name: 'b.example', id: '2' }],
      limits: acme.limits,
      approvers: ['bob'],
      kinds: ['ranking'],
    })
    expect(await read()).not.toHaveProperty('perUpdate')
  })

  test('prune keeps the limits of a budget whose row has no limits', async () => {
    const { apply, read } = await withAcme()
    await apply({}, { prune: removableMembers })
    expect(await read()).toMatchObject({ limits: acme.limits, projects: [], approvers: [], parent: 'account' })
  })

  test('several files may add at most 500 projects to a budget', async () => {
    const { apply, read } = await withAcme()
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ name: `p-${from + index}` }))
    expect(await apply({ projects: many(0, 497) })).toMatchObject({ kind: 'applied' })
    expect(await apply({ projects: many(497, 2) })).toMatchObject({
      kind: 'problem',
      problem: { slug: 'invalid-request', detail: 'acme would own 502 projects, and at most 500 are allowed.' },
    })
    expect((await read()).projects).toHaveLength(500)
  })
})
