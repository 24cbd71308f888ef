import type { Update } from './update.ts'

/** Used if `SERVICE_FLIGHT_MS` is not set. */
export const defaultFlightMs = 300_000

type Sent = Pick<Update, 'hold' | 'doubt' | 'state' | 'finishedAt'>

/** The request of an update in doubt was with the service from this time on, and its sender waits no more. */
export const silentFrom = ({ hold, doubt }: Pick<Update, 'hold' | 'doubt'>): number =>
  doubt?.by === 'sender' ? doubt.at : (hold?.senderUntil ?? 0)

/**
 * From this time on, each figure of the vendor has what the update cost. A request may take effect during one flight, and
 * the vendor's screen may show its units one flight later.
 */
export function shownFrom(update: Sent, flightMs: number): number {
  const { doubt, state, finishedAt } = update
  const isAnswered = !doubt && state !== 'running' && finishedAt !== undefined
  return isAnswered ? finishedAt + flightMs : silentFrom(update) + 2 * flightMs
}

/** The latest reconciliation of a book. */
export interface Reconciled {
  /** When the vendor's figure was read. */
  readonly reconciledAt?: number | undefined
  /** When the figure was booked. Absent: at `reconciledAt`, or by an older version. */
  readonly reconciledOn?: number | undefined
}

/** Without members that are not set. */
export const reconciledIn = ({ reconciledAt, reconciledOn }: Reconciled) => ({
  ...(reconciledAt !== undefined && { reconciledAt }),
  ...(reconciledOn !== undefined && { reconciledOn }),
})

/**
 * Whether the latest figure had this update's units, and was booked after the update closed: then `account` follows the figure.
 * An older version may have booked a later figure without `reconciledOn`.
 */
export function isInFigure(update: Sent, { reconciledAt, reconciledOn = 0 }: Reconciled, flightMs: number): boolean {
  const { finishedAt } = update
  if (reconciledAt === undefined || finishedAt === undefined) return false
  return finishedAt <= Math.max(reconciledAt, reconciledOn) && shownFrom(update, flightMs) <= reconciledAt
}
