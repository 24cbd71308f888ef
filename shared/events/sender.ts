import type { CloudEvent } from './event.ts'

export type SendResult =
  | { readonly kind: 'delivered' }
  /** The target would refuse another attempt, too. */
  | { readonly kind: 'gone'; readonly reason: string }
  /** The target may nevertheless have received the event. */
  | {
      readonly kind: 'failed'
      readonly reason: string
      /** Absent: there was no answer. */
      readonly status?: number
      /** The delay that the target asked for. */
      readonly afterMs?: number
    }

/** Makes one attempt, until the deadline. Never throws. A reason contains no address, secret or text of the target. */
export interface Sender {
  send(event: CloudEvent, deadline: AbortSignal): Promise<SendResult>
}

export const tooLate = 'no answer in time'

export const failed = (reason: string): SendResult => ({ kind: 'failed', reason })
