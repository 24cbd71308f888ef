import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { IDestination, IEventSourceDlq } from 'aws-cdk-lib/aws-lambda'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { Duration } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { acknowledge, type GuardFunction } from './guard-function.ts'

const send = 'sqs:SendMessage'

/** One queue for all events that were not delivered. The sweep needs no queue, because it finds its work in the table. */
export class DeadLetters extends Construct {
  readonly queue: Queue

  constructor(scope: Construct, id: string, { key }: { key: IKey | undefined }) {
    super(scope, id)
    this.queue = new Queue(this, 'Queue', {
      ...(key
        ? { encryption: QueueEncryption.KMS, encryptionMasterKey: key }
        : { encryption: QueueEncryption.SQS_MANAGED }),
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    })
    acknowledge(this, {
      'AwsSolutions-SQS3': 'It is the dead-letter queue',
      'Serverless-SQSRedrivePolicy': 'It is the dead-letter queue',
    })
  }

  /** @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html */
  takeFromRules(ruleArns: string): void {
    this.queue.addToResourcePolicy(
      new PolicyStatement({
        actions: [send],
        resources: [this.queue.queueArn],
        principals: [new ServicePrincipal('events.amazonaws.com')],
        conditions: { ArnLike: { 'aws:SourceArn': ruleArns } },
      }),
    )
  }

  /** The CDK's own constructs would also let the function read the queue's attributes. */
  takeFrom(fn: GuardFunction): IEventSourceDlq & IDestination {
    fn.allow([send], [this.queue.queueArn])
    return { bind: () => ({ destination: this.queue.queueArn }) }
  }
}
