import * as z from 'zod/mini'
import { isZone } from './clock.ts'
import { usualNamespace } from './metrics.ts'
import { maxUnits, slackChannelId, toUnits } from './words.ts'

export const environment = (): Readonly<Record<string, string | undefined>> => process.env

/** The message shows no values. */
export class WrongSettings extends Error {
  override readonly name = 'WrongSettings'
}

/**
 * An empty variable counts as absent.
 * @throws WrongSettings
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

export const matching = (pattern: RegExp, message: string) => z.string(message).check(z.regex(pattern, message))

export const wholeNumber = (message: string, from: number, to: number = Number.MAX_SAFE_INTEGER) =>
  z.pipe(
    z.pipe(matching(/^\d{1,16}$/, message), z.transform(Number)),
    z.number().check(z.int(message), z.gte(from, message), z.lte(to, message)),
  )

export const units = z.pipe(
  wholeNumber(`must be a whole number of units from 0 to ${maxUnits}`, 0, maxUnits),
  z.transform(toUnits),
)
const renewalDay = wholeNumber('must be a day of the month, 1 to 31', 1, 31)
const renewalTime = matching(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time like 00:00')
const zoneFault = 'must be a time zone of the IANA database, such as Europe/Berlin; UTC is one'
const timeZone = z.string(zoneFault).check(z.refine(isZone, zoneFault))
const endpoint = z.optional(z.url('must be the address of an endpoint'))

/** DynamoDB Local accepts no other characters. */
const accessKey = z.optional(z.string().check(z.regex(/^[A-Za-z0-9]{1,128}$/, 'must be letters and digits')))

const ledgerMarker = z.pipe(
  z.string().check(z.refine((text) => parseMarker(text) !== undefined, 'must be a marker of npm run account')),
  z.transform((text) => parseMarker(text) ?? null),
)

const ledgerSettings = z.object({
  TABLE_NAME: z.string('must be the name of the ledger table'),
  DYNAMODB_ENDPOINT: endpoint,
  DYNAMODB_ACCESS_KEY: accessKey,
  /** Set if the service's name is not its address. The stand-in is `sandbox` on every port. */
  LEDGER_SERVICE: z.optional(z.string()),
  LEDGER_MARKER: z.optional(ledgerMarker),
  /** The namespace of the metrics in the log. Each guard in an AWS account needs its own namespace. */
  METRIC_NAMESPACE: z._default(z.string(), usualNamespace),
})

export const secretSettings = z.object({
  SECRETS_ENDPOINT: endpoint,
  SECRETS_ACCESS_KEY: accessKey,
  SERVICE_TOKEN_SECRET: z._default(z.string(), 'unit-guard/service-token'),
  CALLER_KEY_SECRET: z._default(z.string(), 'unit-guard/caller-key'),
  SLACK_SECRET: z._default(z.string(), 'unit-guard/slack'),
  LOGIN_CLIENT_SECRET: z._default(z.string(), 'unit-guard/login-client'),
  /** Set only behind the edge. Requests that skip the edge are then refused. */
  ORIGIN_SECRET: z.optional(z.string()),
})

const slackSettings = z.object({
  SLACK_CHANNEL: z.optional(matching(slackChannelId, 'must be the id of a Slack channel, such as C02ABCDEF')),
  /** Only for a recorder on this machine. */
  SLACK_API_URL: endpoint,
})

/** Without defaults, because later runs compare the values that are set with the ledger. */
export const accountSettings = z.object({
  ACCOUNT_UNITS_PER_MONTH: z.optional(units),
  ACCOUNT_UNITS_USED_AT_START: z.optional(units),
  ACCOUNT_RENEWAL_DAY: z.optional(renewalDay),
  ACCOUNT_RENEWAL_TIME: z.optional(renewalTime),
  ACCOUNT_TIME_ZONE: z.optional(timeZone),
})

export const ledgerOnlySettings = z.object({
  ...ledgerSettings.shape,
  ...secretSettings.shape,
  ...slackSettings.shape,
  ...accountSettings.shape,
})

export type LedgerOnlySettings = z.output<typeof ledgerOnlySettings>

/** On AWS, a new ledger has a default only for the time of its renewal. */
export const openingSettings = z.object({
  ...accountSettings.shape,
  ACCOUNT_UNITS_PER_MONTH: units,
  ACCOUNT_UNITS_USED_AT_START: units,
  ACCOUNT_RENEWAL_DAY: renewalDay,
  ACCOUNT_TIME_ZONE: timeZone,
})

/** @throws WrongSettings if more units were used than the month has. */
export function mustFitLimit(settings: z.output<typeof accountSettings>, limit: number): void {
  const { ACCOUNT_UNITS_PER_MONTH: most = limit, ACCOUNT_UNITS_USED_AT_START: used = 0 } = settings
  if (used > most) throw new WrongSettings('ACCOUNT_UNITS_USED_AT_START: must be at most ACCOUNT_UNITS_PER_MONTH')
}

/** Stored in a parameter on AWS, else in a file in DATA_DIR. A process refuses a table that does not match it. */
export interface Marker {
  readonly ledger: string
  readonly epoch: number
  /** A table restored under the same name has another id. */
  readonly table: string
  readonly tableName: string
}

const words = /^(led_\w+) (\d{1,9}) (\S+) (\S+)$/

export const noMarker = 'none'

/** `null`: no ledger has begun yet. `undefined`: not a marker. */
export function parseMarker(text: string): Marker | null | undefined {
  if (text.trim() === noMarker) return null
  const [, ledger, epoch, table, tableName] = words.exec(text.trim()) ?? []
  if (ledger === undefined || table === undefined || tableName === undefined) return undefined
  return { ledger, epoch: Number(epoch), table, tableName }
}

export const toMarkerText = ({ ledger, epoch, table, tableName }: Marker): string =>
  `${ledger} ${epoch} ${table} ${tableName}`

const anyAccessKey = 'local'

/** @param accessKey the key that a stand-in expects, because every user of the machine can reach its port. */
export const standIn = (endpoint: string | undefined, accessKey = anyAccessKey) =>
  endpoint === undefined
    ? {}
    : { endpoint, region: 'local', credentials: { accessKeyId: accessKey, secretAccessKey: accessKey } }
