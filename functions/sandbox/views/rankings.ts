import { bestOf } from '../world/websites.ts'
import { placesOf, type World } from '../world/world.ts'

/** Where each website ranked: one row for each date, engine, keyword and website; `null` where it did not. */
export function* rankings(world: World, dates: readonly string[]) {
  for (const place of placesOf(world, dates))
    for (const { keyword, volume, page } of world.sightings(place.engine, place.date))
      for (const site of world.sites) {
        const best = bestOf(page, site)
        yield {
          ...place.fields,
          keyword,
          search_volume: volume,
          website: site.name,
          rank: best?.position ?? null,
          url: best?.url ?? null,
        }
      }
}
