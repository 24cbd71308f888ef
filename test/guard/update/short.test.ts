import { describe, expect, test } from 'vitest'
import { json, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const limits = (units: number, day?: number) => [
  { window: 'month', units },
  ...(day === undefined ? [] : [{ window: 'day', units: day }]),
]

/** `seo` has 100 units this month and 50 today. `dear` costs 640, `cheap` 40. Bob requests and Ada may approve. */
async function shortProduct(how: { store?: 'real' } = {}) {
  const product = await startProduct({
    units: { dear: 640, cheap: 40 },
    ...(how.store !== 'real' && { store: createMemoryStore() }),
  })
  await product.call('PUT', '/budgets/seo', { body: { limits: limits(100, 50) } })
  const bob = product.signed({ sub: 'bob', scope: 'read run', budgets: '*' })
  const ask = (project: string, more: object = {}) =>
    product.update({ kind: 'ranking', project, budget: 'seo', whenShort: 'ask', ...more }, { token: bob })
  const approve = (id: string) => product.call('POST', `/updates/${id}/approve`)
  return { product, ask, approve }
}

describe('whenShort: ask', () => {
  test('an approval grants the missing units once, with the hold; the books add up and the next update is short again', async () => {
    const { product, ask, approve } = await shortProduct({ store: 'real' })
    const { body } = await ask('dear')
    const id = body.updates[0].id
    const approved = await approve(id)
    expect([approved.status, approved.body.state, approved.body.units.charged]).toEqual([200, 'settled', 640])
    expect(await product.figures('seo')).toMatchObject({ granted: 540, available: 0, held: 0, spent: 640 })
    expect(await product.figures('seo', 'day')).toMatchObject({ granted: 590, available: 0, spent: 640 })
    expect(await product.figures()).toMatchObject({ granted: 0, spent: 640 })
    const { body: listed } = await product.call('GET', '/budgets/seo/entries')
    expect(
      listed.entries
        .filter(({ type }: { type: string }) => type === 'grant')
        .map(({ units, by, reason, window }: Record<string, unknown>) => [units, by, reason, window])
        .toSorted(),
    ).toEqual([
      [540, 'ada', `once, for ${id}, as it was approved`, 'month:2026-11-01'],
      [590, 'ada', `once, for ${id}, as it was approved`, 'day:2026-11-20'],
    ])
    expect(await product.audit()).toBe(true)
    expect((await ask('cheap')).body.updates[0].state).toBe('awaiting-approval')
  })

  test('an approved update that did not run returns its grant, and the books and the statement add up', async () => {
    const { product, ask, approve } = await shortProduct({ store: 'real' })
    const { body } = await ask('dear')
    product.service.script(({ url }) => url.includes('/run'), { status: 429, body: 'slow down' })
    expect((await approve(body.updates[0].id)).body).toMatchObject({ state: 'released', units: { charged: 0 } })
    const figures = { granted: 0, held: 0, inDoubt: 0, spent: 0 }
    expect(await product.figures('seo')).toEqual({ ...figures, limit: 100, available: 100 })
    expect(await product.figures('seo', 'day')).toEqual({ ...figures, limit: 50, available: 50 })
    expect(await product.audit()).toBe(true)
    const { body: statement } = await product.call('GET', '/statements?by=budget')
    expect(statement).toMatchObject({ book: { addsUp: true }, total: { granted: 0, charged: 0 } })
    expect(statement.rows).toMatchObject([{ budget: 'seo', granted: 0, charged: 0 }])
    expect((await ask('cheap')).body.updates[0].state).toBe('released')
  })

  test('an update returns for approval with the new shortage if its estimate grew above the approval', async () => {
    const { product, ask, approve } = await shortProduct()
    const { body } = await ask('dear')
    product.clock.advance(60_000)
    product.service.script(({ url }) => /\/(estimate|run)$/.test(url), json({ keyword_units: 720 }))
    const again = await approve(body.updates[0].id)
    expect([again.status, again.body.state]).toEqual([202, 'awaiting-approval'])
    expect(again.body.history.at(-1).note).toBe(
      'approved up to 640, it now needs 720; it needs 720 units, and seo has 100 of 100 units left this month and seo has 50 of 50 units left today; approving it may put seo up to 720 units above its limit of the month in which it starts; now it lacks 670',
    )
    expect(await product.figures('seo')).toMatchObject({ granted: 0, spent: 0 })
    expect((await approve(body.updates[0].id)).body).toMatchObject({ state: 'settled', units: { charged: 720 } })
    expect(await product.figures('seo')).toMatchObject({ granted: 620, available: 0, spent: 720 })
  })

  test('an approval up to a cap grants the missing units at the starting price, never more', async () => {
    const { product, ask } = await shortProduct({ store: 'real' })
    const { body } = await ask('dear')
    product.clock.advance(60_000)
    product.service.script(({ url }) => /\/(estimate|run)$/.test(url), json({ keyword_units: 700 }))
    const path = `/updates/${body.updates[0].id}/approve`
    expect((await product.call('POST', path, { body: { units: 720 } })).body).toMatchObject({
      state: 'settled',
      approvedUpTo: 720,
      units: { charged: 700 },
    })
    expect(await product.figures('seo')).toMatchObject({ granted: 600, available: 0, spent: 700 })
    expect(await product.audit()).toBe(true)
  })

  test.each([
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ])('updates that were asked for together run in the order %i, %i, %i of their approvals', async (...order) => {
    const { product, ask, approve } = await shortProduct()
    await product.call('PUT', '/budgets/seo', { body: { limits: limits(55) } })
    await product.call('POST', '/budgets/seo/entries', {
      body: { type: 'external-spend', units: 40, reason: 'by hand' },
    })
    const { updates } = (await ask('', { project: undefined, projects: ['x', 'y', 'z'] })).body
    for (const at of order) expect((await approve(updates[at].id)).body.state).toBe('settled')
    expect(await product.figures('seo')).toMatchObject({ granted: 105, available: 0, spent: 160 })
    expect(await product.audit()).toBe(true)
  })

  test('a lower limit after the approval asks again, with both figures, and never refuses', async () => {
    const { product, ask, approve } = await shortProduct()
    const { updates } = (await ask('', { project: undefined, projects: ['x', 'y', 'z'] })).body
    expect(updates.map(({ state }: { state: string }) => state)).toEqual([
      'settled',
      'awaiting-approval',
      'awaiting-approval',
    ])
    const [, { id }] = updates
    await product.guard.decide('approve', id, { caller: 'ada' })
    await product.call('PUT', '/budgets/seo', { body: { limits: limits(100, 45) } })
    product.clock.advance(180_000)
    await (await product.guard.jobs()).sweep(product.endsAt())
    const { body } = await product.call('GET', `/updates/${id}`)
    expect([body.state, body.history.at(-1).note]).toEqual([
      'awaiting-approval',
      expect.stringContaining('ada approved it, and seo had 50 units a day then, and has 45 now; it needs 40 units'),
    ])
    expect((await approve(id)).body.state).toBe('settled')
  })

  test('each of several updates may need a grant after the updates before it, and can be approved', async () => {
    const product = await startProduct({ store: createMemoryStore(), units: { a: 5, b: 5, c: 5 } })
    await product.call('PUT', '/budgets/seo', { body: { limits: limits(7) } })
    const token = product.signed({ sub: 'bob', scope: 'read run', budgets: '*' })
    const wanted = { kind: 'ranking', projects: ['a', 'b', 'c'], budget: 'seo', whenShort: 'ask' }
    const { updates } = (await product.update(wanted, { token })).body
    expect(
      updates.map(({ state, history }: { state: string; history: object[] }) => [state, history[0]]),
    ).toMatchObject([
      ['settled', {}],
      [
        'awaiting-approval',
        {
          note: 'it needs 5 units, and seo has 2 of 7 units left this month; approving it may put seo up to 5 units above its limit of the month in which it starts; now it lacks 3',
        },
      ],
      [
        'awaiting-approval',
        {
          note: 'it needs 5 units, and seo has 2 of 7 units left this month (2 for what awaits approval before it); approving it may put seo up to 5 units above its limit of the month in which it starts; now it lacks 3, and 5 if what waits before it runs first',
        },
      ],
    ])
    // The last one first: an approval covers what its update lacks then.
    for (const { id } of updates.slice(1).toReversed())
      expect((await product.call('POST', `/updates/${id}/approve`)).body.state).toBe('settled')
    expect(await product.figures('seo')).toMatchObject({ limit: 7, granted: 8, available: 0, spent: 15 })
    expect(await product.audit()).toBe(true)
  })
})
