import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { dayMs } from '../../shared/platform/clock.ts'
import { type SandboxEnv, unknownProject } from './answers.ts'
import { costOf, totalOf } from './costs.ts'
import type { Parts } from './operations.ts'
import { datesOf, day, findProject, findProjects, type Project } from './project.ts'
import { seeded } from './rows.ts'
import { answerDates, answerEstimate, answerRefusal, answerRun, type StrangeAnswer } from './strange.ts'
import type { Draw } from './strange-bodies.ts'

/**
 * Answers in other shapes than the stand-in usually does, drawn by a hash of project, operation and the number of the
 * request. What takes effect is the same: only `/sandbox/account` tells. Injected faults are answered as always.
 */
export function answerStrangely(parts: Parts) {
  const counts = new Map<string, number>()
  return createMiddleware<SandboxEnv>(async (c, next) => {
    const { fault, requested, projects } = c.var
    const { operation, name } = requested
    const called = calledProjects(c, projects)
    if (called === 'unknown') return unknownProject(c, name)
    if (called !== 'not named') c.set('requested', { ...requested, name: called })
    await next()
    if (fault !== undefined && fault.fault !== 'delay') return
    if (listings.has(c.req.path) && c.req.method !== 'POST') return replace(c, listStrangely(c))
    if (operation === 'other') return
    const key = JSON.stringify([name, requested.kind, operation])
    const number = (counts.get(key) ?? 0) + 1
    counts.set(key, number)
    const answer = await strangeAnswer(c, parts, drawBy(key, number))
    if (answer) replace(c, toResponse(answer))
  })
}

function drawBy(key: string, number: number): Draw {
  const numberOf = seeded(key, number)
  let draws = 0
  return (options) => options[numberOf(`draw ${draws++}`, 0, options.length - 1)] ?? options[0]
}

async function strangeAnswer(c: Context<SandboxEnv>, parts: Parts, draw: Draw): Promise<StrangeAnswer | undefined> {
  const { state, clock, kinds } = parts
  const { operation, kind, name } = c.var.requested
  const found = findProjects(c.var.projects, name)
  if (found.kind === 'unknown' || c.req.method === 'POST') return undefined
  const [first] = found.projects
  const costs = kind ? found.projects.map((project) => costOf(kinds[kind], project)) : []
  const facts = { project: first?.name ?? name, units: totalOf(costs), next: day(clock.now() + dayMs) }
  if (operation === 'estimate') return answerEstimate(draw, facts)
  if (operation === 'dates' && first) {
    const runs = (await state.runs()).filter(({ projects }) => projects.includes(first.name))
    return answerDates(draw, facts, datesOf(first, runs, clock.now(), kinds))
  }
  if (operation !== 'run') return undefined
  if (c.res.status < 300) return answerRun(draw, facts)
  return answerRefusal(draw, facts, { status: c.res.status, reason: 'not enough keyword units' })
}

/** Ids that no other operation shows, so that a name is never taken for an id. */
const strangeIdOf = ({ id }: Project): string => `9${id.split('').reverse().join('')}`

/** A name for operations that take a name, an id for those that take an id, as the interface says. */
function calledProjects(c: Context<SandboxEnv>, all: readonly Project[]): string | 'unknown' | 'not named' {
  const { requested } = c.var
  const [, , family = '', , verb = ''] = c.req.path.split('/')
  if (requested.name === '' || verb === 'create') return 'not named'
  const takesName = family === 'on-demand' || (family === 'projects' && !takesId.has(verb))
  const parts = findProject(all, requested.name) ? [requested.name] : requested.name.split(',')
  const names = parts.map((part) => all.find((each) => part === (takesName ? each.name : strangeIdOf(each)))?.name)
  return names.some((each) => each === undefined) ? 'unknown' : names.join(',')
}

const takesId = new Set(['keywords', 'export-keyword-difficulty'])

const listings = new Set(['/v3/projects', '/v3/marketshare/projects'])

const listStrangely = (c: Context<SandboxEnv>) =>
  Response.json({
    projects: c.var.projects.map((project) => ({ uid: Number(strangeIdOf(project)), title: project.name })),
  })

function toResponse({ status, headers, bytes }: StrangeAnswer): Response {
  return new Response(new Uint8Array(bytes), { status: status as ContentfulStatusCode, headers })
}

/** Hono would merge the headers of the old answer into the new one. */
function replace(c: Context<SandboxEnv>, response: Response): void {
  c.res = undefined
  c.res = response
}
