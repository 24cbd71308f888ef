import { fraction, hashOf, mix } from './hash.ts'

/** A host that result pages may show, wherever it comes from. */
export interface Host {
  readonly name: string
  readonly seed: number
  /** How much search engines think of it, from 0 to 1. */
  readonly authority: number
}

const subjects = ['atlas', 'beacon', 'corner', 'daily', 'field', 'harbor', 'insight', 'lantern'] as const
const trades = ['shop', 'guide', 'review', 'forum', 'wiki', 'market', 'journal', 'direct'] as const
const isGeneral = mix(hashOf('authority'), 1)

/** The hosts that everybody meets: sixty-four, under a name that is nobody's (RFC 2606). */
export const publicHosts: readonly Host[] = subjects.flatMap((subject) =>
  trades.map((trade) => {
    const name = `www.${subject}-${trade}.example`
    const seed = hashOf(name)
    return { name, seed, authority: fraction(mix(seed, isGeneral)) }
  }),
)

const publicNames = new Set(publicHosts.map(({ name }) => name))

/** A website that somebody tracks and that is not public anyway; it does fairly well, or there is nothing to see. */
export function trackedHost(name: string): Host | undefined {
  if (name === '' || publicNames.has(name)) return undefined
  const seed = hashOf(name)
  return { name, seed, authority: 0.6 + 0.4 * fraction(mix(seed, isGeneral)) }
}
