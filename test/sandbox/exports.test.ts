import { describe, expect, it } from 'vitest'
import { publicHosts } from '../../functions/sandbox/result-page.ts'
import { sandbox } from '../support/sandbox.ts'

/** Tracks every host that there is beside its own, so that its rankings show whole result pages. */
const watcher = {
  keywords: Array.from({ length: 30 }, (_, index) => ({ name: `garden tool ${index}` })),
  searchengines: [{ name: 'example search' }, { name: 'example search', country: 'DE', se_type: 'mobile organic' }],
  websites: [{ name: 'garden.example' }, ...publicHosts.map(({ name }) => ({ name }))],
}
const days = 'startDate=2026-11-18&stopDate=2026-11-20'

interface Ranking {
  date: string
  svc_id: number
  keyword: string
  search_volume: number
  website: string
  rank: number | null
  url: string | null
}
interface TopSite {
  date: string
  svc_id: number
  domain: string
  keywords: number
}
type Ranked = Ranking & { rank: number; url: string }

async function watch() {
  const world = sandbox()
  world.at('2026-11-16T08:00:00Z')
  await world.post('/v3/projects/garden/create?frequency=daily', watcher)
  world.at('2026-11-20T10:00:00Z')
  const rankings: Ranking[] = await world.rows(`/v3/projects/garden/export-rankings?${days}`)
  const ctr = new Map<number, number>()
  for (const row of await world.rows(`/v3/projects/garden/export-ctr?${days}`, { method: 'POST' }))
    ctr.set(row.position, row.ctr)
  const clicksOf = ({ rank, search_volume }: Ranked) => (ctr.get(rank) ?? 0) * search_volume
  const ranked = rankings.filter((row): row is Ranked => row.rank !== null)
  return { ...world, rankings, ranked, ctr, clicksOf }
}

function groupBy<Row>(rows: readonly Row[], key: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row])
  return groups
}
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
const place = (row: { date: string; svc_id: number }) => `${row.date} ${row.svc_id}`

describe('sandbox: the exports agree', () => {
  it('rankings show each date, engine, keyword and website once, and whole pages', async () => {
    const { rankings, ranked } = await watch()
    expect(rankings).toHaveLength(3 * 2 * 30 * 65)
    for (const page of groupBy(ranked, (row) => `${place(row)} ${row.keyword}`).values())
      expect(page.map(({ rank }) => rank).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
  })

  it('visibility', async () => {
    const { rows, ranked, rankings, clicksOf } = await watch()
    const searches = sum(rankings.slice(0, 30 * 65).map((row) => row.search_volume)) / 65
    const own = groupBy(ranked, (row) => `${place(row)} ${row.website}`)
    const visibility = await rows(`/v3/projects/garden/export-visibility?${days}`)
    expect(visibility).toHaveLength(3 * 2 * 65)
    for (const row of visibility) {
      const mine = own.get(`${place(row)} ${row.website}`) ?? []
      expect(row.visibility).toBeCloseTo((100 * sum(mine.map(clicksOf))) / searches, 3)
      expect([row.keywords_ranked, row.in_first_10]).toEqual([
        mine.length,
        mine.filter(({ rank }) => rank <= 10).length,
      ])
    }
  })

  it('top sites', async () => {
    const { rows, ranked } = await watch()
    const sites: TopSite[] = await rows(`/v3/projects/garden/export-topsites?${days}`)
    const top = groupBy(sites, place)
    const above = groupBy(
      ranked.filter(({ rank }) => rank <= 10),
      place,
    )
    expect(top.size).toBe(6)
    for (const [where, sites] of top) {
      const counts = [...groupBy(above.get(where) ?? [], (row) => row.website)]
        .map(([domain, { length }]) => ({ domain, keywords: length }))
        .sort((a, b) => b.keywords - a.keywords || (a.domain < b.domain ? -1 : 1))
      expect(sites.map(({ domain, keywords }) => ({ domain, keywords }))).toEqual(counts.slice(0, 20))
    }
  })

  it('market share: metadata, URLs and keywords', async () => {
    const { rows, ranked, clicksOf } = await watch()
    const byDate = groupBy(ranked, (row) => row.date)
    for (const row of await rows(`/v3/marketshare/projects/1006/metadata?${days}`)) {
      const all = byDate.get(row.date) ?? []
      const mine = all.filter(({ website }) => website === row.website.name)
      expect(row.market_share).toBeCloseTo((100 * sum(mine.map(clicksOf))) / sum(all.map(clicksOf)), 3)
      expect(row.main).toBe(row.website.name === 'garden.example')
    }
    const domain = 'www.atlas-shop.example'
    const mine = ranked.filter(({ website }) => website === domain)
    const urls = await rows(`/v3/marketshare/projects/1006/domain-urls?domain=${domain}&date=2026-11-18`)
    expect(urls.map(({ url }) => url).sort()).toEqual([...new Set(mine.map(({ url }) => url))].sort())
    const { url } = urls[0]
    const keywords = await rows(`/v3/marketshare/projects/1006/url-keywords?date=2026-11-19&url=${url}`)
    expect(keywords.map(({ svc_id, keyword, rank }) => ({ svc_id, keyword, rank }))).toEqual(
      mine
        .filter((row) => row.url === url && row.date === '2026-11-19')
        .map(({ svc_id, keyword, rank }) => ({ svc_id, keyword, rank })),
    )
  })

  it('landing pages, search console and click-through', async () => {
    const { rows, ranked, send } = await watch()
    const own = ranked.filter(({ website }) => website === 'garden.example')
    expect(own.length).toBeGreaterThan(20)
    const pages = await rows(`/v3/projects/garden/export-pages?${days}`)
    expect(sum(pages.map(({ keywords }) => keywords))).toBe(ranked.length)
    const gsc = await rows(`/v3/projects/garden/export-gsc?${days}`)
    expect(gsc.map(({ query, page, position }) => [query, page, position])).toEqual(
      own.map(({ keyword, url, rank }) => [keyword, url, rank]),
    )
    const ctr = await rows(`/v3/projects/garden/export-ctr?${days}`, { method: 'POST' })
    expect(sum(ctr.map(({ clicks }) => clicks))).toBe(sum(gsc.map(({ clicks }) => clicks)))
    expect(sum(ctr.map(({ keywords }) => keywords))).toBe(own.length)
    expect((await send(`/v3/projects/garden/export-ctr?${days}`)).status).toBe(405)
  })

  it('difficulty is exported once it was updated, by keyword and country', async () => {
    const { rows, json } = await watch()
    const path = '/v3/projects/1006/export-keyword-difficulty'
    expect(await rows(path)).toEqual([])
    await json('/v3/keyword-difficulty/1006/run')
    const difficulty = await rows(path)
    expect(difficulty).toHaveLength(60)
    expect(new Set(difficulty.map(({ country }) => country))).toEqual(new Set(['US', 'DE']))
    for (const row of difficulty) expect(row.difficulty >= 0 && row.difficulty <= 100).toBe(true)
    expect(new Set(difficulty.map((row) => row.difficulty)).size).toBeGreaterThan(5)
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
  ])('%s', async (query, dates) => {
    expect(await datesIn(query)).toEqual(dates)
  })

  it.each([
    ['startDate=yesterday', 'startDate'],
    ['stopDate=2026-02-30', 'stopDate'],
    ['startDate=2026-11-20&stopDate=2026-11-19', 'startDate'],
  ])('%s is 400', async (query, path) => {
    const { json } = sandbox()
    const { status, body } = await json(`/v3/projects/globex/export-rankings?${query}`)
    expect([status, body.errors[0].path]).toEqual([400, path])
  })
})
