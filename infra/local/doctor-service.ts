import { count } from '../../shared/guard/sentences.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import type { GuardSettings } from '../../shared/platform/settings.ts'
import type { Kind } from '../../shared/platform/words.ts'
import { createReader } from '../../shared/tracking/reader.ts'
import { updatePath } from '../../shared/tracking/target.ts'
import { createTracking, type EstimateReading, type Target, targetOf } from '../../shared/tracking/tracking.ts'
import { createTransport, type Exchange } from '../../shared/tracking/transport.ts'
import type { OwnedProject } from './budgets-ids.ts'
import { readSecret } from './command-secrets.ts'
import { type Findings, joined } from './doctor-findings.ts'
import { pointersToUnits, readProjects } from './doctor-reading.ts'
import { describeToken, tokenRefused } from './doctor-token.ts'
import { CannotGoOn } from './failures.ts'

type Read = ReturnType<typeof createReader>

const pointerSettings = {
  ranking: 'ESTIMATE_POINTER_RANKING',
  'keyword-difficulty': 'ESTIMATE_POINTER_DIFFICULTY',
} as const

/** What the service answers to free reads, and whether the guard can make anything of it. */
export async function examineService(
  settings: GuardSettings,
  wanted: { project: string | undefined; id: string | undefined },
): Promise<Findings & { readonly lists?: readonly (readonly OwnedProject[])[] }> {
  const token = await readSecret(settings.SERVICE_TOKEN_SECRET, settings).catch((error) => {
    if (error instanceof CannotGoOn) return error
    throw error
  })
  if (token instanceof CannotGoOn) {
    const where =
      settings.SECRETS_ENDPOINT === undefined ? settings.SERVICE_TOKEN_SECRET : 'TRACKING_TOKEN of npm start'
    return {
      lines: [`token: ${token.message}`],
      toDo: [`see that the service's token can be read: it comes from ${where}`],
    }
  }
  const source = { read: async () => token, reread: async () => token }
  const timeoutMs = settings.SERVICE_TIMEOUT_MS
  const read = createReader({ transport: createTransport(settings.TRACKING_BASE_URL), token: source, timeoutMs })
  const tracking = createTracking({
    baseUrl: settings.TRACKING_BASE_URL,
    token: source,
    timeoutMs,
    pointers: {
      estimate: pointers(settings.ESTIMATE_POINTER_RANKING, settings.ESTIMATE_POINTER_DIFFICULTY),
      run: {},
    },
  })

  const { exchange } = await read('/projects')
  const listing = readProjects(exchange)
  const lists = [listing.projects]
  // The interface, "Market share": this list has ids where the first may not.
  if (listing.projects.length > 0 && listing.projects.every(({ id }) => id === undefined))
    lists.push(readProjects((await read('/marketshare/projects')).exchange).projects)
  const aboutToken = describeToken(token, exchange, systemClock.now())
  const listed = listing.projects.find(
    ({ name, id }) => wanted.project === undefined || [name, id].includes(wanted.project),
  )
  const project = wanted.project ?? listed?.name
  if (project === undefined) {
    const toDo = whyNoProject(exchange, listing.reason)
    return { ...joined([aboutToken, { lines: [`projects: ${listing.reason}`], toDo }]), lists }
  }
  const id = wanted.id ?? listed?.id ?? project
  const ranking = targetOf('ranking', project)
  const difficulty = targetOf('keyword-difficulty', id)
  const findings = joined([
    aboutToken,
    { lines: [`projects: ${listing.reason}; looking at ${project}${id === project ? '' : `, id ${id}`}`], toDo: [] },
    await describeEstimate(ranking, await tracking.estimate(ranking), read),
    await describeEstimate(difficulty, await tracking.estimate(difficulty), read),
    describeDates(await tracking.dates(ranking)),
    describeRuns(settings),
  ])
  return { ...findings, lists }
}

/** A name helps only where the service answers; that it refuses the token is told with the token. */
function whyNoProject(listing: Exchange, reason: string): string[] {
  if (listing.kind === 'failed') return [unanswered(listing.reason)]
  if (isTokenRefused(listing.status)) return []
  return [`name a project: npm run doctor -- --project <name> (${reason})`]
}

const unanswered = (reason: string) => `see why the service does not answer: ${reason}`
const isTokenRefused = (status: number) => status === 401 || status === 403

const pointers = (ranking: string | undefined, difficulty: string | undefined): Partial<Record<Kind, string>> => ({
  ...(ranking !== undefined && { ranking }),
  ...(difficulty !== undefined && { 'keyword-difficulty': difficulty }),
})

async function describeEstimate(target: Target, reading: EstimateReading, read: Read): Promise<Findings> {
  const { kind } = target
  const name = `${kind} estimate`
  switch (reading.kind) {
    case 'units':
      return { lines: [`${name}: ${count(reading.units)} units, read by ${reading.source}`], toDo: [] }
    case 'refused':
      return { lines: [`${name}: refused with status ${reading.status}`], toDo: whyRefused(target, reading.status) }
    case 'unreachable':
      return {
        lines: [`${name}: not to be had (${reading.reason})`],
        toDo: [unanswered(reading.reason)],
      }
    case 'unreadable': {
      const candidates = pointersToUnits((await read(updatePath(target, 'estimate'))).exchange)
      const where = candidates.length === 0 ? '/path/to/the/units' : candidates.join(`  or  ${pointerSettings[kind]}=`)
      return {
        lines: [`${name}: unreadable (${reading.reason})`, `  its shape: ${reading.shape}`],
        toDo: [`set the path of the units in that body: ${pointerSettings[kind]}=${where}`],
      }
    }
  }
}

function whyRefused({ kind, segment }: Target, status: number): string[] {
  if (isTokenRefused(status)) return [tokenRefused]
  const flag = kind === 'ranking' ? '--project' : '--id'
  return [
    `name a project that the service knows: it refuses the ${kind} estimate of ${segment} (${status}); see ${flag}`,
  ]
}

function describeDates(reading: Awaited<ReturnType<ReturnType<typeof createTracking>['dates']>>): Findings {
  const advice = 'updates go on without knowing whether data is fresh, and doubts are left to people'
  const line =
    reading.kind === 'dates'
      ? `${reading.dates.length} can be read, the latest is ${reading.dates.at(-1) ?? 'none'}`
      : `unreadable (${reading.reason}); nothing is to be set: ${advice}`
  return { lines: [`dates: ${line}`], toDo: [] }
}

/** What a run answers cannot be seen without spending. */
function describeRuns({ RUN_POINTER_RANKING: ranking, RUN_POINTER_DIFFICULTY: difficulty }: GuardSettings): Findings {
  const by = (pointer: string | undefined) =>
    pointer ?? 'a well-known name where that is not below the estimate, else the estimate is charged'
  const lines = [`units of a run, ranking: ${by(ranking)}`, `units of a run, keyword-difficulty: ${by(difficulty)}`]
  return { lines: ranking === difficulty ? [`units of a run, both kinds: ${by(ranking)}`] : lines, toDo: [] }
}
