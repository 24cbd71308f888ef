import { describe, expect, it } from 'vitest'
import { createResultPages, type ResultPage, trackedHost } from '../../functions/sandbox/result-page.ts'
import { sandbox } from '../support/sandbox.ts'

const engine = {
  name: 'example search',
  country: 'US',
  location: 'San Francisco, CA',
  language: 'en',
  se_type: 'desktop universal',
}
const shoes = trackedHost('shoes.example')
const keywords = Array.from({ length: 50 }, (_, index) => `keyword ${index}`)
const hosts = (page: ResultPage) => page.map(({ host }) => host.name)
const dayAfter = (date: string, days: number) =>
  new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)

/** How many positions a host moves on average between two dates. */
function movement(days: number): number {
  const pageOf = createResultPages(shoes ? [shoes] : [])
  let moved = 0
  let seen = 0
  for (const keyword of keywords) {
    const before = hosts(pageOf(keyword, engine, '2026-11-02'))
    const after = hosts(pageOf(keyword, engine, dayAfter('2026-11-02', days)))
    for (const [index, host] of before.entries()) {
      if (!after.includes(host)) continue
      moved += Math.abs(after.indexOf(host) - index)
      seen++
    }
  }
  return moved / seen
}

describe('sandbox: its world', () => {
  it('a page has twenty hosts, each once, the first at position 1', () => {
    const page = createResultPages(shoes ? [shoes] : [])('red shoes', engine, '2026-11-20')
    expect(page.map(({ position }) => position)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
    expect(new Set(hosts(page)).size).toBe(20)
    for (const { url, host } of page) expect(new URL(url).host).toBe(host.name)
  })

  it('is the same for ever: nothing but keyword, engine and date decides', () => {
    const [one, other] = [createResultPages([]), createResultPages([])]
    for (const keyword of keywords) other(keyword, engine, '2020-01-01')
    expect(other('red shoes', { ...engine }, '2026-11-20')).toEqual(one('red shoes', engine, '2026-11-20'))
    const page = hosts(one('red shoes', engine, '2026-11-20'))
    expect(hosts(one('blue shoes', engine, '2026-11-20'))).not.toEqual(page)
    expect(hosts(one('red shoes', { ...engine, country: 'DE' }, '2026-11-20'))).not.toEqual(page)
    // This very page: a change of how the world is computed changes what people have exported before.
    expect(page.slice(0, 3)).toEqual([
      'www.atlas-direct.example',
      'www.harbor-journal.example',
      'www.lantern-review.example',
    ])
  })

  it('shows the public hosts in one order, whichever sites are tracked beside them', () => {
    const without = hosts(createResultPages([])('red shoes', engine, '2026-11-20'))
    const withShoes = hosts(createResultPages(shoes ? [shoes] : [])('red shoes', engine, '2026-11-20'))
    const others = withShoes.filter((host) => host !== 'shoes.example')
    expect(others).toEqual(without.slice(0, others.length))
  })

  it('drifts: little from one day to the next, more over a month, and never out of recognition', () => {
    const [day, month] = [movement(1), movement(28)]
    expect(day).toBeGreaterThan(0.05)
    expect(day).toBeLessThan(1)
    expect(month).toBeGreaterThan(1.5 * day)
    expect(month).toBeLessThan(5)
  })

  it('a website does well for some keywords and not at all for others', () => {
    const pageOf = createResultPages(shoes ? [shoes] : [])
    const ranks = keywords.map((keyword) => hosts(pageOf(keyword, engine, '2026-11-20')).indexOf('shoes.example'))
    expect(ranks.filter((rank) => rank === -1).length).toBeGreaterThan(2)
    expect(ranks.filter((rank) => rank >= 0 && rank < 10).length).toBeGreaterThan(5)
  })

  it('a website is known by its name and by its aliases', async () => {
    const { post, json, rows } = sandbox()
    await post('/v3/projects/shoes/create', {
      keywords: keywords.map((name) => ({ name })),
      searchengines: [engine],
      websites: [
        { name: 'https://Shoes.example/start' },
        { name: 'atlas-shop.example' },
        { name: 'everything', aliases: '*' },
        { name: '', aliases: 'a*b*c, x' },
      ],
    })
    await json('/v3/on-demand/shoes/run')
    const visibility = await rows('/v3/projects/shoes/export-visibility')
    const ranked = Object.fromEntries(visibility.map((row) => [row.website, row.keywords_ranked]))
    expect(ranked['https://Shoes.example/start']).toBeGreaterThan(5)
    expect(ranked['atlas-shop.example']).toBeGreaterThan(5)
    expect([ranked.everything, ranked['']]).toEqual([50, 0])
  })

  it('the same question twice has the same answer', async () => {
    const { rows } = sandbox()
    for (const view of ['rankings', 'visibility', 'pages', 'topsites', 'gsc'])
      expect(await rows(`/v3/projects/globex/export-${view}?startDate=2026-10-01`)).toEqual(
        await rows(`/v3/projects/globex/export-${view}?startDate=2026-10-01`),
      )
  })
})

describe('sandbox: a week', () => {
  it('a daily, a weekly and an on-demand project gain dates as time passes and as runs are paid for', async () => {
    const { post, json, at, dates, rows, used } = sandbox()
    at('2026-11-16T10:00:00Z')
    await post('/v3/projects/d/create?frequency=daily', { ...project, keywords: [{ name: 'a' }] })
    await post('/v3/projects/w/create?frequency=weekly', project)
    await post('/v3/projects/o/create', project)
    expect([await dates('d'), await dates('w'), await dates('o')]).toEqual([['2026-11-16'], ['2026-11-16'], []])
    expect(await rows('/v3/projects/o/export-rankings')).toEqual([])
    for (const day of ['17', '18', '19', '20', '21', '22']) {
      at(`2026-11-${day}T10:00:00Z`)
      if (day === '18') await json('/v3/on-demand/o/run')
      if (day === '21') await json('/v3/on-demand/o,d/run')
      expect((await dates('d')).at(-1)).toBe(`2026-11-${day}`)
    }
    at('2026-11-23T00:00:00Z')
    expect(await dates('d')).toHaveLength(8)
    expect(await dates('w')).toEqual(['2026-11-16', '2026-11-23'])
    expect(await dates('o')).toEqual(['2026-11-18', '2026-11-21'])
    expect(await used()).toBe(2 * 3 + 1)
    const exported = await rows('/v3/projects/o/export-rankings?startDate=2026-11-01&stopDate=2026-11-30')
    expect([...new Set(exported.map(({ date }) => date))]).toEqual(['2026-11-18', '2026-11-21'])
  })

  it('no second data set on the same day: the export does not grow', async () => {
    const { json, rows } = sandbox()
    await json('/v3/on-demand/initech/run')
    const first = await rows('/v3/projects/initech/export-rankings?startDate=2026-11-01')
    await json('/v3/on-demand/initech/run')
    expect(await rows('/v3/projects/initech/export-rankings?startDate=2026-11-01')).toEqual(first)
  })
})

const project = {
  keywords: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
  searchengines: [engine],
  websites: [{ name: 'a.example' }],
}
