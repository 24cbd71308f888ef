import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import { CfnTable, type ITable, type Table } from 'aws-cdk-lib/aws-dynamodb'
import { PermissionsBoundary } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { CfnLogGroup, type ILogGroup, LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { CfnParameter } from 'aws-cdk-lib/aws-ssm'
import { CfnOutput, Duration, Fn, RemovalPolicies, RemovalPolicy, Stack } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { issuerKeys } from '../shared/auth/stored-keys.ts'
import { deliveries } from '../shared/events/deliveries.ts'
import { targetStates } from '../shared/events/target-states.ts'
import { toOptionsText } from '../shared/guard/deployed-options.ts'
import { occurrences } from '../shared/guard/plans/stored-occurrence.ts'
import { notedTroubles } from '../shared/guard/troubles/noted.ts'
import { sandboxService } from '../shared/ledger/identity.ts'
import { prefixOf } from '../shared/ledger/store/stored.ts'
import { placeKeys } from '../shared/ledger/updates/queue.ts'
import { announcements } from '../shared/ledger/updates/tasks.ts'
import { namespaceOf, type SecretName, usualPrefix } from '../shared/platform/prefix.ts'
import { ledgerOnlySettings } from '../shared/platform/settings.ts'
import { daySummaries } from '../shared/reports/stored-summary.ts'
import { slackEvents } from '../shared/slack/slack-events.ts'
import { Alarms } from './alarms/alarms.ts'
import { type BundleName, besideCode, GuardCode, type SettingsFiles } from './code.ts'
import { letServicesUse, useKey } from './customer-key.ts'
import { DeadLetters } from './dead-letters.ts'
import { checkProps } from './deployment.ts'
import { EventTargets } from './event-targets.ts'
import { GuardFunction, type GuardFunctionProps } from './guard-function.ts'
import { GuardSecrets } from './guard-secrets.ts'
import { type LedgerAccess, LedgerTable, ledgerMarker } from './ledger-table.ts'
import { StreamReader } from './outbox.ts'
import { deployedOptions, type GuardHost, type UnitGuardProps } from './props.ts'
import { Sandbox } from './sandbox.ts'
import { Schedule } from './schedule.ts'

interface FunctionSpec extends Pick<GuardFunctionProps, 'description' | 'entry' | 'memoryMb' | 'timeout'> {
  readonly bundle: BundleName
  readonly ledger: LedgerAccess
  readonly secrets: readonly SecretName[]
  /** With `reserve=on`, the reserved and the highest concurrency. A flood at public URLs then leaves room for the stream's readers. */
  readonly concurrency?: number
}

/** A run takes at most a minute and its settlement 12 seconds. */
const functions = {
  // Pages call the service only for estimates. The stream starts their updates, and the sweep alone runs plans again.
  Dashboard: {
    bundle: 'dashboard',
    description: 'The dashboard and the documentation of the API, for browsers',
    memoryMb: 1024,
    timeout: Duration.minutes(2),
    ledger: { lists: true, writesNo: [prefixOf(occurrences), prefixOf(placeKeys)] },
    secrets: ['service-token', 'caller-key', 'login-client', 'origin'],
    concurrency: 50,
  },
  Api: {
    bundle: 'api',
    description: 'The HTTP API and the /v3 gateway, for internal tools',
    memoryMb: 1024,
    timeout: Duration.minutes(2),
    ledger: { lists: true },
    secrets: ['service-token', 'caller-key', 'origin'],
    concurrency: 200,
  },
  // A call runs a quoted update at once, as the API does. This function writes only the items that an update writes.
  Mcp: {
    bundle: 'mcp',
    description: 'The tools of agents (Model Context Protocol)',
    memoryMb: 1024,
    timeout: Duration.minutes(2),
    ledger: {
      lists: true,
      writes: {
        ConditionCheckItem: ['book', 'definitions'],
        PutItem: [
          ...[announcements, issuerKeys, notedTroubles].map(prefixOf),
          'book',
          'definitions',
          'entry#',
          'update#',
          'work#',
        ],
        UpdateItem: ['book', prefixOf(daySummaries), 'work#'],
      },
    },
    secrets: ['service-token', 'caller-key', 'quote-key', 'origin'],
    concurrency: 100,
  },
  // Slack gives up after three seconds.
  SlackApp: {
    bundle: 'slack',
    description: 'Requests of Slack: verifies, records and acknowledges them',
    memoryMb: 1024,
    timeout: Duration.seconds(10),
    ledger: { lists: false, writes: { PutItem: [prefixOf(slackEvents)] } },
    secrets: ['slack', 'origin'],
    concurrency: 20,
  },
  Scheduled: {
    bundle: 'scheduled',
    description: 'Rules of EventBridge: plans, the sweep, the digest and the audit',
    memoryMb: 512,
    timeout: Duration.minutes(15),
    ledger: { lists: true },
    secrets: ['service-token', 'slack'],
    concurrency: 50,
  },
  // This function starts all updates of a batch at once, and each update waits for the service.
  OutboxStart: {
    bundle: 'outbox',
    entry: 'start',
    description: 'Starts requested updates, from the stream of the table',
    memoryMb: 512,
    timeout: Duration.minutes(5),
    ledger: { lists: true },
    secrets: ['service-token', 'slack'],
  },
  OutboxTell: {
    bundle: 'outbox',
    entry: 'tell',
    description: 'Announces changes in Slack, from the stream of the table',
    memoryMb: 512,
    timeout: Duration.minutes(2),
    // The item of a command or of a press counts the answers to it, so this function writes the item.
    ledger: { lists: true, writes: { PutItem: [announcements, slackEvents, notedTroubles].map(prefixOf) } },
    secrets: ['slack'],
  },
} as const satisfies Record<string, FunctionSpec>

/** With event targets, OutboxTell also writes failed deliveries and the state of each target. */
const tellsEvents: LedgerAccess = {
  lists: true,
  writes: {
    PutItem: [announcements, slackEvents, notedTroubles, deliveries].map(prefixOf),
    UpdateItem: [prefixOf(targetStates)],
  },
}

/** A whole guard: the ledger, its secrets, functions, rules, alarms. An error names the wrong props. */
export class UnitGuard extends Construct {
  readonly prefix: string
  readonly region: string = Stack.of(this).region
  readonly apiUrl: string
  readonly dashboardUrl: string
  readonly mcpUrl: string
  readonly slackUrl: string
  /** With a domain, the host of each function with a URL. These are outputs, which an `Edge` in another stack reads. */
  readonly hosts: Readonly<Partial<Record<GuardHost, CfnOutput>>>
  readonly table: Table | ITable
  readonly logGroup: ILogGroup
  /** The given topic, or the topic that was made for `alarmEmail`. */
  readonly alarmTopic: ITopic | undefined

  constructor(scope: Construct, id: string, props: UnitGuardProps) {
    super(scope, id)
    const { prefix, settings: given, plans, eventTargets, files, publicUrl, has } = checkProps(props)
    this.prefix = prefix
    const { firstLedger: isFirst = false, restored, reserveConcurrency: reserve = false, bundles } = props
    const { encryptionKey: key, maxTableReads, maxTableWrites, existingSecrets: existing = false } = props
    const code = new GuardCode({ bundles, files })

    const ledger = new LedgerTable(this, 'Ledger', { isFirst, restored, key, maxTableReads, maxTableWrites })
    this.table = ledger.table
    const secrets = new GuardSecrets(this, 'Secrets', { prefix, key, existing, ...has })
    const deadLetters = new DeadLetters(this, 'DeadLetters', { key })
    const logGroup = this.addLog(props)
    this.logGroup = logGroup

    const sandbox = props.sandbox ? new Sandbox(this, 'Sandbox', { code: code.folderOf('sandbox'), logGroup }) : null
    sandbox?.shareToken(secrets)
    const settings = {
      ...given,
      LEDGER_MARKER: ledgerMarker(this, { prefix, isFirst }),
      ...(prefix !== usualPrefix && { METRIC_NAMESPACE: namespaceOf(prefix) }),
      ...(sandbox && { TRACKING_BASE_URL: sandbox.baseUrl, LEDGER_SERVICE: sandboxService }),
    }
    const ledgerOnly = Object.fromEntries(Object.entries(settings).filter(([name]) => name in ledgerOnlySettings.shape))
    const withFiles = { ...settings, ...fileSettings(files) }

    const sendsEvents = eventTargets.length > 0
    const receivers = new EventTargets(this, 'Events', { targets: eventTargets, existing, key })
    const events = eventSettings(files.EVENT_TARGETS)

    const add = (name: keyof typeof functions, environment: Readonly<Record<string, string>>) => {
      const { bundle, ledger: access, secrets: names, concurrency, ...spec }: FunctionSpec = functions[name]
      const own = { ...spec, code: code.folderOf(bundle), logGroup, environment }
      const fn = new GuardFunction(this, name, { ...own, ...(reserve && { reservedConcurrency: concurrency }) })
      ledger.bindTo(fn, name === 'OutboxTell' && sendsEvents ? tellsEvents : access)
      secrets.bindTo(fn, ...names.filter((each) => each !== 'origin' || !props.openUrls))
      return fn
    }
    const dashboard = add('Dashboard', { ...withFiles, ...events })
    this.dashboardUrl = dashboard.openUrl({ streams: true }).url
    // Functions link to DASHBOARD_URL if it is set, else to the dashboard's function URL.
    const linking = { DASHBOARD_URL: this.dashboardUrl, ...withFiles }
    const api = add('Api', linking)
    this.apiUrl = api.openUrl({ streams: true }).url
    const mcp = add('Mcp', { ...linking, ...(publicUrl !== undefined && { PUBLIC_URL: publicUrl }) })
    this.mcpUrl = mcp.openUrl({ streams: true }).url
    const slack = add('SlackApp', ledgerOnly)
    this.slackUrl = slack.openUrl({ streams: false }).url
    this.hosts = has.edge ? this.addHosts() : {}
    const scheduled = add('Scheduled', { ...linking, ...events, ...optionSettings(props) })
    new Schedule(this, 'Schedule', { prefix, fn: scheduled, plans, deadLetters, isFirst })
    const start = add('OutboxStart', linking)
    const tell = add('OutboxTell', { ...linking, ...events })
    if (!isFirst) {
      new StreamReader(start, 'Stream', { fn: start, name: 'start', ledger, deadLetters })
      new StreamReader(tell, 'Stream', { fn: tell, name: 'tell', sendsEvents, ledger, deadLetters })
    }
    for (const fn of [scheduled, tell]) receivers.bindTo(fn)
    code.clear()

    const watched = { prefix, ledger, logGroup, deadLetters, key, isFirst }
    const all = { api, dashboard, mcp, slack, scheduled, start, tell }
    const receiver = { topic: props.alarmTopic, email: props.alarmEmail }
    const streamReaders = { start, tell }
    const { topic } = new Alarms(this, 'Watching', { ...watched, ...receiver, functions: all, streamReaders })
    this.alarmTopic = topic
    this.addBudget(props)
    this.apply(props, ledger)
  }

  private addHosts(): Readonly<Record<GuardHost, CfnOutput>> {
    const hostOf = (name: string, url: string) => new CfnOutput(this, `${name}Host`, { value: Fn.parseDomainName(url) })
    return {
      api: hostOf('Api', this.apiUrl),
      dashboard: hostOf('Dashboard', this.dashboardUrl),
      mcp: hostOf('Mcp', this.mcpUrl),
      slack: hostOf('Slack', this.slackUrl),
    }
  }

  /** All functions share this log, so that the lines of an update are in one place. */
  private addLog({ encryptionKey, logRetention = RetentionDays.THREE_MONTHS }: UnitGuardProps): LogGroup {
    return new LogGroup(this, 'Log', {
      retention: logRetention,
      // A restored ledger is completed from the lines of this log.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      ...(encryptionKey && { encryptionKey }),
    })
  }

  /** For the whole AWS account, because AWS knows the costs of one stack only if its tags were activated for billing. */
  private addBudget({ awsBudget: amount, alarmTopic, alarmEmail }: UnitGuardProps): void {
    if (amount === undefined) return
    const { topicArn } = alarmTopic ?? {}
    const to = topicArn
      ? { subscriptionType: 'SNS', address: topicArn }
      : { subscriptionType: 'EMAIL', address: alarmEmail ?? '' }
    const tell = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
      notification: { notificationType, threshold, comparisonOperator: 'GREATER_THAN' },
      subscribers: [to],
    })
    new CfnBudget(this, 'AwsBudget', {
      budget: {
        budgetName: `${this.prefix}-${this.region}`,
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount, unit: 'USD' },
      },
      notificationsWithSubscribers: [tell('ACTUAL', 80), tell('ACTUAL', 100), tell('FORECASTED', 100)],
    })
  }

  /** Includes the function of the stand-in, which also reads a secret. */
  private encrypt(key: IKey): void {
    letServicesUse(key, this)
    for (const part of this.node.findAll()) if (part instanceof GuardFunction) useKey(part, key)
  }

  private apply({ encryptionKey, permissionsBoundary, removalPolicy }: UnitGuardProps, ledger: LedgerTable): void {
    if (encryptionKey) this.encrypt(encryptionKey)
    if (permissionsBoundary) PermissionsBoundary.of(this).apply(permissionsBoundary)
    if (removalPolicy !== RemovalPolicy.DESTROY) return
    ledger.unprotect()
    RemovalPolicies.of(this).destroy({
      applyToResourceTypes: [CfnTable, CfnSecret, CfnParameter, CfnLogGroup].map((type) => type.CFN_RESOURCE_TYPE_NAME),
    })
  }
}

const optionSettings = (props: UnitGuardProps) => ({ DEPLOYED_OPTIONS: toOptionsText(deployedOptions(props)) })

const fileSettings = ({ PLANS, TRUSTED_ISSUERS }: SettingsFiles): Readonly<Record<string, string>> => ({
  ...(PLANS !== undefined && { PLANS: besideCode.PLANS }),
  ...(TRUSTED_ISSUERS !== undefined && { TRUSTED_ISSUERS: besideCode.TRUSTED_ISSUERS }),
})

const eventSettings = (file: string | undefined): Readonly<Record<string, string>> =>
  file === undefined ? {} : { EVENT_TARGETS: besideCode.EVENT_TARGETS }
