import * as z from 'zod/mini'
import { deploymentSettings, firstDeploymentSettings, guardSettings } from '../shared/guard/options.ts'
import { type Plan, readPlans } from '../shared/guard/plans/plans-file.ts'
import { refuseMisspelt } from '../shared/platform/misspelt.ts'
import { mustFitLimit, parseSettings, WrongSettings } from '../shared/platform/settings.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The settings of one deployment, checked as a whole before anything is synthesized. */
export interface Deployment {
  /** Settings of the guard as text, as the environment of a function carries them. */
  readonly settings: Readonly<Record<string, string>>
  readonly plans: readonly Plan[]
  /** The file that they are in, where there is one. */
  readonly plansFile: string | undefined
  readonly options: Options
}

/** What `-c <name>=<value>` may say, and `cdk.json` too. */
const options = z.object({
  /** A stand-in of the service is deployed beside the guard, which then talks to nothing else. */
  sandbox: z._default(oneOf({ true: true, false: false }, 'takes true or false'), false),
  /** For each function. Accounts that are new cannot spare any. */
  reservedConcurrency: z.optional(
    z.pipe(z.string().check(z.regex(/^[1-9]\d{0,3}$/, 'takes a whole number from 1 to 9999')), z.transform(Number)),
  ),
  alarmEmail: z.optional(z.string().check(z.regex(/^[^\s@]+@[^\s@]+$/, 'takes an e-mail address'))),
  /** A table that was restored from a backup, to be used instead of the stack's own, and its stream. */
  ledgerTable: z.optional(z.string().check(z.regex(/^[\w.-]{3,255}$/, 'takes the name of a table'))),
  /** The first deployment says so: all others take the marker of the ledger from the parameter, and fail where it is missing. */
  firstLedger: z._default(oneOf({ true: true, false: false }, 'takes true or false'), false),
  ledgerStream: z.optional(
    z.string().check(z.regex(/^arn:[\w-]+:dynamodb:[^/]+:table\/[^/]+\/stream\/\S+$/, 'takes the ARN of its stream')),
  ),
})

type Options = z.output<typeof options>

function oneOf<T>(values: Readonly<Record<string, T>>, takes: string) {
  return z.pipe(
    z.string(takes).check(z.refine((text) => Object.hasOwn(values, text), takes)),
    z.transform((text) => values[text] as T),
  )
}

/** The constructs bind these to what they make; whatever the shell says about them is meant for one machine. */
const madeHere = [
  'TABLE_NAME',
  'DYNAMODB_ENDPOINT',
  'DYNAMODB_ACCESS_KEY',
  'LEDGER_SERVICE',
  'LEDGER_MARKER',
  'SECRETS_ENDPOINT',
  'SECRETS_ACCESS_KEY',
  'SERVICE_TOKEN_SECRET',
  'CALLER_KEY_SECRET',
  'SLACK_SECRET',
  'PLANS',
]
/** The address of a stand-in is known once it is deployed. */
const unknownYet = 'https://sandbox.invalid/v3'

/**
 * Reads what the functions will read, by their own schemas, so that a deployment that could not start is never made.
 *
 * @param context what the CDK was given by `-c`: texts, or values of `cdk.json`.
 * @param names all that it was given.
 * @throws WrongSettings, WrongPlans: one sentence that names everything that is wrong.
 */
export function readDeployment(
  env: Environment,
  context: (name: string) => unknown,
  names: readonly string[] = [],
): Deployment {
  refuseUnknown(names)
  refuseMisspelt('variables', Object.keys(env), [...Object.keys(guardSettings.shape), ...ofOneMachine])
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
      'ledgerStream: takes the stream of the table that ledgerTable names, and names another table',
    )
  }
  if (wanted.firstLedger && ledgerTable !== undefined) {
    throw new WrongSettings('firstLedger: is not taken with ledgerTable: a restored table holds a ledger already')
  }
  const given = { ...env, ...(sandbox && { TRACKING_BASE_URL: unknownYet }) }
  const own = Object.entries(given).filter(([name]) => name in guardSettings.shape && !madeHere.includes(name))
  const schema = wanted.firstLedger ? firstDeploymentSettings : deploymentSettings
  const parsed = parseSettings(schema, { ...Object.fromEntries(own), TABLE_NAME: 'is made here' })
  mustFitLimit(parsed, parsed.ACCOUNT_UNITS_PER_MONTH)
  for (const name of ['TRACKING_BASE_URL', 'DASHBOARD_URL'] as const)
    if (parsed[name]?.startsWith('http:'))
      throw new WrongSettings(
        `${name}: takes an https address on AWS: with http its secrets cross networks in clear text`,
      )
  const plansFile = env.PLANS || undefined
  return {
    settings: Object.fromEntries(own.flatMap(([name, value]) => (value ? [[name, value]] : []))),
    plans: readPlans(plansFile),
    plansFile,
    options: wanted,
  }
}

/** What only `npm start` and its commands read; in the shell of a deployment they mean nothing, and are no mistake. */
const ofOneMachine = [
  ...[
    'PORT',
    'SANDBOX_PORT',
    'SANDBOX_TABLE',
    'SANDBOX_URL',
    'SANDBOX_TOKEN',
    'SANDBOX_UNITS_PER_MONTH',
    'DATA_DIR',
    'DEMO',
  ],
  ...['TRACKING_TOKEN', 'SLACK_SIGNING_SECRET', 'SLACK_WEBHOOK_URL', 'UNIT_GUARD_URL', 'UNIT_GUARD_TOKEN'],
]

/** The CDK's own names have a colon in them. */
function refuseUnknown(names: readonly string[]): void {
  const known = Object.keys(options.shape)
  const unknown = names.filter((name) => !name.includes(':') && !known.includes(name))
  if (unknown.length > 0)
    throw new WrongSettings(
      `these options (-c, cdk.json) are not known: ${unknown.join(', ')}; there are ${known.join(', ')}`,
    )
}

const contextOf = (context: (name: string) => unknown): Environment =>
  Object.fromEntries(
    Object.keys(options.shape).map((name) => {
      const value = context(name)
      return [name, value === undefined || value === null ? undefined : String(value)]
    }),
  )
