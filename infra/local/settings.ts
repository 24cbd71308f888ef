import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod/mini'
import { sandboxSettings } from '../../functions/sandbox/settings.ts'
import { unitPricesOf } from '../../shared/guard/money.ts'
import { guardSettings, mcpSettings } from '../../shared/guard/options.ts'
import { usualAccount } from '../../shared/ledger/identity.ts'
import { isLoopback } from '../../shared/platform/http.ts'
import { refuseMisspelt } from '../../shared/platform/misspelt.ts'
import { matching, mustFitLimit, parseSettings, WrongSettings, wholeNumber } from '../../shared/platform/settings.ts'
import { targetOf } from '../../shared/slack/tell/client.ts'
import { productKinds } from '../../shared/tracking/kinds.ts'
import { isUsableToken } from '../../shared/tracking/transport.ts'
import { keySetting, readLocalEvents, secretFileVariables, withGivenSecrets } from './given-secrets.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export type LocalSettings = ReturnType<typeof readSettings>

export interface LocalSlack {
  readonly signingSecret: string
  readonly webhookUrl?: string
  readonly botToken?: string
}

/** The token of the recorder, which replaces Slack if the sandbox replaces the service. */
export const recorderToken = 'xoxb-only-for-the-recorder'
export const recorderChannel = 'C0LOCAL'

/** Public, because it opens only a guard on this machine. */
export const localSigningSecret = 'local-slack-signing-secret'

const plansFile = fileURLToPath(new URL('./plans.json', import.meta.url))

export const defaultDirectory = '.local'
export const ledgerFile = 'ledger.db'
/** A DATA_DIR that keeps nothing. With another port than the usual one, the env file says `memory:<port>`. */
const inMemory = /^memory(?::(\d+))?$/
export const isInMemory = (folder: string | undefined): boolean => inMemory.test(folder ?? '')

/** These settings replace those of a DynamoDB table. */
const inFile = { TABLE_NAME: ledgerFile, DYNAMODB_ENDPOINT: undefined, DYNAMODB_ACCESS_KEY: undefined }

export const defaults = {
  PORT: '8787',
  SANDBOX_PORT: '8788',
  SERVICE_TIMEOUT_MS: '20000',
  SERVICE_FLIGHT_MS: '300000',
  ...Object.fromEntries(Object.values(productKinds).map(({ settings, cooldown }) => [settings.cooldown, cooldown])),
  SLACK_SIGNING_SECRET: localSigningSecret,
} satisfies Environment

const loopback = '127.0.0.1'

const text = (isRight: (text: string) => boolean, error: string) => z.string().check(z.refine(isRight, error))
const port = wholeNumber('must be a port, 0 to 65535 (0: any)', 0, 65_535)
const isWebhook = (text: string) => targetOf(text, { allowLoopback: true }) !== null

export const localSettings = z.object({
  ...guardSettings.shape,
  ...sandboxSettings.shape,
  ...mcpSettings.shape,
  PORT: port,
  SANDBOX_PORT: port,
  DATA_DIR: z.string(),
  DEMO: z.optional(z.enum(['on', 'off'], 'must be on or off')),
  SLACK_SIGNING_SECRET: z.string(),
  SLACK_WEBHOOK_URL: z.optional(
    text(isWebhook, 'must be the address of an incoming webhook: https://hooks.slack.com/services/…'),
  ),
  SLACK_BOT_TOKEN: z.optional(matching(/^xox[\w.-]+$/, 'must be a bot token, which begins with xoxb-')),
  /** The secret `unit-guard/login-client`: locally `unit-guard/x/y` is read from `X_Y`. */
  LOGIN_CLIENT: z.optional(matching(/^[\x21-\x7e]+$/, 'must be visible ASCII characters')),
  TRACKING_TOKEN: z.optional(text(isUsableToken, 'must be visible ASCII characters')),
  CALLER_KEY: z.optional(keySetting),
  QUOTE_KEY: z.optional(keySetting),
})

/** The settings that `npm run serve` checks beside `localSettings`. The first three have no default. */
export const servedSettings = z.object({
  TRACKING_BASE_URL: z.string('must be the address of the service, ending in /v3'),
  TRACKING_TOKEN: z.string("must be the service's token"),
  CALLER_KEY: z.string("must be the key of callers' tokens, such as openssl rand -hex 32 prints"),
  DATA_DIR: z.optional(text((folder) => !isInMemory(folder), 'must be a folder that is kept')),
  // Shells set HOST to the name of the machine.
  HOST: z._default(
    text((host) => isIP(host) !== 0, 'must be an IP address'),
    loopback,
  ),
  PUBLIC_URL: z.optional(z.string()),
})

const otherVariables = [
  'HOST',
  ...secretFileVariables,
  'UNIT_GUARD_URL',
  'UNIT_GUARD_TOKEN',
  'UNIT_GUARD_PID',
  'GUARD_PREFIX',
  'SANDBOX_URL',
  'SANDBOX_TOKEN',
  'FOUND_HERE',
]

/** @throws WrongSettings */
export const refuseMisspeltVariables = (env: Environment): void =>
  refuseMisspelt('variables', Object.keys(env), [...Object.keys(localSettings.shape), ...otherVariables])

/** @throws WrongSettings naming every wrong setting; WrongFile. */
export function readSettings(env: Environment) {
  refuseMisspeltVariables(env)
  const given = {
    ...defaults,
    DATA_DIR: dataDirOf(env),
    // The sandbox separates projects with commas; the separator of a user's own service is unknown.
    ...(env.TRACKING_BASE_URL ? {} : { PROJECT_SEPARATOR: ',' }),
    ...Object.fromEntries(Object.entries(withGivenSecrets(env)).filter(([, value]) => value)),
    ...inFile,
  }
  const hasSandbox = !env.TRACKING_BASE_URL
  const parsed = parseSettings(localSettings, { TRACKING_BASE_URL: sandboxUrl(0), ...given })
  mustFitLimit(parsed, usualAccount.unitsPerMonth)
  unitPricesOf(parsed)
  const recordsSlack = hasSandbox && !parsed.SLACK_WEBHOOK_URL && !parsed.SLACK_BOT_TOKEN
  const { SLACK_WEBHOOK_URL: webhookUrl, SLACK_BOT_TOKEN: botToken = recordsSlack ? recorderToken : undefined } = parsed
  return {
    host: loopback,
    port: parsed.PORT,
    sandboxPort: hasSandbox ? parsed.SANDBOX_PORT : null,
    /** The folder of the ledger; `null` keeps nothing. */
    keptIn: isInMemory(parsed.DATA_DIR) ? null : parsed.DATA_DIR,
    directory: directoryOf(env),
    // The demonstration asks for updates with a minted token.
    // A strange sandbox proves nothing to a newcomer.
    demonstrates:
      hasSandbox && parsed.DEMO !== 'off' && parsed.MINTED_TOKENS === 'on' && parsed.SANDBOX_HABITS === 'usual',
    acceptsMinted: parsed.MINTED_TOKENS === 'on',
    events: readLocalEvents(given),
    loginClient: parsed.LOGIN_CLIENT ?? null,
    callerKey: parsed.CALLER_KEY ?? null,
    quoteKey: parsed.QUOTE_KEY ?? null,
    serviceToken: parsed.TRACKING_TOKEN ?? (hasSandbox ? sandboxToken : null),
    slack: {
      signingSecret: parsed.SLACK_SIGNING_SECRET,
      ...(webhookUrl !== undefined && { webhookUrl }),
      ...(botToken !== undefined && { botToken }),
    },
    recordsSlack,
    /** The file of the sandbox's plans. `null` if `PLANS` names another file, or without the sandbox. */
    ownPlans: hasSandbox && parsed.PLANS === undefined ? plansFile : null,
    publicUrl: parsed.PUBLIC_URL ?? null,
    quoteKeySecret: parsed.QUOTE_KEY_SECRET,
    sandboxUnitsPerMonth: parsed.SANDBOX_UNITS_PER_MONTH,
    sandboxHabits: parsed.SANDBOX_HABITS,
    guard: onlyGuardSettings(given),
  }
}

/** Also checks the settings that protect a guard that people rely on. @throws as `readSettings` */
export function readServedSettings(env: Environment): LocalSettings {
  const given = withGivenSecrets(env)
  const { HOST: host, PUBLIC_URL: publicUrl } = parseSettings(servedSettings, given)
  if (!isLoopback(host) && publicUrl === undefined)
    throw new WrongSettings(
      `PUBLIC_URL: must be the address that people use, such as https://units.example, because HOST is ${host}`,
    )
  // The default secret is public. A random secret refuses every request of Slack until a secret is set.
  const { SLACK_SIGNING_SECRET: signingSecret = randomBytes(32).toString('hex') } = given
  return { ...readSettings({ ...given, SLACK_SIGNING_SECRET: signingSecret }), host }
}

export function completeSettings(local: LocalSettings, found: Environment) {
  const text = { ...local.guard, ...found }
  return { settings: parseSettings(guardSettings, { ...text, ...inFile }), text }
}

export const sandboxUrl = (port: number): string => `http://127.0.0.1:${port}/v3`

/** With a ledger in memory, the env file and the log still need a folder, which no other ledger uses. */
export function directoryOf(env: Environment): string {
  const [isMemory, port = env.PORT] = inMemory.exec(env.DATA_DIR ?? '') ?? []
  return isMemory === undefined ? dataDirOf(env) : memoryAt(port).directory
}

/** A ledger in the memory of the process with this port. */
export function memoryAt(port: string | number = defaults.PORT): { DATA_DIR: string; directory: string } {
  const isUsual = String(port) === defaults.PORT
  const [DATA_DIR, folder] = isUsual ? ['memory', 'memory'] : [`memory:${port}`, `memory-${port}`]
  return { DATA_DIR, directory: join(defaultDirectory, folder) }
}

/** A user's own service gets its own ledger, because the sandbox's ledger counts units that no service charged. */
function dataDirOf({ DATA_DIR: given, TRACKING_BASE_URL: service }: Environment): string {
  if (given) return given
  return service && URL.canParse(service) ? join(defaultDirectory, new URL(service).hostname) : defaultDirectory
}

const onlyGuardSettings = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name in guardSettings.shape && !(name in inFile)))

const segment = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Public. A JWT with an expiry, like a real one. */
export const sandboxToken = [
  segment({ alg: 'none' }),
  segment({ sub: 'sandbox', exp: Date.UTC(2099, 11, 31) / 1000 }),
  'only-for-the-sandbox',
].join('.')
