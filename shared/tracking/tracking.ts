import { once } from '../platform/parallel.ts'
import { type AnswerRules, noRules } from './conditions.ts'
import type { Forward } from './forward.ts'
import { datesPath, type Kind, type Kinds, namesIn, productKinds, type Target, updatePath } from './kinds.ts'
import { type JsonPointer, parsePointer } from './pointer.ts'
import { type ProjectLists, readProjectLists } from './project-list.ts'
import { type DatesReading, readDates } from './read-dates.ts'
import { type EstimateReading, readEstimate } from './read-estimate.ts'
import { type RunResult, readRun, type StoredReading } from './read-run.ts'
import { createTransport, type Exchange, type ServiceToken, type Transport, withDeadline } from './transport.ts'

export type { StoredBody } from './answer.ts'
export { type Target, targetOf } from './kinds.ts'
export type { RunResult, StatedUnits } from './read-run.ts'
export { isUsableToken, type ServiceToken } from './transport.ts'
export type { EstimateReading }

/** Failures of the service are values. */
export interface Tracking {
  /** Repeats a failed request one time. Equal calls share a request until it is sent. */
  estimate(target: Target): Promise<EstimateReading>
  /**
   * Sends exactly one request, on its own connection. The token is an argument, because nothing may fail between the
   * fence and the request.
   * @param options `place` is the place of the estimate's figure.
   */
  run(target: Target, options: RunOptions): Promise<RunResult>
  dates(target: Target): Promise<DatesReading>
  /** All projects that the service lists, with their ids. `null`: it cannot list them now. */
  projects(): Promise<ProjectLists | null>
  /** How an answer to `run` is read with the settings of now. */
  readingOf(target: Target, place: string | undefined): StoredReading
  readonly open: Forward
}

interface RunOptions {
  readonly timeoutMs: number
  readonly token: string
  readonly place?: string | undefined
}

type Pointers = Partial<Record<Kind, string | undefined>>

/**
 * `timeoutMs` limits a whole read, including its repetition.
 * @throws RangeError for a malformed request or setting, or an error of the token. In both cases nothing was sent.
 */
export function createTracking(options: {
  baseUrl: string
  token: ServiceToken
  timeoutMs: number
  pointers: { estimate: Pointers; run: Pointers }
  /** How a person configured answers to be read. */
  rules?: Partial<Record<Kind, AnswerRules>>
  kinds?: Kinds
}): Tracking {
  const { token, timeoutMs, kinds = productKinds } = options
  const rulesOf = ({ kind }: Target) => options.rules?.[kind] ?? noRules
  const transport = createTransport(options.baseUrl)
  const read = createReader({ transport, token, timeoutMs })
  const estimatePointers = parsePointers(options.pointers.estimate)
  const runPointers = parsePointers(options.pointers.run)
  const join = createFlights<EstimateReading>()
  const readingOf = (target: Target, place: string | undefined): StoredReading => ({
    pointer: runPointers[target.kind],
    place,
    rules: rulesOf(target),
    names: namesIn(target),
  })
  // Loads with the first request of the gateway, because no other request needs this module.
  const forward = once(async () => (await import('./forward.ts')).createForward({ baseUrl: options.baseUrl, token }))

  return {
    async estimate(target) {
      const path = updatePath(target, 'estimate', kinds)
      return join(path, async (onSend) => {
        const { exchange, token } = await read(path, onSend)
        const pointer = estimatePointers[target.kind]
        return readEstimate(exchange, { pointer, rules: rulesOf(target), names: namesIn(target), token })
      })
    },

    async run(target, { timeoutMs, token, place }) {
      const path = updatePath(target, 'run', kinds)
      const exchange = await withDeadline(timeoutMs, (deadline) =>
        transport.get({ path, token, fresh: true, deadline }),
      )
      const reading = readingOf(target, place)
      return readRun(exchange, { ...reading, token })
    },

    async dates(target) {
      const { exchange, token } = await read(datesPath(target))
      return readDates(exchange, { rules: rulesOf(target), names: namesIn(target), token })
    },

    projects: () => readProjectLists(read),

    readingOf,

    open: async (request) => (await forward())(request),
  }
}

const parsePointers = (pointers: Pointers): Partial<Record<Kind, JsonPointer>> =>
  Object.fromEntries(
    Object.entries(pointers).flatMap(([kind, text]) => (text === undefined ? [] : [[kind, parsePointer(text)]])),
  )

export interface Read {
  readonly exchange: Exchange
  readonly token: string
}

/**
 * Repeats a request one time within the deadline. After a 5xx or a broken connection, it uses a fresh connection. After a
 * 401, it repeats only if the token has changed. `onSend` is called when a request gets its socket.
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

/** Equal calls share a load until its request is sent, so no caller gets the answer to an earlier request. */
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
