import { crc32 } from 'node:zlib'
import { DamagedItem } from '../errors.ts'
import type { Item, Key } from './store.ts'

// The binding ends the process at a text that is not UTF-8, so texts are stored and read as bytes. A checksum before the
// bytes finds each flipped bit. Texts without one were written by an earlier version.

const checksumBytes = 4
/** Stands for bytes that are not UTF-8. `toString` is several times as fast as the decoder. */
const replacement = '\ufffd'
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function seal(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(checksumBytes + Buffer.byteLength(text))
  bytes.write(text, checksumBytes)
  bytes.writeUInt32BE(crc32(bytes.subarray(checksumBytes)))
  return bytes
}

/** The columns that `unseal` reads. */
export const sealed = (column: string): string => `typeof(${column}), CAST(${column} AS BLOB)`

/** @throws Damage */
export function unseal(type: unknown, bytes: unknown): string {
  if (!Buffer.isBuffer(bytes) || (type !== 'blob' && type !== 'text')) throw new Damage('its content is missing')
  if (type === 'text') return toText(bytes)
  const content = bytes.subarray(checksumBytes)
  if (bytes.length < checksumBytes || bytes.readUInt32BE() !== crc32(content))
    throw new Damage('its checksum does not match its content')
  return toText(content)
}

/** @throws Damage */
export function toText(bytes: Buffer): string {
  const text = bytes.toString()
  if (!text.includes(replacement)) return text
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Damage('it is not UTF-8')
  }
}

/** The message of `JSON.parse` would show the content. @throws Damage */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Damage('it is not JSON')
  }
}

export class Damage extends Error {
  override readonly name = 'Damage'
}

/** @throws Damage, also for an item of another key: a damaged index leads to another row. */
export function unsealItem(key: Key, type: unknown, bytes: unknown): Item {
  const item = (parse(unseal(type, bytes)) ?? {}) as Item
  if (item.pk !== key.pk || item.sk !== key.sk) throw new Damage('its key is not the one in its content')
  return item
}

/** Stands for a damaged item. Each use of its content throws DamagedItem, so it is never read as absent or empty. */
export function damagedItem(key: Key, { message }: Damage): Item {
  const fail = (): never => {
    throw new DamagedItem(key, message)
  }
  const { pk, sk } = key
  return new Proxy<Item>(
    { pk, sk },
    { ownKeys: fail, has: fail, get: (_, name) => (name === 'pk' ? pk : name === 'sk' ? sk : fail()) },
  )
}
