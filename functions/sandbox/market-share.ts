import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { Clock } from '../../shared/platform/clock.ts'
import type { Kinds } from '../../shared/tracking/kinds.ts'
import { operation, type SandboxEnv, streamRows, succeeded, unknownProject, wrongInput } from './answers.ts'
import { datesWithin, from, on, period } from './exports.ts'
import { datesOf, findProject, type Project } from './project.ts'
import type { State } from './state/state.ts'
import { createTally } from './views.ts'
import {
  bestOf,
  clickThrough,
  createWorld,
  domainOwner,
  labelOf,
  placesOf,
  rounded,
  sitesOf,
  type World,
} from './world.ts'

const required = (takes: string) => z.string(takes).check(z.minLength(1, takes))
const ofUrl = z.object({ url: required('must be the URL to look up') })
const ofDomain = z.object({ domain: required('must be the domain to look up') })

type Answer = (c: Context<SandboxEnv>, project: Project) => Response | Promise<Response>

export function marketShareRoutes({
  state,
  clock,
  kinds,
}: {
  state: State
  clock: Clock
  kinds: Kinds
}): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>()
  const datesFor = async (project: Project) => datesOf(project, await state.runsOf(project.name), clock.now(), kinds)

  const ofProject = (path: string, answer: Answer) =>
    operation(routes, 'GET', `/marketshare/projects/:projectId/${path}`, (c) => {
      const project = findProject(c.var.projects, c.var.requested.name)
      return project ? answer(c, project) : unknownProject(c, c.var.requested.name)
    })

  operation(routes, 'GET', '/marketshare/projects', (c) =>
    succeeded(c, { projects: c.var.projects.map(({ id, name }) => ({ id, name })) }),
  )

  ofProject('websites', (c, project) =>
    succeeded(c, { websites: sitesOf(project).map(({ id, name, main }) => ({ id, name, main })) }),
  )

  ofProject('search-engines', (c, project) => {
    const engines = project.searchengines.map((engine) => ({ id: engine.svc_id, name: labelOf(engine) }))
    return succeeded(c, { search_engines: engines })
  })

  ofProject('metadata', async (c, project) => {
    const query = period.safeParse(c.req.query())
    if (!query.success) return wrongInput(c, query.error)
    return streamRows(c, metadata(createWorld(project), datesWithin(query.data, await datesFor(project))))
  })

  ofProject('url-keywords', async (c, project) => {
    const query = z.intersection(ofUrl, on).safeParse(c.req.query())
    if (!query.success) return wrongInput(c, query.error)
    const dates = datesWithin(query.data, await datesFor(project))
    return streamRows(c, urlKeywords(createWorld(project), dates, query.data.url))
  })

  ofProject('domain-urls', async (c, project) => {
    const query = z.intersection(ofDomain, from).safeParse(c.req.query())
    if (!query.success) return wrongInput(c, query.error)
    const dates = datesWithin(query.data, await datesFor(project))
    return streamRows(c, domainUrls(createWorld(project), dates, domainOwner(query.data.domain)))
  })

  return routes
}

function* metadata(world: World, dates: readonly string[]) {
  for (const date of dates) {
    const tallies = world.sites.map((site) => ({ site, tally: createTally() }))
    let searches = 0
    let clicks = 0
    for (const { volume, page } of sightingsOn(world, date)) {
      searches += volume
      for (const { position } of page) clicks += clickThrough(position) * volume
      for (const { site, tally } of tallies) {
        const best = bestOf(page, site)
        if (best) tally.add(best.position, volume)
      }
    }
    for (const { site, tally } of tallies)
      yield {
        date,
        website: { id: site.id, name: site.name },
        main: site.main,
        market_share: clicks === 0 ? 0 : rounded((100 * tally.clicks()) / clicks, 4),
        visibility: searches === 0 ? 0 : rounded((100 * tally.clicks()) / searches, 4),
        estimated_clicks: Math.round(tally.clicks()),
        keywords_ranked: tally.keywords(),
        average_rank: tally.averageRank(),
      }
  }
}

function* urlKeywords(world: World, dates: readonly string[], url: string) {
  for (const place of placesOf(world, dates))
    for (const { keyword, volume, page } of world.sightings(place.engine, place.date)) {
      const result = page.find((each) => each.url === url)
      if (result) yield { ...place.fields, keyword, search_volume: volume, rank: result.position }
    }
}

/** The URL with the most keywords first; `undefined` now and then, so that other requests are answered. */
function* domainUrls(world: World, dates: readonly string[], owns: (host: string) => boolean) {
  const urls = new Map<string, { first: string; last: string; best: number; keywords: Set<string> }>()
  for (const { engine, date } of placesOf(world, dates)) {
    yield undefined
    for (const { keyword, page } of world.sightings(engine, date))
      for (const { host, url, position } of page) {
        if (!owns(host.name)) continue
        const seen = urls.get(url) ?? { first: date, last: date, best: position, keywords: new Set<string>() }
        seen.last = date
        seen.best = Math.min(seen.best, position)
        seen.keywords.add(keyword)
        urls.set(url, seen)
      }
  }
  const byKeywords = [...urls].sort(
    ([a, { keywords: of }], [b, { keywords }]) => keywords.size - of.size || (a < b ? -1 : 1),
  )
  for (const [url, { first, last, best, keywords }] of byKeywords)
    yield { url, keywords: keywords.size, best_rank: best, first_seen: first, last_seen: last }
}

function* sightingsOn(world: World, date: string) {
  for (const { engine } of placesOf(world, [date])) yield* world.sightings(engine, date)
}
