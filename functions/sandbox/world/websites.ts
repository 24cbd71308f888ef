import type { Project } from '../project.ts'
import type { Result, ResultPage } from './result-page.ts'

/** A website of a project, and whether a host is part of it. */
export interface Site {
  /** Its place in the project, from 1. */
  readonly id: number
  readonly name: string
  /** The first website; the others are competitors. */
  readonly main: boolean
  owns(host: string): boolean
}

/** Domain names as people write them: with a scheme, in capitals, with a path. */
export const hostOf = (domain: string): string =>
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

/** A domain with everything below it. */
export const domainOwner = (domain: string) => ownerOf([hostOf(domain), `*.${bare(domain)}`, bare(domain)])

/** The best result of a website, which is what ranks. */
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

/** `*` stands for anything. Compared piece by piece, not as a regular expression. */
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
