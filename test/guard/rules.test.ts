import { describe, expect, test } from 'vitest'
import { allOperations, problemsByStatus } from '../../infra/openapi/document.ts'
import type { approvalRules } from '../../shared/guard/rules/approvals.ts'
import { earlyRules } from '../../shared/guard/rules/early.ts'
import { lateRules } from '../../shared/guard/rules/late.ts'
import { verdictInWords } from '../../shared/reports/plans/verdict-words.ts'
import { reportsOf } from '../../shared/reports/reports.ts'
import { estimateMessage } from '../../shared/slack/messages/estimate.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { hours } from '../support/clock.ts'
import { type Product, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// Each rule of a budget, seen by each reader of rules: a new rule needs a row here, or the types do not agree.

const month = [{ window: 'month', units: 9_000 }]
const night = { name: 'night', kind: 'ranking', projects: ['shop'], schedule: 'cron(0 23 * * ? *)' }
const strays = { ...night, name: 'strays', projects: ['stray'] }
/** From 21 to 30 November. */
const nights = 10

/** The budget seo below clients lists shop, whose update cost 40 units yesterday and costs 60 today. */
async function start() {
  const prices: Record<string, number> = { shop: 40, stray: 60 }
  const product = await startProduct({
    store: createMemoryStore(),
    stream: false,
    plans: [night, strays],
    units: prices,
  })
  const { call, clock, triggers } = product
  await call('PUT', '/budgets/clients', { body: { limits: month } })
  await call('PUT', '/budgets/seo', { body: { parent: 'clients', limits: month, projects: [{ name: 'shop' }] } })
  expect((await product.update({ kind: 'ranking', project: 'shop' })).status).toBe(201)
  prices.shop = 60
  clock.advance(hours(24))
  await triggers.sweep(product.endsAt())
  await (await product.guard.jobs()).readPrices(product.endsAt())
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'ada', scope: 'read run admin', budgets: '*' }))
  const page = async (path: string) => (await browser.get(path)).text
  return { product, page }
}

type Started = Awaited<ReturnType<typeof start>>

interface Change {
  readonly body?: object
  /** An action on the budget, such as freeze. */
  readonly action?: readonly [path: string, body: object]
}

async function apply({ call }: Product, budget: string, { body, action }: Change): Promise<void> {
  const { parent, projects } = (await call('GET', `/budgets/${budget}`)).body
  const place = budget === 'account' ? {} : { parent, projects }
  const changed = body && (await call('PUT', `/budgets/${budget}`, { body: { ...place, limits: month, ...body } }))
  const acted = action && (await call('POST', `/budgets/${budget}/${action[0]}`, { body: action[1] }))
  expect((changed ?? acted)?.status).toBe(200)
}

/** What each reader says before the update is asked for. */
async function readAll({ product, page }: Started, project = 'shop') {
  const { call, guard } = product
  const query = `kind=ranking&project=${project}`
  const explained = await call('GET', `/estimates?${query}&explain=true`)
  const rows: { check: string; verdict: string; figure: string }[] = explained.body.projects[0].checks
  const { verdicts } = await (await reportsOf(guard)).upcoming(5)
  const verdict = verdicts.get(project === 'stray' ? 'strays' : 'night')
  const planned = (await (await reportsOf(guard)).forecast()).find(
    (each) => each.budget === (project === 'stray' ? 'account' : 'seo'),
  )
  const estimate = await guard.estimate(
    { kind: 'ranking', projects: [project] },
    { caller: 'slack:U1ADA', via: 'slack' },
  )
  if ('slug' in estimate) throw new Error(estimate.detail)
  const { body: seo } = await call('GET', '/budgets/seo')
  return {
    explain: rows
      .filter(({ verdict }) => ['refuses', 'asks'].includes(verdict))
      .map(({ verdict, figure }) => `${verdict}: ${figure}`),
    nextStop: [seo.next.kind, seo.next.budget, seo.next.sentence],
    verdict: verdict && verdictInWords(verdict, 'UTC'),
    committed: planned?.committed,
    slack: estimateMessage(estimate).text,
    page: await page(`/dashboard/ask?${query}`),
  }
}

interface Refusal extends Change {
  readonly slug: string
  /** The rest of each sentence, after the name of the budget. */
  readonly says: string
  readonly next: readonly [kind: string, sentence: string]
  readonly brief: string
  readonly past: string
  readonly remedy: string
}

/** Settings by which each rule refuses the ranking update of shop. */
const refusals: Readonly<Record<keyof typeof earlyRules | keyof typeof lateRules, Refusal>> = {
  freeze: {
    action: ['freeze', { reason: 'an audit' }],
    slug: 'budget-frozen',
    says: 'was frozen by ada on 21 Nov 2026 10:00 UTC: an audit. Ask an administrator to unfreeze it.',
    next: ['freeze', 'Stopped now: BUDGET was frozen by ada on 21 Nov 2026 10:00 UTC: an audit.'],
    brief: 'frozen',
    past: 'shop, since BUDGET was frozen',
    remedy: 'Unfreeze BUDGET',
  },
  kinds: {
    body: { kinds: [] },
    slug: 'kind-not-allowed',
    says: 'allows no updates at all, and this is a ranking update.',
    next: ['kinds', 'Stopped now: BUDGET allows no updates at all.'],
    brief: 'allows no ranking updates',
    past: 'shop, since BUDGET does not allow that kind of update',
    remedy: 'Change the rules of BUDGET…',
  },
  perUpdate: {
    body: { perUpdate: 39 },
    slug: 'over-update-limit',
    says: 'allows at most 39 for one update.',
    next: ['per-update', 'Stopped at the last price of 40: BUDGET allows at most 39 units for one update.'],
    brief: 'allows 39 for one update',
    past: 'shop needed 60, BUDGET allows at most 39 for one update',
    remedy: 'Change the rules of BUDGET…',
  },
}

/** Settings by which each rule wants an approval. The caller of `proposed` may only propose. */
const approvals: Readonly<
  Record<Exclude<keyof typeof approvalRules, 'proposed'>, Change & { readonly reason: string }>
> = {
  unowned: {
    body: { unowned: 'approve', approvers: ['cleo'] },
    reason: 'no budget lists stray, and account wants approval for such projects',
  },
  approvalAbove: { body: { approvalAbove: 59 }, reason: 'it needs 60 units, and BUDGET wants approval above 59' },
  approvalIfGrown: {
    body: { approvalIfGrown: 49 },
    reason: 'it needs 60 units, the last run cost 40, and BUDGET wants approval if the price grew by more than 49 %',
  },
}

const cases = Object.entries(refusals).flatMap(([name, row]) =>
  ['seo', 'clients'].map((budget) => [name, budget, row] as const),
)

describe('every reader of the rules of a budget', () => {
  test('no reader refuses an update that passes each rule by one unit or by its kind', async () => {
    const started = await start()
    const body = { kinds: ['ranking'], perUpdate: 60, approvalAbove: 60, approvalIfGrown: 50 }
    await apply(started.product, 'seo', { body })
    const { page, slack, ...others } = await readAll(started)
    expect(others).toEqual({
      explain: [],
      nextStop: [
        'limit',
        'seo',
        "Next stop: seo's month, 8,960 units away (224 updates at the last price). One update may need at most 60 units (seo).",
      ],
      verdict: 'yes',
      committed: nights * 60,
    })
    expect(page).toContain('✓ It can run now.')
    expect(slack).toContain('It would pass now.')
    expect(await started.product.update({ kind: 'ranking', project: 'shop' })).toMatchObject({ status: 201 })
  })

  test.each(cases)('the rule %s of %s is refused alike by every reader', async (_name, budget, row) => {
    const started = await start()
    const { product, page } = started
    const named = (text: string) => text.replaceAll('BUDGET', budget)
    await apply(product, budget, row)
    const said = await readAll(started)
    const answer = await product.update({ kind: 'ranking', project: 'shop' })
    const { detail } = answer.body
    expect([answer.status, answer.body.type, answer.body.budget]).toEqual([402, `/problems/${row.slug}`, budget])
    expect(detail.endsWith(`${budget} ${row.says}`)).toBe(true)
    expect(said).toEqual({
      explain: [`refuses: ${detail}`],
      nextStop: [row.next[0], budget, named(row.next[1])],
      verdict: `no: ${budget} ${row.brief}`,
      committed: 0,
      slack: expect.stringMatching(/would be refused now/),
      page: expect.stringContaining(`It would be refused now. ${detail}`),
    })
    expect(said.slack).toContain(detail)
    expect(said.page).toContain(named(row.remedy))

    const { body: seo } = await product.call('GET', '/budgets/seo')
    expect(seo.next.sentence).toMatch(new RegExp(`Last refused on .*: ${named(row.past)}\\.$`))
    const [listed] = detail.split('. ')
    expect(await page('/dashboard/updates?state=refused')).toContain(listed.replace(/\.$/, ''))
    expect(await page(`/dashboard/updates/${answer.body.updates[0].id}`)).toContain(named(row.remedy))
  })

  test.each([
    ...['seo', 'clients'].flatMap((budget) =>
      (['approvalAbove', 'approvalIfGrown'] as const).map((name) => [name, budget, 'shop'] as const),
    ),
    ['unowned', 'account', 'stray'] as const,
  ])('the rule %s of %s asks for an approval by every reader', async (name, budget, project) => {
    const started = await start()
    const { product } = started
    const reason = approvals[name].reason.replaceAll('BUDGET', budget)
    await apply(product, budget, approvals[name])
    const said = await readAll(started, project)
    expect(said.explain).toEqual([`asks: ${reason}`])
    expect(said.verdict?.startsWith(`asks for approval: ${reason}`)).toBe(true)
    // The account pays for the other plan.
    expect(said.committed).toBe(project === 'stray' ? nights * 60 : 0)
    expect(said.slack).toContain('It would need approval by another person.')
    expect(said.slack).toContain(reason)
    expect(said.page).toContain(`Needs approval: ${reason}.`)
    const { status, body } = await product.update({ kind: 'ranking', project })
    expect([status, body.updates[0].state]).toEqual([202, 'awaiting-approval'])
    expect(body.updates[0].history.at(-1).note).toContain(reason)
  })

  test('the rule of account that refuses unlisted projects is refused alike by every reader', async () => {
    const started = await start()
    const { product } = started
    await apply(product, 'account', { body: { unowned: 'refuse' } })
    const said = await readAll(started, 'stray')
    const { status, body } = await product.update({ kind: 'ranking', project: 'stray' })
    expect([status, body.type]).toEqual([402, '/problems/project-unowned'])
    expect(body.detail).toContain('No budget lists stray, and account refuses such projects (unowned: refuse).')
    expect(said.explain).toEqual([`refuses: ${body.detail}`])
    expect(said.slack).toContain(body.detail)
    expect(said.page).toContain(`It would be refused now. ${body.detail}`)
    expect(said.page).toContain('Change the rules of account…')
    expect([said.verdict, said.committed]).toEqual(['no: account refuses projects that no budget lists', nights * 60])
    // What seo pays is listed.
    expect([(await readAll(started)).verdict, said.nextStop[0]]).toEqual(['yes', 'limit'])
  })

  test.each(['seo', 'clients'])(
    'the units that %s keeps for plans are kept from others by every reader',
    async (budget) => {
      const started = await start()
      const { product, page } = started
      // 8,960 units are left, and the update needs 60.
      await apply(product, budget, { body: { keep: 8_901 } })
      const said = await readAll(started)
      const { status, body } = await product.update({ kind: 'ranking', project: 'shop' })
      const left = `${budget} has 8,960 of 9,000 units left this month, 8,901 of them for plans`
      expect([status, body.type, body.short, body.budgets[0].budget]).toEqual([402, '/problems/over-budget', 1, budget])
      expect(body.detail).toBe(`${left}, and this needs 60; resets 1 Dec 2026 00:00 UTC; ask for 1 more.`)
      expect(said).toEqual({
        explain: [`refuses: ${left}, this needs 60`],
        nextStop: [
          'limit',
          budget,
          `Next stop: ${budget === 'seo' ? "seo's" : "clients'"} month, 59 units away (1 update at the last price); ${budget} keeps 8,901 for plans.`,
        ],
        verdict: 'yes',
        committed: nights * 60,
        slack: expect.stringContaining(body.detail),
        page: expect.stringContaining(`It would be refused now. ${body.detail}`),
      })
      expect(await page('/dashboard/updates?state=refused')).toContain(left)
      expect(await page(`/dashboard/budgets/${budget}`)).toContain('Kept for plans 8,901')
      product.clock.set('2026-11-21T23:00:10Z')
      await (await product.guard.jobs()).fire('night', Date.parse('2026-11-21T23:00:00Z'), product.endsAt())
      const [planned] = (await product.call('GET', '/updates?limit=1')).body.updates
      expect([planned.plan, planned.state]).toEqual(['night', 'settled'])
    },
  )

  test('budgets of different kinds leave none, and the next stop says so', async () => {
    const { product } = await start()
    await apply(product, 'seo', { body: { kinds: ['ranking'] } })
    await apply(product, 'clients', { body: { kinds: ['keyword-difficulty'] } })
    const { body } = await product.call('GET', '/budgets/seo')
    expect(body.next.sentence).toBe('Stopped now: clients allows none of the kinds that the budgets below it allow.')
    expect((await product.call('GET', '/budgets/clients')).body.next.kind).toBe('limit')
  })

  test('a rule that left no figure is told without one', () => {
    expect([lateRules.perUpdate.past(undefined), lateRules.perUpdate.past(9)]).toEqual([
      'allows less for one update',
      'allows at most 9 for one update',
    ])
  })

  test('the OpenAPI document names the refusals of all rules for each request that may be refused', () => {
    const slugs = [
      ...[...Object.values(earlyRules), ...Object.values(lateRules)].map(({ slug }) => slug),
      'project-unowned',
    ]
    const asking = allOperations.filter(
      ({ method, path }) => `${method} ${path}` === 'POST /updates' || /^\/v3\/.*\/run$/.test(path),
    )
    expect(asking).toHaveLength(3)
    for (const operation of asking) {
      expect(problemsByStatus(operation).get(402), operation.path).toEqual(expect.arrayContaining(slugs))
    }
  })
})
