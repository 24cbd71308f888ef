import { hash, randomFillSync } from 'node:crypto'

/** Passed in, so that tests control randomness. */
export interface Ids {
  /** Unguessable. */
  random(): string
  /** Between 0 and 1, to spread retries. */
  fraction(): number
}

const idLength = 26

const idBytes = 17
const pool = Buffer.alloc(256 * idBytes)
let poolUsed = pool.length

export const systemIds: Ids = {
  random() {
    if (poolUsed === pool.length) {
      randomFillSync(pool)
      poolUsed = 0
    }
    poolUsed += idBytes
    return toBase32(pool.subarray(poolUsed - idBytes, poolUsed)).slice(0, idLength)
  },
  fraction: () => Math.random(),
}

/** 130 bits in Crockford's base 32. The length before each part keeps different lists apart. */
export function digest(...parts: readonly string[]): string {
  const text = parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join('')
  return toBase32(hash('sha256', text, 'buffer')).slice(0, idLength)
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

function toBase32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let pending = 0
  for (const byte of bytes) {
    pending = (pending << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet[(pending >> bits) & 31]
    }
    pending &= (1 << bits) - 1
  }
  return text
}
