import { describe, expect, test } from 'vitest'
import type { GuardParts } from '../../../shared/guard/options.ts'
import { parsePlans } from '../../../shared/guard/plans-file.ts'
import { resultAt } from '../../../shared/guard/update/quote.ts'
import { sameWorkWaiting } from '../../../shared/guard/update/waiting-work.ts'
import { openBrowser } from '../../support/browser/browser.ts'
import { hours } from '../../support/clock.ts'
import { only, startGuard } from '../../support/guard.ts'
import { listenForAgents } from '../../support/mcp.ts'
import { startProduct } from '../../support/product.ts'
import { u } from '../../support/records.ts'
import { textsOf } from '../../support/slack/slack.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const rule = { approvalAbove: u(10), projects: [{ name: 'initech', id: '1003' }, { name: 'shop' }] }
const note = (project: string, ...ids: string[]) =>
  `it needs 40 units, and acme wants approval above 10; ${ids.length === 1 ? `another request for ${project} waits` : `other requests for ${project} wait`} for approval already: ${ids.join(' and ')}`

const start = async (parts: Partial<GuardParts> = {}) => {
  const started = await startGuard({ parts })
  await started.budget('acme', rule)
  return started
}

const waits = (project: string, id: string, who = 'an approver') =>
  `The ranking update of ${project} waits for approval already as ${id}; ${who} may decide until 21 Nov 2026 10:00 UTC.`

describe('a request for work that already waits for approval', () => {
  test.each([
    ['initech', '1003'],
    ['1003', 'initech'],
    ['initech', 'initech'],
    ['initech', 'Initech'],
  ])('one work of one payer waits once: %s, then %s', async (one, other) => {
    const { ask, guard, clock } = await start()
    const first = only(await ask({ projects: [one] }))
    const estimate = await guard.estimate({ kind: 'ranking', projects: [other] }, { caller: 'eve', via: 'http' })
    const refusal = {
      slug: 'duplicate-work',
      detail: waits(other, first.id),
      members: { update: first.id, until: '2026-11-21T10:00:00.000Z' },
    }
    expect(estimate).toMatchObject({ allowed: false, approval: null, lacks: 0, problem: refusal })
    clock.advance(1000)
    const second = await ask({ projects: [other] }, { caller: 'eve' })
    expect([second.status, only(second).state, only(second).problem]).toEqual([409, 'refused', refusal])
    const queued = only(await ask({ projects: [other] }, { caller: 'zoe' }, { respondAsync: true }))
    const third = await guard.start(queued.id, clock.now() + 60_000)
    expect([third?.state, third?.problem?.members.update]).toEqual(['refused', first.id])
  })

  test('the refusal names the persons who may decide', async () => {
    const { ask, budget, caller } = await start()
    await budget('acme', { ...rule, approvers: ['mia', 'zoe'] })
    await caller('zoe', { person: 'Zoe Young' })
    const first = only(await ask({ projects: ['initech'] }))
    const second = only(await ask({ projects: ['1003'] }, { caller: 'eve' }))
    expect(second.problem?.detail).toBe(waits('1003', first.id, 'mia and Zoe Young'))
  })

  test('a requester who may not see the waiting request is told no id, person or time', async () => {
    const { ask, guard, other } = await start()
    await ask({ projects: ['initech'] })
    const view = await other.view([{ work: { kind: 'ranking', project: '1003' } }])
    const content = { digest: '', count: 1 }
    const named = { id: 'upd_2', kind: 'ranking', project: '1003', budget: 'acme', caller: 'eve', via: 'http' } as const
    const known = { view, asked: resultAt(view, 0), request: { ...named, content, createdAt: view.now } }
    const [same] = await sameWorkWaiting(guard.ledger, [known], { readsBudgets: [], mayRead: () => false })
    expect(same?.problem).toEqual({
      slug: 'duplicate-work',
      detail: 'The ranking update of 1003 waits for approval already.',
      members: {},
    })
  })

  test('a request that needs no approval now runs, and the waiting one is refused when it is approved', async () => {
    const { ask, guard, clock, budget, sent } = await start()
    const first = only(await ask({ projects: ['initech'] }))
    await budget('acme', { ...rule, approvalAbove: u(100) })
    expect(only(await ask({ projects: ['1003'] }, { caller: 'eve' })).state).toBe('settled')
    expect((await guard.decide('approve', first.id, { caller: 'mia' })).kind).toBe('done')
    await guard.start(first.id, clock.now() + 60_000)
    const ended = await guard.ledger.update(first.id)
    expect([ended?.state, ended?.problem?.slug]).toEqual(['refused', 'already-updated'])
    expect(sent).toHaveLength(1)
  })

  test('requests of two payers may both wait, and each later one names the earlier', async () => {
    const { ask, guard, clock, budget, sent } = await start()
    await budget('globex', { approvalAbove: u(10) })
    const both = [
      only(await ask({ projects: ['free'], budget: 'globex' })),
      only(await ask({ projects: ['free'], budget: 'acme' }, { caller: 'eve' })),
    ]
    expect(both.map(({ state }) => state)).toEqual(['awaiting-approval', 'awaiting-approval'])
    expect(both[1]?.history).toMatchObject([{ note: note('free', both[0]?.id ?? '') }])
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

  test('a request names each of several requests of other payers', async () => {
    const { ask, budget } = await start()
    for (const name of ['globex', 'umbrella']) await budget(name, { approvalAbove: u(10) })
    const others = [
      only(await ask({ projects: ['free'], budget: 'globex' })).id,
      only(await ask({ projects: ['free'], budget: 'umbrella' })).id,
    ]
    const last = only(await ask({ projects: ['free'], budget: 'acme' }))
    expect(last.history).toMatchObject([{ note: note('free', ...others.toSorted()) }])
  })

  test('an approved update that needs another approval waits again, although another request waits already', async () => {
    const { ask, guard, clock, service } = await start()
    const first = only(await ask({ projects: ['initech'] }))
    expect((await guard.decide('approve', first.id, { caller: 'mia' })).kind).toBe('done')
    const second = only(await ask({ projects: ['1003'] }, { caller: 'eve' }))
    expect(second.state).toBe('awaiting-approval')
    service.estimate = async () => ({ kind: 'units', units: u(50), source: 'units' })
    clock.advance(60_000)
    await guard.start(first.id, clock.now() + 60_000)
    expect((await guard.ledger.update(first.id))?.state).toBe('awaiting-approval')
  })

  test.each([
    ['nightly', 'cancelled', 'awaiting-approval'],
    ['weekly', 'awaiting-approval', 'refused'],
  ])(
    'a plan asks again and takes the place of its own waiting request: %s after nightly',
    async (later, one, other) => {
      const plans = ['nightly', 'weekly'].map((name) => ({
        name,
        kind: 'ranking',
        projects: ['initech'],
        schedule: 'rate(1 day)',
        budget: 'acme',
      }))
      const { guard, clock } = await start({ plans: async () => parsePlans(JSON.stringify(plans)) })
      await (await guard.jobs()).fire('nightly', clock.now(), clock.now() + 60_000)
      clock.advance(hours(12))
      await (await guard.jobs()).fire(later, clock.now(), clock.now() + 60_000)
      const { rows } = await guard.ledger.updates({ project: 'initech' }, 10)
      const [earlier, next] = rows.toSorted((a, b) => a.createdAt - b.createdAt)
      expect([earlier?.state, next?.state]).toEqual([one, other])
      if (later !== 'nightly') return
      expect(earlier?.finishedAt).toBe(clock.now())
      expect(earlier?.history.at(-1)).toMatchObject({
        by: 'schedule:nightly',
        note: `the plan asks again with ${next?.id}`,
      })
    },
  )

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
    await budget('initrode', { approvalAbove: u(10) })
    await caller('mia', { readsBudgets: ['globex'] })
    const first = only(await ask({ projects: ['initech'], budget: 'acme' }))
    const seen = only(await ask({ projects: ['initech'], budget: 'initrode' }))
    const narrowed = only(await ask({ projects: ['initech'], budget: 'globex' }, { caller: 'mia' }))
    expect(seen.history.at(-1)?.note).toContain(first.id)
    expect(narrowed.state).toBe('awaiting-approval')
    expect(narrowed.history.at(-1)?.note).not.toContain('another request')
  })
})

describe('a request through each interface', () => {
  test('the answer, the page, Slack, the agent and an estimate refuse a request whose work waits already', async () => {
    const product = await startProduct({ store: createMemoryStore(), slack: true })
    const { call, deliver, slack, update } = product
    const limits = [{ window: 'month', units: 5_000 }]
    await call('PUT', '/budgets/acme', { body: { limits, ...rule } })
    await call('PUT', '/callers/slack:U2BOB', { body: { scopes: ['read', 'run'], budgets: '*' } })
    const [first] = (await update({ kind: 'ranking', project: 'initech' })).body.updates
    const says = waits('1003', first.id)

    product.clock.advance(1000)
    const gateway = await call('GET', '/v3/on-demand/1003/run', { headers: { 'idempotency-key': 'a' } })
    expect([gateway.status, gateway.body.type, gateway.body.detail]).toEqual([
      409,
      expect.stringContaining('duplicate-work'),
      says,
    ])
    const plain = await update({ kind: 'ranking', project: '1003' })
    expect([plain.status, plain.body.detail, plain.body.update]).toEqual([409, says, first.id])
    const estimate = await call('GET', '/estimates?kind=ranking&project=1003')
    expect(estimate.body).toMatchObject({ allowed: false, problem: { detail: says } })
    const explained = await call('GET', '/estimates?kind=ranking&project=1003&explain=true')
    expect(explained.body).toMatchObject({ allowed: false, problem: { detail: says } })

    const browser = openBrowser(product)
    await browser.logIn(product.signed({ sub: 'ben', scope: 'read run', budgets: '*' }))
    const page = await browser.get('/dashboard/ask?kind=ranking&project=1003')
    expect(page.text).toContain(says)

    const agents = await listenForAgents(product)
    const agent = await agents.connect()
    const quoted = await agent.call('estimate_update', { kind: 'ranking', project: '1003' })
    expect(quoted.sentence).toContain(says)
    expect(quoted.data.quote).toBeUndefined()
    expect(quoted.data.next).toContain(`Call get_update with the id ${first.id}.`)

    slack.news()
    await slack.command('run ranking 1003', { user: 'U2BOB' })
    await deliver()
    expect(slack.news().flatMap(textsOf).join('\n')).toContain(says)
    expect(product.seen('run')).toEqual([])
  })
})
