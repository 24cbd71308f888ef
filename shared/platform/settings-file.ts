import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type * as z from 'zod/mini'
import { allFaults, type Fault, textFaults } from './faults.ts'
import { fromUtf8, isObject, type Json, parseStrictJson, placeIn } from './json.ts'

/** A file that a setting names is wrong. The message names every fault with its place. */
export class WrongFile extends Error {
  override readonly name = 'WrongFile'
}

/**
 * Reads a file that a setting names. Messages show only its base name.
 *
 * @param what such as `plans file`.
 * @throws WrongFile
 */
export function readTextFile(path: string, what: string): { readonly text: string; readonly file: string } {
  const file = basename(path)
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    throw new WrongFile(`the ${what} ${file} ${isMissing ? 'is not there' : 'cannot be read'}`, { cause })
  }
  const text = fromUtf8(bytes)
  if (text === null) throw new WrongFile(`the ${what} ${file} is not UTF-8`)
  return { text, file }
}

/** Reads a file that a setting names, and parses it. @throws WrongFile, which names the file, also for faults of `parse`. */
export function readSettingsFile<Of>(path: string, what: string, parse: (text: string) => Of): Of {
  const { text, file } = readTextFile(path, what)
  try {
    return parse(text)
  } catch (error) {
    throw error instanceof WrongFile ? new WrongFile(`the ${what} ${file}: ${error.message}`) : error
  }
}

/** Members whose values together must be unique, and the start of the fault's message. */
type Key = readonly [members: readonly string[], is: string]

/**
 * Parses a JSON list.
 *
 * @throws WrongFile with all faults, each with its place.
 */
export function parseList<Row>(
  text: string,
  { schema, keys }: { schema: z.ZodMiniType<Row[]>; keys: readonly Key[] },
): readonly Row[] {
  const read = parseStrictJson(text)
  if (!read.ok) throw new WrongFile(`it is not valid, unambiguous JSON: ${read.reason}${placeIn(text)}`)
  const { value } = read
  const parsed = schema.safeParse(value)
  const repeated = Array.isArray(value) ? keys.flatMap((key) => repeatedIn(value, key)) : []
  const faults = allFaults([...textFaults(value), ...repeated], parsed.error?.issues)
  if (parsed.success && faults.length === 0) return parsed.data
  throw new WrongFile(faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '))
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
