import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Log } from '../../shared/platform/log.ts'

type Image = Readonly<Record<string, AttributeValue>>

/** A change of one item as a function on AWS gets it, as far as this machine knows it. */
export interface StreamRecord {
  readonly eventSource: 'aws:dynamodb'
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE'
  readonly dynamodb: {
    readonly Keys: Image
    readonly NewImage?: Image
    readonly OldImage?: Image
    readonly SequenceNumber: string
  }
}

/**
 * What AWS calls a function on a table's stream with.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */
export interface StreamEvent {
  readonly Records: readonly StreamRecord[]
}

/** Hands every batch of a table's changes from now on to `take`; ready when it resolves. */
export type Follow = (how: { take: (batch: readonly StreamRecord[]) => Promise<void>; log: Log }) => Promise<Following>

export interface Following {
  stop(patience: Promise<void>): Promise<void>
}
