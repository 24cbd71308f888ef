import { placesOf, type World } from '../world/world.ts'
import { type Tally, tallyOf } from './tally.ts'

const mostSites = 20
const aboveTheFold = 10

/** The hosts that are among the first ten for the most keywords, whoever tracks them. */
export function* topSites(world: World, dates: readonly string[]) {
  for (const place of placesOf(world, dates)) {
    const tallies = new Map<string, Tally>()
    for (const { volume, page } of world.sightings(place.engine, place.date))
      for (const { host, position } of page.slice(0, aboveTheFold)) tallyOf(tallies, host.name).add(position, volume)
    const sites = [...tallies]
      .sort(([nameA, a], [nameB, b]) => b.keywords() - a.keywords() || compare(nameA, nameB))
      .slice(0, mostSites)
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

/** The same on every machine, whatever its language. */
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
