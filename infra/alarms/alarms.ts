import { Alarm, AlarmStatusWidget, Dashboard } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs'
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { ArnFormat, Duration, Stack } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { usualNamespace } from '../../shared/platform/metrics.ts'
import { usualPrefix } from '../../shared/platform/prefix.ts'
import { acknowledge } from '../guard-function.ts'
import type { LedgerTable } from '../ledger-table.ts'
import { alarmOf, type Watched, watchesOf } from './alarm-table.ts'
import { rowsOf } from './dashboard.ts'
import { filters } from './errors.ts'
import { errorLinesMetric, LogMetrics } from './metrics.ts'

const runbook = 'docs/runbook.md'

export interface AlarmsProps extends Omit<Watched, 'metrics'> {
  readonly prefix: string
  readonly logGroup: LogGroup
  readonly ledger: LedgerTable
  /** Without a topic and an email address, alarms appear only on the dashboard. */
  readonly topic: ITopic | undefined
  readonly email: string | undefined
  readonly key: IKey | undefined
  /** In the first deployment the alarms exist, but send nothing until the next deployment. */
  readonly isFirst: boolean
}

export class Alarms extends Construct {
  readonly topic: ITopic | undefined

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id)
    const metrics = new LogMetrics(namespaceOf(props.prefix))
    const watches = watchesOf({ ...props, metrics })
    this.countLines(props.logGroup, metrics)
    this.topic = props.topic ?? (props.email === undefined ? undefined : this.mailTo(props.email, props.key))
    const action = this.topic && new SnsAction(this.topic)
    // Everything fails until an operator has begun the ledger and entered the secrets.
    const actionsEnabled = !props.isFirst
    const alarms = watches.map((watch) => {
      const alarmDescription = `${watch.says}. ${runbook}#${watch.anchor}`
      const alarm = new Alarm(this, watch.name, { alarmDescription, actionsEnabled, ...alarmOf(watch) })
      if (!action) return alarm
      alarm.addAlarmAction(action)
      if (!watch.countsLines) alarm.addOkAction(action)
      return alarm
    })
    new Dashboard(this, 'Dashboard', {
      // Dashboard names are unique across regions.
      dashboardName: `${props.prefix}-${Stack.of(this).region}`,
      defaultInterval: Duration.days(1),
      widgets: [[new AlarmStatusWidget({ title: 'Alarms', alarms, width: 24, height: 5 })], ...rowsOf(props, metrics)],
    })
  }

  private countLines(logGroup: LogGroup, { namespace }: LogMetrics): void {
    const counted = { logGroup, metricNamespace: namespace, metricValue: '1' }
    new MetricFilter(this, 'ErrorLines', {
      ...counted,
      metricName: errorLinesMetric,
      filterPattern: FilterPattern.stringValue('$.level', '=', 'error'),
      dimensions: { event: '$.event' },
    })
    for (const [metricName, pattern] of Object.entries(filters))
      new MetricFilter(this, metricName, { ...counted, metricName, filterPattern: FilterPattern.literal(pattern) })
  }

  private mailTo(email: string, key: IKey | undefined): Topic {
    const encrypted = key && { masterKey: key }
    const topic = new Topic(this, 'Topic', { displayName: 'Unit Guard', enforceSSL: true, ...encrypted })
    topic.addSubscription(new EmailSubscription(email))
    // `enforceSSL` replaces the default policy, which lets alarms publish.
    // https://repost.aws/knowledge-center/cloudwatch-receive-sns-for-alarm-trigger
    const alarms = Stack.of(this).formatArn({
      ...{ service: 'cloudwatch', resource: 'alarm', resourceName: '*' },
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    })
    topic.grantPublish(
      new ServicePrincipal('cloudwatch.amazonaws.com', { conditions: { ArnLike: { 'aws:SourceArn': alarms } } }),
    )
    acknowledge(this, {
      'Serverless-SNSRedrivePolicy': 'The dashboard shows an alarm whose e-mail does not arrive',
    })
    return topic
  }
}

/** Guards in one account must not share metrics. */
export const namespaceOf = (prefix: string): string => (prefix === usualPrefix ? usualNamespace : prefix)
