import { expect, test } from 'vitest'
import { only, startGuard, unknown } from '../../support/guard.ts'
import { gate } from '../../support/scripted-service.ts'

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

test('the refusal names running updates and updates in doubt, and what to do about each', async () => {
  const { ask, budget, guard, service } = await startGuard()
  await budget('seo', {})
  service.run = async () => unknown
  const doubt = only(await ask({ projects: ['one'], budget: 'seo' }))
  const { open, opened } = gate()
  const sent = gate()
  service.run = async () => {
    sent.open()
    await opened
    return unknown
  }
  const running = ask({ projects: ['two'], budget: 'seo' })
  await sent.opened
  const { problem } = (await guard.deleteBudget('seo', { caller: 'ann' })) as { problem: { detail: string } }
  open()
  const { id } = only(await running)
  expect(problem.detail).toBe(
    `seo cannot be deleted while units of it are held or in doubt: ${doubt.id} is in doubt and ${id} is running. Wait until the running updates end and resolve the updates in doubt (in the inbox, or POST /updates/<id>/resolve); then delete it.`,
  )
})

test('the refusal names no update of an earlier month', async () => {
  const { ask, budget, clock, guard, service } = await startGuard()
  await budget('seo', {})
  service.run = async () => unknown
  const old = only(await ask({ projects: ['one'], budget: 'seo' }))
  clock.set('2026-12-01T10:00:00Z')
  const recent = only(await ask({ projects: ['two'], budget: 'seo' }))
  const { problem } = (await guard.deleteBudget('seo', { caller: 'ann' })) as { problem: { detail: string } }
  expect([problem.detail.includes(old.id), problem.detail.includes(recent.id)]).toEqual([false, true])
})

test('the refusal names each child of the budget', async () => {
  const { budget, guard } = await startGuard()
  await budget('seo', {})
  for (const name of ['blog', 'shop']) await budget(name, { parent: 'seo' })
  expect(await guard.deleteBudget('seo', { caller: 'ann' })).toMatchObject({
    problem: { slug: 'wrong-state', detail: 'seo cannot be deleted: it has the children blog and shop.' },
  })
})
