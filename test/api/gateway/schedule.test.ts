import { describe, expect, test } from 'vitest'
import { type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const started = () => startProduct({ store: createMemoryStore(), service: () => ({ body: '{"mine":true}' }) })

const project = {
  keywords: [{ name: 'shoes' }],
  searchengines: [{ name: 'general' }],
  websites: [{ name: 'a.example' }],
}

const tokenOf = (product: Product, scope: string) => product.signed({ sub: 'tool', scope, budgets: '*' })

async function send(product: Product, scope: string, path: string, body: unknown) {
  const answer = await product.call('POST', `/v3/projects/${path}`, { token: await tokenOf(product, scope), body })
  return { status: answer.status, detail: answer.body.detail }
}

const reserves = 'or ask an administrator: a scheduled project reserves units.'
const absent = `tool needs the scope admin for this: add ?frequency=ondemand, ${reserves}`
const query = `tool needs the scope admin for this: name no frequency and no schedule in the query, but for one ?frequency=ondemand of a create, ${reserves}`
const body = `tool needs the scope admin for this: leave out every member of the body called frequency or schedule, ${reserves}`

describe('a schedule is a spend', () => {
  test.each([
    ['acme/create', {}, absent],
    ['acme/create?country=DE', {}, absent],
    ['acme/create?frequency=daily', {}, query],
    ['acme/create?frequency=ondemand&Schedule=daily', {}, query],
    ['acme/create?frequency=ondemand', { frequency: 'daily' }, body],
    ['acme/create?frequency=ondemand', { settings: [{}, { up_dates: 1, 'Sche-dule': 'daily' }] }, body],
    ['acme/update?frequency=ondemand', {}, query],
    ['acme/update', { frequency: 'ondemand' }, body],
    ['acme/update', { addSearchengines: [{ name: 'x' }, { name: 'y', schedule: 'daily' }] }, body],
  ])('POST %s with %j needs admin, and the refusal says what to do', async (path, more, detail) => {
    const product = await started()
    const input = path.includes('create') ? { ...project, ...more } : more
    expect(await send(product, 'read write', path, input)).toEqual({ status: 403, detail })
    expect(product.service.requests).toEqual([])
    expect((await product.call('GET', '/changes')).body.changes).toEqual([])
    expect((await send(product, 'read write admin', path, input)).status).toBe(200)
    expect(product.service.requests).toHaveLength(1)
  })

  test('write is enough for a create with frequency=ondemand, and for an update without a schedule', async () => {
    const product = await started()
    expect((await send(product, 'read write', 'acme/create?frequency=ondemand', project)).status).toBe(200)
    expect((await send(product, 'read write', 'acme/update', { keywords: [{ name: 'frequency' }] })).status).toBe(200)
    expect(product.service.requests).toHaveLength(2)
  })

  test('without write the body is not read, and a body that is not valid is 400 before the question of a schedule', async () => {
    const product = await started()
    expect((await send(product, 'read', 'acme/update', '{')).detail).toContain('needs the scope write')
    expect((await send(product, 'read write', 'acme/create', '{')).status).toBe(400)
    expect((await send(product, 'read write', 'acme/create?frequency=hourly', project)).status).toBe(400)
    expect((await send(product, 'read write', 'acme/update', '{"schedule":1,"schedule":2}')).status).toBe(400)
    expect(product.service.requests).toEqual([])
  })

  test('a token with admin whose caller is listed without it is refused', async () => {
    const product = await started()
    await product.call('PUT', '/callers/tool', { body: { scopes: ['read', 'write'] } })
    expect(await send(product, 'read write admin', 'acme/create', project)).toEqual({ status: 403, detail: absent })
    expect(product.service.requests).toEqual([])
  })
})
