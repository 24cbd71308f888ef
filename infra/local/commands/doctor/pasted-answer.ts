import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { parseStrictJson } from '../../../../shared/platform/json.ts'
import { textOf } from '../../../../shared/tracking/answer.ts'
import { type AnsweredExchange, type Exchange, maxAnswerBytes } from '../../../../shared/tracking/transport.ts'
import { readGiven } from '../../failures.ts'

type Headers = AnsweredExchange['headers']

export interface AnswerHead {
  /** Overrides the status of the file. A file without a head has 200. */
  readonly status?: number | undefined
  /** In lower case. These override the headers of the file. */
  readonly headers: Headers
}

/**
 * Reads a body, or what `curl -i` prints. `-` is the standard input.
 * @throws CannotContinue
 */
export async function readPastedAnswer(
  file: string,
  given: AnswerHead,
  stdin: Readable = process.stdin,
): Promise<Exchange> {
  const { body, ...head } = splitHead(file === '-' ? await buffer(stdin) : await readGiven(file))
  const status = given.status ?? head.status
  if (body.length > maxAnswerBytes) {
    const reason = `the answer is larger than ${maxAnswerBytes} bytes`
    return { kind: 'failed', sent: 'maybe', cause: 'too-large', reason, status }
  }
  return withoutDecoding({ kind: 'answered', status, headers: { ...head.headers, ...given.headers }, body })
}

interface Split {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
}

/** A proxy, `100 Continue` or a redirect puts more heads before the last one. */
function splitHead(bytes: Buffer): Split {
  let split: Split = { status: 200, headers: {}, body: bytes }
  for (;;) {
    const text = split.body.toString('latin1')
    const [, status] = /^HTTP\/[\d.]+ (\d{3})/.exec(text) ?? []
    if (status === undefined) return split
    const end = /\r?\n\r?\n/.exec(text)
    const body = end ? split.body.subarray(end.index + end[0].length) : Buffer.alloc(0)
    split = { status: Number(status), headers: headersIn(text.slice(0, end?.index)), body }
  }
}

function headersIn(head: string): Headers {
  const headers: Record<string, string> = {}
  for (const line of head.split(/\r?\n/).slice(1)) {
    const header = parseHeader(line)
    if (header) headers[header.name] ??= header.value
  }
  return headers
}

/** `null`: not a header. */
export function parseHeader(line: string): { readonly name: string; readonly value: string } | null {
  const [, name, value] = /^([\w-]+):(.*)$/.exec(line) ?? []
  return name === undefined || value === undefined ? null : { name: name.toLowerCase(), value: value.trim() }
}

/** `curl --compressed` prints a decoded body under the header of the encoded one. */
function withoutDecoding(exchange: AnsweredExchange): AnsweredExchange {
  const { 'content-encoding': encoding, ...headers } = exchange.headers
  if (encoding === undefined || textOf(exchange).ok) return exchange
  const plain = { ...exchange, headers }
  const text = textOf(plain)
  return text.ok && parseStrictJson(text.text).ok ? plain : exchange
}
