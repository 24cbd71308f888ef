import { bestOf, type Site } from '../world/websites.ts'
import { placesOf, type World } from '../world/world.ts'
import { type Tally, tallyOf } from './tally.ts'

/** The URLs with which each website ranks, the busiest first. */
export function* landingPages(world: World, dates: readonly string[]) {
  for (const place of placesOf(world, dates)) {
    const tallies = new Map<Site, Map<string, Tally>>(world.sites.map((site) => [site, new Map()]))
    for (const { volume, page } of world.sightings(place.engine, place.date))
      for (const [site, urls] of tallies) {
        const best = bestOf(page, site)
        if (best) tallyOf(urls, best.url).add(best.position, volume)
      }
    for (const [site, urls] of tallies)
      for (const [url, tally] of [...urls].sort(([, a], [, b]) => b.clicks() - a.clicks()))
        yield {
          ...place.fields,
          website: site.name,
          url,
          keywords: tally.keywords(),
          best_rank: tally.best(),
          average_rank: tally.averageRank(),
          estimated_clicks: Math.round(tally.clicks()),
        }
  }
}
