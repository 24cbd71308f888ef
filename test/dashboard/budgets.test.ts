import { describe, expect, test } from 'vitest'
import { expectInert, openBrowser } from '../support/browser/browser.ts'
import { press, send } from '../support/browser/page-forms.ts'
import { json, type Product, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// Pages show budgets, and change each budget once exactly as the API would.

const month = (units: number | 'unlimited') => ({ window: 'month', units })
const day = (units: number) => ({ window: 'day', units })

/** `acme` (2,000 a month, 300 a day) below `agency` (20,000), which is below the account (50,000). */
async function start(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ store: createMemoryStore(), ...options })
  const put = (name: string, body: object) => product.call('PUT', `/budgets/${name}?release=true`, { body })
  await put('agency', { limits: [month(20_000)] })
  await put('acme', { parent: 'agency', limits: [month(2_000), day(300)], projects: [{ name: 'initech', id: '987' }] })
  const as = async (sub: string, scope: string) => {
    const browser = openBrowser(product)
    await browser.logIn(product.signed({ sub, scope, budgets: '*', exp: product.clock.now() / 1000 + 8 * 3600 }))
    return browser
  }
  return { product, put, as, eve: await as('eve', 'read admin') }
}

const budget = async (product: Product, name: string) => (await product.call('GET', `/budgets/${name}`)).body
const revision = async (product: Product) => (await product.call('GET', '/budgets')).headers.get('etag')
const entriesOf = async (product: Product, name: string) =>
  (await product.call('GET', `/budgets/${name}/entries`)).body.entries.map(
    ({ type, by, reason }: Record<string, string>) => [type, by, reason],
  )

const acme = '/dashboard/budgets/acme'

describe('the tree', () => {
  test('the tree with only account says what to do first, to users with the right', async () => {
    const product = await startProduct({ store: createMemoryStore() })
    for (const [scope, said, mayMake] of [
      ['read admin', 'Create a budget for a team or a client', true],
      ['read', 'An administrator can create a budget', false],
    ] as const) {
      const browser = openBrowser(product)
      await browser.logIn(product.signed({ sub: 'eve', scope }))
      const { text, html } = await browser.get('/dashboard/budgets')
      expect(text).toContain(said)
      expect(html.includes('Create budget')).toBe(mayMake)
    }
  })

  test('the tree shows each budget below its parent, with figures, projects and freezes', async () => {
    const { product, put, eve } = await start()
    await put('free', { limits: [month('unlimited')] })
    await product.update({ kind: 'ranking', project: 'initech' })
    await product.call('POST', '/budgets/agency/freeze', { body: { reason: 'a loop' } })
    const { html, text } = await eve.get('/dashboard/budgets?sort=name')
    expect([...html.matchAll(/<tr class="depth-(\d)">.*?<a href="([^"]+)"/gs)].map((found) => found.slice(1))).toEqual([
      ['0', '/dashboard/budgets/account'],
      ['1', '/dashboard/budgets/agency'],
      ['2', '/dashboard/budgets/acme'],
      ['1', '/dashboard/budgets/free'],
    ])
    expect(text).toContain('account on track 50,000 49,960 40 0 49,960')
    expect(html).toContain(
      'title="Next stop: account&#39;s month, 49,960 units away (1,249 updates at the last price).">on track</span>',
    )
    expect(text).toContain('Level 1: agency frozen 20,000 19,960 40 0 19,960')
    expect(text).toContain('Level 2: acme frozen 2,000 1,960 260 today 40 0 1,960')
    expect(text).toContain('Level 1: free on track – no limit 0 0 –')
    const namesAt = async (query: string) =>
      [
        ...(await eve.get(`/dashboard/budgets${query}`)).html.matchAll(
          /<tr class="depth-0"><th scope="row"><a[^>]*>(\w+)/g,
        ),
      ].map(([, name]) => name)
    expect(await namesAt('?sort=risk')).toEqual(['acme', 'agency', 'account', 'free'])
    expect(await namesAt('?sort=spent&show=frozen')).toEqual(['acme', 'agency'])
    expect(await namesAt('?sort=risk&show=at+risk')).toEqual([])
  })

  test('a form creates a budget once for any number of presses, and replaces no budget', async () => {
    const { product, eve } = await start()
    const page = await eve.get('/dashboard/budgets')
    const wanted = { name: 'blog', parent: 'acme', month: '1,500', day: 'Unlimited', reason: 'a new team' }
    const made = await press(eve, page, 'Create budget', wanted)
    expect(made.text).toContain('✓ Budget blog created.')
    expect(await budget(product, 'blog')).toMatchObject({ parent: 'acme', limits: [month(1_500)], projects: [] })
    expect(await entriesOf(product, 'blog')).toEqual([['budget-created', 'eve', 'a new team']])
    const before = await revision(product)
    expect((await press(eve, page, 'Create budget', wanted)).text).toContain('✓ Budget blog created.')
    const other = await press(eve, page, 'Create budget', { ...wanted, month: '9' })
    expect(other.text).toContain('✕ There is already a budget blog; nothing was changed.')
    expect(await revision(product)).toBe(before)
  })

  test('two simultaneous requests create a budget once', async () => {
    const { product, eve } = await start()
    const page = await eve.get('/dashboard/budgets')
    const wanted = { name: 'blog', month: '5' }
    const sent = await Promise.all([send(eve, page, 'Create budget', wanted), send(eve, page, 'Create budget', wanted)])
    expect(sent.map(({ location }) => location)).toEqual(['/dashboard/budgets/blog', '/dashboard/budgets/blog'])
    expect(await entriesOf(product, 'blog')).toHaveLength(1)
  })

  test('the form of a new budget shows all faults and keeps the input', async () => {
    const { eve } = await start()
    const page = await eve.get('/dashboard/budgets')
    const wrong = await press(eve, page, 'Create budget', { name: 'My Blog', parent: 'acme', month: '1.5', day: '' })
    expect(wrong.text).toContain('✕ “My Blog” cannot be a name. How about my-blog?')
    expect(wrong.text).toContain('Limit per month ✕ Must be a whole number of units, or unlimited.')
    expect(wrong.text).toContain('Limit per day ✕ Must be a whole number of units, or unlimited.')
    expect(wrong.html).toContain('name="name" type="text" value="my-blog"')
    expect(wrong.html).toContain('<option value="acme" selected="">')
  })
})

describe('a budget', () => {
  test('a budget’s page shows its grants, its children, its rules and entries to correct', async () => {
    const { product, put, eve } = await start({ env: { ACCOUNT_TIME_ZONE: 'Europe/Berlin' } })
    await put('blog', { parent: 'acme', limits: [month(10)], approvers: ['bob', 'carol'], kinds: ['ranking'] })
    await product.call('POST', '/budgets/acme/entries', { body: { type: 'grant', units: 500, reason: 'Christmas' } })
    const { text, html } = await eve.get(acme)
    expect(text).toContain('Limit 2,000, 500 granted; resets 1 Dec 2026 00:00')
    expect(text).toContain('Month by month November 0 of 2,500')
    expect(text).toContain('Below it: blog')
    expect(text).toContain('just now grant acme')
    expect(html).toContain('title="20 Nov 2026 11:00 Europe/Berlin, 20 Nov 2026 10:00 UTC"')
    expect(html).toMatch(/href="\/dashboard\/budgets\/acme\/book\?corrects=ent_/)
    const rules = (await eve.get('/dashboard/budgets/blog')).text
    expect(rules).toContain('Kinds of update ranking only')
    expect(rules).toContain('Approvers bob, carol')
  })

  test('a user who may only read sees no form and is refused every change', async () => {
    const { product, as } = await start()
    const rita = await as('rita', 'read run approve')
    const { html, formToken } = await rita.get(acme)
    expect([...html.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, action]) => action)).toEqual(['/logout'])
    expect(html).not.toMatch(/<button[^>]*>(?!Log out)|checkbox|\/edit|\/book/)
    const before = await revision(product)
    for (const path of ['', '/edit', '/book', '/projects', '/freeze', '/unfreeze', '/delete']) {
      const fields = { form: formToken, step: 'confirm', reason: 'mine', revision: '3', name: 'x', month: '1' }
      const refused = await rita.post(path === '' ? '/dashboard/budgets' : `${acme}${path}`, fields)
      expect([path, refused.status]).toEqual([path, 403])
      expect(refused.text).toContain('rita needs the scope admin for this')
    }
    for (const path of ['/edit', '/book']) expect((await rita.get(`${acme}${path}`)).status).toBe(403)
    expect(await revision(product)).toBe(before)
  })

  test('a budget’s page refuses a form of another session or another site', async () => {
    const { product, as, eve } = await start()
    const { formToken } = await (await as('eve', 'read admin')).get(acme)
    const before = await revision(product)
    for (const path of ['', '/edit', '/book', '/projects', '/freeze', '/unfreeze', '/delete']) {
      const to = path === '' ? '/dashboard/budgets' : `${acme}${path}`
      expect((await eve.post(to, { form: formToken, reason: 'x' })).text).toContain('belongs to another session')
      const own = (await eve.get(acme)).formToken
      const foreign = await eve.post(to, { form: own, reason: 'x' }, { headers: { 'sec-fetch-site': 'cross-site' } })
      expect(foreign.text).toContain('sent by another site')
    }
    expect(await revision(product)).toBe(before)
  })

  test('a budget’s page shows hostile names and reasons as text, and runs nothing', async () => {
    const { product, put, eve } = await start()
    const hostile = `"><script>alert('x')</script><img src=x onerror=alert(1)>`
    await put('acme', {
      parent: 'agency',
      limits: [month(2_000)],
      projects: [{ name: hostile, id: '72' }],
      reason: hostile,
    })
    await put('shop', { limits: [month(9)], approvers: ['<b>"bob"</b>'] })
    await product.call('POST', '/budgets/acme/freeze', { body: { reason: hostile } })
    const filled = { month: hostile, reason: hostile, approvers: '<i>', name: hostile }
    const pages = [
      await eve.get('/dashboard/budgets'),
      await eve.get(acme),
      await eve.get(`${acme}/edit`),
      await eve.get(`${acme}/book?corrects=${encodeURIComponent(hostile)}`),
      await eve.get(`/dashboard/budgets/${encodeURIComponent(hostile)}`),
      await press(eve, await eve.get('/dashboard/budgets'), 'Create budget', filled),
      await press(eve, await eve.get(`${acme}/edit`), 'Preview', filled),
      await press(eve, await eve.get(`${acme}/edit`), 'Preview', { ...filled, month: '5' }),
      await press(eve, await eve.get('/dashboard/budgets/shop/edit'), 'Preview', { month: '8', reason: hostile }),
      await press(eve, await eve.get(acme), 'Add project', { name: `more ${hostile}` }),
    ]
    for (const page of pages) {
      expectInert(page)
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    }
    expect(pages[1]?.text).toContain(`${hostile} 72`)
    expect(pages.at(-1)?.text).toContain(`✓ more ${hostile} belongs to acme.`)
  })

  test.each([
    ['nothing', 404],
    ['Not a name', 404],
    ['constructor', 404],
  ])('the page of an unknown budget is 404: %s', async (name, status) => {
    const { eve } = await start()
    for (const path of ['', '/edit', '/book'])
      expect((await eve.get(`/dashboard/budgets/${encodeURIComponent(name)}${path}`)).status).toBe(status)
  })
})

describe('limits and rules', () => {
  test('a preview shows the effect on a budget and those above, and a confirmation changes the budget once', async () => {
    const { product, eve } = await start()
    await product.update({ kind: 'ranking', project: 'initech' })
    const before = await revision(product)
    const wanted = {
      month: '1 000',
      approvers: ' bob \r\ncarol ',
      approvalAbove: '50',
      thresholds: '50 %, 90',
      reason: 'too dear',
    }
    const preview = await press(eve, await eve.get(`${acme}/edit`), 'Preview', wanted)
    expect(preview.text).toContain(
      'What changes Limit per month 2,000 → then 1,000 Approval above none → then 50 Approvers none → then bob, carol Tell at (per cent of a limit) none → then 50, 90 Reason: too dear',
    )
    expect(preview.text).toContain('acme month 2,000 → then 1,000 40 1,960 960 acme day 300 40 260 260')
    expect(preview.text).toContain('agency month 20,000 40 19,960 19,960 account month 50,000 40 49,960 49,960')
    expect(preview.text).toContain('Updates of acme can then cost 260 units together today.')
    expect(await revision(product)).toBe(before)
    const changed = await press(eve, preview, 'Save')
    expect(changed.text).toContain('✓ acme is changed.')
    expect(await budget(product, 'acme')).toMatchObject({
      limits: [month(1_000), day(300)],
      projects: [{ name: 'initech', id: '987' }],
      approvalAbove: 50,
      approvers: ['bob', 'carol'],
      thresholds: [50, 90],
    })
    const after = await revision(product)
    const again = await press(eve, preview, 'Save')
    expect(again.text).toContain('✓ acme already has these values, so nothing more was changed.')
    expect(await revision(product)).toBe(after)
    expect(await entriesOf(product, 'acme')).toContainEqual(['limit', 'eve', 'too dear'])
    expect(await product.audit()).toBe(true)
  })

  test('two simultaneous confirmations of a change make it once, and both answers say so', async () => {
    const { product, eve } = await start()
    const preview = await press(eve, await eve.get(`${acme}/edit`), 'Preview', { month: '1,000' })
    const sent = await Promise.all([send(eve, preview, 'Save'), send(eve, preview, 'Save')])
    expect(sent.map(({ location }) => location)).toEqual([acme, acme])
    expect((await entriesOf(product, 'acme')).filter(([type]: string[]) => type === 'limit')).toHaveLength(1)
  })

  test('an empty field removes the rule of a budget', async () => {
    const { product, put, eve } = await start()
    await put('acme', {
      parent: 'agency',
      limits: [month(5)],
      approvers: ['bob'],
      perUpdate: 9,
      freezeOnOverrun: true,
      kinds: [],
    })
    const form = await eve.get(`${acme}/edit`)
    expect(form.html).toContain('<option value="none" selected="">neither</option>')
    const emptied = {
      approvers: '',
      perUpdate: '',
      freezeOnOverrun: 'no',
      kinds: 'keyword-difficulty',
      parent: 'account',
    }
    const preview = await press(eve, form, 'Preview', emptied)
    expect(preview.text).toContain('Parent agency → then account At most for one update 9 → then none')
    expect(preview.text).toContain('Kinds of update neither → then keyword-difficulty only')
    await press(eve, preview, 'Save')
    const { windows: _windows, ...rest } = await budget(product, 'acme')
    expect(rest).toEqual({
      name: 'acme',
      parent: 'account',
      limits: [month(5)],
      projects: [],
      kinds: ['keyword-difficulty'],
      frozen: false,
      status: 'on-track',
      next: expect.objectContaining({ kind: 'limit', budget: 'acme', units: 5 }),
      approvers: [],
    })
  })

  test('the preview warns of a limit below the spent units', async () => {
    const { product, eve } = await start()
    await product.update({ kind: 'ranking', project: 'initech' })
    const { text } = await press(eve, await eve.get(`${acme}/edit`), 'Preview', { month: '10', day: 'unlimited' })
    expect(text).toContain(
      'acme would have −30 units left this month. No update is admitted on it or on any budget below it until 31 units are added.',
    )
    expect(text).toContain('Updates of acme can then cost 0 units together this month.')
  })

  test('the preview names the budgets that plans would exhaust, and those that they would no longer exhaust', async () => {
    const plan = { name: 'nightly', kind: 'ranking', projects: ['initech'], schedule: 'cron(0 5 * * ? *)' }
    const { product, eve } = await start({ plans: [plan] })
    await (await product.guard.jobs()).readPrices(product.endsAt())
    const less = await press(eve, await eve.get(`${acme}/edit`), 'Preview', { month: '150' })
    expect(less.text).toContain('Plans would exhaust acme this month on 24 Nov 2026 05:00. It has enough now.')
    await press(eve, less, 'Save')
    const more = await press(eve, await eve.get(`${acme}/edit`), 'Preview', { month: '2,000' })
    expect(more.text).toContain('Plans would no longer exhaust acme this month.')
  })

  test('a stale form says who changed what, and keeps the input', async () => {
    const { product, put, eve } = await start()
    const seen = await eve.get(`${acme}/edit`)
    const preview = await press(eve, seen, 'Preview', { month: '1,000', reason: 'mine' })
    await put('shop', { limits: [month(1)] })
    await put('acme', { parent: 'agency', limits: [month(2_000), day(100)], perUpdate: 60 })
    const said =
      '✕ Nothing was saved: ada changed it on 20 Nov 2026 10:00 UTC (budget acme: day 300 → 100, perUpdate none → 60, 1 → 0 projects (− initech)) since you opened the page. Your input is kept. Check it, because saving it may undo that change.'
    for (const [page, button] of [
      [preview, 'Save'],
      [seen, 'Preview'],
    ] as const) {
      const stale = await press(eve, page, button, button === 'Save' ? {} : { month: '1,000', reason: 'mine' })
      expect(stale.text).toContain(said)
      for (const kept of ['value="1,000"', 'value="300"', 'value="mine"']) expect(stale.html).toContain(kept)
      expect(stale.text).toContain('Limit per day 100 → then 300')
      expect((await budget(product, 'acme')).limits).toEqual([month(2_000), day(100)])
      const again = await press(eve, await press(eve, stale, 'Back to the form'), 'Preview', { day: '100' })
      expect(again.text).toContain(
        'Limit per month 2,000 → then 1,000 At most for one update 60 → then none Reason: mine',
      )
    }
  })

  test('a change of another budget does not make a form stale', async () => {
    const { product, put, eve } = await start()
    const preview = await press(eve, await eve.get(`${acme}/edit`), 'Preview', { month: '1,000' })
    await put('shop', { limits: [month(1)] })
    expect((await press(eve, preview, 'Save')).text).toContain('✓ acme is changed')
    expect((await budget(product, 'acme')).limits).toEqual([month(1_000), day(300)])
  })

  test('a wrong form shows its faults and keeps the input, also when the user goes back', async () => {
    const { product, eve } = await start()
    const form = await eve.get(`${acme}/edit`)
    const wrong = await press(eve, form, 'Preview', {
      month: 'lots',
      perUpdate: '-1',
      approvers: 'a\u00e4',
      reason: 'mine',
    })
    expect(wrong.text).toContain('Limit per month ✕ Must be a whole number of units, or unlimited.')
    expect(wrong.text).toContain('At most for one update ✕ Must be a whole number of units from 0 to 1000000000000.')
    expect(wrong.text).toContain('✕ Must have 1 to 256 visible characters without #.')
    for (const kept of ['value="lots"', 'value="-1"', '>aä</textarea>', 'value="mine"'])
      expect(wrong.html).toContain(kept)
    expect((await press(eve, form, 'Preview')).text).toContain('✕ Nothing has changed.')
    const preview = await press(eve, form, 'Preview', { month: '7', reason: 'mine' })
    const back = await press(eve, preview, 'Back to the form')
    for (const kept of ['value="7"', 'value="mine"']) expect(back.html).toContain(kept)
    await product.call('PUT', '/budgets/blog', { body: { parent: 'acme', limits: [month(1)] } })
    const circle = await press(eve, await eve.get(`${acme}/edit`), 'Preview', { parent: 'blog' })
    expect(circle.text).toContain('✕ budgets are at most 8 deep, and no budget is its own ancestor.')
    expect((await send(eve, form, 'Preview', { step: 'pay' })).status).toBe(400)
  })

  test('the root has no parent to choose', async () => {
    const { product, eve } = await start()
    const form = await eve.get('/dashboard/budgets/account/edit')
    expect(form.html).not.toContain('name="parent"')
    await press(eve, await press(eve, form, 'Preview', { month: '60,000' }), 'Save')
    expect(await budget(product, 'account')).toMatchObject({ parent: null, limits: [month(60_000)] })
  })
})

describe('projects', () => {
  test('an id that the service contradicts is listed only after the user confirms it', async () => {
    const listed = [
      { name: 'globex', id: 1002 },
      { name: 'hooli', id: 1003 },
    ]
    const { product, eve } = await start({
      service: ({ url }) => (url.endsWith('/projects') ? json({ projects: listed }) : undefined),
    })
    const question = await press(eve, await eve.get(acme), 'Add project', { name: 'globex', id: '1003' })
    expect(question.text).toContain('Keep the id as written?')
    expect(question.text).toContain('The service lists globex under 1002; 1003 is hooli.')
    const projects = async () => (await budget(product, 'acme')).projects.slice(1)
    expect(await projects()).toEqual([])
    const back = await press(eve, question, 'Back to the form')
    expect(back.html).toContain('value="1003"')
    const kept = await press(eve, question, 'Keep as written')
    expect(kept.text).toContain('✓ globex belongs to acme. The service lists globex under 1002; 1003 is hooli.')
    expect(await projects()).toEqual([{ name: 'globex', id: '1003' }])
    const moved = await press(eve, kept, 'Move chosen projects', { project: ['globex'], to: 'agency' })
    expect(moved.text).toContain('The service lists globex under 1002; 1003 is hooli.')
    await press(eve, moved, 'Keep as written')
    expect((await budget(product, 'agency')).projects).toEqual([{ name: 'globex', id: '1003' }])
  })

  test.each(['1.001E+03', '1,001', '1 001'])('the id %j is refused, because it is no id of the service', async (id) => {
    const { product, eve } = await start()
    const refused = await press(eve, await eve.get(acme), 'Add project', { name: 'globex', id })
    expect(refused.text).toContain(`✕ ${id} of globex is not an id that the service lists`)
    expect(refused.html).toContain(`value="${id}"`)
    expect((await budget(product, 'acme')).projects).toEqual([{ name: 'initech', id: '987' }])
  })

  test('projects are added and removed once for any number of presses', async () => {
    const { product, eve } = await start()
    const page = await eve.get(acme)
    const added = await press(eve, page, 'Add project', { name: 'globex, inc.', id: '71' })
    expect(added.text).toContain('✓ globex, inc. belongs to acme.')
    const before = await revision(product)
    expect((await press(eve, page, 'Add project', { name: 'globex, inc.', id: '71' })).text).toContain('✓ globex, inc.')
    expect(await revision(product)).toBe(before)
    expect((await budget(product, 'acme')).projects).toEqual([
      { name: 'initech', id: '987' },
      { name: 'globex, inc.', id: '71' },
    ])
    expect((await eve.get(`${acme}/delete`)).text).toContain(
      'No budget will list initech and globex, inc., and from then on requests for globex, inc. are refused',
    )
    const gone = await press(eve, added, 'Remove chosen projects', { project: ['initech', 'globex, inc.'] })
    const refused = 'requests for globex, inc. are refused until a budget lists it, and account pays for the other'
    expect(added.text).toContain(`If you remove projects, no budget lists them, and from then on ${refused}.`)
    expect((await eve.get(`${acme}/delete`)).text).not.toContain('No budget will list')
    expect(gone.text).toContain(`✓ initech and globex, inc.: no longer owned by acme. From now on ${refused}.`)
    expect(gone.text).toContain('It owns no project.')
  })

  test('projects that are added at the same moment are all listed', async () => {
    const { product, eve } = await start()
    const page = await eve.get(acme)
    const names = ['a', 'b', 'c', 'd']
    await Promise.all(names.map((name) => send(eve, page, 'Add project', { name })))
    const { projects } = await budget(product, 'acme')
    expect(projects.map(({ name }: { name: string }) => name).toSorted()).toEqual([...names, 'initech'])
  })

  test('the form requires a project to have one owner and a name', async () => {
    const { put, eve } = await start()
    await put('shop', { limits: [month(9)] })
    const page = await eve.get('/dashboard/budgets/shop')
    expect((await press(eve, page, 'Add project', { name: 'initech' })).text).toContain(
      'Move initech to shop? Confirm initech moves from acme to shop.',
    )
    const nameless = await press(eve, page, 'Add project', { name: '..' })
    expect(nameless.text).toContain('Project ✕ Must have 1 to 512 characters')
    expect((await press(eve, await eve.get(acme), 'Remove chosen projects')).text).toContain('choose some first')
  })
})

describe('freezes', () => {
  test('a budget freezes at once and only once, and unfreezes only for a user who saw the freeze', async () => {
    const { product, put, eve } = await start()
    const page = await eve.get(`${acme}/freeze`)
    // Other changes do not prevent a freeze.
    await put('shop', { limits: [month(1)] })
    expect(page.text).toContain('No update is admitted on acme or on any budget below it until someone unfreezes it.')
    const done = await press(eve, page, 'Freeze acme', { reason: 'a loop' })
    expect(done.text).toContain('✓ acme is frozen: no update is admitted on it or on any budget below it.')
    expect(done.text).toContain(
      'acme was frozen by eve on 20 Nov 2026 10:00 UTC: a loop Grant Transfer Change Unfreeze Delete',
    )
    const frozen = await eve.get(`${acme}/unfreeze`)
    await press(eve, page, 'Freeze acme', { reason: 'again' })
    expect((await entriesOf(product, 'acme')).filter(([type]: string[]) => type === 'freeze')).toEqual([
      ['freeze', 'eve', 'a loop'],
    ])
    await product.call('POST', '/budgets/acme/unfreeze', { body: { reason: 'found it' } })
    await product.call('POST', '/budgets/acme/freeze', { body: { reason: 'another loop' } })
    const blind = await press(eve, frozen, 'Unfreeze acme', { reason: 'found it' })
    expect(blind.text).toContain('✕ Someone made a change since you loaded the page, so nothing was done.')
    expect(blind.text).toContain('another loop')
    const seen = await eve.get(`${acme}/unfreeze`)
    const lifted = await press(eve, seen, 'Unfreeze acme', { reason: 'found that, too' })
    expect(lifted.text).toContain('✓ acme is not frozen: updates are admitted again.')
    const before = await revision(product)
    expect((await press(eve, seen, 'Unfreeze acme', { reason: 'x' })).text).toContain('✓ acme is not frozen')
    expect(await revision(product)).toBe(before)
    const noReason = await press(eve, page, 'Freeze acme', { reason: '' })
    expect(noReason.text).toContain('Freeze acme?')
    expect(noReason.html).toContain('aria-invalid="true"')
  })

  test('a page deletes a budget without dependents, and otherwise names the dependents', async () => {
    const { product, eve } = await start()
    const agency = await eve.get('/dashboard/budgets/agency/delete')
    expect((await press(eve, agency, 'Delete agency')).text).toContain(
      '✕ agency cannot be deleted: it has the children acme.',
    )
    const stale = await eve.get(`${acme}/delete`)
    await product.call('PUT', '/budgets/shop', { body: { limits: [month(1)] } })
    expect((await press(eve, stale, 'Delete acme')).text).toContain('✕ Someone made a change since you loaded the page')
    expect((await eve.get(`${acme}/delete`)).text).toContain(
      'No budget will list initech, and from then on account pays for it.',
    )
    await product.call('POST', '/budgets/acme/freeze', { body: { reason: 'they left' } })
    expect((await eve.get(`${acme}/delete`)).text).toContain(
      'from then on account pays for it. The freeze of acme ends with it. If another',
    )
    const gone = await press(eve, await eve.get(`${acme}/delete`), 'Delete acme', { reason: 'they left' })
    expect(gone.text).toContain('✓ acme is deleted.')
    expect((await eve.get(acme)).status).toBe(404)
    expect((await eve.get('/dashboard/budgets/account')).html).not.toContain('/delete')
  })
})
