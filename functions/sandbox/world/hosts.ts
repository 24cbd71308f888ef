/** The world's only source of chance: a 32-bit number of a text, so that nothing is stored. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mix(hash, text.length)
}

/** The finalizer of MurmurHash3. */
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
  /** How much search engines think of it, from 0 to 1. */
  readonly authority: number
}

const subjects = ['atlas', 'beacon', 'corner', 'daily', 'field', 'harbor', 'insight', 'lantern'] as const
const trades = ['shop', 'guide', 'review', 'forum', 'wiki', 'market', 'journal', 'direct'] as const
const isGeneral = mix(hashOf('authority'), 1)

/** The hosts on every project's pages, under a reserved name (RFC 2606). */
export const publicHosts: readonly Host[] = subjects.flatMap((subject) =>
  trades.map((trade) => {
    const name = `www.${subject}-${trade}.example`
    const seed = hashOf(name)
    return { name, seed, authority: fraction(mix(seed, isGeneral)) }
  }),
)

const publicNames = new Set(publicHosts.map(({ name }) => name))

/** A tracked website that is not one of the public hosts; it ranks fairly well, or there is nothing to see. */
export function trackedHost(name: string): Host | undefined {
  if (name === '' || publicNames.has(name)) return undefined
  const seed = hashOf(name)
  return { name, seed, authority: 0.6 + 0.4 * fraction(mix(seed, isGeneral)) }
}

const sections = ['guides', 'products', 'reviews', 'news', 'help', 'compare'] as const
const topics = ['getting-started', 'best-of', 'prices', 'for-beginners', 'in-depth', 'near-you'] as const

const fourWeeks = 28
const movedShare = 1 / 8

/**
 * The page of a host that answers a keyword. Several keywords share one; every four weeks one in eight is replaced.
 *
 * @param seed of the host for the keyword.
 */
export function urlOf(host: Host, seed: number, day: number): string {
  const era = Math.floor((day + (seed % fourWeeks)) / fourWeeks)
  const eraSeed = mix(seed, era)
  const page = fraction(eraSeed) < movedShare ? eraSeed : seed
  return `https://${host.name}/${pick(sections, mix(page, 1))}/${pick(topics, mix(page, 2))}`
}
