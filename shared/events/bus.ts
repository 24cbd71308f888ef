import type { EventBridgeClient, PutEventsRequestEntry, PutEventsResultEntry } from '@aws-sdk/client-eventbridge'
import { once } from '../platform/parallel.ts'
import { standIn } from '../platform/settings.ts'

/** What PutEvents sends: a CloudEvent as JSON. */
export interface BusEvent {
  readonly type: string
  readonly time: number
  readonly body: string
}

export type BusResult =
  | { readonly kind: 'sent' }
  | { readonly kind: 'try-again'; readonly reason: string }
  /** Another attempt would be refused too. */
  | { readonly kind: 'refused'; readonly reason: string }

/** Rules match it; the CloudEvent's own `source`, which names the ledger, is in `detail`. */
const busSource = 'unit-guard'

/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html */
const maxEntries = 10
/** Of all entries of a request. https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevent-size.html */
const maxRequestBytes = 256 * 1024
const timeBytes = 14
const maxReasonLength = 200

/**
 * Puts events on a bus of EventBridge. Never throws.
 *
 * @param withinMs for one request, its one repetition included.
 */
export function createBus({
  bus,
  endpoint,
  withinMs,
}: {
  bus: string
  endpoint?: string | undefined
  withinMs: number
}) {
  // Only functions with a bus load the client.
  const client = once(async () => {
    const { EventBridgeClient } = await import('@aws-sdk/client-eventbridge')
    return new EventBridgeClient({ maxAttempts: 2, ...standIn(endpoint) })
  })

  /** One result for each event, in their order. */
  async function send(events: readonly BusEvent[]): Promise<readonly BusResult[]> {
    const entries = events.map((event) => toEntry(bus, event))
    const results = new Array<BusResult>(entries.length).fill(tooLarge)
    for (const positions of inRequests(entries)) {
      const sent = await put(
        positions.flatMap((at) => entries[at] ?? []),
        await client(),
        withinMs,
      )
      for (const [index, at] of positions.entries()) results[at] = sent[index] ?? noResult
    }
    return results
  }

  return { send }
}

const tooLarge: BusResult = { kind: 'refused', reason: `the event has more than ${maxRequestBytes / 1024} KB` }
const noResult: BusResult = { kind: 'try-again', reason: 'the answer has no entry for it' }

const toEntry = (bus: string, { type, time, body }: BusEvent): PutEventsRequestEntry => ({
  EventBusName: bus,
  Source: busSource,
  DetailType: type,
  Detail: body,
  Time: new Date(time),
})

const bytesOf = ({ Source = '', DetailType = '', Detail = '' }: PutEventsRequestEntry): number =>
  timeBytes + [Source, DetailType, Detail].reduce((sum, text) => sum + Buffer.byteLength(text), 0)

/** The positions of each request's entries. An entry that no request can hold is in none. */
function inRequests(entries: readonly PutEventsRequestEntry[]): readonly (readonly number[])[] {
  const requests: number[][] = []
  let bytes = 0
  for (const [position, entry] of entries.entries()) {
    const size = bytesOf(entry)
    if (size > maxRequestBytes) continue
    const last = requests.at(-1)
    if (last && last.length < maxEntries && bytes + size <= maxRequestBytes) {
      last.push(position)
      bytes += size
    } else {
      requests.push([position])
      bytes = size
    }
  }
  return requests
}

async function put(
  entries: readonly PutEventsRequestEntry[],
  client: EventBridgeClient,
  withinMs: number,
): Promise<readonly BusResult[]> {
  const { PutEventsCommand } = await import('@aws-sdk/client-eventbridge')
  try {
    const abortSignal = AbortSignal.timeout(withinMs)
    const answer = await client.send(new PutEventsCommand({ Entries: [...entries] }), { abortSignal })
    return (answer.Entries ?? []).map(toResult)
  } catch (error) {
    const reason = `EventBridge did not take it (${nameOf(error)})`
    return entries.map(() => ({ kind: 'try-again', reason }))
  }
}

/** An entry may fail alone. Only a repetition can tell a refusal from a fault, so all are repeated. */
const toResult = ({ EventId: id, ErrorCode: code, ErrorMessage: message }: PutEventsResultEntry): BusResult =>
  id !== undefined && code === undefined
    ? { kind: 'sent' }
    : { kind: 'try-again', reason: [code, message].filter(Boolean).join(': ').slice(0, maxReasonLength) || 'no reason' }

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown')
