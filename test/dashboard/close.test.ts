import { describe, expect, test } from 'vitest'
import { openBrowser } from '../support/browser/browser.ts'
import { press } from '../support/browser/page-forms.ts'
import { minutes } from '../support/clock.ts'
import { json, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// Closing a month: doubts first, then the vendor's figure, what keeps the month from final, and the statement.

/** Runs of `stuck…` end in doubt, each of 10 units. The month ends on 1 December, 00:00 UTC. */
async function start({ scope = 'read approve admin' } = {}) {
  const product = await startProduct({
    store: createMemoryStore(),
    service: ({ url }) => {
      if (/stuck.*run$/.test(url)) return { status: 503 }
      return /(run|estimate)$/.test(url) ? json({ keyword_units: 10 }) : undefined
    },
  })
  product.clock.set('2026-11-30T18:00:00Z')
  const update = async (project: string): Promise<string> => {
    // The older doubt comes first.
    product.clock.advance(1)
    return (await product.update({ kind: 'ranking', project })).body.updates[0].id
  }
  const eve = openBrowser(product)
  const logIn = () => eve.logIn(product.signed({ sub: 'eve', scope }))
  await logIn()
  return { product, update, eve, logIn }
}

const closePath = '/dashboard/close'

describe('closing a month', () => {
  test('the page closes the doubts, books the figure, and leads to a statement that says what the vendor showed', async () => {
    const { product, update, eve, logIn } = await start()
    const ids = [await update('stuck-1'), await update('stuck-2')]
    expect((await eve.get(closePath)).text).toMatch(
      /A figure of now may lack upd_\w+ and upd_\w+\. Reconcile after 30 Nov 2026 18:10 UTC/,
    )
    product.clock.advance(minutes(10))
    const page = await eve.get(closePath)
    expect(page.text).toContain('No figure of the vendor was booked for November.')
    const preview = await press(eve, page, 'Preview', {
      unitsLeft: '49,976',
      reason: 'the screen',
      [`doubt-${ids[1]}`]: 'did-not-run',
    })
    expect(preview.text).toContain('The vendor shows 49,976, the book 49,990: 14 were used outside.')
    expect(preview.text).toContain(
      'Booking first says whether these updates in doubt ran: stuck-1 10 units: it ran stuck-2 10 units: it did not run',
    )
    expect(await product.figures()).toMatchObject({ inDoubt: 20, spent: 0 })
    const done = await press(eve, preview, 'Book')
    expect(done.text).toContain('✓ Booked 14 units fewer')
    expect(done.text).toContain('The last figure is of 30 Nov 2026 18:10 UTC: 14 units were used outside.')
    expect(done.text).toContain('Only its end on 1 Dec 2026 00:00')
    expect(await product.figures()).toMatchObject({ inDoubt: 0, spent: 24 })
    product.clock.set('2026-12-01T09:00:00Z')
    await logIn()
    const next = await eve.get(closePath)
    expect(next.text).toContain('The month before: November The last figure is of 30 Nov 2026 18:10 UTC')
    expect(next.text).toContain('It is final: nothing is held or in doubt.')
    expect(next.html).toContain('/dashboard/statements?window=month:2026-11-01')
    const statement = (await product.call('GET', '/statements?window=month:2026-11-01')).body
    expect(statement).toMatchObject({ status: 'final', total: { charged: 10, external: 14 } })
  })

  test('a run of the last minutes is refused by the booking, and the form keeps what was typed', async () => {
    const { product, update, eve } = await start()
    const id = await update('stuck-1')
    product.clock.advance(minutes(10))
    await update('globex')
    const shown = await press(eve, await eve.get(closePath), 'Preview', {
      unitsLeft: '49,980',
      reason: 'r',
      [`doubt-${id}`]: 'did-not-run',
    })
    expect(shown.text).toContain('Reconcile after 30 Nov 2026 18:15 UTC, with the figure of then.')
    expect(shown.html).toContain('value="49,980"')
    expect(shown.html).toMatch(/value="did-not-run" selected/)
    expect(await product.figures()).toMatchObject({ inDoubt: 10, spent: 10 })
  })

  test('doubts of the month before are named apart, and do not stop the figure of this month', async () => {
    const { product, update, eve, logIn } = await start()
    await update('stuck-1')
    product.clock.set('2026-12-01T09:00:00Z')
    await logIn()
    const page = await eve.get(closePath)
    expect(page.text).toContain('It is not final until these updates end.')
    const preview = await press(eve, page, 'Preview', { unitsLeft: '50,000', reason: 'r' })
    expect(preview.text).toContain('The vendor and the book both show 50,000: no units are moved.')
    expect(preview.text).toContain('Of the month before, and no part of this: 0 held, 10 in doubt.')
  })

  test.each(['/', '/dashboard/inbox'])('%s offers it on the last day of the month alone', async (path) => {
    const { product, eve, logIn } = await start()
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 9 }] } })
    const offer = 'Close the month'
    expect((await eve.get(path)).text).toContain(offer)
    product.clock.set('2026-12-01T00:00:00Z')
    await logIn()
    expect((await eve.get(path)).text).not.toContain(offer)
    product.clock.set('2026-12-30T23:59:59Z')
    await logIn()
    expect((await eve.get(path)).text).not.toContain(offer)
    product.clock.set('2026-12-31T00:00:00Z')
    await logIn()
    expect((await eve.get(path)).text).toContain(offer)
  })

  test('a reader sees the steps without a form', async () => {
    const { eve } = await start({ scope: 'read' })
    const page = await eve.get(closePath)
    expect(page.text).toContain('An administrator books the figure.')
    expect(page.html).not.toContain('unitsLeft')
  })
})

describe('the account’s reconcile form', () => {
  test('the form asks for each doubt that a figure of now has whether it ran, and names newer ones', async () => {
    const { product, update, eve } = await start()
    await update('stuck-1')
    product.clock.advance(minutes(10))
    const young = await update('stuck-2')
    const form = await eve.get('/dashboard/budgets/account/book')
    expect(form.text).toContain('In doubt: stuck-1, 10 units')
    expect(form.text).not.toContain('stuck-2')
    const shown = await press(eve, form, 'Preview', { unitsLeft: '49,985', reason: 'r' }, 'value="reconcile"')
    expect(shown.text).toContain('The vendor shows 49,985, the book 49,990: 5 were used outside.')
    expect(shown.text).toContain(
      `Too new for this figure, and assumed not to be in it, is ${young}. Reconcile again after 30 Nov 2026 18:20 UTC.`,
    )
    await press(eve, shown, 'Book')
    expect(await product.figures()).toMatchObject({ spent: 15, inDoubt: 10 })
  })

  test('a doubt that has become old since the form was opened is named, and nothing is booked', async () => {
    const { product, update, eve } = await start()
    const id = await update('stuck-1')
    const form = await eve.get('/dashboard/budgets/account/book')
    product.clock.advance(minutes(10))
    const shown = await press(eve, form, 'Preview', { unitsLeft: '49,985', reason: 'r' }, 'value="reconcile"')
    expect(shown.text).toContain(`The vendor’s figure has this update in doubt, if it ran: ${id} (stuck-1, 10 units)`)
    expect(shown.text).toContain('In doubt: stuck-1, 10 units')
    expect(await product.figures()).toMatchObject({ spent: 0, inDoubt: 10 })
  })
})
