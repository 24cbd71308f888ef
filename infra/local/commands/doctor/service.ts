import { decodeJwt } from 'jose'
import type { GuardSettings } from '../../../../shared/guard/options.ts'
import { count, countOf, when } from '../../../../shared/guard/sentences.ts'
import { whyWrongClock } from '../../../../shared/guard/update/quote.ts'
import { dayMs, systemClock } from '../../../../shared/platform/clock.ts'
import { answerRulesOf } from '../../../../shared/services/services.ts'
import type { AnswerRules } from '../../../../shared/tracking/conditions.ts'
import {
  allOf,
  datesPath,
  eachKind,
  type Kind,
  type Kinds,
  namesOf,
  productKinds,
  updatePath,
} from '../../../../shared/tracking/kinds.ts'
import { type ProjectLists, readProjects } from '../../../../shared/tracking/project-list.ts'
import type { DatesReading } from '../../../../shared/tracking/read-dates.ts'
import {
  createReader,
  createTracking,
  type EstimateReading,
  type Target,
  targetOf,
} from '../../../../shared/tracking/tracking.ts'
import { createTransport, type Exchange } from '../../../../shared/tracking/transport.ts'
import { readSecret } from '../../secrets.ts'
import { type Findings, found, joined } from '../findings.ts'
import { type Advice, adviceFor } from './advice.ts'
import { cacheAdvice, isOfCache } from './answer.ts'

type Read = ReturnType<typeof createReader>

export async function examineService(
  settings: GuardSettings,
  wanted: { project: string | undefined; id: string | undefined },
  kinds: Kinds = productKinds,
): Promise<Findings & { readonly lists?: ProjectLists }> {
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
    rules: answerRulesOf(settings, kinds),
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
  const targets = namesOf(kinds).map((kind) => ({
    ...targetOf(kind, kinds[kind].projectBy === 'name' ? project : id),
    names: [project, id],
  }))
  const estimates: Findings[] = []
  let wrongClock: string | null = null
  for (const target of targets) {
    const reading = await tracking.estimate(target)
    estimates.push(await describeEstimate(target, reading, { settings, read, kinds }))
    wrongClock ??= reading.kind === 'units' ? clockFault(whyWrongClock(reading, systemClock.now())) : null
  }
  const dated = targets.find(({ kind }) => kinds[kind].leavesDates)
  const findings = joined([
    aboutToken,
    found(`projects: ${listing.reason}; looking at ${project}${id === project ? '' : `, id ${id}`}`),
    ...estimates,
    found([], wrongClock),
    ...(dated ? [await describeDates(dated, await tracking.dates(dated), { settings, read, kinds })] : []),
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

interface Looking {
  readonly settings: GuardSettings
  readonly read: Read
  readonly kinds: Kinds
}

async function describeEstimate(target: Target, reading: EstimateReading, looking: Looking): Promise<Findings> {
  const { kind } = target
  const name = `${kind} estimate`
  switch (reading.kind) {
    case 'units':
      return describePrice(name, reading, looking)
    case 'refused':
      return found(
        `${name}: refused with status ${reading.status}`,
        refusedReason(target, reading.status, looking.kinds),
      )
    case 'unreachable':
      return found(`${name}: not available (${reading.reason})`, unanswered(reading.reason))
    case 'unreadable': {
      const lines = [`${name}: unreadable (${reading.reason})`, `  its shape: ${reading.shape}`]
      if (isOfCache(reading.reason)) return found(lines, cacheAdvice)
      const path = updatePath(target, 'estimate', looking.kinds)
      const advice = await adviceOn({ ...target, call: 'estimate' }, path, looking)
      const toDo =
        advice.length > 0
          ? inWords(advice, reading.sign?.text)
          : `see what the service answers: no setting reads the ${name}`
      return found(lines, toDo)
    }
  }
}

function describePrice(
  name: string,
  { units, source, sign }: Extract<EstimateReading, { kind: 'units' }>,
  { settings }: Looking,
): Findings {
  const overridden = sign ? `; it has ${sign.text}, which the pointer overrides` : ''
  const line = `${name}: ${count(units)} units, read by ${source}${overridden}`
  if (units > 0 || settings.ZERO_PRICE === 'free') return found(line)
  const toDo = `see why the ${name} is 0 units, for which nothing is started; if updates may really cost nothing, set ZERO_PRICE=free`
  return found(line, toDo)
}

/** Reads the answer again, because its body is needed. */
async function adviceOn(
  { kind, call, names }: Pick<Target, 'kind' | 'names'> & { readonly call: 'estimate' | 'dates' },
  path: string,
  { settings, read, kinds }: Looking,
): Promise<readonly Advice[]> {
  const { exchange } = await read(path)
  return adviceFor(settings, { call, kind, names: names ?? [], exchange }, kinds)
}

function inWords(advice: readonly Advice[], sign: string | undefined): string {
  const choices = advice.map(({ lines }) => lines.join('  and  ')).join('  or  ')
  if (sign === undefined) return `set the path of the units in that body: ${choices}`
  return `see why your service answers with ${sign}; if that is no failure, set ${choices}`
}

const clockFault = (wrong: ReturnType<typeof whyWrongClock>): string | null =>
  wrong &&
  `set the clock that is wrong: it is ${wrong.members.here} here and ${wrong.members.atService} at the service, more than five minutes apart, so no update runs`

function refusedReason({ kind, segment }: Target, status: number, kinds: Kinds): string {
  if (isTokenRefused(status)) return tokenRefused
  const flag = kinds[kind].projectBy === 'name' ? '--project' : '--id'
  return `name a project that the service knows: it refuses the ${kind} estimate of ${segment} (${status}); see ${flag}`
}

async function describeDates(target: Target, reading: DatesReading, looking: Looking): Promise<Findings> {
  if (reading.kind === 'dates')
    return found(`dates: ${reading.dates.length} can be read, the latest is ${reading.dates.at(-1) ?? 'none'}`)
  const effect = 'updates run without knowing whether data is fresh, and people decide about doubts'
  const line = `dates: unreadable (${reading.reason}): ${effect}`
  if (isOfCache(reading.reason)) return found(line, cacheAdvice)
  const [advice] = await adviceOn({ ...target, call: 'dates' }, datesPath(target), looking)
  if (!advice) return found(`${line}; no setting helps`)
  return found(`${line}; if that is no failure, set ${advice.lines.join('  and  ')}`)
}

const atThePlace =
  'a figure at the place of the figure in the estimate, if it is from the hold up to ten times the hold; else the hold'

/** Sends no run, because a run would spend units. */
function describeRuns(settings: GuardSettings, kinds: Kinds): Findings {
  const rules = answerRulesOf(settings, kinds)
  return found([
    ...eachAlike(kinds, 'answers of a run', (kind) => runsInWords(rules[kind])),
    ...eachAlike(kinds, 'units of a run', (kind) => settings[kinds[kind].settings.runPointer] ?? atThePlace),
    'no run is sent here, so how your service answers one is not confirmed; try an answer that you have: npm run doctor -- --answer <file> --call run',
  ])
}

function runsInWords({ started, refused }: AnswerRules): string {
  const good = started.length > 0 ? 'a 2xx that RUN_STARTED names ran' : 'a 2xx without a sign of a failure ran'
  const bad = refused.length > 0 ? ', one that RUN_REFUSED names did not' : ''
  return `${good}${bad}; every other 2xx is in doubt`
}

/** One line for all kinds, if they have the same text. */
function eachAlike(kinds: Kinds, what: string, textFor: (kind: Kind) => string): readonly string[] {
  const names = namesOf(kinds)
  const [same, ...others] = new Set(names.map(textFor))
  if (others.length === 0) return [`${what}, ${allOf(kinds)} kinds: ${same}`]
  return names.map((kind) => `${what}, ${kind}: ${textFor(kind)}`)
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
