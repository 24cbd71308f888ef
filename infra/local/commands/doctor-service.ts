import { decodeJwt } from 'jose'
import type { GuardSettings } from '../../../shared/guard/options.ts'
import { count, countOf, when } from '../../../shared/guard/sentences.ts'
import { whyWrongClock } from '../../../shared/guard/update/quote.ts'
import { dayMs, systemClock } from '../../../shared/platform/clock.ts'
import { eachKind, type Kinds, namesOf, productKinds, updatePath } from '../../../shared/tracking/kinds.ts'
import type { DatesReading } from '../../../shared/tracking/read-dates.ts'
import {
  createReader,
  createTracking,
  type EstimateReading,
  type Target,
  targetOf,
} from '../../../shared/tracking/tracking.ts'
import { createTransport, type Exchange } from '../../../shared/tracking/transport.ts'
import { readSecret } from '../secrets.ts'
import { type OwnedProject, pointersToUnits, readProjects } from './projects.ts'

export interface Findings {
  readonly lines: readonly string[]
  readonly toDo: readonly string[]
}

type Texts = string | null | readonly string[]

const textsOf = (texts: Texts): readonly string[] => (typeof texts === 'string' ? [texts] : (texts ?? []))

export const found = (lines: Texts, toDo: Texts = []): Findings => ({ lines: textsOf(lines), toDo: textsOf(toDo) })

export const joined = (findings: readonly Findings[]): Findings => ({
  lines: findings.flatMap(({ lines }) => lines),
  toDo: findings.flatMap(({ toDo }) => toDo),
})

type Read = ReturnType<typeof createReader>

export async function examineService(
  settings: GuardSettings,
  wanted: { project: string | undefined; id: string | undefined },
  kinds: Kinds = productKinds,
): Promise<Findings & { readonly lists?: readonly (readonly OwnedProject[])[] }> {
  const token = await readSecret(settings.SERVICE_TOKEN_SECRET, settings).catch((error: Error) => error)
  if (token instanceof Error) {
    const where =
      settings.SECRETS_ENDPOINT === undefined
        ? settings.SERVICE_TOKEN_SECRET
        : 'TRACKING_TOKEN, which Unit Guard was started with'
    return found(`token: ${token.message}`, `see that the service's token can be read: it comes from ${where}`)
  }
  const source = tokenInHand(token)
  const timeoutMs = settings.SERVICE_TIMEOUT_MS
  const read = createReader({ transport: createTransport(settings.TRACKING_BASE_URL), token: source, timeoutMs })
  const tracking = createTracking({
    baseUrl: settings.TRACKING_BASE_URL,
    token: source,
    timeoutMs,
    pointers: { estimate: eachKind(kinds, (kind) => settings[kind.settings.estimatePointer]), run: {} },
    kinds,
  })

  const { exchange } = await read('/projects')
  const listing = readProjects(exchange)
  const lists = listing.isRead ? [listing.projects] : []
  if (listing.projects.length > 0 && listing.projects.every(({ id }) => id === undefined))
    lists.push(readProjects((await read('/marketshare/projects')).exchange).projects)
  const aboutToken = describeToken(token, exchange, systemClock.now())
  const listed = listing.projects.find(
    ({ name, id }) => wanted.project === undefined || [name, id].includes(wanted.project),
  )
  const project = wanted.project ?? listed?.name
  if (project === undefined) {
    const missing = found(`projects: ${listing.reason}`, whyNoProject(exchange, listing.reason))
    return { ...joined([aboutToken, missing]), lists }
  }
  const id = wanted.id ?? listed?.id ?? project
  const targets = namesOf(kinds).map((kind) => targetOf(kind, kinds[kind].projectBy === 'name' ? project : id))
  const estimates: Findings[] = []
  let wrongClock: string | null = null
  for (const target of targets) {
    const reading = await tracking.estimate(target)
    estimates.push(await describeEstimate(target, reading, { read, kinds }))
    wrongClock ??= reading.kind === 'units' ? clockFault(whyWrongClock(reading, systemClock.now())) : null
  }
  const dated = targets.find(({ kind }) => kinds[kind].leavesDates)
  const findings = joined([
    aboutToken,
    found(`projects: ${listing.reason}; looking at ${project}${id === project ? '' : `, id ${id}`}`),
    ...estimates,
    found([], wrongClock),
    ...(dated ? [describeDates(await tracking.dates(dated))] : []),
    describeRuns(settings, kinds),
  ])
  return { ...findings, lists }
}

function whyNoProject(listing: Exchange, reason: string): string | null {
  if (listing.kind === 'failed') return unanswered(listing.reason)
  return isTokenRefused(listing.status) ? null : `name a project: npm run doctor -- --project <name> (${reason})`
}

const unanswered = (reason: string) => `see why the service does not answer: ${reason}`
const isTokenRefused = (status: number) => status === 401 || status === 403

async function describeEstimate(
  target: Target,
  reading: EstimateReading,
  { read, kinds }: { read: Read; kinds: Kinds },
): Promise<Findings> {
  const { kind } = target
  const name = `${kind} estimate`
  switch (reading.kind) {
    case 'units':
      return found(`${name}: ${count(reading.units)} units, read by ${reading.source}`)
    case 'refused':
      return found(`${name}: refused with status ${reading.status}`, whyRefused(target, reading.status, kinds))
    case 'unreachable':
      return found(`${name}: not available (${reading.reason})`, unanswered(reading.reason))
    case 'unreadable': {
      const candidates = pointersToUnits((await read(updatePath(target, 'estimate', kinds))).exchange)
      const setting = kinds[kind].settings.estimatePointer
      const where = candidates.length === 0 ? '/path/to/the/units' : candidates.join(`  or  ${setting}=`)
      const lines = [`${name}: unreadable (${reading.reason})`, `  its shape: ${reading.shape}`]
      return found(lines, `set the path of the units in that body: ${setting}=${where}`)
    }
  }
}

const clockFault = (wrong: ReturnType<typeof whyWrongClock>): string | null =>
  wrong &&
  `set the clock that is wrong: it is ${wrong.members.here} here and ${wrong.members.atService} at the service, more than five minutes apart, so no update runs`

function whyRefused({ kind, segment }: Target, status: number, kinds: Kinds): string {
  if (isTokenRefused(status)) return tokenRefused
  const flag = kinds[kind].projectBy === 'name' ? '--project' : '--id'
  return `name a project that the service knows: it refuses the ${kind} estimate of ${segment} (${status}); see ${flag}`
}

function describeDates(reading: DatesReading): Findings {
  const advice = 'updates run without knowing whether data is fresh, and people decide about doubts'
  const line =
    reading.kind === 'dates'
      ? `${reading.dates.length} can be read, the latest is ${reading.dates.at(-1) ?? 'none'}`
      : `unreadable (${reading.reason}); no setting helps: ${advice}`
  return found(`dates: ${line}`)
}

/** Sends no run, because a run would spend units. */
function describeRuns(settings: GuardSettings, kinds: Kinds): Findings {
  const by = (pointer: string | undefined) =>
    pointer ?? 'a well-known name; if its units are missing or below the estimate, the estimate is charged'
  const names = namesOf(kinds)
  const pointers = eachKind(kinds, (kind) => settings[kind.settings.runPointer])
  const [same, ...others] = new Set(Object.values(pointers))
  const all = names.length === 2 ? 'both' : 'all'
  if (others.length === 0) return found(`units of a run, ${all} kinds: ${by(same)}`)
  return found(names.map((kind) => `units of a run, ${kind}: ${by(pointers[kind])}`))
}

const tokenRefused = "renew the service's token: the service refuses it"

const tokenInHand = (token: string) => ({ read: async () => token, reread: async () => token })

const soonMs = 14 * dayMs

export function describeToken(token: string, listing: Exchange, now: number): Findings {
  const expiresAt = expiryOf(token)
  const status = listing.kind === 'answered' ? listing.status : null
  const isRefused = status !== null && isTokenRefused(status)
  const isAccepted = status !== null && status < 400
  const known = isAccepted ? 'accepted by the service' : 'unknown whether the service accepts it'
  const accepted = isRefused ? `refused by the service (status ${status})` : known
  const left = expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt - now
  const ends = expiresAt === null ? 'does not say when it expires' : expiry(expiresAt, left)
  const soon = left < soonMs ? "renew the service's token: it expires within two weeks" : null
  const toDo = left <= 0 ? "renew the service's token: it has expired" : isRefused ? tokenRefused : soon
  return found(`token: ${accepted}; ${ends}`, toDo)
}

function expiry(expiresAt: number, left: number): string {
  const at = when(expiresAt, 'UTC')
  const days = Math.floor(left / dayMs)
  return left <= 0 ? `expired ${at}` : `expires ${at}, ${countOf(days, 'day')} left`
}

/** `null` for a token that is not a JWT or never expires. Checks no signature. */
function expiryOf(token: string): number | null {
  try {
    const { exp } = decodeJwt(token)
    return exp !== undefined && Number.isSafeInteger(exp) && Math.abs(exp) < 8.64e12 ? exp * 1000 : null
  } catch {
    return null
  }
}

/** Says what is wrong with the service's token. */
export async function checkToken(token: string, settings: GuardSettings): Promise<void> {
  const { TRACKING_BASE_URL: baseUrl, SERVICE_TIMEOUT_MS: timeoutMs } = settings
  const read = createReader({ transport: createTransport(baseUrl), token: tokenInHand(token), timeoutMs })
  const { exchange } = await read('/projects')
  const { lines, toDo } = describeToken(token, exchange, systemClock.now())
  const remedies = toDo.map((each) => `  ${each}; stop with Ctrl-C, set TRACKING_TOKEN, and start again`)
  if (toDo.length > 0) console.log([...lines, ...remedies].join('\n'))
}
