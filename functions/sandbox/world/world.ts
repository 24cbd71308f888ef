import type { Engine, Project } from '../project.ts'
import { searchVolume } from './figures.ts'
import { trackedHost } from './hosts.ts'
import { createResultPages, type ResultPage } from './result-page.ts'
import { hostOf, type Site, sitesOf } from './websites.ts'

export interface World {
  readonly sites: readonly Site[]
  readonly engines: readonly Engine[]
  /** Computed while it is read, so that nothing piles up. */
  sightings(engine: Engine, date: string): Iterable<Sighting>
}

interface Sighting {
  readonly keyword: string
  readonly volume: number
  readonly page: ResultPage
}

export function createWorld(project: Project): World {
  const names = new Set(project.websites.map(({ name }) => hostOf(name)))
  const pageOf = createResultPages([...names].flatMap((name) => trackedHost(name) ?? []))
  const keywords = [...new Set(project.keywords.map(({ name }) => name))].map((keyword) => ({
    keyword,
    volume: searchVolume(keyword),
  }))
  return {
    sites: sitesOf(project),
    engines: project.searchengines,
    *sightings(engine, date) {
      for (const known of keywords) yield { ...known, page: pageOf(known.keyword, engine, date) }
    },
  }
}

/** One engine on one date, and the fields by which its rows name it. */
export interface Place {
  readonly engine: Engine
  readonly date: string
  readonly fields: { readonly date: string; readonly svc_id: number; readonly search_engine: string }
}

/** Oldest date first. */
export function* placesOf(world: World, dates: readonly string[]): Generator<Place> {
  for (const date of dates)
    for (const engine of world.engines)
      yield { engine, date, fields: { date, svc_id: engine.svc_id, search_engine: labelOf(engine) } }
}

export const labelOf = ({ name, country, language, se_type }: Engine): string =>
  `${name} ${country} ${language}, ${se_type}`
