import { describe, expect, test } from 'vitest'
import { LedgerUnavailable } from '../../shared/ledger/errors.ts'
import { expectInert, openBrowser } from '../support/browser/browser.ts'
import { formWith, press, send } from '../support/browser/page-forms.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// The rights of callers on pages, and the emergency stop for a stolen token.

async function start() {
  const product = await startProduct({ store: createMemoryStore() })
  const list = (sub: string, body: object) => product.call('PUT', `/callers/${sub}`, { body })
  const eve = openBrowser(product)
  await eve.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
  const listed = async () =>
    (await product.call('GET', '/callers')).body.callers.map((each: { sub: string; disabled: boolean }) => [
      each.sub,
      each.disabled,
    ])
  return { product, list, eve, listed }
}

describe('callers', () => {
  test('the page of callers says what an empty list means', async () => {
    const { eve } = await start()
    const { text } = await eve.get('/dashboard/callers')
    expect(text).toContain('No callers are listed. Tokens alone decide, and users in Slack may do nothing.')
  })

  test('the list shows the rights of each caller and the units left of their own limits', async () => {
    const { product, list, eve } = await start()
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 500 }] } })
    const limits = [{ window: 'day', units: 100 }]
    await list('crawler', { scopes: ['read', 'run'], budgets: ['seo'], limits, perUpdate: 60, ratePerMinute: 30 })
    await list('slack:U1', { scopes: ['approve'], person: 'bob', disabled: true, mayForce: true })
    await list('eve', { budgets: '*' })
    await product.update(
      { kind: 'ranking', project: 'one', budget: 'seo' },
      { token: product.signed({ sub: 'crawler', scope: 'run', budgets: '*' }) },
    )
    const { text, html } = await eve.get('/dashboard/callers')
    expect(text).toContain(
      'crawler Spent this month 40 Last update just now Scopes read, run Budgets seo At most for one update 60 Requests a minute 30 ' +
        "Next stop: crawler's day, 60 units away (1 update at the last price). One update may need at most 60 units (crawler). crawler has 60 of 100 units left today.",
    )
    expect(text).toContain(
      'slack:U1 is bob ✕ Disabled: every request is refused. Spent this month 0 Last update not among the latest 100 Scopes approve Budgets none May force yes',
    )
    expect(text).toContain(
      'eve (you: someone else has to disable you) Spent this month 0 Last update not among the latest 100 Scopes as the token says Budgets all',
    )
    expect([...html.matchAll(/name="sub" value="([^"]+)"/g)].map(([, sub]) => sub)).toEqual(['slack:U1', 'crawler'])
  })

  test('the page of callers shows recent unlisted callers, with a way to limit these callers', async () => {
    const { product, list, eve } = await start()
    await list('crawler', { scopes: ['read', 'run'] })
    for (const sub of ['crawler', 'newcomer'])
      await product.update(
        { kind: 'ranking', project: sub },
        { token: product.signed({ sub, scope: 'run', budgets: '*' }) },
      )
    const page = await eve.get('/dashboard/callers')
    expect(page.text).toContain(
      'newcomer Last update just now via http Token from Unit Guard Limit what newcomer may do Disable or enable callers',
    )
    expect(page.html).toContain('href="/dashboard/callers/edit?sub=newcomer"')
    const stopped = await press(eve, page, 'Disable', { sub: 'newcomer', reason: 'unknown' })
    expect(stopped.text).toContain('✓ newcomer is disabled.')
    expect(stopped.text).not.toContain('Asked lately')
  })

  test('callers are disabled at once and enabled again, listed or not, and keep their other settings', async () => {
    const { product, list, eve, listed } = await start()
    await list('crawler', { scopes: ['read'], perUpdate: 60 })
    const page = await eve.get('/dashboard/callers')
    const stop = { sub: ['crawler'], other: 'mallory', reason: 'their token is on the web' }
    const stopped = await press(eve, page, 'Disable', stop)
    expect(stopped.text).toContain('✓ crawler is disabled. ✓ mallory is disabled.')
    const token = product.signed({ sub: 'mallory', scope: 'read' })
    expect((await product.call('GET', '/budgets', { token })).status).toBe(403)
    await press(eve, page, 'Disable', stop)
    const { body } = await product.call('GET', '/budgets/account/entries')
    const reasons = body.entries.map(({ by, reason }: Record<string, string>) => `${by}: ${reason}`)
    expect(reasons.filter((line: string) => line.includes('disabled')).toSorted()).toEqual([
      'eve: crawler is disabled: their token is on the web',
      'eve: mallory is disabled: their token is on the web',
    ])
    const enabled = await press(eve, stopped, 'Enable', { sub: ['crawler', 'mallory'], reason: 'new tokens' })
    expect(enabled.text).toContain('✓ crawler is enabled. ✓ mallory is enabled.')
    expect((await product.call('GET', '/callers/crawler')).body).toEqual({
      sub: 'crawler',
      scopes: ['read'],
      disabled: false,
      perUpdate: 60,
      next: expect.objectContaining({ kind: 'scopes' }),
    })
    // An entry that only disabled its caller disappears when the caller is enabled.
    expect(await listed()).toEqual([['crawler', false]])
  })

  test('a page sets, shows and removes rules for callers that are not listed', async () => {
    const { product, eve } = await start()
    expect((await eve.get('/dashboard/callers')).text).toContain('No rules are set. Tokens alone decide.')
    const form = await eve.get('/dashboard/callers/edit?sub=*')
    expect(form.text).toContain('These limits do not apply to listed callers or to plans.')
    expect(form.html).not.toMatch(/name="(scopes|budgets|person|mayForce|disabled|month|day)"/)
    const preview = await press(eve, form, 'Preview', { ratePerMinute: '500', perUpdate: '60' })
    expect(preview.text).toContain('Requests a minute none → then 500')
    const saved = await press(eve, preview, 'Save', {})
    expect(saved.text).toContain(
      '✓ The permissions of callers that are not listed are changed from the next request on.',
    )
    expect(saved.text).toContain('At most for one update 60 Requests a minute 500 Change these rules')
    expect((await product.call('GET', '/callers/*')).body).toMatchObject({ perUpdate: 60 })
    const gone = await press(eve, await eve.get('/dashboard/callers/edit?sub=*'), 'Remove rules', {})
    expect(gone.text).toContain('✓ The rules are removed.')
    expect((await product.call('GET', '/callers/*')).status).toBe(404)
  })

  test('the navigation shows Callers only to administrators', async () => {
    const { eve, product } = await start()
    const link = '<a href="/dashboard/callers"'
    expect((await eve.get('/')).html).toContain(link)
    expect((await eve.get('/dashboard/callers')).html).toContain(`${link} aria-current="page"`)
    const rita = openBrowser(product)
    await rita.logIn(product.signed({ sub: 'rita', scope: 'read' }))
    expect((await rita.get('/')).html).not.toContain(link)
  })

  test('the page disables no caller without a choice, a reason or a valid name', async () => {
    const { eve, listed } = await start()
    const page = await eve.get('/dashboard/callers')
    for (const [filled, said] of [
      [{ reason: 'x' }, 'sub: choose at least one caller, or name one.'],
      [{ other: 'mallory' }, '✕ Is needed: say why.'],
      [{ other: 'two words', reason: 'x' }, '✕ Must have 1 to 256 visible characters without #.'],
    ] as const)
      expect((await press(eve, page, 'Disable', filled)).text).toContain(said)
    expect(await listed()).toEqual([])
  })

  test('the form to disable callers keeps the input if no caller was chosen, and is empty after it disabled a caller', async () => {
    const { eve, list } = await start()
    await list('crawler', { scopes: ['read'] })
    const filled = { reason: 'their token is on the web', other: 'mal lory' }
    const again = await press(eve, await eve.get('/dashboard/callers'), 'Disable', filled)
    expect(again.text).toContain('✕ Nothing was done yet. Please correct the marked field.')
    const { fields } = formWith(again.html, 'Disable')
    expect(fields).toMatchObject({ reason: [filled.reason], other: [filled.other] })
    const done = await press(eve, again, 'Disable', { other: 'mallory' })
    expect(done.text).toContain('✓ mallory is disabled.')
    expect(formWith(done.html, 'Disable').fields).toMatchObject({ reason: [''], other: [''] })
  })

  test('the page disables the chosen callers, but never the user themselves', async () => {
    const { eve, list, listed } = await start()
    await list('crawler', {})
    const page = await eve.get('/dashboard/callers')
    const { text } = await press(eve, page, 'Disable', { sub: ['crawler'], other: 'eve', reason: 'x' })
    expect(text).toContain('✓ crawler is disabled. ✕ Someone else has to disable you')
    expect(await listed()).toEqual([['crawler', true]])
  })

  test('the page says which callers are disabled and which are not if the ledger stops answering', async () => {
    const { product, list, eve, listed } = await start()
    for (const sub of ['a', 'b', 'c']) await list(sub, {})
    const page = await eve.get('/dashboard/callers')
    const { transact } = product.store
    let left = 1
    product.store.transact = async (...args) => {
      if (left-- > 0) return transact(...args)
      throw new LedgerUnavailable('gone')
    }
    const sent = await send(eve, page, 'Disable', { sub: ['a', 'b', 'c'], reason: 'x' })
    product.store.transact = transact
    expect((await eve.get(sent.location ?? '')).text).toContain('✓ a is disabled. ✕ The ledger does not answer')
    expect(await listed()).toEqual([
      ['a', true],
      ['b', false],
      ['c', false],
    ])
  })
})

describe('permissions of one caller', () => {
  const edit = '/dashboard/callers/edit?sub=crawler'

  async function startWithCrawler() {
    const started = await start()
    const { product, list } = started
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 500 }] } })
    await list('crawler', { scopes: ['read', 'run', 'approve'], budgets: '*', ratePerMinute: 1_200 })
    const caller = async (sub: string) => {
      const { status, body } = await product.call('GET', `/callers/${encodeURIComponent(sub)}`)
      return status === 200 ? body : null
    }
    const reasons = async () =>
      (await product.call('GET', '/budgets/account/entries')).body.entries
        .filter(({ type }: Record<string, string>) => type === 'caller')
        .map(({ by, reason }: Record<string, string>) => `${by}: ${reason}`)
    return { ...started, caller, reasons }
  }

  test('a preview shows the lost and new rights, and a confirmation changes them once', async () => {
    const { eve, caller, reasons } = await startWithCrawler()
    const before = await caller('crawler')
    const wanted = {
      scopes: ['read', 'propose'],
      charging: 'some',
      budgets: 'seo',
      reading: 'some',
      readsBudgets: 'seo',
      day: '1 000',
      reason: 'a loop',
    }
    const preview = await press(eve, await eve.get(edit), 'Preview', wanted)
    expect(preview.text).toContain(
      'What changes Scopes read, run, approve → then read, propose Budgets all → then seo Budgets to read all → then seo Limit per day unlimited → then 1,000 Reason: a loop',
    )
    expect(preview.text).toContain(
      'crawler loses: run and approve. crawler gains: propose, if the token allows it. crawler can then read seo and the budgets below, but no names',
    )
    expect(preview.text).toContain('Of their own limit, crawler has 1,000 of 1,000 units left today.')
    expect(await caller('crawler')).toEqual(before)

    const changed = await press(eve, preview, 'Save')
    expect(changed.text).toContain('✓ The permissions of crawler are changed from the next request on.')
    const after = {
      sub: 'crawler',
      disabled: false,
      scopes: ['read', 'propose'],
      budgets: ['seo'],
      ratePerMinute: 1_200,
      readsBudgets: ['seo'],
      limits: [{ window: 'day', units: 1_000 }],
    }
    expect(await caller('crawler')).toMatchObject(after)
    expect((await press(eve, preview, 'Save')).text).toContain(
      '✓ The permissions of crawler are already as you want them.',
    )
    expect((await reasons()).filter((line: string) => line.includes('a loop'))).toEqual(['eve: a loop'])

    await press(eve, await press(eve, await eve.get(edit), 'Preview', { perUpdate: '60' }), 'Save')
    expect(await caller('crawler')).toMatchObject({ ...after, perUpdate: 60 })
    const wide = await press(eve, await eve.get(edit), 'Preview', { reading: 'all' })
    expect(wide.text).toContain('crawler can then read everything.')
    await press(eve, wide, 'Save')
    expect(await caller('crawler')).not.toHaveProperty('readsBudgets')
  })

  test('the form of a new caller narrows no token at first, and gives a Slack user no rights', async () => {
    const { eve, caller } = await startWithCrawler()
    const tool = await eve.get('/dashboard/callers/edit?sub=tool')
    expect(tool.text).toContain('tool is not listed yet.')
    expect(tool.html.match(/ checked=""/g)).toHaveLength(6)
    await press(eve, await press(eve, tool, 'Preview', { perUpdate: '60' }), 'Save')
    const narrowed = await caller('tool')
    expect(narrowed).toMatchObject({ sub: 'tool', perUpdate: 60 })
    expect(narrowed).not.toHaveProperty('scopes')
    expect(narrowed).not.toHaveProperty('budgets')
    expect(narrowed).not.toHaveProperty('readsBudgets')

    const dora = await eve.get('/dashboard/callers/edit?sub=slack%3AU02DORA')
    expect(dora.html).not.toContain(' checked=""')
    const preview = await press(eve, dora, 'Preview', { scopes: ['approve'], person: 'crawler' })
    expect(preview.text).toContain('slack:U02DORA gains: approve. slack:U02DORA and crawler are then one person')
    await press(eve, preview, 'Save')
    expect(await caller('slack:U02DORA')).toMatchObject({ scopes: ['approve'], budgets: [], person: 'crawler' })
  })

  test('a stale form says who changed what, and keeps the input', async () => {
    const { eve, list, caller } = await startWithCrawler()
    const form = await eve.get(edit)
    await list('crawler', { scopes: ['read'], budgets: '*', ratePerMinute: 5, mayForce: true })
    const told = await press(eve, form, 'Preview', { ratePerMinute: '7' })
    expect(told.text).toMatch(
      /✕ Nothing was saved: ada changed it on .* \(caller crawler: .*ratePerMinute 1,200 → 5, .*\) since you opened the page\. Your input is kept\. Check it, because saving it may undo that change\./,
    )
    expect(told.html).toContain('value="7"')
    expect(await caller('crawler')).toMatchObject({ scopes: ['read'], mayForce: true, ratePerMinute: 5 })
    expect(told.text).toContain('Requests a minute 5 → then 7')
    await press(eve, told, 'Save')
    expect(await caller('crawler')).toMatchObject({ ratePerMinute: 7 })
  })

  test('a caller’s form keeps a disabled caller disabled, and links to the page that enables callers', async () => {
    const { product, list, eve, caller } = await startWithCrawler()
    // A counter without a limit is shown as no limit, and is kept.
    const limits = [{ window: 'month', units: 'unlimited' }]
    await list('crawler', { scopes: ['read', 'run', 'approve'], disabled: true, limits })
    const form = await eve.get(edit)
    expect(form.text).toContain('crawler is disabled, and stays so. Enable it among the callers')
    expect(form.html).toContain('href="/dashboard/callers#stop"')
    await press(eve, await press(eve, form, 'Preview', { perUpdate: '60' }), 'Save')
    expect(await caller('crawler')).toMatchObject({
      disabled: true,
      scopes: ['read', 'run', 'approve'],
      perUpdate: 60,
      limits,
    })
    const token = product.signed({ sub: 'crawler', scope: 'read' })
    expect((await product.call('GET', '/budgets', { token })).status).toBe(403)
  })

  test('a caller’s form shows all faults and keeps the input', async () => {
    const { eve, caller } = await startWithCrawler()
    const before = await caller('crawler')
    const form = await eve.get(edit)
    const filled = { charging: 'some', budgets: 'nowhere', perUpdate: '1.5', month: 'many', person: 'two words' }
    const wrong = await press(eve, form, 'Preview', filled)
    expect(wrong.text).toContain('✕ Must have 1 to 256 visible characters without #.')
    expect(wrong.text).toContain('✕ Must be a whole number of units, or unlimited.')
    expect(wrong.text).toContain('✕ Must be a whole number')
    expect(wrong.html).toContain('value="two words"')
    const { perUpdate: _fraction, month: _many, person: _words, ...unknown } = filled
    expect((await press(eve, form, 'Preview', unknown)).text).toContain('✕ There is no budget nowhere.')
    expect((await press(eve, form, 'Preview')).text).toContain('✕ Nothing has changed.')
    const unnamed = await eve.get('/dashboard/callers/edit?sub=two+words')
    expect((await eve.get(unnamed.location ?? '')).text).toContain('✕ Must have 1 to 256 visible characters')
    expect(await caller('crawler')).toEqual(before)
  })

  test('a caller’s form refuses a change that would lock administrators out', async () => {
    const { eve, list, caller } = await startWithCrawler()
    await list('eve', { scopes: ['read', 'admin'] })
    const form = await eve.get('/dashboard/callers/edit?sub=eve')
    expect(form.text).not.toContain('Remove eve')
    for (const filled of [{ scopes: ['read'] }, { reading: 'some', readsBudgets: 'seo' }])
      expect((await press(eve, form, 'Preview', filled)).text).toContain('✕ Someone else has to disable you')
    const { formToken } = form
    const sent = await eve.post('/dashboard/callers/delete', { form: formToken, sub: 'eve', revision: '9' })
    expect((await eve.get(sent.location ?? '')).text).toContain('✕ Someone else has to disable you')
    expect(await caller('eve')).toMatchObject({ scopes: ['read', 'admin'], disabled: false })
  })

  test('a page removes a caller from the list after a warning, unless the page is stale', async () => {
    const { eve, list, caller, reasons } = await startWithCrawler()
    await list('crawler', { disabled: true })
    const seen = await eve.get(edit)
    expect(seen.text).toContain('Then their token alone decides what they may do.')
    expect(seen.text).toContain('This caller is disabled. Removing it from the list enables it: its tokens work again.')
    await list('other', {})
    const stale = await press(eve, seen, 'Remove crawler', { reason: 'gone' })
    expect(stale.text).toContain('✕ Someone made a change since you loaded the page, so nothing was done. Check again.')
    expect(await caller('crawler')).toMatchObject({ disabled: true })
    const gone = await press(eve, stale, 'Remove crawler', { reason: 'gone' })
    expect(gone.text).toContain('✓ crawler is removed from the list.')
    expect(await caller('crawler')).toBeNull()
    expect(await reasons()).toContain('eve: gone')
  })

  test('only administrators see and change callers, with a page of their own session', async () => {
    const { product, eve, caller } = await startWithCrawler()
    const rita = openBrowser(product)
    await rita.logIn(product.signed({ sub: 'rita', scope: 'read run approve' }))
    for (const path of ['/dashboard/callers', edit]) expect((await rita.get(path)).status).toBe(403)
    const own = await rita.get('/')
    const wanted = { sub: 'crawler', scopes: 'admin', step: 'confirm', revision: '3', do: 'disable', reason: 'x' }
    for (const path of ['', '/edit', '/delete']) {
      const to = `/dashboard/callers${path}`
      const refused = await rita.post(to, { ...wanted, form: own.formToken })
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('rita needs the scope admin')])
      expect((await eve.post(to, { ...wanted, form: own.formToken })).text).toContain('belongs to another session')
      const foreign = { headers: { 'sec-fetch-site': 'cross-site' } }
      const { formToken } = await eve.get(edit)
      expect((await eve.post(to, { ...wanted, form: formToken }, foreign)).text).toContain('sent by another site')
    }
    expect(await caller('crawler')).toMatchObject({ scopes: ['read', 'run', 'approve'], disabled: false })
  })

  test.each([
    '"><script>alert(1)</script>',
    '../..',
    'a/b?c=d&e',
    'github:repo:acme@1/reports@2:ref:refs/heads/main',
    `okta:100%25+${'x'.repeat(244)}`,
  ])('the callers page accepts a name like %s', async (sub) => {
    const { product, eve } = await start()
    await product.guard.putCaller(sub, { person: '<img/src=x>' }, { caller: 'ada' })
    const list = await eve.get('/dashboard/callers')
    const link = /<a href="(\/dashboard\/callers\/edit[^"]*)"/.exec(list.html)?.[1]?.replaceAll('&amp;', '&')
    const form = await eve.get(link ?? '')
    const preview = await press(eve, form, 'Preview', { person: '', scopes: ['read'] })
    for (const page of [list, form, preview]) expectInert(page)
    expect(list.text).toContain(`${sub} is <img/src=x>`)
    expect((await press(eve, preview, 'Save')).text).toContain('are changed from the next request on.')
    expect((await product.guard.ledger.view()).definitions.callers).toEqual({ [sub]: { scopes: ['read'] } })
  })
})
