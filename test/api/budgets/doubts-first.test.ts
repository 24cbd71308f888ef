import { describe, expect, test } from 'vitest'
import { hours, minutes } from '../../support/clock.ts'
import { json, startProduct } from '../../support/product.ts'
import { gate } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// A reconciliation closes the doubts that the vendor's figure has, so that book and figure speak of the same updates.

const tenUnits = (url: string) => (/(run|estimate)$/.test(url) ? json({ keyword_units: 10 }) : undefined)

type Options = Parameters<typeof startProduct>[0]

/** Runs of `stuck…` end in doubt, each of 10 units. It is 10:00 on 20 November, and `account` has 50,000 units. */
async function start(options: Options = {}) {
  const product = await startProduct({
    store: createMemoryStore(),
    service: ({ url }) => (/stuck.*run$/.test(url) ? { status: 503 } : tenUnits(url)),
    ...options,
  })
  const made = await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 40_000 }] } })
  expect(made.status).toBe(201)
  const update = async (project: string): Promise<string> => {
    product.clock.advance(1)
    return (await product.update({ kind: 'ranking', project })).body.updates[0].id
  }
  const send =
    (query: string) =>
    (body: object, how: object = {}) =>
      product.call('POST', `/budgets/account/reconcile${query}`, { body: { reason: 'the screen', ...body }, ...how })
  const preview = send('?dry-run=true')
  const book = send('')
  const reconcile = async (body: object) => book({ ...body, difference: (await preview(body)).body.units })
  const resolve = (id: string, outcome: 'ran' | 'did-not-run', units?: number) =>
    product.call('POST', `/updates/${id}/resolve`, { body: { outcome, reason: 'seen', ...(units && { units }) } })
  const stateOf = async (id: string) => (await product.call('GET', `/updates/${id}`)).body.state
  const at = (ms = 0) => new Date(product.clock.now() + ms).toISOString()
  return { product, update, preview, book, reconcile, resolve, stateOf, at }
}

const oldAfter = minutes(10)

describe('a figure that has updates in doubt', () => {
  test('the final statement of a month says what the vendor showed, although doubts were open at the figure', async () => {
    const { product, update, preview, book } = await start()
    const ids = [await update('stuck-1'), await update('stuck-2')]
    await product.call('POST', '/budgets/account/entries', {
      body: { type: 'external-spend', units: 572, reason: 'by hand' },
    })
    product.clock.advance(oldAfter)
    // Both ran, and 14 units more were spent outside: the vendor has counted 606.
    const figure = { unitsLeft: 50_000 - 606 }
    const refused = await book({ ...figure, difference: 34 })
    expect([
      refused.status,
      refused.body.type,
      refused.body.doubts.map((each: { update: string }) => each.update),
    ]).toEqual([409, '/problems/doubts-open', ids])
    const answered = { ...figure, doubts: 'ran' }
    const { units, preview: parts } = (await preview(answered)).body
    expect([units, parts.sentence]).toEqual([14, 'The vendor shows 49,394, the book 49,408: 14 were used outside.'])
    expect((await book({ ...answered, difference: 14 })).status).toBe(200)
    product.clock.set('2026-12-01T00:10:00Z')
    const statement = (await product.call('GET', '/statements?window=month:2026-11-01')).body
    expect(statement).toMatchObject({ status: 'final', total: { charged: 20, external: 586 } })
    expect(await product.audit()).toBe(true)
  })

  test('the booking closes the doubts first, each by its own resolution, and books the difference shown', async () => {
    const { product, update, preview, book } = await start()
    const [ran, not] = [await update('stuck-1'), await update('stuck-2')]
    product.clock.advance(oldAfter)
    const body = { unitsLeft: 49_985, doubts: { [ran]: 'ran', [not]: 'did-not-run' } }
    const shown = (await preview(body)).body
    expect(shown.preview).toMatchObject({
      available: 49_990,
      inDoubt: 0,
      expected: 49_990,
      difference: 5,
      after: 49_985,
    })
    expect(shown.preview.doubts).toEqual([
      { id: ran, project: 'stuck-1', units: 10, outcome: 'ran' },
      { id: not, project: 'stuck-2', units: 10, outcome: 'did-not-run' },
    ])
    expect(await product.figures()).toMatchObject({ inDoubt: 20, spent: 0 })
    expect((await book({ ...body, difference: 5 })).body).toMatchObject({ type: 'reconcile', units: 5 })
    expect(await product.figures()).toMatchObject({ inDoubt: 0, spent: 15, available: 49_985 })
    const update1 = (await product.call('GET', `/updates/${ran}`)).body
    expect(update1).toMatchObject({ state: 'settled', history: expect.arrayContaining([]) })
    expect(update1.history.at(-1)).toMatchObject({ state: 'settled', by: 'ada', note: 'the screen' })
    expect((await product.call('GET', `/updates/${not}`)).body.state).toBe('released')
  })

  test('nothing is closed if the difference is not the one that was shown', async () => {
    const { product, update, book, stateOf } = await start()
    const id = await update('stuck-1')
    product.clock.advance(oldAfter)
    const { status, body } = await book({ unitsLeft: 49_985, doubts: 'ran', difference: 6 })
    expect([status, body.detail]).toEqual([409, expect.stringContaining('a difference of 5')])
    expect(await stateOf(id)).toBe('in-doubt')
  })

  test('the person needs the scope approve to close the doubts, and nothing is booked without it', async () => {
    const { product, update, book, stateOf } = await start()
    const id = await update('stuck-1')
    product.clock.advance(oldAfter)
    const body = { unitsLeft: 49_985, doubts: 'ran', difference: 5 }
    const token = product.signed({ sub: 'eve', scope: 'read admin' })
    const { status, body: answer } = await book(body, { token })
    expect([status, answer.detail]).toEqual([403, expect.stringContaining('needs the scope approve')])
    expect(await stateOf(id)).toBe('in-doubt')
    expect((await book(body)).status).toBe(200)
  })

  test('a map that leaves a doubt out, or names another update, is 409', async () => {
    const { product, update, preview } = await start()
    const old = await update('stuck-1')
    const settled = await update('globex')
    product.clock.advance(oldAfter)
    const young = await update('stuck-2')
    const body = (doubts: object) => ({ unitsLeft: 49_000, doubts })
    expect((await preview(body({}))).body.type).toBe('/problems/doubts-open')
    expect((await preview(body({ [old]: 'ran', [settled]: 'ran' }))).status).toBe(200)
    for (const other of [young, 'upd_none']) {
      const { status, body: answer } = await preview(body({ [old]: 'ran', [other]: 'ran' }))
      expect([status, answer.detail]).toEqual([409, expect.stringContaining(`${other} is not in doubt in this month`)])
    }
  })

  test('the booking needs the outcome of each doubt, and names all of them until then', async () => {
    const { product, update, preview, at } = await start()
    const [said, unsaid] = [await update('stuck-1'), await update('stuck-2')]
    product.clock.advance(oldAfter + 1)
    const { status, body } = await preview({ unitsLeft: 49_985, doubts: { [said]: 'ran' } })
    expect([status, body.doubts.map((each: { update: string }) => each.update)]).toEqual([409, [said, unsaid]])
    expect(body.detail).toContain('Say whether they ran: doubts: "ran", or an answer for each')
    const earlier = await preview({ unitsLeft: 49_985, doubts: 'ran', asOf: at(-1) })
    expect(earlier.body.detail).toContain('A figure of an earlier time closes no doubts')
  })

  test('a figure closes the month after the last of the young updates, also if a person closed one early', async () => {
    const { product, update, preview, book, resolve, at } = await start()
    const first = await update('stuck-1')
    product.clock.advance(minutes(3))
    const last = await update('stuck-2')
    expect((await resolve(first, 'ran')).status).toBe(200)
    const again = at(oldAfter)
    const { young, again: until } = (await preview({ unitsLeft: 50_000 })).body.preview
    expect([young.toSorted(), until]).toEqual([[first, last].toSorted(), again])
    const { body } = await book({ unitsLeft: 50_000, difference: 0, closing: true })
    expect(body.detail).toContain('Reconcile after 20 Nov 2026 10:13 UTC')
  })

  test('a doubt that is one millisecond too new stays open, is assumed not to be in the figure, and is named', async () => {
    const { product, update, preview, book, at } = await start()
    const id = await update('stuck-1')
    const again = at(oldAfter)
    product.clock.advance(oldAfter - 1)
    const { status, body } = await preview({ unitsLeft: 50_000 })
    expect([status, body.preview]).toMatchObject([200, { inDoubt: 10, difference: 0, young: [id], again, doubts: [] }])
    expect((await book({ unitsLeft: 50_000, difference: 0, closing: true })).body.detail).toBe(
      `The figure may lack ${id}, so it cannot close the month. Reconcile after 20 Nov 2026 10:10 UTC, with the figure of then.`,
    )
    product.clock.advance(1)
    expect((await preview({ unitsLeft: 50_000 })).body.type).toBe('/problems/doubts-open')
    expect((await preview({ unitsLeft: 49_990, doubts: 'ran', closing: true })).body.units).toBe(0)
  })

  test('a figure that closes the month waits for runs of the last minutes', async () => {
    const { product, update, preview } = await start()
    await update('globex')
    product.clock.advance(minutes(5) - 1)
    expect((await preview({ unitsLeft: 49_990, closing: true })).status).toBe(409)
    product.clock.advance(1)
    expect((await preview({ unitsLeft: 49_990, closing: true })).body.units).toBe(0)
  })

  test('a repeated booking with the same key books once, also if its doubts are closed already', async () => {
    const { product, update, book, resolve } = await start()
    const id = await update('stuck-1')
    product.clock.advance(oldAfter)
    const body = { unitsLeft: 49_985, doubts: { [id]: 'ran' }, difference: 5 }
    // The first try died after it closed the doubt.
    await resolve(id, 'ran')
    const headers = { 'idempotency-key': 'one' }
    expect((await book(body, { headers })).status).toBe(200)
    const again = await book(body, { headers })
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
    expect(await product.figures()).toMatchObject({ spent: 15 })
  })
})

describe('a figure of an earlier time', () => {
  test('its doubts are closed before, by requests of their own', async () => {
    const { product, update, preview, resolve, at } = await start()
    const id = await update('stuck-1')
    product.clock.advance(oldAfter)
    const body = { unitsLeft: 49_985, asOf: at(), doubts: 'ran' }
    product.clock.advance(minutes(20))
    const refused = await preview(body)
    expect([refused.body.type, refused.body.detail]).toEqual([
      '/problems/doubts-open',
      expect.stringContaining('POST /updates/resolve'),
    ])
    await resolve(id, 'ran')
    // It was closed after the figure, but the figure has it.
    expect((await preview(body)).body.preview).toMatchObject({ since: 0, difference: 5 })
  })

  test('runs that settled shortly before it may be missing in it', async () => {
    const { product, update, preview, at } = await start()
    await update('globex')
    product.clock.advance(minutes(5) - 1)
    const asOf = at()
    product.clock.advance(hours(1))
    expect((await preview({ unitsLeft: 49_990, asOf })).body.preview).toMatchObject({ since: 10, difference: 10 })
    const later = new Date(Date.parse(asOf) + 1).toISOString()
    expect((await preview({ unitsLeft: 49_990, asOf: later })).body.preview).toMatchObject({ since: 0, difference: 0 })
  })

  test('a doubt that a person closed early is not in a figure of the minutes after it', async () => {
    const { product, update, preview, resolve } = await start()
    const id = await update('stuck-1')
    product.clock.advance(minutes(1))
    await resolve(id, 'ran')
    product.clock.advance(minutes(6))
    // It was closed more than a flight ago, but the service may still count it.
    expect((await preview({ unitsLeft: 50_000 })).body.preview).toMatchObject({ since: 10, difference: 0 })
  })
})

describe('a later correction of an update that the figure has', () => {
  const late = [
    ['less', { keyword_units: 4 }, 4],
    ['more', { keyword_units: 25 }, 25],
    ['as much', { keyword_units: 10 }, 10],
  ] as const

  test.each(late)('a late answer of %s leaves account where the figure put it', async (_what, answer, charged) => {
    const slow = gate()
    const { product, reconcile } = await start({
      env: { RUN_POINTER_RANKING: '/keyword_units' },
      service: ({ url }) => (url.includes('/slow/run') ? { ...json(answer), once: slow.opened } : tenUnits(url)),
    })
    const running = product.update({ kind: 'ranking', project: 'slow', budget: 'seo' })
    while ((await product.figures()).held === 0) await new Promise((done) => setTimeout(done, 5))
    product.clock.advance(hours(1))
    await (await product.guard.jobs()).sweep(product.endsAt())
    expect((await reconcile({ unitsLeft: 49_970, doubts: 'ran' })).status).toBe(200)
    slow.open()
    expect((await running).body.updates[0].units.charged).toBe(charged)
    expect(await product.figures()).toMatchObject({ spent: 30, available: 49_970 })
    expect((await product.call('GET', '/budgets/seo')).body.windows[0].spent).toBe(charged)
    expect(await product.audit()).toBe(true)
  })

  test.each([4, 25])('a charge corrected to %i and back leaves account where the figure put it', async (units) => {
    const { product, update, reconcile } = await start()
    const id = await update('globex')
    product.clock.advance(minutes(5))
    expect((await reconcile({ unitsLeft: 49_970 })).status).toBe(200)
    const correct = (to: number) =>
      product.call('POST', '/budgets/account/entries', {
        body: { type: 'correction', corrects: id, units: to, reason: 'the bill' },
      })
    for (const to of [units, 10, units]) {
      expect((await correct(to)).status).toBe(201)
      expect(await product.figures()).toMatchObject({ spent: 30, available: 49_970 })
      expect(await product.audit()).toBe(true)
    }
  })

  test('a charge of an update that was too new for the figure moves account', async () => {
    const { product, update, reconcile } = await start()
    const id = await update('globex')
    product.clock.advance(minutes(5) - 1)
    // The figure is assumed to lack its 10 units.
    expect((await reconcile({ unitsLeft: 49_980 })).body.units).toBe(20)
    await product.call('POST', '/budgets/account/entries', {
      body: { type: 'correction', corrects: id, units: 4, reason: 'the bill' },
    })
    expect(await product.figures()).toMatchObject({ spent: 24 })
  })
})

describe('the month before', () => {
  test('its doubts are no part of the figure of this month, and change nothing in it when they are closed', async () => {
    const { product, update, preview, resolve } = await start()
    product.clock.set('2026-11-30T23:00:00Z')
    const id = await update('stuck-1')
    product.clock.set('2026-12-01T10:00:00Z')
    const { status, body } = await preview({ unitsLeft: 50_000, closing: true })
    expect([status, body.preview]).toMatchObject([
      200,
      { inDoubt: 0, difference: 0, doubts: [], young: [], monthBefore: { held: 0, inDoubt: 10, open: [id] } },
    ])
    await resolve(id, 'ran')
    expect((await preview({ unitsLeft: 50_000 })).body.preview).toMatchObject({ available: 50_000, difference: 0 })
  })
})

test('an update whose sender is gone is put in doubt before a figure that has it', async () => {
  const slow = gate()
  const { product, preview } = await start({
    service: ({ url }) =>
      url.includes('/slow/run') ? { ...json({ keyword_units: 10 }), once: slow.opened } : tenUnits(url),
  })
  const running = product.update({ kind: 'ranking', project: 'slow' })
  while ((await product.figures()).held === 0) await new Promise((done) => setTimeout(done, 5))
  product.clock.advance(minutes(5))
  expect((await preview({ unitsLeft: 50_000 })).body.preview).toMatchObject({ held: 10, difference: 0 })
  product.clock.advance(hours(1))
  expect((await preview({ unitsLeft: 50_000 })).body.detail).toContain('the sweep has not put the update in doubt yet')
  await (await product.guard.jobs()).sweep(product.endsAt())
  expect((await preview({ unitsLeft: 50_000 })).body.type).toBe('/problems/doubts-open')
  slow.open()
  await running
})

describe('Slack', () => {
  async function startSlack(scopes: readonly string[]) {
    const started = await start({ slack: true, stream: true })
    const { product } = started
    await product.call('PUT', '/callers/slack:U1ADA', { body: { scopes } })
    const news = async () => {
      await product.deliver()
      return product.slack.news().map(({ text, body }) => `${text} ${JSON.stringify(body)}`)
    }
    const id = await started.update('stuck-1')
    product.clock.advance(oldAfter)
    await news()
    await product.slack.command('reconcile 49,985 the screen')
    const shown = (await news()).join('\n')
    const confirm = async () => {
      await product.slack.press('confirm', product.slack.buttons()[0]?.value ?? '')
      return (await news()).join('\n')
    }
    return { ...started, id, shown, confirm }
  }

  test('the message names both figures and the doubts, and Confirm closes them first', async () => {
    const { product, id, shown, confirm, stateOf } = await startSlack(['admin', 'approve'])
    expect(shown).toContain('The vendor shows 49,985, the book 49,990: 5 were used outside.')
    expect(shown).toContain(`Confirm first says that this update in doubt ran: \`${id}`)
    expect(await stateOf(id)).toBe('in-doubt')
    expect(await confirm()).toContain('booked 5 units fewer')
    expect(await stateOf(id)).toBe('settled')
    expect(await product.figures()).toMatchObject({ spent: 15 })
  })

  test('Confirm needs the scope approve to close doubts', async () => {
    const { id, confirm, stateOf } = await startSlack(['admin'])
    expect(await confirm()).toContain('needs the scope approve')
    expect(await stateOf(id)).toBe('in-doubt')
  })

  test('a figure that was typed while a doubt was too new keeps it open, also if it is confirmed later', async () => {
    const { product, update, stateOf } = await startSlack(['admin', 'approve'])
    const young = await update('stuck-2')
    await product.slack.command('reconcile 49,980 the screen now')
    await product.deliver()
    product.clock.advance(minutes(30))
    await product.slack.press('confirm', product.slack.buttons().at(-1)?.value ?? '')
    await product.deliver()
    expect(await stateOf(young)).toBe('in-doubt')
    expect(await product.figures()).toMatchObject({ inDoubt: 10, spent: 20 })
  })
})
