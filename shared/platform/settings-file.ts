import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fromUtf8 } from './json.ts'

/**
 * Reads a file that a setting names. Messages show only its base name.
 *
 * @param what such as `plans file`.
 * @throws what `wrong` makes of the message.
 */
export function readSettingsFile(
  path: string,
  what: string,
  wrong: (message: string, options?: ErrorOptions) => Error,
): { readonly text: string; readonly file: string } {
  const file = basename(path)
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    throw wrong(`the ${what} ${file} ${isMissing ? 'is not there' : 'cannot be read'}`, { cause })
  }
  const text = fromUtf8(bytes)
  if (text === null) throw wrong(`the ${what} ${file} is not UTF-8`)
  return { text, file }
}
