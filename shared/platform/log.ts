import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from './clock.ts'
import { systemIds } from './ids.ts'
import { type Counted, counts } from './metrics.ts'

/** Never log a whole event, body or header, because it may contain secrets. */
export interface Log {
  info(event: string, fields?: Fields): void
  /** Alarms count these lines. */
  error(event: string, fields?: Fields): void
  hide(secret: string): void
}

type Fields = Readonly<Record<string, unknown>>

const lineLimit = 8_192
/** Escaping may double the length. */
const cutLength = 4_000
const minSecretLength = 8

export function createLog(options: { write(line: string): void; now(): number }): Log {
  /** The longest secret first, because a secret may begin with a shorter one. */
  let hidden: readonly string[] = []
  const line = (level: 'info' | 'error', event: string, fields: Fields = {}) => {
    const at = new Date(options.now()).toISOString()
    const context = contexts.getStore() ?? nowhere
    const { function: by, requestId, lambdaRequestId, coldStart, traceparent, update } = context
    // A second spread would double the cost of a line.
    const named = {
      at,
      level,
      event,
      function: by,
      requestId,
      lambdaRequestId,
      coldStart,
      traceparent,
      update,
      ...fields,
    }
    const text = redact(toJson(named), hidden)
    // Alarms read JSON, so a long line becomes a field of a short one.
    const cut = () => ({
      at,
      level,
      event,
      function: by,
      requestId,
      lambdaRequestId,
      coldStart,
      traceparent,
      update: named.update,
      cut: text.slice(0, cutLength),
    })
    options.write(text.length <= lineLimit ? text : JSON.stringify(cut()))
  }
  return {
    info: (event, fields) => line('info', event, fields),
    error: (event, fields) => line('error', event, fields),
    hide: (secret) => {
      const shown = JSON.stringify(secret).slice(1, -1)
      if (secret.length < minSecretLength || hidden.includes(shown)) return
      hidden = [...hidden, shown].sort((a, b) => b.length - a.length)
    },
  }
}

/** Leaves out what JSON cannot show. */
function toJson(fields: Fields): string {
  try {
    const isFlat = Object.values(fields).every((value) => typeof value !== 'object')
    return JSON.stringify(fields, isFlat ? undefined : plain)
  } catch (error) {
    const shown = Object.entries(fields).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    return JSON.stringify({ ...Object.fromEntries(shown), notShown: String(error) })
  }
}

const plain = (_key: string, value: unknown) =>
  value instanceof Error ? { name: value.name, message: value.message, stack: value.stack, cause: value.cause } : value

const jwtLike = /eyJ[\w-]{5,}\.[\w-]{2,}\.[\w-]*/g
const bearer = /(bearer\s+)[^\s"\\]+/gi

function redact(text: string, hidden: readonly string[]): string {
  let redacted = text
  for (const secret of hidden) redacted = redacted.replaceAll(secret, '[redacted]')
  return redacted.replace(jwtLike, '[redacted]').replace(bearer, '$1[redacted]')
}

/** The functions that write lines. `sandbox` is the stand-in of the service. */
export const functionNames = ['api', 'dashboard', 'mcp', 'slack', 'scheduled', 'start', 'tell', 'sandbox'] as const
export type FunctionName = (typeof functionNames)[number]

export interface LogIds {
  readonly function?: FunctionName | undefined
  readonly requestId?: string | undefined
  /** With this id, CloudWatch finds Lambda's own lines. */
  readonly lambdaRequestId?: string | undefined
  /** The trace context of the request, or of the update that a line is about. */
  readonly traceparent?: string | undefined
}

interface LogContext extends LogIds {
  /** The update that the lines are about. */
  readonly update?: string | undefined
  readonly coldStart?: true | undefined
  /** The updates that the request or job recorded, changed or returned. */
  readonly updates: Set<string>
  readonly counted: Map<Counted, number[]>
}

const nothingNoted = () => ({ updates: new Set<string>(), counted: new Map<Counted, number[]>() })

const contexts = new AsyncLocalStorage<LogContext>()
const nowhere: Partial<LogContext> = {}

export function inLogContext<T>(ids: LogIds, work: () => T): T {
  return contexts.run({ ...contexts.getStore(), ...ids, update: undefined, ...nothingNoted() }, work)
}

/** Keeps this log context for work that runs later, while the answer is streamed. */
export const inThisContext = (work: () => void): (() => void) => AsyncLocalStorage.bind(work)

let isCold = true

/** Runs an invocation on Lambda. The first invocation of a process is a cold start. */
export function inInvocation<T>(ids: LogIds, work: () => T): T {
  const coldStart = isCold || undefined
  isCold = false
  return contexts.run({ ...ids, coldStart, ...nothingNoted() }, work)
}

/** Lines about an update carry the trace of the request that asked for it. */
export function inTraceOf<T>(of: Pick<LogContext, 'traceparent' | 'update'>, work: () => T): T {
  const around = contexts.getStore()
  const { traceparent = around?.traceparent, update = around?.update } = of
  if (traceparent === around?.traceparent && update === around?.update) return work()
  return contexts.run({ ...nothingNoted(), ...around, traceparent, update }, work)
}

export const aboutUpdate = <T>(
  { id, traceparent }: { readonly id: string; readonly traceparent?: string },
  work: () => T,
): T => inTraceOf({ update: id, traceparent }, work)

export const noteUpdate = (id: string): void => void contexts.getStore()?.updates.add(id)

/** A line is cut at 8 KB, and a plan may have 500 projects. */
const maxNamed = 100

export function notedUpdates(): { updates?: readonly string[]; moreUpdates?: number } {
  const updates = [...(contexts.getStore()?.updates ?? [])]
  if (updates.length === 0) return {}
  const more = updates.length - maxNamed
  return { updates: updates.slice(0, maxNamed), ...(more > 0 && { moreUpdates: more }) }
}

export function noteCount(name: Counted, value: number): void {
  const counted = contexts.getStore()?.counted
  counted?.set(name, [...(counted.get(name) ?? []), value])
}

const outcomes = { settled: 'Settled', released: 'Released', 'in-doubt': 'InDoubt', refused: 'Refused' } as const

/** States between the request and the outcome are not counted. */
export function noteOutcome(state: string): void {
  if (state in outcomes) noteCount(outcomes[state as keyof typeof outcomes], 1)
}

/** Sums, and a list of durations. */
export function notedCounts(): Fields {
  const counted = contexts.getStore()?.counted
  if (!counted?.size) return {}
  const measured = Array.from(counted, ([name, values]) => {
    const isSum = counts[name] === 'Count'
    return [name, isSum ? values.reduce((sum, value) => sum + value) : values.slice(0, maxNamed)]
  })
  return Object.fromEntries(measured)
}

/** What a request or job needs to write its line. */
export interface LineParts {
  readonly clock: Clock
  readonly log: Log
}

/** Runs work without an HTTP request, and logs it as a job. */
export async function asJob<T>(
  { clock, log }: LineParts,
  job: 'sweep' | 'digest' | 'plan' | 'start' | 'tell',
  fields: { readonly plan?: string; readonly time?: string; readonly slackEvents?: readonly string[] | undefined },
  work: () => Promise<T>,
): Promise<T> {
  const name = job === 'start' || job === 'tell' ? job : 'scheduled'
  return inLogContext({ function: name, requestId: systemIds.random() }, async () => {
    const from = clock.now()
    let failed: true | undefined = true
    try {
      const result = await work()
      failed = undefined
      return result
    } finally {
      const noted = { ...notedUpdates(), ...notedCounts() }
      log.info('job', { job, ...fields, ms: clock.now() - from, failed, ...noted })
    }
  })
}
