import { describe, expect, test } from 'vitest'
import { openBrowser, ours, withSigns } from '../support/browser/browser.ts'
import { formWith, press } from '../support/browser/page-forms.ts'
import { minutes } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// The calendar of plans with their costs, and what users may do about plans.

const night = {
  name: 'night',
  kind: 'ranking',
  projects: ['one', 'two'],
  budget: 'seo',
  schedule: 'cron(0 23 * * ? *)',
}
const weekly = { name: 'weekly', kind: 'keyword-difficulty', projects: ['dear'], schedule: 'cron(0 5 ? * MON *)' }

/** It is Friday, 20 November, 11:00 in Berlin. */
async function start({
  scope = 'read run admin',
  budgets = '*',
  plans = [night, weekly],
}: {
  scope?: string
  budgets?: '*' | readonly string[]
  plans?: readonly object[]
} = {}) {
  const product = await startProduct({
    store: createMemoryStore(),
    stream: false,
    env: { ACCOUNT_TIME_ZONE: 'Europe/Berlin' },
    units: { dear: 300 },
    plans,
    service: ({ url }) => {
      if (/gone/.test(url)) return { status: 404 }
      if (/busy\/run/.test(url)) return { status: 429, headers: { 'retry-after': '4000' } }
      return /doubt-\d\/run/.test(url) ? { status: 500 } : undefined
    },
  })
  await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 1_000 }] } })
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'pat', scope, budgets, exp: product.clock.now() / 1000 + 8 * 3600 }))
  const send = async (action: string, fields: Record<string, string>) => {
    const { formToken } = await browser.get('/dashboard/plans/night')
    const sent = await browser.post(`/dashboard/plans/night/${action}`, { form: formToken, ...fields })
    return sent.location === null ? sent : browser.get(sent.location)
  }
  const fire = (time: string) => product.triggers.handle({ plan: 'night', time }, product.endsAt())
  return { product, browser, send, fire }
}

/** The cells of the calendar as text. */
const daysIn = (html: string) =>
  [
    ...(/<table class="calendar">.*?<\/table>/s.exec(withSigns(html))?.[0] ?? '').matchAll(
      /<td class="(\w*)">(.*?)<\/td>/gs,
    ),
  ].map(([, as, cell = '']) =>
    `${as} ${cell
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim()}`.trim(),
  )

describe('the calendar', () => {
  test('the calendar shows each day’s plans and costs, the end of the units and the new month', async () => {
    const { product, browser } = await start()
    await (await product.guard.jobs()).readPrices(product.endsAt())
    const days = daysIn((await browser.get('/dashboard/plans')).html)
    expect(days).toHaveLength(35)
    expect(days.slice(0, 4)).toEqual(['passed', 'passed', 'passed', 'passed'])
    expect(days.slice(4, 8)).toEqual([
      'quiet Friday 20 Nov today',
      'Saturday 21 Nov night 00:00 80 units 49,920 left',
      'Sunday 22 Nov night 00:00 80 units 49,840 left',
      'Monday 23 Nov night 00:00 80 units weekly 06:00 300 units 380 units in all 49,460 left',
    ])
    expect(days[15]).toBe('Tuesday 1 Dec ↻ New month at 00:00 night 00:00 80 units 49,920 left')
    // 1,000 units pay for twelve nights, and for one project of the thirteenth.
    expect(days.filter((day) => day.includes('⚠'))).toEqual([
      expect.stringMatching(/^Sunday 13 Dec night 00:00 40 units [\d,]+ left ⚠ seo runs out at 00:00$/),
    ])
    expect(days.at(-1)).toMatch(/^Sunday 20 Dec night 00:00 0 units [\d,]+ left$/)
  })

  test('the calendar says that prices are missing, and leaves out plans that do not run', async () => {
    const often = { name: 'often', kind: 'ranking', projects: ['one'], schedule: 'rate(1 hour)' }
    const off = { ...weekly, name: 'off', enabled: false }
    const { product, browser } = await start({ plans: [night, often, off] })
    await product.call('POST', '/plans/night/pause', { body: { reason: 'holidays' } })
    const { html, text } = await browser.get('/dashboard/plans')
    const days = daysIn(html)
    expect(days[5]).toBe(
      'Saturday 21 Nov often 24 times from 00:00 24 updates without a known price night paused; if resumed: 2 updates without a known price at most 50,000 left',
    )
    expect(days.join()).not.toMatch(/off/)
    expect(text).toContain('A rate that has never been due counts from the creation of its rule')
    expect(text).toContain('night ranking, 2 projects every day at 00:00, Europe/Berlin paused by ada')
    expect(text).toContain(
      'off keyword-difficulty, 1 project every Monday at 06:00, Europe/Berlin not enabled in the plans file',
    )
  })

  test('each page says at most or at least while prices are not known', async () => {
    const { product, browser } = await start()
    await product.update({ kind: 'ranking', project: 'other', budget: 'seo' })
    const overview = (await browser.get('/')).text
    expect(overview).toContain('Left at the reset at most 49,960')
    expect(overview).toContain('at the reset: at most 49,960 with plans only')
    expect(overview).toMatch(/Left at reset .*account on track 50,000 49,960 40 unknown at most 49,960/)
    const seo = await browser.get('/dashboard/budgets/seo')
    expect(seo.text).toContain('Plans to come unknown')
    expect(seo.text).toContain('Left at reset at most 960')
    await (await product.guard.jobs()).readPrices(product.endsAt())
    const after = (await browser.get('/')).text
    expect(after).not.toContain('at most')
    expect(after).not.toContain('unknown')
  })

  test('the calendar says that a budget was used up before its plans came', async () => {
    const { product, browser } = await start()
    await product.update({ kind: 'ranking', project: 'other', budget: 'seo' })
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 30 }] } })
    const days = daysIn((await browser.get('/dashboard/plans')).html)
    expect(days.filter((day) => day.includes('⚠'))[0]).toMatch(
      /^Saturday 21 Nov night 00:00 0 units .* ⚠ seo already has nothing left: its plans need units at 00:00$/,
    )
    const edit = await browser.get('/dashboard/budgets/seo/edit')
    const { text } = await press(browser, edit, 'Preview', { month: '20' })
    expect(text).not.toContain('Plans would exhaust')
  })

  test('the calendar shows a day’s earliest plan first, and counts a rate from its last time', async () => {
    const late = { ...weekly, name: 'late', schedule: 'cron(0 22 * * ? *)' }
    const rate = { ...night, schedule: 'rate(2 days)' }
    const { browser, fire } = await start({ plans: [late, rate] })
    await fire('2026-11-20T10:00:00Z')
    const days = daysIn((await browser.get('/dashboard/plans')).html)
    expect(days.slice(5, 8)).toEqual([
      'Saturday 21 Nov late 23:00 1 update without a known price at most 49,920 left',
      // The last run's cost replaces a missing price.
      'Sunday 22 Nov night 11:00 80 units late 23:00 1 update without a known price at least 80 units in all at most 49,840 left',
      'Monday 23 Nov late 23:00 1 update without a known price at most 49,840 left',
    ])
  })

  test('the calendar without plans says how to make a plan', async () => {
    const { browser } = await start({ plans: [] })
    const { text } = await browser.get('/dashboard/plans')
    expect(text).toContain('There is no plan yet.')
    expect(text).toContain('"schedule": "cron(0 5 ? * MON-FRI *)"')
  })
})

describe('a plan', () => {
  test('a plan’s page shows its requests and the outcomes of its runs', async () => {
    const { product, browser, fire } = await start({ plans: [{ ...night, leave: { account: 2_000, seo: 30 } }] })
    await (await product.guard.jobs()).readPrices(product.endsAt())
    product.clock.set('2026-11-20T14:00:00Z')
    await fire('2026-11-20T14:00:00Z')
    const { text, html } = await browser.get('/dashboard/plans/night')
    expect(text).toContain(
      'Will it pass? ✓ yes 80 units next run: 21 Nov 2026 00:00 Runs every day at 00:00, Europe/Berlin',
    )
    expect(text).toContain('Leaves to others 2,000 units of account and 30 units of seo of each window')
    expect(text).toContain('2 projects, in this order one two')
    expect(text).toContain('Run of 20 Nov 2026 15:00 2 settled; 80 units charged.')
    expect(text).toContain('Recent runs 20 Nov 2026 15:00 2 settled, 80 units')
    expect((await browser.get('/')).text).toContain('next: night in 9 hours, 80 units')
    expect(text).toContain('one ✓ settled 40 two ✓ settled 40')
    expect(text).not.toContain('Run what was')
    expect(html).toContain('href="/dashboard/plans/night?time=2026-11-20T14%3A00%3A00.000Z"')
    expect((await browser.get('/dashboard/plans/night?time=2026-11-20T14%3A00%3A00.000Z')).text).toContain('Run of')
    expect((await browser.get('/dashboard/plans/night?time=x')).status).toBe(400)
    expect((await browser.get('/dashboard/plans/none')).text).toContain('There is no such plan.')
  })

  test('the list of plans says that a plan will not pass, beside its last refusals', async () => {
    const { browser, fire } = await start({ plans: [{ ...night, leave: 1_000 }] })
    await fire('2026-11-20T10:00:00Z')
    const list = await browser.get('/dashboard/plans')
    expect(
      withSigns(list.html)
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' '),
    ).toMatch(/80 units ✕ no: it leaves 1,000 of seo, which has 1,000 a month 20 Nov 2026 11:00 2 refused/)
  })

  test('a plan is paused and resumed with a reason', async () => {
    const { product, send } = await start()
    const paused = await send('pause', { reason: 'holidays' })
    expect(paused.text).toContain('✓ The plan night is paused.')
    expect(paused.text).toContain(
      'night is paused by pat since 20 Nov 2026 11:00: holidays. If resumed, it runs on 21 Nov 2026 00:00.',
    )
    expect((await product.call('GET', '/plans')).body.plans[0].paused).toMatchObject({ by: 'pat', reason: 'holidays' })
    expect((await send('resume', {})).text).toContain('✕ Is needed: say why.')
    expect((await send('resume', { reason: 'back' })).text).toContain('✓ The plan night is resumed.')
    expect((await product.call('GET', '/plans')).body.plans[0].paused).toBe(false)
  })

  test('the sweep runs what was not sent after a user’s confirmation', async () => {
    const { product, browser, fire } = await start()
    await product.call('POST', '/plans/night/pause', { body: { reason: 'holidays' } })
    await fire('2026-11-20T10:00:00Z')
    expect((await browser.get('/dashboard/plans/night')).text).toContain('Resume the plan first.')
    await product.call('POST', '/plans/night/resume', { body: { reason: 'back' } })
    const page = await browser.get('/dashboard/plans/night')
    expect(page.text).toContain(
      '2 projects never started, expired or provably did not run: one, two. Cost at the last prices: 2 updates without a known price.',
    )
    const { fields } = formWith(page.html, 'Run what was not sent')
    expect((await browser.post('/dashboard/plans/night/unsent', fields)).location).toBe('/dashboard/plans/night')
    expect((await browser.get('/dashboard/plans/night')).text).toContain(
      '✕ The request is not valid: confirm: must be ticked',
    )
    expect(product.seen('run')).toHaveLength(0)
    const asked = await press(browser, page, 'Run what was not sent', { confirm: 'yes' })
    expect(asked.text).toContain(
      '✓ The unsent projects of night, 20 Nov 2026 11:00 Europe/Berlin, run with the next sweep, within five minutes.',
    )
    expect(asked.text).toContain(
      'The unsent projects of 20 Nov 2026 11:00 run with the next sweep, within five minutes. pat asked for this at 20 Nov 2026 11:00.',
    )
    expect(asked.text).not.toContain('Run what was not sent')
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    expect(product.seen('run')).toHaveLength(2)
    expect((await press(browser, page, 'Run what was not sent', { confirm: 'yes' })).text).toContain(
      '✓ No project of night, 20 Nov 2026 11:00 Europe/Berlin, was left to run.',
    )
    expect(product.seen('run')).toHaveLength(2)
  })

  test('a plan’s page names the doubts that stop a run, and shows the button after one is resolved', async () => {
    const projects = ['doubt-1', 'doubt-2', 'doubt-3', 'two']
    const { product, browser, fire, send } = await start({ plans: [{ ...night, projects }] })
    await fire('2026-11-20T10:00:00Z')
    expect(product.seen('run')).toHaveLength(3)
    const page = await browser.get('/dashboard/plans/night')
    expect(page.text).toContain(
      '1 project never started, expired or provably did not run: two. Cost at the last prices: 1 update without a known price. 3 updates in a row are in doubt, and they stop this run. Resolve them first: doubt-1, doubt-2, doubt-3.',
    )
    expect(page.html).not.toContain('action="/dashboard/plans/night/unsent"')
    const version = String((await product.guard.planStatuses()).plans[0]?.last?.version)
    const refusal = await send('unsent', { time: '2026-11-20T10:00:00Z', version, confirm: 'yes' })
    expect(refusal.text).toMatch(
      /✕ The run of the plan night of .* is stopped by 3 updates in a row that are in doubt: upd_\w+ \(doubt-1\)/,
    )
    expect(refusal.text).not.toContain('within five minutes')
    const [, id] = /updates\/(upd_\w+)">doubt-2/.exec(page.html) ?? []
    const body = { outcome: 'ran', reason: 'looked it up' }
    expect((await product.call('POST', `/updates/${id}/resolve`, { body })).status).toBe(200)
    const again = await browser.get('/dashboard/plans/night')
    expect(again.text).not.toContain('Resolve them first')
    expect((await press(browser, again, 'Run what was not sent', { confirm: 'yes' })).text).toContain(
      'run with the next sweep, within five minutes.',
    )
    product.clock.advance(minutes(5))
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    expect(product.seen('run')).toHaveLength(4)
  })

  test('a plan’s page and the list of plans say which answer of the service makes a plan wait', async () => {
    const { product, browser, fire } = await start()
    expect((await product.update({ kind: 'ranking', project: 'busy' })).status).toBe(502)
    await fire('2026-11-20T10:00:00Z')
    const why =
      'running: the service answered a run at 20 Nov 2026 11:00 Europe/Berlin with status 429 and asked to wait 4,000 seconds; Unit Guard waits at most 3,600'
    expect((await browser.get('/dashboard/plans/night')).text).toContain(
      `${why}; 0 units charged. It continues at 20 Nov 2026 12:00.`,
    )
    expect((await browser.get('/dashboard/plans')).text).toContain(why)
  })

  test('a plan’s page shows refused projects apart from up-to-date ones, and runs them again', async () => {
    const { product, browser, fire } = await start({ plans: [{ ...night, projects: ['done', 'one', 'two'] }] })
    await product.update({ kind: 'ranking', project: 'done' })
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'audit' } })
    await fire('2026-11-20T10:00:00Z')
    product.clock.advance(minutes(1))
    const page = await browser.get('/dashboard/plans/night')
    const { text } = page
    expect(text).toContain(
      'Project State Charged done up to date – one ✕ refused seo was frozen by ada on 20 Nov 2026 11:00 Europe/Berlin: audit. Ask an administrator to unfreeze it. – two ✕ refused',
    )
    expect(text).not.toContain('Run what was not sent')
    expect(text).toContain(
      '2 projects were refused: one, two. Cost at the last prices: 2 updates without a known price. Run them within five minutes: each is decided again with the present budgets and limits Run what was refused',
    )
    await product.call('POST', '/budgets/seo/unfreeze', { body: { reason: 'audited' } })
    expect((await press(browser, page, 'Run what was refused', { confirm: 'yes' })).text).toContain(
      '✓ The refused projects of night, 20 Nov 2026 11:00 Europe/Berlin, run with the next sweep, within five minutes.',
    )
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    expect(product.seen('run')).toHaveLength(3)
    expect((await press(browser, page, 'Run what was refused', { confirm: 'yes' })).text).toContain(
      '✓ No project of night, 20 Nov 2026 11:00 Europe/Berlin, was left to run.',
    )
    expect(product.seen('run')).toHaveLength(3)
  })

  test('a user who may not pause or run a plan sees no button and is refused', async () => {
    const time = '2026-11-20T10:00:00Z'
    for (const [scope, budgets, action, said] of [
      ['read run', '*', 'pause', 'pat needs the scope admin for this, and has: read run.'],
      ['read run', '*', 'resume', 'pat needs the scope admin for this, and has: read run.'],
      ['read admin', '*', 'unsent', 'pat needs the scope run for this, and has: read admin.'],
      ['read admin', '*', 'refused', 'pat needs the scope run for this, and has: read admin.'],
      ['read run', ['blog'], 'unsent', 'pat may not charge the budget seo, which the plan night charges.'],
      ['read run', ['blog'], 'refused', 'pat may not charge the budget seo, which the plan night charges.'],
    ] as const) {
      const { product, browser, send } = await start({ scope, budgets })
      const { html } = await browser.get('/dashboard/plans/night')
      expect([scope, html.includes('Pause the plan')]).toEqual([scope, scope === 'read admin'])
      const told = await send(
        action,
        action === 'unsent' || action === 'refused' ? { time, version: '1', confirm: 'yes' } : { reason: 'mine' },
      )
      expect(told.text).toContain(`✕ ${said}`)
      expect(product.seen('run')).toHaveLength(0)
      expect((await product.call('GET', '/plans')).body.plans[0]).toMatchObject({ paused: false, last: null })
    }
  })

  test('a form of another session or site changes nothing', async () => {
    const { product, browser } = await start()
    const { formToken } = await browser.get('/dashboard/plans/night')
    for (const [form, headers] of [
      ['made-up', {}],
      [formToken, { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' }],
    ] as const) {
      const sent = await browser.post(
        '/dashboard/plans/night/pause',
        { form, reason: 'mine' },
        { headers, origin: ours },
      )
      expect(sent.status).toBe(403)
    }
    expect((await product.call('GET', '/plans')).body.plans[0].paused).toBe(false)
  })
})
