import * as z from 'zod/mini'
import { type LosableOption, losableOptions } from '../shared/guard/deployed-options.ts'
import { refuseMisspelt } from '../shared/platform/misspelt.ts'
import { matching, parseSettings, WrongSettings, wholeNumber } from '../shared/platform/settings.ts'
import { checkDeployment } from './deployment.ts'
import { type DeploymentProps, type EdgeOptions, propOf, settingNames, settingsOfConstructs } from './props.ts'

type Environment = Readonly<Record<string, string | undefined>>

const trueOrFalse = z.pipe(
  z.enum(['true', 'false'], 'must be true or false'),
  z.transform((text) => text === 'true'),
)

const onOrOff = z.pipe(
  z.enum(['on', 'off'], 'must be on or off'),
  z.transform((text) => text === 'on'),
)

/** `checkDeployment` checks the number. */
const numberText = z.optional(z.pipe(z.string(), z.transform(Number)))

const anOption = losableOptions.join('|')

/** Options of `-c` and `cdk.json`. */
const options = z.object({
  /** Deploys a stand-in, which the guard calls instead of the service. */
  sandbox: z._default(trueOrFalse, false),
  /** Reserves concurrency. Off by default, because synth cannot see the quota: new AWS accounts cannot reserve any. */
  reserve: z._default(onOrOff, false),
  alarmEmail: z.optional(z.string().check(z.regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address'))),
  awsBudget: numberText,
  maxTableReads: numberText,
  maxTableWrites: numberText,
  ledgerTable: z.optional(z.string().check(z.regex(/^[\w.-]{3,255}$/, 'must be the name of a table'))),
  firstLedger: z._default(trueOrFalse, false),
  /** Options that this deployment is without on purpose. */
  without: z.optional(
    z.pipe(
      matching(
        new RegExp(`^(${anOption})(,(${anOption}))*$`),
        `must name some of ${losableOptions.join(', ')}, with commas between them`,
      ),
      z.transform((text) => text.split(',') as LosableOption[]),
    ),
  ),
  /** Uses the secrets that an earlier stack has left, because AWS refuses names in use. */
  secrets: z.optional(z.enum(['existing'], 'must be existing, or unset')),
  ledgerStream: z.optional(
    z.string().check(z.regex(/^arn:[\w-]+:dynamodb:[^/]+:table\/[^/]+\/stream\/\S+$/, 'must be the ARN of its stream')),
  ),
})

/** Options of the stack `Edge`. */
const edgeOptions = z.object({
  domain: z.optional(z.string()),
  hostedZone: z.optional(z.string().check(z.regex(/^Z[A-Z0-9]{5,31}$/, 'must be the id of a hosted zone'))),
  certificate: z.optional(
    z
      .string()
      .check(
        z.regex(/^arn:aws:acm:us-east-1:\d{12}:certificate\/[\w-]+$/, 'must be the ARN of a certificate in us-east-1'),
      ),
  ),
  edgeRequests: z.optional(wholeNumber('must be a whole number of requests from 10 to 2000000000', 10, 2_000_000_000)),
  originVersion: z.optional(z.string().check(z.regex(/^[\w-]{32,64}$/, 'must be the id of a version of the secret'))),
  /** Functions also answer at their own addresses. */
  openUrls: z._default(trueOrFalse, false),
})

const allOptions = { ...options.shape, ...edgeOptions.shape }
export const optionNames = Object.keys(allOptions)

/**
 * Reads and checks the variables of the shell and the options of the command.
 *
 * @throws WrongSettings, WrongFile
 */
export function readProps(
  env: Environment,
  context: (name: string) => unknown,
  names: readonly string[] = [],
): DeploymentProps {
  refuseUnknown(names)
  refuseMisspelt('variables', Object.keys(env), [...settingNames, ...settingsOfConstructs, ...localVariables])
  const {
    ledgerTable: table,
    ledgerStream: stream,
    reserve,
    alarmEmail,
    awsBudget,
    maxTableReads,
    maxTableWrites,
    secrets,
    without,
    ...others
  } = parseSettings(options, contextOf(context))
  const { domain, openUrls } = parseSettings(edgeOptions, contextOf(context))
  if ((table === undefined) !== (stream === undefined))
    throw new WrongSettings('ledgerTable and ledgerStream: set both, to the restored table and its stream, or neither')
  const settings = settingNames.filter((name) => env[name]).map((name) => [propOf(name), env[name]])
  const props: DeploymentProps = {
    // The values are text, even if the prop is a number. The check refuses text that is not a number.
    ...(Object.fromEntries(settings) as Pick<DeploymentProps, 'accountUnitsPerMonth'>),
    ...(env.GUARD_PREFIX && { prefix: env.GUARD_PREFIX }),
    ...(table !== undefined && stream !== undefined && { restored: { table, stream } }),
    ...(alarmEmail !== undefined && { alarmEmail }),
    ...definedOf({ awsBudget, maxTableReads, maxTableWrites }),
    ...(domain !== undefined && { domain }),
    ...(without && { without }),
    reserveConcurrency: reserve,
    openUrls,
    existingSecrets: secrets === 'existing',
    ...others,
  }
  checkDeployment(props)
  return props
}

/**
 * @returns `null` if the guard has no domain.
 *
 * @throws WrongSettings
 */
export function readEdge(context: (name: string) => unknown): EdgeOptions | null {
  const { openUrls: _, domain, edgeRequests, ...given } = parseSettings(edgeOptions, contextOf(context))
  const { hostedZone, certificate, originVersion } = given
  if (domain === undefined) {
    const [alone] = Object.keys(definedOf({ ...given, edgeRequests }))
    if (alone !== undefined) throw new WrongSettings(`${alone}: must be unset without a domain`)
    return null
  }
  if ((hostedZone === undefined) === (certificate === undefined))
    throw new WrongSettings(
      'domain: needs either hostedZone, which then gets its certificate and records, or certificate, an ARN in us-east-1',
    )
  return { domain, ...definedOf({ hostedZone, certificate, originVersion, requestsPerAddress: edgeRequests }) }
}

const definedOf = <Given extends object>(given: Given) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Given]?: Exclude<Given[Name], undefined>
  }

/** A shell that has sourced the env file of `npm start` has these variables. */
const localVariables = [
  'PORT',
  'DATA_DIR',
  'DEMO',
  'SANDBOX_PORT',
  'SANDBOX_TABLE',
  'SANDBOX_URL',
  'SANDBOX_TOKEN',
  'SANDBOX_UNITS_PER_MONTH',
  'SANDBOX_HABITS',
  'TRACKING_TOKEN',
  'SLACK_SIGNING_SECRET',
  'SLACK_WEBHOOK_URL',
  'SLACK_BOT_TOKEN',
  'LOGIN_CLIENT',
  'UNIT_GUARD_URL',
  'GUARD_PREFIX',
  'UNIT_GUARD_TOKEN',
]

/** Names with a colon belong to the CDK. */
function refuseUnknown(names: readonly string[]): void {
  const unknown = names.filter((name) => !name.includes(':') && !optionNames.includes(name))
  if (unknown.length > 0)
    throw new WrongSettings(
      `these options (-c, cdk.json) are not known: ${unknown.join(', ')}; there are ${optionNames.join(', ')}`,
    )
}

const contextOf = (context: (name: string) => unknown): Environment =>
  Object.fromEntries(optionNames.map((name) => [name, context(name)?.toString()]))
