import { describe, expect, test } from 'vitest'
import { requestHeaders } from '../../../infra/openapi/schemas.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { hours } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const start = () => startProduct({ store: createMemoryStore() })
const ask = (project: string, more: object = {}) => ({ kind: 'ranking', project, ...more })
const projectsOf = ({ updates }: { updates: { project: string }[] }) => updates.map(({ project }) => project)

describe('tags of POST /updates', () => {
  test('each project of a request keeps the tags of the request, in one order', async () => {
    const product = await start()
    const tags = { ticket: 'SEO-47', client: 'Bücher & Co' }
    const { body } = await product.update({ kind: 'ranking', projects: ['one', 'two'], tags })
    for (const { id } of body.updates) {
      const { text } = await product.call('GET', `/updates/${id}`)
      expect(text).toContain('"tags":{"client":"Bücher & Co","ticket":"SEO-47"}')
    }
    expect(product.service.requests.some(({ url }) => url.includes('SEO'))).toBe(false)
  })

  test('tags may have 64 characters outside the basic plane and a key named like a member of objects', async () => {
    const product = await start()
    const tags = { constructor: '😀'.repeat(64), 'k_.-9': '=1+1' }
    const { status, body } = await product.update(ask('one', { tags }))
    expect([status, body.updates[0].tags]).toEqual([201, tags])
    const { body: statement } = await product.call('GET', '/statements?by=tag:constructor')
    expect(statement.rows.map(({ tag }: { tag: string }) => tag)).toEqual(['😀'.repeat(64)])
  })

  test('a key matches its tags in any order, and a request without tags equals one with an empty map', async () => {
    const product = await start()
    const send = (key: string, tags?: object) =>
      product.update(ask(key, tags && { tags }), { headers: { 'idempotency-key': key } })
    const first = await send('tagged', { a: '1', b: '2' })
    const again = await send('tagged', { b: '2', a: '1' })
    expect([again.status, again.body.updates[0].id]).toEqual([201, first.body.updates[0].id])
    for (const tags of [{ a: '1' }, { a: '2', b: '1' }, {}, undefined])
      expect((await send('tagged', tags)).body.type).toBe('/problems/key-reused')
    const plain = await send('one', {})
    expect(plain.body.updates[0]).not.toHaveProperty('tags')
    expect((await send('one')).body.updates[0].id).toBe(plain.body.updates[0].id)
  })
})

describe('Unit-Guard-Tags', () => {
  const run = (product: Awaited<ReturnType<typeof start>>, header: string) =>
    product.call('GET', '/v3/on-demand/shop/run', { headers: { 'unit-guard-tags': header } })

  test('a run of the gateway keeps its tags, and the service gets no tags', async () => {
    const product = await start()
    const header = 'client=B%C3%BCcher%20%26%20Co,url=https://a.example/?q=1,  list=a%2Cb'
    expect((await run(product, header)).status).toBe(200)
    const { body } = await product.call('GET', '/updates')
    expect(body.updates[0].tags).toEqual({ client: 'Bücher & Co', list: 'a,b', url: 'https://a.example/?q=1' })
    expect(JSON.stringify(product.service.requests)).not.toContain('unit-guard-tags')
  })

  test('a malformed header of tags is answered with 400 without a request to the service', async () => {
    const product = await start()
    for (const [header, detail] of [
      ['', 'each tag must be written as key=value'],
      ['client', 'each tag must be written as key=value'],
      ['client=acme,', 'each tag must be written as key=value'],
      ['client=acme corp', 'each tag must be written as key=value'],
      ['client="acme"', 'each tag must be written as key=value'],
      ['client=%zz', 'each tag must be written as key=value'],
      ['client=%FF', 'each tag must be written as key=value'],
      ['client=a;b=c', 'each tag must be written as key=value'],
      ['client=', 'the value of client must have 1 to 64 characters'],
      ['client=%0Aa', 'the value of client must have 1 to 64 characters'],
      ['Client=a', 'keys have 1 to 32 of a-z'],
      ['__proto__=a', 'keys have 1 to 32 of a-z'],
      ['a=1,a=2', 'a is named twice'],
      ['a=1,b=2,c=3,d=4,e=5,f=6', 'must have at most 5 tags'],
    ] as const) {
      const { status, body } = await run(product, header)
      expect([status, body.errors[0].path]).toEqual([400, 'Unit-Guard-Tags'])
      expect(body.detail).toContain(detail)
    }
    expect(product.service.requests).toEqual([])
  })
})

test.each([
  ['client=acme', true],
  ['client=B%C3%BCcher%20%26%20Co,url=https://a.example/?q=1,  list=a%2Cb', true],
  ['a=1,b=2,c=3,d=4,e=5', true],
  ['a=1,b=2,c=3,d=4,e=5,f=6', false],
  ['', false],
  ['client', false],
  ['client=', false],
  ['client=acme,', false],
  ['client=acme corp', false],
  ['client="acme"', false],
  ['client=%zz', false],
  ['client=a;b=c', false],
  ['Client=acme', false],
])('the document’s pattern of Unit-Guard-Tags decides about "%s" as the gateway does: %s', async (header, isValid) => {
  const { pattern } = requestHeaders['Unit-Guard-Tags'].schema as { pattern: string }
  expect(new RegExp(pattern, 'u').test(header)).toBe(isValid)
  const product = await start()
  const headers = { 'unit-guard-tags': header }
  expect((await product.call('GET', '/v3/on-demand/shop/run', { headers })).status).toBe(isValid ? 200 : 400)
})

/** A month that the sweep has or has not counted. */
async function month(isCounted: boolean) {
  const product = await start()
  const of = (project: string, tags?: object) => product.update(ask(project, tags && { tags }))
  await of('one', { client: 'acme', ticket: '1' })
  product.clock.advance(1_000)
  await of('two', { client: 'acme', ticket: '2' })
  product.clock.advance(1_000)
  await of('three', { client: '=cmd()', ticket: 'a:b' })
  product.clock.advance(1_000)
  await of('four')
  const external = { type: 'external-spend', units: 25, reason: 'by hand' }
  await product.call('POST', '/budgets/account/entries', { body: external })
  if (isCounted) {
    product.clock.advance(hours(24))
    await (await reportsOf(product.guard)).keepSummaries()
  }
  const list = async (query: string) => (await product.call('GET', `/updates?${query}`)).body
  return { product, list }
}

describe.each([
  ['each update read', false],
  ['counted by the sweep', true],
])('tags in lists and statements, %s', (_how, isCounted) => {
  test('GET /updates filters by all given tags, page by page, with count and sum', async () => {
    const { list } = await month(isCounted)
    const since = 'since=2026-11-01T00:00:00Z'
    expect(projectsOf(await list('tag=client:acme'))).toEqual(['two', 'one'])
    expect(projectsOf(await list('tag=client:acme&tag=ticket:1'))).toEqual(['one'])
    expect(projectsOf(await list('tag=ticket:a:b'))).toEqual(['three'])
    expect(projectsOf(await list('tag=client:acme&tag=client:other'))).toEqual([])
    const first = await list(`tag=client:acme&limit=1&${since}`)
    expect([projectsOf(first), first.count, first.sum]).toEqual([['two'], 2, 80])
    expect(projectsOf(await list(`tag=client:acme&limit=1&${since}&cursor=${first.next}`))).toEqual(['one'])
  })

  test('a statement by tag adds up to the book, with one row for updates without the tag', async () => {
    const { product } = await month(isCounted)
    const { body } = await product.call('GET', '/statements?by=tag:client')
    expect(body).toMatchObject({ by: 'tag:client', tagKeys: ['client', 'ticket'], book: { spent: 185, addsUp: true } })
    const rows = body.rows.map(({ tag, updates, charged, external }: Record<string, unknown>) => [
      tag,
      updates,
      charged,
      external,
    ])
    expect(rows).toEqual([
      ['=cmd()', 1, 40, 0],
      ['acme', 2, 80, 0],
      [null, 1, 40, 25],
    ])
    const { text } = await product.call('GET', '/statements?by=tag:client', { headers: { accept: 'text/csv' } })
    expect(text.split('\r\n')).toEqual([
      'window,status,tag:client,updates,charged,external,granted,held,inDoubt,refused,wouldHaveRefused,wouldHaveRefusedUnits',
      "month:2026-11-01,open,'=cmd(),1,40,0,0,0,0,0,0,0",
      'month:2026-11-01,open,acme,2,80,0,0,0,0,0,0,0',
      'month:2026-11-01,open,,1,40,25,0,0,0,0,0,0',
      '',
    ])
    expect((await product.call('GET', '/statements?by=project')).body.rows).toHaveLength(5)
  })
})

test('the CSV of updates has the tags as JSON in a column', async () => {
  const { product } = await month(false)
  const { text } = await product.call('GET', '/updates', { headers: { accept: 'text/csv' } })
  const [head = '', ...lines] = text.trimEnd().split('\r\n')
  expect(head.endsWith(',detail,tags,wouldHaveRefused,delivery,projectName')).toBe(true)
  expect(lines.map((line) => line.split(',40,40,40,,,,')[1]?.replace(/,[^,"]*,[^,"]*,[^,"]*$/, ''))).toEqual([
    '',
    '"{""client"":""=cmd()"",""ticket"":""a:b""}"',
    '"{""client"":""acme"",""ticket"":""2""}"',
    '"{""client"":""acme"",""ticket"":""1""}"',
  ])
})

test('updates of a plan have the plan’s tags', async () => {
  const plan = { name: 'night', kind: 'ranking', projects: ['one'], schedule: 'cron(0 5 * * ? *)' }
  const tags = { client: 'acme' }
  const product = await startProduct({ store: createMemoryStore(), plans: [{ ...plan, tags }] })
  await product.call('POST', '/plans/night/run', { body: { time: '2026-11-20T10:00:00Z' } })
  expect((await product.call('GET', '/updates')).body.updates).toMatchObject([{ via: 'schedule', tags }])
  expect((await product.call('GET', '/plans')).body.plans).toMatchObject([{ tags }])
})
