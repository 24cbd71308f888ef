import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod/mini'
import { sandboxSettings } from '../../functions/sandbox/settings.ts'
import { type GuardSettings, guardSettings } from '../../shared/guard/options.ts'
import { usualAccount } from '../../shared/ledger/identity.ts'
import { refuseMisspelt } from '../../shared/platform/misspelt.ts'
import { mustFitLimit, parseSettings } from '../../shared/platform/settings.ts'
import { targetOf } from '../../shared/slack/tell/client.ts'
import { productKinds } from '../../shared/tracking/kinds.ts'
import { isUsableToken } from '../../shared/tracking/transport.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The settings of `npm start`, checked as a whole before anything is started. */
export interface LocalSettings {
  readonly port: number
  /** `null`: there is no sandbox, because a service was given. */
  readonly sandboxPort: number | null
  /** Where the ledger and the caller key are kept; `null`: nowhere. */
  readonly keptIn: string | null
  /** Where the env file and the log are. */
  readonly directory: string
  readonly demonstrates: boolean
  /** The service's token, where there is one. */
  readonly serviceToken: string | null
  readonly slack: LocalSlack
  /** The plans that come with the sandbox, unless others were given; `null`: only what is given. */
  readonly ownPlans: string | null
  readonly table: string
  readonly sandboxTable: string
  readonly sandboxUnitsPerMonth: number
  /** A DynamoDB that runs already. */
  readonly dynamoDb: string | undefined
  readonly dynamoDbKey: string | undefined
  /** Settings of the guard as text, as far as they are known before anything runs. */
  readonly guard: Environment
}

/** What Slack and the guard share on this machine. */
export interface LocalSlack {
  readonly signingSecret: string
  /** Without it announcements go to the terminal. */
  readonly webhookUrl?: string
}

/** It opens nothing but a guard on this machine, so it may be known. */
export const localSigningSecret = 'local-slack-signing-secret'

const plansFile = fileURLToPath(new URL('./plans.json', import.meta.url))

export const defaultDirectory = '.local'

/** docs/settings.md lists them; a new ledger takes its account settings from `usualAccount`. */
const defaults = {
  PORT: '8787',
  SANDBOX_PORT: '8788',
  TABLE_NAME: 'unit-guard',
  SERVICE_TIMEOUT_MS: '20000',
  SERVICE_FLIGHT_MS: '300000',
  ...Object.fromEntries(Object.values(productKinds).map(({ settings, cooldown }) => [settings.cooldown, cooldown])),
  SLACK_SIGNING_SECRET: localSigningSecret,
} satisfies Environment

/** 0 takes any free port. */
const port = z.pipe(
  z
    .string()
    .check(z.refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, 'takes a port, 0 to 65535 (0: any)')),
  z.transform(Number),
)

const localSettings = z.object({
  ...guardSettings.shape,
  ...sandboxSettings.shape,
  PORT: port,
  SANDBOX_PORT: port,
  DATA_DIR: z.string(),
  DEMO: z.optional(z.enum(['on', 'off'], 'takes on or off')),
  SLACK_SIGNING_SECRET: z.string(),
  SLACK_WEBHOOK_URL: z.optional(
    z
      .string()
      .check(z.refine(isWebhook, 'takes the address of an incoming webhook: https://hooks.slack.com/services/…')),
  ),
  TRACKING_TOKEN: z.optional(z.string().check(z.refine(isUsableToken, 'takes visible ASCII characters'))),
})

/** Read by the commands and the users of the stand-in. */
const ofOthers = [
  'UNIT_GUARD_URL',
  'UNIT_GUARD_TOKEN',
  'UNIT_GUARD_PID',
  'SANDBOX_URL',
  'SANDBOX_TOKEN',
  'FOUND_HERE',
  'LEDGER',
]

function isWebhook(text: string): boolean {
  return targetOf(text, { allowLoopback: true }) !== null
}

/** @throws WrongSettings naming every setting that is wrong. */
export function readSettings(env: Environment): LocalSettings {
  refuseMisspelt('variables', Object.keys(env), [...Object.keys(localSettings.shape), ...ofOthers])
  const given = {
    ...defaults,
    DATA_DIR: dataDirOf(env),
    // How the stand-in reads it; for a service of one's own it is unknown.
    ...(env.TRACKING_BASE_URL ? {} : { PROJECT_SEPARATOR: ',' }),
    ...Object.fromEntries(Object.entries(env).filter(([, value]) => value)),
  }
  const ownService = env.TRACKING_BASE_URL ? env.TRACKING_BASE_URL : null
  // The sandbox's address is checked in its place: its real port may not be known yet.
  const parsed = parseSettings(localSettings, { TRACKING_BASE_URL: sandboxUrl(0), ...given })
  mustFitLimit(parsed, usualAccount.unitsPerMonth)
  const keepsNothing = parsed.DATA_DIR === 'memory'
  return {
    port: parsed.PORT,
    sandboxPort: ownService === null ? parsed.SANDBOX_PORT : null,
    keptIn: keepsNothing ? null : parsed.DATA_DIR,
    directory: directoryOf(env),
    demonstrates: ownService === null && parsed.DEMO !== 'off',
    serviceToken: parsed.TRACKING_TOKEN ?? (ownService === null ? sandboxToken : null),
    slack: {
      signingSecret: parsed.SLACK_SIGNING_SECRET,
      ...(parsed.SLACK_WEBHOOK_URL !== undefined && { webhookUrl: parsed.SLACK_WEBHOOK_URL }),
    },
    ownPlans: ownService === null && parsed.PLANS === undefined ? plansFile : null,
    table: parsed.TABLE_NAME,
    // Beside the ledger: two of them on one DynamoDB have a sandbox each.
    sandboxTable: env.SANDBOX_TABLE ? parsed.SANDBOX_TABLE : `${parsed.TABLE_NAME}-sandbox`,
    sandboxUnitsPerMonth: parsed.SANDBOX_UNITS_PER_MONTH,
    dynamoDb: parsed.DYNAMODB_ENDPOINT,
    dynamoDbKey: parsed.DYNAMODB_ACCESS_KEY,
    guard: onlyGuardSettings(given),
  }
}

/** The settings of the guard once everything that it talks to is up. */
export function completeSettings(
  local: LocalSettings,
  found: Environment,
): { settings: GuardSettings; text: Environment } {
  const text = { ...local.guard, ...found }
  return { settings: parseSettings(guardSettings, text), text }
}

export const sandboxUrl = (port: number): string => `http://127.0.0.1:${port}/v3`

/** `memory` keeps no ledger, but the env file and the log have to be somewhere. */
export const directoryOf = (env: Environment): string => (env.DATA_DIR === 'memory' ? defaultDirectory : dataDirOf(env))

/** A service of one's own has a ledger of its own: that of the trial counts units that no service has charged. */
function dataDirOf({ DATA_DIR: given, TRACKING_BASE_URL: service }: Environment): string {
  if (given) return given
  return service && URL.canParse(service) ? join(defaultDirectory, new URL(service).hostname) : defaultDirectory
}

const onlyGuardSettings = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name in guardSettings.shape))

const segment = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/**
 * The token that the sandbox takes unless told otherwise. It opens nothing but a sandbox on this machine, so it may be
 * known; it looks like a real one (a JWT that states when it ends), so that everything that reads one is exercised.
 */
export const sandboxToken = [
  segment({ alg: 'none' }),
  segment({ sub: 'sandbox', exp: Date.UTC(2099, 11, 31) / 1000 }),
  'only-for-the-sandbox',
].join('.')
