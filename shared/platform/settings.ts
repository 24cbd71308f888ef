import * as z from 'zod/mini'
import { isZone } from './clock.ts'
import { usualNamespace } from './metrics.ts'
import { maxUnits, slackChannelId, toUnits } from './words.ts'

export const environment = (): Readonly<Record<string, string | undefined>> => process.env

/** Never names a value. */
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

export const matching = (pattern: RegExp, takes: string) => z.string(takes).check(z.regex(pattern, takes))

export const wholeNumber = (takes: string, from: number, to: number = Number.MAX_SAFE_INTEGER) =>
  z.pipe(
    z.pipe(matching(/^\d{1,16}$/, takes), z.transform(Number)),
    z.number().check(z.int(takes), z.gte(from, takes), z.lte(to, takes)),
  )

export const units = z.pipe(
  wholeNumber(`must be a whole number of units from 0 to ${maxUnits}`, 0, maxUnits),
  z.transform(toUnits),
)
const renewalDay = wholeNumber('must be a day of the month, 1 to 31', 1, 31)
const renewalTime = matching(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time like 00:00')
const zoneTakes = 'must be a time zone of the IANA database, such as Europe/Berlin; UTC is one'
const timeZone = z.string(zoneTakes).check(z.refine(isZone, zoneTakes))
const endpoint = z.optional(z.url('must be the address of an endpoint'))

/** DynamoDB Local takes no other characters. */
const accessKey = z.optional(z.string().check(z.regex(/^[A-Za-z0-9]{1,128}$/, 'must be letters and digits')))

const ledgerMarker = z.pipe(
  z.string().check(z.refine((text) => parseMarker(text) !== undefined, 'must be what npm run account has written')),
  z.transform((text) => parseMarker(text) ?? null),
)

const ledgerSettings = z.object({
  TABLE_NAME: z.string('must be the name of the ledger table'),
  DYNAMODB_ENDPOINT: endpoint,
  DYNAMODB_ACCESS_KEY: accessKey,
  /** If the address is not the name: the stand-in is `sandbox` on every port. */
  LEDGER_SERVICE: z.optional(z.string()),
  LEDGER_MARKER: z.optional(ledgerMarker),
  /** Of the metrics in the log. Guards in one account need one each. */
  METRIC_NAMESPACE: z._default(z.string(), usualNamespace),
})

export const secretSettings = z.object({
  SECRETS_ENDPOINT: endpoint,
  SECRETS_ACCESS_KEY: accessKey,
  SERVICE_TOKEN_SECRET: z._default(z.string(), 'unit-guard/service-token'),
  CALLER_KEY_SECRET: z._default(z.string(), 'unit-guard/caller-key'),
  SLACK_SECRET: z._default(z.string(), 'unit-guard/slack'),
  LOGIN_CLIENT_SECRET: z._default(z.string(), 'unit-guard/login-client'),
  /** Only behind the edge: other requests are then refused. */
  ORIGIN_SECRET: z.optional(z.string()),
})

const slackSettings = z.object({
  SLACK_CHANNEL: z.optional(matching(slackChannelId, 'must be the id of a Slack channel, such as C02ABCDEF')),
  /** Only for a recorder on this machine. */
  SLACK_API_URL: endpoint,
})

/** No defaults: later runs compare set values with the ledger. */
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

/** On AWS a new ledger has no defaults. */
export const openingSettings = z.object({
  ...accountSettings.shape,
  ACCOUNT_UNITS_PER_MONTH: units,
  ACCOUNT_UNITS_USED_AT_START: units,
  ACCOUNT_RENEWAL_DAY: renewalDay,
  ACCOUNT_TIME_ZONE: timeZone,
})

/** @throws WrongSettings if more was used than there is. */
export function mustFitLimit(settings: z.output<typeof accountSettings>, limit: number): void {
  const { ACCOUNT_UNITS_PER_MONTH: most = limit, ACCOUNT_UNITS_USED_AT_START: used = 0 } = settings
  if (used > most) throw new WrongSettings('ACCOUNT_UNITS_USED_AT_START: must be at most ACCOUNT_UNITS_PER_MONTH')
}

/** On AWS a parameter, else a file in DATA_DIR. The process refuses a table that disagrees. */
export interface Marker {
  readonly ledger: string
  readonly epoch: number
  /** A table restored under the same name has another id. */
  readonly table: string
  readonly tableName: string
}

const words = /^(led_\w+) (\d{1,9}) (\S+) (\S+)$/

export const noMarker = 'none'

/** `null`: no ledger was begun. `undefined`: not a marker. */
export function parseMarker(text: string): Marker | null | undefined {
  if (text.trim() === noMarker) return null
  const [, ledger, epoch, table, tableName] = words.exec(text.trim()) ?? []
  if (ledger === undefined || table === undefined || tableName === undefined) return undefined
  return { ledger, epoch: Number(epoch), table, tableName }
}

export const toMarkerText = ({ ledger, epoch, table, tableName }: Marker): string =>
  `${ledger} ${epoch} ${table} ${tableName}`

const anyAccessKey = 'local'

/** @param accessKey identifies our stand-ins, because the port is open to every user. */
export const standIn = (endpoint: string | undefined, accessKey = anyAccessKey) =>
  endpoint === undefined
    ? {}
    : { endpoint, region: 'local', credentials: { accessKeyId: accessKey, secretAccessKey: accessKey } }
