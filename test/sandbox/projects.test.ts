import { describe, expect, it } from 'vitest'
import { input, sandbox } from '../support/sandbox.ts'

describe('sandbox: projects', () => {
  it('create sets the defaults of the interface and returns an id', async () => {
    const { post, json } = sandbox()
    const created = await post('/v3/projects/shoes/create?frequency=weekly&country=FR', input)
    expect(created).toEqual({ status: 201, body: { response_code: 0, data: { project: 'shoes', id: '1006' } } })
    expect((await json('/v3/projects/shoes/details')).body.data).toEqual({
      id: '1006',
      name: 'shoes',
      frequency: 'weekly',
      country: 'FR',
      created: '2026-11-20T10:00:00.000Z',
      keywords: [{ name: 'red shoes' }, { name: 'blue shoes' }],
      searchengines: [
        {
          svc_id: 1,
          name: 'example search',
          country: 'US',
          location: 'San Francisco, CA',
          language: 'en',
          se_type: 'desktop universal',
        },
        {
          svc_id: 2,
          name: 'example search',
          country: 'DE',
          location: 'San Francisco, CA',
          language: 'en',
          se_type: 'mobile organic',
        },
      ],
      websites: [{ name: 'shoes.example', color_r: 0, color_b: 255 }],
    })
  })

  it('create without a query makes a weekly project in the US', async () => {
    const { post, json } = sandbox()
    await post('/v3/projects/shoes/create', input)
    const { data } = (await json('/v3/projects/1006/details')).body
    expect([data.frequency, data.country, data.searchengines[0].country]).toEqual(['weekly', 'US', 'US'])
  })

  it('create refuses a used name', async () => {
    const { post } = sandbox()
    expect(await post('/v3/projects/globex/create', input)).toEqual({
      status: 409,
      body: { response_code: 409, error: 'There is a project called globex already' },
    })
  })

  it.each([
    ['nothing', undefined, ['']],
    ['a list', [], ['']],
    ['no fields', {}, ['keywords', 'searchengines', 'websites']],
    ['a keyword without a name', { ...input, keywords: [{}] }, ['keywords.0.name']],
    ['a search engine without a name', { ...input, searchengines: [{ country: 'US' }] }, ['searchengines.0.name']],
    [
      'colours out of bounds',
      { ...input, websites: [{ name: 'a', color_r: -1, color_g: 256, color_b: 1.5 }] },
      ['websites.0.color_r', 'websites.0.color_g', 'websites.0.color_b'],
    ],
  ])('create refuses %s with all faults at once', async (_, body, paths) => {
    const { post, json } = sandbox()
    const refused = await post('/v3/projects/shoes/create', body)
    expect(refused.status).toBe(400)
    expect(refused.body).toMatchObject({ response_code: 400, error: 'Bad Request' })
    expect(refused.body.errors.map(({ path }: { path: string }) => path)).toEqual(paths)
    expect((await json('/v3/projects/shoes/details')).status).toBe(404)
  })

  it('create refuses another frequency and a body beyond one megabyte', async () => {
    const { post } = sandbox()
    const refused = await post('/v3/projects/shoes/create?frequency=hourly', input)
    expect(refused.status).toBe(400)
    expect(refused.body.errors).toEqual([{ path: 'frequency', message: 'must be one of ondemand, daily, weekly' }])
    const huge = { ...input, websites: [{ name: 'x'.repeat(1024 * 1024) }] }
    expect((await post('/v3/projects/shoes/create', huge)).status).toBe(413)
  })

  it('names keep their slashes, percent signs and broken escapes', async () => {
    const { post, json } = sandbox()
    expect((await json('/v3/on-demand/caf%C3%A9%20%26%20co%2Fparis/estimate')).body.data).toEqual({
      project: 'café & co/paris',
      keyword_units: 12,
    })
    await post('/v3/projects/100%25%2F%252F/create', input)
    expect((await json('/v3/projects/100%25%2F%252F/details')).body.data.name).toBe('100%/%2F')
    expect((await json('/v3/projects/%zz/details')).status).toBe(404)
  })

  it('create accepts the values of the interface and no other values', async () => {
    const { post } = sandbox()
    const engine = { name: 'example search', country: 'XX', language: 'tlh', se_type: 'desktop' }
    const refused = await post('/v3/projects/shoes/create?country=XX', { ...input, searchengines: [engine] })
    expect([refused.status, refused.body.errors[0].path]).toEqual([400, 'country'])
    const body = (await post('/v3/projects/shoes/create', { ...input, searchengines: [engine] })).body
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual([
      'searchengines.0.country',
      'searchengines.0.language',
      'searchengines.0.se_type',
    ])
  })

  it('update replaces the given lists, and adds and removes search engines', async () => {
    const { post, json } = sandbox()
    await post('/v3/projects/shoes/create', input)
    const updated = await post('/v3/projects/shoes/update', {
      keywords: [{ name: 'green shoes' }],
      addSearchengines: [{ name: 'example search', country: 'FR' }],
      removeSearchengines: [{ svc_id: 2 }],
    })
    expect(updated).toEqual({ status: 200, body: { response_code: 0, data: { project: 'shoes', id: '1006' } } })
    const details = (await json('/v3/projects/shoes/details')).body.data
    const engines = (list: { svc_id: number; country: string }[]) => list.map((each) => [each.svc_id, each.country])
    expect(engines(details.searchengines)).toEqual([
      [1, 'US'],
      [3, 'FR'],
    ])
    expect(details.websites).toEqual(input.websites)
    expect((await json('/v3/projects/1006/keywords')).body.data).toEqual({ keywords: [{ name: 'green shoes' }] })
    expect((await json('/v3/on-demand/shoes/estimate')).body.data.keyword_units).toBe(2)
  })

  it('update never gives an svc_id twice', async () => {
    const { post, json } = sandbox()
    await post('/v3/projects/shoes/create', input)
    await post('/v3/projects/shoes/update', { removeSearchengines: [{ svc_id: 2 }] })
    await post('/v3/projects/shoes/update', { addSearchengines: [{ name: 'example search' }] })
    const { searchengines } = (await json('/v3/projects/shoes/details')).body.data
    expect(searchengines.map(({ svc_id }: { svc_id: number }) => svc_id)).toEqual([1, 3])
  })

  it('update changes nothing if it cannot make the whole change', async () => {
    const { post, json } = sandbox()
    const before = (await json('/v3/projects/globex/details')).body
    const engines = { removeSearchengines: [{ svc_id: 1 }, { svc_id: 9 }], keywords: [] }
    expect(await post('/v3/projects/globex/update', engines)).toEqual({
      status: 400,
      body: { response_code: 400, error: 'There is no search engine with svc_id 9 in globex' },
    })
    const wrong = await post('/v3/projects/globex/update', { keywords: [{}], removeSearchengines: [{ svc_id: '1' }] })
    expect(wrong.body.errors.map(({ path }: { path: string }) => path)).toEqual([
      'keywords.0.name',
      'removeSearchengines.0.svc_id',
    ])
    expect((await post('/v3/projects/missing/update', {})).status).toBe(404)
    expect((await json('/v3/projects/globex/details')).body).toEqual(before)
  })
})
