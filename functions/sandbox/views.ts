import { resultsPerPage } from './result-page.ts'
import {
  bestOf,
  clickThrough,
  difficultyOf,
  type Place,
  placesOf,
  resultsSeen,
  rounded,
  type Site,
  type World,
} from './world.ts'

/** `rank` is `null` where the website did not rank. */
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

export function* keywordDifficulty(world: World, dates: readonly string[]) {
  const oneByCountry = [...new Map(world.engines.toReversed().map((engine) => [engine.country, engine])).values()]
  const national: World = { ...world, engines: oneByCountry.toReversed() }
  for (const { engine, date } of placesOf(national, dates))
    for (const { keyword, volume, page } of world.sightings(engine, date))
      yield { date, keyword, country: engine.country, difficulty: difficultyOf(page), search_volume: volume }
}

/** The URL with the most clicks first. */
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

interface Query {
  readonly query: string
  readonly page: string
  readonly position: number
  readonly impressions: number
  readonly clicks: number
}

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

const maxSites = 20
const aboveTheFold = 10

/** Yields the hosts that are among the first ten for the most keywords. */
export function* topSites(world: World, dates: readonly string[]) {
  for (const place of placesOf(world, dates)) {
    const tallies = new Map<string, Tally>()
    for (const { volume, page } of world.sightings(place.engine, place.date))
      for (const { host, position } of page.slice(0, aboveTheFold)) tallyOf(tallies, host.name).add(position, volume)
    const sites = [...tallies]
      .sort(([nameA, a], [nameB, b]) => b.keywords() - a.keywords() || compare(nameA, nameB))
      .slice(0, maxSites)
    for (const [index, [domain, tally]] of sites.entries())
      yield {
        ...place.fields,
        place: index + 1,
        domain,
        keywords: tally.keywords(),
        average_rank: tally.averageRank(),
      }
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** Click-through rates weighted by search volume, in per cent. */
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

export function createTally() {
  let keywords = 0
  let positions = 0
  let best: number | null = null
  let clicks = 0
  let first3 = 0
  let first10 = 0
  return {
    add(position: number, volume: number): void {
      keywords++
      positions += position
      best = Math.min(best ?? position, position)
      clicks += clickThrough(position) * volume
      if (position <= 3) first3++
      if (position <= 10) first10++
    },
    keywords: () => keywords,
    first3: () => first3,
    first10: () => first10,
    best: () => best,
    averageRank: () => (keywords === 0 ? null : rounded(positions / keywords, 2)),
    /** A month, not rounded. */
    clicks: () => clicks,
  }
}

export type Tally = ReturnType<typeof createTally>

function tallyOf<Key>(tallies: Map<Key, Tally>, key: Key): Tally {
  const known = tallies.get(key) ?? createTally()
  tallies.set(key, known)
  return known
}
