import * as z from 'zod/mini'

export interface Change {
  readonly pk: string
  readonly sequenceNumber: string
  readonly isNew: boolean
  /** Missing if the item was deleted. */
  readonly state?: string
  /** Missing if the item has no version, or was deleted. */
  readonly version?: number
  /** True for an update about which people were asked to decide. */
  readonly wasAnnounced: boolean
  /** For an entry: the budgets or the plan that events report. */
  readonly subjects: readonly string[]
  /** The id of the update, for an update or an announcement about it. */
  readonly update?: string
  /** The trace context of that update. */
  readonly traceparent?: string
}

const attribute = z.object({ S: z.optional(z.string()) })

/** @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html */
const streamEvent = z.object({
  Records: z.array(
    z.object({
      eventSource: z.literal('aws:dynamodb'),
      eventName: z.enum(['INSERT', 'MODIFY', 'REMOVE']),
      dynamodb: z.object({
        Keys: z.object({ pk: z.object({ S: z.string() }) }),
        NewImage: z.optional(
          z.object({
            state: z.optional(attribute),
            version: z.optional(z.object({ N: z.optional(z.string().check(z.regex(/^\d{1,15}$/))) })),
            approvableUntil: z.optional(z.unknown()),
            doubt: z.optional(z.unknown()),
            subjects: z.optional(z.object({ L: z.optional(z.array(attribute)) })),
            traceparent: z.optional(attribute),
          }),
        ),
        SequenceNumber: z.string(),
      }),
    }),
  ),
})

/** @throws Error if it is not an event of a DynamoDB stream. */
export function readChanges(event: unknown): readonly Change[] {
  const parsed = streamEvent.safeParse(event)
  if (!parsed.success) throw new Error('not an event of a DynamoDB stream')
  return parsed.data.Records.map(({ eventName, dynamodb: { Keys, NewImage, SequenceNumber } }) => ({
    pk: Keys.pk.S,
    ...updateIn(Keys.pk.S),
    sequenceNumber: SequenceNumber,
    isNew: eventName === 'INSERT',
    ...(NewImage?.state?.S !== undefined && { state: NewImage.state.S }),
    ...(NewImage?.version?.N !== undefined && { version: Number(NewImage.version.N) }),
    wasAnnounced: NewImage?.approvableUntil !== undefined || NewImage?.doubt !== undefined,
    subjects: (NewImage?.subjects?.L ?? []).flatMap(({ S }) => S ?? []),
    ...(NewImage?.traceparent?.S !== undefined && { traceparent: NewImage.traceparent.S }),
  }))
}

/** Ids of announcements about an update begin with its id. */
function updateIn(pk: string): Pick<Change, 'update'> {
  const [, update] = /^(?:update|announcement)#(upd_[\w-]+)/.exec(pk) ?? []
  return update === undefined ? {} : { update }
}

/** The part of a key after `name#`; `null` for other keys. */
export const idIn = (pk: string, name: string): string | null =>
  pk.startsWith(`${name}#`) ? pk.slice(name.length + 1) : null
