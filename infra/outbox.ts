import { EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda'
import { Duration } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { prefixOf } from '../shared/ledger/store/stored.ts'
import { announcements } from '../shared/ledger/updates/tasks.ts'
import { slackEvents } from '../shared/slack/slack-events.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { GuardFunction } from './guard-function.ts'
import type { LedgerTable } from './ledger-table.ts'

/** A changed update, whose messages may have to be edited. */
const changedUpdateWith = (NewImage: object) => ({
  eventName: ['MODIFY'],
  dynamodb: { Keys: { pk: { S: [{ prefix: 'update#' }] } }, NewImage },
})

/** Lambda is not called for most records that `functions/outbox/readers.ts` would ignore. */
export const filters = {
  start: [
    {
      eventName: ['INSERT', 'MODIFY'],
      dynamodb: { Keys: { pk: { S: [{ prefix: 'update#' }] } }, NewImage: { state: { S: ['requested'] } } },
    },
    { eventName: ['INSERT'], dynamodb: { Keys: { pk: { S: [{ prefix: prefixOf(slackEvents) }] } } } },
  ],
  tell: [
    { eventName: ['INSERT'], dynamodb: { Keys: { pk: { S: [{ prefix: prefixOf(announcements) }] } } } },
    changedUpdateWith({ approvableUntil: { N: [{ exists: true }] } }),
    changedUpdateWith({ doubt: { M: { at: { N: [{ exists: true }] } } } }),
    { eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { pk: { S: ['book'] } } } },
  ],
  /** Each change of an update, and each booking, may be an event. */
  tellEvents: [
    { eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { pk: { S: [{ prefix: 'update#' }] } } } },
    {
      eventName: ['INSERT'],
      dynamodb: { Keys: { pk: { S: [{ prefix: prefixOf(announcements) }, { prefix: 'entry#' }] } } },
    },
    { eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { pk: { S: ['book'] } } } },
  ],
} as const

/** How many batches of one shard run at once. */
const batches = {
  start: { batchSize: 5, parallelizationFactor: 5 },
  tell: { batchSize: 10, parallelizationFactor: 1 },
} as const

export interface StreamReaderProps {
  readonly fn: GuardFunction
  readonly name: keyof typeof batches
  readonly sendsEvents?: boolean
  readonly ledger: LedgerTable
  readonly deadLetters: DeadLetters
}

/** Lambda splits a failing batch to isolate its bad record. After three retries or an hour, the sweep takes over. */
export class StreamReader extends Construct {
  constructor(scope: Construct, id: string, { fn, name, sendsEvents, ledger, deadLetters }: StreamReaderProps) {
    super(scope, id)
    new EventSourceMapping(this, 'Source', {
      target: fn.lambda,
      eventSourceArn: ledger.streamTo(fn),
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: filters[sendsEvents ? 'tellEvents' : name].map((filter) => FilterCriteria.filter(filter)),
      ...batches[name],
      retryAttempts: 3,
      maxRecordAge: Duration.hours(1),
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      onFailure: deadLetters.takeFrom(fn),
    })
  }
}
