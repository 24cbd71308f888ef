import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import * as z from 'zod/mini'
import type { Finding } from './by-design.ts'

/** A finding and the request that repeats it. */
export interface Found extends Finding {
  readonly request: string
}

const bytes = z.object({ $base64: z.string() })
const interaction = z.object({
  request: z.object({ method: z.string(), uri: z.string(), body: z.optional(z.nullable(bytes)) }),
  response: z.nullish(z.object({ status_code: z.number(), content: z.nullish(bytes) })),
})
/** The recorder leaves out empty parts. */
const recorder = z.object({
  label: z.string(),
  cases: z._default(z.record(z.string(), z.object({ value: z.object({ method: z.string(), path: z.string() }) })), {}),
  checks: z._default(z.record(z.string(), z.array(z.object({ name: z.string(), status: z.string() }))), {}),
  interactions: z._default(z.record(z.string(), interaction), {}),
})
const event = z.union([
  z.object({ ScenarioFinished: z.object({ recorder: z.optional(recorder) }) }),
  z.object({ NonFatalError: z.object({ label: z.string(), value: z.object({ message: z.string() }) }) }),
  z.object({ FatalError: z.unknown() }),
])

/** Reads the fuzzer's events, one a line: failed checks, its own errors, and the number of requests. */
export async function readReport(file: string) {
  const found: Found[] = []
  const errors: string[] = []
  let requests = 0
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const parsed = event.safeParse(JSON.parse(line))
    if (!parsed.success) {
      if (line.startsWith('{"ScenarioFinished"')) errors.push(`unreadable event: ${parsed.error.message}`)
      continue
    }
    if ('FatalError' in parsed.data) errors.push(line.slice(0, 2_000))
    else if ('NonFatalError' in parsed.data)
      errors.push(`${parsed.data.NonFatalError.label}: ${parsed.data.NonFatalError.value.message}`)
    else {
      const { recorder } = parsed.data.ScenarioFinished
      if (!recorder) continue
      requests += Object.keys(recorder.interactions).length
      found.push(...failuresOf(recorder))
    }
  }
  return { found, errors, requests }
}

function* failuresOf({ cases, checks, interactions }: z.output<typeof recorder>): Generator<Found> {
  for (const [id, results] of Object.entries(checks)) {
    const { value } = cases[id] ?? { value: { method: '?', path: '?' } }
    const { request, response } = interactions[id] ?? {}
    for (const { name, status } of results) {
      if (status === 'success') continue
      yield {
        check: name,
        operation: `${value.method} ${value.path}`,
        status: response?.status_code ?? 0,
        ...problemIn(textOf(response?.content)),
        request: `${request?.method} ${request?.uri.slice(0, 600)} ${textOf(request?.body).slice(0, 600)}`,
      }
    }
  }
}

const textOf = (content: z.output<typeof bytes> | null | undefined): string =>
  Buffer.from(content?.$base64 ?? '', 'base64').toString()

const problem = z.object({ type: z.string().check(z.startsWith('/problems/')), detail: z.string() })

function problemIn(text: string): Pick<Finding, 'slug' | 'detail'> {
  try {
    const { type, detail } = problem.parse(JSON.parse(text))
    return { slug: type.slice('/problems/'.length), detail }
  } catch {
    return { slug: null, detail: text.slice(0, 400) }
  }
}
