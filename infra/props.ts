import type { IManagedPolicy } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { RemovalPolicy } from 'aws-cdk-lib/core'
import { type DeployedOptions, type LosableOption, losableOptions } from '../shared/guard/deployed-options.ts'
import { guardSettings, mcpSettings } from '../shared/guard/options.ts'
import { settingOfSecret } from '../shared/platform/prefix.ts'

/** The settings under their names in camel case. docs/settings.md says more about each. */
export interface SettingProps {
  /** The https address of the service, ending in `/v3`. Must be unset with `sandbox`. */
  readonly trackingBaseUrl?: string
  /** The first limit of a new ledger, in units. Always needed. */
  readonly accountUnitsPerMonth: number
  /** The units that the month has already cost when the ledger begins. Needed with `firstLedger`, like the next two props. */
  readonly accountUnitsUsedAtStart?: number
  /** The day of the month on which the account's month turns, 1 to 31. */
  readonly accountRenewalDay?: number
  /** A time zone of the IANA database. */
  readonly accountTimeZone?: string
  /** `HH:MM`, `00:00` by default. */
  readonly accountRenewalTime?: string
  /** The deadline of one call of the service; 20,000 by default. */
  readonly serviceTimeoutMs?: number
  /** How long a call may still take effect after its deadline; 300,000 by default. */
  readonly serviceFlightMs?: number
  /** After this many hours, data that a paid run did not bring are late; 96 by default. */
  readonly deliveryHours?: number
  /** JSON Pointers (RFC 6901) to the units in the service's answers. */
  readonly estimatePointerRanking?: string
  readonly estimatePointerDifficulty?: string
  readonly runPointerRanking?: string
  readonly runPointerDifficulty?: string
  /** Answers that prove that a run did not happen, such as `/response_code=26|27`. */
  readonly runRefused?: string
  readonly runRefusedRanking?: string
  readonly runRefusedDifficulty?: string
  /** Answers that prove that a run happened. With it, no other answer does. */
  readonly runStarted?: string
  readonly runStartedRanking?: string
  readonly runStartedDifficulty?: string
  /** Values that are no sign of failure at their places, such as `/status_code=20000|20100`. */
  readonly answersWell?: string
  readonly answersWellRanking?: string
  readonly answersWellDifficulty?: string
  /** `free`: an estimate of 0 is a price. Else it starts nothing. */
  readonly zeroPrice?: 'free'
  /** How long an earlier update answers for the same work: `day`, `0`, or a duration such as `6h`. */
  readonly cooldownRanking?: string
  readonly cooldownDifficulty?: string
  /** Separates several projects in one path segment of a `run`. */
  readonly projectSeparator?: string
  /** The path of the plans file. */
  readonly plans?: string
  /** The path of the file of trusted issuers. */
  readonly trustedIssuers?: string
  /** `off` refuses the tokens that `npm run token` makes. */
  readonly mintedTokens?: 'on' | 'off'
  /** The name of the issuer where people log in to the dashboard. It needs `loginClientId` and `dashboardUrl`. */
  readonly loginIssuer?: string
  readonly loginClientId?: string
  /** The dashboard's address, if it is not the function URL. */
  readonly dashboardUrl?: string
  /** The address for agents, if it is not their function URL. */
  readonly publicUrl?: string
  /** The path of the file of event targets. */
  readonly eventTargets?: string
  /** The id of the channel for announcements. */
  readonly slackChannel?: string
  /** The price of a unit: `0.012`, or by first day `0.01@2025-01-01,0.012@2026-12-01`. It needs `currency`. */
  readonly pricePerUnit?: string
  /** ISO 4217. */
  readonly currency?: string
}

/** All props but the folder of the functions' code. */
export interface DeploymentProps extends SettingProps {
  /**
   * The prefix of every name that AWS does not generate, such as of secrets and rules. Two guards in one account and region
   * need different prefixes. Default: `unit-guard`.
   */
  readonly prefix?: string
  /** Deploys a stand-in, which the guard calls instead of the service. */
  readonly sandbox?: boolean
  /** True for the first deployment only. */
  readonly firstLedger?: boolean
  /** A restored table, used in place of a new one. */
  readonly restored?: { readonly table: string; readonly stream: string }
  /** The secrets of an earlier stack with the same prefix, in place of new ones: AWS refuses names in use. */
  readonly existingSecrets?: boolean
  /** Reserves concurrency for Slack and schedules, and caps the API, agents and the dashboard. */
  readonly reserveConcurrency?: boolean
  /** The mail address that gets alarms, after its owner has confirmed it. */
  readonly alarmEmail?: string
  /**
   * The topic that gets alarms, in place of a topic that is made for `alarmEmail`. Its policy must let CloudWatch
   * publish, and with `awsBudget` also AWS Budgets.
   */
  readonly alarmTopic?: ITopic
  /** US dollars a month. AWS warns the receivers of alarms when the whole AWS account costs more, or will. The warning stops nothing. */
  readonly awsBudget?: number
  /** The most request units a second of the table and of each index. DynamoDB throttles requests above it. Default: 8,000 and 2,000. */
  readonly maxTableReads?: number
  readonly maxTableWrites?: number
  /** How long the log is kept. Default: three months. A restored ledger is completed from the log. */
  readonly logRetention?: RetentionDays
  /**
   * Encrypts the table, the secrets, the log, dead letters and the topic of `alarmEmail`. The policy of a key of the same app is
   * extended; the policy of an imported key must let CloudWatch Logs, CloudWatch and EventBridge use it.
   */
  readonly encryptionKey?: IKey
  /** Bounds every role that is made. */
  readonly permissionsBoundary?: IManagedPolicy
  /** `RETAIN` by default: table, secrets, log and the parameter outlive the stack. `DESTROY` also deletes the record of who spent what. */
  readonly removalPolicy?: RemovalPolicy
  /**
   * The name under which an `Edge` serves all functions. The functions then refuse requests that skip the edge. Links and agents
   * use this name in place of `dashboardUrl` and `publicUrl`. The stack needs a region (`env`).
   */
  readonly domain?: string
  /** Functions also answer at their own addresses, while callers move to the domain. */
  readonly openUrls?: boolean
  /** The options that this deployment is without on purpose. For others that an earlier one had, the guard shows a trouble. */
  readonly without?: readonly LosableOption[]
}

export interface UnitGuardProps extends DeploymentProps {
  /** The folder into which `bundleAll` wrote the code of the functions. */
  readonly bundles: string
}

export function deployedOptions(props: DeploymentProps): DeployedOptions {
  const { without = [], alarmEmail, alarmTopic, domain, awsBudget, reserveConcurrency: reserve } = props
  const given: Readonly<Record<LosableOption, unknown>> = {
    alarmEmail: alarmEmail ?? alarmTopic,
    domain,
    awsBudget,
    reserve,
  }
  const stateOf = (name: LosableOption) => {
    if (given[name]) return 'given'
    return without.includes(name) ? 'unwanted' : 'missing'
  }
  return Object.fromEntries(losableOptions.map((name) => [name, stateOf(name)])) as DeployedOptions
}

/** Settings that the constructs set. A shell may have values for them, which only `npm start` uses. */
export const settingsOfConstructs = [
  'TABLE_NAME',
  'DYNAMODB_ENDPOINT',
  'DYNAMODB_ACCESS_KEY',
  'LEDGER_SERVICE',
  'LEDGER_MARKER',
  'METRIC_NAMESPACE',
  'DEPLOYED_OPTIONS',
  'SECRETS_ENDPOINT',
  'SECRETS_ACCESS_KEY',
  'SLACK_API_URL',
  ...Object.values(settingOfSecret),
]

/** The settings that a deployment may set. */
export const settingNames: readonly string[] = [
  ...Object.keys(guardSettings.shape),
  ...Object.keys(mcpSettings.shape),
].filter((name) => !settingsOfConstructs.includes(name))

/** The prop of a setting: `accountTimeZone` for `ACCOUNT_TIME_ZONE`. */
export const propOf = (setting: string): string =>
  setting.toLowerCase().replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())

/** The settings as functions read them: text. */
export function settingsOf(props: DeploymentProps): Readonly<Record<string, string>> {
  const given = new Map<string, unknown>(Object.entries(props))
  return Object.fromEntries(
    settingNames.flatMap((name) => {
      const value = given.get(propOf(name))
      return value === undefined || value === '' ? [] : [[name, String(value)]]
    }),
  )
}

/** A function that the edge sends requests to. */
export type GuardHost = 'api' | 'dashboard' | 'mcp' | 'slack'

/** The one address of a guard. */
export interface EdgeOptions {
  readonly domain: string
  /** The id of the domain's public hosted zone in Route 53. The certificate and the records are made there. */
  readonly hostedZone?: string
  /** In place of `hostedZone`: the ARN of the domain's certificate in us-east-1. You then make the records yourself. */
  readonly certificate?: string
  /** How many requests one address may make in five minutes. Default: 2,000. */
  readonly requestsPerAddress?: number
  /** The version of the secret that is sent. Default: the current one. CloudFormation reads the secret again when this changes. */
  readonly originVersion?: string
}

/** CloudFront takes certificates and rules from this region only. */
export const edgeRegion = 'us-east-1'
