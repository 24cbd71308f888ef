import { difficultyOf } from '../world/figures.ts'
import { placesOf, type World } from '../world/world.ts'

/** How hard each keyword is, once for each country, as it was on the dates for which difficulty was updated. */
export function* keywordDifficulty(world: World, dates: readonly string[]) {
  const oneByCountry = [...new Map(world.engines.toReversed().map((engine) => [engine.country, engine])).values()]
  const national: World = { ...world, engines: oneByCountry.toReversed() }
  for (const { engine, date } of placesOf(national, dates))
    for (const { keyword, volume, page } of world.sightings(engine, date))
      yield { date, keyword, country: engine.country, difficulty: difficultyOf(page), search_volume: volume }
}
