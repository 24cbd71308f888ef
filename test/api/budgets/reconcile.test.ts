import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { days, hours, minutes } from '../../support/clock.ts'
import { json, startProduct } from '../../support/product.ts'
import { gate } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

/** It is 10:00 on 20 November, and `account` has 50,000 units a month. */
async function startReconciling(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ store: createMemoryStore(), ...options })
  const at = (ms = 0) => new Date(product.clock.now() + ms).toISOString()
  const send = (query: string) => (body: object) =>
    product.call('POST', `/budgets/account/reconcile${query}`, { body: { reason: 'the screen', ...body } })
  const update = async (project: string) => (await product.update({ kind: 'ranking', project })).body.updates[0]
  const resolve = (id: string, outcome: 'ran' | 'did-not-run') =>
    product.call('POST', `/updates/${id}/resolve`, { body: { outcome, reason: 'seen' } })
  const enter = (body: object) => product.call('POST', '/budgets/account/entries', { body: { reason: 'r', ...body } })
  // The first change opens the ledger.
  await product.call('PUT', '/budgets/seo', { body: { limits: [] } })
  return { product, at, update, enter, resolve, preview: send('?dry-run=true'), book: send('') }
}

const oldAfter = minutes(10)

/** `stuck` ends in doubt. */
const service = ({ url }: { url: string }) => (url.includes('/stuck/run') ? { status: 503 } : undefined)

describe('POST /budgets/account/reconcile in two steps', () => {
  test('the preview shows each part, the difference in words and open updates, and moves no unit', async () => {
    const { product, update, enter, preview, at } = await startReconciling({ service })
    await update('acme')
    await update('stuck')
    // The figure may lack an update that settles at that instant, and one requested at that instant is open.
    const asOf = at()
    const open = (await product.call('GET', '/updates?state=in-doubt')).body.updates[0].id
    product.clock.advance(minutes(30))
    await update('globex')
    await enter({ type: 'external-spend', units: 7 })
    const { status, body } = await preview({ unitsLeft: 49_860, asOf })
    expect([status, body.units, body.preview]).toEqual([
      200,
      140,
      {
        asOf,
        unitsLeft: 49_860,
        available: 49_873,
        since: 87,
        held: 0,
        inDoubt: 40,
        expected: 50_000,
        difference: 140,
        after: 49_733,
        sentence: 'The vendor shows 49,860, the book 50,000: 140 were used outside.',
        open: [open],
        doubts: [],
        young: [open],
        again: at(oldAfter - minutes(30)),
        monthBefore: { held: 0, inDoubt: 0, open: [] },
      },
    ])
    expect(await product.figures()).toMatchObject({ available: 49_873, spent: 87 })
    expect((await product.call('GET', '/budgets/account/entries')).body.entries).toHaveLength(1)
  })

  test('previews and bookings of a reconciliation share the rate limit of audits', async () => {
    const { preview } = await startReconciling()
    const answers = []
    for (let sent = 0; sent < 11; sent++) answers.push((await preview({ unitsLeft: 50_000 })).status)
    expect(answers).toEqual([...Array.from({ length: 10 }, () => 200), 429])
  })

  test('a reconciliation is 503 and moves no unit while the month’s lines do not add up to its book', async () => {
    const memory = createMemoryStore()
    const lags = { now: false }
    const list: typeof memory.list = async (query) => {
      const page = await memory.list(query)
      return lags.now ? { ...page, positions: page.positions.filter(({ sk }) => sk !== 'update') } : page
    }
    const { product, update, preview, book } = await startReconciling({ store: { ...memory, list } })
    await update('globex')
    product.clock.advance(hours(1))
    lags.now = true
    expect((await preview({ unitsLeft: 50_000 })).status).toBe(503)
    expect((await book({ unitsLeft: 50_000, difference: -40 })).status).toBe(503)
    lags.now = false
    expect(await product.figures()).toMatchObject({ spent: 40 })
    expect((await preview({ unitsLeft: 50_000 })).body.units).toBe(-40)
  })
})

describe('a figure of now', () => {
  test('a figure of now may lack units that settled within a flight, but has all manual entries', async () => {
    const { product, update, enter, preview } = await startReconciling()
    await update('globex')
    await enter({ type: 'external-spend', units: 7 })
    const since = async () => (await preview({ unitsLeft: 49_000 })).body.preview.since
    product.clock.advance(minutes(5) - 1)
    expect(await since()).toBe(40)
    product.clock.advance(1)
    expect(await since()).toBe(0)
  })
})

describe('units spent since the vendor’s figure', () => {
  test('units since the vendor’s figure count each move of account once, although its children moved, too', async () => {
    const { product, preview, at } = await startReconciling()
    product.clock.advance(hours(1))
    const asOf = at()
    product.clock.advance(minutes(1))
    const enterBelow = (body: object) =>
      product.call('POST', '/budgets/seo/entries', { body: { reason: 'r', ...body } })
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 500 }] } })
    await enterBelow({ type: 'external-spend', units: 7 })
    await enterBelow({ type: 'grant', units: 5, window: 'month' })
    const { status, body } = await preview({ unitsLeft: 50_000, asOf })
    expect([status, body.preview]).toMatchObject([200, { since: 7, available: 49_993, difference: 0 }])
  })

  test('units spent since the vendor’s figure leave out an update that the figure has, although a late answer corrects it', async () => {
    const slow = gate()
    const { product, update, resolve, preview } = await startReconciling({
      service: ({ url }) => (url.includes('/slow/run') ? { status: 404, once: slow.opened } : undefined),
    })
    const running = update('slow')
    while ((await product.figures()).held === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    product.clock.advance(hours(1))
    await (await product.guard.jobs()).sweep(product.endsAt())
    const [{ id }] = (await product.call('GET', '/updates?state=in-doubt')).body.updates
    await resolve(id, 'ran')
    slow.open()
    expect(await running).toMatchObject({ state: 'settled', units: { charged: 0 } })
    expect((await preview({ unitsLeft: 50_000 })).body.preview).toMatchObject({
      since: 0,
      available: 50_000,
      difference: 0,
    })
  })
})

describe('a figure with a time', () => {
  test('a figure with the present time counts as a figure of now', async () => {
    const { update, preview, at } = await startReconciling()
    await update('globex')
    const { body } = await preview({ unitsLeft: 50_000, asOf: at() })
    expect(body.preview).toMatchObject({ asOf: null, since: 40, difference: 0 })
    expect((await preview({ unitsLeft: 50_001, asOf: at() })).body.units).toBe(-1)
  })

  test('a figure with a time gives no units back, and asks for a figure of now', async () => {
    const { product, update, preview, book, at } = await startReconciling()
    await update('globex')
    product.clock.advance(hours(1))
    const asOf = at()
    product.clock.advance(minutes(1))
    const late = { unitsLeft: 49_961, asOf }
    for (const answer of [await preview(late), await book({ ...late, difference: -1 })]) {
      expect([answer.status, answer.body.detail]).toEqual([
        409,
        'As of 20 Nov 2026 11:00 UTC the vendor had 1 more left than the book, and only a figure of now gives units back: look again.',
      ])
    }
    expect(await product.figures()).toMatchObject({ spent: 40 })
    expect((await preview({ unitsLeft: 49_961 })).body.units).toBe(-1)
  })

  test.each([
    ['in the future', minutes(1), /which is in the future: say when/],
    ['more than 48 hours ago', -days(2) - 1, /more than 48 hours ago: look again/],
    ['older than the ledger', -hours(1), /before the ledger was opened on 20 Nov 2026 10:00 UTC: look again/],
  ])('a figure with a time is 409 if it is %s', async (_when, ago, detail) => {
    const { preview, at, product } = await startReconciling()
    if (ago < -days(1)) product.clock.advance(days(3))
    const { status, body } = await preview({ unitsLeft: 49_000, asOf: at(ago) })
    expect([status, body.detail]).toEqual([409, expect.stringMatching(detail)])
  })

  test('a figure from before the renewal is 409, and one from the renewal itself is accepted', async () => {
    const { preview, at, product } = await startReconciling()
    product.clock.set('2026-12-01T01:00:00Z')
    expect((await preview({ unitsLeft: 49_000, asOf: at(-hours(1) - 1) })).body.detail).toContain(
      'before the renewal of 1 Dec 2026 00:00 UTC',
    )
    expect((await preview({ unitsLeft: 49_000, asOf: at(-hours(1)) })).body.units).toBe(1_000)
  })

  const changes: [string, (parts: Awaited<ReturnType<typeof startReconciling>>) => Promise<unknown>, boolean][] = [
    ['a reconciliation', ({ book }) => book({ unitsLeft: 49_000, difference: 1_000 }), true],
    ['a reconciliation that agreed', ({ book }) => book({ unitsLeft: 50_000, difference: 0 }), true],
    [
      'another limit',
      ({ product }) =>
        product.call('PUT', '/budgets/account', { body: { limits: [{ window: 'month', units: 60_000 }] } }),
      true,
    ],
    ['a grant for the month', ({ enter }) => enter({ type: 'grant', units: 5, window: 'month' }), true],
    [
      'a correction downwards',
      async ({ enter }) => {
        const { body } = await enter({ type: 'external-spend', units: 9 })
        await enter({ type: 'correction', corrects: body.id, units: 4 })
      },
      true,
    ],
    ['a grant for the day', ({ enter }) => enter({ type: 'grant', units: 5, window: 'day' }), false],
    ['spending outside', ({ enter }) => enter({ type: 'external-spend', units: 9 }), false],
    ['an update', ({ update }) => update('globex'), false],
  ]
  test.each(changes)('a figure is accepted or refused if %s came after it', async (_what, change, refuses) => {
    const parts = await startReconciling()
    const { product, preview, at } = parts
    product.clock.advance(hours(1))
    const asOf = at()
    await change(parts)
    product.clock.advance(minutes(10))
    // A change at the same instant does not count as later.
    expect((await preview({ unitsLeft: 40_000, asOf })).status).toBe(200)
    const { status, body } = await preview({ unitsLeft: 40_000, asOf: new Date(Date.parse(asOf) - 1).toISOString() })
    expect(status).toBe(refuses ? 409 : 200)
    if (refuses)
      expect(body.detail).toMatch(/since then account was reconciled.*: ent_[0-9a-z]{26} of 20 Nov 2026 11:00/)
  })

  test('the previous month’s units are named apart while they are held or in doubt', async () => {
    const slow = gate()
    const { product, update, resolve, preview } = await startReconciling({
      service: (request) =>
        request.url.includes('/slow/run') ? { ...json({ keyword_units: 40 }), once: slow.opened } : service(request),
    })
    product.clock.set('2026-11-30T23:59:00Z')
    await update('stuck')
    const running = update('slow')
    while ((await product.figures()).held === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    product.clock.set('2026-12-01T00:01:00Z')
    expect((await preview({ unitsLeft: 50_000 })).body.preview).toMatchObject({
      held: 0,
      inDoubt: 0,
      difference: 0,
      open: [],
      monthBefore: { held: 40, inDoubt: 40 },
    })
    slow.open()
    await running
    const [{ id }] = (await product.call('GET', '/updates?state=in-doubt')).body.updates
    product.clock.set('2026-12-01T10:00:00Z')
    expect((await preview({ unitsLeft: 50_000 })).body.preview).toMatchObject({
      available: 50_000,
      inDoubt: 0,
      difference: 0,
      open: [],
      monthBefore: { held: 0, inDoubt: 40, open: [id] },
    })
    await resolve(id, 'ran')
    expect((await preview({ unitsLeft: 50_000 })).body.preview).toMatchObject({
      difference: 0,
      monthBefore: { held: 0, inDoubt: 0, open: [] },
    })
  })
})

describe('random months compared with the vendor’s own count', () => {
  type Step = { do: 'update' | 'stuck' | 'resolve' | 'outside' | 'booked'; wait: number }
  const steps = fc.array(
    fc.record<Step>({
      do: fc.constantFrom('update', 'update', 'stuck', 'resolve', 'outside', 'booked'),
      wait: fc.integer({ min: 0, max: 20 }),
    }),
    { minLength: 3, maxLength: 12 },
  )

  // The vendor counts a run when the run is requested or up to a flight later, and outside spending at once.
  test.each(['now', 'before'] as const)(
    'a figure of %s never leaves more units than the vendor has',
    async (figure) => {
      await fc.assert(
        fc.asyncProperty(
          steps,
          fc.integer({ min: 1, max: 50 }),
          fc.integer({ min: 0, max: 5 }),
          async (history, back, lag) => {
            const { product, update, resolve, enter, preview, book } = await startReconciling({
              service: ({ url }) => (url.includes('stuck') && url.includes('/run') ? { status: 503 } : json40(url)),
            })
            const counted: { at: number; units: number; isKnown: boolean }[] = []
            const { clock } = product
            const begun = clock.now()
            const vendor = (instant: number) =>
              50_000 - counted.filter(({ at }) => at <= instant).reduce((sum, { units }) => sum + units, 0)
            const runs = (late = 0) => counted.push({ at: clock.now() + late, units: 40, isKnown: true })
            const doubts: { id: string; outcome: 'ran' | 'did-not-run' }[] = []
            let named = 0
            for (const step of history) {
              clock.advance(minutes(step.wait))
              named++
              if (step.do === 'update') {
                await update(`p${named}`)
                runs(figure === 'now' ? minutes(lag) : 0)
              } else if (step.do === 'stuck') {
                const outcome = named % 2 === 0 ? 'ran' : 'did-not-run'
                doubts.push({ id: (await update(`stuck${named}`)).id, outcome })
                if (outcome === 'ran') runs()
              } else if (step.do === 'outside') counted.push({ at: clock.now(), units: 13, isKnown: false })
              else if (step.do === 'booked') await enter({ type: 'external-spend', units: 13 })
              else {
                const doubt = doubts.pop()
                if (doubt) await resolve(doubt.id, doubt.outcome)
              }
            }
            const asOf = figure === 'now' ? clock.now() : Math.max(clock.now() - minutes(back), begun)
            const said = { unitsLeft: vendor(asOf), ...(figure === 'before' && { asOf: new Date(asOf).toISOString() }) }
            const asked = await preview(said)
            const { doubts: old = [] } = asked.body
            const answers = Object.fromEntries(
              old.map(({ update }: { update: string }) => [update, doubts.find(({ id }) => id === update)?.outcome]),
            )
            const answered = old.length > 0 && figure === 'now' ? { ...said, doubts: answers } : said
            const shown = old.length > 0 ? await preview(answered) : asked
            if (shown.status === 409) return
            const before = await product.figures()
            expect((await book({ ...answered, difference: shown.body.units })).status).toBe(200)
            const { available } = await product.figures()
            const outside = counted.filter(({ at, isKnown }) => at > asOf && !isKnown)
            const unknown = outside.reduce((sum, { units }) => sum + units, 0)
            // Units that the vendor will count later are not available either.
            expect(available).toBeLessThanOrEqual(vendor(clock.now() + minutes(10)) + unknown)
            if (figure === 'before') expect(available).toBeLessThanOrEqual(before.available)
            expect(await product.audit()).toBe(true)
          },
        ),
        { numRuns: 40 },
      )
    },
  )
})

const json40 = (url: string) => (url.includes('/run') ? json({ keyword_units: 40 }) : undefined)
