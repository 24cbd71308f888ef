import { describe, expect, test } from 'vitest'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { type Product, startProduct } from '../../support/product.ts'
import { gate } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

/** A store in memory is enough: these requests fail before the ledger, or other tests run the same transactions on DynamoDB. */
const startSmall = () => startProduct({ store: createMemoryStore(), stream: false })

const now = '2026-11-20T10:00:00.000Z'
const month = (units: number | 'unlimited') => [{ window: 'month', units }]

const put = (product: Product, name: string, body: object, headers: Record<string, string> = {}) =>
  product.call('PUT', `/budgets/${name}`, { body, headers })

async function mustPut(product: Product, name: string, body: object) {
  const answer = await put(product, name, body)
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer
}

const enter = (product: Product, name: string, body: object, key?: string) =>
  product.call('POST', `/budgets/${name}/entries`, {
    body,
    headers: key === undefined ? {} : { 'idempotency-key': key },
  })

test.each(['/budgets', '/budgets/seo', '/callers', '/callers/ada'])(
  'GET %s reads the definitions once, for the permissions and for the answer',
  async (path) => {
    let count = 0
    const memory = createMemoryStore()
    const get: Store['get'] = (keys) => {
      count += keys.filter(({ pk }) => pk === 'definitions').length
      return memory.get(keys)
    }
    const product = await startProduct({ store: { ...memory, get }, stream: false })
    await put(product, 'seo', { limits: month(1_200) })
    await product.call('PUT', '/callers/ada', { body: {} })
    // The first request of a process also reads when the ledger began.
    await product.call('GET', path)
    product.clock.advance(3_000)
    count = 0
    expect((await product.call('GET', path)).status).toBe(200)
    expect(count).toBe(1)
  },
)

describe('PUT /budgets/{name}', () => {
  test('PUT /budgets/{name} creates a budget with defaults, which every read shows in the same way', async () => {
    const product = await startProduct()
    const made = await put(product, 'seo', { limits: month(1_200) })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      name: 'seo',
      parent: 'account',
      limits: [{ window: 'month', units: 1_200 }],
      projects: [],
      kinds: ['ranking', 'keyword-difficulty'],
      frozen: false,
      approvers: [],
      windows: [
        {
          window: 'month',
          start: '2026-11-01T00:00:00.000Z',
          end: '2026-12-01T00:00:00.000Z',
          resetsAt: '2026-12-01T00:00:00.000Z',
          limit: 1_200,
          granted: 0,
          available: 1_200,
          held: 0,
          inDoubt: 0,
          spent: 0,
        },
      ],
    })
    const read = await product.call('GET', '/budgets/seo')
    expect(read.body).toEqual({
      ...made.body,
      status: 'on-track',
      next: expect.objectContaining({ sentence: "Next stop: seo's month, 1,200 units away." }),
    })
    expect(read.headers.get('etag')).toBe(made.headers.get('etag'))
    const { body } = await product.call('GET', '/budgets')
    expect(body.budgets.map(({ name }: { name: string }) => name)).toEqual(['account', 'seo'])
    expect(body.budgets[1]).toEqual(read.body)
  })

  test('PUT /budgets/{name} replaces the whole budget', async () => {
    const product = await startSmall()
    await mustPut(product, 'seo', { limits: month(10) })
    const whole = {
      parent: 'account',
      limits: [
        { window: 'month', units: 'unlimited' },
        { window: 'day', units: 300 },
      ],
      projects: [{ name: 'acme', id: '77' }, { name: 'globex' }],
      perUpdate: 250,
      approvalAbove: 100,
      approvalIfGrown: 25,
      kinds: ['ranking'],
      approvers: ['bob'],
      thresholds: [50, 100],
      freezeOnOverrun: true,
    }
    const replaced = await put(product, 'seo', { ...whole, reason: 'a new contract' })
    expect(replaced.status).toBe(200)
    const { windows, ...shown } = replaced.body
    expect(shown).toEqual({ name: 'seo', ...whole, frozen: false })
    expect(windows).toMatchObject([
      { window: 'month', limit: 'unlimited', available: null },
      { window: 'day', start: '2026-11-20T00:00:00.000Z', end: '2026-11-21T00:00:00.000Z', limit: 300, available: 300 },
    ])
    const bare = await put(product, 'seo?release=true', { limits: month(0) })
    expect(bare.body).toMatchObject({
      limits: month(0),
      projects: [],
      kinds: ['ranking', 'keyword-difficulty'],
      approvers: [],
    })
    for (const member of ['perUpdate', 'approvalAbove', 'approvalIfGrown', 'thresholds', 'freezeOnOverrun'])
      expect(bare.body).not.toHaveProperty(member)
  })

  test('the entry of a new budget has the limit of the month, even if the limit of the day is listed first', async () => {
    const product = await startSmall()
    await put(product, 'seo', { limits: [{ window: 'day', units: 5 }, ...month(100)] })
    const { body } = await product.call('GET', '/budgets/seo/entries')
    expect(body.entries).toMatchObject([{ type: 'budget-created', units: 100 }])
  })

  test('a budget below the root needs a parent that exists, in a preview as in a change', async () => {
    const { guard } = await startSmall()
    const limits = [{ window: 'month', units: toUnits(100) } as const]
    const { revision } = (await guard.ledger.view()).definitions
    for (const [parent, detail] of [
      [null, 'Every budget but the root has a parent.'],
      ['none', 'there is no budget none; create it first.'],
    ] as const)
      for (const act of [guard.previewBudget, guard.putBudget])
        expect(await act({ name: 'seo', parent, limits, projects: [] }, { caller: 'ada' })).toMatchObject({
          problem: { slug: 'invalid-request', detail },
        })
    expect((await guard.ledger.view()).definitions.revision).toBe(revision)
  })

  test('PUT /budgets/account changes the root, which has no parent', async () => {
    const product = await startSmall()
    expect((await put(product, 'account', { limits: month(70_000) })).status).toBe(200)
    expect(await product.figures()).toMatchObject({ limit: 70_000, available: 70_000 })
    expect((await put(product, 'account', { parent: null, limits: month(60_000) })).status).toBe(200)
    for (const [member, value, message] of [
      ['parent', 'seo', 'account is the root and has no parent.'],
      ['enforce', false, 'account always enforces its limits; observe budgets below it'],
    ] as const)
      expect((await put(product, 'account', { [member]: value, limits: month(1) })).body).toMatchObject({
        status: 400,
        type: '/problems/invalid-request',
        errors: [{ path: member, message }],
      })
  })
})

describe('If-Match', () => {
  const stale = (etag: string | null) =>
    `The definitions are at revision ${etag?.replaceAll('"', '')}, which is not what If-Match asks for; read them again.`

  test('If-Match changes a budget only if its revision was read', async () => {
    const product = await startSmall()
    const first = (await product.call('GET', '/budgets')).headers.get('etag') ?? ''
    expect(first).toMatch(/^"\d+"$/)
    expect((await put(product, 'seo', { limits: month(1) }, { 'if-match': first })).status).toBe(201)
    const second = (await product.call('GET', '/budgets/account')).headers.get('etag') ?? ''
    expect(second).not.toBe(first)

    const calls = [
      put(product, 'seo', { limits: month(2) }, { 'if-match': first }),
      product.call('DELETE', '/budgets/seo', { headers: { 'if-match': first } }),
      product.call('POST', '/budgets/seo/freeze', { body: { reason: 'r' }, headers: { 'if-match': first } }),
      product.call('POST', '/budgets/seo/unfreeze', { body: { reason: 'r' }, headers: { 'if-match': first } }),
    ]
    for (const { status, body } of await Promise.all(calls)) {
      expect(status).toBe(412)
      expect(body).toMatchObject({
        type: '/problems/precondition-failed',
        detail: stale(second),
      })
    }
    expect((await product.call('GET', '/budgets/seo')).body).toMatchObject({ frozen: false, limits: month(1) })

    expect((await put(product, 'seo', { limits: month(2) }, { 'if-match': second })).status).toBe(200)
    expect((await put(product, 'seo', { limits: month(3) }, { 'if-match': '*' })).status).toBe(200)
    const headers = { 'if-match': '*' }
    for (const action of ['freeze', 'unfreeze']) {
      const { status } = await product.call('POST', `/budgets/seo/${action}`, { body: { reason: 'r' }, headers })
      expect([action, status]).toEqual([action, 200])
    }
    expect((await product.call('DELETE', '/budgets/seo', { headers })).status).toBe(204)
    expect((await product.call('DELETE', '/budgets/seo', { headers })).body).toMatchObject({
      status: 412,
      detail: 'There is no budget seo, which is not what If-Match asks for; read them again.',
    })
  })

  test('If-Match accepts any matching tag of several', async () => {
    const product = await startSmall()
    const { headers } = await mustPut(product, 'seo', { limits: month(1) })
    expect(
      (await put(product, 'seo', { limits: month(2) }, { 'if-match': `"9000", ${headers.get('etag')}` })).status,
    ).toBe(200)
  })

  test.each(['W/"REVISION"', '"REVISION-gzip"', 'W/"REVISION-br"'])(
    'If-Match accepts a tag that a proxy has changed: %s',
    async (changed) => {
      const product = await startSmall()
      const { headers } = await mustPut(product, 'seo', { limits: month(1) })
      const revision = headers.get('etag')?.slice(1, -1) ?? ''
      const put2 = (given: string) => put(product, 'seo', { limits: month(2) }, { 'if-match': given })
      expect((await put2(changed.replace('REVISION', '9000'))).status).toBe(412)
      expect((await put2(changed.replace('REVISION', revision))).status).toBe(200)
    },
  )

  test.each(['nonsense', '"', 'W/1', '"1-zip"', '1', ''])(
    'If-Match with a foreign tag matches nothing: %s',
    async (given) => {
      const product = await startSmall()
      const refused = await put(product, 'seo', { limits: month(1) }, { 'if-match': given })
      expect(refused.status).toBe(412)
      expect(refused.body.detail).toBe(stale('"1"'))
    },
  )
})

describe('freezing', () => {
  test('the first freeze stays until someone unfreezes the budget, even if the budget is replaced meanwhile', async () => {
    const product = await startSmall()
    await mustPut(product, 'seo', { limits: month(1_000) })
    const stop = (action: 'freeze' | 'unfreeze', reason: string) =>
      product.call('POST', `/budgets/seo/${action}`, { body: { reason } })
    const frozen = { by: 'ada', reason: 'a cron job has gone wild', at: now }
    const first = await stop('freeze', frozen.reason)
    expect([first.status, first.body]).toEqual([200, expect.objectContaining({ name: 'seo', frozen })])
    // A second freeze keeps the actor and the reason of the first.
    expect((await stop('freeze', 'another reason')).body.frozen).toEqual(frozen)
    await mustPut(product, 'seo', { limits: month(2_000) })
    expect((await product.call('GET', '/budgets/seo')).body.frozen).toEqual(frozen)
    expect((await stop('unfreeze', 'mended')).body).toMatchObject({ name: 'seo', frozen: false })
    const { body } = await product.call('GET', '/budgets/seo/entries')
    expect(body.entries.map(({ type, reason }: { type: string; reason: string }) => `${type}: ${reason}`)).toEqual(
      expect.arrayContaining(['freeze: a cron job has gone wild', 'unfreeze: mended']),
    )
  })
})

describe('DELETE /budgets/{name}', () => {
  test('a budget that is deleted and created again resumes its counters', async () => {
    const product = await startSmall()
    await mustPut(product, 'seo', { limits: month(100) })
    await product.update({ kind: 'ranking', project: 'acme', budget: 'seo' })
    const deleted = await product.call('DELETE', '/budgets/seo')
    expect([deleted.status, deleted.text]).toEqual([204, ''])
    expect((await product.call('GET', '/budgets/seo')).body).toMatchObject({
      status: 404,
      detail: 'There is no budget seo.',
    })
    expect((await product.update({ kind: 'ranking', project: 'globex', budget: 'seo' })).status).toBe(400)
    expect((await product.call('DELETE', '/budgets/seo')).status).toBe(404)
    expect((await put(product, 'seo', { limits: month(90) })).status).toBe(201)
    expect(await product.figures('seo')).toEqual({
      limit: 90,
      granted: 0,
      available: 50,
      held: 0,
      inDoubt: 0,
      spent: 40,
    })
    expect(await product.audit()).toBe(true)
  })

  test('the root and a budget with children cannot be deleted', async () => {
    const product = await startSmall()
    await mustPut(product, 'seo', { limits: month(100) })
    for (const name of ['blog', 'shop']) await mustPut(product, name, { parent: 'seo', limits: month(100) })
    const refused = { status: 409, type: '/problems/wrong-state' }
    expect((await product.call('DELETE', '/budgets/account')).body).toMatchObject({
      ...refused,
      detail: 'account cannot be deleted: it is the root of all budgets.',
    })
    expect((await product.call('DELETE', '/budgets/seo')).body).toMatchObject({
      ...refused,
      detail: 'seo cannot be deleted: it has the children blog and shop.',
      budget: 'seo',
    })
  })

  test('a budget with units held or in doubt cannot be deleted', async () => {
    const { opened, open } = gate()
    const product = await startSmall()
    await mustPut(product, 'seo', { limits: month(100) })
    product.service.script(({ url }) => url.endsWith('/run'), { status: 500, once: opened, body: 'oops' })
    const asked = product.update({ kind: 'ranking', project: 'acme', budget: 'seo' })
    while (product.seen('run').length === 0) await new Promise(setImmediate)
    const deletion = async () => (await product.call('DELETE', '/budgets/seo')).body
    const refused = { status: 409, type: '/problems/wrong-state', budget: 'seo' }
    const [running] = (await product.call('GET', '/updates')).body.updates
    expect(await deletion()).toMatchObject({
      ...refused,
      detail: `seo cannot be deleted while units of it are held or in doubt: ${running.id} is running. Wait until the running updates end; then delete it.`,
    })
    open()
    const { body } = await asked
    expect(body.updates).toMatchObject([{ state: 'in-doubt' }])
    expect(await deletion()).toMatchObject({
      ...refused,
      detail: `seo cannot be deleted while units of it are held or in doubt: ${running.id} is in doubt. Resolve the updates in doubt (in the inbox, or POST /updates/<id>/resolve); then delete it.`,
    })
    await product.call('POST', `/updates/${body.updates[0].id}/resolve`, {
      body: { outcome: 'ran', reason: 'seen on their screen' },
    })
    expect((await product.call('DELETE', '/budgets/seo')).status).toBe(204)
  })
})

describe('entries', () => {
  async function withBudgets() {
    const product = await startSmall()
    await mustPut(product, 'seo', { limits: [...month(100), { window: 'day', units: 50 }] })
    await mustPut(product, 'blog', { parent: 'seo', limits: month(40) })
    return product
  }

  test('a grant adds units to its own budget and window only', async () => {
    const product = await withBudgets()
    const { status, body } = await enter(product, 'blog', { type: 'grant', units: 25, reason: 'launch week' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^ent_[0-9a-z]{26}$/),
      type: 'grant',
      budget: 'blog',
      units: 25,
      window: 'month:2026-11-01',
      budgets: ['blog'],
      reason: 'launch week',
      by: 'ada',
      at: now,
      binds: { budget: 'seo', window: 'day', available: 50 },
    })
    expect(await product.figures('blog')).toMatchObject({ limit: 40, granted: 25, available: 65 })
    const later = { type: 'grant', units: 5, window: 'next-month', wholeChain: true, reason: 'r' }
    expect((await enter(product, 'blog', later)).body).toMatchObject({
      window: 'month:2026-12-01',
      budgets: ['blog', 'seo', 'account'],
    })
  })

  test('a repeated key books an entry once, and is refused with other content or for another budget', async () => {
    const product = await withBudgets()
    const first = await enter(product, 'blog', { type: 'grant', units: 25, reason: 'r' }, 'key-1')
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    const again = await enter(product, 'blog', { reason: 'r', units: 25, type: 'grant' }, 'key-1')
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    expect(again.body).toEqual(first.body)
    for (const other of [
      await enter(product, 'blog', { type: 'grant', units: 26, reason: 'r' }, 'key-1'),
      await enter(product, 'seo', { type: 'grant', units: 25, reason: 'r' }, 'key-1'),
    ]) {
      expect(other.body).toMatchObject({ status: 422, type: '/problems/key-reused' })
    }
    const token = product.signed({ sub: 'bob', scope: 'read admin', budgets: '*' })
    const theirs = await product.call('POST', '/budgets/blog/entries', {
      body: { type: 'grant', units: 1, reason: 'r' },
      headers: { 'idempotency-key': 'key-1' },
      token,
    })
    expect([theirs.status, theirs.body.by]).toEqual([201, 'bob'])
    expect((await enter(product, 'blog', { type: 'grant', units: 1, reason: 'r' })).status).toBe(201)
    expect((await enter(product, 'blog', { type: 'grant', units: 1, reason: 'r' })).status).toBe(201)
    expect(await product.figures('blog')).toMatchObject({ granted: 28 })

    await product.call('DELETE', '/budgets/blog')
    const later = await enter(product, 'blog', { type: 'grant', units: 25, reason: 'r' }, 'key-1')
    expect([later.status, later.body]).toEqual([201, first.body])
  })

  test('GET entries lists entries newest first, by page, time and month, and as CSV', async () => {
    const product = await withBudgets()
    for (const units of [1, 2, 3]) {
      product.clock.advance(1_000)
      await enter(product, 'blog', { type: 'grant', units, reason: units === 2 ? '=1+1' : 'more, "please"' })
    }
    await enter(product, 'seo', { type: 'grant', units: 9, window: 'next-month', reason: 'r' })
    const listed = await product.call('GET', '/budgets/blog/entries')
    expect(listed.body).toEqual({
      entries: [
        expect.objectContaining({ type: 'grant', units: 3, at: '2026-11-20T10:00:03.000Z' }),
        expect.objectContaining({ type: 'grant', units: 2 }),
        expect.objectContaining({ type: 'grant', units: 1 }),
        expect.objectContaining({ type: 'budget-created', units: 40, by: 'ada', budgets: ['blog'] }),
      ],
    })
    const first = await product.call('GET', '/budgets/blog/entries?limit=3')
    expect(first.body.entries).toEqual(listed.body.entries.slice(0, 3))
    const second = await product.call('GET', `/budgets/blog/entries?limit=3&cursor=${first.body.next}`)
    expect(second.body).toEqual({ entries: listed.body.entries.slice(3) })
    const since = await product.call('GET', '/budgets/blog/entries?since=2026-11-20T10:00:02Z')
    expect(since.body.entries.map(({ units }: { units: number }) => units)).toEqual([3, 2])
    const december = await product.call('GET', '/budgets/seo/entries?window=month:2026-12-01')
    expect(december.body.entries).toMatchObject([{ units: 9, window: 'month:2026-12-01' }])

    const csv = await product.call('GET', '/budgets/blog/entries', { headers: { accept: 'text/csv' } })
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const [header, ...lines] = csv.text.trimEnd().split('\r\n')
    expect(header).toBe('id,at,type,budget,units,window,by,reason,to,corrects,changed')
    expect(lines.map((line) => line.replace(/^ent_[0-9a-z]{26},/, ''))).toEqual([
      '2026-11-20T10:00:03.000Z,grant,blog,3,month:2026-11-01,ada,"more, ""please""",,,',
      "2026-11-20T10:00:02.000Z,grant,blog,2,month:2026-11-01,ada,'=1+1,,,",
      '2026-11-20T10:00:01.000Z,grant,blog,1,month:2026-11-01,ada,"more, ""please""",,,',
      '2026-11-20T10:00:00.000Z,budget-created,blog,40,month:2026-11-01,ada,no reason given,,,"budget blog: new: 40 a month, below seo"',
    ])
  })
})

describe('GET /audit', () => {
  test('GET /audit shows every counter as recorded and as recomputed', async () => {
    const product = await startSmall()
    await product.update({ kind: 'ranking', project: 'acme' })
    const figures = { limit: 50_000, granted: 0, available: 49_960, held: 0, inDoubt: 0, spent: 40 }
    const ofDay = { limit: 'unlimited', granted: 0, available: null, held: 0, inDoubt: 0, spent: 40 }
    expect((await product.call('GET', '/audit')).body).toEqual({
      ok: true,
      books: [
        { window: 'month:2026-11-01', budget: 'account', recorded: figures, recomputed: figures },
        { window: 'day:2026-11-20', budget: 'account', recorded: ofDay, recomputed: ofDay },
      ],
    })
  })
})
