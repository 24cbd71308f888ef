import { describe, expect, test } from 'vitest'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = (units: number) => [{ window: 'month', units }]

async function productWith(...budgets: string[]) {
  const product = await startProduct({ store: createMemoryStore() })
  for (const name of budgets) await product.call('PUT', `/budgets/${name}`, { body: { limits: month(5_000) } })
  const put = (sub: string, body: object, headers: Record<string, string> = {}) => {
    product.clock.advance(1)
    return product.call('PUT', `/callers/${sub}`, { body, headers })
  }
  const token = (sub: string, scope: string, budgets: '*' | string[] = '*') => product.signed({ sub, scope, budgets })
  return { product, put, token }
}

describe('/callers', () => {
  test('/callers lists, replaces, shows and deletes a caller', async () => {
    const { product, put } = await productWith('seo')
    const listed = { scopes: ['read', 'run'], budgets: ['seo'], person: 'dora', reason: 'she joined' }
    const made = await put('slack:U1DORA', listed)
    expect([made.status, made.body]).toEqual([
      201,
      { sub: 'slack:U1DORA', scopes: ['read', 'run'], budgets: ['seo'], person: 'dora', disabled: false },
    ])
    const replaced = await put('slack:U1DORA', { disabled: true })
    expect([replaced.status, replaced.body]).toEqual([200, { sub: 'slack:U1DORA', disabled: true }])
    const stopped = 'Stopped now: slack:U1DORA is disabled; ask an administrator.'
    expect((await product.call('GET', '/callers')).body).toEqual({
      callers: [{ sub: 'slack:U1DORA', disabled: true, next: expect.objectContaining({ sentence: stopped }) }],
    })
    product.clock.advance(1)
    expect((await product.call('DELETE', '/callers/slack:U1DORA')).status).toBe(204)
    expect((await product.call('GET', '/callers/slack:U1DORA')).status).toBe(404)
    expect((await product.call('DELETE', '/callers/slack:U1DORA')).body.detail).toBe('slack:U1DORA is not listed.')
    expect((await product.call('GET', '/callers')).body).toEqual({ callers: [] })
    const { body } = await product.call('GET', '/budgets/account/entries')
    expect(body.entries.map(({ type, reason, by }: Record<string, string>) => [type, reason, by])).toEqual([
      ['caller', 'slack:U1DORA is not listed any more', 'ada'],
      ['caller', 'slack:U1DORA is listed', 'ada'],
      ['caller', 'she joined', 'ada'],
    ])
  })

  test.each([
    'okta:ada+reports@acme.com',
    'kube:system:serviceaccount:seo:reports',
    'github:repo:acme@1/reports@2:ref:refs/heads/main',
    'aws:arn:aws:iam::123456789012:role/reports',
    'okta:100%/../a?b&c=d;e"f\\',
    `okta:${'x'.repeat(251)}`,
  ])('/callers/%s is a path with the whole name in it', async (sub) => {
    const { product, put } = await productWith()
    const path = `/callers/${encodeURIComponent(sub)}`
    const made = await put(encodeURIComponent(sub), { person: sub, disabled: true })
    expect([made.status, made.body]).toEqual([201, { sub, person: sub, disabled: true }])
    expect((await product.call('GET', path)).body.sub).toBe(sub)
    const approvers = { limits: [{ window: 'month', units: 9 }], approvers: [sub] }
    expect((await product.call('PUT', '/budgets/seo', { body: approvers })).body.approvers).toEqual([sub])
    expect((await product.call('GET', `/updates?caller=${encodeURIComponent(sub)}`)).status).toBe(200)
    expect((await product.call('DELETE', path)).status).toBe(204)
    expect((await put(encodeURIComponent(`${sub}${'x'.repeat(256)}`), { disabled: true })).status).toBe(400)
  })

  test('deleting a caller leaves the other callers unchanged', async () => {
    const { product, put } = await productWith()
    for (const sub of ['eve', 'dora']) await put(sub, { disabled: true })
    expect((await product.call('DELETE', '/callers/eve')).status).toBe(204)
    expect((await product.call('GET', '/callers')).body).toEqual({
      callers: [{ sub: 'dora', disabled: true, next: expect.objectContaining({ kind: 'disabled' }) }],
    })
  })

  test('PUT /callers names every unknown budget', async () => {
    const { put } = await productWith('seo')
    const { body } = await put('eve', { budgets: ['none', 'seo', 'nil'], readsBudgets: ['seo', 'nowhere'] })
    expect([body.detail, body.errors]).toEqual([
      'There is no budget none. There is no budget nil. There is no budget nowhere.',
      [
        { path: 'budgets', message: 'There is no budget none.' },
        { path: 'budgets', message: 'There is no budget nil.' },
        { path: 'readsBudgets', message: 'There is no budget nowhere.' },
      ],
    ])
  })

  test('a caller name that the database cannot store as a key is answered with 400', async () => {
    const { put } = await productWith()
    const { status, body } = await put('__proto__', { disabled: true })
    expect([status, body.errors[0].path]).toEqual([400, 'sub'])
    expect((await put('constructor', { disabled: true })).status).toBe(201)
  })

  test('PUT /callers honours If-Match', async () => {
    const { product, put } = await productWith()
    const { headers } = await put('eve', { scopes: ['read'] })
    const tag = headers.get('etag') ?? ''
    expect((await put('eve', { scopes: [] }, { 'if-match': '"1"' })).status).toBe(412)
    expect((await put('eve', { scopes: [] }, { 'if-match': tag })).status).toBe(200)
    const stale = { headers: { 'if-match': tag } }
    expect((await product.call('DELETE', '/callers/eve', stale)).status).toBe(412)
    expect((await product.call('GET', '/callers/eve')).status).toBe(200)
    expect((await put('new', {}, { 'if-match': '*' })).body.detail).toBe(
      'There is no caller new, which is not what If-Match asks for; read them again.',
    )
  })
})

describe('a token, narrowed by the list', () => {
  const ask = { kind: 'ranking', project: 'acme', budget: 'seo' }

  test('a caller has only the scopes that both the token and the list give', async () => {
    const { product, put, token } = await productWith('seo')
    await put('eve', { scopes: ['read', 'admin'] })
    const eve = token('eve', 'read run')
    expect((await product.call('GET', '/updates', { token: eve })).status).toBe(200)
    expect((await product.update(ask, { token: eve })).body.detail).toBe('eve needs the scope run or propose for this.')
    expect((await product.call('PUT', '/budgets/x', { token: eve, body: { limits: month(1) } })).status).toBe(403)
    expect(product.service.requests).toEqual([])
  })

  test('a caller who loses run may still propose if the token allows it', async () => {
    const { product, put, token } = await productWith('seo')
    await put('eve', { scopes: ['propose'] })
    const { status, body } = await product.update(ask, { token: token('eve', 'run propose') })
    expect([status, body.updates[0].state]).toEqual([202, 'awaiting-approval'])
  })

  test('a caller may charge only budgets that both the token and the list cover', async () => {
    const { product, put, token } = await productWith('seo', 'ads')
    await put('eve', { budgets: ['seo'] })
    const eve = token('eve', 'run', ['seo', 'ads'])
    expect((await product.update(ask, { token: eve })).status).toBe(201)
    expect((await product.update({ ...ask, project: 'b', budget: 'ads' }, { token: eve })).status).toBe(403)
  })

  test('a disabled caller is refused at once: reads, changes, updates, gateway and queue', async () => {
    const { product, put, token } = await productWith('seo')
    const eve = token('eve', 'read run write approve admin')
    const queued = await product.update(ask, { token: eve, headers: { prefer: 'respond-async' } })
    expect(queued.status).toBe(202)
    await product.call('GET', '/updates', { token: eve })
    await put('eve', { disabled: true, reason: 'left the company' })
    product.clock.advance(2_001)
    for (const [method, path, body] of [
      ['GET', '/updates'],
      ['POST', '/updates', { kind: 'ranking', project: 'b' }],
      ['PUT', '/budgets/x', { limits: month(1) }],
      ['GET', '/v3/on-demand/acme/run'],
      ['GET', '/v3/projects'],
      ['POST', `/updates/${queued.body.updates[0].id}/approve`],
    ] as const) {
      const { status, body: answer } = await product.call(method, path, { token: eve, ...(body && { body }) })
      expect([path, status, answer.detail]).toEqual([path, 403, 'eve is disabled; ask an administrator.'])
    }
    await product.deliver()
    const { body } = await product.call('GET', `/updates/${queued.body.updates[0].id}`)
    expect([body.state, body.problem.detail]).toEqual(['refused', 'eve is disabled; ask an administrator.'])
    expect(product.seen('run')).toEqual([])
  })

  test('mayForce lets a caller force without admin; an administrator needs no mayForce', async () => {
    const { product, put, token } = await productWith('seo')
    const forced = (project: string) => ({ ...ask, project, force: true, reason: 'new data' })
    const eve = token('eve', 'run')
    expect((await product.update(forced('a'), { token: eve })).status).toBe(403)
    await put('eve', { mayForce: true })
    expect((await product.update(forced('a'), { token: eve })).status).toBe(201)
    expect((await product.update(forced('a'), { token: eve })).status).toBe(201)
    expect(product.seen('run')).toHaveLength(2)
    expect((await product.update(forced('b'))).status).toBe(201)
  })
})

test('disabling a caller twice is booked once, and enabling is an entry of its own', async () => {
  const { product } = await productWith()
  const by = { caller: 'ada', reason: 'their token is on the web' }
  for (const disabled of [true, true, false]) {
    product.clock.advance(1)
    const changed = await product.guard.disableCaller('eve', { ...by, disabled })
    expect(changed).toEqual({ kind: 'changed', created: false })
  }
  const { body } = await product.call('GET', '/budgets/account/entries')
  expect(body.entries.map(({ reason }: { reason: string }) => reason)).toEqual([
    'eve is enabled: their token is on the web',
    'eve is disabled: their token is on the web',
  ])
})

test('a caller without a token has the listed scopes and budgets; an administrator may charge all', async () => {
  const { product, put } = await productWith('seo', 'ads')
  const may = async (caller: string) => {
    const allowed = await product.guard.permissions({ caller }, { atOnce: true })
    return {
      scopes: [...allowed.scopes],
      charges: ['seo', 'ads'].filter((budget) => allowed.mayCharge(budget)),
      mayForce: allowed.mayForce,
    }
  }
  expect(await may('slack:U1')).toEqual({ scopes: [], charges: [], mayForce: false })
  await put('slack:U1', { person: 'eve' })
  expect(await may('slack:U1')).toEqual({ scopes: [], charges: [], mayForce: false })
  await put('slack:U1', { scopes: ['run'] })
  expect(await may('slack:U1')).toEqual({ scopes: ['run'], charges: [], mayForce: false })
  await put('slack:U1', { scopes: ['run'], budgets: ['seo'] })
  expect(await may('slack:U1')).toEqual({ scopes: ['run'], charges: ['seo'], mayForce: false })
  await put('slack:U1', { scopes: ['admin'] })
  expect(await may('slack:U1')).toEqual({ scopes: ['admin'], charges: ['seo', 'ads'], mayForce: true })
  expect((await put('slack:U1', { scopes: ['run'], budgets: '*' })).status).toBe(200)
  expect(await may('slack:U1')).toEqual({ scopes: ['run'], charges: ['seo', 'ads'], mayForce: false })
})

test('a change by another process is seen within two seconds, and at once for what changes something', async () => {
  const { product } = await productWith()
  const named = { caller: 'eve', token: { scopes: new Set(['read'] as const), budgets: '*' } } as const
  const isDisabled = async (guard: typeof product.guard, atOnce = false) =>
    (await guard.permissions(named, { atOnce })).isDisabled
  const other = product.startProcess()
  const disable = (disabled: boolean) => product.call('PUT', '/callers/eve', { body: { disabled }, process: other })
  expect(await isDisabled(product.guard)).toBe(false)
  await disable(true)
  product.clock.advance(2_000)
  expect(await isDisabled(product.guard)).toBe(false)
  product.clock.advance(1)
  expect(await isDisabled(product.guard)).toBe(true)
  await disable(false)
  expect(await isDisabled(product.guard)).toBe(true)
  expect(await isDisabled(product.guard, true)).toBe(false)
  expect(await isDisabled(product.startProcess().services.guard)).toBe(false)
})

describe('one person under two names', () => {
  test('one person with two names cannot approve or reject their own update', async () => {
    const { product, put, token } = await productWith('seo')
    await put('eve', { person: 'eve-adams' })
    await put('eve-laptop', { person: 'eve-adams' })
    const { body } = await product.update(
      { kind: 'ranking', project: 'acme', budget: 'seo' },
      { token: token('eve', 'propose') },
    )
    const id = body.updates[0].id
    const other = token('eve-laptop', 'approve')
    const refused = await product.call('POST', `/updates/${id}/approve`, { token: other })
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      'You asked for the ranking update of acme as eve, so someone else has to approve it.',
    ])
    expect((await product.call('POST', `/updates/${id}/reject`, { token: other })).status).toBe(403)
    expect((await product.call('POST', `/updates/${id}/approve`)).body.state).toBe('settled')
  })

  test('a caller with the person of another caller counts as that caller', async () => {
    const { product, put, token } = await productWith('seo')
    await put('slack:U1EVE', { scopes: ['approve'], person: 'eve' })
    const { body } = await product.update(
      { kind: 'ranking', project: 'acme', budget: 'seo' },
      { token: token('eve', 'propose') },
    )
    const decided = await product.guard.approve(body.updates[0].id, 'slack:U1EVE')
    expect(decided).toMatchObject({ kind: 'problem', problem: { slug: 'forbidden' } })
  })

  test('approvers may be listed by their person', async () => {
    const { product, put, token } = await productWith()
    await product.call('PUT', '/budgets/seo', { body: { limits: month(5_000), approvers: ['dora'] } })
    await put('slack:U1DORA', { scopes: ['approve'], person: 'dora' })
    const { body } = await product.update(
      { kind: 'ranking', project: 'acme', budget: 'seo' },
      { token: token('eve', 'propose') },
    )
    expect((await product.guard.approve(body.updates[0].id, 'ada')).kind).toBe('problem')
    expect((await product.guard.approve(body.updates[0].id, 'slack:U1DORA')).kind).toBe('done')
  })
})
