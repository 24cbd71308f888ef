import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { logins } from '../../shared/auth/logins.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { chromiumPath } from '../support/browser/chromium.ts'
import { type Dashboard, openDashboard, type Visitor } from '../support/browser/dashboard.ts'
import { openByKeys, tabTo } from './keyboard.ts'
import { clipped, everyLook } from './looks.ts'
import { openPages, pages } from './pages.ts'
import { answer, approveThreeOfFive, isAPlanPaused, questions } from './questions.ts'

// The dashboard in a real browser, over the month of npm run demo:month: the look of every page, and the tasks of its users.

const noScript = { javaScriptEnabled: false }
const approver = { sub: 'rita', may: ['read', 'approve'] } as const
/** The width of A4 within the usual margins of browsers, in their pixels. */
const paperWidth = 718
/** A browser with a month of updates is slow on a busy machine. */
const timeout = 110_000

/** The relative times of a page: the size of their text, and what stands there instead. */
const exactOnPaper = `[...document.querySelectorAll(".ago")].map((time) => getComputedStyle(time).fontSize + " " + getComputedStyle(time, "::after").content)`

describe.skipIf(chromiumPath === null)('in Chromium', { timeout }, () => {
  let dashboard: Dashboard
  beforeAll(async () => {
    dashboard = await openDashboard('2026-11-24T14:00:00Z')
  }, timeout)
  afterAll(() => dashboard?.close())

  describe('looks right:', () => {
    let insider: Visitor
    beforeAll(async () => {
      insider = await dashboard.insider()
    })

    test.each(pages)('a page looks right: %s', async (_name, path) => {
      await insider.page.setViewportSize({ width: 1280, height: 800 })
      expect((await insider.page.goto(path(dashboard)))?.status()).toBe(200)
      expect(await insider.page.evaluate(clipped)).toEqual([])
      expect(await everyLook(insider.page)).toEqual([])
      expect(insider.troubles.splice(0)).toEqual([])
    })
  })

  test.each(openPages)('a page without a session looks right: %s', async (path) => {
    const { page, troubles } = await dashboard.visitor()
    const { guard, clock } = dashboard.scenario
    await page.goto(path.endsWith('=') ? `${path}${await guard.ledger.item(logins).issue('rita', clock.now())}` : path)
    expect(await everyLook(page)).toEqual([])
    expect(troubles).toEqual([])
  })

  test('the table has every page that the navigation links to', async () => {
    const { page } = await dashboard.insider()
    const places = await page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link').all()
    const paths = await Promise.all(places.map((place) => place.getAttribute('href')))
    expect(pages.map(([, path]) => path(dashboard))).toEqual(expect.arrayContaining(paths))
  })

  test('a user logs in, sees the month and logs out', async () => {
    const { page, troubles } = await dashboard.visitor(noScript)
    await page.goto('/dashboard/updates?state=in-doubt')
    await page.getByLabel('Your token').fill(await dashboard.tokenOf(approver))
    await page.getByRole('button', { name: 'Log in' }).click()
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/dashboard/updates?state=in-doubt')
    expect(await page.getByRole('rowheader').allTextContents()).toEqual([
      'fernway-garden.exampleranking',
      'initech 1003keyword-difficulty',
    ])

    await page.getByRole('link', { name: 'Overview' }).click()
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('November: on track, two budgets are not')
    expect(await page.getByRole('rowheader').allTextContents()).toEqual([
      'harbour-bikes',
      'globex',
      'trial',
      'account',
      'clients',
      'demo',
      'initech',
      'lakeside-hotels',
      'press',
      'research',
      'shop',
    ])
    const text = await page.getByRole('main').innerText()
    expect(text).toMatch(/3 approvals \(first ends in 15 hours\) · 2 in doubt/)
    expect(text).toMatch(/trial was frozen by mira on 11\sNov\s2026\s16:00 UTC: the trial is over/)

    await page.getByText('rita', { exact: true }).click()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.goto('/')
    expect(new URL(page.url()).pathname).toBe('/login')
    expect(troubles).toEqual([])
  })

  test.each(questions)('the dashboard answers a question within two clicks: %s', async (_name, question) => {
    const { page, troubles } = await dashboard.insider(undefined, noScript)
    await answer(page, dashboard.scenario.guard, question)
    expect(troubles).toEqual([])
  })

  test.each([
    ['/dashboard/inbox', 'Note (optional; needed to say whether it ran)', 'Decide all that are chosen'],
    ['an update', 'Reason (optional)', null],
    ['/dashboard/callers', 'Reason', 'Disable or enable callers'],
  ])('Enter in a reason field decides nothing, because it names no button: %s', async (path, label, fold) => {
    const { page } = await dashboard.insider(undefined, noScript)
    const update = dashboard.updateOf('juniper-travel.example', 'awaiting-approval')
    await page.goto(path === 'an update' ? update : path)
    for (const each of ['juniper-travel.example', 'reporting-agent'])
      for (const box of await page.getByRole('checkbox', { name: each }).all()) await box.check()
    if (fold !== null) await page.getByText(fold, { exact: true }).click()
    await page.getByLabel(label, { exact: true }).fill('not this month')
    await page.keyboard.press('Enter')
    // The browser follows the link only after it has finished everything that Enter started.
    await page.getByRole('link', { name: 'Overview' }).click()
    expect(await page.getByRole('status').count()).toBe(0)
    expect(await dashboard.stateOf(update)).toBe('awaiting-approval')
    expect((await dashboard.scenario.guard.ledger.view()).definitions.callers?.['reporting-agent']?.disabled).toBe(
      undefined,
    )
  })

  test('an approval says before the press that it grants the missing units', async () => {
    const { page, troubles } = await dashboard.insider(approver, noScript)
    await page.goto(dashboard.updateOf('opal-press.example', 'awaiting-approval'))
    // A number and its unit stay on one line.
    expect((await page.getByRole('main').innerText()).replace(/\s+/g, ' ')).toContain(
      'approving it may put press up to 180 units above its limit of the month in which it starts; now it lacks 80.',
    )
    expect(troubles).toEqual([])
  })

  test.each([
    ['/dashboard/budgets', 'Create a budget', 'Limit per month', 'Create budget'],
    ['/dashboard/budgets/account/book', 'Book outside spending', 'Units', 'Preview spending'],
  ])('the page shows the fault of a form, wherever the form is: %s', async (path, region, label, button) => {
    const { page } = await dashboard.insider(undefined, { ...noScript, viewport: { width: 390, height: 800 } })
    await page.goto(path)
    const form = page.getByRole('region', { name: region })
    await form.getByText(region, { exact: true }).click()
    await form.getByLabel(label, { exact: true }).fill('many')
    if (button === 'Create budget') await form.getByLabel('Name').fill('acme')
    else await form.getByLabel('Reason').fill('by hand')
    await form.getByRole('button', { name: button }).click()
    const field = form.getByLabel(label, { exact: true })
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    const box = await page.locator(':focus').and(field).boundingBox()
    expect([box?.y ?? -1, (box?.y ?? -1) + (box?.height ?? 0)].every((y) => y >= 0 && y <= 800)).toBe(true)
    expect(await form.getByLabel(label, { exact: true }).inputValue()).toBe('many')
  })

  test('a reader sees no button, and a user without the scope reads which scope is missing', async () => {
    const reader = await dashboard.insider({ sub: 'rolf', may: ['read'] }, noScript)
    await reader.page.goto(dashboard.updateOf('juniper-travel.example', 'awaiting-approval'))
    expect(await reader.page.getByRole('main').getByRole('button').count()).toBe(0)
    expect(reader.troubles).toEqual([])

    const runner = await dashboard.insider({ sub: 'zoe', may: ['run'] }, noScript)
    const answer = await runner.page.goto('/dashboard/inbox')
    expect(answer?.status()).toBe(403)
    expect(await runner.page.getByRole('main').innerText()).toContain(
      'zoe needs the scope read for this, and has: run.',
    )
  })

  test('a link to a run spends nothing if a logged-in user opens it', async () => {
    const { page } = await dashboard.insider(undefined, noScript)
    const { sandbox, guard } = dashboard.scenario
    const [runs, updates] = [await sandbox.runs(), (await guard.ledger.updates({}, 200)).rows.length]
    for (const path of ['/v3/on-demand/globex/run', '/v3/keyword-difficulty/1002/run', '/updates'])
      expect([path, (await page.goto(path))?.status()]).toEqual([path, 401])
    expect(await sandbox.runs()).toEqual(runs)
    expect((await guard.ledger.updates({}, 200)).rows).toHaveLength(updates)
  })

  test.each([
    ['/dashboard/updates'],
    ['/dashboard/budgets'],
    ['/dashboard/statements?by=project'],
    ['/dashboard/activity'],
  ])('on half a screen, names and reasons keep a few words per line: %s', async (path) => {
    const { page } = await dashboard.insider(undefined, { viewport: { width: 720, height: 800 } })
    await page.goto(path)
    const cells = await page
      .locator('tbody :is(th, [data-name="Budget"], [data-name="Caller"], [data-name="Reason"])')
      .all()
    const widths = await Promise.all(cells.map(async (cell) => (await cell.boundingBox())?.width ?? 0))
    expect(Math.min(...widths)).toBeGreaterThanOrEqual(100)
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(720)
  })

  test('on a phone, fifty updates take two lines each, and a third that says why, in at most 5,000 pixels', async () => {
    const { page } = await dashboard.insider(undefined, { viewport: { width: 390, height: 800 } })
    await page.goto('/dashboard/updates')
    const rows = await page.locator('tbody tr').all()
    expect(rows).toHaveLength(50)
    for (const row of rows) {
      const text = await row.innerText()
      const lines = (await row.locator('[data-name="Reason"]').isVisible()) ? 3 : 2
      expect([text, ((await row.boundingBox())?.height ?? 0) <= (lines + 1) * 24]).toEqual([text, true])
      for (const name of ['Budget', 'By'])
        expect((await row.locator(`[data-name="${name}"]`).boundingBox())?.width).toBeGreaterThan(30)
    }
    expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThanOrEqual(5_000)
    const asked = page.getByRole('row').filter({ hasText: 'awaiting approval' }).first()
    expect(await asked.innerText()).toMatch(/180\s+press\s+tomas$/)
  })

  test.each(['budget', 'project', 'caller'])(
    'on a phone, fifty rows of a statement by %s need at most 5,000 pixels',
    async (by) => {
      const { page } = await dashboard.insider(undefined, { viewport: { width: 390, height: 800 } })
      await page.goto(`/dashboard/statements?by=${by}&price=0.5`)
      type Sized = { getBoundingClientRect(): { height: number } }
      const rows = await page
        .locator('tbody tr')
        .evaluateAll((all: Sized[]) => all.map((row) => row.getBoundingClientRect().height))
      expect((rows.reduce((sum, height) => sum + height, 0) / rows.length) * 50).toBeLessThanOrEqual(5_000)
      const cells = await page
        .locator('td.number')
        .filter({ visible: true })
        .evaluateAll((all: Sized[]) => all.map((cell) => cell.getBoundingClientRect().height))
      // Each figure stands on one line below its name.
      expect(Math.max(...cells)).toBeLessThan(44)
    },
  )

  test.each(['/dashboard/statements?by=project', '/dashboard/activity', '/dashboard/updates', '/dashboard/budgets'])(
    'a printed page shows the whole width of its table and no buttons: %s',
    async (path) => {
      const { page } = await dashboard.insider(undefined, { viewport: { width: paperWidth, height: 1_000 } })
      await page.emulateMedia({ media: 'print' })
      await page.goto(path)
      type Card = { scrollWidth: number; clientWidth: number }
      const hidden = await page
        .locator('.wide, main .scroll')
        .first()
        .evaluate((card: Card) => card.scrollWidth - card.clientWidth)
      expect(hidden).toBe(0)
      expect(await page.getByRole('button').count()).toBe(0)
      expect(await page.getByRole('navigation').count()).toBe(0)
      expect(await page.getByRole('banner').innerText()).toMatch(/^Unit Guard\s+rita$/)
      // On paper no one can point at a time.
      const times = await page.evaluate<string[]>(exactOnPaper)
      expect(times.filter((text) => !/^0px "\d+ Nov 2026 \d\d:\d\d UTC"$/.test(text))).toEqual([])
    },
  )

  // These tests have their own month, because the other tests read what they change. Each test finds the changes of the tests before it.
  describe('changes on the pages:', { shuffle: false }, () => {
    let month: Dashboard
    beforeAll(async () => {
      month = await openDashboard('2026-11-24T14:00:00Z')
    }, timeout)
    afterAll(() => month?.close())

    test('a user approves an update with the keyboard alone, and it runs', async () => {
      const { page, troubles } = await month.insider(approver, noScript)
      await page.goto('/dashboard/inbox')
      const skip = page.getByRole('link', { name: 'Skip to the content' })
      await tabTo(page, skip)
      expect((await skip.boundingBox())?.y).toBeGreaterThanOrEqual(0)
      await page.keyboard.press('Enter')
      await tabTo(page, page.getByLabel('Choose the ranking update of lakeside-hotels.example'))
      await page.keyboard.press('Space')
      await openByKeys(page, 'Decide all that are chosen')
      await tabTo(page, page.getByLabel('Note (optional; needed to say whether it ran)'))
      await page.keyboard.type('the client asked for it')
      await tabTo(page, page.getByRole('button', { name: 'Approve chosen' }))
      await page.keyboard.press('Enter')
      expect(await page.getByRole('status').innerText()).toContain(
        'The ranking update of lakeside-hotels.example is approved and starts in a moment.',
      )
      const { guard, clock, sandbox } = month.scenario
      const before = (await sandbox.runs()).length
      const path = month.updateOf('lakeside-hotels.example', 'awaiting-approval')
      await guard.start(path.split('/').at(-1) ?? '', clock.now() + 60_000) // the table's stream does this
      expect(await sandbox.runs()).toHaveLength(before + 1)
      await page.goto(path)
      expect(await page.getByRole('listitem').filter({ hasText: 'by rita' }).innerText()).toContain(
        'the client asked for it',
      )
      expect(await month.stateOf(path)).toBe('settled')
      expect(troubles).toEqual([])
    })

    test('a user resolves two updates in doubt at once with the keyboard alone', async () => {
      const { page, troubles } = await month.insider(approver, noScript)
      await page.goto('/dashboard/inbox')
      for (const name of ['keyword-difficulty update of initech', 'ranking update of fernway-garden.example']) {
        await tabTo(page, page.getByLabel(`Choose the ${name}`))
        await page.keyboard.press('Space')
      }
      await openByKeys(page, 'Decide all that are chosen')
      await tabTo(page, page.getByLabel('Note (optional; needed to say whether it ran)'))
      await page.keyboard.type('both are on the vendor’s screen')
      await tabTo(page, page.getByRole('button', { name: 'Chosen ran' }))
      await page.keyboard.press('Enter')
      await page.getByRole('status').waitFor()
      for (const project of ['fernway-garden.example', 'initech'])
        expect(await month.stateOf(month.updateOf(project, 'in-doubt'))).toBe('settled')
      expect(await page.getByRole('main').innerText()).not.toContain('in doubt; settles')
      expect(troubles).toEqual([])
    })

    test('the dashboard needs three clicks to approve three of five updates up to a sum', async () => {
      const { scenario, tokenOf } = month
      const projects = ['lakeside-spa.example', 'café & co/paris', 'harbour-bikes.example']
      const response = await scenario.api.request('/updates', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await tokenOf({ sub: 'tomas', may: ['propose'] })}`,
          'content-type': 'application/json',
          'idempotency-key': '"three"',
        },
        body: JSON.stringify({ kind: 'ranking', projects, whenShort: 'ask', reason: 'reports of the season' }),
      })
      expect(response.status).toBe(202)
      // Another update waits, which dora requested.
      const { page, troubles } = await month.insider({ sub: 'dora', may: ['read', 'approve'] }, noScript)
      await answer(page, scenario.guard, approveThreeOfFive, 3)
      expect(troubles).toEqual([])
    })

    test('the dashboard says within two clicks whether and why a plan is paused', async () => {
      const { guard } = month.scenario
      await guard.pausePlan('morning', { caller: 'mira', reason: 'no reports this week' })
      const { page, troubles } = await month.insider(undefined, noScript)
      await answer(page, guard, isAPlanPaused)
      expect(troubles).toEqual([])
    })

    test('a user sees the effect of a new limit before saving it', async () => {
      const { page, troubles } = await month.insider(undefined, noScript)
      await page.goto('/dashboard/budgets/press/edit')
      await page.getByLabel('Limit per month').fill('400')
      await page.getByLabel('Reason').fill('a larger contract')
      await page.getByRole('button', { name: 'Preview' }).click()
      expect(await page.getByRole('region', { name: 'What changes' }).innerText()).toMatch(
        /Limit per month\s+100 →\s+then\s+400/,
      )
      await page.getByRole('button', { name: 'Save' }).click()
      const { definitions } = await month.scenario.guard.ledger.view()
      expect(definitions.budgets.press?.limits).toEqual([{ window: 'month', units: 400 }])
      expect(troubles).toEqual([])
    })

    test('sixty budgets take three screens and 60 KB, compressed', async () => {
      const { guard } = month.scenario
      const limits = [{ window: 'month', units: toUnits(500) }] as const
      const { budgets } = (await guard.ledger.view()).definitions
      for (let each = Object.keys(budgets).length; each < 60; each++)
        await guard.putBudget({ name: `team-${each}`, parent: 'account', limits, projects: [] }, { caller: 'mira' })
      const { page, troubles } = await month.insider()
      const size = async (path: string) => gzipSync(await (await page.request.get(path)).body()).length
      for (const path of ['/', '/dashboard/inbox']) {
        await page.setViewportSize({ width: 1440, height: 900 })
        await page.goto(path)
        const stylesheet = await page.locator('link[rel=stylesheet]').getAttribute('href')
        expect((await size(path)) + (await size(stylesheet ?? ''))).toBeLessThan(60_000)
        expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThanOrEqual(3 * 900)
        expect(await everyLook(page)).toEqual([])
      }
      expect(troubles).toEqual([])
    })

    test('the tree of eight levels is readable with long names and large figures', async () => {
      const units = toUnits(1_000_000_000_000)
      const limits = [{ window: 'month', units } as const, { window: 'day', units } as const]
      for (let level = 1; level < 8; level++) {
        const [parent, name] = [level - 1, level].map((each) => (each === 0 ? 'account' : `${each}`.repeat(63)))
        await month.scenario.guard.putBudget(
          { name: name ?? '', parent: parent ?? '', limits, projects: [] },
          { caller: 'mira' },
        )
      }
      await month.scenario.guard.freeze('7'.repeat(63), { caller: 'mira', reason: 'it is over '.repeat(45) })
      const { page } = await month.insider()
      await page.goto('/dashboard/budgets')
      const rows = await page.getByRole('row').all()
      const heights = await Promise.all(rows.map(async (row) => (await row.boundingBox())?.height ?? 0))
      expect(Math.max(...heights)).toBeLessThan(1_000)
      expect(await everyLook(page)).toEqual([])
    })

    test('a new budget without a full day looks right', async () => {
      const limits = [{ window: 'month', units: toUnits(500) }] as const
      await month.scenario.guard.putBudget({ name: 'new', parent: 'account', limits, projects: [] }, { caller: 'mira' })
      const { page } = await month.insider()
      await page.goto('/dashboard/budgets/new')
      expect(await everyLook(page)).toEqual([])
    })
  })
})
