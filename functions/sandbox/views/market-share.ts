import { clickThrough, rounded } from '../world/figures.ts'
import { bestOf } from '../world/websites.ts'
import { placesOf, type World } from '../world/world.ts'
import { createTally } from './tally.ts'

/** The share of all clicks that each website gets, over all engines of the project; the main website first. */
export function* metadata(world: World, dates: readonly string[]) {
  for (const date of dates) {
    const tallies = world.sites.map((site) => ({ site, tally: createTally() }))
    let searches = 0
    let clicks = 0
    for (const { volume, page } of sightingsOn(world, date)) {
      searches += volume
      for (const { position } of page) clicks += clickThrough(position) * volume
      for (const { site, tally } of tallies) {
        const best = bestOf(page, site)
        if (best) tally.add(best.position, volume)
      }
    }
    for (const { site, tally } of tallies)
      yield {
        date,
        website: { id: site.id, name: site.name },
        main: site.main,
        market_share: clicks === 0 ? 0 : rounded((100 * tally.clicks()) / clicks, 4),
        visibility: searches === 0 ? 0 : rounded((100 * tally.clicks()) / searches, 4),
        estimated_clicks: Math.round(tally.clicks()),
        keywords_ranked: tally.keywords(),
        average_rank: tally.averageRank(),
      }
  }
}

/** The keywords for which one URL ranked, as the engines showed it. */
export function* urlKeywords(world: World, dates: readonly string[], url: string) {
  for (const place of placesOf(world, dates))
    for (const { keyword, volume, page } of world.sightings(place.engine, place.date)) {
      const result = page.find((each) => each.url === url)
      if (result) yield { ...place.fields, keyword, search_volume: volume, rank: result.position }
    }
}

/**
 * Every URL of a domain that any engine has shown on these dates, the one with the most keywords first. Known only at
 * the end: until then it yields `undefined` now and then, so that whoever asks can see to others.
 */
export function* domainUrls(world: World, dates: readonly string[], owns: (host: string) => boolean) {
  const urls = new Map<string, { first: string; last: string; best: number; keywords: Set<string> }>()
  for (const { engine, date } of placesOf(world, dates)) {
    yield undefined
    for (const { keyword, page } of world.sightings(engine, date))
      for (const { host, url, position } of page) {
        if (!owns(host.name)) continue
        const seen = urls.get(url) ?? { first: date, last: date, best: position, keywords: new Set<string>() }
        seen.last = date
        seen.best = Math.min(seen.best, position)
        seen.keywords.add(keyword)
        urls.set(url, seen)
      }
  }
  const byKeywords = [...urls].sort(
    ([a, { keywords: of }], [b, { keywords }]) => keywords.size - of.size || (a < b ? -1 : 1),
  )
  for (const [url, { first, last, best, keywords }] of byKeywords)
    yield { url, keywords: keywords.size, best_rank: best, first_seen: first, last_seen: last }
}

function* sightingsOn(world: World, date: string) {
  for (const { engine } of placesOf(world, [date])) yield* world.sightings(engine, date)
}
