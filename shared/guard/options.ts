import * as z from 'zod/mini'
import type { Ledger } from '../ledger/ledger.ts'
import { type Clock, dayMs, hourMs, minuteMs } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { ledgerOnlySettings, matching, openingSettings, units, wholeNumber } from '../platform/settings.ts'
import { type Kind, type Kinds, productKinds } from '../tracking/kinds.ts'
import type { Tracking } from '../tracking/tracking.ts'
import type { Plan } from './plans/plans-file.ts'

/** How long a settled update answers for the same work: to the end of the account's day, or a number of ms. */
export type Cooldown = 'day' | number

/** The configuration of the protocol. Times are milliseconds. */
export interface GuardOptions {
  /** The deadline of one call of the service. */
  readonly serviceTimeoutMs: number
  /** How long a request may still take effect after it was given up. */
  readonly serviceFlightMs: number
  readonly cooldown: Readonly<Record<Kind, Cooldown>>
  /** What stands between several projects in one path segment; absent: unknown. */
  readonly separator?: string
}

/** What one guard is built from. */
export interface GuardParts {
  ledger: Ledger
  tracking: Tracking
  /** The service's token as it is now. */
  serviceToken: () => Promise<string>
  clock: Clock
  ids: Ids
  log: Log
  options: GuardOptions
  kinds?: Kinds
  /** What schedules ask for, in order of priority; read on request. */
  plans: () => Promise<readonly Plan[]>
}

/** Kept back before `run` is sent, so that its outcome can still be written: four tries of three seconds. */
export const settleMarginMs = 12_000
export const approvalLastsMs = dayMs
/** `4h`, `90m`, `2d`: how long an approval may be given. `null`: it is not 15 minutes to 7 days. */
export function approvalMsOf(text: string): number | null {
  const [, count, unit] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  const ms = Number(count) * (unit === 'm' ? minuteMs : unit === 'h' ? hourMs : dayMs)
  return ms >= 15 * minuteMs && ms <= 7 * dayMs ? ms : null
}

/** However often it is asked about again; a longer approval of one time is not cut. */
export const approvableForMs = 2 * approvalLastsMs
export const requestLastsMs = hourMs
/** An approved update whose estimate has grown by more than this share is asked about again. */
export const approvedMayGrowBy = 0.1
/** In doubt, work is blocked until the account's day ends, but at least as long. */
export const doubtBlocksMs = hourMs
/** With less time, `run` is never sent: it would be given up before the service can answer. */
export const minRunMs = 2_000
/** An older estimate admits no update: it is asked for again when its hold is about to be sent. */
export const estimateLastsMs = 30_000
/** Before a decision is made again because what it was made on has moved; the first pauses are shorter. */
export const maxDecisionPauseMs = 400
/** How often a person's decision is made again because its record has changed. */
export const maxDecisions = 8
/** How many updates of one request are estimated, or run, at the same time. */
export const runsAtOnce = 5
/** The stream begins what is requested; the sweep begins what is older than this. */
export const beginLateAfterMs = 2 * minuteMs
/** One project of a plan takes two reads and a run, and the time to write down how it ended. */
export const planStepMs = ({ serviceTimeoutMs }: GuardOptions): number => 2 * serviceTimeoutMs + settleMarginMs
/** Refusals that are so close to each other may be a burst. */
export const refusalsWithinMs = 10 * minuteMs
/** Per cent of a window; told where a budget sets none of its own. */
export const usualThresholds: readonly number[] = [80, 100]

const pointer = matching(/^(\/([^~]|~[01])*)*$/, 'takes a JSON Pointer (RFC 6901), such as /data/units')

const cooldown = z.pipe(
  matching(/^(day|0|\d{1,4}[mhd])$/, 'takes day, 0, or a time such as 30m, 6h, 7d'),
  z.transform(toCooldown),
)

const unitMs = { m: minuteMs, h: hourMs, d: dayMs } as const

export function toCooldown(text: string): Cooldown {
  if (text === 'day') return 'day'
  const unit = text.at(-1)
  return unit === 'm' || unit === 'h' || unit === 'd' ? Number(text.slice(0, -1)) * unitMs[unit] : 0
}

/** An address that others build upon: nothing but scheme, host and port. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, origin, href } = new URL(text)
  return /^https?:$/.test(protocol) && href === `${origin}/`
}

const baseUrl = z.string('takes the address of the service, ending in /v3').check(
  z.refine((text) => {
    if (!URL.canParse(text)) return false
    const url = new URL(text)
    const plain = url.search === '' && url.hash === '' && url.username === '' && url.password === ''
    return plain && /^https?:$/.test(url.protocol) && url.pathname.endsWith('/v3')
  }, 'takes an http(s) address that ends in /v3, without a query or credentials'),
)

const httpAddress = z
  .string('takes the address of the dashboard')
  .check(z.refine(isOrigin, 'takes an http(s) address without a path, such as https://units.example'))

/** The service, and how its answers are read. */
const serviceSettings = z.object({
  TRACKING_BASE_URL: baseUrl,
  SERVICE_TIMEOUT_MS: z._default(wholeNumber('takes 100 to 60000 milliseconds', 100, 60_000), 20_000),
  SERVICE_FLIGHT_MS: z._default(wholeNumber('takes 1000 milliseconds to a day', 1_000, dayMs), 300_000),
  PROJECT_SEPARATOR: z.optional(matching(/^[,;|:+~!*]$/, 'takes one of , ; | : + ~ ! *')),
  PLANS: z.optional(z.string('takes the path of a plans file')),
})

/** What can be set of each kind, under the names in its row of the table. */
function kindSettings(kinds: Kinds) {
  const rows = Object.values(kinds).flatMap(({ settings }) => [
    [settings.estimatePointer, z.optional(pointer)],
    [settings.runPointer, z.optional(pointer)],
    [settings.cooldown, z.optional(cooldown)],
  ])
  return Object.fromEntries(rows) as KindSettings
}

type KindSettings = Record<`${'ESTIMATE' | 'RUN'}_POINTER_${string}`, z.ZodMiniOptional<typeof pointer>> &
  Record<`COOLDOWN_${string}`, z.ZodMiniOptional<typeof cooldown>>

/** Where people find the dashboard; nothing but links is made of it. */
const dashboardSettings = z.object({ DASHBOARD_URL: z.optional(httpAddress) })

/** Everything that a function needs which guards updates. */
export const guardSettingsOf = (kinds: Kinds) =>
  z.object(
    Object.assign(
      { ...ledgerOnlySettings.shape, ...serviceSettings.shape },
      kindSettings(kinds),
      dashboardSettings.shape,
    ),
  )

export const guardSettings = guardSettingsOf(productKinds)

export type GuardSettings = z.output<typeof guardSettings>

/** What a deployment must be told: on AWS the account has no defaults. */
export const deploymentSettings = z.object({ ...guardSettings.shape, ACCOUNT_UNITS_PER_MONTH: units })

/** The first deployment also sets what the ledger begins with. */
export const firstDeploymentSettings = z.object({ ...guardSettings.shape, ...openingSettings.shape })
