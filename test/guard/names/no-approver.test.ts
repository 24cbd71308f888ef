import { describe, expect, test } from 'vitest'
import { openBrowser } from '../../support/browser/browser.ts'
import { only, startGuard } from '../../support/guard.ts'
import { startProduct } from '../../support/product.ts'
import { u } from '../../support/records.ts'
import { textsOf } from '../../support/slack/slack.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const rule = { approvalAbove: u(10), projects: [{ name: 'initech', id: '1003' }] }
const noApprover = (why: string, budget = 'acme') =>
  `No approver of ${budget} can approve it now: ${why}. An administrator names another approver (PUT /budgets/${budget}).`

async function waiting(approvers: readonly string[]) {
  const started = await startGuard()
  await started.budget('acme', { ...rule, approvers: [...approvers] })
  const first = only(await started.ask({ projects: ['initech'] }, { caller: 'mia' }))
  const again = async () => only(await started.ask({ projects: ['1003'] }, { caller: 'eve' })).problem?.detail
  return { ...started, first, again }
}

describe('approvers who may approve no more', () => {
  test.each<[string, object, string]>([
    ['is disabled', { disabled: true }, 'bob is disabled'],
    ['lost the scope', { scopes: ['read', 'run'] }, 'bob lacks the scope approve'],
    ['has narrowed reads and no scope', { scopes: [], disabled: true }, 'bob is disabled'],
  ])('the refusal does not name an approver who %s', async (_, listing, why) => {
    const { again, caller, first } = await waiting(['bob', 'zoe'])
    expect(await again()).toContain('; bob and zoe may decide until 21 Nov 2026 10:00 UTC.')
    await caller('bob', listing)
    expect(await again()).toContain('; zoe may decide until')
    await caller('zoe', { disabled: true })
    expect(await again()).toBe(
      `The ranking update of 1003 waits for approval already as ${first.id}, until 21 Nov 2026 10:00 UTC. ${noApprover(`${why} and zoe is disabled`)}`,
    )
  })

  test('the requester does not count as an approver, also under another name', async () => {
    const { again, caller } = await waiting(['mia', 'slack:UMIA'])
    await caller('slack:UMIA', { scopes: ['approve'], person: 'mia' })
    expect(await again()).toContain(noApprover('mia is the requester'))
  })

  test('a person counts if one of their callers may approve', async () => {
    const { again, caller } = await waiting(['Bob Young'])
    await caller('bob', { person: 'Bob Young', disabled: true })
    expect(await again()).toContain(noApprover('Bob Young is disabled'))
    await caller('slack:UBOB', { person: 'Bob Young', scopes: ['approve'] })
    expect(await again()).toContain('; Bob Young may decide until')
  })

  test('a person who is listed only for Slack may have a token', async () => {
    const { again, caller } = await waiting(['bob'])
    await caller('slack:UBOB', { person: 'bob', scopes: ['read'] })
    expect(await again()).toContain('; bob may decide until')
  })

  test('a Slack user who is not listed may not approve', async () => {
    const { again } = await waiting(['slack:UBOB'])
    expect(await again()).toContain(noApprover('slack:UBOB lacks the scope approve'))
  })

  test('the approvers of owner and payer must have someone in common', async () => {
    const { again, ask, budget, guard } = await waiting(['bob'])
    await budget('account', { approvers: ['zoe'] })
    const other = only(await ask({ projects: ['1003'], budget: 'account' }, { caller: 'joe', token: admin }))
    expect(other.state).toBe('awaiting-approval')
    expect(await again()).toContain('; bob may decide until')
    expect(await guard.decide('approve', other.id, { caller: 'bob' })).toMatchObject({
      problem: {
        detail: `You are not among the approvers of account. ${noApprover('none of them is an approver of account, too')}`,
      },
    })
  })

  test('without named approvers an unknown token may approve', async () => {
    const { again, caller } = await waiting([])
    await caller('bob', { scopes: ['read'] })
    expect(await again()).toContain('; an approver may decide until')
  })

  test('the record and an estimate say that no one can approve the update', async () => {
    const { ask, budget, caller, guard } = await startGuard()
    await budget('acme', { ...rule, approvers: ['bob'] })
    await caller('bob', { disabled: true })
    const estimate = await guard.estimate({ kind: 'ranking', projects: ['initech'] }, { caller: 'eve', via: 'http' })
    expect(estimate).toMatchObject({
      approval:
        'it needs 40 units, and acme wants approval above 10; no approver of acme can approve it now: bob is disabled',
    })
    const { history } = only(await ask({ projects: ['initech'] }, { caller: 'eve' }))
    expect(history.at(-1)?.note).toBe(
      'it needs 40 units, and acme wants approval above 10; no approver of acme could approve it when it was asked for: bob is disabled',
    )
  })
})

const admin = { scopes: new Set(['run', 'admin'] as const), budgets: '*' } as const

test('the inbox, the page, Slack, the refusals and the 202 answer say that no one can approve the update', async () => {
  const product = await startProduct({ store: createMemoryStore(), slack: true })
  const { call, deliver, slack, update } = product
  const limits = [{ window: 'month', units: 5_000 }]
  await call('PUT', '/budgets/acme', { body: { limits, ...rule, approvers: ['bob'] } })
  await call('PUT', '/callers/bob', { body: { scopes: ['read', 'approve'], budgets: '*' } })
  slack.news()
  const [first] = (await update({ kind: 'ranking', project: 'initech' })).body.updates
  await deliver()
  expect(slack.news().flatMap(textsOf).join('\n')).not.toContain('No approver')
  const sentence = noApprover('bob is disabled')
  const said = { id: first.id, href: `/dashboard/updates/${first.id}` }

  await call('PUT', '/callers/bob', { body: { scopes: ['read'], budgets: '*', disabled: true } })
  product.clock.advance(1000)
  expect((await update({ kind: 'ranking', project: '1003' })).body.detail).toContain(sentence)
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'ann', scope: 'read', budgets: '*' }))
  for (const path of ['/dashboard/inbox', said.href]) expect((await browser.get(path)).text).toContain(sentence)
  const approver = product.signed({ sub: 'ann', scope: 'read approve', budgets: '*' })
  const refused = await call('POST', `/updates/${first.id}/approve`, { token: approver })
  expect([refused.status, refused.body.detail]).toEqual([403, `You are not among the approvers of acme. ${sentence}`])
  await browser.logIn(approver)
  const page = (await browser.get(said.href)).text
  expect(page.split(sentence)).toHaveLength(2)

  const later = await update({ kind: 'keyword-difficulty', project: 'initech' })
  expect([later.status, later.body.updates[0].history.at(-1).note]).toEqual([
    202,
    expect.stringContaining('no approver of acme could approve it when it was asked for: bob is disabled'),
  ])
  await deliver()
  expect(slack.news().flatMap(textsOf).join('\n')).toContain(sentence)
})
