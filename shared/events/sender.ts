import type { CloudEvent } from './event.ts'

export type SendResult =
  | { readonly kind: 'delivered' }
  /** Another attempt would be refused too. */
  | { readonly kind: 'gone'; readonly reason: string }
  /** The target may have it all the same. */
  | {
      readonly kind: 'failed'
      readonly reason: string
      /** Absent: nothing came back. */
      readonly status?: number
      /** As the target asked. */
      readonly afterMs?: number
    }

/** One attempt, until the deadline. Never throws. A reason holds no address, secret or word of the target. */
export interface Sender {
  send(event: CloudEvent, deadline: AbortSignal): Promise<SendResult>
}

export const tooLate = 'no answer in time'

export const failed = (reason: string): SendResult => ({ kind: 'failed', reason })
