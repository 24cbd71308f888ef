import * as z from 'zod/mini'
import { dayMs, hourMs, minuteMs } from '../platform/clock.ts'
import { ledgerOnlySettings, matching, openingSettings, units, wholeNumber } from '../platform/settings.ts'
import { type Kinds, productKinds } from '../tracking/kinds.ts'
import type { Cooldown } from './options.ts'

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
