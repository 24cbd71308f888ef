import { describe, expect, test } from 'vitest'
import { typeOfVersion } from '../../../shared/events/types.ts'
import { openBrowser } from '../../support/browser/browser.ts'
import { press } from '../../support/browser/page-forms.ts'
import { days } from '../../support/clock.ts'
import { linesOf } from '../../support/log-lines.ts'
import { json, startProduct } from '../../support/product.ts'
import { listPeople, textsOf } from '../../support/slack/slack.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

/** `site` and `blog` of acme ran, cost 40 each, and brought no data; `site` and `blog` are late. `shop` of globex came. */
async function withLate(options: Parameters<typeof startProduct>[0] = {}) {
  const shop = ['2026-11-01']
  const product = await startProduct({
    store: createMemoryStore(),
    service: ({ url }) =>
      url.endsWith('/dates') ? json({ dates: url.includes('/shop/') ? shop : ['2026-11-01'] }) : undefined,
    ...options,
  })
  const limits = [{ window: 'month', units: 300 }]
  await product.call('PUT', '/budgets/acme', { body: { limits, projects: [{ name: 'site' }, { name: 'blog' }] } })
  await product.call('PUT', '/budgets/globex', { body: { limits, projects: [{ name: 'shop' }] } })
  const { body } = await product.update({ kind: 'ranking', projects: ['site', 'blog', 'shop'] })
  const [site, blog, came] = body.updates.map(({ id }: { id: string }) => id)
  shop.push('2026-11-20')
  product.clock.advance(days(4))
  await (await product.guard.jobs()).findRunsOutside(product.endsAt())
  await product.update({ kind: 'ranking', project: 'shop' })
  const close = (id: string, answer: object, scope = 'read approve admin') =>
    product.call('POST', `/updates/${id}/delivery`, {
      body: answer,
      token: product.signed({ sub: 'eve', scope, budgets: '*' }),
    })
  const listed = async (query: string) =>
    (await product.call('GET', `/updates?${query}`)).body.updates.map((each: { project: string }) => each.project)
  const update = async (id: string) => (await product.call('GET', `/updates/${id}`)).body
  return { product, site, blog, came, close, listed, update }
}

const reason = 'the vendor said so'

describe('POST /updates/{id}/delivery', () => {
  test('a person says that the data came, which changes no units', async () => {
    const { product, site, close, update } = await withLate()
    const { status, body } = await close(site, { outcome: 'came', reason }, 'approve')
    expect([status, body.delivery, body.units.charged]).toEqual([200, 'came', 40])
    expect(body.history.at(-1)).toMatchObject({ state: 'settled', by: 'eve', note: `it came: ${reason}` })
    expect(await update(site)).toEqual(body)
    expect(await product.figures('acme')).toMatchObject({ spent: 80 })
    const stored = await product.guard.ledger.update(site)
    expect(stored && typeOfVersion(stored, stored.version)).toBeNull()
  })

  test('given-back books a correction of the units that came back, or of all units', async () => {
    const { product, site, blog, close } = await withLate()
    const part = await close(site, { outcome: 'given-back', units: 15, reason })
    expect([part.status, part.body.delivery, part.body.units.charged]).toEqual([200, 'given-back', 25])
    expect(part.body.history.at(-1).note).toBe(`charge corrected from 40 to 25: given back: ${reason}`)
    product.clock.advance(1)
    const all = await close(blog, { outcome: 'given-back', reason })
    expect([all.body.delivery, all.body.units.charged]).toEqual(['given-back', 0])
    expect(await product.figures('acme')).toMatchObject({ spent: 25, available: 275 })
    const { entries } = (await product.call('GET', '/budgets/acme/entries')).body
    expect(entries.filter(({ type }: { type: string }) => type === 'correction')).toMatchObject([
      { corrects: blog, units: 0, by: 'eve' },
      { corrects: site, units: 25, by: 'eve' },
    ])
    expect(linesOf(product.logged, 'charge-corrected')).toMatchObject([
      { update: site, charged: 25, by: 'eve' },
      { update: blog, charged: 0, by: 'eve' },
    ])
    expect(await product.audit()).toBe(true)
    // The next look does not ask for the data again.
    product.clock.advance(days(1))
    await (await product.guard.jobs()).findRunsOutside(product.endsAt())
    expect((await product.guard.ledger.open('undelivered', 5)).rows).toEqual([])
  })

  test('a correction that lowers the charge closes the delivery, too, and one that raises it does not', async () => {
    const { product, site, update } = await withLate()
    const correct = (units: number) =>
      product.call('POST', '/budgets/acme/entries', { body: { type: 'correction', corrects: site, units, reason } })
    expect((await correct(50)).status).toBe(201)
    expect((await update(site)).delivery).toBe('late')
    expect((await correct(45)).status).toBe(201)
    expect((await update(site)).delivery).toBe('given-back')
  })

  test('came needs the scope approve, and given-back the scope admin', async () => {
    const { site, close, update } = await withLate()
    expect((await close(site, { outcome: 'came', reason }, 'read run')).status).toBe(403)
    expect((await close(site, { outcome: 'given-back', reason }, 'read approve')).status).toBe(403)
    expect((await update(site)).delivery).toBe('late')
  })

  test('a delivery that is not late, too many units, a wrong member or an unknown update is refused', async () => {
    const { site, came, close } = await withLate()
    const refused = async (id: string, answer: object) => {
      const { status, body } = await close(id, answer)
      return [status, body.errors?.[0]?.message ?? body.detail]
    }
    const many = { outcome: 'given-back', units: 41, reason }
    expect(await refused(site, many)).toEqual([
      409,
      'The ranking update of site was charged 40 units, so no more can come back.',
    ])
    for (const outcome of ['came', 'given-back'])
      expect(await refused(came, { outcome, reason })).toEqual([
        409,
        'The delivery of the ranking update of shop cannot be closed: its data came already.',
      ])
    expect(await refused(site, { outcome: 'came', units: 3, reason })).toEqual([
      400,
      'is only for the outcome given-back',
    ])
    expect((await refused(site, { outcome: 'given-back', units: 0, reason }))[0]).toBe(400)
    expect((await refused(site, { outcome: 'late', reason }))[1]).toBe('must be came or given-back')
    expect((await refused(site, { outcome: 'came' }))[0]).toBe(400)
    for (const outcome of ['came', 'given-back']) expect((await refused('upd_none', { outcome, reason }))[0]).toBe(404)
    expect((await close(site, { outcome: 'given-back', reason })).status).toBe(200)
    expect((await close(site, { outcome: 'given-back', reason })).status).toBe(409)
  })

  test('a reader of only some budgets closes only the deliveries of these', async () => {
    const { product, site } = await withLate()
    const scopes = ['read', 'approve']
    await product.call('PUT', '/callers/gus', { body: { scopes, budgets: ['globex'], readsBudgets: ['globex'] } })
    await product.call('PUT', '/callers/amy', { body: { scopes, budgets: ['acme'], readsBudgets: ['acme'] } })
    const close = (sub: string) =>
      product.call('POST', `/updates/${site}/delivery`, {
        body: { outcome: 'came', reason },
        token: product.signed({ sub, scope: 'read approve', budgets: '*' }),
      })
    expect((await close('gus')).status).toBe(404)
    expect((await close('amy')).body).toMatchObject({ id: site, delivery: 'came' })
  })
})

describe('GET /updates?delivery', () => {
  test('updates are listed by the state of their delivery', async () => {
    const { site, close, listed } = await withLate()
    expect(await listed('delivery=late')).toEqual(expect.arrayContaining(['site', 'blog']))
    expect(await listed('delivery=late&project=blog')).toEqual(['blog'])
    expect(await listed('delivery=late&state=refused')).toEqual([])
    expect(await listed('delivery=came')).toEqual(['shop'])
    expect(await listed('delivery=awaited')).toEqual(['shop'])
    expect(await listed('delivery=given-back')).toEqual([])
    await close(site, { outcome: 'given-back', reason })
    expect(await listed('delivery=given-back')).toEqual(['site'])
    expect(await listed('delivery=late')).toEqual(['blog'])
  })

  test('late updates are listed however old they are, and updates of which nothing is known are awaited for 15 days', async () => {
    const { product, listed } = await withLate()
    product.clock.advance(days(15) - 1)
    expect(await listed('delivery=awaited')).toEqual(['shop'])
    product.clock.advance(1)
    expect(await listed('delivery=awaited')).toEqual([])
    product.clock.advance(days(60))
    expect(await listed('delivery=late')).toHaveLength(2)
  })

  test('a count of updates is left out, and a spreadsheet has the column delivery', async () => {
    const { product } = await withLate()
    const { body } = await product.call('GET', '/updates?delivery=came&since=2026-11-01T00:00:00Z')
    expect(body).not.toHaveProperty('count')
    const { text } = await product.call('GET', '/updates?delivery=came', { headers: { accept: 'text/csv' } })
    const [head = '', row = ''] = text.trim().split('\r\n')
    expect([head.split(',').at(-2), row.split(',').at(-2)]).toEqual(['delivery', 'came'])
    expect((await product.call('GET', '/updates?delivery=lost')).body.errors).toEqual([
      { path: 'delivery', message: 'must be one of awaited, late, came, given-back' },
    ])
  })

  test('an event of a late update shows it as the API does', async () => {
    const { product, site } = await withLate()
    const { rows } = await product.guard.ledger.announcements.open(20)
    expect(rows.flatMap(({ about }) => (about.kind === 'not-delivered' ? [about.update] : []))).toContain(site)
  })
})

describe('the pages of deliveries', () => {
  test('the inbox lists late updates, and the page of an update closes its delivery', async () => {
    const { product, site, blog } = await withLate()
    const eve = openBrowser(product)
    await eve.logIn(product.signed({ sub: 'eve', scope: 'read approve admin' }))
    const inbox = await eve.get('/dashboard/inbox')
    expect(inbox.html).toContain('Paid, nothing delivered: 2')
    expect(inbox.html).toContain(`href="/dashboard/updates/${site}#close-delivery"`)
    const page = await eve.get(`/dashboard/updates/${site}`)
    expect(page.html).toContain('Paid, nothing delivered: the service has no new data of this run.')
    const faulty = await press(eve, page, 'Units were given back', { units: '0', reason: '' })
    expect(faulty.html).toContain('Must be a whole number of units from 1 to')
    const given = await press(eve, page, 'Units were given back', { units: '30', reason })
    expect(given.html).toMatch(/The service gave units back: the update of site is charged 10\sunits\./)
    expect(given.html).not.toContain('It came')
    const other = await press(eve, await eve.get(`/dashboard/updates/${blog}`), 'It came', { reason })
    expect(other.html).toContain('The data of blog came.')
    expect((await eve.get('/dashboard/inbox')).html).not.toContain('Paid, nothing delivered')
    expect(await product.figures('acme')).toMatchObject({ spent: 50 })
  })

  test('without the scope admin the page offers only “It came”, and without approve no form', async () => {
    const { product, site } = await withLate()
    const forms = async (scope: string) => {
      const browser = openBrowser(product)
      await browser.logIn(product.signed({ sub: 'fay', scope }))
      const { html } = await browser.get(`/dashboard/updates/${site}`)
      return ['It came', 'Units were given back'].filter((text) => html.includes(`>${text}</button>`))
    }
    expect(await forms('read approve')).toEqual(['It came'])
    expect(await forms('read admin')).toEqual(['Units were given back'])
    expect(await forms('read')).toEqual([])
  })

  test('the list of updates has a filter for deliveries, and late updates of every month', async () => {
    const { product, site } = await withLate()
    const eve = openBrowser(product)
    await eve.logIn(product.signed({ sub: 'eve', scope: 'read' }))
    product.clock.advance(days(30))
    await eve.logIn(product.signed({ sub: 'eve', scope: 'read' }))
    const { html } = await eve.get('/dashboard/updates?delivery=late')
    expect(html).toContain(site)
    expect(html).toContain('<option value="late" selected')
    expect((await eve.get('/dashboard/updates?delivery=came')).html).not.toContain(site)
  })
})

describe('the buttons in Slack', () => {
  test('“It came” and “Units were given back…” close a delivery, for those who may', async () => {
    const { product, site, blog, update } = await withLate({ slack: true, bot: true })
    await listPeople(product, { U1ADA: { scopes: ['approve', 'admin'] }, U2BOB: { scopes: ['approve'] } })
    const answered = async () => {
      await product.deliver()
      return product.slack.posted().flatMap((posted) => textsOf(posted))
    }
    await product.slack.press('delivery-came', site, { user: 'U3EVE' })
    await answered()
    expect((await update(site)).delivery).toBe('late')
    await product.slack.press('delivery-came', site, { user: 'U2BOB' })
    expect((await answered()).join('\n')).toContain('The data of site came.')
    expect(await update(site)).toMatchObject({ delivery: 'came' })
    await product.slack.press('units-given-back', blog, { user: 'U1ADA' })
    await product.slack.submit({ units: '40', reason }, { user: 'U1ADA' })
    expect((await answered()).join('\n')).toContain(
      'The service gave units back: the update of blog is charged 0 units.',
    )
    expect(await update(blog)).toMatchObject({ delivery: 'given-back', units: { charged: 0 } })
  })
})
