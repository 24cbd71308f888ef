import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { sandboxService } from '../shared/ledger/identity.ts'
import { ledgerOnlySettings } from '../shared/platform/settings.ts'
import { Alarms } from './alarms.ts'
import { type BundleName, type Bundles, plansBeside } from './bundle.ts'
import { DeadLetters } from './dead-letters.ts'
import type { Deployment } from './deployment.ts'
import { GuardFunction, type GuardFunctionProps } from './guard-function.ts'
import { GuardSecrets } from './guard-secrets.ts'
import { LedgerTable, ledgerMarker } from './ledger-table.ts'
import { filters, StreamReader } from './outbox.ts'
import { Sandbox } from './sandbox.ts'
import { Schedule } from './schedule.ts'

export interface UnitGuardProps extends StackProps {
  readonly deployment: Deployment
  readonly bundles: Bundles
}

interface Parts {
  readonly ledger: LedgerTable
  readonly secrets: GuardSecrets
  readonly deadLetters: DeadLetters
  /** One log group for all functions, so that the lines of an update stand together. */
  readonly logGroup: LogGroup
}

type FunctionProps = Pick<GuardFunctionProps, 'description' | 'entry' | 'memoryMb' | 'timeout' | 'environment'>
type Add = (id: string, bundle: BundleName, props: FunctionProps) => GuardFunction
type Environment = NonNullable<GuardFunctionProps['environment']>

/** Everything of one deployment: one account of the tracking service, one ledger. */
export class UnitGuardStack extends Stack {
  constructor(scope: Construct, id: string, { deployment, bundles, ...props }: UnitGuardProps) {
    super(scope, id, { description: 'Unit Guard: a budget guard for a metered tracking service', ...props })
    const { options, plans, plansFile } = deployment

    const ledger = new LedgerTable(this, 'Ledger', { restored: restoredOf(deployment) })
    const secrets = new GuardSecrets(this, 'Secrets')
    const deadLetters = new DeadLetters(this, 'DeadLetters')
    const logGroup = new LogGroup(this, 'Log', {
      retention: RetentionDays.THREE_MONTHS,
      removalPolicy: RemovalPolicy.DESTROY,
    })
    const parts: Parts = { ledger, secrets, deadLetters, logGroup }

    const sandbox = options.sandbox ? new Sandbox(this, 'Sandbox', { code: bundles.sandbox, logGroup }) : null
    sandbox?.shareToken(secrets)
    const settings = {
      ...deployment.settings,
      LEDGER_MARKER: ledgerMarker(this, options.firstLedger),
      ...(sandbox && { TRACKING_BASE_URL: sandbox.baseUrl, LEDGER_SERVICE: sandboxService }),
    }
    const ledgerOnly = Object.fromEntries(Object.entries(settings).filter(([name]) => name in ledgerOnlySettings.shape))
    const guarding = { ...settings, ...(plansFile !== undefined && { PLANS: plansBeside }) }

    const add: Add = (id, bundle, rest) => {
      const { reservedConcurrency } = options
      return new GuardFunction(this, id, { code: bundles[bundle], logGroup, reservedConcurrency, ...rest })
    }
    const { dashboard, dashboardUrl } = addDashboard(add, guarding, parts)
    // Who leads people to the dashboard knows its address, unless it has a name of its own.
    const telling = { DASHBOARD_URL: dashboardUrl, ...guarding }
    const { api, apiUrl } = addApi(add, telling, parts)
    const slack = addSlack(add, ledgerOnly, parts)
    const scheduled = addScheduled(add, telling, parts)
    new Schedule(this, 'Schedule', { fn: scheduled, plans, deadLetters })
    const start = addStart(add, telling, parts)
    const tell = addTell(add, telling, parts)

    new Alarms(this, 'Watching', {
      ...{ ledger, logGroup, deadLetters, email: options.alarmEmail },
      functions: { api, dashboard, slack, scheduled, start, tell },
      streamReaders: { start, tell },
    })

    new CfnOutput(this, 'ApiUrl', { value: apiUrl })
    new CfnOutput(this, 'DashboardUrl', { value: dashboardUrl })
    new CfnOutput(this, 'SlackUrl', { value: slack.openUrl({ streams: false }).url })
    new CfnOutput(this, 'TableName', { value: ledger.table.tableName })
    new CfnOutput(this, 'LogGroupName', { value: logGroup.logGroupName })
  }
}

const restoredOf = ({ options: { ledgerTable: table, ledgerStream: stream } }: Deployment) =>
  table !== undefined && stream !== undefined ? { table, stream } : null

// A call of the service takes a minute at most, a settlement twelve seconds: every function that sends has more time.

/** Nothing on a page calls the service: the stream begins what is approved there. */
function addDashboard(add: Add, environment: Environment, { ledger, secrets }: Parts) {
  const dashboard = add('Dashboard', 'dashboard', {
    description: 'What people open in a browser: the dashboard, and what is to be read about the API',
    memoryMb: 1024,
    timeout: Duration.minutes(2),
    environment,
  })
  ledger.bindTo(dashboard, { lists: true })
  secrets.bindTo(dashboard, 'caller-key')
  return { dashboard, dashboardUrl: dashboard.openUrl({ streams: true }).url }
}

function addApi(add: Add, environment: Environment, { ledger, secrets }: Parts) {
  const api = add('Api', 'api', {
    description: 'What internal tools call: the HTTP API and the /v3 gateway',
    memoryMb: 1024,
    timeout: Duration.minutes(2),
    environment,
  })
  ledger.bindTo(api, { lists: true })
  secrets.bindTo(api, 'service-token', 'caller-key')
  return { api, apiUrl: api.openUrl({ streams: true }).url }
}

/** Slack gives up after three seconds. */
function addSlack(add: Add, environment: Environment, { ledger, secrets }: Parts): GuardFunction {
  const slack = add('SlackApp', 'slack', {
    description: 'What Slack calls: verifies, records, acknowledges',
    memoryMb: 1024,
    timeout: Duration.seconds(10),
    environment,
  })
  ledger.bindTo(slack, { lists: false, writes: ['slack-event#'] })
  secrets.bindTo(slack, 'slack')
  return slack
}

function addScheduled(add: Add, environment: Environment, { ledger, secrets }: Parts): GuardFunction {
  const scheduled = add('Scheduled', 'scheduled', {
    description: 'What rules of EventBridge call: plans, the sweep, the digest and the audit',
    memoryMb: 512,
    timeout: Duration.minutes(15),
    environment,
  })
  ledger.bindTo(scheduled, { lists: true })
  secrets.bindTo(scheduled, 'service-token', 'slack')
  return scheduled
}

/** All of a batch are begun side by side, and each waits for the service. */
function addStart(add: Add, environment: Environment, { ledger, secrets, deadLetters }: Parts): GuardFunction {
  const start = add('OutboxStart', 'outbox', {
    description: 'Begins what was just asked for, as the stream of the table tells it',
    entry: 'start',
    memoryMb: 512,
    timeout: Duration.minutes(5),
    environment,
  })
  ledger.bindTo(start, { lists: true })
  secrets.bindTo(start, 'service-token', 'slack')
  const batches = { batchSize: 5, batchesAtOnce: 5 }
  new StreamReader(start, 'Stream', { fn: start, ledger, filters: filters.start, deadLetters, ...batches })
  return start
}

function addTell(add: Add, environment: Environment, { ledger, secrets, deadLetters }: Parts): GuardFunction {
  const tell = add('OutboxTell', 'outbox', {
    description: 'Tells Slack what has just happened, as the stream of the table tells it',
    entry: 'tell',
    memoryMb: 512,
    timeout: Duration.minutes(2),
    environment,
  })
  ledger.bindTo(tell, { lists: true, writes: ['announcement#'] })
  secrets.bindTo(tell, 'slack')
  const batches = { batchSize: 10, batchesAtOnce: 1 }
  new StreamReader(tell, 'Stream', { fn: tell, ledger, filters: filters.tell, deadLetters, ...batches })
  return tell
}
