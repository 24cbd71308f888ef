import type { Kind } from '../platform/words.ts'
import { withDeadline } from './deadline.ts'
import { createFlights } from './flights.ts'
import { type JsonPointer, parsePointer } from './json-pointer.ts'
import { createOpening, type Open } from './opening.ts'
import { type DatesReading, readDates } from './read-dates.ts'
import { type EstimateReading, readEstimate } from './read-estimate.ts'
import { type RunResult, readRun } from './read-run.ts'
import { createReader } from './reader.ts'
import type { ServiceToken } from './service-token.ts'
import { datesPath, type Target, updatePath } from './target.ts'
import { createTransport } from './transport.ts'

export type { StoredBody } from './body.ts'
export type { RunResult, StatedUnits } from './read-run.ts'
export { isUsableToken, type ServiceToken } from './service-token.ts'
export { type Target, targetOf } from './target.ts'
export type { EstimateReading }

/** The tracking service: what an update needs of it, and the way to everything else. What it answers comes back by value; nothing of it throws. */
export interface Tracking {
  /** The units an update needs, as of now. Repeated once when it fails; equal calls share a request that was not sent yet. */
  estimate(target: Target): Promise<EstimateReading>
  /**
   * Runs the update: exactly one request, ever, on a connection of its own. The token is an argument because it is read
   * before the hold: nothing may fail between the fence and the request.
   */
  run(target: Target, options: { timeoutMs: number; token: string }): Promise<RunResult>
  /** The dates for which the target's project has data. Repeated once when it fails. */
  dates(target: Target): Promise<DatesReading>
  /** Any operation that consumes nothing, its answer streamed. */
  readonly open: Open
}

/**
 * A client of one service. `timeoutMs` bounds a whole read, its repetition included; `open` has limits of its own.
 * `pointers` are JSON Pointers (RFC 6901) to the units in the answers of each operation and kind.
 *
 * Every call throws before anything is sent when its token or its target cannot go on the wire (RangeError), and when
 * there is no token (what `token` throws).
 *
 * @throws RangeError when the base address or a pointer is malformed.
 */
export function createTracking(options: {
  baseUrl: string
  token: ServiceToken
  timeoutMs: number
  pointers: { estimate: Partial<Record<Kind, string>>; run: Partial<Record<Kind, string>> }
}): Tracking {
  const { token, timeoutMs } = options
  const transport = createTransport(options.baseUrl)
  const read = createReader({ transport, token, timeoutMs })
  const estimatePointers = parsePointers(options.pointers.estimate)
  const runPointers = parsePointers(options.pointers.run)
  const join = createFlights<EstimateReading>()

  return {
    async estimate(target) {
      const path = updatePath(target, 'estimate') // names kind, segment and query: all that makes estimates equal
      return join(path, async (onSend) => {
        const { exchange, token } = await read(path, onSend)
        return readEstimate(exchange, { pointer: estimatePointers[target.kind], token })
      })
    },

    async run(target, { timeoutMs, token }) {
      const path = updatePath(target, 'run')
      const exchange = await withDeadline(timeoutMs, (deadline) =>
        transport.get({ path, token, fresh: true, deadline }),
      )
      return readRun(exchange, { pointer: runPointers[target.kind], token })
    },

    async dates(target) {
      const { exchange } = await read(datesPath(target))
      return readDates(exchange)
    },

    open: createOpening({ baseUrl: options.baseUrl, token }),
  }
}

function parsePointers(pointers: Partial<Record<Kind, string>>): Record<Kind, JsonPointer | undefined> {
  const parsed = (text: string | undefined) => (text === undefined ? undefined : parsePointer(text))
  return { ranking: parsed(pointers.ranking), 'keyword-difficulty': parsed(pointers['keyword-difficulty']) }
}
