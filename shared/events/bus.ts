import { once } from '../platform/parallel.ts'
import { standIn } from '../platform/settings.ts'
import type { CloudEvent } from './event.ts'
import { failed, type Sender, type SendResult, tooLate } from './sender.ts'
import type { BusTarget } from './targets-file.ts'

/** Rules match this `Source`. The CloudEvent's own `source`, which names the ledger, is in `detail`. */
const busSource = 'unit-guard'

/** https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevent-size.html */
const maxBytes = 256 * 1024
const timeBytes = 14
const maxReasonLength = 200

/**
 * Puts each event on a bus of EventBridge, with the CloudEvent as detail.
 *
 * @param endpoint of a stand-in, for tests.
 */
export function createBusSender({ bus }: Pick<BusTarget, 'bus'>, endpoint?: string): Sender {
  // Only processes with a bus load the client.
  const open = once(async () => {
    const { EventBridgeClient, PutEventsCommand } = await import('@aws-sdk/client-eventbridge')
    return { client: new EventBridgeClient({ maxAttempts: 2, ...standIn(endpoint) }), PutEventsCommand }
  })

  return {
    send: async (event, deadline) => {
      const entry = entryOf(event, bus)
      if (bytesOf(entry) > maxBytes) return { kind: 'gone', reason: `the event has more than ${maxBytes / 1024} KB` }
      try {
        const { client, PutEventsCommand } = await open()
        const { Entries: [result] = [] } = await client.send(new PutEventsCommand({ Entries: [entry] }), {
          abortSignal: deadline,
        })
        return resultOf(result)
      } catch (error) {
        return failed(deadline.aborted ? tooLate : `EventBridge refuses: ${nameOf(error)}`)
      }
    },
  }
}

const entryOf = (event: CloudEvent, bus: string) => ({
  EventBusName: bus,
  Source: busSource,
  DetailType: event.type,
  Detail: JSON.stringify(event),
  Time: new Date(event.time),
})

const bytesOf = ({ Source, DetailType, Detail }: ReturnType<typeof entryOf>): number =>
  timeBytes + Buffer.byteLength(Source) + Buffer.byteLength(DetailType) + Buffer.byteLength(Detail)

interface EntryResult {
  readonly EventId?: string | undefined
  readonly ErrorCode?: string | undefined
  readonly ErrorMessage?: string | undefined
}

/** The request may succeed while its entry fails. */
function resultOf({ EventId: id, ErrorCode: code, ErrorMessage: message }: EntryResult = {}): SendResult {
  if (id !== undefined && code === undefined) return { kind: 'delivered' }
  const reason = [code, message].filter(Boolean).join(': ') || 'no entry in the answer'
  return failed(`EventBridge refuses: ${reason}`.slice(0, maxReasonLength))
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown')
