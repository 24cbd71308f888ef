import { describe, expect, test } from 'vitest'
import { openBrowser } from '../../support/browser/browser.ts'
import { press } from '../../support/browser/page-forms.ts'
import { hours } from '../../support/clock.ts'
import { json, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = (units: number) => [{ window: 'month', units }]
const seo = { parent: 'acme', limits: month(50), enforce: false, projects: [{ name: 'initech' }] }

/** `seo` observes a limit of 50 (of 1,000 units): two of three updates of 40 units exceed it. */
async function startOver(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ store: createMemoryStore(), slack: true, ...options })
  await product.call('PUT', '/budgets/acme', { body: { limits: month(1_000) } })
  await product.call('PUT', '/budgets/seo', { body: seo })
  for (const project of ['initech', 'shoes', 'hats'])
    await product.update({ kind: 'ranking', project, budget: 'seo' }, { token: product.signed(caller) })
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'eve', scope: 'read admin', budgets: '*' }))
  return { ...product, browser, sweep: () => product.triggers.sweep(product.endsAt()) }
}

const caller = { sub: 'bob', scope: 'read run', budgets: ['acme'] }

type Rows = { rows: Record<string, string | number>[]; total: Record<string, number> }
const over = ({ rows, total }: Rows, by: string) => [
  ...rows.map((row) => [row[by], row.wouldHaveRefused, row.wouldHaveRefusedUnits]),
  ['total', total.wouldHaveRefused, total.wouldHaveRefusedUnits],
]

describe('an observed limit', () => {
  test('statements show the observed refusals, from records and from summaries alike', async () => {
    const { call, ...product } = await startOver()
    const budget = [
      ['seo', 2, 80],
      ['total', 2, 80],
    ]
    const project = [
      ['hats', 1, 40],
      ['initech', 0, 0],
      ['shoes', 1, 40],
      ['total', 2, 80],
    ]
    const statement = async (by: string) => over((await call('GET', `/statements?by=${by}`)).body, by)
    expect([await statement('budget'), await statement('project')]).toEqual([budget, project])
    product.clock.advance(hours(26))
    await product.sweep()
    expect([await statement('budget'), await statement('project')]).toEqual([budget, project])
    const csv = await call('GET', '/statements', { headers: { ...json, accept: 'text/csv' } })
    expect(csv.text.split('\r\n').map((line) => line.split(',').slice(-2))).toEqual([
      ['wouldHaveRefused', 'wouldHaveRefusedUnits'],
      ['2', '80'],
      [''],
    ])
    const updates = await call('GET', '/updates', { headers: { ...json, accept: 'text/csv' } })
    const lacked = updates.text.split('\r\n').map((line) => line.split(',').at(-3) ?? '')
    expect(lacked.toSorted()).toEqual(['', '', 'seo month 30', 'seo month 40', 'wouldHaveRefused'])
  })

  test('the digest, one announcement of the threshold and Slack mention an observed limit', async () => {
    const product = await startOver()
    await product.deliver()
    await product.sweep()
    await product.deliver()
    const told = product.slack.posted().map(({ body }) => JSON.stringify(body))
    const thresholds = told.filter((body) => body.includes('"A budget is used up"'))
    expect(thresholds).toHaveLength(1)
    expect(thresholds[0]).toContain('It is only observed, so its limit refuses nothing.')
    await product.triggers.handle({ task: 'digest' }, product.endsAt())
    await product.deliver()
    expect(JSON.stringify(product.slack.posted().at(-1)?.body)).toContain(
      'Enforcing would have refused 2 updates of 80 units.',
    )
  })

  test('the pages of budget, list, update and statement show an observed limit', async () => {
    const { browser, call } = await startOver()
    const budget = await browser.get('/dashboard/budgets/seo')
    expect(budget.text).toContain(
      'Its limits are only observed and refuse nothing. Enforcing would have refused 2 updates of 80 units this month.',
    )
    expect(budget.text).toContain(
      'Nothing of 50 units is left this month. It is only observed and refuses nothing: 70 more are used.',
    )
    expect(budget.text).toContain('Over its limits only observe')
    expect((await browser.get('/dashboard/budgets')).text).toContain('nothing left observed')
    const { updates } = (await call('GET', '/updates?project=hats')).body
    expect((await browser.get(`/dashboard/updates/${updates[0].id}`)).text).toContain(
      'Enforcing would have refused it: seo was 40 units short this month.',
    )
    const statement = await browser.get('/dashboard/statements?by=budget')
    expect(statement.text).toContain('Over limits Their units')
    expect((await browser.get('/dashboard/statements?by=project')).text).toContain(
      '“Over limits” counts updates that observed limits would have refused.',
    )
  })

  test('the page that enforces an observed limit shows in advance that the budget will admit no update', async () => {
    const { browser, call } = await startOver()
    const form = await browser.get('/dashboard/budgets/seo/edit')
    const preview = await press(browser, form, 'Preview', { enforce: 'yes' })
    expect(preview.text).toContain('Over its limits only observe → then refuse updates')
    expect(preview.text).toContain(
      'seo would have −70 units left this month. No update is admitted on it or on any budget below it until 71 units are added.',
    )
    await press(browser, preview, 'Save')
    expect((await call('GET', '/budgets/seo')).body.enforce).toBeUndefined()
    const account = await browser.get('/dashboard/budgets/account/edit')
    const refused = await press(browser, account, 'Preview', { enforce: 'no' })
    expect(refused.text).toContain('account always enforces its limits')
  })

  test('only budgets that a narrowed reader reads appear in an observed limit', async () => {
    const { call, signed, ...product } = await startOver()
    await call('PUT', '/budgets/acme', { body: { limits: month(100), enforce: false } })
    await call('PUT', '/callers/mia', { body: { readsBudgets: ['seo'] } })
    const token = signed({ sub: 'mia', scope: 'read run', budgets: ['seo'] })
    const { body } = await product.update(
      { kind: 'ranking', project: 'initech', budget: 'seo', force: false },
      { token },
    )
    expect(body.updates[0].problem ?? null).toBeNull()
    const asked = await call('GET', '/estimates?kind=keyword-difficulty&project=initech&budget=seo', { token })
    expect(asked.body.wouldHaveRefused).toEqual([{ budget: 'seo', window: 'month', short: 40 }])
    const ran = await product.update({ kind: 'keyword-difficulty', project: 'initech', budget: 'seo' }, { token })
    expect(ran.body.updates[0].wouldHaveRefused).toEqual([{ budget: 'seo', window: 'month', short: 40 }])
    expect(JSON.stringify(ran.body)).not.toContain('acme')
    const whole = (await call('GET', `/updates/${ran.body.updates[0].id}`)).body
    expect(whole.wouldHaveRefused).toEqual([
      { budget: 'seo', window: 'month', short: 40 },
      { budget: 'acme', window: 'month', short: 40 },
    ])
    const own = (await call('GET', '/statements', { token })).body
    expect(over(own, 'budget')).toEqual([
      ['seo', 3, 120],
      ['total', 3, 120],
    ])
    const all = (await call('GET', '/statements')).body
    expect(over(all, 'budget')).toEqual([
      ['acme', 1, 40],
      ['seo', 3, 120],
      ['total', 3, 120],
    ])
  })
})
