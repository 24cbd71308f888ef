import { fraction, mix, pick } from './hash.ts'
import type { Host } from './hosts.ts'

const sections = ['guides', 'products', 'reviews', 'news', 'help', 'compare'] as const
const topics = ['getting-started', 'best-of', 'prices', 'for-beginners', 'in-depth', 'near-you'] as const

const fourWeeks = 28
const movedShare = 1 / 8

/**
 * The page of a host that answers a keyword. A host has few pages, so that several keywords share one; every four
 * weeks, on a day of its own, one in eight gives way to another.
 *
 * @param seed of the host for the keyword.
 */
export function urlOf(host: Host, seed: number, day: number): string {
  const era = Math.floor((day + (seed % fourWeeks)) / fourWeeks)
  const eraSeed = mix(seed, era)
  const page = fraction(eraSeed) < movedShare ? eraSeed : seed
  return `https://${host.name}/${pick(sections, mix(page, 1))}/${pick(topics, mix(page, 2))}`
}
