import * as z from 'zod/mini'
import { dayMs, hourMs, minuteMs } from './clock.ts'
import { parseMarker } from './marker.ts'
import { mostUnits, toUnits } from './words.ts'
import { isZone } from './zone.ts'

/** The environment as it was given; only this room reads it. */
export const environment = (): Readonly<Record<string, string | undefined>> => process.env

/** A setting is missing or wrong. The message names each one and says what it takes; it never shows a value. */
export class WrongSettings extends Error {
  override readonly name = 'WrongSettings'
}

/**
 * Parses an environment with one schema, once per cold start. An empty variable counts as absent.
 *
 * @throws WrongSettings naming every setting that is missing or wrong.
 */
export function parseSettings<Schema extends z.ZodMiniType>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  throw new WrongSettings(`these settings are missing or wrong: ${[...new Set(faults)].join('; ')}`)
}

const matching = (pattern: RegExp, takes: string) => z.string(takes).check(z.regex(pattern, takes))

const wholeNumber = (takes: string, from: number, to: number = Number.MAX_SAFE_INTEGER) =>
  z.pipe(
    z.pipe(matching(/^\d{1,16}$/, takes), z.transform(Number)),
    z.number().check(z.int(takes), z.gte(from, takes), z.lte(to, takes)),
  )

const units = z.pipe(
  wholeNumber(`takes a whole number of units, 0 to ${mostUnits}`, 0, mostUnits),
  z.transform(toUnits),
)
const renewalDay = wholeNumber('takes a day of the month, 1 to 31', 1, 31)
const renewalTime = matching(/^([01]\d|2[0-3]):[0-5]\d$/, 'takes a time like 00:00')
const zoneTakes = 'takes a time zone of the IANA database, such as Europe/Berlin; UTC is one'
const timeZone = z.string(zoneTakes).check(z.refine(isZone, zoneTakes))
const pointer = matching(/^(\/([^~]|~[01])*)*$/, 'takes a JSON Pointer (RFC 6901), such as /data/units')

const cooldown = z.pipe(
  matching(/^(day|0|\d{1,4}[mhd])$/, 'takes day, 0, or a time such as 30m, 6h, 7d'),
  z.transform(toCooldown),
)

/** How long a settled update answers for the same work: to the end of the account's day, or a number of ms. */
export type Cooldown = 'day' | number

const unitMs = { m: minuteMs, h: hourMs, d: dayMs } as const

function toCooldown(text: string): Cooldown {
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

const endpoint = z.optional(z.url('takes the address of an endpoint'))

/** Of a stand-in at one of these endpoints; DynamoDB Local takes no others. */
export const accessKey = z.optional(z.string().check(z.regex(/^[A-Za-z0-9]{1,128}$/, 'takes letters and digits')))

const ledgerMarker = z.pipe(
  z.string().check(z.refine((text) => parseMarker(text) !== undefined, 'takes what npm run account has written')),
  z.transform((text) => parseMarker(text) ?? null),
)

/** Where the ledger is. */
const ledgerSettings = z.object({
  TABLE_NAME: z.string('takes the name of the ledger table'),
  DYNAMODB_ENDPOINT: endpoint,
  DYNAMODB_ACCESS_KEY: accessKey,
  /** The service as the ledger knows it, where that is not its address: the stand-in is `sandbox` on every port. */
  LEDGER_SERVICE: z.optional(z.string()),
  /** What is known about the ledger outside of its table. */
  LEDGER_MARKER: z.optional(ledgerMarker),
})

/** Where the secrets are. */
export const secretSettings = z.object({
  SECRETS_ENDPOINT: endpoint,
  SECRETS_ACCESS_KEY: accessKey,
  SERVICE_TOKEN_SECRET: z._default(z.string(), 'unit-guard/service-token'),
  CALLER_KEY_SECRET: z._default(z.string(), 'unit-guard/caller-key'),
  SLACK_SECRET: z._default(z.string(), 'unit-guard/slack'),
})

/**
 * What the root budget of a new ledger begins with, and when its month turns. Later they only say what the ledger must
 * have, so a variable that is not set has no default here.
 */
export const accountSettings = z.object({
  ACCOUNT_UNITS_PER_MONTH: z.optional(units),
  ACCOUNT_UNITS_USED_AT_START: z.optional(units),
  ACCOUNT_RENEWAL_DAY: z.optional(renewalDay),
  ACCOUNT_RENEWAL_TIME: z.optional(renewalTime),
  ACCOUNT_TIME_ZONE: z.optional(timeZone),
})

/** The service, and how its answers are read. */
const serviceSettings = z.object({
  TRACKING_BASE_URL: baseUrl,
  SERVICE_TIMEOUT_MS: z._default(wholeNumber('takes 100 to 60000 milliseconds', 100, 60_000), 20_000),
  SERVICE_FLIGHT_MS: z._default(wholeNumber('takes 1000 milliseconds to a day', 1_000, dayMs), 300_000),
  ESTIMATE_POINTER_RANKING: z.optional(pointer),
  ESTIMATE_POINTER_DIFFICULTY: z.optional(pointer),
  RUN_POINTER_RANKING: z.optional(pointer),
  RUN_POINTER_DIFFICULTY: z.optional(pointer),
  COOLDOWN_RANKING: z._default(cooldown, 'day'),
  COOLDOWN_DIFFICULTY: z._default(cooldown, 7 * dayMs),
  PROJECT_SEPARATOR: z.optional(matching(/^[,;|:+~!*]$/, 'takes one of , ; | : + ~ ! *')),
  PLANS: z.optional(z.string('takes the path of a plans file')),
})

/** Where people find the dashboard; nothing but links is made of it. */
const dashboardSettings = z.object({ DASHBOARD_URL: z.optional(httpAddress) })

/** Everything that a function needs which writes the ledger and calls nobody. */
export const ledgerOnlySettings = z.object({
  ...ledgerSettings.shape,
  ...secretSettings.shape,
  ...accountSettings.shape,
})

export type LedgerOnlySettings = z.output<typeof ledgerOnlySettings>

/** Everything that a function needs which guards updates. */
export const guardSettings = z.object({
  ...ledgerOnlySettings.shape,
  ...serviceSettings.shape,
  ...dashboardSettings.shape,
})

export type GuardSettings = z.output<typeof guardSettings>

/** What a deployment must be told: on AWS the account has no defaults. */
export const deploymentSettings = z.object({ ...guardSettings.shape, ACCOUNT_UNITS_PER_MONTH: units })

/** What the first ledger on AWS must be told, beside the limit: none of it has a default there. */
export const openingSettings = z.object({
  ...accountSettings.shape,
  ACCOUNT_UNITS_PER_MONTH: units,
  ACCOUNT_UNITS_USED_AT_START: units,
  ACCOUNT_RENEWAL_DAY: renewalDay,
  ACCOUNT_TIME_ZONE: timeZone,
})

/** The first deployment is told what the ledger is then begun with. */
export const firstDeploymentSettings = z.object({ ...guardSettings.shape, ...openingSettings.shape })

/** @throws WrongSettings when more was used than there is: such an account could only be a mistake. @param limit where none is set. */
export function mustFitLimit(settings: z.output<typeof accountSettings>, limit: number): void {
  const { ACCOUNT_UNITS_PER_MONTH: most = limit, ACCOUNT_UNITS_USED_AT_START: used = 0 } = settings
  if (used > most) throw new WrongSettings('ACCOUNT_UNITS_USED_AT_START: takes at most ACCOUNT_UNITS_PER_MONTH')
}
