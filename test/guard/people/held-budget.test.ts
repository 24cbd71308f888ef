import { expect, test } from 'vitest'
import { only, startGuard, unknown } from '../../support/guard.ts'

test('the refusal to delete a budget names up to three updates that hold its units', async () => {
  const { ask, budget, guard, service } = await startGuard()
  await budget('seo', {})
  await budget('blog', { parent: 'seo' })
  service.run = async () => unknown
  const refusal = async () => {
    const result = await guard.deleteBudget('blog', { caller: 'ann' })
    return result.kind === 'problem' ? result.problem.detail : result.kind
  }
  const first = only(await ask({ projects: ['one'], budget: 'blog' }))
  await ask({ projects: ['elsewhere'], budget: 'seo' })
  expect(first.state).toBe('in-doubt')
  expect(await refusal()).toContain(`in doubt: ${first.id} is in doubt. Resolve`)
  const others = await Promise.all(['two', 'three', 'four'].map((each) => ask({ projects: [each], budget: 'blog' })))
  const detail = await refusal()
  expect(detail).toContain(' and 1 more. Resolve the updates in doubt')
  const named = [first, ...others.map(only)].filter(({ id }) => detail.includes(id))
  expect(named).toHaveLength(3)
})

test('the refusal says what to do if the list of updates does not show the update yet', async () => {
  const { ask, budget, guard, service, lag } = await startGuard()
  await budget('seo', {})
  service.run = async () => unknown
  for (const state of ['in-doubt', 'running'] as const) await guard.ledger.oldestOpen(state, 200)
  lag()
  await ask({ budget: 'seo' })
  expect(await guard.deleteBudget('seo', { caller: 'ann' })).toMatchObject({
    problem: {
      detail:
        'seo cannot be deleted while units of it are held or in doubt. Wait until the running updates end and resolve the updates in doubt (in the inbox, or POST /updates/<id>/resolve); then delete it.',
      members: { budget: 'seo' },
    },
  })
})
