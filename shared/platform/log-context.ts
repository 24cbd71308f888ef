import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from './clock.ts'
import { systemIds } from './ids.ts'
import type { Log } from './log.ts'

/** The ids that every line of one request or job carries. */
export interface LogIds {
  readonly requestId?: string | undefined
  /** The id of the invocation, by which CloudWatch finds Lambda's own lines. */
  readonly lambdaRequestId?: string | undefined
}

interface LogContext extends LogIds {
  /** Every update that this request or job recorded, changed or answered with. */
  readonly updates: Set<string>
}

const contexts = new AsyncLocalStorage<LogContext>()

/** Every line that `work` logs, at whatever depth, carries these ids and those of the work around it. */
export function inLogContext<T>(ids: LogIds, work: () => T): T {
  const around = contexts.getStore()
  const requestId = ids.requestId ?? around?.requestId
  const lambdaRequestId = ids.lambdaRequestId ?? around?.lambdaRequestId
  return contexts.run({ requestId, lambdaRequestId, updates: new Set() }, work)
}

export const logContext = (): LogContext | undefined => contexts.getStore()

/** The line of this request or job names the update. */
export const noteUpdate = (id: string): void => void contexts.getStore()?.updates.add(id)

/** A line is cut at 8 KB, and a plan may have 500 projects. */
const maxNamed = 100

/** The fields of a line that names the updates of its request or job; none where it had none. */
export function notedUpdates(): { updates?: readonly string[]; moreUpdates?: number } {
  const updates = [...(contexts.getStore()?.updates ?? [])]
  if (updates.length === 0) return {}
  const more = updates.length - maxNamed
  return { updates: updates.slice(0, maxNamed), ...(more > 0 && { moreUpdates: more }) }
}

/** Work that no HTTP request asks for. One line says how long it took, whether it failed, and which updates it touched. */
export async function asJob<T>(
  { clock, log }: { clock: Clock; log: Log },
  job: 'sweep' | 'digest' | 'plan' | 'start' | 'tell',
  fields: { readonly plan?: string; readonly time?: string; readonly slackEvents?: readonly string[] | undefined },
  work: () => Promise<T>,
): Promise<T> {
  return inLogContext({ requestId: systemIds.random() }, async () => {
    const from = clock.now()
    let failed: true | undefined = true
    try {
      const result = await work()
      failed = undefined
      return result
    } finally {
      log.info('job', { job, ...fields, ms: clock.now() - from, failed, ...notedUpdates() })
    }
  })
}
