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
  return { product, put }
}

describe('/callers', () => {
  test('/callers lists, replaces, shows and deletes a caller, and does not change the others', async () => {
    const { product, put } = await productWith('seo')
    // A right that is `false` counts as missing.
    await put('~eve', { disabled: true, mayForce: false })
    const listed = { scopes: ['read', 'run'], budgets: ['seo'], person: 'dora', reason: 'she joined' }
    const made = await put('slack:U1DORA', listed)
    expect([made.status, made.body]).toEqual([
      201,
      { sub: 'slack:U1DORA', scopes: ['read', 'run'], budgets: ['seo'], person: 'dora', disabled: false },
    ])
    const replaced = await put('slack:U1DORA', { disabled: true })
    expect([replaced.status, replaced.body]).toEqual([200, { sub: 'slack:U1DORA', disabled: true }])
    const stopped = 'Stopped now: slack:U1DORA is disabled; ask an administrator.'
    const eve = { sub: '~eve', disabled: true, next: expect.objectContaining({ kind: 'disabled' }) }
    expect((await product.call('GET', '/callers')).body).toEqual({
      callers: [{ sub: 'slack:U1DORA', disabled: true, next: expect.objectContaining({ sentence: stopped }) }, eve],
    })
    product.clock.advance(1)
    expect((await product.call('DELETE', '/callers/slack:U1DORA')).status).toBe(204)
    expect((await product.call('GET', '/callers/slack:U1DORA')).status).toBe(404)
    expect((await product.call('DELETE', '/callers/slack:U1DORA')).body.detail).toBe('slack:U1DORA is not listed.')
    expect((await product.call('GET', '/callers')).body).toEqual({ callers: [eve] })
    const { body } = await product.call('GET', '/budgets/account/entries')
    const told = body.entries.map(({ type, reason, by }: Record<string, string>) => [type, reason, by])
    expect(told.slice(0, 3)).toEqual([
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
  ])('/callers/%s reads the whole name from the path', async (sub) => {
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

  test.each(['/v3/on-demand/acme/run', '/v3/projects'])('a disabled caller is refused by GET %s', async (path) => {
    const { product, put } = await productWith()
    await put('eve', { disabled: true })
    const token = product.signed({ sub: 'eve', scope: 'read run write', budgets: '*' })
    const { status, body } = await product.call('GET', path, { token })
    expect([status, body.detail]).toEqual([403, 'eve is disabled; ask an administrator.'])
    expect(product.service.requests).toEqual([])
  })
})
