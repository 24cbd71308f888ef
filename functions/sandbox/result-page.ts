import { dayMs } from '../../shared/platform/clock.ts'

export interface Searcher {
  readonly name: string
  readonly country: string
  readonly location: string
  readonly language: string
  readonly se_type: string
}

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
  readonly seed: number
  readonly strength: number
}

/** A public host has the same place for every project. */
export function createResultPages(trackedHosts: readonly Host[]) {
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

  function candidatesOf(keyword: string): readonly Candidate[] {
    const known = candidates.get(keyword)
    if (known) return known
    const found = choose(keyword, trackedHosts)
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

function choose(keyword: string, trackedHosts: readonly Host[]): readonly Candidate[] {
  const keywordSeed = hashOf(keyword)
  const candidate = (host: Host): Candidate => {
    const seed = mix(host.seed, keywordSeed)
    return { host, seed, strength: 0.4 * host.authority + 0.5 * fraction(seed) }
  }
  const strongest = publicHosts
    .map(candidate)
    .sort((a, b) => b.strength - a.strength)
    .slice(0, candidatesPerKeyword)
  return [...strongest, ...trackedHosts.map(candidate)]
}

/** Insertion sort: candidates come nearly sorted, and a long export sorts 100,000 times. */
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

/** Hashes replace chance, so that the sandbox stores no pages. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mix(hash, text.length)
}

/** MurmurHash3's finalizer. */
export function mix(a: number, b: number): number {
  let hash = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(b ^ 0x27d4eb2f, 0xc2b2ae35)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

export const fraction = (hash: number): number => hash / 2 ** 32

function pick<Item>(items: readonly [Item, ...Item[]], hash: number): Item {
  return items[hash % items.length] ?? items[0]
}

export interface Host {
  readonly name: string
  readonly seed: number
  readonly authority: number
}

const subjects = ['atlas', 'beacon', 'corner', 'daily', 'field', 'harbor', 'insight', 'lantern'] as const
const trades = ['shop', 'guide', 'review', 'forum', 'wiki', 'market', 'journal', 'direct'] as const
const isGeneral = mix(hashOf('authority'), 1)

/** Hosts on every project's pages, under reserved names (RFC 2606). */
export const publicHosts: readonly Host[] = subjects.flatMap((subject) =>
  trades.map((trade) => {
    const name = `www.${subject}-${trade}.example`
    const seed = hashOf(name)
    return { name, seed, authority: fraction(mix(seed, isGeneral)) }
  }),
)

const publicNames = new Set(publicHosts.map(({ name }) => name))

/** A tracked website that is not public ranks fairly well, so that exports have rows. */
export function trackedHost(name: string): Host | undefined {
  if (name === '' || publicNames.has(name)) return undefined
  const seed = hashOf(name)
  return { name, seed, authority: 0.6 + 0.4 * fraction(mix(seed, isGeneral)) }
}

const sections = ['guides', 'products', 'reviews', 'news', 'help', 'compare'] as const
const topics = ['getting-started', 'best-of', 'prices', 'for-beginners', 'in-depth', 'near-you'] as const

const fourWeeks = 28
const movedShare = 1 / 8

/** Keywords share pages, and every four weeks one page in eight changes. */
function urlOf(host: Host, seed: number, day: number): string {
  const era = Math.floor((day + (seed % fourWeeks)) / fourWeeks)
  const eraSeed = mix(seed, era)
  const page = fraction(eraSeed) < movedShare ? eraSeed : seed
  return `https://${host.name}/${pick(sections, mix(page, 1))}/${pick(topics, mix(page, 2))}`
}
