import { describe, expect, test } from 'vitest'
import { openBrowser } from '../support/browser/browser.ts'
import { press, send } from '../support/browser/page-forms.ts'
import { json, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const month = (units: number) => [{ window: 'month', units }]

async function start(scope = 'read run') {
  const product = await startProduct({ store: createMemoryStore(), units: { dear: 700 } })
  await product.call('PUT', '/budgets/seo', {
    body: { limits: month(500), projects: [{ name: 'shop' }, { name: 'dear' }] },
  })
  const as = async (sub: string, may: string) => {
    const browser = openBrowser(product)
    await browser.logIn(product.signed({ sub, scope: may, budgets: '*' }))
    return browser
  }
  const ben = await as('ben', scope)
  const ask = (project: string, more = '') => ben.get(`/dashboard/ask?kind=ranking&project=${project}${more}`)
  const updates = async () => (await product.call('GET', '/updates')).body.updates
  return { product, as, ben, ask, updates }
}

describe('asking for an update in the browser', () => {
  test('the form of a new update shows the estimate and its effect on each budget, and spends nothing', async () => {
    const { product, ask, updates } = await start()
    const { text, html } = await ask('shop')
    expect(text).toContain('The ranking update of shop costs 40 units')
    expect(text).toContain('The ranking update of shop costs 40 units ✓ It can run now. Estimate 40')
    expect(text).toContain('seo this month 500 40 460 account this month 50,000 40 49,960 Why')
    expect(html).toContain('<option value="shop">')
    expect([product.seen('run'), await updates()]).toEqual([[], []])
  })

  test('the page shows every check of an update, and opens the list if the update would be refused or has no estimate', async () => {
    const { product, ask } = await start()
    const passing = await ask('shop')
    expect(passing.html).toMatch(/<details><summary>Why/)
    expect(passing.text).toContain('✓ used up passes every limit that can refuse it has something left')
    await product.call('PUT', '/callers/ben', { body: { perUpdate: 39 } })
    const refused = await ask('shop')
    expect(refused.html).toMatch(/<details open=""><summary>Why/)
    expect(refused.text).toMatch(/✕ one update refuses This update needs 40 units, and ben allows at most 39/)
    product.service.script(({ url }) => /\/estimate/.test(url), json({}, 503))
    const unpriced = await ask('shop')
    expect(unpriced.html).toMatch(/aria-invalid="true".*<details open=""><summary>Why/s)
    expect(unpriced.text).toMatch(
      /✕ estimate refuses The estimate of .* \? counter unknown seo has 500 of 500 units left/,
    )
    expect([product.seen('run'), unpriced.text.includes('Ask for the update')]).toEqual([[], false])
  })

  test('a form sends one request for any number of presses, and the stream runs it once', async () => {
    const { product, ben, ask, updates } = await start()
    const page = await ask('shop')
    const [reason, tags] = ['new landing pages', ' client=acme, inc \r\n\r\nticket=SEO-47']
    const [first, second] = [
      await send(ben, page, 'Ask for the update', { reason, tags }),
      await send(ben, page, 'Ask for the update', { reason, tags }),
    ]
    expect([first.status, second.location]).toEqual([303, first.location])
    const waiting = await ben.get(first.location ?? '')
    expect(waiting.headers.get('refresh')).toBe('3')
    expect(waiting.text).toContain('requested ben asked for this ranking update')
    await product.deliver()
    expect(await updates()).toMatchObject([{ state: 'settled', caller: 'ben', budget: 'seo', reason, maxUnits: 40 }])
    expect((await updates())[0].tags).toEqual({ client: 'acme, inc', ticket: 'SEO-47' })
    expect((await ben.get(first.location ?? '')).text).toContain('Tags client: acme, inc, ticket: SEO-47')
    const tagged = '/dashboard/updates?tag=ticket%3ASEO-47'
    expect((await ben.get(first.location ?? '')).html).toContain(`href="${tagged}"`)
    expect((await ben.get(tagged)).text).toContain('1 update, 40 units charged')
    expect((await ben.get('/dashboard/updates?tag=ticket%3Aother')).text).toContain('No matches.')
    const byTag = (await ben.get('/dashboard/statements?by=tag%3Aclient')).text
    expect(byTag).toContain('By tag client By tag ticket')
    expect(byTag).toContain('acme, inc 1 40')
    expect(product.seen('run')).toHaveLength(1)
    expect((await ben.get(first.location ?? '')).headers.get('refresh')).toBeNull()
    expect((await press(ben, page, 'Ask for the update', { reason: 'another' })).text).toContain(
      'You already sent this page with other values, so nothing more was asked for.',
    )
  })

  test('a form marks a tag that is not written as key=value, and keeps what was typed', async () => {
    const { product, ben, ask } = await start()
    const page = await press(ben, await ask('shop'), 'Ask for the update', { reason: 'r', tags: 'client' })
    expect(page.text).toContain('Each tag must be written as key=value.')
    expect(page.html).toContain('>client</textarea>')
    expect(product.seen('run')).toEqual([])
  })

  test('an update’s page does not reload while the form to cancel is open', async () => {
    const { ben, ask } = await start()
    const { location } = await send(ben, await ask('shop'), 'Ask for the update')
    expect((await ben.get(location ?? '')).html).toContain(`href="${location}?decide="`)
    const form = await ben.get(`${location}?decide=`)
    expect(form.headers.get('refresh')).toBeNull()
    expect((await press(ben, form, 'Cancel update')).text).toContain('is cancelled')
  })

  test('a request on a page never costs more than the page showed, and never charges another budget', async () => {
    const { product, ben, ask, updates } = await start()
    const page = await ask('shop')
    product.service.script(({ url }) => /\/estimate/.test(url), json({ keyword_units: 41 }))
    await send(ben, page, 'Ask for the update')
    await product.deliver()
    expect(await updates()).toMatchObject([
      { state: 'refused', problem: { type: expect.stringContaining('over-max-units') } },
    ])
    const other = await ask('shop')
    await product.call('PUT', '/budgets/new', { body: { limits: month(500) } })
    await product.call('PUT', '/budgets/seo?release=true', { body: { limits: month(500), projects: [] } })
    await product.call('PUT', '/budgets/new', { body: { limits: month(500), projects: [{ name: 'shop' }] } })
    expect((await press(ben, other, 'Ask for the update')).text).toContain('The payer or owner of shop has changed')
    expect([product.seen('run'), (await updates()).length]).toEqual([[], 1])
  })

  test('a request with the scope propose awaits approval, and another person approves', async () => {
    const { product, as, ben, ask, updates } = await start('read propose approve')
    const page = await ask('shop')
    expect(page.text).toContain('Needs approval:')
    const { location } = await send(ben, page, 'Ask for approval')
    await product.deliver()
    expect((await ben.get(location ?? '')).html).not.toContain('>Approve<')
    const bob = await as('bob', 'read approve')
    await press(bob, await bob.get(location ?? ''), 'Approve')
    await product.deliver()
    expect(await updates()).toMatchObject([{ state: 'settled', caller: 'ben', approvedBy: 'bob' }])
  })

  test('a request asks an approver to grant the missing units', async () => {
    const { product, ben, ask, updates } = await start()
    const page = await ask('dear')
    expect(page.text).toContain('It would be refused now. seo has 500 of 500 units left this month and this needs 700')
    await send(ben, page, 'Ask for approval')
    await product.deliver()
    const [{ id }] = await updates()
    expect(await product.guard.ledger.update(id)).toMatchObject({
      state: 'awaiting-approval',
      short: [{ budget: 'seo', window: 'month', units: 200 }],
    })
  })

  test('a form forces work that was just done only with the right and a reason', async () => {
    const { product, as, ask, updates } = await start()
    await product.update({ kind: 'ranking', project: 'shop' })
    expect((await ask('shop')).html).not.toContain('name="do"')
    const eve = await as('eve', 'read run admin')
    const page = await eve.get('/dashboard/ask?kind=ranking&project=shop')
    const told = await press(eve, page, 'Force the update', { reason: 'x'.repeat(501) })
    expect(told.html).toMatch(/name="reason"[^>]*aria-describedby="ask-reason-fault" aria-invalid="true" autofocus/)
    expect(told.text).toContain('✕ Must have at most 500 characters.')
    await send(eve, told, 'Force the update', { reason: 'two new pages' })
    await product.deliver()
    expect(await updates()).toContainEqual(
      expect.objectContaining({ state: 'settled', force: true, reason: 'two new pages' }),
    )
  })

  test('a refusal links to the forms that would let the update pass', async () => {
    const { product, as } = await start()
    const { body } = await product.update({ kind: 'ranking', project: 'dear' })
    const { id } = (await product.call('GET', '/updates')).body.updates[0]
    expect(body.type).toContain('over-budget')
    const eve = await as('eve', 'read run admin')
    const { html } = await eve.get(`/dashboard/updates/${id}`)
    expect(html).toContain(
      'href="/dashboard/budgets/seo/book?type=grant&amp;units=200&amp;window=month#grant">Grant 200 to seo…',
    )
    expect(html).toContain('href="/dashboard/ask?kind=ranking&amp;project=dear">Ask again…')
    const reader = await (await as('rita', 'read')).get(`/dashboard/updates/${id}`)
    expect(reader.html).not.toMatch(/Grant 200|Ask again/)
  })

  test('a form marks the wrong field, keeps the input, and requires a scope', async () => {
    const { as, ben } = await start()
    const wrong = await ben.get('/dashboard/ask?kind=colour&project=..')
    expect(wrong.text).toContain('✕ Must be ranking or keyword-difficulty.')
    expect(wrong.html).toMatch(/value="\.\."[^>]*aria-invalid="true" autofocus/)
    expect((await ben.get('/dashboard/ask?kind=ranking&project=shop&budget=none')).text).toContain(
      '✕ There is no budget none.',
    )
    expect((await (await as('rita', 'read')).get('/dashboard/ask')).status).toBe(403)
  })
})
