import { clickThrough, resultsSeen, rounded } from '../world/figures.ts'
import { resultsPerPage } from '../world/result-page.ts'
import { bestOf } from '../world/websites.ts'
import { type Place, placesOf, type World } from '../world/world.ts'

interface Query {
  readonly query: string
  readonly page: string
  readonly position: number
  readonly impressions: number
  readonly clicks: number
}

/** What a search console tells the owner of the main website: the keywords for which it was seen. */
export function* searchConsole(world: World, dates: readonly string[]) {
  for (const place of placesOf(world, dates))
    for (const { query, page, position, impressions, clicks } of queriesAt(world, place))
      yield {
        ...place.fields,
        query,
        page,
        country: place.engine.country,
        device: deviceOf(place.engine.se_type),
        position,
        impressions,
        clicks,
        ctr: impressions === 0 ? 0 : rounded(clicks / impressions, 4),
      }
}

/** The same queries gathered by position, beside the rate that the world holds for it. */
export function* clickThroughRates(world: World, dates: readonly string[]) {
  for (const place of placesOf(world, dates)) {
    const positions = Array.from({ length: resultsPerPage }, () => ({ keywords: 0, impressions: 0, clicks: 0 }))
    for (const { position, impressions, clicks } of queriesAt(world, place)) {
      const sum = positions[position - 1]
      if (!sum) continue
      sum.keywords++
      sum.impressions += impressions
      sum.clicks += clicks
    }
    for (const [index, sums] of positions.entries())
      yield { ...place.fields, position: index + 1, ctr: clickThrough(index + 1), ...sums }
  }
}

const daysOfMonth = 30

function* queriesAt(world: World, { engine, date }: Place): Generator<Query> {
  const main = world.sites.find((site) => site.main)
  if (!main) return
  for (const { keyword, volume, page } of world.sightings(engine, date)) {
    const best = bestOf(page, main)
    if (!best) continue
    const impressions = Math.round((volume / daysOfMonth) * resultsSeen(best.position))
    const clicks = Math.min(impressions, Math.round((volume / daysOfMonth) * clickThrough(best.position)))
    yield { query: keyword, page: best.url, position: best.position, impressions, clicks }
  }
}

const deviceOf = (seType: string): string => (seType.startsWith('mobile') ? 'mobile' : 'desktop')
