import * as z from 'zod/mini'
import { mcpSettings } from '../functions/mcp/settings.ts'
import { type Issuer, readTrustedIssuers } from '../shared/auth/issuers-file.ts'
import { readTargets, type Target, WrongTargets } from '../shared/events/targets-file.ts'
import { unitPriceOf } from '../shared/guard/money.ts'
import {
  deploymentSettings,
  firstDeploymentSettings,
  type GuardSettings,
  guardSettings,
} from '../shared/guard/options.ts'
import { type Plan, readPlans } from '../shared/guard/plans/plans-file.ts'
import { isLoopback } from '../shared/platform/http.ts'
import { refuseMisspelt } from '../shared/platform/misspelt.ts'
import { mustFitLimit, parseSettings, WrongSettings } from '../shared/platform/settings.ts'
import type { SettingsFiles } from './bundle.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface Deployment {
  readonly settings: Readonly<Record<string, string>>
  readonly plans: readonly Plan[]
  readonly eventTargets: readonly Target[]
  readonly files: SettingsFiles
  /** Under which agents reach the MCP function; without it, its function URL. */
  readonly publicUrl: string | undefined
  readonly options: Options
}

const trueOrFalse = z.pipe(
  z.enum(['true', 'false'], 'must be true or false'),
  z.transform((text) => text === 'true'),
)

const onOrOff = z.pipe(
  z.enum(['on', 'off'], 'must be on or off'),
  z.transform((text) => text === 'on'),
)

/** Options of `-c` and `cdk.json`. */
const options = z.object({
  /** Deploys a stand-in, which the guard calls instead of the service. */
  sandbox: z._default(trueOrFalse, false),
  /** Reserves concurrency. Off by default, because synth cannot see the quota: new AWS accounts cannot reserve any. */
  reserve: z._default(onOrOff, false),
  alarmEmail: z.optional(z.string().check(z.regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address'))),
  ledgerTable: z.optional(z.string().check(z.regex(/^[\w.-]{3,255}$/, 'must be the name of a table'))),
  firstLedger: z._default(trueOrFalse, false),
  ledgerStream: z.optional(
    z.string().check(z.regex(/^arn:[\w-]+:dynamodb:[^/]+:table\/[^/]+\/stream\/\S+$/, 'must be the ARN of its stream')),
  ),
})

type Options = z.output<typeof options>

/** Set by the constructs; values from the shell are for `npm start`. */
const settingsOfConstructs = [
  ...['TABLE_NAME', 'DYNAMODB_ENDPOINT', 'DYNAMODB_ACCESS_KEY', 'LEDGER_SERVICE', 'LEDGER_MARKER'],
  ...['PLANS', 'TRUSTED_ISSUERS', 'EVENT_TARGETS'],
  ...[
    'SECRETS_ENDPOINT',
    'SECRETS_ACCESS_KEY',
    'SERVICE_TOKEN_SECRET',
    'CALLER_KEY_SECRET',
    'SLACK_SECRET',
    'LOGIN_CLIENT_SECRET',
    'SLACK_API_URL',
  ],
]
const unknownYet = 'https://sandbox.invalid/v3'

/** Uses the schemas of the functions, so that what is deployed can start. @throws WrongSettings, WrongPlans, WrongIssuers, WrongTargets */
export function readDeployment(
  env: Environment,
  context: (name: string) => unknown,
  names: readonly string[] = [],
): Deployment {
  refuseUnknown(names)
  refuseMisspelt('variables', Object.keys(env), [
    ...Object.keys(guardSettings.shape),
    ...Object.keys(mcpSettings.shape),
    ...localVariables,
  ])
  const wanted = parseSettings(options, contextOf(context))
  const { sandbox, ledgerTable, ledgerStream } = wanted
  if (sandbox && env.TRACKING_BASE_URL) {
    throw new WrongSettings('TRACKING_BASE_URL: is not taken with -c sandbox=true, whose address it would be')
  }
  if ((ledgerTable === undefined) !== (ledgerStream === undefined)) {
    throw new WrongSettings('ledgerTable and ledgerStream: take the restored table and its stream, both or neither')
  }
  if (ledgerStream !== undefined && ledgerStream.split('/')[1] !== ledgerTable) {
    throw new WrongSettings(
      'ledgerStream: must be the stream of the table that ledgerTable names, and names another table',
    )
  }
  if (wanted.firstLedger && ledgerTable !== undefined) {
    throw new WrongSettings('firstLedger: is not taken with ledgerTable: a restored table holds a ledger already')
  }
  const given = { ...env, ...(sandbox && { TRACKING_BASE_URL: unknownYet }) }
  const own = Object.entries(given).filter(
    ([name]) => name in guardSettings.shape && !settingsOfConstructs.includes(name),
  )
  const schema = wanted.firstLedger ? firstDeploymentSettings : deploymentSettings
  const parsed = parseSettings(schema, { ...Object.fromEntries(own), TABLE_NAME: 'is made here' })
  mustFitLimit(parsed, parsed.ACCOUNT_UNITS_PER_MONTH)
  unitPriceOf(parsed)
  const { PUBLIC_URL } = parseSettings(mcpSettings, { PUBLIC_URL: env.PUBLIC_URL || undefined })
  const { TRACKING_BASE_URL, DASHBOARD_URL } = parsed
  for (const [name, address] of Object.entries({ TRACKING_BASE_URL, DASHBOARD_URL, PUBLIC_URL }))
    if (address?.startsWith('http:'))
      throw new WrongSettings(
        `${name}: must be an https address on AWS: with http its secrets cross networks in clear text`,
      )
  const files = {
    PLANS: env.PLANS || undefined,
    TRUSTED_ISSUERS: env.TRUSTED_ISSUERS || undefined,
    EVENT_TARGETS: env.EVENT_TARGETS || undefined,
  }
  mustFitAws(readTrustedIssuers({ ...parsed, TRUSTED_ISSUERS: files.TRUSTED_ISSUERS }), parsed)
  const eventTargets = readTargets({ ...parsed, EVENT_TARGETS: files.EVENT_TARGETS })
  mustReachFromAws(eventTargets)
  return {
    settings: Object.fromEntries(own.flatMap(([name, value]) => (value ? [[name, value]] : []))),
    plans: readPlans(files.PLANS),
    eventTargets,
    files,
    publicUrl: PUBLIC_URL,
    options: wanted,
  }
}

/** A shell that has sourced the env file of `npm start` has these. */
const localVariables = [
  ...['PORT', 'DATA_DIR', 'DEMO', 'SANDBOX_PORT', 'SANDBOX_TABLE', 'SANDBOX_URL', 'SANDBOX_TOKEN'],
  'SANDBOX_UNITS_PER_MONTH',
  ...[
    'TRACKING_TOKEN',
    'SLACK_SIGNING_SECRET',
    'SLACK_WEBHOOK_URL',
    'SLACK_BOT_TOKEN',
    'LOGIN_CLIENT',
    'UNIT_GUARD_URL',
    'UNIT_GUARD_TOKEN',
  ],
]

function mustFitAws(issuers: readonly Issuer[], { LOGIN_ISSUER, DASHBOARD_URL }: GuardSettings): void {
  const inClear = issuers.find(({ issuer }) => issuer.startsWith('http:'))
  if (inClear) throw new WrongSettings(`TRUSTED_ISSUERS: the issuer of ${inClear.name} must be an https address on AWS`)
  // A function cannot have its own URL as a setting, and its requests must not say where the issuer leads people to.
  if (LOGIN_ISSUER !== undefined && DASHBOARD_URL === undefined)
    throw new WrongSettings(
      'DASHBOARD_URL: is needed with LOGIN_ISSUER, which leads people back there; it is the output DashboardUrl of a deployment without LOGIN_ISSUER, or a name of yours for it',
    )
}

function mustReachFromAws(targets: readonly Target[]): void {
  const here = targets.find((target) => target.kind === 'webhook' && isLoopback(new URL(target.url).hostname))
  if (here) throw new WrongTargets(`the url of ${here.name} must be an https address on AWS, not one of this machine`)
}

/** Names with a colon belong to the CDK. */
function refuseUnknown(names: readonly string[]): void {
  const known = Object.keys(options.shape)
  const unknown = names.filter((name) => !name.includes(':') && !known.includes(name))
  if (unknown.length > 0)
    throw new WrongSettings(
      `these options (-c, cdk.json) are not known: ${unknown.join(', ')}; there are ${known.join(', ')}`,
    )
}

const contextOf = (context: (name: string) => unknown): Environment =>
  Object.fromEntries(Object.keys(options.shape).map((name) => [name, context(name)?.toString()]))
