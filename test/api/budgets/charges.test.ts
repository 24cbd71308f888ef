import { describe, expect, test } from 'vitest'
import { typeOfVersion } from '../../../shared/events/types.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { openBrowser } from '../../support/browser/browser.ts'
import { press } from '../../support/browser/page-forms.ts'
import { days, minutes } from '../../support/clock.ts'
import { linesOf } from '../../support/log-lines.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { summaryOf } from '../../support/summary.ts'

// What the vendor charged for an update may differ from what the guard charged.

const month = (units: number) => [{ window: 'month', units }]

/** `acme` (300 a month) and `globex`, and an update of acme that was charged 40. */
async function withUpdate() {
  const product = await startProduct({
    store: createMemoryStore(),
    env: { PRICE_PER_UNIT: '0.01', CURRENCY: 'EUR' },
  })
  const put = (name: string, body: object) => product.call('PUT', `/budgets/${name}`, { body })
  await put('acme', { limits: month(300), projects: [{ name: 'site' }] })
  await put('globex', { limits: month(100) })
  const { body } = await product.update({ kind: 'ranking', project: 'site' })
  const id: string = body.updates[0].id
  const correct = (units: number, how: { budget?: string; key?: string; as?: string } = {}) =>
    product.call('POST', `/budgets/${how.budget ?? 'acme'}/entries`, {
      body: { type: 'correction', corrects: id, units, reason: 'the bill' },
      ...(how.key !== undefined && { headers: { 'idempotency-key': how.key } }),
      ...(how.as !== undefined && { token: product.signed({ sub: 'eve', scope: how.as, budgets: '*' }) }),
    })
  const update = async () => (await product.call('GET', `/updates/${id}`)).body
  const statement = async (query = '') =>
    (await product.call('GET', `/statements?window=month:2026-11-01${query}`)).body
  const eve = openBrowser(product)
  await eve.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
  return { product, id, correct, update, statement, eve }
}

describe('POST /budgets/{name}/entries with the id of an update', () => {
  test('an administrator says what an update cost: the entry, the update and the budget agree', async () => {
    const { product, id, correct, update } = await withUpdate()
    const { status, body } = await correct(25, { key: 'bill-1' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^ent_/),
      type: 'correction',
      budget: 'acme',
      units: 25,
      corrects: id,
      window: 'month:2026-11-01',
      budgets: ['acme', 'account'],
      reason: 'the bill',
      by: 'ada',
      at: '2026-11-20T10:00:00.000Z',
      binds: { budget: 'acme', window: 'month', available: 275 },
    })
    expect(await update()).toMatchObject({ state: 'settled', units: { held: 40, charged: 25 } })
    expect((await update()).history.at(-1)).toMatchObject({
      state: 'settled',
      by: 'ada',
      note: 'charge corrected from 40 to 25: the bill',
    })
    expect(await product.figures('acme')).toMatchObject({ spent: 25, available: 275 })
    for (const budget of ['acme', 'account'])
      expect((await product.call('GET', `/budgets/${budget}/entries`)).body.entries).toContainEqual(
        expect.objectContaining({ type: 'correction', corrects: id, units: 25 }),
      )
    const again = await correct(25, { key: 'bill-1' })
    expect([again.status, again.headers.get('idempotency-replayed'), again.body.id]).toEqual([201, 'true', body.id])
    expect(await product.audit()).toBe(true)
  })

  test('a correction needs the scope admin, and the update stays as it is without it', async () => {
    const { correct, update } = await withUpdate()
    const refused = await correct(25, { as: 'read run propose write approve' })
    expect([refused.status, refused.body.type]).toEqual([403, '/problems/forbidden'])
    expect(await update()).toMatchObject({ units: { charged: 40 } })
  })

  test('another budget is 400 and names the payer, an unknown update is 404, an unsettled one 409', async () => {
    const { product, id, correct } = await withUpdate()
    expect((await correct(25, { budget: 'globex' })).body).toMatchObject({
      status: 400,
      type: '/problems/invalid-request',
      errors: [
        { path: 'corrects', message: `${id} was charged to acme, so correct it there: POST /budgets/acme/entries.` },
      ],
    })
    const body = { type: 'correction', corrects: 'upd_none', units: 1, reason: 'r' }
    expect((await product.call('POST', '/budgets/acme/entries', { body })).body).toMatchObject({
      status: 404,
      detail: 'There is no update upd_none.',
    })
    expect((await correct(40)).body).toMatchObject({
      status: 409,
      type: '/problems/wrong-state',
      detail: `${id} was charged 40 units already.`,
    })
  })

  test('a correction to 0 does not say that the update did not run, so it is not repeated today', async () => {
    const { product, id, correct, update } = await withUpdate()
    await correct(0)
    expect(await update()).toMatchObject({ state: 'settled', units: { charged: 0 } })
    const again = await product.update({ kind: 'ranking', project: 'site' })
    expect(JSON.stringify(again.body)).toContain(id)
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures('acme')).toMatchObject({ spent: 0, available: 300 })
  })

  test('a correction is an event of the update', async () => {
    const { product, id, correct } = await withUpdate()
    await correct(25)
    const stored = await product.guard.ledger.update(id)
    expect(stored && typeOfVersion(stored, stored.version)).toBe('update.corrected')
  })
})

describe('the statement of a corrected month', () => {
  test.each([
    ['counted by the sweep', true],
    ['not yet counted', false],
  ])('a final statement stays final with the corrected figures, and says when: updates %s', async (_, isCounted) => {
    const { product, correct, statement, eve } = await withUpdate()
    const createdAt = product.clock.now()
    product.clock.set('2026-12-02T10:00:00Z')
    if (isCounted) {
      for (let round = 0; round < 3; round++) await (await reportsOf(product.guard)).keepSummaries()
      expect((await summaryOf(product.guard.ledger, createdAt)).rows).not.toEqual([])
    }
    const before = await statement()
    expect(before).toMatchObject({ status: 'final', total: { charged: 40, cost: 0.4 }, book: { addsUp: true } })
    expect(before).not.toHaveProperty('correctedAt')
    product.clock.set('2026-12-03T09:30:00Z')
    await correct(55)
    await eve.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
    expect(await statement()).toMatchObject({
      status: 'final',
      correctedAt: '2026-12-03T09:30:00.000Z',
      rows: [{ budget: 'acme', updates: 1, charged: 55, external: 0, cost: 0.55 }],
      total: { charged: 55, external: 0 },
      book: { spent: 55, addsUp: true },
    })
    expect((await eve.get('/dashboard/statements?window=month:2026-11-01')).text).toContain(
      'Final: nothing is held or in doubt. Corrected on 3 Dec 2026 09:30.',
    )
    expect((await eve.get('/dashboard/statements?window=month:2026-12-01')).text).not.toContain('Corrected on')
    expect(await product.audit()).toBe(true)
  })

  test('a correction before the month ends is not shown on its final statement', async () => {
    const { product, correct, statement } = await withUpdate()
    await correct(55)
    product.clock.set('2026-12-02T10:00:00Z')
    expect(await statement()).not.toHaveProperty('correctedAt')
  })
})

test('each correction of a charge has a line in the log, by HTTP and by the page, and a replay has none', async () => {
  const { product, id, correct, eve } = await withUpdate()
  for (const key of ['bill-1', 'bill-1', 'bill-2']) await correct(key === 'bill-1' ? 25 : 30, { key })
  await correct(25, { key: 'bill-1' })
  const preview = { units: '35', reason: 'the second bill' }
  const form = await press(eve, await eve.get(`/dashboard/updates/${id}/charge`), 'Preview', preview)
  await press(eve, form, 'Correct charge')
  await product.call('POST', '/budgets/acme/entries', { body: { type: 'grant', units: 5, reason: 'more' } })
  const lines = linesOf(product.logged, 'charge-corrected')
  expect(lines.map(({ update, charged, by, level }) => [update, charged, by, level])).toEqual([
    [id, 25, 'ada', 'info'],
    [id, 30, 'ada', 'info'],
    [id, 35, 'eve', 'info'],
  ])
  const { entries } = (await product.call('GET', '/budgets/acme/entries')).body
  const corrections = entries.filter(({ type }: { type: string }) => type === 'correction')
  expect(lines.map(({ entry }) => entry).toSorted()).toEqual(corrections.map(({ id }: { id: string }) => id).toSorted())
  expect(product.logged.join()).not.toContain('the bill')
})

describe('the page of an update', () => {
  test('an administrator previews the correction of a charge in words, and books it once', async () => {
    const { product, id, update, eve } = await withUpdate()
    const shown = await eve.get(`/dashboard/updates/${id}`)
    expect(shown.html).toContain(`href="/dashboard/updates/${id}/charge"`)
    const form = await eve.get(`/dashboard/updates/${id}/charge`)
    expect(form.text).toContain('held 40 units and was charged 40.')
    const empty = await press(eve, form, 'Preview', { units: '', reason: 'the bill' })
    expect(empty.text).toContain('Nothing was done yet. Please correct the marked field.')
    const preview = await press(eve, empty, 'Preview', { units: '1,025', reason: 'the bill' })
    expect(preview.text).toContain('The charge goes from 40 to 1,025 units, 985 more.')
    expect(preview.text).toContain('acme would have −725 units left this month.')
    expect(await update()).toMatchObject({ units: { charged: 40 } })
    const edited = await press(eve, preview, 'Back to the form')
    const second = await press(eve, edited, 'Preview', { units: '25' })
    expect(second.text).toContain('The charge goes from 40 to 25 units, 15 fewer.')
    const done = await press(eve, second, 'Correct charge')
    expect(done.text).toContain('✓ Corrected: the update of site is charged 25 units.')
    expect(done.text).toContain('An administrator corrected the charge from 40 units on 20 Nov 2026 10:00.')
    expect((await press(eve, second, 'Correct charge')).text).toContain('✓ This was already booked')
    expect(await product.figures('acme')).toMatchObject({ spent: 25 })
    const entries = await eve.get('/dashboard/budgets/acme')
    expect(entries.text).toContain('correction of an update, charged 25 units acme and account')
    expect(entries.html).not.toContain('corrects=ent_')
  })

  test('only administrators see the action, and only for a settled update of the last 60 days', async () => {
    const { product, id, eve } = await withUpdate()
    const bob = openBrowser(product)
    await bob.logIn(product.signed({ sub: 'bob', scope: 'read run approve' }))
    expect((await bob.get(`/dashboard/updates/${id}`)).text).not.toContain('Correct charge')
    expect((await bob.get(`/dashboard/updates/${id}/charge`)).status).toBe(403)
    product.clock.advance(days(75))
    await eve.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
    expect((await eve.get(`/dashboard/updates/${id}`)).text).not.toContain('Correct charge')
    expect((await eve.get(`/dashboard/updates/${id}/charge`)).text).toContain(
      `The charge of ${id} could be corrected until 2027-01-29, 60 days after its month.`,
    )
  })

  test('the preview after a reconciliation and after the month says what changes', async () => {
    const { product, id, eve } = await withUpdate()
    product.clock.advance(minutes(10))
    const figure = { unitsLeft: 49_960, reason: 'the screen' }
    await product.call('POST', '/budgets/account/reconcile', { body: { ...figure, difference: 0 } })
    product.clock.set('2026-12-03T09:30:00Z')
    await eve.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
    const form = await eve.get(`/dashboard/updates/${id}/charge`)
    const preview = await press(eve, form, 'Preview', { units: '25', reason: 'the bill' })
    expect(preview.text).toContain('It changes the statement of the month from 1 Nov 2026.')
    expect(preview.text).toContain('The vendor’s last figure has this update, so account stays at the figure')
    await press(eve, preview, 'Correct charge')
    const { body } = await product.call('GET', '/statements?window=month:2026-11-01')
    expect(body).toMatchObject({
      rows: [
        { budget: 'account', external: 15, cost: 0.15 },
        { budget: 'acme', charged: 25, cost: 0.25 },
      ],
      book: { spent: 40, addsUp: true },
    })
  })
})
