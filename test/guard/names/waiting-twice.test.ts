import { describe, expect, test } from 'vitest'
import { openBrowser } from '../../support/browser/browser.ts'
import { send } from '../../support/browser/page-forms.ts'
import { only, startGuard } from '../../support/guard.ts'
import { listenForAgents } from '../../support/mcp.ts'
import { startProduct } from '../../support/product.ts'
import { u } from '../../support/records.ts'
import { textsOf } from '../../support/slack/slack.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const rule = { approvalAbove: u(10), projects: [{ name: 'initech', id: '1003' }, { name: 'shop' }] }
const note = (project: string, ...ids: string[]) =>
  `it needs 40 units, and acme wants approval above 10; ${ids.length === 1 ? `another request for ${project} waits` : `other requests for ${project} wait`} for approval already: ${ids.join(' and ')}`

const start = async () => {
  const started = await startGuard()
  await started.budget('acme', rule)
  return started
}

describe('a request for work that already waits for approval', () => {
  test.each([
    ['initech', '1003'],
    ['1003', 'initech'],
    ['initech', 'initech'],
    ['initech', 'Initech'],
  ])('a request names at once the other requests that wait for the same work: %s, then %s', async (one, other) => {
    const { ask, guard, clock } = await start()
    const first = only(await ask({ projects: [one] }))
    const estimate = await guard.estimate({ kind: 'ranking', projects: [other] }, { caller: 'eve', via: 'http' })
    expect(estimate).toMatchObject({ approval: note(other, first.id) })
    clock.advance(1000)
    const second = only(await ask({ projects: [other] }, { caller: 'eve' }))
    expect(second).toMatchObject({ state: 'awaiting-approval', history: [{ note: note(other, first.id) }] })
    const queued = only(await ask({ projects: [other] }, { caller: 'zoe' }, { respondAsync: true }))
    const third = await guard.start(queued.id, clock.now() + 60_000)
    expect(third?.history.at(-1)?.note).toBe(note(other, first.id, second.id))
  })

  test('of two approved requests for the same work, the first runs and the second is refused as already updated', async () => {
    const { ask, guard, clock, sent } = await start()
    const both = [
      only(await ask({ projects: ['initech'] })),
      only(await ask({ projects: ['1003'] }, { caller: 'eve' })),
    ]
    for (const { id } of both) {
      expect((await guard.decide('approve', id, { caller: 'mia' })).kind).toBe('done')
      await guard.start(id, clock.now() + 60_000)
    }
    const ended = await guard.ledger.updatesNamed(both.map(({ id }) => id))
    expect(ended.map((update) => [update?.state, update?.problem?.slug])).toEqual([
      ['settled', undefined],
      ['refused', 'already-updated'],
    ])
    expect(sent).toHaveLength(1)
  })

  test('a request does not mention other kinds or projects, or decided requests', async () => {
    const { ask, guard } = await start()
    const [ranking, other] = [only(await ask({ projects: ['initech'] })), only(await ask({ projects: ['shop'] }))]
    const difficulty = only(await ask({ kind: 'keyword-difficulty', projects: ['1003'] }))
    for (const { history } of [ranking, other, difficulty])
      expect(history.at(-1)?.note).not.toContain('another request')
    expect((await guard.decide('reject', ranking.id, { caller: 'mia' })).kind).toBe('done')
    expect(only(await ask({ projects: ['1003'] })).history.at(-1)?.note).not.toContain('another request')
  })

  test('an update that needs no approval reads no list of waiting updates', async () => {
    const { ask, guard, budget } = await start()
    await ask({ projects: ['initech'] })
    await budget('acme', { approvalAbove: u(100) })
    const { oldestOpen } = guard.ledger
    let lists = 0
    const counted: typeof oldestOpen = (...how) => {
      lists++
      return oldestOpen(...how)
    }
    Object.assign(guard.ledger, { oldestOpen: counted })
    expect(only(await ask({ projects: ['shop'] })).state).toBe('settled')
    expect(lists).toBe(0)
    await budget('acme', { approvalAbove: u(10) })
    await ask({ projects: ['1003'] })
    expect(lists).toBe(1)
  })

  test('a caller who may not see a waiting request does not learn about it', async () => {
    const { ask, budget, caller } = await start()
    await budget('acme', { projects: [] })
    await budget('globex', { approvalAbove: u(10) })
    await caller('mia', { readsBudgets: ['globex'] })
    const first = only(await ask({ projects: ['initech'], budget: 'acme' }))
    const seen = only(await ask({ projects: ['initech'], budget: 'globex' }))
    const narrowed = only(await ask({ projects: ['initech'], budget: 'globex' }, { caller: 'mia' }))
    expect(seen.history.at(-1)?.note).toContain(first.id)
    expect(narrowed.history.at(-1)?.note).toContain(seen.id)
    expect(narrowed.history.at(-1)?.note).not.toContain(first.id)
  })
})

describe('a request through each interface', () => {
  test('the answer, the page, Slack, the agent and an estimate say that another request waits', async () => {
    const product = await startProduct({ store: createMemoryStore(), slack: true })
    const { call, deliver, slack, update } = product
    const limits = [{ window: 'month', units: 5_000 }]
    await call('PUT', '/budgets/acme', { body: { limits, ...rule } })
    await call('PUT', '/callers/slack:U2BOB', { body: { scopes: ['read', 'run'], budgets: '*' } })
    const [first] = (await update({ kind: 'ranking', project: 'initech' })).body.updates
    const says = 'for approval already: '

    product.clock.advance(1000)
    const gateway = await call('GET', '/v3/on-demand/1003/run', { headers: { 'idempotency-key': 'a' } })
    expect([gateway.status, gateway.body.updates[0].history.at(-1).note]).toEqual([
      202,
      expect.stringContaining(says + first.id),
    ])
    const plain = await update({ kind: 'ranking', project: '1003' })
    expect([plain.status, plain.body.updates[0].history.at(-1).note]).toEqual([202, expect.stringContaining(says)])
    expect((await call('GET', '/estimates?kind=ranking&project=1003')).text).toContain(says + first.id)

    const browser = openBrowser(product)
    await browser.logIn(product.signed({ sub: 'ben', scope: 'read run', budgets: '*' }))
    const page = await browser.get('/dashboard/ask?kind=ranking&project=1003')
    expect(page.text).toContain(says)
    const asked = await send(browser, page, 'Ask for approval', {})
    await deliver()
    expect((await browser.get(asked.location ?? '')).text).toContain(says + first.id)

    const agents = await listenForAgents(product)
    const agent = await agents.connect()
    const quoted = await agent.call('estimate_update', { kind: 'ranking', project: '1003' })
    expect(quoted.sentence).toContain(says)
    expect((await agent.request(quoted.data.quote)).sentence).toContain(says)

    slack.news()
    await slack.command('run ranking 1003', { user: 'U2BOB' })
    await deliver()
    expect(slack.news().flatMap(textsOf).join('\n')).toContain(says)
    const [button] = slack.buttons()
    await slack.press('confirm', button?.value ?? '', { user: 'U2BOB' })
    await deliver()
    expect(slack.news().flatMap(textsOf).join('\n')).toContain(says)
    expect(product.seen('run')).toEqual([])
  })
})
