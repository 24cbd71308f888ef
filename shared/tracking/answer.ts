import { type AnsweredExchange, maxAnswerBytes, type Redact, redactorOf } from './transport.ts'

export interface StoredBody {
  readonly status: number
  readonly contentType: string | null
  /** At most 16 KiB, decoded, without the token. Empty if it could not be decoded. */
  readonly body: string
  /** Whether the body is not whole: cut, or not decodable. */
  readonly truncated: boolean
  /** The `Age` header, if a cache answered. */
  readonly age?: string
}

export type BodyText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string }

const maxStoredBytes = 16 * 1024
const maxCharacterBytes = 4
const maxContentTypeLength = 200
const maxAgeLength = 20

/** Decodes what browsers forgive, too: a wrong but harmless encoding, and a charset other than UTF-8. */
export const textOf = (answer: AnsweredExchange): BodyText => toText(answer, { ignoreBOM: false })

/** @param options as those of `TextDecoder`, where `ignoreBOM` keeps a byte order mark in the text. */
function toText(answer: AnsweredExchange, { ignoreBOM }: { ignoreBOM: boolean }): BodyText {
  const bytes = decoded(answer)
  if (typeof bytes === 'string') return { ok: false, reason: bytes }
  const name = charsetOf(answer)
  const decoder = decoderOf(name, ignoreBOM)
  if (decoder === null) return { ok: false, reason: 'the charset of the body is unknown' }
  try {
    return { ok: true, text: decoder.decode(bytes) }
  } catch {
    return { ok: false, reason: name === 'utf-8' ? 'the body is not UTF-8' : 'the body is not in its charset' }
  }
}

const noEncodings: ReadonlySet<string> = new Set(['', 'identity', 'none', 'utf-8', 'utf8'])

/** Some servers name a charset, or nothing at all, where an encoding belongs. */
export const isPlain = (contentEncoding = ''): boolean => noEncodings.has(contentEncoding.trim().toLowerCase())

type Zlib = typeof import('node:zlib')

const decoders: Readonly<Record<string, (zlib: Zlib, bytes: Buffer) => Buffer>> = {
  gzip: (zlib, bytes) => zlib.gunzipSync(bytes, limit),
  'x-gzip': (zlib, bytes) => zlib.gunzipSync(bytes, limit),
  br: (zlib, bytes) => zlib.brotliDecompressSync(bytes, limit),
  deflate(zlib, bytes) {
    // Some servers send deflate without its header (RFC 9110, section 8.4.1.2).
    const hasHeader = ((bytes[0] ?? 0) & 0x0f) === 8
    return hasHeader ? zlib.inflateSync(bytes, limit) : zlib.inflateRawSync(bytes, limit)
  },
}

const limit = { maxOutputLength: maxAnswerBytes }

/** A text says why the bytes cannot be decoded. */
function decoded({ headers, body }: AnsweredExchange): Buffer | string {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase()
  if (isPlain(encoding)) return body
  const decode = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined
  if (decode === undefined) return 'the body is content-encoded'
  try {
    // Loaded here, because few services send an encoding that was not asked for.
    return decode(process.getBuiltinModule('node:zlib'), body)
  } catch {
    return 'the encoded body cannot be decoded'
  }
}

const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i

const charsetOf = ({ headers }: AnsweredExchange): string =>
  charset.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase() ?? 'utf-8'

function decoderOf(name: string, ignoreBOM: boolean): InstanceType<typeof TextDecoder> | null {
  try {
    return new TextDecoder(name, { fatal: true, ignoreBOM })
  } catch {
    return null
  }
}

/** Whether the answer is older than the request. An `Age` that is not a number is not believed. */
export const isCached = ({ headers: { age } }: AnsweredExchange): boolean =>
  age !== undefined && !/^\s*0+\s*$/.test(age)

/** Redacts before it cuts, because half a token would not be found. */
export function storedBodyOf(answer: AnsweredExchange, token: string): StoredBody {
  const redact = redactorOf(token)
  const { text, isWhole } = textToStore(answer)
  const { text: body, isCut } = cut(redact(text), maxStoredBytes)
  const truncated = isCut || !isWhole
  const stored: StoredBody = { status: answer.status, contentType: contentTypeOf(answer, redact), body, truncated }
  return isCached(answer) ? { ...stored, age: redact(answer.headers.age ?? '').slice(0, maxAgeLength) } : stored
}

/** Why a stored body cannot be judged again. A body that was cut fills its place but for an unfinished character. */
export function whyNotReadable({ body, truncated, age }: StoredBody): 'cached' | 'cut' | 'undecodable' | null {
  if (age !== undefined) return 'cached'
  if (!truncated) return null
  return Buffer.byteLength(body) > maxStoredBytes - maxCharacterBytes ? 'cut' : 'undecodable'
}

/** An encoded body that cannot be decoded could hide the token. */
function textToStore(answer: AnsweredExchange): { readonly text: string; readonly isWhole: boolean } {
  // The gateway hands on what the service sent, also its byte order mark.
  const text = toText(answer, { ignoreBOM: true })
  if (text.ok) return { text: text.text, isWhole: true }
  const bytes = decoded(answer)
  return { text: typeof bytes === 'string' ? '' : bytes.toString('utf8'), isWhole: false }
}

/** The stored body is UTF-8, so its type must not name another charset. */
function contentTypeOf(answer: AnsweredExchange, redact: Redact): string | null {
  const contentType = answer.headers['content-type']
  if (contentType === undefined) return null
  const stored = contentType.replace(charset, (parameter, name: string) => parameter.replace(name, 'utf-8'))
  return redact(stored).slice(0, maxContentTypeLength)
}

/** A decoder in stream mode holds back an unfinished character. */
function cut(text: string, maxBytes: number): { text: string; isCut: boolean } {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return { text, isCut: false }
  const start = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, maxBytes), { stream: true })
  return { text: start, isCut: true }
}

/**
 * How long the service asks to wait. A date counts from the answer's own date. `null`: it does not say.
 * @see RFC 9110, section 10.2.3
 */
export function retryAfterMsOf({ headers }: AnsweredExchange): number | null {
  const text = headers['retry-after']?.trim() ?? ''
  const isSeconds = /^\d{1,10}$/.test(text)
  // Date.parse reads nearly any text as a date.
  if (!isSeconds && !/^\w{3}, .* GMT$/.test(text)) return null
  const ms = isSeconds ? Number(text) * 1000 : Date.parse(text) - Date.parse(headers.date ?? '')
  return Number.isNaN(ms) ? null : Math.max(ms, 0)
}
