import { unitPricesOf } from '../shared/guard/money.ts'
import {
  deploymentSettings,
  firstDeploymentSettings,
  type GuardSettings,
  mcpSettings,
} from '../shared/guard/options.ts'
import type { Plan } from '../shared/guard/plans-file.ts'
import { isLoopback } from '../shared/platform/http.ts'
import { isPrefix, usualPrefix } from '../shared/platform/prefix.ts'
import { mustFitLimit, parseSettings, WrongSettings } from '../shared/platform/settings.ts'
import { WrongFile } from '../shared/platform/settings-file.ts'
import type { SettingsFiles } from './code.ts'
import { type DeploymentProps, deployedOptions, propOf, settingNames, settingsOf } from './props.ts'
import { type Issuer, settingsFiles, type Target } from './settings-files.ts'

export interface Deployment {
  readonly prefix: string
  /** The settings of the functions, as text. */
  readonly settings: Readonly<Record<string, string>>
  readonly plans: readonly Plan[]
  readonly eventTargets: readonly Target[]
  readonly files: SettingsFiles
  /** The address at which agents reach the MCP function. Default: its function URL. */
  readonly publicUrl: string | undefined
  /** Which secrets are needed in addition to the secrets of every guard. */
  readonly has: { readonly login: boolean; readonly edge: boolean }
}

const unknownYet = 'https://sandbox.invalid/v3'

/**
 * Checks with the schemas of the functions, so that deployed functions can start.
 *
 * @throws WrongSettings, WrongFile
 */
export function checkDeployment(props: DeploymentProps): Deployment {
  const { prefix = usualPrefix, firstLedger = false, sandbox = false } = props
  if (!isPrefix(prefix))
    throw new WrongSettings('GUARD_PREFIX: must have 1 to 24 of a-z, 0-9 and -, such as unit-guard-dev')
  const given = withDomain(props, settingsOf(props))
  mustHaveOneService(props, given)
  mustHaveOneTable(props)
  mustHaveOneTopic(props)
  mustBeWhole(props)
  mustBeWithout(props)
  if (props.removalPolicy && !['retain', 'destroy'].includes(props.removalPolicy))
    throw new WrongSettings('removalPolicy: must be RETAIN or DESTROY')
  const schema = firstLedger ? firstDeploymentSettings : deploymentSettings
  const service = sandbox && { TRACKING_BASE_URL: unknownYet }
  const parsed = parseSettings(schema, { ...given, ...service, TABLE_NAME: 'is made here' })
  mustFitLimit(parsed, parsed.ACCOUNT_UNITS_PER_MONTH)
  unitPricesOf(parsed)
  const { PUBLIC_URL } = parseSettings(mcpSettings, given)
  const { TRACKING_BASE_URL, DASHBOARD_URL } = parsed
  for (const [name, address] of Object.entries({ TRACKING_BASE_URL, DASHBOARD_URL, PUBLIC_URL }))
    if (address?.startsWith('http:'))
      throw new WrongSettings(
        `${name}: must be an https address on AWS: with http its secrets cross networks in clear text`,
      )
  const { PLANS, TRUSTED_ISSUERS, EVENT_TARGETS, PUBLIC_URL: _, ...settings } = given
  mustFitAws(settingsFiles.issuers(parsed), parsed)
  const eventTargets = settingsFiles.targets(parsed)
  mustReachFromAws(eventTargets)
  mustBeginWith(prefix, eventTargets)
  return {
    prefix,
    eventTargets,
    plans: settingsFiles.plans(PLANS),
    publicUrl: PUBLIC_URL,
    settings: { ...settings, ...service },
    files: { PLANS, TRUSTED_ISSUERS, EVENT_TARGETS },
    has: { login: parsed.LOGIN_ISSUER !== undefined, edge: props.domain !== undefined },
  }
}

/**
 * Checks the props of an app: errors name props in place of settings.
 *
 * @throws WrongSettings, WrongFile
 */
export function checkProps(props: DeploymentProps): Deployment {
  try {
    return checkDeployment(props)
  } catch (error) {
    if (!(error instanceof WrongSettings)) throw error
    throw new WrongSettings(error.message.replace(/\w+/g, (word) => otherNames[word] ?? word))
  }
}

/** The props by their names in the shell. */
const otherNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(settingNames.map((name) => [name, propOf(name)])),
  GUARD_PREFIX: 'prefix',
  ledgerTable: 'restored.table',
  ledgerStream: 'restored.stream',
}

const domainName = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/

/** With a domain, pages and agents have the address of the edge. */
function withDomain(
  { domain, openUrls }: DeploymentProps,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (domain === undefined) {
    if (openUrls) throw new WrongSettings('openUrls: must be unset without a domain')
    return given
  }
  if (!domainName.test(domain)) throw new WrongSettings('domain: must be a name such as guard.example.com')
  const address = `https://${domain}`
  for (const name of ['DASHBOARD_URL', 'PUBLIC_URL'])
    if (given[name] !== undefined) throw new WrongSettings(`${name}: must be unset with a domain, which sets it`)
  return { ...given, DASHBOARD_URL: address, PUBLIC_URL: address }
}

function mustHaveOneService(
  { sandbox }: DeploymentProps,
  { TRACKING_BASE_URL }: Readonly<Record<string, string>>,
): void {
  if (sandbox && TRACKING_BASE_URL !== undefined)
    throw new WrongSettings('TRACKING_BASE_URL: must be unset with sandbox, which sets it')
}

function mustHaveOneTable({ restored, firstLedger }: DeploymentProps): void {
  if (restored && restored.stream.split('/')[1] !== restored.table)
    throw new WrongSettings(
      'ledgerStream: must be the stream of the table in ledgerTable; it is the stream of another table',
    )
  if (restored && firstLedger)
    throw new WrongSettings('firstLedger: must be unset with ledgerTable: a restored table holds a ledger already')
}

function mustHaveOneTopic({ alarmTopic, alarmEmail, awsBudget }: DeploymentProps): void {
  if (alarmTopic && alarmEmail !== undefined)
    throw new WrongSettings('alarmEmail: must be unset with alarmTopic: subscribe the address to that topic')
  if (awsBudget !== undefined && !alarmTopic && alarmEmail === undefined)
    throw new WrongSettings('awsBudget: needs alarmEmail (or alarmTopic in an app), which gets the warnings')
}

/** Below the minima of reads and writes, a table is too slow for one large book. */
const wholeNumbers = {
  awsBudget: { least: 1, most: 1_000_000, what: 'US dollars a month' },
  maxTableReads: { least: 500, most: 1_000_000, what: 'read units a second' },
  maxTableWrites: { least: 500, most: 1_000_000, what: 'write units a second' },
} as const

function mustBeWhole(props: DeploymentProps): void {
  for (const name of Object.keys(wholeNumbers) as (keyof typeof wholeNumbers)[]) {
    const { least, most, what } = wholeNumbers[name]
    const value = props[name]
    if (value !== undefined && !(Number.isInteger(value) && value >= least && value <= most))
      throw new WrongSettings(`${name}: must be a whole number of ${what} from ${least} to ${most}`)
  }
}

function mustBeWithout(props: DeploymentProps): void {
  const deployed = deployedOptions(props)
  const given = props.without?.find((name) => deployed[name] === 'given')
  if (given !== undefined) throw new WrongSettings(`without: must not name ${given}, which this deployment has`)
}

function mustFitAws(issuers: readonly Issuer[], { LOGIN_ISSUER, DASHBOARD_URL }: GuardSettings): void {
  const inClear = issuers.find(({ issuer }) => issuer.startsWith('http:'))
  if (inClear) throw new WrongSettings(`TRUSTED_ISSUERS: the issuer of ${inClear.name} must be an https address on AWS`)
  // A function cannot have its own URL as a setting, and a request must not choose where the issuer sends people.
  if (LOGIN_ISSUER !== undefined && DASHBOARD_URL === undefined)
    throw new WrongSettings(
      'DASHBOARD_URL: is needed with LOGIN_ISSUER, which sends people back to it: set the output DashboardUrl of a deployment without LOGIN_ISSUER, or your own name for it',
    )
}

function mustReachFromAws(targets: readonly Target[]): void {
  const here = targets.find(({ url }) => isLoopback(new URL(url).hostname))
  if (here) throw new WrongFile(`the url of ${here.name} must be an https address on AWS, not one of this machine`)
}

/** Two guards in one account must not sign with one secret. */
function mustBeginWith(prefix: string, targets: readonly Target[]): void {
  const other = targets.find(({ secret }) => !secret.startsWith(`${prefix}/`))
  if (other) throw new WrongFile(`the secret of ${other.name} must begin with ${prefix}/events/`)
}
