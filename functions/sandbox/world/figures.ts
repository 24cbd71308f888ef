import { fraction, hashOf, mix } from './hosts.ts'
import type { ResultPage } from './result-page.ts'

const firstPositionShare = 0.3
const steepness = 1.1

/** The share of searches that ends with a click on a position. */
export const clickThrough = (position: number): number => rounded(firstPositionShare / position ** steepness, 4)

/** Searches in a month: few keywords are big. */
export function searchVolume(keyword: string): number {
  const searches = 10 * 2 ** (12 * fraction(mix(hashOf(keyword), 3)) ** 1.5)
  return Math.round(searches / 10) * 10
}

/** How hard it is to rank, 0 to 100: what search engines think of the ten hosts that are above the fold. */
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

/** The share of searches in which a position is seen: few people turn the page. */
export const resultsSeen = (position: number): number => (position <= 10 ? 1 : 0.3)
