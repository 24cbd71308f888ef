import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Draw } from './strange-bodies.ts'

export interface Delivery {
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
}

type Encode = (text: string) => Delivery

const json = 'application/json'
const named =
  (encoding: string, encode: (bytes: Buffer) => Buffer = (bytes) => bytes): Encode =>
  (text) => ({
    headers: { 'content-type': json, 'content-encoding': encoding },
    bytes: encode(Buffer.from(text)),
  })
const typed =
  (type: string, charset: BufferEncoding = 'utf8'): Encode =>
  (text) => ({ headers: { 'content-type': type }, bytes: Buffer.from(text, charset) })

/** Browsers read all of these but the last two. */
const encodings: readonly [Encode, ...Encode[]] = [
  typed(json),
  typed('text/plain'),
  typed('text/html; charset=utf-8'),
  typed(`${json}; charset=ISO-8859-1`, 'latin1'),
  typed(`${json}; charset=utf-16le`, 'utf16le'),
  named('utf-8'),
  named('UTF-8'),
  named('none'),
  named('identity'),
  named(''),
  named('gzip', gzipSync),
  named('x-gzip', gzipSync),
  named('deflate', deflateSync),
  named('br', brotliCompressSync),
  named('gzip, gzip', (bytes) => gzipSync(gzipSync(bytes))),
  typed(`${json}; charset=of-our-own`),
]

/** An `Age` above 0, or that is no number, says that a cache answered. */
const caches: readonly [Readonly<Record<string, string>>, ...Readonly<Record<string, string>>[]] = [
  {},
  { age: '0' },
  { via: '1.1 proxy', 'x-cache': 'MISS' },
  { age: '900', 'x-cache': 'HIT' },
  { age: 'old' },
]

/** Draws the headers of a cache, apart from the body, because a cache may have another body than the service. */
export const drawCache = (draw: Draw): Readonly<Record<string, string>> =>
  draw([false, false, false, true]) ? draw(caches) : {}

export const isCached = ({ age = '0' }: Readonly<Record<string, string>>): boolean => age !== '0'

/** A text with other characters is never sent as Latin-1, which would change it. */
export function deliver(draw: Draw, text: string): Delivery {
  const encode = draw([false, false, true]) ? draw(encodings) : encodings[0]
  const delivery = encode(text)
  const isLatin = delivery.headers['content-type']?.includes('ISO') === true
  return isLatin && /[^\0-\xff]/.test(text) ? encodings[0](text) : delivery
}
