import { describe, expect, test } from 'vitest'
import { aboutNames } from '../../../infra/local/commands/attention.ts'
import { examineStore } from '../../../infra/local/commands/doctor/doctor.ts'
import { whyNotApprove } from '../../../shared/guard/people/decisions.ts'
import { parsePlans } from '../../../shared/guard/plans-file.ts'
import { openBrowser } from '../../support/browser/browser.ts'
import { press } from '../../support/browser/page-forms.ts'
import { only, startGuard, unknown } from '../../support/guard.ts'
import { startProduct } from '../../support/product.ts'
import { u } from '../../support/records.ts'
import { textsOf } from '../../support/slack/slack.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const ada = { caller: 'ada' }
const month = [{ window: 'month', units: u(500) }] as const
const acme = (...projects: { name: string; id?: string }[]) => ({
  name: 'acme',
  parent: 'account',
  limits: month,
  projects,
})
const sentence =
  'cafe may be read as café, a project of acme. Write it as listed; if it is a project of its own, list it in a budget.'

/** A name to list, and the unlisted project of an update. */
const pairs = [
  ['8203', '8203x'],
  ['café', 'cafe'],
  ['sp-z1', 'sp-z1.'],
  ['sp-z1.', 'sp-z1'],
  ['8203x', '8203'],
] as const

describe('listing a name near the project of an update that may still run', () => {
  const states = ['running', 'in-doubt'] as const

  test.each(states.flatMap((state) => pairs.map((pair) => [state, ...pair] as const)))(
    'a project has an update that is %s: no budget may list %s, and the refusal names the update of %s',
    async (state, name, project) => {
      const { guard, ask, service, clock, budget, other } = await startGuard()
      let answer = () => {}
      service.run = () => new Promise((resolve) => (answer = () => resolve(unknown)))
      service.projects = async () => [[{ name: 'other', id: name }]]
      const asked = ask({ projects: [project] })
      await expect.poll(async () => (await guard.ledger.open('running', 9)).rows.length).toBe(1)
      if (state === 'in-doubt') {
        answer()
        expect(only(await asked).state).toBe('in-doubt')
      }
      const [update] = (await guard.ledger.open(state, 9)).rows
      const wrong = {
        slug: 'wrong-state',
        detail: `${name} may be read as ${project}, and the ranking update ${update?.id} of ${project} is ${state === 'running' ? 'running' : 'in doubt'}; list ${name} when it has ended.`,
        members: { update: update?.id },
      }
      for (const listed of [{ name }, { name: 'other', id: name }]) {
        const wanted = acme(listed)
        expect(await guard.putBudget(wanted, ada)).toEqual({ kind: 'problem', problem: wrong })
        expect(await guard.previewBudget(wanted, ada)).toEqual({ kind: 'problem', problem: wrong })
        for (const dryRun of [true, false])
          expect(await guard.applyBudgets([wanted], ada, { dryRun })).toEqual({ kind: 'problem', problem: wrong })
      }
      answer()
      await asked
      clock.advance(600_000)
      const said = { reason: 'not at the service' }
      expect((await guard.decide('did-not-run', update?.id ?? '', { caller: 'ada' }, said)).kind).toBe('done')
      expect(await guard.putBudget(acme({ name }), ada)).toEqual({ kind: 'changed', created: true })
      // The name is listed already, so another change reads no updates.
      expect((await budget('acme', { perUpdate: u(9) })).kind).toBe('changed')
      expect((await other.view()).definitions.budgets.acme?.projects).toEqual([{ name }])
    },
  )

  test('a row that also lists the update’s own name is accepted, because the work stays the same', async () => {
    const { guard, ask, service } = await startGuard()
    service.run = async () => unknown
    service.projects = async () => [[{ name: 'café', id: 'cafe' }]]
    expect(only(await ask({ projects: ['cafe'] })).state).toBe('in-doubt')
    expect(await guard.putBudget(acme({ name: 'café', id: 'cafe' }), ada)).toMatchObject({ kind: 'changed' })
    expect((await ask({ projects: ['café'] })).problem?.slug).toBe('duplicate-work')
  })

  test('a budget may list another name while the update may still run', async () => {
    const { guard, ask, service } = await startGuard()
    service.run = async () => unknown
    expect(only(await ask({ projects: ['cafe'] })).state).toBe('in-doubt')
    expect(await guard.putBudget(acme({ name: 'cafe' }, { name: 'teahouse' }), ada)).toMatchObject({ kind: 'changed' })
  })
})

describe('a recorded request with a name that has become near', () => {
  const asked = { projects: ['cafe'] }

  test.each([
    ['shown on a page or in Slack', { shown: { budget: 'account', owner: null } }],
    ['quoted to an agent', { whyNotAgreed: () => null }],
  ])('a recorded request %s is refused with the sentence, as a changed state', async (_, more) => {
    const { guard, ask, sent } = await startGuard()
    await guard.putBudget(acme({ name: 'café' }), ada)
    expect(await ask({ ...asked, ...more })).toMatchObject({
      updates: [],
      problem: { slug: 'wrong-state', detail: sentence },
    })
    expect(await ask(asked)).toMatchObject({ updates: [], problem: { slug: 'invalid-request', detail: sentence } })
    expect(sent).toEqual([])
  })

  test('a request of a plan is refused with the near name', async () => {
    const night = { name: 'night', kind: 'ranking', projects: ['cafe', 'shop'], schedule: 'cron(0 9 * * ? *)' }
    const { guard, clock } = await startGuard({ parts: { plans: async () => parsePlans(JSON.stringify([night])) } })
    await guard.putBudget(acme({ name: 'café' }), ada)
    clock.set('2026-11-20T09:00:10Z')
    const fired = await (await guard.jobs()).fire('night', Date.parse('2026-11-20T09:00:00Z'), clock.now() + 60_000)
    if (fired.kind === 'problem') throw new Error(fired.problem.detail)
    expect((await guard.report(fired.occurrence)).refusals).toMatchObject([
      { project: 'cafe', problem: { slug: 'wrong-state', detail: sentence } },
    ])
  })

  test('a waiting request with a name that has become near shows that it can only be rejected', async () => {
    const product = await startProduct({ store: createMemoryStore(), slack: true })
    const { call, guard, slack, clock, deliver } = product
    await call('PUT', '/budgets/account', { body: { limits: [{ window: 'month', units: 500 }], approvalAbove: 10 } })
    const [update] = (await product.update({ kind: 'ranking', project: 'cafe' })).body.updates
    expect(update.state).toBe('awaiting-approval')
    await deliver()
    expect(slack.news().flatMap(textsOf).join()).not.toContain('cannot be approved')
    await call('PUT', '/budgets/acme', {
      body: { limits: [{ window: 'month', units: 50 }], projects: [{ name: 'café' }] },
    })
    const token = product.signed({ sub: 'eve', scope: 'read approve' })
    const browser = openBrowser(product)
    await browser.logIn(token)
    const why = `The ranking update of cafe cannot be approved: ${sentence}`
    for (const page of ['/dashboard/inbox', `/dashboard/updates/${update.id}`]) {
      const { text, html } = await browser.get(page)
      expect(text).toContain(why)
      expect(html).not.toContain('value="approve')
      expect(html).toContain('value="reject')
    }
    clock.advance(12.5 * 3600_000)
    const later = product.signed({ sub: 'eve', scope: 'read approve' })
    await (await guard.jobs()).sweep(clock.now() + 60_000)
    await deliver()
    const texts = slack.news().flatMap(textsOf)
    expect(texts.join('\n')).toContain(`⚠️ It cannot be approved: ${sentence}`)
    const seen = await guard.ledger.update(update.id)
    expect(seen && whyNotApprove(seen, await guard.ledger.view(), { caller: 'eve' })?.detail).toBe(why)
    const approved = await call('POST', `/updates/${update.id}/approve`, { token: later })
    expect([approved.status, approved.body.type, approved.body.detail]).toEqual([409, '/problems/wrong-state', why])
    expect((await call('POST', `/updates/${update.id}/reject`, { token: later })).status).toBe(200)
    expect(product.seen('run')).toEqual([])
  })
})

describe('messages about near names', () => {
  const limits = [{ window: 'month', units: 500 }]
  const night = { name: 'night', kind: 'ranking', projects: ['cafe', '042'], schedule: 'cron(0 9 * * ? *)' }
  const both = 'café of acme may be read as cafe of globex: both are listed, so each counts as a project of its own.'

  test('the difference names near listed names, and near projects of plans and of the last 30 days', async () => {
    const product = await startProduct({ store: createMemoryStore(), plans: [night] })
    expect((await product.update({ kind: 'ranking', project: 'Zürich' })).body.updates[0].state).toBe('settled')
    const budgets = [{ name: 'acme', limits, projects: [{ name: 'café' }, { name: 'zurich' }] }]
    const apply = (body: object, query: string) => product.call('PUT', `/budgets?${query}`, { body })
    const refused = `Requests for cafe and Zürich are refused: ${sentence}`
    expect((await apply({ budgets }, 'dry-run=true')).body.notes).toEqual([refused])
    expect((await apply({ budgets }, '')).body.notes).toEqual([refused])
    expect((await apply({ budgets }, '')).body).toMatchObject({ differences: [], notes: [] })
    const globex = { budgets: [{ name: 'globex', limits, projects: [{ name: 'cafe' }] }] }
    expect((await apply(globex, 'dry-run=true')).body.notes).toEqual([both])
    const raised = { budgets: [{ name: 'acme', limits: [{ window: 'month', units: 501 }] }] }
    expect((await apply(raised, 'dry-run=true')).body.notes).toEqual([])
  })

  test('the page of a budget says that an added project has a near name', async () => {
    const product = await startProduct({ store: createMemoryStore(), plans: [night] })
    await product.call('PUT', '/budgets/acme', { body: { limits } })
    const browser = openBrowser(product)
    await browser.logIn(product.signed({ sub: 'ada', scope: 'read admin' }))
    const page = await browser.get('/dashboard/budgets/acme')
    const { text } = await press(browser, page, 'Add project', { name: 'café' })
    expect(text).toContain(`café belongs to acme. Requests for cafe are refused: ${sentence}`)
  })

  test('npm start and doctor say which listed names are near', async () => {
    const store = createMemoryStore()
    const product = await startProduct({ store, plans: [night] })
    const put = (name: string, project: string) =>
      product.call('PUT', `/budgets/${name}`, { body: { limits, projects: [{ name: project }] } })
    await put('acme', 'café')
    const said = async () => (await aboutNames(product.guard, await product.guard.ledger.view())).at(-1)
    expect(await said()).toBe(`Requests for cafe and 042 are refused: ${sentence}`)
    expect((await examineStore({}, store, product.clock)).lines.join()).not.toContain('may be read as')
    await put('globex', 'cafe')
    expect((await examineStore({}, store, product.clock)).lines).toContain(both)
    expect(await said()).toContain('Requests for 042 are refused: 042 may be read as 42.')
  })
})
