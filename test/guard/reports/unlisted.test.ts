import { describe, expect, test } from 'vitest'
import { aboutNames, attentionOf } from '../../../infra/local/commands/attention.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { unlistedInWords } from '../../../shared/reports/unlisted.ts'
import { openBrowser } from '../../support/browser/browser.ts'
import { days } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const limits = [{ window: 'month', units: 10_000 }]
const plan = (name: string, project: string, enabled = true) => ({
  name,
  kind: 'ranking',
  projects: [project],
  schedule: 'cron(0 5 * * ? *)',
  enabled,
})

async function start(plans: readonly object[] = []) {
  const product = await startProduct({ store: createMemoryStore(), plans })
  const { call, guard } = product
  const put = (name: string, body: object) => call('PUT', `/budgets/${name}`, { body: { limits, ...body } })
  const said = async () => (await aboutNames(guard, await guard.ledger.view()))[0] ?? null
  const keepSummaries = async () => (await reportsOf(guard)).keepSummaries()
  return { ...product, put, said, keepSummaries }
}

const sentence =
  'No budget lists new, and account pays for it without asking. List it in a budget, or set unowned of account to approve or refuse.'

describe('projects that no budget lists', () => {
  test('unlisted projects are named if another budget lists projects, after an update or in an enabled plan', async () => {
    const { put, said, update } = await start()
    await put('acme', { projects: [{ name: 'shop' }] })
    expect(await said()).toBeNull()
    await update({ kind: 'ranking', project: 'new' })
    await update({ kind: 'ranking', project: 'shop' })
    expect(await said()).toBe(sentence)
    const planned = await start([plan('night', 'new'), plan('off', 'other', false)])
    await planned.put('acme', { projects: [{ name: 'shop' }] })
    expect(await planned.said()).toBe(sentence)
  })

  test.each([
    ['a project that ran today', 0, sentence],
    ['a project that ran 29 days ago, which a summary names', 29, sentence],
    ['no project that ran 32 days ago', 32, null],
  ])('unlisted projects are found in the last 30 days: %s', async (_what, daysAgo, expected) => {
    const { clock, put, said, keepSummaries, update } = await start()
    await put('acme', { projects: [{ name: 'shop' }] })
    await update({ kind: 'ranking', project: 'new' })
    for (let day = 0; day < daysAgo; day++) {
      clock.advance(days(1))
      await keepSummaries()
    }
    expect(await said()).toBe(expected)
  })

  test('unlisted projects are found on a day with more rows than are read', async () => {
    const { clock, put, said, keepSummaries, update } = await start()
    const listed = Array.from({ length: 45 }, (_, n) => `${n}-${'a'.repeat(150)}`)
    await put('acme', { projects: listed.map((name) => ({ name })) })
    for (const project of [...listed, 'new']) {
      await update({ kind: 'ranking', project })
      clock.advance(1)
    }
    clock.advance(days(1))
    await keepSummaries()
    expect(await said()).toBe(sentence)
  })

  test.each([
    ['no budget lists any project', {}, {}, {}],
    ['account says approve', { projects: [{ name: 'shop' }] }, { unowned: 'approve', approvers: ['eve'] }, {}],
    ['account says refuse', { projects: [{ name: 'shop' }] }, { unowned: 'refuse' }, {}],
    ['account lists it itself', { projects: [{ name: 'shop' }] }, { projects: [{ name: 'New ' }] }, {}],
    ['the update did not run', { projects: [{ name: 'shop' }] }, {}, { maxUnits: 1 }],
  ])('unlisted projects are not named if %s', async (_what, acme, account, how) => {
    const { put, said, update } = await start()
    await update({ kind: 'ranking', project: 'new', ...how })
    await put('acme', acme)
    await put('account', account)
    expect(await said()).toBeNull()
  })

  test('the overview names unlisted projects once, with the setting for an administrator', async () => {
    const started = await start([plan('night', 'new')])
    await started.put('acme', { projects: [{ name: 'shop' }] })
    for (const [scope, hasButton] of [
      ['read', false],
      ['read admin', true],
    ] as const) {
      const browser = openBrowser(started)
      await browser.logIn(started.signed({ sub: 'eve', scope }))
      const { text, html } = await browser.get('/')
      expect(text.split(sentence)).toHaveLength(2)
      expect(html.includes('/dashboard/budgets/account/edit')).toBe(hasButton)
    }
    expect((await attentionOf(started.guard)).urgent).toEqual([sentence])
  })

  test('unlisted projects are not named to a reader of one budget', async () => {
    const started = await start([plan('night', 'new')])
    await started.put('acme', { projects: [{ name: 'shop' }] })
    await started.call('PUT', '/callers/mia', { body: { readsBudgets: ['acme'] } })
    const browser = openBrowser(started)
    await browser.logIn(started.signed({ sub: 'mia', scope: 'read' }))
    expect((await browser.get('/')).text).not.toContain('No budget lists')
  })

  test('a message names the first five unlisted projects', () => {
    expect(unlistedInWords(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toContain(
      'No budget lists a, b, c, d, e and 2 more, and',
    )
  })
})
