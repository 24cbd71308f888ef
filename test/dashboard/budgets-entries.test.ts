import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../../shared/ledger/store/memory-store.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { formWith, press, send } from '../support/browser/page-forms.ts'
import { type Product, startProduct } from '../support/product.ts'

// What is booked on pages: shown before it is booked, and booked once, however often a form is sent.

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
  const preview = async (budget: string, type: string, filled: Record<string, string>) =>
    press(eve, await formsOf(budget), 'Preview', { reason: 'r', ...filled }, `value="${type}"`)
  return { product, eve, formsOf, preview }
}

const booked = async (product: Product, budget = 'acme') =>
  (await product.call('GET', `/budgets/${budget}/entries`)).body.entries
    .map(({ type, units, by, reason }: Record<string, unknown>) => [type, units, by, reason])
    .filter(([type]: string[]) => type !== 'budget-created')

describe('a grant', () => {
  test('is shown with what it leaves here and above, and nothing is written before it is confirmed', async () => {
    const { product, eve, preview } = await start()
    const shown = await preview('acme', 'grant', { units: '1,500', reason: 'Christmas' })
    expect(shown.text).toContain('Book this? Grant 1,500 units to acme this month Reason: Christmas')
    expect(shown.text).toContain(
      'acme month 2,000 → then 3,500 0 2,000 3,500 acme day 300 0 300 300 agency month 20,000',
    )
    expect(shown.text).toContain('Updates of acme can then cost 300 units together today.')
    expect((await product.guard.ledger.view()).stored).toBeNull()
    const done = await press(eve, shown, 'Book')
    expect(done.text).toContain('✓ Booked: 1,500 units on acme.')
    expect(await booked(product)).toEqual([['grant', 1_500, 'eve', 'Christmas']])
    expect(await product.figures('acme')).toMatchObject({ granted: 1_500, available: 3_500 })
  })

  test('is booked once, however often it is confirmed or sent from the first form again', async () => {
    const { product, eve, formsOf } = await start()
    const forms = await formsOf('acme')
    const filled = { units: '50', reason: 'r' }
    const shown = await press(eve, forms, 'Preview', filled, 'value="grant"')
    await Promise.all([send(eve, shown, 'Book'), send(eve, shown, 'Book')])
    const again = await press(eve, shown, 'Book')
    expect(again.text).toContain('✓ It was already booked when you sent it first; nothing more was booked.')
    expect((await press(eve, forms, 'Preview', filled, 'value="grant"')).text).toContain('It was already booked')
    expect(await booked(product)).toEqual([['grant', 50, 'eve', 'r']])
  })

  test('with other figures under the same key is not booked, unless it is wanted once more', async () => {
    const { product, eve, formsOf } = await start()
    const forms = await formsOf('acme')
    const shown = await press(eve, forms, 'Preview', { units: '50', reason: 'r' }, 'value="grant"')
    await press(eve, shown, 'Book')
    const other = await press(eve, forms, 'Preview', { units: '60', reason: 'r' }, 'value="grant"')
    expect(other.text).toContain('✕ This form was booked before with other figures; nothing more was booked now.')
    expect(await booked(product)).toHaveLength(1)
    product.clock.advance(1)
    const wanted = await press(eve, other, 'Preview', {}, 'value="grant"')
    await press(eve, wanted, 'Book')
    expect(await booked(product)).toEqual([
      ['grant', 60, 'eve', 'r'],
      ['grant', 50, 'eve', 'r'],
    ])
  })

  test('for the whole chain, for today, for the next month', async () => {
    const { product, eve, preview } = await start()
    const chain = await preview('acme', 'grant', { units: '10', wholeChain: 'yes' })
    expect(chain.text).toContain('Grant 10 units to acme and all above it this month')
    await press(eve, chain, 'Book')
    expect(await product.figures('account')).toMatchObject({ granted: 10 })
    await press(eve, await preview('acme', 'grant', { units: '20', window: 'day' }), 'Book')
    expect(await product.figures('acme', 'day')).toMatchObject({ granted: 20, available: 320 })
    const next = await preview('globex', 'grant', { units: '7', window: 'next-month' })
    expect(next.text).toContain('Grant 7 units to globex next month')
    expect(next.text).toContain('Updates of globex can then cost 207 units together next month.')
    const ofDays = await preview('acme', 'grant', { units: '7', window: 'next-month' })
    expect(ofDays.text).toContain('acme month 2,000 → then 2,007 0 2,000 2,007 agency month')
    expect(ofDays.text).toContain('Updates of acme can then cost 300 units together in a day.')
    expect(await product.guard.ledger.bookNamed('month:2026-12-01')).toBeNull()
    await press(eve, next, 'Book')
    expect((await product.guard.ledger.bookNamed('month:2026-12-01'))?.counters.month.globex).toMatchObject({
      granted: 7,
    })
  })

  test('that is wrong is said, and what was filled in stays under its key', async () => {
    const { product, eve, formsOf } = await start()
    const forms = await formsOf('acme')
    const { fields } = formWith(forms.html, 'Preview', 'value="grant"')
    const wrong = await press(eve, forms, 'Preview', { units: '1.5', window: 'year', reason: '' }, 'value="grant"')
    expect(wrong.text).toContain('Units ✕ Must be a whole number of units from 1 to 1000000000000.')
    expect(wrong.text).toContain('✕ Must be month, day or next-month.')
    expect(wrong.text).toContain('Reason ✕ Is needed: say why.')
    const kept = formWith(wrong.html, 'Preview', 'value="grant"').fields
    expect([kept.units, kept.key]).toEqual([['1.5'], fields.key])
    for (const key of ['', 'mine'])
      expect((await send(eve, forms, 'Preview', { key, units: '5', reason: 'r' }, 'value="grant"')).text).toContain(
        'key: is missing: load the page again.',
      )
    const own = await send(eve, forms, 'Preview', { units: '5', reason: 'r', by: 'ada' }, 'value="grant"')
    expect(own.text).toContain('is not a known member')
    expect(await booked(product)).toEqual([])
  })
})

describe('a transfer', () => {
  test('moves what is there, and says what is not', async () => {
    const { product, eve, preview } = await start()
    const shown = await preview('acme', 'transfer', { units: '500', to: 'globex' })
    expect(shown.text).toContain('Transfer 500 units from acme to globex this month')
    expect(shown.text).toContain('acme month 2,000 → then 1,500 0 2,000 1,500')
    expect(shown.text).toContain('globex month 200 → then 700 0 200 700')
    expect(shown.text).toContain('Updates of globex can then cost 700 units together this month.')
    expect((await press(eve, shown, 'Book')).text).toContain('✓ Booked: 500 units from acme to globex.')
    expect(await product.figures('globex')).toMatchObject({ granted: 500 })
    const short = await preview('globex', 'transfer', { units: '900', to: 'acme' })
    expect(short.text).toContain(
      '✕ globex has 700 units left this month, so 900 cannot be taken from it; what is held, in doubt or spent stays.',
    )
    expect(short.html).toContain('value="900"')
    await product.call('DELETE', '/budgets/globex')
    expect((await preview('acme', 'transfer', { units: '1', to: 'globex' })).text).toContain(
      'There is no budget globex.',
    )
  })
})

describe('what was spent outside', () => {
  test('counts here and above, and what goes below zero is said loudly', async () => {
    const { product, eve, preview } = await start()
    const shown = await preview('globex', 'external-spend', { units: '250' })
    expect(shown.text).toContain('globex would have −50 units left this month.')
    expect(shown.text).toContain('globex month 200 0 → then 250 200 −50 agency month 20,000 0 → then 250 20,000 19,750')
    await press(eve, shown, 'Book')
    expect(await product.figures('globex')).toMatchObject({ spent: 250, available: -50 })
    expect(await product.audit()).toBe(true)
  })
})

describe('the vendor’s figure', () => {
  test.each([
    [
      '49,400',
      'The vendor has 600 fewer left than the book: they are booked as spent outside.',
      '✓ Booked 600 units fewer',
      600,
    ],
    ['50,000', 'The book and the vendor agree: no units are moved.', '✓ The book and the vendor agree', 0],
  ])('%s', async (unitsLeft, said, told, spent) => {
    const { product, eve, preview } = await start()
    const shown = await preview('account', 'reconcile', { unitsLeft, reason: 'monthly check' })
    expect(shown.text).toContain(
      `Reconcile with ${unitsLeft} units left at the vendor ${said} The figure is of now. Taken as not in it: 0 spent since, 0 held, 0 in doubt. Reason: monthly check`,
    )
    const done = await press(eve, shown, 'Book')
    expect(done.text).toContain(told)
    expect(await product.figures()).toMatchObject({ spent })
    expect((await press(eve, shown, 'Book')).text).toContain('It was already booked')
    expect(await product.figures()).toMatchObject({ spent })
  })

  test('gives back what the vendor has more, says what cannot be, and is for the account alone', async () => {
    const { product, eve, formsOf, preview } = await start()
    await press(eve, await preview('account', 'reconcile', { unitsLeft: '49000' }), 'Book')
    const back = await preview('account', 'reconcile', { unitsLeft: '49 200' })
    expect(back.text).toContain('The vendor has 200 more left than the book: they are taken off what counts as spent.')
    await press(eve, back, 'Book')
    expect(await product.figures()).toMatchObject({ spent: 800 })
    expect((await preview('account', 'reconcile', { unitsLeft: '60000' })).text).toContain(
      '✕ The vendor has 60,000 units left, and account allows only 50,000 this month; if the vendor gave the difference, grant it to account, else raise its limit first.',
    )
    expect((await formsOf('acme')).html).not.toContain('reconcile')
  })
})

describe('a correction', () => {
  test('begins at the entry, says what it ought to have said, and is booked once', async () => {
    const { product, eve, preview } = await start()
    await press(eve, await preview('acme', 'grant', { units: '500' }), 'Book')
    const { html } = await eve.get('/dashboard/budgets/acme')
    const [, address = ''] = /href="([^"]+corrects=[^"]+)"/.exec(html) ?? []
    const form = await eve.get(address)
    const shown = await press(eve, form, 'Preview', { units: '50', reason: 'a zero too many' })
    expect(shown.text).toContain('Correct an entry of acme to 50 units')
    expect(shown.text).toContain('acme month 2,500 → then 2,050 0 2,500 2,050')
    expect((await press(eve, shown, 'Book')).text).toContain('✓ Booked: the entry of acme counts as 50 units now.')
    expect(await product.figures('acme')).toMatchObject({ granted: 50 })
    const again = await press(eve, await eve.get(address), 'Preview', { units: '40', reason: 'x' })
    expect(again.text).toMatch(/✕ ent_\w+ was corrected by ent_\w+; correct that one\./)
    const none = await press(eve, await eve.get(address.replace(/ent_\w+/, 'ent_0')), 'Preview', {
      units: '4',
      reason: 'x',
    })
    expect(none.text).toContain('✕ There is no such entry.')
    expect(await product.audit()).toBe(true)
  })
})
