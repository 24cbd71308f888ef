import { expect, test } from 'vitest'
import { listenForAgents } from '../../support/mcp.ts'
import { startProduct } from '../../support/product.ts'
import { listPeople } from '../../support/slack/slack.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = (units: number) => [{ window: 'month', units }]
const plans = [{ name: 'night', kind: 'ranking', projects: ['hats'], schedule: 'cron(0 10 * * ? *)' }]

test('an update over an observed limit runs and says so, from the gateway, a plan, Slack and an agent', async () => {
  const product = await startProduct({ store: createMemoryStore(), slack: true, plans })
  const projects = ['shoes', 'hats', 'shirts', 'socks'].map((name) => ({ name }))
  await product.call('PUT', '/budgets/seo', { body: { limits: month(0), enforce: false, projects } })
  await listPeople(product, { U2BOB: { scopes: ['read', 'run'], budgets: ['seo'] } })
  expect((await product.call('GET', '/v3/on-demand/shoes/run')).status).toBe(200)
  await product.triggers.handle({ plan: 'night', time: '2026-11-20T10:00:00Z' }, product.endsAt())
  await product.slack.command('run ranking shirts because a client asked', { user: 'U2BOB' })
  await product.deliver()
  const [confirm] = product.slack.buttons()
  await product.slack.press('confirm', confirm?.value ?? '', { user: 'U2BOB' })
  await product.deliver()
  const agent = await (await listenForAgents(product)).connect({ claims: { budgets: ['seo'] } })
  const estimate = await agent.call('estimate_update', { kind: 'ranking', project: 'socks' })
  expect(estimate.sentence).toContain('enforcing would refuse it: seo is 40 units short this month')
  await agent.request(estimate.data.quote)
  const { updates } = (await product.call('GET', '/updates?budget=seo')).body
  const told = updates.map(({ via, state, wouldHaveRefused }: Record<string, unknown>) => [
    via,
    state,
    wouldHaveRefused,
  ])
  const lacked = [{ budget: 'seo', window: 'month', short: 40 }]
  expect(told.toSorted()).toEqual(['gateway', 'mcp', 'schedule', 'slack'].map((via) => [via, 'settled', lacked]))
})

test('the estimate of an update that would be refused says nothing about observed limits', async () => {
  const product = await startProduct({ store: createMemoryStore() })
  const projects = [{ name: 'shoes' }, { name: 'hats' }]
  await product.call('PUT', '/budgets/seo', { body: { limits: month(0), enforce: false, projects } })
  await product.update({ kind: 'ranking', project: 'shoes' })
  const estimate = async (project: string) =>
    (await product.call('GET', `/estimates?kind=ranking&project=${project}`)).body
  const observed = [{ budget: 'seo', window: 'month', short: 40 }]
  expect(await estimate('hats')).toMatchObject({ allowed: true, wouldHaveRefused: observed })
  const done = await estimate('shoes')
  expect([done.problem.type, done.wouldHaveRefused]).toEqual(['/problems/already-updated', undefined])
})
