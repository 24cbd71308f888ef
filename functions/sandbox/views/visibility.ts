import { rounded } from '../world/figures.ts'
import { bestOf } from '../world/websites.ts'
import { placesOf, type World } from '../world/world.ts'
import { createTally } from './tally.ts'

/**
 * How much of what is searched each website catches, in per cent: the click-through rates of its ranks, each weighted
 * with the keyword's share of all searches.
 */
export function* visibility(world: World, dates: readonly string[]) {
  for (const place of placesOf(world, dates)) {
    const tallies = world.sites.map((site) => ({ site, tally: createTally() }))
    let searches = 0
    for (const { volume, page } of world.sightings(place.engine, place.date)) {
      searches += volume
      for (const { site, tally } of tallies) {
        const best = bestOf(page, site)
        if (best) tally.add(best.position, volume)
      }
    }
    for (const { site, tally } of tallies)
      yield {
        ...place.fields,
        website: site.name,
        visibility: searches === 0 ? 0 : rounded((100 * tally.clicks()) / searches, 4),
        keywords_ranked: tally.keywords(),
        average_rank: tally.averageRank(),
        in_first_3: tally.first3(),
        in_first_10: tally.first10(),
      }
  }
}
