import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { sandboxService } from '../shared/ledger/identity.ts'
import { ledgerOnlySettings } from '../shared/platform/settings.ts'
import { type BundleName, type Bundles, plansBeside } from './bundle.ts'
import { DeadLetters } from './dead-letters.ts'
import type { Deployment } from './deployment.ts'
import { GuardFunction, type GuardFunctionProps } from './guard-function.ts'
import { GuardSecrets } from './guard-secrets.ts'
import { ledgerMarker } from './ledger-marker.ts'
import { LedgerTable } from './ledger-table.ts'
import { filters, StreamReader } from './outbox.ts'
import { Sandbox } from './sandbox.ts'
import { Schedule } from './schedule.ts'
import { Watching } from './watching.ts'

export interface UnitGuardProps extends StackProps {
  readonly deployment: Deployment
  readonly bundles: Bundles
}

/** Everything of one deployment: one account of the tracking service, one ledger. */
export class UnitGuardStack extends Stack {
  constructor(scope: Construct, id: string, { deployment, bundles, ...props }: UnitGuardProps) {
    super(scope, id, { description: 'Unit Guard: a budget guard for a metered tracking service', ...props })
    const { options, plans, plansFile } = deployment

    const ledger = new LedgerTable(this, 'Ledger', { restored: restoredOf(deployment) })
    const secrets = new GuardSecrets(this, 'Secrets')
    const deadLetters = new DeadLetters(this, 'DeadLetters')
    // One for all functions: an update's lines stand together, whichever function wrote them.
    const logGroup = new LogGroup(this, 'Log', {
      retention: RetentionDays.THREE_MONTHS,
      removalPolicy: RemovalPolicy.DESTROY,
    })

    const sandbox = options.sandbox ? new Sandbox(this, 'Sandbox', { code: bundles.sandbox, logGroup }) : null
    sandbox?.shareToken(secrets)
    const settings = {
      ...deployment.settings,
      LEDGER_MARKER: ledgerMarker(this, options.firstLedger),
      ...(sandbox && { TRACKING_BASE_URL: sandbox.baseUrl, LEDGER_SERVICE: sandboxService }),
    }
    const ledgerOnly = Object.fromEntries(Object.entries(settings).filter(([name]) => name in ledgerOnlySettings.shape))
    const guarding = { ...settings, ...(plansFile !== undefined && { PLANS: plansBeside }) }

    const add = (
      id: string,
      bundle: BundleName,
      rest: Pick<GuardFunctionProps, 'description' | 'entry' | 'memoryMb' | 'timeout' | 'environment'>,
    ) => {
      const { reservedConcurrency } = options
      return new GuardFunction(this, id, { code: bundles[bundle], logGroup, reservedConcurrency, ...rest })
    }

    // A call of the service takes a minute at most, a settlement twelve seconds: every function that sends has more time.
    const api = add('Api', 'api', {
      description: 'What internal tools call: the HTTP API and the /v3 gateway',
      memoryMb: 1024,
      timeout: Duration.minutes(2),
      environment: guarding,
    })
    ledger.bindTo(api, { lists: true })
    secrets.bindTo(api, 'service-token', 'caller-key')
    const { url: apiUrl } = api.openUrl({ streams: true })
    // Who tells people something says where to look, unless the dashboard has a name of its own.
    const telling = { DASHBOARD_URL: apiUrl, ...guarding }

    // Slack gives up after three seconds.
    const slack = add('SlackApp', 'slack', {
      description: 'What Slack calls: verifies, records, acknowledges',
      memoryMb: 1024,
      timeout: Duration.seconds(10),
      environment: ledgerOnly,
    })
    ledger.bindTo(slack, { lists: false, writes: ['slack-event#'] })
    secrets.bindTo(slack, 'slack')

    const scheduled = add('Scheduled', 'scheduled', {
      description: 'What rules of EventBridge call: plans, the sweep, the digest and the audit',
      memoryMb: 512,
      timeout: Duration.minutes(15),
      environment: telling,
    })
    ledger.bindTo(scheduled, { lists: true })
    secrets.bindTo(scheduled, 'service-token', 'slack')
    new Schedule(this, 'Schedule', { fn: scheduled, plans, deadLetters })

    const start = add('OutboxStart', 'outbox', {
      description: 'Begins what was just asked for, as the stream of the table tells it',
      entry: 'start',
      memoryMb: 512,
      timeout: Duration.minutes(5),
      environment: telling,
    })
    ledger.bindTo(start, { lists: true })
    secrets.bindTo(start, 'service-token', 'slack')
    new StreamReader(start, 'Stream', {
      ...{ fn: start, ledger, filters: filters.start, deadLetters },
      // All of a batch are begun side by side, and each waits for the service.
      batchSize: 5,
      batchesAtOnce: 5,
    })

    const tell = add('OutboxTell', 'outbox', {
      description: 'Tells Slack what has just happened, as the stream of the table tells it',
      entry: 'tell',
      memoryMb: 512,
      timeout: Duration.minutes(2),
      environment: telling,
    })
    ledger.bindTo(tell, { lists: true, writes: ['announcement#'] })
    secrets.bindTo(tell, 'slack')
    new StreamReader(tell, 'Stream', {
      ...{ fn: tell, ledger, filters: filters.tell, deadLetters },
      batchSize: 10,
      batchesAtOnce: 1,
    })

    new Watching(this, 'Watching', {
      ...{ ledger, logGroup, deadLetters, email: options.alarmEmail },
      functions: { api, slack, scheduled, start, tell },
      streamReaders: { start, tell },
    })

    new CfnOutput(this, 'ApiUrl', { value: apiUrl })
    new CfnOutput(this, 'SlackUrl', { value: slack.openUrl({ streams: false }).url })
    new CfnOutput(this, 'TableName', { value: ledger.table.tableName })
    new CfnOutput(this, 'LogGroupName', { value: logGroup.logGroupName })
  }
}

const restoredOf = ({ options: { ledgerTable: table, ledgerStream: stream } }: Deployment) =>
  table !== undefined && stream !== undefined ? { table, stream } : null
