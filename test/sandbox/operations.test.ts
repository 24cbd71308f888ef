import { describe, expect, it } from 'vitest'
import { input, sandbox } from '../support/sandbox.ts'

/** Every operation of the interface ("Endpoints"), with the parameters that it needs. */
const operations: readonly (readonly [method: string, path: string, body: object])[] = [
  ['GET', '/projects', {}],
  ['POST', '/projects/shoes/create', input],
  ['POST', '/projects/globex/update', {}],
  ['GET', '/projects/globex/details', {}],
  ['GET', '/projects/1002/keywords', {}],
  ['GET', '/projects/globex/dates', {}],
  ['GET', '/projects/globex/export-rankings', {}],
  ['GET', '/projects/globex/export-visibility', {}],
  ['GET', '/projects/globex/export-pages', {}],
  ['GET', '/projects/globex/export-topsites', {}],
  ['GET', '/projects/globex/export-gsc', {}],
  ['POST', '/projects/globex/export-ctr', {}],
  ['GET', '/projects/1002/export-keyword-difficulty', {}],
  ['GET', '/on-demand/globex/estimate', {}],
  ['GET', '/on-demand/globex/run', {}],
  ['GET', '/keyword-difficulty/1002/estimate', {}],
  ['GET', '/keyword-difficulty/1001,1002/run', {}],
  ['GET', '/marketshare/projects', {}],
  ['GET', '/marketshare/projects/1002/websites', {}],
  ['GET', '/marketshare/projects/1002/search-engines', {}],
  ['GET', '/marketshare/projects/1002/metadata', {}],
  ['GET', '/marketshare/projects/1002/url-keywords?url=https://www.globex.example/news/prices', {}],
  ['GET', '/marketshare/projects/1002/domain-urls?domain=globex.example', {}],
]

describe('sandbox: every operation', () => {
  it('an operation of the sandbox is one of the 23 of the interface', () => {
    expect(operations).toHaveLength(23)
  })

  it.each(operations)('%s %s needs a token, and no other method is answered', async (method, path, body) => {
    const { app, send, used } = sandbox()
    expect((await app.request(`/v3${path}`, { method })).status).toBe(401)
    const init = method === 'POST' ? { body: JSON.stringify(body) } : {}
    for (const other of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((each) => each !== method)) {
      const refused = await send(`/v3${path}`, { method: other })
      expect([other, refused.status]).toEqual([other, 405])
      expect(refused.headers.get('allow')).toBe(method === 'GET' ? 'GET, HEAD' : 'POST')
      expect(await refused.json()).toEqual({ response_code: 405, error: 'Method Not Allowed' })
    }
    expect(await used()).toBe(0)
    const answer = await send(`/v3${path}`, { method, ...init })
    expect(answer.status).toBe(path.endsWith('/create') ? 201 : 200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(await answer.text())).toBeTypeOf('object')
  })

  const ofProject = operations.filter(([, path]) => /globex|100/.test(path))
  it.each(ofProject)('%s %s is 404 for an unknown project', async (method, path) => {
    const { json, used } = sandbox()
    const unknown = path.replace(/\/(globex|100[\d,]+)/, '/missing')
    expect(await json(`/v3${unknown}`, { method, ...(method === 'POST' && { body: '{}' }) })).toEqual({
      status: 404,
      body: { response_code: 404, error: 'There is no project called missing' },
    })
    expect(await used()).toBe(0)
  })

  it('more than 50 projects at once are refused', async () => {
    const { json, post } = sandbox()
    for (let index = 1; index <= 51; index++) await post(`/v3/projects/p${index}/create`, input)
    const names = Array.from({ length: 51 }, (_, index) => `p${index + 1}`)
    expect((await json(`/v3/on-demand/${names.join(',')}/run`)).status).toBe(400)
    expect((await json(`/v3/on-demand/${names.slice(1).join(',')}/run`)).status).toBe(200)
  })
})

describe('sandbox: market share', () => {
  it('the list of market-share projects gives each id that other operations take, the websites and the engines', async () => {
    const { json } = sandbox()
    const { projects } = (await json('/v3/marketshare/projects')).body.data
    expect(projects.slice(0, 2)).toEqual([
      { id: '1001', name: 'acme.example' },
      { id: '1002', name: 'globex' },
    ])
    const { id } = projects[1]
    expect((await json(`/v3/marketshare/projects/${id}/websites`)).body.data).toEqual({
      websites: [
        { id: 1, name: 'www.globex.example', main: true },
        { id: 2, name: 'www.field-shop.example', main: false },
        { id: 3, name: 'www.lantern-review.example', main: false },
      ],
    })
    expect((await json(`/v3/marketshare/projects/${id}/search-engines`)).body.data.search_engines[1]).toEqual({
      id: 2,
      name: 'example search US en, mobile universal',
    })
    expect((await json(`/v3/keyword-difficulty/${id}/estimate`)).body.data.project).toBe('globex')
  })

  it('lookups without a subject are 400', async () => {
    const { json } = sandbox()
    const errors = async (path: string) => (await json(`/v3/marketshare/projects/1002/${path}`)).body.errors
    expect(await errors('url-keywords')).toEqual([{ path: 'url', message: 'must be the URL to look up' }])
    expect(await errors('domain-urls?date=today')).toEqual([
      { path: 'domain', message: 'must be the domain to look up' },
      { path: 'date', message: 'must be a calendar date such as 2026-11-20' },
    ])
  })
})
