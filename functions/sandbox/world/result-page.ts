import { dayMs } from '../../../shared/platform/clock.ts'
import { fraction, type Host, hashOf, mix, publicHosts, urlOf } from './hosts.ts'

/** Two searchers with equal fields see the same pages. */
export interface Searcher {
  readonly name: string
  readonly country: string
  readonly location: string
  readonly language: string
  readonly se_type: string
}

/** One line of a result page; the first has position 1. */
export interface Result {
  readonly position: number
  readonly host: Host
  readonly url: string
}

export type ResultPage = readonly Result[]

export const resultsPerPage = 20
const candidatesPerKeyword = 26

interface Candidate {
  readonly host: Host
  /** Of this host for this keyword. */
  readonly seed: number
  readonly strength: number
}

/**
 * Computes the page for a keyword, engine and date from these and the project's hosts alone: nothing is stored. A
 * public host has the same place for every project.
 *
 * @param tracked hosts that are not public.
 */
export function createResultPages(tracked: readonly Host[]) {
  const engines = new WeakMap<Searcher, number>()
  const candidates = new Map<string, readonly Candidate[]>()

  function engineSeed(engine: Searcher): number {
    const known = engines.get(engine)
    if (known !== undefined) return known
    const { name, country, location, language, se_type } = engine
    const seed = hashOf(JSON.stringify([name, country, location, language, se_type]))
    engines.set(engine, seed)
    return seed
  }

  /** Grows with the keywords of one project only: dates and engines are the long dimensions. */
  function candidatesOf(keyword: string): readonly Candidate[] {
    const known = candidates.get(keyword)
    if (known) return known
    const found = choose(keyword, tracked)
    candidates.set(keyword, found)
    return found
  }

  return (keyword: string, engine: Searcher, date: string): ResultPage => {
    const day = dayNumber(date)
    const seen = engineSeed(engine)
    const known = candidatesOf(keyword)
    return inOrder(known, (candidate) => scoreOf(candidate, seen, day)).map(({ host, seed }, index) => ({
      position: index + 1,
      host,
      url: urlOf(host, seed, day),
    }))
  }
}

function choose(keyword: string, tracked: readonly Host[]): readonly Candidate[] {
  const keywordSeed = hashOf(keyword)
  const candidate = (host: Host): Candidate => {
    const seed = mix(host.seed, keywordSeed)
    return { host, seed, strength: 0.4 * host.authority + 0.5 * fraction(seed) }
  }
  const strongest = publicHosts
    .map(candidate)
    .sort((a, b) => b.strength - a.strength)
    .slice(0, candidatesPerKeyword)
  return [...strongest, ...tracked.map(candidate)]
}

/**
 * The best first. Insertion sort, since they come nearly sorted and a long export does this a hundred thousand times.
 */
function inOrder(candidates: readonly Candidate[], score: (candidate: Candidate) => number): Candidate[] {
  const sorted: Candidate[] = []
  const scores: number[] = []
  for (const candidate of candidates) {
    const own = score(candidate)
    let at = sorted.length
    for (let above = scores[at - 1]; above !== undefined && above < own; above = scores[at - 1]) {
      scores[at] = above
      sorted[at] = sorted[at - 1] ?? candidate
      at--
    }
    scores[at] = own
    sorted[at] = candidate
  }
  return sorted.slice(0, resultsPerPage)
}

/** Engines differ a little; positions drift over weeks, and neighbours swap from day to day. */
function scoreOf({ seed, strength }: Candidate, engine: number, day: number): number {
  const here = mix(seed, engine)
  const week = Math.floor(day / 7)
  const before = fraction(mix(here, week))
  const after = fraction(mix(here, week + 1))
  const tide = before + (after - before) * ((day % 7) / 7)
  const ripple = fraction(mix(here, day + 1_000_000))
  return strength + 0.12 * fraction(here) + 0.05 * tide + 0.006 * ripple
}

const dayNumber = (date: string): number => Math.floor(Date.parse(date) / dayMs)
