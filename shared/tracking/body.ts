import { fromUtf8 } from '../platform/utf8.ts'
import { type Redact, redactorOf } from './service-token.ts'
import type { Answered } from './transport.ts'

/** What is kept of an answer as evidence. */
export interface StoredBody {
  readonly status: number
  readonly contentType: string | null
  /** At most 16 KiB of UTF-8, without the service token. */
  readonly body: string
  readonly truncated: boolean
}

export type BodyText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string }

const maxStoredBytes = 16 * 1024
const maxContentTypeLength = 200

/** The text of an answer; a byte order mark is dropped (RFC 8259, section 8.1, allows readers that). */
export function textOf(answer: Answered): BodyText {
  const encoding = answer.headers['content-encoding'] || 'identity'
  if (encoding.toLowerCase() !== 'identity') return { ok: false, reason: 'the body is content-encoded' }
  const text = fromUtf8(answer.body)
  return text === null ? { ok: false, reason: 'the body is not UTF-8' } : { ok: true, text }
}

/** The token goes before the cut: half a token at the end of the text would not be found. */
export function storedBodyOf(answer: Answered, token: string): StoredBody {
  const redact = redactorOf(token)
  const { text, truncated } = cut(redact(answer.body.toString('utf8')), maxStoredBytes)
  return { status: answer.status, contentType: contentTypeOf(answer, redact), body: text, truncated }
}

function contentTypeOf(answer: Answered, redact: Redact): string | null {
  const contentType = answer.headers['content-type']
  return contentType === undefined ? null : redact(contentType).slice(0, maxContentTypeLength)
}

/** Cuts between characters: a decoder in stream mode keeps an unfinished one to itself. */
function cut(text: string, maxBytes: number): { text: string; truncated: boolean } {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return { text, truncated: false }
  const start = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, maxBytes), { stream: true })
  return { text: start, truncated: true }
}
