import { describe, expect, test } from 'vitest'
import type { GuardSettings } from '../../../shared/guard/options.ts'
import { parseConditions, parseRefusals } from '../../../shared/tracking/conditions.ts'
import { openBrowser } from '../../support/browser/browser.ts'
import { press } from '../../support/browser/page-forms.ts'
import { minutes } from '../../support/clock.ts'
import { json, type Product, startProduct } from '../../support/product.ts'
import type { Answer, Recorded } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// Doubts whose stored answers a setting decides later: `POST /updates/resolve` with `byAnswers`, and the inbox.

const scheduled = { response_code: 10, message: 'already scheduled' }
const encoded: Answer = { headers: { 'content-encoding': 'zstd' }, body: 'not decodable' }

/** The answers of the service to `run`, by the name of the project. */
const answers: Readonly<Record<string, Answer>> = {
  scheduled: json(scheduled),
  again: json({ ...scheduled, cost: 9 }),
  refused: json({ response_code: 26, message: 'no units' }),
  long: json({ ...scheduled, more: 'x'.repeat(17_000) }),
  cached: { headers: { age: '60' }, body: JSON.stringify(scheduled) },
  encoded,
  other: json({ response_code: 11 }),
  failed: { status: 500, body: '{"response_code":10}' },
  lost: { kind: 'reset' },
}

const answerTo = ({ url }: Recorded): Answer | undefined => answers[/\/([a-z]+)\/run/.exec(url)?.[1] ?? '']

/** Each project has cost 6 by its estimate. */
async function start(...projects: readonly string[]) {
  const units = Object.fromEntries(projects.map((project) => [project, 6]))
  const product = await startProduct({ store: createMemoryStore(), units, service: answerTo })
  const ids: Record<string, string> = {}
  for (const project of projects) {
    ids[project] = await doubted(product, project)
    product.clock.advance(1_000)
  }
  return { ...product, ids }
}

async function doubted(product: Pick<Product, 'update'>, project: string, more: object = {}): Promise<string> {
  const { body } = await product.update({ kind: 'ranking', project, ...more })
  expect(body.updates[0]).toMatchObject({ state: 'in-doubt' })
  return body.updates[0].id
}

const started: Partial<GuardSettings> = { RUN_STARTED: parseConditions('/response_code=10|0') }
const refusing: Partial<GuardSettings> = { RUN_REFUSED: parseRefusals('/response_code=26|27') }

type Started = Awaited<ReturnType<typeof start>>

/** A process with other settings, as after a restart. */
function restarted({ call, startProcess }: Started, settings: Partial<GuardSettings> = {}) {
  const process = startProcess(settings)
  const post = (query: string, body: object, token?: Promise<string>) =>
    call('POST', `/updates/resolve${query}`, { process, body: { byAnswers: true, ...body }, ...(token && { token }) })
  return {
    ...process,
    propose: async (body: object = {}, token?: Promise<string>) =>
      post('?dry-run=true', { reason: 'the setting is new', ...body }, token),
    book: async (body: object = {}, token?: Promise<string>) =>
      post('', { reason: 'the vendor said so', ...body }, token),
  }
}

const stateOf = async ({ call, ids }: Started, project: string) =>
  (await call('GET', `/updates/${ids[project]}`)).body.state

const refusedRow = 'RUN_REFUSED names the answer. Before it is booked, the guard looks for new data of the project.'

describe('a proposal by the stored answers', () => {
  test('without a setting nothing is proposed, and a sentence names the settings', async () => {
    const product = await start('scheduled', 'refused')
    const { propose, book } = restarted(product)
    const note =
      'No setting decides the stored answers. RUN_STARTED, RUN_REFUSED and ANSWERS_WELL can: npm run doctor says more.'
    const leftOut = { cut: 0, cached: 0, undecodable: 0, unknown: 2 }
    expect(await propose()).toMatchObject({ status: 200, body: { updates: [], leftOut, note } })
    expect(await book()).toMatchObject({ status: 409, body: { type: '/problems/wrong-state', detail: note } })
  })

  test('without a stored answer a doubt is no part of the proposal', async () => {
    const product = await start('lost')
    const { propose, book } = restarted(product, started)
    expect((await propose()).body).toEqual({
      updates: [],
      leftOut: { cut: 0, cached: 0, undecodable: 0, unknown: 0 },
      note: 'No update in doubt has a stored answer of the service.',
    })
    expect((await book({ ids: [product.ids.lost] })).body.detail).toBe(
      'The ranking update of lost stays in doubt: the service did not answer, so no setting can decide it.',
    )
  })

  test('a dry run shows what ran and what did not run, and books nothing', async () => {
    const product = await start('scheduled', 'again', 'refused', 'other')
    const { propose } = restarted(product, { ...started, ...refusing, RUN_POINTER_RANKING: '/cost' })
    const { body } = await propose()
    expect(body.updates).toEqual([
      {
        id: product.ids.scheduled,
        project: 'scheduled',
        outcome: 'ran',
        units: 6,
        because: 'RUN_STARTED names the answer.',
      },
      {
        id: product.ids.again,
        project: 'again',
        outcome: 'ran',
        units: 9,
        because: 'RUN_STARTED names the answer. It states 9 units.',
      },
      {
        id: product.ids.refused,
        project: 'refused',
        outcome: 'did-not-run',
        units: 6,
        because: refusedRow,
        retryAt: '2026-11-20T10:05:02.000Z',
      },
    ])
    expect(body.leftOut).toEqual({ cut: 0, cached: 0, undecodable: 0, unknown: 1 })
    expect(await product.figures()).toMatchObject({ inDoubt: 24, spent: 0 })
  })

  test('ANSWERS_WELL decides an answer whose only sign it takes away, and no other', async () => {
    const product = await start('scheduled', 'refused')
    const { propose } = restarted(product, { ANSWERS_WELL: parseConditions('/response_code=10|11') })
    const { body } = await propose()
    expect(body.updates).toEqual([
      {
        id: product.ids.scheduled,
        project: 'scheduled',
        outcome: 'ran',
        units: 6,
        because: 'With ANSWERS_WELL, the answer has no sign of failure.',
      },
    ])
  })

  test('answers that were cut, cached or not decodable are left out and counted, also if the setting names their body', async () => {
    const product = await start('long', 'cached', 'encoded', 'failed')
    const { propose, book } = restarted(product, started)
    const { body } = await propose()
    expect(body).toMatchObject({ updates: [], leftOut: { cut: 1, cached: 1, undecodable: 1, unknown: 1 } })
    const { long = '', cached = '', encoded = '', failed = '' } = product.ids
    const each = await Promise.all([long, cached, encoded, failed].map((id) => book({ ids: [id] })))
    expect(each.map(({ status, body }) => [status, body.detail.replace(/.* in doubt: /, '')])).toEqual([
      [409, 'only a part of the answer was stored, so it proves nothing.'],
      [409, 'a cache answered, which proves nothing.'],
      [409, 'the answer could not be decoded, so it proves nothing.'],
      [409, 'no setting decides its answer.'],
    ])
  })
})

describe('booking a proposal', () => {
  test('each update gets its own resolution, with the reason and the setting in its history', async () => {
    const product = await start('scheduled', 'again', 'other')
    const { book } = restarted(product, { ...started, RUN_POINTER_RANKING: '/cost' })
    const { status, body } = await book()
    expect([status, body.notResolved]).toEqual([200, undefined])
    expect(
      body.updates.map((each: { project: string; state: string; units: { charged: number } }) => [
        each.project,
        each.state,
        each.units.charged,
      ]),
    ).toEqual([
      ['scheduled', 'settled', 6],
      ['again', 'settled', 9],
    ])
    expect(body.updates[0].history.at(-1)).toMatchObject({
      state: 'settled',
      by: 'ada',
      note: 'the vendor said so (RUN_STARTED names the answer)',
    })
    expect(await product.figures()).toMatchObject({ inDoubt: 6, spent: 15 })
    expect(await product.audit()).toBe(true)
  })

  test('an update that is not in doubt any more is refused on its own', async () => {
    const product = await start('scheduled', 'again')
    const { book } = restarted(product, started)
    const { scheduled, again } = product.ids
    const body = { outcome: 'ran', reason: 'seen' }
    await product.call('POST', `/updates/${scheduled}/resolve`, { body })
    const booked = await book({ ids: [scheduled, again, 'upd_none'] })
    expect(booked.body.updates).toMatchObject([{ id: again, state: 'settled' }])
    expect(booked.body.notResolved).toMatchObject([
      { id: scheduled, detail: expect.stringContaining('cannot be resolved: it has been settled since') },
      { id: 'upd_none', detail: 'There is no update upd_none.' },
    ])
  })

  test('an update whose answer says something else than the dry run showed is refused', async () => {
    const product = await start('scheduled', 'again')
    const { propose } = restarted(product, started)
    const proposed = (await propose()).body.updates.map(({ id, outcome, units }: Record<string, unknown>) => ({
      id,
      outcome,
      units,
    }))
    const costs = restarted(product, { ...started, RUN_POINTER_RANKING: '/cost' })
    const booked = await costs.book({ proposed })
    expect(booked.body.updates).toMatchObject([{ project: 'scheduled', state: 'settled', units: { charged: 6 } }])
    expect(booked.body.notResolved).toEqual([
      {
        id: product.ids.again,
        detail:
          'The answer to the ranking update of again now says that it ran for 9 units; you were shown that it ran for 6 units. Nothing was booked; look at it again.',
      },
    ])
    const refuses = restarted(product, { RUN_REFUSED: parseRefusals('/response_code=10') })
    product.clock.advance(minutes(6))
    expect(await refuses.book({ proposed: proposed.slice(1) })).toMatchObject({
      status: 409,
      body: {
        detail: expect.stringContaining('now says that it did not run, which gives 6 units back; you were shown'),
      },
    })
    expect(await stateOf(product, 'again')).toBe('in-doubt')
  })

  test('two persons who book the same proposal at once resolve each update once', async () => {
    const product = await start('scheduled', 'again')
    const { book } = restarted(product, started)
    const eve = product.signed({ sub: 'eve', scope: 'approve', budgets: '*' })
    const both = await Promise.all([book(), book({}, eve)])
    const done = both.flatMap(({ body }) => body.updates ?? []).map(({ id }) => id)
    expect(done.toSorted()).toEqual([product.ids.scheduled, product.ids.again].toSorted())
    expect(await product.figures()).toMatchObject({ inDoubt: 0, spent: 12 })
  })
})

describe('“did not run” by a stored answer', () => {
  test('did-not-run is refused until nothing can be in flight, and then gives the units back', async () => {
    const product = await start('refused')
    const { propose, book } = restarted(product, refusing)
    const early = await book()
    expect(early).toMatchObject({ status: 409, body: { retryAt: '2026-11-20T10:05:00.000Z' } })
    expect(await stateOf(product, 'refused')).toBe('in-doubt')
    product.clock.set('2026-11-20T10:05:00Z')
    expect((await propose()).body.updates[0]).not.toHaveProperty('retryAt')
    const looks = product.seen('dates').length
    expect((await book()).body.updates).toMatchObject([{ state: 'released', units: { charged: 0 } }])
    expect(product.seen('dates').length).toBe(looks + 1)
    expect(await product.figures()).toMatchObject({ inDoubt: 0, spent: 0 })
  })

  test('did-not-run is refused if the service has new data of the project', async () => {
    const product = await start('refused')
    const { book } = restarted(product, refusing)
    product.clock.advance(minutes(6))
    product.service.script('/projects/refused/dates', json({ dates: ['2026-11-13', '2026-11-20'] }))
    expect(await book()).toMatchObject({
      status: 409,
      body: {
        detail:
          'The ranking update of refused was not released: the service has data of 2026-11-20 that it did not have before, so it ran.',
      },
    })
    expect(await stateOf(product, 'refused')).toBe('in-doubt')
  })

  test('did-not-run is refused while the dates of the project cannot be read', async () => {
    const product = await start('refused')
    const { book } = restarted(product, refusing)
    product.clock.advance(minutes(6))
    product.service.script('/projects/refused/dates', { status: 500 })
    expect(await book()).toMatchObject({
      status: 409,
      body: {
        detail:
          'The ranking update of refused was not released: the dates of the project cannot be read now, so new data may be missed. Try again later, or say by hand what happened.',
      },
    })
    expect(await stateOf(product, 'refused')).toBe('in-doubt')
  })

  test('the proposal says if no dates can show whether an update ran', async () => {
    const product = await start()
    product.service.script(({ url }) => url.endsWith('/dates'), { status: 404 }, json({ dates: [] }))
    await doubted(product, 'refused')
    product.clock.advance(minutes(6))
    const { propose, book } = restarted(product, refusing)
    expect((await propose()).body.updates[0].because).toBe(
      'RUN_REFUSED names the answer. No dates of the service can show whether it ran.',
    )
    expect((await book()).body.updates).toMatchObject([{ state: 'released' }])
  })
})

describe('who may see and book a proposal', () => {
  test('a dry run and a booking need the scope approve', async () => {
    const product = await start('scheduled')
    const { propose, book } = restarted(product, started)
    const bob = product.signed({ sub: 'bob', scope: 'read run propose write admin', budgets: '*' })
    expect([(await propose({}, bob)).status, (await book({}, bob)).status]).toEqual([403, 403])
    expect(await stateOf(product, 'scheduled')).toBe('in-doubt')
  })

  test('a reader of some budgets sees, counts and books their own updates only', async () => {
    const product = await start()
    const limits = [{ window: 'month', units: 100 }]
    await product.call('PUT', '/budgets/acme', { body: { limits } })
    await product.call('PUT', '/budgets/globex', { body: { limits } })
    product.service.script(({ url }) => url.endsWith('/estimate'), json({ keyword_units: 6 }))
    const own = await doubted(product, 'scheduled', { budget: 'acme' })
    const hidden = await doubted(product, 'again', { budget: 'globex' })
    await doubted(product, 'long', { budget: 'globex' })
    const { propose, book } = restarted(product, started)
    await product.call('PUT', '/callers/mia', { body: { readsBudgets: ['acme'] } })
    const mia = product.signed({ sub: 'mia', scope: 'read approve', budgets: '*' })
    expect((await propose({}, mia)).body).toEqual({
      updates: [
        {
          id: own,
          project: 'scheduled',
          outcome: 'ran',
          units: 6,
          because: 'RUN_STARTED names the answer.',
        },
      ],
      leftOut: { cut: 0, cached: 0, undecodable: 0, unknown: 0 },
    })
    expect(await book({ ids: [hidden] }, mia)).toMatchObject({
      status: 404,
      body: { detail: `There is no update ${hidden}.` },
    })
    expect((await book({}, mia)).body.updates).toMatchObject([{ id: own, state: 'settled' }])
    expect((await product.call('GET', `/updates/${hidden}`)).body.state).toBe('in-doubt')
  })
})

describe('what the request takes', () => {
  test.each<[query: string, body: object, path: string, message: string]>([
    ['?dry-run=true', { ids: ['upd_a'], outcome: 'ran', reason: 'seen' }, 'dry-run', 'is only for byAnswers'],
    ['?dry-run=yes', { byAnswers: true, reason: 'x' }, 'dry-run', 'must be true or false'],
    ['', { byAnswers: 'yes', reason: 'x' }, 'byAnswers', 'must be true or false'],
    ['', { byAnswers: true }, 'reason', 'is needed: say why'],
    ['', { byAnswers: true, outcome: 'ran', reason: 'x' }, 'outcome', 'is not a known member'],
    ['', { byAnswers: true, proposed: [], reason: 'x' }, 'proposed', 'must have 1 to 100 updates'],
    [
      '',
      { byAnswers: true, ids: ['upd_a'], proposed: [{ id: 'upd_a', outcome: 'ran', units: 6 }], reason: 'x' },
      'ids',
      'is not needed beside proposed, which has the ids',
    ],
  ])('POST /updates/resolve%s with %j is refused at %s', async (query, body, path, message) => {
    const product = await startProduct({ store: createMemoryStore() })
    const { status, body: answer } = await product.call('POST', `/updates/resolve${query}`, { body })
    expect([status, answer.errors]).toEqual([400, [{ path, message }]])
  })
})

describe('the inbox', () => {
  async function open(product: Started, settings: Partial<GuardSettings>, scope = 'read approve') {
    const browser = openBrowser(restarted(product, settings))
    await browser.logIn(product.signed({ sub: 'bob', scope, budgets: '*', exp: product.inDays(1) }))
    return browser
  }

  test('one row offers what the stored answers decide, and its form books it', async () => {
    const product = await start('scheduled', 'again', 'refused')
    product.clock.advance(minutes(6))
    const bob = await open(product, { ...started, ...refusing })
    const page = await bob.get('/dashboard/inbox')
    expect(page.text).toContain(
      '3 doubts can be decided by RUN_STARTED and RUN_REFUSED: 2 ran (12 units), 1 did not run (6 units). Review',
    )
    expect(page.text).toContain(`refused ranking did not run (6 units) ${refusedRow}`)
    const told = await press(bob, page, 'Book 3', { because: 'the vendor said so' })
    expect(told.text).toContain('✓ The ranking update of scheduled is settled: 6 units charged.')
    expect(told.text).toContain('✓ The ranking update of refused is released: 6 units returned.')
    expect(await product.figures()).toMatchObject({ inDoubt: 0, spent: 12 })
  })

  test('without a reason nothing is booked, and the form shows the fault in its own field', async () => {
    const product = await start('scheduled')
    const bob = await open(product, started)
    const told = await press(bob, await bob.get('/dashboard/inbox'), 'Book 1')
    expect(told.text).toContain('Nothing was done yet. Please correct the marked field.')
    expect(told.html.match(/Is needed: say why\./g)).toHaveLength(1)
    expect(await stateOf(product, 'scheduled')).toBe('in-doubt')
  })

  test('an update that cannot be released yet is listed with its time, and not booked', async () => {
    const product = await start('refused')
    const bob = await open(product, refusing)
    const { text, html } = await bob.get('/dashboard/inbox')
    expect(text).toContain('1 doubt can be decided by RUN_REFUSED: 1 did not run (6 units). Review')
    expect(text).toContain('It can be booked from 20 Nov 2026 10:05 on.')
    expect(html).not.toContain('>Book ')
  })

  test('a form that showed another outcome books nothing', async () => {
    const product = await start('again')
    const bob = await open(product, started)
    const page = await bob.get('/dashboard/inbox')
    const costs = await open(product, { ...started, RUN_POINTER_RANKING: '/cost' })
    const fresh = await costs.get('/dashboard/inbox')
    const stale = fresh.html.replace(/ ran 9"/, ' ran 6"')
    expect((await press(costs, { html: stale }, 'Book 1', { because: 'x' })).text).toContain(
      'you were shown that it ran for 6 units',
    )
    expect(page.text).toContain('1 ran (6 units)')
    expect(await stateOf(product, 'again')).toBe('in-doubt')
  })

  test('the row is missing without the scope approve, and without a setting that decides', async () => {
    const product = await start('scheduled')
    const reader = await open(product, started, 'read')
    const bob = await open(product, {})
    for (const browser of [reader, bob])
      expect((await browser.get('/dashboard/inbox')).text).not.toContain('can be decided by')
  })
})
