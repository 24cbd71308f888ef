import { EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda'
import { Duration } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import type { DeadLetters } from './dead-letters.ts'
import type { GuardFunction } from './guard-function.ts'
import type { LedgerTable } from './ledger-table.ts'

/**
 * What each reader is woken for: what `functions/outbox/readers.ts` acts on, and little else. Every change of an update
 * is in the stream, and most concern no reader.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb-filtering.html
 */
export const filters = {
  start: [
    {
      eventName: ['INSERT', 'MODIFY'],
      dynamodb: { Keys: { pk: { S: [{ prefix: 'update#' }] } }, NewImage: { state: { S: ['requested'] } } },
    },
    { eventName: ['INSERT'], dynamodb: { Keys: { pk: { S: [{ prefix: 'slack-event#' }] } } } },
  ],
  tell: [
    { eventName: ['INSERT'], dynamodb: { Keys: { pk: { S: [{ prefix: 'announcement#' }] } } } },
    { eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { pk: { S: ['book'] } } } },
  ],
} as const

export interface StreamReaderProps {
  readonly fn: GuardFunction
  readonly ledger: LedgerTable
  readonly filters: readonly object[]
  readonly deadLetters: DeadLetters
  /** As many records the function is given at once, and as many batches of one shard it works on at the same time. */
  readonly batchSize: number
  readonly batchesAtOnce: number
}

/**
 * A function that is called with changes of the table. One bad record holds up its shard for a few tries at most: the
 * batch is halved around it, and what has failed for good, or is an hour old, is left to the sweep.
 */
export class StreamReader extends Construct {
  constructor(scope: Construct, id: string, props: StreamReaderProps) {
    super(scope, id)
    const { fn, ledger, deadLetters } = props
    new EventSourceMapping(this, 'Source', {
      target: fn.lambda,
      eventSourceArn: ledger.streamTo(fn),
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: props.filters.map((filter) => FilterCriteria.filter(filter)),
      batchSize: props.batchSize,
      parallelizationFactor: props.batchesAtOnce,
      retryAttempts: 3,
      maxRecordAge: Duration.hours(1),
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      onFailure: deadLetters.takeFrom(fn),
    })
  }
}
