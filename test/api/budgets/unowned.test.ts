import { describe, expect, test } from 'vitest'
import { unownedRules } from '../../../shared/ledger/definitions/definitions.ts'
import { openBrowser } from '../../support/browser/browser.ts'
import { press, send } from '../../support/browser/page-forms.ts'
import { listenForAgents } from '../../support/mcp.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const limits = [{ window: 'month', units: 10_000 }]
const night = { name: 'night', kind: 'ranking', projects: ['new'], schedule: 'cron(0 5 * * ? *)' }
const detail =
  'No budget lists new, and account refuses such projects (unowned: refuse). Check the name, or ask an administrator to list it in a budget.'

type Started = Awaited<ReturnType<typeof start>>

/** `client` owns `shop`; no budget lists `new`. */
async function start() {
  const product = await startProduct({ store: createMemoryStore(), slack: true, plans: [night] })
  await product.call('PUT', '/budgets/client', { body: { limits, projects: [{ name: 'shop' }] } })
  await product.call('PUT', '/callers/slack:U1ADA', { body: { scopes: ['read', 'run'], budgets: '*' } })
  const token = product.signed({ sub: 'bob', scope: 'read run', budgets: '*' })
  const put = (body: object, path = '/budgets/account') => product.call('PUT', path, { body: { limits, ...body } })
  const set = (unowned: string) => put({ unowned, approvers: ['eve'] })
  return { ...product, token, put, set }
}

/** Ways to request through the gateway. `update/unowned.test.ts` of the guard tests the rule itself. */
const doors: [string, Record<string, string>][] = [
  ['the gateway', {}],
  ['the gateway with Unit-Guard-Budget', { 'unit-guard-budget': 'client' }],
]

const found = async ({ call }: Started) =>
  (await call('GET', '/updates')).body.updates.map((update: { state: string; problem?: { type: string } }) =>
    [update.state, update.problem?.type.slice('/problems/'.length)].filter(Boolean).join(' '),
  )

const outcomes = { pay: 'settled', approve: 'awaiting-approval', refuse: 'refused project-unowned' } as const

describe.each(unownedRules)('with the rule %s for projects that no budget lists', (rule) => {
  test.each(doors)('the rule for unowned projects applies to requests through %s', async (_door, headers) => {
    const started = await start()
    await started.set(rule)
    await started.call('GET', '/v3/on-demand/new/run', { token: started.token, headers })
    expect(await found(started)).toEqual([outcomes[rule]])
    expect(started.seen('run')).toHaveLength(rule === 'pay' ? 1 : 0)
  })

  test('the rule for unowned projects applies in Slack, which shows it before Confirm', async () => {
    const started = await start()
    await started.set(rule)
    const { slack, deliver } = started
    await deliver()
    slack.news()
    await slack.command('run ranking new')
    await deliver()
    const [told] = slack.news()
    const [button] = slack.buttons()
    expect(button?.action).toBe(rule === 'refuse' ? undefined : 'confirm')
    const said = JSON.stringify(told?.body)
    expect(said.includes('account wants approval for such projects')).toBe(rule === 'approve')
    expect(said.includes('account refuses such projects')).toBe(rule === 'refuse')
    if (!button) return
    await slack.press('confirm', button.value)
    await deliver()
    expect(await found(started)).toEqual([outcomes[rule]])
  })

  test('the rule for unowned projects applies on the page, which shows it before the button', async () => {
    const started = await start()
    await started.set(rule)
    const browser = openBrowser(started)
    await browser.logIn(started.token)
    const page = await browser.get('/dashboard/ask?kind=ranking&project=new')
    expect(page.text.includes('account wants approval for such projects')).toBe(rule === 'approve')
    expect(page.text.includes(detail)).toBe(rule === 'refuse')
    if (rule === 'refuse') return
    await send(browser, page, rule === 'approve' ? 'Ask for approval' : 'Ask for the update')
    await started.deliver()
    expect(await found(started)).toEqual([outcomes[rule]])
  })

  test('an agent’s quote of an unowned project is valid until the rule becomes stricter', async () => {
    for (const quotedUnder of ['pay', 'approve'] as const) {
      const started = await start()
      const agent = await (await listenForAgents(started)).connect()
      await started.set(quotedUnder)
      const quote = await agent.quote('new')
      await started.set(rule)
      const { isError, sentence, data } = await agent.request(quote)
      const isStricter = unownedRules.indexOf(rule) > unownedRules.indexOf(quotedUnder)
      expect([isError, await found(started)]).toEqual([isStricter, isStricter ? [] : [outcomes[rule]]])
      if (!isStricter) continue
      expect(data.type).toBe('/problems/wrong-state')
      expect(sentence).toContain('The rule for projects that no budget lists became stricter after the quote')
    }
  })

  test('a reader who names an unowned project gets 404 if the rule refuses, as for another client’s project', async () => {
    const started = await start()
    await started.put({}, '/budgets/other')
    await started.call('PUT', '/callers/bob', { body: { readsBudgets: ['client'] } })
    await started.set(rule)
    const { status, body } = await started.update({ kind: 'ranking', project: 'new', budget: 'client' }, started)
    const estimate = await started.call('GET', '/estimates?kind=ranking&project=new&budget=client', started)
    expect([status, estimate.status]).toEqual({ pay: [201, 200], approve: [202, 200], refuse: [404, 404] }[rule])
    if (rule !== 'refuse') return
    for (const problem of [body, estimate.body])
      expect(problem.detail).toBe('There is no project new in the budgets that you read.')
  })

  test('a reader of one budget does not learn that an update was refused later', async () => {
    const started = await start()
    await started.call('PUT', '/callers/bob', { body: { readsBudgets: ['client'] } })
    const asked = { kind: 'ranking', project: 'new', budget: 'client' }
    const { body } = await started.update(asked, { ...started, headers: { prefer: 'respond-async' } })
    await started.set(rule)
    await started.deliver()
    const shown = await started.call('GET', `/updates/${body.updates[0].id}`, started)
    if (rule !== 'pay') expect(shown.text).not.toContain('account')
    expect(shown.body.problem?.detail).toBe(
      rule === 'refuse' ? 'There is no project new in the budgets that you read.' : undefined,
    )
  })
})

describe('the rule for projects that no budget lists', () => {
  const ofAccount = async ({ call }: Started) => (await call('GET', '/budgets/account')).body.unowned

  test('the rule for unowned projects is pay by default, and only account has it', async () => {
    const started = await start()
    expect(await ofAccount(started)).toBe('pay')
    expect((await started.call('GET', '/budgets/client')).body).not.toHaveProperty('unowned')
  })

  test('a PUT or a file without the rule for unowned projects keeps it, and so does every prune', async () => {
    const started = await start()
    await started.set('refuse')
    await started.put({})
    await started.put({ budgets: [{ name: 'account', limits }], limits: undefined }, '/budgets?prune=all')
    expect(await ofAccount(started)).toBe('refuse')
    await started.put({ budgets: [{ name: 'account', unowned: 'pay' }], limits: undefined }, '/budgets')
    expect(await ofAccount(started)).toBe('pay')
  })

  test('a page that changes another rule of account keeps the rule for unowned projects', async () => {
    const started = await start()
    await started.set('approve')
    const browser = openBrowser(started)
    await browser.logIn(started.signed({ sub: 'ada', scope: 'read admin' }))
    const form = await browser.get('/dashboard/budgets/account/edit')
    expect(form.text).toContain('Projects that no budget lists')
    await press(browser, await press(browser, form, 'Preview', { perUpdate: '900' }), 'Save')
    expect((await started.call('GET', '/budgets/account')).body).toMatchObject({ perUpdate: 900, unowned: 'approve' })
  })

  test.each<[string, string, object]>([
    ['a PUT of account without approvers', '/budgets/account', {}],
    ['a prune', '/budgets?prune=approvers', { budgets: [{ name: 'account' }], limits: undefined }],
  ])('a change to the rule approve is 400 without approvers: %s', async (_what, path, body) => {
    const started = await start()
    await started.set('approve')
    const { status, body: answer } = await started.put(body, path)
    expect([status, answer.errors[0].path]).toEqual([400, 'approvers'])
    expect(answer.detail).toContain('account needs approvers while it wants approval for projects that no budget lists')
  })
})
