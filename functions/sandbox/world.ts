import type { Engine, Project } from './project.ts'
import { createResultPages, fraction, hashOf, mix, type Result, type ResultPage, trackedHost } from './result-page.ts'

export interface World {
  readonly sites: readonly Site[]
  readonly engines: readonly Engine[]
  /** Computes pages while the caller reads, so that memory stays small. */
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

export interface Place {
  readonly engine: Engine
  readonly date: string
  readonly fields: { readonly date: string; readonly svc_id: number; readonly search_engine: string }
}

export function* placesOf(world: World, dates: readonly string[]): Generator<Place> {
  for (const date of dates)
    for (const engine of world.engines)
      yield { engine, date, fields: { date, svc_id: engine.svc_id, search_engine: labelOf(engine) } }
}

export const labelOf = ({ name, country, language, se_type }: Engine): string =>
  `${name} ${country} ${language}, ${se_type}`

const firstPositionShare = 0.3
const steepness = 1.1

/** Click-through rate. */
export const clickThrough = (position: number): number => rounded(firstPositionShare / position ** steepness, 4)

/** A month; few keywords have many. */
function searchVolume(keyword: string): number {
  const searches = 10 * 2 ** (12 * fraction(mix(hashOf(keyword), 3)) ** 1.5)
  return Math.round(searches / 10) * 10
}

/** 0 to 100, from the authority of the first ten hosts. */
export function difficultyOf(page: ResultPage): number {
  let authority = 0
  let weight = 0
  for (const { position, host } of page.slice(0, 10)) {
    authority += host.authority * clickThrough(position)
    weight += clickThrough(position)
  }
  return weight === 0 ? 0 : Math.round((100 * authority) / weight)
}

export const rounded = (value: number, digits: number): number => Math.round(value * 10 ** digits) / 10 ** digits

/** Few people open the second page. */
export const resultsSeen = (position: number): number => (position <= 10 ? 1 : 0.3)

export interface Site {
  readonly id: number
  readonly name: string
  /** Other sites are competitors. */
  readonly main: boolean
  owns(host: string): boolean
}

/** Reads domains with a scheme, capitals or a path, as people write them. */
const hostOf = (domain: string): string =>
  domain
    .trim()
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/[/?#].*$/s, '')

export const sitesOf = (project: Project): readonly Site[] =>
  project.websites.map(({ name, aliases }, index) => {
    const patterns = (aliases ?? '').split(/[\s,;]+/).map(hostOf)
    return { id: index + 1, name, main: index === 0, owns: ownerOf([bare(name), `www.${bare(name)}`, ...patterns]) }
  })

export const domainOwner = (domain: string) => ownerOf([hostOf(domain), `*.${bare(domain)}`, bare(domain)])

/** Only the best result of a site counts as its rank. */
export const bestOf = (page: ResultPage, site: Site): Result | undefined =>
  page.find(({ host }) => site.owns(host.name))

function ownerOf(patterns: readonly string[]): (host: string) => boolean {
  const known = new Map<string, boolean>()
  return (host) => {
    const answer = known.get(host) ?? patterns.some((pattern) => isLike(host, pattern))
    known.set(host, answer)
    return answer
  }
}

const bare = (name: string): string => hostOf(name).replace(/^www\./, '')

/** No regular expression, because patterns come from callers. */
function isLike(host: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return first !== '' && host === first
  const last = rest.pop() ?? ''
  if (!host.startsWith(first)) return false
  let at = first.length
  for (const piece of rest) {
    const found = host.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return host.length - last.length >= at && host.endsWith(last)
}
