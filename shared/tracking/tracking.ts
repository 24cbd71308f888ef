import { createForward, type Forward } from './forward.ts'
import { datesPath, type Kind, type Kinds, productKinds, type Target, updatePath } from './kinds.ts'
import {
  type DatesReading,
  type EstimateReading,
  type RunResult,
  readDates,
  readEstimate,
  readRun,
} from './read-answer.ts'
import { type JsonPointer, parsePointer } from './read-units.ts'
import { createTransport, type Exchange, type ServiceToken, type Transport, withDeadline } from './transport.ts'

export type { StoredBody } from './answer.ts'
export { type Target, targetOf } from './kinds.ts'
export type { RunResult, StatedUnits } from './read-answer.ts'
export { isUsableToken, type ServiceToken } from './transport.ts'
export type { EstimateReading }

/**
 * The tracking service: what an update needs of it, and the way to everything else. What it answers comes back by
 * value; nothing of it throws.
 */
export interface Tracking {
  /**
   * The units an update needs, as of now. Repeated once when it fails; equal calls share a request that was not sent
   * yet.
   */
  estimate(target: Target): Promise<EstimateReading>
  /**
   * Runs the update: exactly one request, ever, on a connection of its own. The token is an argument because it is read
   * before the hold: nothing may fail between the fence and the request.
   */
  run(target: Target, options: { timeoutMs: number; token: string }): Promise<RunResult>
  /** The dates for which the target's project has data. Repeated once when it fails. */
  dates(target: Target): Promise<DatesReading>
  /** Any operation that consumes nothing, its answer streamed. */
  readonly open: Forward
}

type Pointers = Partial<Record<Kind, string | undefined>>

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
  pointers: { estimate: Pointers; run: Pointers }
  kinds?: Kinds
}): Tracking {
  const { token, timeoutMs, kinds = productKinds } = options
  const transport = createTransport(options.baseUrl)
  const read = createReader({ transport, token, timeoutMs })
  const estimatePointers = parsePointers(options.pointers.estimate)
  const runPointers = parsePointers(options.pointers.run)
  const join = createFlights<EstimateReading>()

  return {
    async estimate(target) {
      const path = updatePath(target, 'estimate', kinds) // names kind, segment and query: all that makes estimates equal
      return join(path, async (onSend) => {
        const { exchange, token } = await read(path, onSend)
        return readEstimate(exchange, { pointer: estimatePointers[target.kind], token })
      })
    },

    async run(target, { timeoutMs, token }) {
      const path = updatePath(target, 'run', kinds)
      const exchange = await withDeadline(timeoutMs, (deadline) =>
        transport.get({ path, token, fresh: true, deadline }),
      )
      return readRun(exchange, { pointer: runPointers[target.kind], token })
    },

    async dates(target) {
      const { exchange } = await read(datesPath(target))
      return readDates(exchange)
    },

    open: createForward({ baseUrl: options.baseUrl, token }),
  }
}

const parsePointers = (pointers: Pointers): Partial<Record<Kind, JsonPointer>> =>
  Object.fromEntries(
    Object.entries(pointers).flatMap(([kind, text]) => (text === undefined ? [] : [[kind, parsePointer(text)]])),
  )

/** The last exchange of a read, and its token, which the answer may echo. */
export interface Read {
  readonly exchange: Exchange
  readonly token: string
}

/**
 * Reads consume nothing, so one that failed may be sent once more, within the same deadline: after a 5xx, a broken or
 * refused connection, or a 401 when the store has another token by now. Never more than two requests. After a failure
 * the second has a connection of its own: while a function is frozen, all that it keeps may die, without anyone knowing.
 *
 * @returns a read; its `onSend` is called before anything of the first request reaches a socket.
 * @throws what `token` throws: without a token nothing is sent.
 */
export function createReader(options: {
  transport: Transport
  token: ServiceToken
  timeoutMs: number
}): (path: string, onSend?: () => void) => Promise<Read> {
  const { transport, token, timeoutMs } = options

  return (path, onSend) =>
    withDeadline(timeoutMs, async (deadline) => {
      const attempt = async (token: string, { fresh }: { fresh: boolean }): Promise<Read> => ({
        exchange: await transport.get({ path, token, fresh, deadline, ...(onSend && { onSend }) }),
        token,
      })
      const first = await attempt(await token.read(), { fresh: false })
      if (isUnauthorized(first.exchange)) {
        const renewed = await token.reread(first.token)
        return renewed === first.token ? first : attempt(renewed, { fresh: false })
      }
      return isWorthRepeating(first.exchange) ? attempt(first.token, { fresh: true }) : first
    })
}

const isUnauthorized = (exchange: Exchange) => exchange.kind === 'answered' && exchange.status === 401

function isWorthRepeating(exchange: Exchange): boolean {
  return exchange.kind === 'failed' ? exchange.cause === 'connection' : exchange.status >= 500
}

/**
 * Lets calls for the same key share one load until its first send. A later call starts a load of its own, so that each
 * caller gets an answer that was asked for after they came. Nothing is remembered.
 */
export function createFlights<T>(): (key: string, load: (onSend: () => void) => Promise<T>) => Promise<T> {
  const unsent = new Map<string, Promise<T>>()

  return (key, load) => {
    const joined = unsent.get(key)
    if (joined) return joined
    const close = () => {
      if (unsent.get(key) === flight) unsent.delete(key)
    }
    const flight = Promise.resolve().then(() => load(close))
    unsent.set(key, flight)
    flight.then(close, close)
    return flight
  }
}
