import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type * as z from 'zod/mini'
import { allFaults, type Fault, textFaults } from './faults.ts'
import { fromUtf8, isObject, type Json, parseStrictJson, placeIn } from './json.ts'

/**
 * Reads a file that a setting names. Messages show only its base name.
 *
 * @param what such as `plans file`.
 * @throws the error that `wrong` makes of the message.
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

/** Members whose values together must be unique, and the start of the fault's message. */
type Key = readonly [members: readonly string[], is: string]

/**
 * Parses a JSON list.
 *
 * @throws the error that `wrong` makes of all faults, each with its place.
 */
export function parseList<Row>(
  text: string,
  { schema, keys }: { schema: z.ZodMiniType<Row[]>; keys: readonly Key[] },
  wrong: (message: string) => Error,
): readonly Row[] {
  const read = parseStrictJson(text)
  if (!read.ok) throw wrong(`it is not valid, unambiguous JSON: ${read.reason}${placeIn(text)}`)
  const { value } = read
  const parsed = schema.safeParse(value)
  const repeated = Array.isArray(value) ? keys.flatMap((key) => repeatedIn(value, key)) : []
  const faults = allFaults([...textFaults(value), ...repeated], parsed.error?.issues)
  if (parsed.success && faults.length === 0) return parsed.data
  throw wrong(faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '))
}

function repeatedIn(rows: readonly Json[], [members, is]: Key): Fault[] {
  const keys = rows.map((row) => {
    const values = members.map((member) => (isObject(row) ? row[member] : undefined))
    return values.every((value) => typeof value === 'string') ? values.join(' ') : null
  })
  return keys.flatMap((key, index) => {
    const first = keys.indexOf(key)
    return key === null || first === index
      ? []
      : [{ path: `${index}.${members.at(-1)}`, message: `${is} of entry ${first} too` }]
  })
}
