import { describe, expect, it } from 'vitest'
import { sandbox } from '../support/sandbox.ts'

const place = ['date', 'svc_id', 'search_engine']
const acme = '/v3/projects/acme.example'
const share = '/v3/marketshare/projects/1001'
const url = 'https://www.acme.example/guides'

/** The rows and columns of each export and lookup, for a project with 40 keywords, one engine and three websites, on one date. */
const views: readonly (readonly [path: string, count: number | null, columns: readonly string[]])[] = [
  [`${acme}/export-rankings`, 40 * 3, [...place, 'keyword', 'search_volume', 'website', 'rank', 'url']],
  [
    `${acme}/export-visibility`,
    3,
    [...place, 'website', 'visibility', 'keywords_ranked', 'average_rank', 'in_first_3', 'in_first_10'],
  ],
  [
    `${acme}/export-pages`,
    3 * 4,
    [...place, 'website', 'url', 'keywords', 'best_rank', 'average_rank', 'estimated_clicks'],
  ],
  [`${acme}/export-topsites`, 20, [...place, 'place', 'domain', 'keywords', 'average_rank']],
  [
    `${acme}/export-gsc`,
    null,
    [...place, 'query', 'page', 'country', 'device', 'position', 'impressions', 'clicks', 'ctr'],
  ],
  [`${acme}/export-ctr`, 20, [...place, 'position', 'ctr', 'keywords', 'impressions', 'clicks']],
  ['/v3/projects/1001/export-keyword-difficulty', 40, ['date', 'keyword', 'country', 'difficulty', 'search_volume']],
  [
    `${share}/metadata`,
    3,
    ['date', 'website', 'main', 'market_share', 'visibility', 'estimated_clicks', 'keywords_ranked', 'average_rank'],
  ],
  [`${share}/url-keywords?url=${url}`, null, [...place, 'keyword', 'search_volume', 'rank']],
  [`${share}/domain-urls?domain=acme.example`, 4, ['url', 'keywords', 'best_rank', 'first_seen', 'last_seen']],
]

const ranges: Record<string, readonly [from: number, to: number]> = {
  rank: [1, 20],
  position: [1, 20],
  best_rank: [1, 20],
  average_rank: [1, 20],
  place: [1, 20],
  keywords: [0, 40],
  keywords_ranked: [0, 40],
  in_first_3: [0, 40],
  in_first_10: [0, 40],
  difficulty: [0, 100],
  market_share: [0, 100],
  visibility: [0, 100],
  ctr: [0, 1],
  search_volume: [0, 1e6],
  impressions: [0, 1e6],
  clicks: [0, 1e6],
  estimated_clicks: [0, 1e6],
}

describe('sandbox: the rows of exports and lookups', () => {
  it.each(views)('%s has its columns, figures in range, and the same rows each time', async (path, count, columns) => {
    const { rows, json } = sandbox()
    await json('/v3/on-demand/1001/run')
    await json('/v3/keyword-difficulty/1001/run')
    const init = path.endsWith('export-ctr') ? { method: 'POST' } : {}
    const found = await rows(path, init)
    if (count === null) expect(found.length).toBeGreaterThan(10)
    else expect(found).toHaveLength(count)
    for (const row of found) {
      expect(Object.keys(row)).toEqual(columns)
      for (const [name, [from, to]] of Object.entries(ranges))
        if (columns.includes(name) && row[name] !== null)
          expect([name, row[name] >= from && row[name] <= to]).toEqual([name, true])
    }
    expect(await rows(path, init)).toEqual(found)
  })

  it('a website ranks for only some keywords, and differently on another day', async () => {
    const { rows } = sandbox()
    const ranks = async (date: string) => {
      const found = await rows(`/v3/projects/daily.example/export-rankings?startDate=${date}&stopDate=${date}`)
      return found.map(({ rank, url }) => {
        expect(url === null).toBe(rank === null)
        return rank
      })
    }
    const [one, other] = [await ranks('2026-11-18'), await ranks('2026-11-19')]
    expect(one.filter((rank) => rank === null).length).toBeGreaterThan(5)
    expect(new Set(one).size).toBeGreaterThan(10)
    expect(other).not.toEqual(one)
  })

  it('search-console rows are the rankings of the main website', async () => {
    const { rows } = sandbox()
    const rankings = await rows(`${acme}/export-rankings`)
    const main = rankings.filter(({ website, rank }) => website === 'www.acme.example' && rank !== null)
    expect((await rows(`${acme}/export-gsc`)).map(({ query, page, position }) => [query, page, position])).toEqual(
      main.map((row) => [row.keyword, row.url, row.rank]),
    )
  })

  it('difficulty has rows only after a keyword-difficulty update, one for each keyword and country', async () => {
    const { rows, json } = sandbox()
    const path = '/v3/projects/1002/export-keyword-difficulty'
    expect(await rows(path)).toEqual([])
    await json('/v3/keyword-difficulty/1002/run')
    const found = await rows(path)
    expect(found).toHaveLength(160 * 3)
    expect(new Set(found.map(({ country }) => country))).toEqual(new Set(['US', 'DE', 'FR']))
  })

  it('a website that is written as an address has URLs below its host', async () => {
    const { post, json, rows } = sandbox()
    await post('/v3/projects/shoes/create', { ...project, websites: [{ name: 'https://Shoes.example/start' }] })
    await json('/v3/on-demand/shoes/run')
    const urls = (await rows('/v3/projects/shoes/export-pages')).map(({ url }) => new URL(url))
    expect(urls.map(({ host, pathname }) => host + pathname)).toContain('shoes.example/guides')
  })
})

const project = {
  keywords: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
  searchengines: [{ name: 'example search' }],
  websites: [{ name: 'a.example' }],
}

describe('sandbox: a week', () => {
  it('a daily, a weekly and an on-demand project gain dates by time and by paid runs', async () => {
    const { post, json, at, dates, rows, used } = sandbox()
    at('2026-11-16T10:00:00Z')
    await post('/v3/projects/d/create?frequency=daily', { ...project, keywords: [{ name: 'a' }] })
    await post('/v3/projects/w/create?frequency=weekly', project)
    await post('/v3/projects/o/create?frequency=ondemand', project)
    expect([await dates('d'), await dates('w'), await dates('o')]).toEqual([['2026-11-16'], ['2026-11-16'], []])
    expect(await rows('/v3/projects/o/export-rankings')).toEqual([])
    for (const day of ['17', '18', '19', '20', '21', '22']) {
      at(`2026-11-${day}T10:00:00Z`)
      if (day === '18') await json('/v3/on-demand/o/run')
      if (day === '21') await json('/v3/on-demand/o,d/run')
      expect((await dates('d')).at(-1)).toBe(`2026-11-${day}`)
    }
    at('2026-11-22T23:59:59Z')
    expect([(await dates('d')).length, await dates('w')]).toEqual([7, ['2026-11-16']])
    at('2026-11-23T00:00:00Z')
    expect([(await dates('d')).length, await dates('w')]).toEqual([8, ['2026-11-16', '2026-11-23']])
    expect(await dates('o')).toEqual(['2026-11-18', '2026-11-21'])
    expect(await used()).toBe(2 * 3 + 1)
    const exported = await rows('/v3/projects/o/export-rankings?startDate=2026-11-01&stopDate=2026-11-30')
    expect([...new Set(exported.map(({ date }) => date))]).toEqual(['2026-11-18', '2026-11-21'])
  })

  it('a second run on the same day adds no second data set to the export', async () => {
    const { json, rows } = sandbox()
    await json('/v3/on-demand/initech/run')
    const first = await rows('/v3/projects/initech/export-rankings?startDate=2026-11-01')
    await json('/v3/on-demand/initech/run')
    expect(await rows('/v3/projects/initech/export-rankings?startDate=2026-11-01')).toEqual(first)
  })
})

describe('sandbox: the period of an export', () => {
  const datesIn = async (query: string) => {
    const { rows } = sandbox()
    return [...new Set((await rows(`/v3/projects/daily.example/export-visibility${query}`)).map(({ date }) => date))]
  }

  it.each([
    ['', ['2026-11-20']],
    ['?startDate=2026-11-18', ['2026-11-18', '2026-11-19', '2026-11-20']],
    ['?stopDate=2026-11-18', ['2026-11-18']],
    ['?startDate=2026-11-17&stopDate=2026-11-18', ['2026-11-17', '2026-11-18']],
    ['?startDate=2027-01-01', []],
    ['?stopDate=2020-01-01', []],
  ])('an export%s has the dates of its period', async (query, dates) => {
    expect(await datesIn(query)).toEqual(dates)
  })

  it.each([
    ['startDate=yesterday', 'startDate'],
    ['stopDate=2026-02-30', 'stopDate'],
    ['startDate=2026-11-20&stopDate=2026-11-19', 'startDate'],
  ])('an export with %s is 400', async (query, path) => {
    const { json } = sandbox()
    const { status, body } = await json(`/v3/projects/globex/export-rankings?${query}`)
    expect([status, body.errors[0].path]).toEqual([400, path])
  })
})
