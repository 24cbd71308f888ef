import * as z from 'zod/mini'
import type { Ledger } from '../ledger/ledger.ts'
import { silentFrom } from '../ledger/updates/shown.ts'
import type { KeptToken, Update } from '../ledger/updates/update.ts'
import { type Clock, dayMs, hourMs, minuteMs } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { ledgerOnlySettings, matching, openingSettings, units, wholeNumber } from '../platform/settings.ts'
import { type Condition, parseConditions, parseRefusals } from '../tracking/conditions.ts'
import { type Kind, type Kinds, productKinds } from '../tracking/kinds.ts'
import type { Tracking } from '../tracking/tracking.ts'
import { parseOptions } from './deployed-options.ts'
import { moneySettings, type UnitPrices } from './money.ts'
import type { Plan } from './plans-file.ts'

/** How long a run blocks the same work: until the account's day ends, or for this many ms. */
/** A number of days ends with the start of a day of the account. A number is a time in ms. */
export type Cooldown = 'day' | `${number}d` | number

export interface GuardOptions {
  readonly serviceTimeoutMs: number
  /** How long a request may still take effect after the guard stops waiting. */
  readonly serviceFlightMs: number
  readonly cooldown: Readonly<Record<Kind, Cooldown>>
  /** Whether an estimate of 0 is a price. Else it starts nothing. */
  readonly isZeroFree?: boolean
  /** After this time, data that a paid run did not bring are late. Default: 96 hours. */
  readonly deliveryMs?: number
  /** Separates several projects in one path segment. Absent: unknown. */
  readonly separator?: string
  /** Whether this process is stopping and must begin no hold. */
  readonly isStopping?: () => boolean
}

/** From this time on, the request of an update in doubt can no longer take effect. */
export const inFlightUntil = (update: Update, options: GuardOptions): number =>
  silentFrom(update) + options.serviceFlightMs

/** Maps a kept token's claims by the current issuers file. `null`: its issuer is no longer trusted. */
type MapToken = (kept: KeptToken) => Promise<KeptToken | null>

export interface GuardParts {
  unitPrices?: UnitPrices | null
  ledger: Ledger
  tracking: Tracking
  serviceToken: () => Promise<string>
  clock: Clock
  ids: Ids
  log: Log
  options: GuardOptions
  kinds?: Kinds
  plans: () => Promise<readonly Plan[]>
  /** Absent: no issuer is trusted. */
  mapToken?: MapToken
  /** Called by each sweep. */
  checkTroubles?: () => Promise<void>
}

/** The parts with the plans file already read. */
export type PlannedParts = Omit<GuardParts, 'plans'> & { readonly plans: readonly Plan[] }

type Methods<Parts> = Readonly<Record<string, (parts: Parts, ...of: never[]) => unknown>>

/** Binds the parts as the first argument of each function. */
export const withParts = <Parts, Of extends Methods<Parts>>(parts: Parts, of: Of) =>
  Object.fromEntries(Object.entries(of).map(([name, method]) => [name, method.bind(null, parts)])) as {
    [Name in keyof Of]: Of[Name] extends (parts: Parts, ...of: infer Rest) => infer Result
      ? (...of: Rest) => Result
      : never
  }

/** Time reserved to write the outcome of `run`: four attempts of three seconds. */
export const settleMarginMs = 12_000
export const approvalLastsMs = dayMs
export const approvableForMs = 2 * approvalLastsMs
export const requestLastsMs = hourMs
/** Doubt blocks the same work until the account's day ends, and at least this long. */
export const doubtBlocksMs = hourMs
export const minRunMs = 2_000
export const estimateLastsMs = 30_000
export const maxDecisionPauseMs = 400
export const maxDecisions = 8
export const runsAtOnce = 5
/** The sweep starts requests older than this; the stream starts new requests. */
export const beginLateAfterMs = 2 * minuteMs
/** The time for the estimate with the dates, for the run, and for writing the outcome. */
export const planStepMs = ({ serviceTimeoutMs }: GuardOptions): number => 2 * serviceTimeoutMs + settleMarginMs
/** Whether a step of this length can end before the process does. */
export const hasTime = ({ clock, options }: Pick<GuardParts, 'clock' | 'options'>, endsAt: number, stepMs: number) =>
  !options.isStopping?.() && clock.now() + stepMs <= endsAt
export const usualDeliveryMs = 96 * hourMs
export const refusalsWithinMs = 10 * minuteMs
/** In per cent, for budgets without thresholds. */
export const usualThresholds: readonly number[] = [80, 100]

const pointer = matching(/^(\/([^~]|~[01])*)*$/, 'must be a JSON Pointer (RFC 6901), such as /data/units')

const conditions = (parse: (text: string) => readonly Condition[]) =>
  z.pipe(
    z.string().check((context) => {
      try {
        parse(context.value)
      } catch (error) {
        context.issues.push({ code: 'custom', input: context.value, message: (error as Error).message })
      }
    }),
    z.transform(parse),
  )

const refusedRuns = z.optional(conditions(parseRefusals))
const answers = z.optional(conditions(parseConditions))

const cooldown = z.pipe(
  matching(/^(day|0|\d{1,4}[mhd])$/, 'must be day, 0, or a time such as 30m, 6h, 7d'),
  z.transform(toCooldown),
)

export function toCooldown(text: string): Cooldown {
  return text === 'day' || isDays(text) ? text : msOf(text)
}

const isDays = (text: string): text is `${number}d` => /^\d+d$/.test(text)

/** The days of a cool-down. `null`: it is a time. */
export function daysOf(cooldown: Cooldown): number | null {
  if (typeof cooldown === 'number') return null
  return cooldown === 'day' ? 1 : Number(cooldown.slice(0, -1))
}

const unitMs: Readonly<Record<string, number>> = { m: minuteMs, h: hourMs, d: dayMs }

/** Reads a text such as `30m`. The text `0` gives 0. */
const msOf = (text: string): number => Number(text.slice(0, -1)) * (unitMs[text.at(-1) ?? ''] ?? 0)

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, origin, href } = new URL(text)
  return /^https?:$/.test(protocol) && href === `${origin}/`
}

const baseUrl = z.string('must be the address of the service, ending in /v3').check(
  z.refine((text) => {
    if (!URL.canParse(text)) return false
    const url = new URL(text)
    const plain = url.search === '' && url.hash === '' && url.username === '' && url.password === ''
    return plain && /^https?:$/.test(url.protocol) && url.pathname.endsWith('/v3')
  }, 'must be an http(s) address that ends in /v3, without a query or credentials'),
)

const httpAddress = z
  .string('must be the address of the dashboard')
  .check(z.refine(isOrigin, 'must be an http(s) address without a path, such as https://units.example'))

/** Each is for all kinds of updates. A setting of one kind is named after it. */
const answerSettings = {
  RUN_REFUSED: refusedRuns,
  RUN_STARTED: answers,
  ANSWERS_WELL: answers,
  /** `free`: an estimate of 0 is a price. */
  ZERO_PRICE: z.optional(z.enum(['free'], 'must be free, or absent')),
}

const serviceSettings = z.object({
  TRACKING_BASE_URL: baseUrl,
  SERVICE_TIMEOUT_MS: z._default(wholeNumber('must have 100 to 60000 milliseconds', 100, 60_000), 20_000),
  SERVICE_FLIGHT_MS: z._default(wholeNumber('must be from 1000 milliseconds to a day', 1_000, dayMs), 300_000),
  DELIVERY_HOURS: z._default(wholeNumber('must be a whole number of hours from 1 to 168', 1, 168), 96),
  ...answerSettings,
  PROJECT_SEPARATOR: z.optional(matching(/^[,;|:+~!*]$/, 'must be one of , ; | : + ~ ! *')),
  PLANS: z.optional(z.string('must be the path of a plans file')),
})

function kindSettings(kinds: Kinds) {
  const rows = Object.values(kinds).flatMap(({ settings }) => [
    [settings.estimatePointer, z.optional(pointer)],
    [settings.runPointer, z.optional(pointer)],
    [settings.refused, refusedRuns],
    [settings.started, answers],
    [settings.well, answers],
    [settings.cooldown, z.optional(cooldown)],
  ])
  return Object.fromEntries(rows) as KindSettings
}

type KindSettings = Record<`${'ESTIMATE' | 'RUN'}_POINTER_${string}`, z.ZodMiniOptional<typeof pointer>> &
  Record<`RUN_REFUSED_${string}`, typeof refusedRuns> &
  Record<`RUN_STARTED_${string}` | `ANSWERS_WELL_${string}`, typeof answers> &
  Record<`COOLDOWN_${string}`, z.ZodMiniOptional<typeof cooldown>>

const peopleSettings = z.object({
  DASHBOARD_URL: z.optional(httpAddress),
  TRUSTED_ISSUERS: z.optional(z.string('must be the path of an issuers file')),
  /** Whether tokens that `npm run token` made are accepted. */
  MINTED_TOKENS: z._default(z.enum(['on', 'off'], 'must be on or off'), 'on'),
  /** The name of the issuer where people log in to the dashboard. */
  LOGIN_ISSUER: z.optional(z.string()),
  LOGIN_CLIENT_ID: z.optional(matching(/^[\x21-\x7e]{1,256}$/, 'must be the id of a client of the issuer')),
})

const eventSettings = z.object({
  EVENT_TARGETS: z.optional(z.string('must be the path of a file of event targets')),
})

const takesOrigin = 'must be an http(s) address without a path, such as https://agents.example'

export const mcpSettings = z.object({
  /** The address that agents use. Default: the address where Unit Guard listens, or its function URL. */
  PUBLIC_URL: z.optional(z.string(takesOrigin).check(z.refine(isOrigin, takesOrigin))),
  QUOTE_KEY_SECRET: z._default(z.string(), 'unit-guard/quote-key'),
})

/** For the sweep. */
const stackSettings = z.object({
  DEPLOYED_OPTIONS: z.optional(
    z.pipe(
      z.string().check(z.refine((text) => parseOptions(text) !== undefined, 'must be set by the stack alone')),
      z.transform(parseOptions),
    ),
  ),
})

export const guardSettingsOf = (kinds: Kinds) =>
  z.object(
    Object.assign(
      { ...ledgerOnlySettings.shape, ...serviceSettings.shape, ...eventSettings.shape, ...stackSettings.shape },
      kindSettings(kinds),
      peopleSettings.shape,
      moneySettings.shape,
    ),
  )

export const guardSettings = guardSettingsOf(productKinds)

export type GuardSettings = z.output<typeof guardSettings>

/** On AWS the operator must set the account's units. */
export const deploymentSettings = z.object({ ...guardSettings.shape, ACCOUNT_UNITS_PER_MONTH: units })

export const firstDeploymentSettings = z.object({ ...guardSettings.shape, ...openingSettings.shape })
