import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IDestination, IEventSourceDlq } from 'aws-cdk-lib/aws-lambda'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { Duration } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { acknowledge, type GuardFunction } from './guard-function.ts'

const send = 'sqs:SendMessage'

/**
 * Where everything ends that could not be delivered or begun: the events of rules, calls of the scheduled function,
 * positions in the table's stream. One queue, because who looks at one looks at all; each message says where
 * it comes from. Nothing is lost with them: the table is the queue, and the sweep finds what is open in it.
 */
export class DeadLetters extends Construct {
  readonly queue: Queue

  constructor(scope: Construct, id: string) {
    super(scope, id)
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    })
    acknowledge(this, {
      'AwsSolutions-SQS3': 'It is the dead-letter queue',
      'Serverless-SQSRedrivePolicy': 'It is the dead-letter queue',
    })
  }

  /**
   * Takes what rules of that name cannot deliver.
   *
   * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html
   */
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

  /**
   * Takes what a function failed at. The constructs of the CDK would also let it look at the queue.
   *
   * @returns where it goes, as an event source and an asynchronous call name it.
   */
  takeFrom(fn: GuardFunction): IEventSourceDlq & IDestination {
    const destination = this.queue.queueArn
    fn.allow([send], [destination])
    return { bind: () => ({ destination }) }
  }
}
