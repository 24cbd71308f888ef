import { Alarm } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs'
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { ArnFormat, Stack } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { namespaceOf } from '../../shared/platform/prefix.ts'
import { acknowledge } from '../guard-function.ts'
import type { LedgerTable } from '../ledger-table.ts'
import { alarmOf, type Watched, watchesOf } from './alarm-table.ts'
import { filters } from './errors.ts'
import { LogMetrics } from './metrics.ts'

const runbook = 'docs/runbook.md'

export interface AlarmsProps extends Omit<Watched, 'metrics'> {
  readonly prefix: string
  readonly logGroup: LogGroup
  readonly ledger: LedgerTable
  /** Without a topic and an email address, alarms appear only in CloudWatch. */
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
    for (const watch of watches) {
      const alarmDescription = `${watch.says}. ${runbook}#${watch.anchor}`
      const alarm = new Alarm(this, watch.name, { alarmDescription, actionsEnabled, ...alarmOf(watch) })
      if (!action) continue
      alarm.addAlarmAction(action)
      if (!watch.countsLines) alarm.addOkAction(action)
    }
  }

  private countLines(logGroup: LogGroup, { namespace }: LogMetrics): void {
    const counted = { logGroup, metricNamespace: namespace, metricValue: '1' }
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
      service: 'cloudwatch',
      resource: 'alarm',
      resourceName: '*',
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    })
    topic.grantPublish(
      new ServicePrincipal('cloudwatch.amazonaws.com', { conditions: { ArnLike: { 'aws:SourceArn': alarms } } }),
    )
    acknowledge(this, {
      'Serverless-SNSRedrivePolicy': 'CloudWatch shows an alarm whose e-mail does not arrive',
    })
    return topic
  }
}
