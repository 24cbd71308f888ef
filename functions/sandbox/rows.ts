import type { Engine, Project } from './project.ts'

/** Makes the rows of an export or a lookup. The same project and dates always have the same rows. */
export type View = (project: Project, dates: readonly string[]) => Iterable<object>

export const labelOf = ({ name, country, language, se_type }: Engine): string =>
  `${name} ${country} ${language}, ${se_type}`

export const websitesOf = ({ websites }: Project) =>
  websites.map(({ name }, index) => ({ id: index + 1, name, main: index === 0 }))

/** `rank` is `null` where the website does not rank. */
export function* rankings(project: Project, dates: readonly string[]) {
  for (const { fields } of placesOf(project, dates))
    for (const { name: keyword } of project.keywords)
      for (const { name: website } of project.websites) {
        const rank = rankOf(fields, keyword, website)
        const url = rank === null ? null : urlOf(website, keyword)
        yield { ...fields, keyword, search_volume: volumeOf(keyword), website, rank, url }
      }
}

export function* visibility(project: Project, dates: readonly string[]) {
  for (const { fields } of placesOf(project, dates))
    for (const { name: website } of project.websites) {
      const numberOf = seeded(fields, website)
      const shown = { visibility: numberOf('visibility', 0, 4_000) / 100, ...keywordsRanked(project, numberOf) }
      const in_first_10 = numberOf('in_first_10', 0, shown.keywords_ranked)
      yield { ...fields, website, ...shown, in_first_3: numberOf('in_first_3', 0, in_first_10), in_first_10 }
    }
}

export function* landingPages(project: Project, dates: readonly string[]) {
  for (const { fields } of placesOf(project, dates))
    for (const { name: website } of project.websites)
      for (const url of urlsOf(website)) {
        const numberOf = seeded(fields, url)
        const best_rank = numberOf('best_rank', 1, maxRank)
        yield {
          ...fields,
          website,
          url,
          keywords: numberOf('keywords', 1, project.keywords.length),
          best_rank,
          average_rank: numberOf('average_rank', best_rank * 100, maxRank * 100) / 100,
          estimated_clicks: numberOf('estimated_clicks', 0, 2_000),
        }
      }
}

export function* topSites(project: Project, dates: readonly string[]) {
  for (const { fields } of placesOf(project, dates))
    for (const place of numbersTo(20)) {
      const average_rank = seeded(fields, place)('average_rank', 100, 1_000) / 100
      const keywords = Math.ceil(project.keywords.length / place)
      yield { ...fields, place, domain: `www.site-${place}.example`, keywords, average_rank }
    }
}

export function* searchConsole(project: Project, dates: readonly string[]) {
  const [main] = project.websites
  for (const { engine, fields } of placesOf(project, dates))
    for (const { name: query } of project.keywords) {
      const position = main === undefined ? null : rankOf(fields, query, main.name)
      if (main === undefined || position === null) continue
      const device = engine.se_type.startsWith('mobile') ? 'mobile' : 'desktop'
      const about = { query, page: urlOf(main.name, query), country: engine.country, device, position }
      const impressions = seeded(fields, query)('impressions', 0, 500)
      yield { ...fields, ...about, ...clicksOf(impressions, position) }
    }
}

export function* clickThroughRates(project: Project, dates: readonly string[]) {
  for (const { fields } of placesOf(project, dates))
    for (const position of numbersTo(maxRank)) {
      const numberOf = seeded(fields, position)
      const { ctr, ...counts } = clicksOf(numberOf('impressions', 0, 5_000), position)
      yield { ...fields, position, ctr, keywords: numberOf('keywords', 0, project.keywords.length), ...counts }
    }
}

export function* keywordDifficulty(project: Project, dates: readonly string[]) {
  for (const date of dates)
    for (const country of new Set(project.searchengines.map((engine) => engine.country)))
      for (const { name: keyword } of project.keywords) {
        const difficulty = seeded(date, country, keyword)('difficulty', 0, 100)
        yield { date, keyword, country, difficulty, search_volume: volumeOf(keyword) }
      }
}

export function* metadata(project: Project, dates: readonly string[]) {
  for (const date of dates)
    for (const { main, ...website } of websitesOf(project)) {
      const numberOf = seeded(date, website)
      yield {
        date,
        website,
        main,
        market_share: numberOf('market_share', 0, 2_500) / 100,
        visibility: numberOf('visibility', 0, 4_000) / 100,
        estimated_clicks: numberOf('estimated_clicks', 0, 20_000),
        ...keywordsRanked(project, numberOf),
      }
    }
}

export const urlKeywords = (url: string): View =>
  function* rows(project, dates) {
    for (const { fields } of placesOf(project, dates))
      for (const { name: keyword } of project.keywords) {
        const rank = rankOf(fields, keyword, url)
        if (rank !== null) yield { ...fields, keyword, search_volume: volumeOf(keyword), rank }
      }
  }

export const domainUrls = (domain: string): View =>
  function* rows(project, dates) {
    const [first_seen, last_seen = first_seen] = [dates.at(0), dates.at(-1)]
    if (first_seen === undefined) return
    for (const url of urlsOf(domain)) {
      const numberOf = seeded(project.name, url)
      const keywords = numberOf('keywords', 1, project.keywords.length)
      yield { url, keywords, best_rank: numberOf('best_rank', 1, maxRank), first_seen, last_seen }
    }
  }

type Fields = { readonly date: string; readonly svc_id: number; readonly search_engine: string }

function* placesOf({ searchengines }: Project, dates: readonly string[]) {
  for (const date of dates)
    for (const engine of searchengines) {
      const fields: Fields = { date, svc_id: engine.svc_id, search_engine: labelOf(engine) }
      yield { engine, fields }
    }
}

const maxRank = 20

/** About one website in three does not rank. */
function rankOf(fields: Fields, keyword: string, of: string): number | null {
  const rank = seeded(fields, keyword, of)('rank', 1, 30)
  return rank > maxRank ? null : rank
}

const sections = ['guides', 'products', 'reviews', 'news'] as const

/** People write domains with a scheme or a path. */
const originOf = (domain: string): string => `https://${domain.replace(/^[a-z]+:\/\//i, '').replace(/\/.*$/s, '')}`

const urlsOf = (domain: string): string[] => sections.map((section) => `${originOf(domain)}/${section}`)

const urlOf = (domain: string, keyword: string): string =>
  `${originOf(domain)}/${sections[seeded(keyword)('section', 0, sections.length - 1)]}`

const volumeOf = (keyword: string): number => 10 * seeded(keyword)('volume', 1, 2_000)

function clicksOf(impressions: number, position: number) {
  const ctr = Math.round(3_000 / position) / 10_000
  return { impressions, clicks: Math.round(impressions * ctr), ctr }
}

function keywordsRanked({ keywords }: Project, numberOf: NumberOf) {
  const keywords_ranked = numberOf('keywords_ranked', 0, keywords.length)
  return { keywords_ranked, average_rank: keywords_ranked === 0 ? null : numberOf('average_rank', 100, 2_000) / 100 }
}

const numbersTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1)

type NumberOf = (name: string, from: number, to: number) => number

/** Whole numbers, both ends included, from a hash of `about` and the name (FNV-1a, and MurmurHash3's finalizer). */
export function seeded(...about: readonly unknown[]): NumberOf {
  const text = JSON.stringify(about)
  return (name, from, to) => {
    let hash = 0x811c9dc5
    for (const character of `${name}${text}`) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    return from + (((hash ^ (hash >>> 16)) >>> 0) % Math.max(1, to - from + 1))
  }
}
