import { describe, expect, test } from 'vitest'
import { openBrowser } from '../support/browser/browser.ts'
import { formWith, press, send } from '../support/browser/page-forms.ts'
import { type Product, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// Pages book each entry once for any number of presses, and show a reconciliation before they book it.

const month = (units: number) => ({ window: 'month', units })

/** `acme` (2,000 a month, 300 a day) and `globex` (200) below `agency` (20,000), below the account (50,000). */
async function start() {
  const product = await startProduct({ store: createMemoryStore() })
  const put = (name: string, body: object) => product.call('PUT', `/budgets/${name}`, { body })
  await put('agency', { limits: [month(20_000)] })
  await put('acme', { parent: 'agency', limits: [month(2_000), { window: 'day', units: 300 }] })
  await put('globex', { parent: 'agency', limits: [month(200)] })
  const eve = openBrowser(product)
  await eve.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
  const formsOf = (budget: string) => eve.get(`/dashboard/budgets/${budget}/book`)
  const buttons = {
    grant: 'Preview grant',
    transfer: 'Preview transfer',
    'external-spend': 'Preview spending',
    reconcile: 'Preview',
  }
  const fill = async (budget: string, type: keyof typeof buttons, filled: Record<string, string>) =>
    press(eve, await formsOf(budget), buttons[type], { reason: 'r', ...filled }, `value="${type}"`)
  /** Fills in a form and confirms its preview. */
  const book = async (...of: Parameters<typeof fill>) => press(eve, await fill(...of), 'Book')
  return { product, eve, formsOf, fill, book }
}

const booked = async (product: Product, budget = 'acme') =>
  (await product.call('GET', `/budgets/${budget}/entries`)).body.entries
    .map(({ type, units, by, reason }: Record<string, unknown>) => [type, units, by, reason])
    .filter(([type]: string[]) => type !== 'budget-created')

describe('a grant', () => {
  test('a grant is booked, and the page says how much of it a tighter limit above allows', async () => {
    const { product, fill, book, eve } = await start()
    const preview = await fill('acme', 'grant', { units: '1,500', reason: 'Christmas' })
    expect(preview.text).toContain('Grant 1,500 units to acme this month Reason: Christmas')
    expect(preview.text).toContain('acme month 2,000 → then 3,500 0 2,000 3,500')
    expect(preview.text).not.toContain('agency month')
    expect(await booked(product)).toEqual([])
    const done = await press(eve, preview, 'Book')
    expect(done.text).toContain('✓ Booked: 1,500 units on acme.')
    expect(done.text).not.toContain('can cost no more than that together')
    expect(await booked(product)).toEqual([['grant', 1_500, 'eve', 'Christmas']])
    expect(await product.figures('acme')).toMatchObject({ granted: 1_500, available: 3_500 })
    const bound = await fill('globex', 'grant', { units: '30,000' })
    for (const page of [bound, await press(eve, bound, 'Book')])
      expect(page.text).toContain(
        'agency has 20,000 units left this month, so updates of globex can cost no more than that together.',
      )
    await book('agency', 'external-spend', { units: '20,100' })
    expect((await fill('globex', 'grant', { units: '1' })).text).toContain(
      'agency is over by 100 units this month, so nothing is left for updates of globex.',
    )
  })

  test('a number that is not clear is refused with the text, and books nothing', async () => {
    const { product, fill } = await start()
    for (const units of ['1.200,000', '1,200.000', '1 200,000', '0,500', '1e3']) {
      const wrong = await fill('acme', 'grant', { units })
      expect(wrong.text).toContain('Units ✕ Must be a whole number of units from 1 to 1000000000000.')
      expect(wrong.html).toContain(`value="${units}"`)
    }
    expect(await booked(product)).toEqual([])
  })

  test('a grant is booked once for any number of presses', async () => {
    const { product, eve, formsOf } = await start()
    const forms = await formsOf('acme')
    const preview = await press(eve, forms, 'Preview grant', { units: '50', reason: 'r' }, 'value="grant"')
    await Promise.all([1, 2].map(() => send(eve, preview, 'Book')))
    const again = await press(eve, preview, 'Book')
    expect(again.text).toContain('✓ This was already booked when you first sent it, so nothing more was booked.')
    expect(await booked(product)).toEqual([['grant', 50, 'eve', 'r']])
  })

  test('a grant with other figures under the same key is booked only after a second confirmation', async () => {
    const { product, eve, formsOf } = await start()
    const forms = await formsOf('acme')
    const grant = (units: string) => press(eve, forms, 'Preview grant', { units, reason: 'r' }, 'value="grant"')
    const [first, second] = [await grant('50'), await grant('60')]
    await press(eve, first, 'Book')
    const other = await press(eve, second, 'Book')
    expect(other.text).toContain('✕ This form already booked other figures, so nothing more was booked now.')
    expect(await booked(product)).toHaveLength(1)
    product.clock.advance(1)
    await press(eve, await press(eve, other, 'Preview grant', {}, 'value="grant"'), 'Book')
    expect(await booked(product)).toEqual([
      ['grant', 60, 'eve', 'r'],
      ['grant', 50, 'eve', 'r'],
    ])
  })

  test('a grant may be for the whole chain, for today or for the next month', async () => {
    const { product, fill, book, eve } = await start()
    const whole = await fill('acme', 'grant', { units: '10', wholeChain: 'yes' })
    expect(whole.text).toContain('Grant 10 units to acme and all above it this month')
    expect(whole.text).toContain('account month 50,000 → then 50,010')
    await press(eve, whole, 'Book')
    expect(await product.figures('account')).toMatchObject({ granted: 10 })
    await book('acme', 'grant', { units: '20', window: 'day' })
    expect(await product.figures('acme', 'day')).toMatchObject({ granted: 20, available: 320 })
    expect(await product.guard.ledger.bookNamed('month:2026-12-01')).toBeNull()
    const ahead = await fill('globex', 'grant', { units: '7', window: 'next-month' })
    expect(ahead.text).toContain('Grant 7 units to globex in the month from 1 Dec 2026')
    expect(ahead.text).toContain('globex month 200 → then 207')
    expect(await product.guard.ledger.bookNamed('month:2026-12-01')).toBeNull()
    const next = await press(eve, ahead, 'Book')
    expect(next.text).toContain('✓ Booked: 7 units on globex, for the month from 1 Dec 2026.')
    expect((await product.guard.ledger.bookNamed('month:2026-12-01'))?.counters.month.globex).toMatchObject({
      granted: 7,
    })
  })

  test('a budget’s page shows the units granted for next month, also to a reader of that budget alone', async () => {
    const { product, eve, book } = await start()
    await book('globex', 'grant', { units: '7', window: 'next-month' })
    await product.call('PUT', '/callers/gus', { body: { readsBudgets: ['globex'] } })
    const gus = openBrowser(product)
    await gus.logIn(product.signed({ sub: 'gus', scope: 'read' }))
    for (const browser of [eve, gus])
      expect((await browser.get('/dashboard/budgets/globex')).text).toContain('Next month: 7 units are granted.')
    expect((await eve.get('/dashboard/budgets/acme')).text).not.toContain('Next month:')
    // A grant that began with its month is booked this month.
    product.clock.set('2026-12-01T00:00:00Z')
    expect((await eve.get('/dashboard/budgets/globex')).text).not.toContain('Next month:')
  })

  test('a form that was opened before the renewal books nothing after the renewal until it is sent again', async () => {
    const { product, eve, formsOf } = await start()
    product.clock.set('2026-11-30T23:50:00Z')
    await eve.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
    const forms = await formsOf('acme')
    product.clock.set('2026-12-01T00:05:00Z')
    const again = await press(eve, forms, 'Preview grant', { units: '50', reason: 'r' }, 'value="grant"')
    expect(again.text).toContain('✕ A new month has begun since you opened this page, so nothing was booked.')
    expect(await product.figures('acme')).toMatchObject({ granted: 0 })
    await press(eve, await press(eve, again, 'Preview grant', {}, 'value="grant"'), 'Book')
    expect(await product.figures('acme')).toMatchObject({ granted: 50 })
  })

  test('a day grant that was opened before midnight books nothing on the next day until it is sent again', async () => {
    const { product, eve, formsOf } = await start()
    product.clock.set('2026-11-12T23:59:00Z')
    await eve.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
    const filled = { units: '20', window: 'day', reason: 'r' }
    const preview = await press(eve, await formsOf('acme'), 'Preview grant', filled, 'value="grant"')
    product.clock.set('2026-11-13T00:01:00Z')
    const again = await press(eve, preview, 'Book')
    expect(again.text).toContain('✕ A new day has begun since you opened this page, so nothing was booked.')
    expect(await product.figures('acme', 'day')).toMatchObject({ granted: 0 })
    await press(eve, await press(eve, again, 'Preview grant', {}, 'value="grant"'), 'Book')
    expect(await product.figures('acme', 'day')).toMatchObject({ granted: 20 })
  })

  test('a wrong grant shows its faults and keeps the input and the key', async () => {
    const { product, eve, formsOf } = await start()
    const forms = await formsOf('acme')
    const { fields } = formWith(forms.html, 'Preview grant', 'value="grant"')
    const wrong = await press(
      eve,
      forms,
      'Preview grant',
      { units: '1.5', window: 'year', reason: '' },
      'value="grant"',
    )
    expect(wrong.text).toContain('Units ✕ Must be a whole number of units from 1 to 1000000000000.')
    expect(wrong.text).toContain('✕ Must be month, day or next-month.')
    expect(wrong.text).toContain('Reason ✕ Is needed: say why.')
    const kept = formWith(wrong.html, 'Preview grant', 'value="grant"').fields
    expect([kept.units, kept.key]).toEqual([['1.5'], fields.key])
    for (const key of ['', 'mine'])
      expect(
        (await press(eve, forms, 'Preview grant', { key, units: '5', reason: 'r' }, 'value="grant"')).text,
      ).toContain('key: is missing: load the page again.')
    const own = await press(eve, forms, 'Preview grant', { units: '5', reason: 'r', by: 'ada' }, 'value="grant"')
    expect(own.text).toContain('is not a known member')
    await send(eve, forms, 'Preview grant', { units: '5', reason: 'r' }, 'value="grant"')
    expect(await booked(product)).toEqual([])
  })
})

describe('a transfer', () => {
  test('a transfer moves the available units, and says how many are missing', async () => {
    const { product, eve, fill } = await start()
    const preview = await fill('acme', 'transfer', { units: '500', to: 'globex' })
    expect(preview.text).toContain('Transfer 500 units from acme to globex this month')
    expect(preview.text).toContain('acme month 2,000 → then 1,500 0 2,000 1,500')
    expect(preview.text).toContain('globex month 200 → then 700 0 200 700')
    expect(await booked(product)).toEqual([])
    const done = await press(eve, preview, 'Book')
    expect(done.text).toContain('✓ Booked: 500 units from acme to globex.')
    expect(await product.figures('globex')).toMatchObject({ granted: 500 })
    const short = await fill('globex', 'transfer', { units: '900', to: 'acme' })
    expect(short.text).toContain(
      '✕ globex has 700 units left this month, so 900 cannot be taken from it; what is held, in doubt or spent stays.',
    )
    expect(short.html).toContain('value="900"')
    await product.call('DELETE', '/budgets/globex')
    expect((await fill('acme', 'transfer', { units: '1', to: 'globex' })).text).toContain('There is no budget globex.')
  })
})

describe('an entry for outside spending', () => {
  test('outside spending counts on the budget and those above, also below zero', async () => {
    const { product, eve, fill } = await start()
    const preview = await fill('globex', 'external-spend', { units: '250' })
    expect(preview.text).toContain('Book 250 units as spent outside on globex')
    expect(preview.text).toContain('globex would have −50 units left this month.')
    expect(preview.text).toContain('agency month 20,000 0 → then 250')
    expect(await booked(product, 'globex')).toEqual([])
    expect((await press(eve, preview, 'Book')).text).toContain('✓ Booked: 250 units on globex.')
    for (const budget of ['globex', 'account'])
      expect((await eve.get(`/dashboard/budgets/${budget}`)).text).toContain(
        'Spent by project outside the guard 250 100 % Spent by person and plan outside the guard 250 100 %',
      )
    expect(await product.figures('globex')).toMatchObject({ spent: 250, available: -50 })
    expect(await product.figures('agency')).toMatchObject({ spent: 250, available: 19_750 })
    expect(await product.audit()).toBe(true)
  })
})

describe('the vendor’s figure', () => {
  test.each([
    ['49,400', 'The vendor shows 49,400, the book 50,000: 600 were used outside.', '✓ Booked 600 units fewer', 600],
    ['50,000', 'The vendor and the book both show 50,000: no units are moved.', '✓ The book and the vendor agree', 0],
  ])('the vendor’s figure of %s is shown beside the book’s, and booked once', async (unitsLeft, said, told, spent) => {
    const { product, eve, fill } = await start()
    const shown = await fill('account', 'reconcile', { unitsLeft, reason: 'monthly check' })
    expect(shown.text).toContain(
      `Reconcile with ${unitsLeft} units left at the vendor ${said} The figure is of now. Assumed not to be in it: 0 spent in the last minutes, 0 held, 0 in doubt. Reason: monthly check`,
    )
    const done = await press(eve, shown, 'Book')
    expect(done.text).toContain(told)
    expect(await product.figures()).toMatchObject({ spent })
    expect((await press(eve, shown, 'Book')).text).toContain('This was already booked')
    expect(await product.figures()).toMatchObject({ spent })
  })

  test('the vendor’s figure gives units back if the vendor has more, and only account has it', async () => {
    const { product, eve, formsOf, fill } = await start()
    await press(eve, await fill('account', 'reconcile', { unitsLeft: '49000' }), 'Book')
    const back = await fill('account', 'reconcile', { unitsLeft: '49 200' })
    expect(back.text).toContain(
      'The vendor shows 49,200, the book 49,000: 200 too many were booked, and they come back.',
    )
    await press(eve, back, 'Book')
    expect(await product.figures()).toMatchObject({ spent: 800 })
    expect((await fill('account', 'reconcile', { unitsLeft: '60000' })).text).toContain(
      '✕ The vendor has 60,000 units left, and account allows only 50,000 this month; if the vendor gave the difference, grant it to account, else raise its limit first.',
    )
    expect((await formsOf('acme')).html).not.toContain('reconcile')
  })
})

describe('a correction', () => {
  test('a preview that was open for more than a minute gives no units back', async () => {
    const { product, fill, eve } = await start()
    await press(eve, await fill('account', 'reconcile', { unitsLeft: '49000' }), 'Book')
    const preview = await fill('account', 'reconcile', { unitsLeft: '49200' })
    product.clock.advance(61_000)
    expect((await press(eve, preview, 'Book')).text).toContain('only a figure of now gives units back: look again')
    const fewer = await fill('account', 'reconcile', { unitsLeft: '48900' })
    product.clock.advance(61_000)
    await press(eve, fewer, 'Book')
    expect(await product.figures()).toMatchObject({ spent: 1_100 })
  })

  test('a correction begins at the entry, names the right figure, and is booked once', async () => {
    const { product, eve, book } = await start()
    await book('acme', 'grant', { units: '500' })
    const { html } = await eve.get('/dashboard/budgets/acme')
    const [, address = ''] = /href="([^"]+corrects=[^"]+)"/.exec(html) ?? []
    const form = await eve.get(address)
    const preview = await press(eve, form, 'Preview correction', { units: '50', reason: 'a zero too many' })
    expect(preview.text).toContain('Correct the entry of acme to 50 units')
    expect(preview.text).toContain('acme month 2,500 → then 2,050')
    const done = await press(eve, preview, 'Book')
    expect(done.text).toContain('✓ Booked: the entry of acme counts as 50 units now.')
    expect(await product.figures('acme')).toMatchObject({ granted: 50 })
    const again = await press(eve, await eve.get(address), 'Preview correction', { units: '40', reason: 'x' })
    expect(again.text).toMatch(/✕ ent_\w+ was corrected by ent_\w+; correct that one\./)
    const [corrected, correction] = [...again.html.matchAll(/<a href="(\/dashboard\/activity\/ent_\w+)">ent_/g)].map(
      ([, to = '']) => to,
    )
    const [first, second] = [await eve.get(corrected ?? ''), await eve.get(correction ?? '')]
    expect(first.text).toMatch(/Entry: grant .* Units 500 .* Corrected by that entry Id ent_\w+ r What it moved/)
    expect(first.html).toContain(`Corrected by</dt><dd><a href="${correction}">`)
    expect(second.text).toMatch(/Entry: correction .* a zero too many .* acme month −450/)
    expect(second.html).toContain(`Corrects</dt><dd><a href="${corrected}">`)
    expect((await eve.get('/dashboard/activity/ent_none')).status).toBe(404)
    expect((await eve.get(`/dashboard/find?q=${corrected?.split('/').at(-1)}`)).location).toBe(corrected)
    const none = await press(eve, await eve.get(address.replace(/ent_\w+/, 'ent_0')), 'Preview correction', {
      units: '4',
      reason: 'x',
    })
    expect(none.text).toContain('✕ There is no such entry.')
    expect(await product.audit()).toBe(true)
  })
})
