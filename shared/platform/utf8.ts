/**
 * The text of bytes; `null` where they are not UTF-8: never leniently, because a name must not change on the way. A
 * byte order mark is dropped, and with `keepsMark` it is a character like others.
 */
export function fromUtf8(bytes: Uint8Array, { keepsMark = false }: { keepsMark?: boolean } = {}): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: keepsMark }).decode(bytes)
  } catch {
    return null
  }
}
